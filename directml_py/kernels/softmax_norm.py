"""The native loops of rows: SOFTMAX and its logarithm, and normalization with mean and variance.

Each function gives the call that computes, or None where there is no loop for these tensors: ``rows.map_rows`` with the
twin takes all. A row is what lies next to each other in the input and the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .backend import backend
from .cache_blocks import joined
from .launch import NativeRun, launch_in_order
from .move import move
from .native_arrays import Array, Run, address, apart, readable

LOOPS = (np.dtype(np.float32), np.dtype(np.float16))


def softmax(x: Array, output: Array, axes: Sequence[int], logarithm: bool = False) -> Run | None:
    """Each exponential divided by the sum of those along ``axes``, or the logarithm of that.

    Input that lies otherwise than the output, backwards for example, is copied first, to give the same bits.
    """
    bind = partial(rows_along, "LOG_SOFTMAX" if logarithm else "SOFTMAX", axes, output)
    run = bind(x, [])
    if run is not None or fitting(output, x, []) is None or bind(np.empty_like(output), []) is None:
        return run

    def run_on_copy() -> None:
        together = np.empty_like(output)
        move([(together, x)])()
        ready = bind(together, [])
        assert ready is not None
        ready()

    return run_on_copy


def mean_variance(
    x: Array,
    scale: Array | None,
    bias: Array | None,
    output: Array,
    axes: Sequence[int],
    epsilon: float,
    *,
    uses_mean: bool,
    uses_variance: bool,
    relu: bool = False,
) -> Run | None:
    """``scale * (x - mean) / sqrt(variance + epsilon) + bias``, with mean and variance along ``axes``; ``scale`` and
    ``bias`` broadcast. With ``relu`` it is 0 where it is not above that."""
    options: dict[str, Any] = {
        "epsilon": epsilon,
        "uses_mean": uses_mean,
        "uses_variance": uses_variance,
        "relu": relu,
    }
    run = rows_along("MEAN_VARIANCE", axes, output, x, [scale, bias], **options)
    if run is not None or fitting(output, x, [scale, bias]) is None:
        return run
    # Rows that lie apart in memory are put together where they go.
    run = rows_along("MEAN_VARIANCE", axes, output, output, [scale, bias], is_in_place=True, **options)
    return None if run is None else launch_in_order([move([(output, x)]), run])


def batch_norm(
    x: Array,
    mean: Array,
    variance: Array,
    scale: Array,
    bias: Array,
    output: Array,
    epsilon: float,
    *,
    relu: bool = False,
) -> Run | None:
    """Batch normalization with given statistics, which broadcast, as scale and bias do: each is one number in a row."""
    views = fitting(output, x, [mean, variance, scale, bias])
    if views is None:
        return None
    rows = joined(views)
    if rows[0].ndim == 0 or any(view.strides[-1] for view in rows[2:]):
        return None
    return native("BATCH_NORM", rows, [0, 1, 2, 3, 4, 5], epsilon=epsilon, relu=relu)


class BatchNormPostOp(NamedTuple):
    """A batch-norm post-op: another kernel's output channels are normalized as they are stored, as ``batch_norm`` does.
    Mean, variance, scale and bias each have one number for all channels, or one for each."""

    mean: Array
    variance: Array
    scale: Array
    bias: Array
    epsilon: float
    relu: bool

    def fill(self, task: Any, output: Array) -> Array | None:
        """Make it part of a task that stores ``output``, {N, C, ...}; what must live as long as that. None if there is
        no loop for these tensors."""
        arrays, channels = self[:4], output.shape[1]
        plain = all(one.dtype == np.float32 for one in arrays) and readable(*arrays)
        if (
            not plain
            or output.dtype != np.float32
            or any(one.size not in (1, one.shape[1]) for one in arrays)
        ):
            return None
        if not apart(output, arrays):
            return None
        prepared = np.empty(channels * backend.native.ffi.sizeof("dml_batch_norm_channel"), np.uint8)
        task.channels, task.epsilon, task.relu = channels, self.epsilon, self.relu
        task.prepared = address(prepared)
        task.memory = list(map(address, arrays))
        task.strides = [one.strides[1] if one.shape[1] > 1 else 0 for one in arrays]
        return prepared


def rows_along(
    function: str,
    axes: Sequence[int],
    output: Array,
    x: Array,
    more: Sequence[Array | None],
    *,
    is_in_place: bool = False,
    **options: float,
) -> Run | None:
    views = fitting(output, x, more, is_in_place=is_in_place)
    if views is None:
        return None
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = joined([view.transpose(*kept, *sorted(axes)) for view in views], fixed=len(kept))
    if rows[0].ndim != len(kept) + 1:
        return None
    places = [0, 1, *(place for place, one in enumerate(more, 2) if one is not None)]
    return native(function, rows, places, **options)


def fitting(
    output: Array, x: Array, more: Sequence[Array | None], *, is_in_place: bool = False
) -> list[Array] | None:
    """Views of equal sizes, absent ones left out; None if there are no loops for their types or where they lie."""
    present = [one for one in more if one is not None]
    if backend.native is None or x.shape != output.shape or x.dtype not in LOOPS:
        return None
    if any(one.dtype != x.dtype for one in (output, *present)):
        return None
    others = present if is_in_place else [x, *present]
    if not readable(x, output, *present) or not apart(output, others):
        return None
    return [output, x, *(np.broadcast_to(one, x.shape) for one in present)]


def native(function: str, rows: Sequence[Array], places: Sequence[int], **options: float) -> Run | None:
    """The call of a loop over the last dimension of ``rows``, the tensors at ``places`` of the task; None if elements
    lie apart there."""
    ffi, lib = backend.native.ffi, backend.native.lib
    count, size = rows[0].shape[-1], rows[0].itemsize
    if any(one.strides[-1] not in ((size,) if place < 2 else (0, size)) for place, one in zip(places, rows)):
        return None
    if size == 2 and count > lib.DML_SOFTMAX_NORM_LONGEST_HALVES and function != "BATCH_NORM":
        return None
    heads = joined([one[..., 0] for one in rows])
    task = ffi.new("dml_softmax_norm *")
    task.function = getattr(lib, f"DML_SOFTMAX_NORM_{function}")
    task.is_half = size == 2
    task.rows, task.count, task.rank = heads[0].size, count, heads[0].ndim
    task.sizes[0 : heads[0].ndim] = heads[0].shape[::-1]
    for place, row, head in zip(places, rows, heads):
        task.memory[place] = address(head)
        task.moves[place] = row.strides[-1] != 0
        for axis, stride in enumerate(reversed(head.strides)):
            task.strides[axis][place] = stride
    for name, value in options.items():
        setattr(task, name, value)
    return NativeRun("dml_softmax_norm_run", task, keepalive=rows)
