"""WebNN's operators that move elements, as graphs of DirectML's."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

import directml_py as dml
from directml_py.graph.expression import Expression

from .lowering import (
    Lowered,
    Lowering,
    operator,
    shape_of,
)


@operator("reshape")
def reshape(into: Lowering, x: Lowered, shape: Sequence[int]) -> Lowered:
    return into.view(x, shape)


@operator("expand")
def expand(into: Lowering, x: Lowered, shape: Sequence[int]) -> Lowered:
    return into.copied(into.spread(x, shape), tuple(shape))


@operator("transpose")
def transpose(into: Lowering, x: Lowered, permutation: Sequence[int] | None = None) -> Lowered:
    order = permutation or range(len(x.shape))[::-1]
    if not x.shape:
        return x
    return into.copied(into.permuted(x, order), tuple(x.shape[axis] for axis in order))


@operator("concat")
def concat(into: Lowering, values: list[Lowered], axis: int) -> Lowered:
    made = into.graph.join([value.x for value in values], axis=axis)
    return Lowered(made, shape_of(made))


@operator("split")
def split(into: Lowering, x: Lowered, splits: int | list[int], axis: int = 0) -> list[Lowered]:
    sizes = [x.shape[axis] // splits] * splits if isinstance(splits, int) else splits
    return [Lowered(part, shape_of(part)) for part in into.graph.split(x.x, axis=axis, sizes=sizes)]


@operator("slice")
def slice_(
    into: Lowering, x: Lowered, starts: list[int], sizes: list[int], strides: list[int] | None = None
) -> Lowered:
    if not x.shape:
        return x
    slice_strides = strides or [1] * len(sizes)
    made = into.graph.slice1(
        x.x, input_window_offsets=starts, input_window_sizes=sizes, input_window_strides=slice_strides
    )
    return Lowered(made, shape_of(made))


@operator("reverse")
def reverse(into: Lowering, x: Lowered, axes: list[int] | None = None) -> Lowered:
    if not x.shape:
        return x
    reversed_axes = range(len(x.shape)) if axes is None else axes
    made = into.graph.slice1(
        x.x,
        input_window_offsets=[0] * len(x.shape),
        input_window_sizes=x.shape,
        input_window_strides=[-1 if axis in reversed_axes else 1 for axis in range(len(x.shape))],
    )
    return Lowered(made, x.shape)


@operator("tile")
def tile(into: Lowering, x: Lowered, repetitions: list[int]) -> Lowered:
    if not x.shape:
        return x
    made = into.graph.tile(x.x, repeats=repetitions)
    return Lowered(made, shape_of(made))


PADDINGS = {
    "constant": dml.DML_PADDING_MODE_CONSTANT,
    "edge": dml.DML_PADDING_MODE_EDGE,
    "reflection": dml.DML_PADDING_MODE_REFLECTION,
    "symmetric": dml.DML_PADDING_MODE_SYMMETRIC,
}


@operator("pad")
def pad(
    into: Lowering,
    x: Lowered,
    beginning: list[int],
    ending: list[int],
    mode: str = "constant",
    value: float = 0,
) -> Lowered:
    if not x.shape:
        return x
    made = into.graph.padding1(
        x.x,
        padding_mode=PADDINGS[mode],
        padding_value_data_type=x.data_type,
        padding_value=x.dtype.type(value).item(),
        start_padding=beginning,
        end_padding=ending,
    )
    return Lowered(made, shape_of(made))


def _leading_ones(into: Lowering, value: Lowered, rank: int) -> Expression:
    return into.view(value, (1,) * (rank - len(value.shape)) + value.shape).x


def _limited(into: Lowering, indices: Lowered, sizes: Sequence[int]) -> Lowered:
    """Indices clamped to the range of sizes: of all alike, or of each along the last dimension. WebNN clamps where
    DirectML leaves the result open."""
    lowest = [0 if indices.dtype.kind == "u" else -size for size in sizes]
    limits = [
        Lowered(into.graph.constant(np.array(numbers, indices.dtype)), (len(sizes),))
        for numbers in (lowest, [size - 1 for size in sizes])
    ]
    shape = indices.shape or (1,)
    low, high = (into.spread(limit, shape) for limit in limits)
    clamped = into.graph.min(into.graph.max(into.view(indices, shape).x, low), high)
    return Lowered(clamped, indices.shape)


@operator("gather")
def gather(into: Lowering, x: Lowered, indices: Lowered, axis: int = 0) -> Lowered:
    indices = _limited(into, indices, [x.shape[axis]])
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    viewed = indices if indices.shape else into.view(indices, (1,))
    rank = max(len(x.shape) - 1 + len(viewed.shape), len(x.shape))
    made = into.graph.gather(
        _leading_ones(into, x, rank),
        _leading_ones(into, viewed, rank),
        axis=axis + rank - len(x.shape),
        index_dimensions=len(viewed.shape),
    )
    return into.view(Lowered(made, shape_of(made)), shape)


@operator("gatherElements")
def gather_elements(into: Lowering, x: Lowered, indices: Lowered, axis: int = 0) -> Lowered:
    limited = _limited(into, indices, [x.shape[axis]])
    return Lowered(into.graph.gather_elements(x.x, limited.x, axis=axis), indices.shape)


@operator("scatterElements")
def scatter_elements(
    into: Lowering, x: Lowered, indices: Lowered, updates: Lowered, axis: int = 0
) -> Lowered:
    return Lowered(into.graph.scatter(x.x, indices.x, updates.x, axis=axis), x.shape)


@operator("gatherND")
def gather_nd(into: Lowering, x: Lowered, indices: Lowered) -> Lowered:
    indices = _limited(into, indices, x.shape[: indices.shape[-1]])
    shape = indices.shape[:-1] + x.shape[indices.shape[-1] :]
    rank = max(len(x.shape), len(indices.shape), len(shape))
    made = into.graph.gather_nd(
        _leading_ones(into, x, rank),
        _leading_ones(into, indices, rank),
        input_dimension_count=len(x.shape),
        indices_dimension_count=len(indices.shape),
    )
    return into.view(Lowered(made, shape_of(made)), shape)


@operator("scatterND")
def scatter_nd(into: Lowering, x: Lowered, indices: Lowered, updates: Lowered) -> Lowered:
    rank = max(len(x.shape), len(indices.shape), len(updates.shape))
    made = into.graph.scatter_nd(
        *(_leading_ones(into, value, rank) for value in (x, indices, updates)),
        input_dimension_count=len(x.shape),
        indices_dimension_count=len(indices.shape),
    )
    return into.view(Lowered(made, shape_of(made)), x.shape)


@operator("triangular")
def triangular(into: Lowering, x: Lowered, upper: bool = True, diagonal: int = 0) -> Lowered:
    """Zeros below a diagonal or above it; DirectML fills the diagonals from one up to, but without, another."""
    limits = np.iinfo(np.int32)
    first, end = (int(limits.min), diagonal) if upper else (diagonal + 1, int(limits.max))
    matrices = into.view(x, (math.prod(x.shape[:-2]), *x.shape[-2:]))
    made = into.graph.diagonal_matrix1(
        matrices.x, value_data_type=x.data_type, value=0, diagonal_fill_begin=first, diagonal_fill_end=end
    )
    return into.view(Lowered(made, matrices.shape), x.shape)
