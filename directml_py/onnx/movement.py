"""Operators that move elements: transposes, joins, slices, padding, blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..api.enums import (
    DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH,
    DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW,
    DML_PADDING_MODE_CONSTANT,
    DML_PADDING_MODE_EDGE,
    DML_PADDING_MODE_REFLECTION,
)
from ..graph import Expression
from .errors import Refusal
from .node import OnnxNode
from .quantized import FOUR_BITS, from_four_bits, to_four_bits
from .translators import Results, Rows, operator, outputs
from .values import Array, Sizes

PADDING_MODES = {
    "constant": DML_PADDING_MODE_CONSTANT,
    "edge": DML_PADDING_MODE_EDGE,
    "reflect": DML_PADDING_MODE_REFLECTION,
}
UNBOUNDED = (2**31 - 1, 2**63 - 1)
ORDERS = {"DCR": DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW, "CRD": DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH}


def _order(node: OnnxNode) -> list[int]:
    axes = list(range(len(node.shape())))
    order = [int(axis) for axis in node.get("perm", axes[::-1])]
    if sorted(order) != axes:
        raise Refusal(f"is {order}, which is no order of {len(axes)} axes", "attribute perm")
    return order


@outputs("Transpose")
def transposed(node: OnnxNode) -> Rows:
    return [(node.input().dtype, tuple(node.shape()[axis] for axis in _order(node)))]


@operator("Transpose")
def transpose(node: OnnxNode) -> Results:
    shape, order = node.shape(), _order(node)
    moved = [axis for axis in order if shape[axis] != 1]
    if moved == sorted(moved):
        return node.moved(sizes=node.output_shape())
    dtype = node.input().dtype
    if dtype.name in FOUR_BITS:
        return to_four_bits(node, node.transposed(from_four_bits(node, node.tensor()), shape, order), dtype)
    return node.transposed(node.tensor(), shape, order)


@operator("Concat")
def concat(node: OnnxNode) -> Results:
    parts = [value for value in node.inputs if value is not None]
    axis = node.axis(len(parts[0].shape), 1)
    full = [value for value in parts if value.size]
    if len(full) == 1:
        return full[0]
    return node.graph.join([node.moved(value) for value in full], axis=axis)


@operator("Split")
def split(node: OnnxNode) -> Results:
    shape = node.shape()
    axis = node.axis(len(shape), 0)
    sizes = node.numbers(1, "split")
    if sizes is None:
        count = int(node.get("num_outputs", len(node.outputs)))
        length = -(-shape[axis] // count)
        sizes = [min(length, shape[axis] - length * index) for index in range(count)]
    if sum(sizes) != shape[axis]:
        raise Refusal(f"is {sizes}; the axis has {shape[axis]} elements", "split")
    starts = [0, *accumulate(sizes)]
    return [
        sliced(node, node.moved(), axis, start, size)
        if node.wants(index) and size
        else _nothing(node, index, axis)
        for index, (start, size) in enumerate(zip(starts, sizes))
    ]


def _nothing(node: OnnxNode, index: int, axis: int) -> Array:
    shape = list(node.shape())
    shape[axis] = 0
    return np.empty(shape, node.input().dtype)


def sliced(node: OnnxNode, x: Expression, axis: int, start: int, size: int) -> Expression:
    """``size`` elements of an axis from ``start`` on."""
    sizes = list(x.desc.sizes)
    offsets = [0] * len(sizes)
    offsets[axis], sizes[axis] = start, size
    return node.graph.slice(x, offsets=offsets, sizes=sizes, strides=[1] * len(sizes))


def chosen(node: OnnxNode) -> list[range]:
    """The elements that Slice takes from each axis.

    Bounds are clamped as ONNX says, unlike Python's: with a negative step there is an element even if both bounds are
    before the first one. For ONNX Runtime the largest integer as an end means all that follow, in either direction.
    """
    shape = node.shape()
    if "starts" in node.attributes:
        starts, ends = node.get("starts"), node.get("ends")
        axes, steps = node.get("axes"), None
    else:
        starts, ends, axes, steps = (
            node.numbers(index, name)
            for index, name in ((1, "starts"), (2, "ends"), (3, "axes"), (4, "steps"))
        )
    axes = list(range(len(starts))) if axes is None else counted(axes, len(shape))
    if len(set(axes)) < len(axes):
        raise Refusal(f"is {axes}, which names an axis twice", "axes")
    ranges = [range(size) for size in shape]
    for axis, start, end, step in zip(axes, starts, ends, steps or [1] * len(axes)):
        size = shape[axis]
        if not step:
            raise Refusal("is 0", "steps")
        first, last = (0, size) if step > 0 else (-1, size - 1)
        start, end = (bound + size if bound < 0 else bound for bound in (start, end))
        if end in UNBOUNDED:
            end = last if step > 0 else first
        ranges[axis] = range(min(max(start, 0), last), min(max(end, first), last), step) if size else range(0)
    return ranges


def counted(axes: Sequence[int], rank: int) -> list[int]:
    """The axes counted from 0. Raises ``Refusal`` for those that the tensor lacks."""
    wrong = [axis for axis in axes if not -rank <= axis < rank]
    if wrong:
        raise Refusal(f"has {wrong[0]}; the tensor has {rank} dimensions", "axes")
    return [axis % rank for axis in axes]


@outputs("Slice")
def slice_outputs(node: OnnxNode) -> list[tuple[np.dtype[Any], Sizes]]:
    return [(node.input().dtype, tuple(map(len, chosen(node))))]


@operator("Slice")
def slice_(node: OnnxNode) -> Results:
    ranges, array = chosen(node), node.input().array
    if array is not None:
        result: Array = np.ascontiguousarray(array[np.ix_(*ranges)] if ranges else array)
        return result
    if all(taken == range(size) for taken, size in zip(ranges, node.shape())):
        return node.input()
    return node.graph.slice1(
        node.moved(),
        input_window_offsets=[min(taken[0], taken[-1]) for taken in ranges],
        input_window_sizes=[abs(taken[-1] - taken[0]) + 1 for taken in ranges],
        input_window_strides=[taken.step for taken in ranges],
    )


def _amounts(node: OnnxNode) -> tuple[list[int], list[int]]:
    """How many elements are added before and after those of each axis, or removed if the numbers are negative."""
    shape, pads = node.shape(), node.numbers(1, "pads")
    assert pads is not None
    axes = counted(node.numbers(3, "axes") or range(len(shape)), len(shape))
    before, after = [0] * len(shape), [0] * len(shape)
    for axis, low, high in zip(axes, pads, pads[len(axes) :]):
        before[axis], after[axis] = low, high
    return before, after


@outputs("Pad")
def padded(node: OnnxNode) -> Rows:
    before, after = _amounts(node)
    sizes = tuple(size + low + high for size, low, high in zip(node.shape(), before, after))
    if min(sizes, default=0) < 0:
        pads = [*before, *after]
        raise Refusal(f"is {pads}, which leaves an axis with {min(sizes)} elements", "input pads")
    return [(node.input().dtype, sizes)]


@operator("Pad")
def pad(node: OnnxNode) -> Results:
    """Negative padding crops the input before what is left is padded."""
    shape, sizes = node.shape(), node.output_shape()
    before, after = _amounts(node)
    word = node.get("mode", "constant")
    value = padding_value(node) if word == "constant" else 0
    kept = [size + min(0, low) + min(0, high) for size, low, high in zip(shape, before, after)]
    if min(kept, default=1) <= 0:
        return _nothing_kept(node, word, value, sizes)
    x = _cropped(node, kept, before)
    before, after = [max(0, low) for low in before], [max(0, high) for high in after]
    if not any(before) and not any(after):
        return x
    far = any(max(low, high) >= size for size, low, high in zip(kept, before, after))
    if word == "wrap" or (word == "reflect" and far):
        return _repeated(node, x, before, after, word)
    mode = node.choice("mode", "constant", PADDING_MODES)
    padding = {"padding_mode": mode, "start_padding": before, "end_padding": after}
    movable = node.movable(x)
    if node.input().dtype.kind == "f" and movable is x:
        return node.graph.padding(x, padding_value=float(value), **padding)
    # Doubles are moved as integers, and so is the one that they are padded with.
    number = int(value) if movable is x else int(np.float64(value).view(np.uint64))
    return node.graph.padding1(
        movable, padding_value_data_type=movable.desc.data_type, padding_value=number, **padding
    )


def padding_value(node: OnnxNode) -> float:
    if "value" in node.attributes:
        return float(node.get("value"))
    return node.known(2, "constant_value").reshape(-1)[0] if node.has(2) else 0


def _nothing_kept(node: OnnxNode, word: str, value: float, sizes: Sequence[int]) -> Results:
    """The result where negative padding removes all elements: it has the padding's value alone."""
    dtype = node.input().dtype
    if 0 in sizes:
        return np.empty(sizes, dtype)
    if word != "constant":
        raise Refusal(f"leaves no elements for the mode {word!r}", "input pads")
    return node.packed(node.spread(node.constant(np.full(1, value, dtype)), (1,), sizes))


