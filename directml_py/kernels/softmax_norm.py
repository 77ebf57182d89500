"""Softmax, log-softmax and mean-variance normalization in the native kernel.

A row is contiguous in the input and the output; softmax also takes columns of such rows. What is declined runs in
``rowwise.map_rows``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .backend import backend
from .cache_blocks import joined
from .decisions import ABSENT, OVERLAPPING, UNREADABLE, Declined
from .launch import NativeRun, launch_in_order
from .move import move
from .native_arrays import Array, Run, address, apart, readable, type_name

FLOATS = (np.dtype(np.float32), np.dtype(np.float16))
SCATTERED = "elements of a row are not contiguous"


def softmax(x: Array, output: Array, axes: Sequence[int], logarithm: bool = False) -> Run | Declined:
    """Softmax along ``axes``, or its logarithm.

    Input in a different layout from the output, such as a reversed one, is copied first, to give the same bits.
    """
    bind = partial(rows_along, "LOG_SOFTMAX" if logarithm else "SOFTMAX", axes, output)
    run = bind(x, [])
    if run or unsupported(output, x, []) or not bind(np.empty_like(output), []):
        return run

    def run_on_copy() -> None:
        together = np.empty_like(output)
        move([(together, x)])()
        softmax_of_copy = bind(together, [])
        assert softmax_of_copy
        softmax_of_copy()

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
) -> Run | Declined:
    """``scale * (x - mean) / sqrt(variance + epsilon) + bias``, with mean and variance along ``axes``; ``scale`` and
    ``bias`` broadcast. ``relu`` applies RELU to the result."""
    options: dict[str, Any] = {
        "epsilon": epsilon,
        "uses_mean": uses_mean,
        "uses_variance": uses_variance,
        "relu": relu,
    }
    run = rows_along("MEAN_VARIANCE", axes, output, x, [scale, bias], **options)
    if run or unsupported(output, x, [scale, bias]):
        return run
    # Non-contiguous rows are packed into the output.
    run = rows_along("MEAN_VARIANCE", axes, output, output, [scale, bias], is_in_place=True, **options)
    return run and launch_in_order([move([(output, x)]), run])


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
) -> Run | Declined:
    """Batch normalization with given statistics, which broadcast, as scale and bias do: each has one number per row."""
    # A convolution that does not take it as a post-op stores its sums where it is then done in place.
    is_in_place = x.__array_interface__ == output.__array_interface__
    reason = unsupported(output, x, [mean, variance, scale, bias], is_in_place=is_in_place)
    if reason is not None:
        return Declined("softmax_norm", reason)
    rows = joined(broadcast_views(output, x, [mean, variance, scale, bias]))
    if rows[0].ndim == 0 or any(view.strides[-1] for view in rows[2:]):
        return Declined("softmax_norm", "statistics change along the innermost dimension")
    return bound_rows("BATCH_NORM", rows, [0, 1, 2, 3, 4, 5], epsilon=epsilon, relu=relu)


class BatchNormPostOp(NamedTuple):
    """A batch-norm post-op: another kernel's output channels are normalized as they are stored, as by ``batch_norm``.

    Mean, variance, scale and bias each have one number for all channels, or one for each.
    """

    mean: Array
    variance: Array
    scale: Array
    bias: Array
    epsilon: float
    relu: bool

    def fill(self, task: Any, output: Array) -> Array | str:
        """Make it part of a task that stores ``output``, {N, C, ...}; returns the keepalives of the task, or why it is
        impossible."""
        arrays, channels = self[:4], output.shape[1]
        for array in (*arrays, output):
            if array.dtype != np.float32:
                return f"normalization of {type_name(array)} cannot be a post-op"
        if any(array.size not in (1, array.shape[1]) for array in arrays):
            return "statistics that are not one for each channel cannot be a post-op"
        if not readable(*arrays):
            return UNREADABLE
        if not apart(output, arrays):
            return OVERLAPPING
        prepared = np.empty(channels * backend.native.ffi.sizeof("dml_batch_norm_channel"), np.uint8)
        task.channels, task.epsilon, task.relu = channels, self.epsilon, self.relu
        task.prepared = address(prepared)
        task.memory = list(map(address, arrays))
        task.strides = [array.strides[1] if array.shape[1] > 1 else 0 for array in arrays]
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
) -> Run | Declined:
    reason = unsupported(output, x, more, is_in_place=is_in_place)
    if reason is not None:
        return Declined("softmax_norm", reason)
    views = broadcast_views(output, x, more)
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = joined([view.transpose(*kept, *sorted(axes)) for view in views], fixed=len(kept))
    if rows[0].ndim != len(kept) + 1:
        return Declined("softmax_norm", SCATTERED)
    places = [0, 1, *(place for place, array in enumerate(more, 2) if array is not None)]
    return bound_rows(function, rows, places, **options)


def unsupported(
    output: Array, x: Array, more: Sequence[Array | None], *, is_in_place: bool = False
) -> str | None:
    """Why the native kernel does not take these tensors, apart from the layout of their rows."""
    present = [array for array in more if array is not None]
    if backend.native is None:
        return ABSENT
    if x.shape != output.shape:
        return f"the output has the sizes {output.shape}, the input {x.shape}"
    if x.dtype not in FLOATS:
        return f"{type_name(x)} has no native kernel"
    if any(array.dtype != x.dtype for array in (output, *present)):
        return "the tensors have different data types"
    if not readable(x, output, *present):
        return UNREADABLE
    return None if apart(output, present if is_in_place else [x, *present]) else OVERLAPPING


def broadcast_views(output: Array, x: Array, more: Sequence[Array | None]) -> list[Array]:
    """Views of equal sizes; absent ones are left out."""
    return [output, x, *(np.broadcast_to(array, x.shape) for array in more if array is not None)]


def bound_rows(function: str, rows: Sequence[Array], places: Sequence[int], **options: Any) -> Run | Declined:
    """The call over the last dimension of ``rows``, the tensors at ``places`` of the task."""
    ffi, lib = backend.native.ffi, backend.native.lib
    count, size = rows[0].shape[-1], rows[0].itemsize
    apart_by = [row.strides[-1] for row in rows]
    heads = joined([row[..., 0] for row in rows])
    if any(step not in ((size,) if place < 2 else (0, size)) for place, step in zip(places, apart_by)):
        side_by_side = heads[0].ndim > 0 and all(head.strides[-1] == size for head in heads)
        if "SOFTMAX" not in function or not side_by_side or count > lib.DML_SOFTMAX_NORM_LONGEST_COLUMN:
            return Declined("softmax_norm", SCATTERED)
        options["steps"] = apart_by
    longest = lib.DML_SOFTMAX_NORM_LONGEST_HALVES
    if size == 2 and count > longest and function != "BATCH_NORM":
        return Declined("softmax_norm", f"rows of {count} elements of FLOAT16 are longer than {longest}")
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
