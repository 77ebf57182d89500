"""Softmax, log-softmax and mean-variance normalization in the native kernel.

A row is contiguous in the input and the output; softmax also takes columns of such rows. Other layouts are reordered;
what is declined runs in ``rowwise.map_rows``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .backend import backend
from .cache_blocks import joined
from .decisions import ABSENT, OVERLAPPING, UNREADABLE, Declined
from .launch import NativeRun
from .native_arrays import Array, Run, address, apart, readable, type_name
from .reorder import Reorders, is_same, lie_together

# The fewest elements of each channel that are normalized together, for which its factor is computed once.
PART = 256

FLOATS = (np.dtype(np.float32), np.dtype(np.float16))


def softmax(x: Array, output: Array, axes: Sequence[int], logarithm: bool = False) -> Run | Declined:
    """Softmax along ``axes``, or its logarithm, of columns where packed tensors have columns along ``axes``."""
    reason = unsupported(output, x, [])
    if reason is not None:
        return Declined("softmax_norm", reason)
    order, kept = in_rows(x.ndim, axes), x.ndim - len(axes)
    behind = behind_columns(x.shape, axes)
    reorders = Reorders()

    def are_rows(*arrays: Array) -> bool:
        """Whether the dimensions of ``axes`` merge into one, in all arrays alike."""
        return joined([array.transpose(order) for array in arrays], fixed=kept)[0].ndim == kept + 1

    def is_taken(array: Array) -> bool:
        if behind is None:
            return lie_together(array.transpose(order), kept)
        return lie_together(array, behind) and are_rows(array)

    packing = order if behind is None else None
    is_read = is_taken(x) and (x.flags.c_contiguous or are_rows(x, output))
    source = reorders.read(x, is_read, packing)
    target = reorders.write(
        output, is_taken(output) and are_rows(output, source), [], packing, in_place_of=source
    )
    name = "LOG_SOFTMAX" if logarithm else "SOFTMAX"
    run = rows_along(name, axes, target, source, [])
    return run and reorders.around(run)


def in_rows(rank: int, axes: Sequence[int]) -> list[int]:
    """The dimensions, with ``axes`` last."""
    return [*(axis for axis in range(rank) if axis not in axes), *sorted(axes)]


def behind_columns(sizes: Sequence[int], axes: Sequence[int]) -> int | None:
    """The dimension behind ``axes`` if these are columns of packed tensors, next to each other and not too long; None
    if they are rows, or must become some."""
    long = [axis for axis, size in enumerate(sizes) if size > 1]
    places = [place for place, axis in enumerate(long) if axis in axes]
    if not places or places[-1] == len(long) - 1 or places[-1] - places[0] != len(places) - 1:
        return None
    is_short = prod(sizes[axis] for axis in axes) <= backend.native.lib.DML_SOFTMAX_NORM_LONGEST_COLUMN
    return long[places[-1]] + 1 if is_short else None


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
    reason = unsupported(output, x, [scale, bias])
    if reason is not None:
        return Declined("softmax_norm", reason)
    order, kept = in_rows(x.ndim, axes), x.ndim - len(axes)
    reorders = Reorders()

    def read(array: Array) -> Array:
        return reorders.read(array, lie_together(array.transpose(order), kept), order)

    source = read(x)
    factors = [
        one if one is None or is_one_per_row(one, axes) else read(along_rows(one, x, axes))
        for one in (scale, bias)
    ]
    is_taken = lie_together(output.transpose(order), kept)
    target = reorders.write(output, is_taken, factors, order, in_place_of=source)
    run = rows_along(
        "MEAN_VARIANCE",
        axes,
        target,
        source,
        factors,
        epsilon=epsilon,
        uses_mean=uses_mean,
        uses_variance=uses_variance,
        relu=relu,
    )
    return run and reorders.around(run)


def is_one_per_row(factor: Array, axes: Sequence[int]) -> bool:
    return all(factor.shape[axis] == 1 for axis in axes)


def along_rows(factor: Array, x: Array, axes: Sequence[int]) -> Array:
    """A view that is as long as ``x`` along all of ``axes``."""
    sizes = [x.shape[axis] if axis in axes else size for axis, size in enumerate(factor.shape)]
    return np.broadcast_to(factor, sizes)


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
    """Batch normalization with given statistics, which broadcast, as scale and bias do: each has one number per row,
    the dimensions behind the last one along which any has several."""
    statistics = [mean, variance, scale, bias]
    reason = unsupported(output, x, statistics)
    if reason is not None:
        return Declined("softmax_norm", reason)
    first = x.ndim
    while first > 0 and all(one.shape[first - 1] == 1 for one in statistics):
        first -= 1
    if prod(x.shape[first:]) == 1:
        return Declined("softmax_norm", "statistics change along the innermost dimension")
    options = {"epsilon": epsilon, "relu": relu}
    columns = as_columns(x, output, statistics)
    if columns is not None:
        return bound_rows("BATCH_NORM", columns, [0, 1, 2, 3, 4, 5], **options)
    reorders = Reorders()
    source = reorders.read(x, lie_together(x, first))
    target = reorders.write(output, lie_together(output, first), statistics, in_place_of=source)
    rows = joined(broadcast_views(target, source, statistics))
    run = bound_rows("BATCH_NORM", rows, [0, 1, 2, 3, 4, 5], **options)
    return run and reorders.around(run)


def as_columns(x: Array, output: Array, statistics: Sequence[Array]) -> list[Array] | None:
    """Views whose last dimension is a part of the columns of channels that lie next to each other, and the one before
    it the channels; None if tensors do not lie like that."""
    if not all(one.strides[1] == one.itemsize and one.shape[1] > 1 and readable(one) for one in (x, output)):
        return None
    if any(one.size not in (1, one.shape[1]) for one in statistics) or not readable(*statistics):
        return None
    if not (is_same(x, output) or apart(output, [x])) or not apart(output, statistics):
        return None
    order = [0, *range(2, x.ndim), 1]
    views = joined([view.transpose(order) for view in broadcast_views(output, x, statistics)])
    if views[0].ndim < 2 or views[0].shape[-1] != x.shape[1]:
        return None
    pixels = views[0].shape[-2]
    part = next((count for count in range(PART, pixels) if pixels % count == 0), pixels)
    return [
        view.reshape(*view.shape[:-2], pixels // part, part, x.shape[1]).swapaxes(-1, -2) for view in views
    ]


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
    **options: float,
) -> Run | Declined:
    views = broadcast_views(output, x, more)
    kept = x.ndim - len(axes)
    rows = joined([view.transpose(in_rows(x.ndim, axes)) for view in views], fixed=kept)
    if rows[0].ndim != kept + 1:
        return Declined("softmax_norm", "a row has one element")
    places = [0, 1, *(place for place, array in enumerate(more, 2) if array is not None)]
    return bound_rows(function, rows, places, **options)


def unsupported(output: Array, x: Array, more: Sequence[Array | None]) -> str | None:
    """Why the native kernel does not take these tensors, in whatever layout."""
    present = [array for array in more if array is not None]
    if backend.native is None:
        return ABSENT
    if x.shape != output.shape:
        return f"the output has the sizes {output.shape}, the input {x.shape}"
    if x.dtype not in FLOATS:
        return f"{type_name(x)} has no native kernel"
    if any(array.dtype != x.dtype for array in (output, *present)):
        return "the tensors have different data types"
    return None


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
        options["column_strides"] = apart_by[:2]
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