def _cropped(node: OnnxNode, sizes: Sequence[int], before: Sequence[int]) -> Expression:
    """The input without the elements that negative padding removes."""
    if tuple(sizes) == node.shape():
        return node.tensor()
    offsets = [max(0, -low) for low in before]
    return node.graph.slice(node.moved(), offsets=offsets, sizes=sizes, strides=[1] * len(sizes))


def _repeated(
    node: OnnxNode, x: Expression, before: Sequence[int], after: Sequence[int], word: str
) -> Expression:
    """Padding with elements from the opposite end, or with reflections of reflections."""
    x = node.movable(x)
    sizes = x.desc.sizes
    for axis, (size, low, high) in enumerate(zip(sizes, before, after)):
        if low or high:
            order: Array = np.pad(np.arange(size), (low, high), word)  # type: ignore[call-overload]
            indices = node.constant(order.reshape((1,) * (len(sizes) - 1) + (-1,)), np.uint32)
            x = node.graph.gather(x, indices, axis=axis, index_dimensions=1)
    return x


@operator("Tile")
def tile(node: OnnxNode) -> Results:
    shape = node.shape()
    repeats = node.numbers(1, "repeats")
    assert repeats is not None
    if node.has(2):
        # Opset 1: the count and the axis.
        count, axis = repeats[0], int(node.known(2, "axis").reshape(-1)[0])
        repeats = [count if index == axis else 1 for index in range(len(shape))]
    return node.graph.tile(node.moved(), repeats=repeats or [1])


