"""Softmax, log-softmax, normalizations and the gradients of batch normalization in the native kernel.

A row is contiguous in the input and the output; softmax also takes columns, which are neighbours or follow each other.
Other layouts are reordered; what is declined runs in ``rowwise.map_rows``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .backend import backend
from .cache_blocks import joined
from .decisions import ABSENT, Declined
from .launch import NativeRun
from .native_arrays import Array, Run, address, apart, readable, type_name
from .reorder import Reorders, is_same, joined_stride, lie_together

# The fewest elements of each channel that are normalized together, for which its factor is computed once.
PART = 256
# The fewest elements of a line that vectors are worth.
LINE = 16

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
        return have_columns(array, axes, behind) and are_rows(array)

    packing = order if behind is None else None
    is_read = is_taken(x) and (x.flags.c_contiguous or are_rows(x, output))
    source = reorders.read(x, is_read, packing)
    target = reorders.write(
        output, is_taken(output) and are_rows(output, source), [], packing, in_place_of=source
    )
    name = "LOG_SOFTMAX" if logarithm else "SOFTMAX"
    run = rows_along(name, axes, target, source, [], are_columns=behind is not None)
    return run and reorders.around(run)


def have_columns(array: Array, axes: Sequence[int], behind: int) -> bool:
    """Whether columns along ``axes``, which are those before ``behind``, are neighbours along the last dimension, at
    least a line of them, or follow each other there."""
    *outer, last = [axis for axis, size in enumerate(array.shape) if axis not in axes and size > 1]
    along = [axis for axis in sorted(axes) if array.shape[axis] > 1]
    if array.itemsize not in (array.strides[last], joined_stride(array, along)):
        return False
    if any(array.strides[axis] < array.strides[last] for axis in outer):
        return False
    across = [axis for axis in (*outer, last) if axis >= behind]
    return array.shape[last] >= LINE or joined_stride(array, across) is not None


def in_rows(rank: int, axes: Sequence[int]) -> list[int]:
    """The dimensions, with ``axes`` last."""
    return [*(axis for axis in range(rank) if axis not in axes), *sorted(axes)]


def behind_columns(sizes: Sequence[int], axes: Sequence[int]) -> int | None:
    """The dimension behind ``axes`` if these are columns of packed tensors, next to each other and not too long; None
    if they are rows, or must become some."""
    long = [axis for axis, size in enumerate(sizes) if size > 1]
    positions = [position for position, axis in enumerate(long) if axis in axes]
    if not positions or positions[-1] == len(long) - 1 or positions[-1] - positions[0] != len(positions) - 1:
        return None
    is_short = prod(sizes[axis] for axis in axes) <= backend.native.lib.DML_SOFTMAX_NORM_LONGEST_COLUMN
    return long[positions[-1]] + 1 if is_short else None


def response(
    x: Array, output: Array, before: int, behind: int, *, share: float, bias: float, exponent: float
) -> Run | Declined:
    """``x / (bias + share * sum(x^2)) ** exponent``, with sums over the channels from ``before`` before to ``behind``
    after each."""
    reason = unsupported(output, x, [])
    if reason is None and x.shape[1] > backend.native.lib.DML_SOFTMAX_NORM_LONGEST_COLUMN:
        reason = f"{x.shape[1]} channels are too many"
    if reason is None and 1 in (x.shape[1], prod(x.shape[2:])):
        reason = "there is one channel, or one pixel"
    if reason is not None:
        return Declined("softmax_norm", reason)
    reorders = Reorders()
    source = reorders.read(x, lie_together(x, 2))
    target = reorders.write(output, lie_together(output, 2), [], in_place_of=source)
    columns = [array.reshape(*x.shape[:2], -1).swapaxes(1, 2) for array in (target, source)]
    neighbours = {"before": min(before, x.shape[1]), "behind": min(behind, x.shape[1])}
    run = bound_rows("RESPONSE", columns, [0, 1], share=share, epsilon=bias, exponent=exponent, **neighbours)
    return run and reorders.around(run)


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
    slope: float | None = None,
    statistics: Sequence[Array] = (),
) -> Run | Declined:
    """``scale * (x - mean) / sqrt(variance + epsilon) + bias``, with mean and variance along ``axes``; ``scale`` and
    ``bias`` broadcast. ``relu`` applies RELU to the result, a ``slope`` LEAKY_RELU. Mean and variance are stored in the
    ``statistics``, if there are any."""
    reason = unsupported(output, x, [scale, bias])
    if reason is not None:
        return Declined("softmax_norm", reason)
    order, kept = in_rows(x.ndim, axes), x.ndim - len(axes)
    reorders = Reorders()
    present = [one for one in (scale, bias) if one is not None]
    is_in_place = lie_side_by_side(x, output, axes, present) or have_lines(x, output, axes, present)

    def read(array: Array) -> Array:
        return reorders.read(array, lie_together(array.transpose(order), kept), order)

    source = x if is_in_place else read(x)
    factors = [
        one if one is None or is_one_per_row(one, axes) else read(along_rows(one, x, axes))
        for one in (scale, bias)
    ]
    is_taken = is_in_place or lie_together(output.transpose(order), kept)
    target = reorders.write(output, is_taken, factors, order, in_place_of=source)
    run = rows_along(
        "MEAN_VARIANCE",
        axes,
        target,
        source,
        [*factors, None, None, *statistics],
        epsilon=epsilon,
        uses_mean=uses_mean,
        uses_variance=uses_variance,
        activation={"relu": relu, "leaky": slope is not None, "slope": slope or 0.0},
    )
    return run and reorders.around(run)


def lie_side_by_side(x: Array, output: Array, axes: Sequence[int], factors: Sequence[Array]) -> bool:
    """Whether rows along ``axes`` are columns, read and written where they lie: of FLOAT32, neighbours in memory,
    and with factors that are the same for a whole column."""
    images = (x, output)
    if x.dtype != np.float32 or not all(is_one_per_row(one, axes) for one in factors):
        return False
    kept = [axis for axis in range(x.ndim) if axis not in axes and x.shape[axis] > 1]
    along = [axis for axis in sorted(axes) if x.shape[axis] > 1]
    if not along or not any(all(one.strides[axis] == one.itemsize for one in images) for axis in kept):
        return False
    strides = [joined_stride(one, along) for one in images]
    return all(stride is not None and stride > 0 for stride in strides) and are_read_in_place(
        x, output, factors
    )


def have_lines(x: Array, output: Array, axes: Sequence[int], factors: Sequence[Array]) -> bool:
    """Whether rows along ``axes`` are lines with gaps between them, and fit into the cache, where each is packed."""
    strides = [output.strides[axis] for axis in sorted(axes) if x.shape[axis] > 1]
    size = x.itemsize * prod(x.shape[axis] for axis in axes)
    if size > backend.native.lib.DML_SOFTMAX_NORM_LONGEST_PACKED or strides != sorted(strides, reverse=True):
        return False
    if not all(is_one_per_row(one, axes) for one in factors) or not are_read_in_place(x, output, factors):
        return False
    kept = x.ndim - len(axes)
    views = joined([one.transpose(in_rows(x.ndim, axes)) for one in (output, x)], fixed=kept)
    has_lines = views[0].ndim == kept + 2 and views[0].shape[-1] >= LINE
    return has_lines and all(one.strides[-1] == one.itemsize for one in views)


def gradient(
    x: Array,
    incoming: Array,
    mean: Array,
    variance: Array,
    scale: Array,
    outputs: Sequence[Array],
    axes: Sequence[int],
    epsilon: float,
    *,
    is_through_statistics: bool,
) -> Run | Declined:
    """The gradients of ``scale * (x - mean) / sqrt(variance + epsilon) + bias`` with respect to ``x``, scale and bias,
    those of the latter two summed along ``axes``; with ``is_through_statistics``, mean and variance depend on ``x``."""
    target, *sums = outputs
    statistics = [mean, variance, scale]
    reason = unsupported(target, x, [incoming, *statistics, *sums])
    if reason is None and x.dtype != np.float32:
        reason = f"the gradient of {type_name(x)} has no native kernel"
    if reason is not None:
        return Declined("softmax_norm", reason)
    order, kept = in_rows(x.ndim, axes), x.ndim - len(axes)
    reorders = Reorders()
    source, gradients = (
        reorders.read(array, lie_together(array.transpose(order), kept), order) for array in (x, incoming)
    )
    is_taken = lie_together(target.transpose(order), kept)
    target = reorders.write(target, is_taken, [gradients, *statistics], order, in_place_of=source)
    factors = [gradients, *statistics, *sums]
    run = rows_along(
        "GRADIENT", axes, target, source, factors, epsilon=epsilon, uses_mean=is_through_statistics
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
    options = {"epsilon": epsilon, "activation": {"relu": relu}}
    columns = as_columns(x, output, statistics) or as_lines(x, output, statistics, first)
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
    if not all(one.strides[1] == one.itemsize and one.shape[1] > 1 for one in (x, output)):
        return None
    if any(one.size not in (1, one.shape[1]) for one in statistics):
        return None
    if not are_read_in_place(x, output, statistics):
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


def as_lines(x: Array, output: Array, statistics: Sequence[Array], first: int) -> list[Array] | None:
    """Views of the dimensions from ``first`` on as lines with gaps between them: the last dimension is the lines, and
    the one before it their elements; None if tensors do not lie like that, or need no such views."""
    views = joined(broadcast_views(output, x, statistics), fixed=first)
    if views[0].ndim != first + 2 or views[0].shape[-1] < LINE:
        return None
    if any(view.strides[-1] != view.itemsize for view in views[:2]):
        return None
    if not are_read_in_place(x, output, statistics):
        return None
    return [view.swapaxes(-1, -2) for view in views]


def are_read_in_place(x: Array, output: Array, statistics: Sequence[Array]) -> bool:
    """Whether C can read all tensors where they are, while it writes the output."""
    if not readable(x, output, *statistics):
        return False
    return (is_same(x, output) or apart(output, [x])) and apart(output, statistics)


def rows_along(
    function: str,
    axes: Sequence[int],
    output: Array,
    x: Array,
    more: Sequence[Array | None],
    **options: Any,
) -> Run | Declined:
    views = broadcast_views(output, x, more)
    kept = x.ndim - len(axes)
    rows = joined([view.transpose(in_rows(x.ndim, axes)) for view in views], fixed=kept)
    if rows[0].ndim == kept + 2 and function == "MEAN_VARIANCE":
        lines, line = rows[0].shape[-2:]
        options.update(count=lines * line, line=line, line_strides=[row.strides[-2] for row in rows[:2]])
        rows = [row[..., 0, :] for row in rows]
    if rows[0].ndim != kept + 1:
        return Declined("softmax_norm", "a row has one element")
    operands = [0, 1, *(index for index, array in enumerate(more, 2) if array is not None)]
    return bound_rows(function, rows, operands, **options)


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


def bound_rows(
    function: str, rows: Sequence[Array], operands: Sequence[int], **options: Any
) -> Run | Declined:
    """The call over the last dimension of ``rows``, the tensors at ``operands`` of the task."""
    ffi, lib = backend.native.ffi, backend.native.lib
    count, size = options.pop("count", rows[0].shape[-1]), rows[0].itemsize
    apart_by = [row.strides[-1] for row in rows]
    heads = joined([row[..., 0] for row in rows])
    are_columns = any(
        gap not in ((size,) if index < 2 else (0, size)) for index, gap in zip(operands, apart_by)
    )
    if options.pop("are_columns", are_columns):
        options["column_strides"] = apart_by[:2]
    longest = lib.DML_SOFTMAX_NORM_LONGEST_HALVES
    if size == 2 and count > longest and function != "BATCH_NORM":
        return Declined("softmax_norm", f"rows of {count} elements of FLOAT16 are longer than {longest}")
    task = ffi.new("dml_softmax_norm *")
    task.function = getattr(lib, f"DML_SOFTMAX_NORM_{function}")
    task.is_half = size == 2
    task.rows, task.count, task.rank = heads[0].size, count, heads[0].ndim
    task.sizes[0 : heads[0].ndim] = heads[0].shape[::-1]
    for index, row, head in zip(operands, rows, heads):
        task.memory[index] = address(head)
        task.moves[index] = row.strides[-1] != 0
        for axis, stride in enumerate(reversed(head.strides)):
            task.strides[axis][index] = stride
    for name, value in options.items():
        setattr(task, name, value)
    return NativeRun("dml_softmax_norm_run", task, keepalive=rows)
