"""The native loops of rows: SOFTMAX and its logarithm, and normalization with mean and variance.

Each function gives the call that computes, or None where there is no loop for these tensors: ``rows.map_rows`` with the
twin takes all. A row is what lies next to each other in the input and the output.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .backend import backend
from .binding import Array, Run, address, bound
from .blocks import joined

LOOPS = (np.dtype(np.float32), np.dtype(np.float16))


def softmax(x: Array, output: Array, axes: Sequence[int], logarithm: bool = False) -> Run | None:
    """Each exponential divided by the sum of those along ``axes``, or the logarithm of that."""
    return rows_along("LOG_SOFTMAX" if logarithm else "SOFTMAX", axes, output, x, [])


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
    options = {"epsilon": epsilon, "uses_mean": uses_mean, "uses_variance": uses_variance, "relu": relu}
    return rows_along("MEAN_VARIANCE", axes, output, x, [scale, bias], **options)


def given(
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
    """The same with a mean and a variance that are given and broadcast, as scale and bias do: in a row all are one
    number."""
    views = fitting(output, x, [mean, variance, scale, bias])
    if views is None:
        return None
    rows = joined(views)
    if rows[0].ndim == 0 or any(view.strides[-1] for view in rows[2:]):
        return None
    return native("GIVEN", rows, [0, 1, 2, 3, 4, 5], epsilon=epsilon, relu=relu)


def rows_along(
    function: str,
    axes: Sequence[int],
    output: Array,
    x: Array,
    more: Sequence[Array | None],
    **options: float,
) -> Run | None:
    views = fitting(output, x, more)
    if views is None:
        return None
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = joined([view.transpose(*kept, *sorted(axes)) for view in views], fixed=len(kept))
    if rows[0].ndim != len(kept) + 1:
        return None
    places = [0, 1, *(place for place, one in enumerate(more, 2) if one is not None)]
    return native(function, rows, places, **options)


def fitting(output: Array, x: Array, more: Sequence[Array | None]) -> list[Array] | None:
    """Views of equal sizes, absent ones left out; None if there are no loops for their types or where they lie."""
    present = [one for one in more if one is not None]
    if backend.native is None or x.shape != output.shape or x.dtype not in LOOPS:
        return None
    if any(
        one.dtype != x.dtype or not one.dtype.isnative or not one.flags.aligned for one in (output, *present)
    ):
        return None
    if not x.flags.aligned or any(np.may_share_memory(one, output) for one in (x, *present)):
        return None
    return [output, x, *(np.broadcast_to(one, x.shape) for one in present)]


def native(function: str, rows: Sequence[Array], places: Sequence[int], **options: float) -> Run | None:
    """The call of a loop over the last dimension of ``rows``, the tensors at ``places`` of the task; None if elements
    lie apart there."""
    ffi, lib = backend.native.ffi, backend.native.lib
    count, size = rows[0].shape[-1], rows[0].itemsize
    if any(one.strides[-1] not in ((size,) if place < 2 else (0, size)) for place, one in zip(places, rows)):
        return None
    if size == 2 and count > lib.DML_ROWS_LONGEST_HALVES and function != "GIVEN":
        return None
    heads = joined([one[..., 0] for one in rows])
    task = ffi.new("dml_rows *")
    task.function = getattr(lib, f"DML_ROWS_{function}")
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
    return bound(lib.dml_rows_run, task, memory=rows)