@operator("DepthToSpace")
def depth_to_space(node: OnnxNode) -> Results:
    block, order = node.get("blocksize"), node.choice("mode", "DCR", ORDERS)
    return node.graph.depth_to_space1(node.moved(), block_size=block, order=order)


@operator("SpaceToDepth")
def space_to_depth(node: OnnxNode) -> Results:
    block, order = node.get("blocksize"), node.choice("mode", "DCR", ORDERS)
    return node.graph.space_to_depth1(node.moved(), block_size=block, order=order)


@operator("ReverseSequence")
def reverse_sequence(node: OnnxNode) -> Results:
    """Time and batch axes come in either order; REVERSE_SUBSEQUENCES takes lengths over all other axes."""
    shape = node.shape()
    batch, time = node.axis(len(shape), 1, "batch_axis"), node.axis(len(shape), 0, "time_axis")
    if batch == time:
        raise Refusal("is that of the batch, too", "attribute time_axis")
    if node.input(1).size != shape[batch]:
        text = f"has {node.input(1).size} elements; the batch has {shape[batch]}"
        raise Refusal(text, "input sequence_lens")
    sizes = [1 if axis == time else size for axis, size in enumerate(shape)]
    aligned = [size if axis == batch else 1 for axis, size in enumerate(shape)]
    lengths = node.spread(node.cast(node.tensor(1, aligned), np.uint64), tuple(aligned), sizes)
    return node.graph.reverse_subsequences(node.moved(), lengths, axis=time)


@operator("Trilu")
def triangle(node: OnnxNode) -> Results:
    """The elements where a constant triangular mask is set, else 0."""
    shape = node.shape()
    offset = int(node.known(1, "k").reshape(-1)[0]) if node.has(1) else 0
    node.check_room(*shape[-2:], itemsize=2)
    cut = np.triu if node.get("upper", 1) else np.tril
    mask = cut(np.ones(shape[-2:], np.uint8), offset)
    x = node.moved()
    chosen = node.spread(node.constant(mask), mask.shape, shape)
    return node.graph.if_(chosen, x, node.scalar(0, x))


@operator("EyeLike")
def eye_like(node: OnnxNode) -> Results:
    """A constant: only the sizes of the input matter."""
    shape, (dtype, _) = node.shape(), node.inferred[node.outputs[0]]
    node.constants.budget.take_bytes(shape[0] * shape[1] * (8 + dtype.itemsize))
    eye: Array = np.eye(shape[0], shape[1], k=node.get("k", 0)).astype(dtype)
    return eye


@operator("CenterCropPad")
def center_crop_pad(node: OnnxNode) -> Results:
    shape = list(node.shape())
    wanted = node.numbers(1, "shape")
    axes = [axis % len(shape) for axis in node.get("axes", range(len(shape)))]
    assert wanted is not None
    offsets, sizes = [0] * len(shape), list(shape)
    before, after = [0] * len(shape), [0] * len(shape)
    for axis, size in zip(axes, wanted):
        surplus = shape[axis] - size
        if surplus > 0:
            offsets[axis], sizes[axis] = surplus // 2, size
        else:
            before[axis] = -surplus // 2
            after[axis] = -surplus - before[axis]
    x = node.graph.slice(node.moved(), offsets=offsets, sizes=sizes, strides=[1] * len(sizes))
    kind = x.desc.data_type
    return node.graph.padding1(
        x,
        padding_mode=DML_PADDING_MODE_CONSTANT,
        padding_value_data_type=kind,
        padding_value=0,
        start_padding=before,
        end_padding=after,
    )
