"""Operators that move elements: transposes, joins, slices, padding, blocks."""

from __future__ import annotations

from itertools import accumulate

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
from .translators import Results, operator
from .values import Array, Sizes

PADDING_MODES = {
    "constant": DML_PADDING_MODE_CONSTANT,
    "edge": DML_PADDING_MODE_EDGE,
    "reflect": DML_PADDING_MODE_REFLECTION,
}
ORDERS = {"DCR": DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW, "CRD": DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH}


@operator("Transpose")
def transpose(node: OnnxNode) -> Results:
    shape = node.shape()
    order = node.get("perm", list(range(len(shape)))[::-1])
    moved = [axis for axis in order if shape[axis] != 1]
    if moved == sorted(moved):
        return node.moved(sizes=node.output_shape())
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
        step = -(-shape[axis] // count)
        sizes = [min(step, shape[axis] - step * index) for index in range(count)]
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


@operator("Slice")
def slice_(node: OnnxNode) -> Results:
    shape = node.shape()
    if "starts" in node.attributes:
        starts, ends = node.get("starts"), node.get("ends")
        axes, steps = node.get("axes"), None
    else:
        starts, ends, axes, steps = (
            node.numbers(index, name)
            for index, name in ((1, "starts"), (2, "ends"), (3, "axes"), (4, "steps"))
        )
    axes = list(range(len(starts))) if axes is None else [axis % len(shape) for axis in axes]
    steps = [1] * len(axes) if steps is None else steps
    offsets, sizes, strides = [0] * len(shape), list(shape), [1] * len(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps):
        chosen = range(*slice(start, end if end > -(2**62) else None, step).indices(shape[axis]))
        if not chosen:
            raise Refusal("selects nothing", "ends")
        offsets[axis] = min(chosen[0], chosen[-1])
        sizes[axis], strides[axis] = abs(chosen[-1] - chosen[0]) + 1, step
    if sizes == list(shape) and set(strides) <= {1}:
        return node.input()
    return node.graph.slice1(
        node.moved(), input_window_offsets=offsets, input_window_sizes=sizes, input_window_strides=strides
    )


@operator("Pad")
def pad(node: OnnxNode) -> Results:
    shape = node.shape()
    pads = node.numbers(1, "pads")
    assert pads is not None
    axes = [axis % len(shape) for axis in node.numbers(3, "axes") or range(len(shape))]
    before, after = [0] * len(shape), [0] * len(shape)
    for axis, low, high in zip(axes, pads, pads[len(axes) :]):
        before[axis], after[axis] = low, high
    word = node.get("mode", "constant")
    value = padding_value(node) if word == "constant" else 0
    x, shape = _cropped(node, shape, before, after)
    before, after = [max(0, low) for low in before], [max(0, high) for high in after]
    if not any(before) and not any(after):
        return x
    if word == "wrap":
        return _wrapped(node, x, before, after)
    mode = node.choice("mode", "constant", PADDING_MODES)
    padding = {"padding_mode": mode, "start_padding": before, "end_padding": after}
    own = node.movable(x)
    if node.input().dtype.kind == "f" and own is x:
        return node.graph.padding(x, padding_value=float(value), **padding)
    if own is not x and value:
        raise Refusal("is not 0, for elements of 64-bit floats", "input constant_value")
    kind = own.desc.data_type
    return node.graph.padding1(own, padding_value_data_type=kind, padding_value=int(value), **padding)


def padding_value(node: OnnxNode) -> float:
    if "value" in node.attributes:
        return float(node.get("value"))
    return node.known(2, "constant_value").reshape(-1)[0] if node.has(2) else 0


def _cropped(node: OnnxNode, shape: Sizes, before: list[int], after: list[int]) -> tuple[Expression, Sizes]:
    """The input without the elements that negative padding removes."""
    if min((*before, *after), default=0) >= 0:
        return node.tensor(), shape
    offsets = [max(0, -low) for low in before]
    sizes = [size - start - max(0, -high) for size, start, high in zip(shape, offsets, after)]
    cut = node.graph.slice(node.moved(), offsets=offsets, sizes=sizes, strides=[1] * len(sizes))
    return cut, tuple(sizes)


def _wrapped(node: OnnxNode, x: Expression, before: list[int], after: list[int]) -> Expression:
    """Padding with elements from the opposite end."""
    x = node.movable(x)
    for axis, (low, high) in enumerate(zip(before, after)):
        size = x.desc.sizes[axis]
        if max(low, high) > size:
            raise Refusal(f"wraps {max(low, high)} elements around an axis of {size}", "pads")
        parts = [x]
        if low:
            parts.insert(0, sliced(node, x, axis, size - low, low))
        if high:
            parts.append(sliced(node, x, axis, 0, high))
        x = node.graph.join(parts, axis=axis) if len(parts) > 1 else x
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
    batch, time = node.get("batch_axis", 1), node.get("time_axis", 0)
    sizes = [1 if axis == time else size for axis, size in enumerate(shape)]
    aligned = [size if axis == batch else 1 for axis, size in enumerate(shape)]
    lengths = node.spread(node.cast(node.tensor(1, aligned), np.uint64), tuple(aligned), sizes)
    return node.graph.reverse_subsequences(node.moved(), lengths, axis=time)


@operator("Trilu")
def triangle(node: OnnxNode) -> Results:
    """The elements where a constant triangular mask is set, else 0."""
    shape = node.shape()
    offset = int(node.known(1, "k").reshape(-1)[0]) if node.has(1) else 0
    cut = np.triu if node.get("upper", 1) else np.tril
    mask = cut(np.ones(shape[-2:], np.uint8), offset)
    x = node.moved()
    chosen = node.spread(node.constant(mask), mask.shape, shape)
    return node.graph.if_(chosen, x, node.scalar(0, x))


@operator("EyeLike")
def eye_like(node: OnnxNode) -> Results:
    """A constant: only the sizes of the input matter."""
    shape, (dtype, _) = node.shape(), node.inferred[node.outputs[0]]
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
