"""Quantization and dequantization of tensors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..api.enums import (
    DML_QUANTIZATION_TYPE_SCALE,
    DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT,
    DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN,
    DML_ROUNDING_MODE_TOWARD_ZERO,
)
from ..descs.data_types import data_type_of
from ..descs.tensor_size import packed_strides
from ..graph import Expression
from .node import OnnxNode
from .translators import MICROSOFT, Results, Rows, operator, outputs
from .values import data_type

# By the count of parameters.
QUANTIZATION_TYPES = {1: DML_QUANTIZATION_TYPE_SCALE, 2: DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT}
FOUR_BITS = ("int4", "uint4")


def from_four_bits(node: OnnxNode, x: Expression) -> Expression:
    """Integers of 4 bits as FLOAT32: CAST does not read them, DEQUANTIZE does."""
    kind, floats = DML_QUANTIZATION_TYPE_SCALE, np.float32
    return node.graph.dequantize(x, [_unit(node, x)], quantization_type=kind, output_data_type=floats)


def to_four_bits(node: OnnxNode, x: Expression, dtype: np.dtype[Any]) -> Expression:
    """The lowest 4 bits of integers, or of floats rounded as ONNX Runtime does, halves away from 0."""
    graph = node.graph
    if data_type_of(x.desc.data_type).kind == "F":
        # Twice what is left of a number without its whole part is exact.
        x, mode = node.cast(x, np.float32), DML_ROUNDING_MODE_TOWARD_ZERO
        whole = graph.round(x, rounding_mode=mode)
        rest = graph.identity(graph.subtract(x, whole), scale_bias=(2.0, 0.0))
        x = graph.add(whole, graph.round(rest, rounding_mode=mode))
    # The lowest bit of the sign is that of 8; added, it becomes a bit that is taken off again.
    sign = 8 if dtype.name == "int4" else 0
    x = node.cast(node.cast(x, np.int32), np.uint32)
    bits = graph.bit_and(graph.add(x, node.scalar(sign, x)), node.scalar(15, x))
    floats = graph.identity(node.cast(bits, np.float32), scale_bias=(1.0, -float(sign)))
    return _stored_in_four_bits(node, floats, data_type(dtype))


def _stored_in_four_bits(node: OnnxNode, x: Expression, kind: int | None) -> Expression:
    """Floats that are such integers already: CAST does not write them, QUANTIZE does."""
    return node.graph.quantize(
        x, [_unit(node, x)], quantization_type=DML_QUANTIZATION_TYPE_SCALE, output_data_type=kind
    )


def _unit(node: OnnxNode, x: Expression) -> Expression:
    """A scale of 1."""
    return node.constant(np.ones((1,) * len(x.desc.sizes)), np.float32)


def parameter_sizes(node: OnnxNode, index: int) -> tuple[int, ...]:
    """The sizes of a scale or zero point relative to the input: one number, one along the axis, or one per block."""
    shape, sizes = node.shape(), node.shape(index)
    if math.prod(sizes) == 1:
        return (1,) * max(1, len(shape))
    if len(sizes) == 1:
        axis = node.axis(len(shape), 1)
        return tuple(sizes[0] if dimension == axis else 1 for dimension in range(len(shape)))
    return sizes


class QuantizationBlocks(NamedTuple):
    """The axis along which parameters are for blocks of more than one element, and the size of these."""

    axis: int
    size: int
    are_whole: bool


def blocks_of(node: OnnxNode) -> QuantizationBlocks | None:
    for axis, (count, whole) in enumerate(zip(parameter_sizes(node, 1), node.shape())):
        if 1 < count < whole:
            size = int(node.get("block_size", 0)) or -(-whole // count)
            return QuantizationBlocks(axis, size, count * size == whole)
    return None


def _is_for_blocks(node: OnnxNode, dtype: np.dtype[Any]) -> bool:
    """Whether QUANTIZE and DEQUANTIZE compute it, which take 4 or 8 bits, and blocks that divide an axis; the
    element-wise operators take 8 bits and more."""
    blocks = blocks_of(node)
    is_whole = blocks is not None and blocks.are_whole
    return dtype.name in FOUR_BITS or (is_whole and dtype.itemsize == 1)


@outputs("QuantizeLinear", domain=MICROSOFT)
def integers(node: OnnxNode) -> Rows:
    return [(node.input(2).dtype if node.has(2) else np.dtype(np.uint8), node.shape())]


@outputs("DequantizeLinear", domain=MICROSOFT)
def floats(node: OnnxNode) -> Rows:
    return [(node.input(1).dtype, node.shape())]


@operator("QuantizeLinear")
@operator("QuantizeLinear", domain=MICROSOFT)
def quantize(node: OnnxNode) -> Results:
    dtype = node.input(2).dtype if node.has(2) else _output_type(node)
    x = node.tensor()
    if node.input().dtype.kind == "f":
        x = node.cast(x, node.input(1).dtype)
    if _is_for_blocks(node, dtype):
        kind, tensors = _parameters(node)
        blocks = blocks_of(node)
        if blocks is not None and not blocks.are_whole:
            tensors = [_repeated(node, parameter, blocks) for parameter in tensors]
        return node.graph.quantize(x, tensors, quantization_type=kind, output_data_type=data_type(dtype))
    sizes = x.desc.sizes
    scale = _spread(node, 1, sizes)
    zero = _spread(node, 2, sizes) if node.has(2) else _zeros(node, dtype, sizes)
    if dtype.kind in "iu" and dtype.itemsize > 1:
        return _quantized_widely(node, x, scale, zero, dtype)
    return node.graph.quantize_linear(x, scale, zero, output_data_type=data_type(dtype))


def _quantized_widely(
    node: OnnxNode, x: Expression, scale: Expression, zero: Expression, dtype: np.dtype[Any]
) -> Expression:
    """Integers of 16 bits, which QUANTIZE_LINEAR does not write, and FLOAT16 does not have all of."""
    x, scale, zero = (node.cast(tensor, np.float32) for tensor in (x, scale, zero))
    info, quotient = np.iinfo(dtype), node.graph.divide(x, scale)
    whole = node.graph.round(quotient, rounding_mode=DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN)
    moved = node.graph.add(whole, zero)
    return node.cast(node.graph.clip(moved, min=float(info.min), max=float(info.max)), dtype)


def _output_type(node: OnnxNode) -> np.dtype[Any]:
    name = node.outputs[0]
    return node.inferred[name][0] if name in node.inferred else np.dtype(np.uint8)


@operator("DequantizeLinear")
@operator("DequantizeLinear", domain=MICROSOFT)
def dequantize(node: OnnxNode) -> Results:
    """The type of the result is that of the scale, or from operator set 23 on what an attribute says."""
    result = _dequantized(node)
    name = node.outputs[0]
    return node.cast(result, node.inferred[name][0]) if name in node.inferred else result


def _dequantized(node: OnnxNode) -> Expression:
    x = node.tensor()
    if _is_for_blocks(node, node.input().dtype):
        kind, tensors = _parameters(node)
        blocks = blocks_of(node)
        if blocks is not None:
            zero = tensors[1] if len(tensors) > 1 else None
            return blocks_dequantized(node, x, tensors[0], zero, blocks.axis, blocks.size)
        return node.graph.dequantize(x, tensors, quantization_type=kind, output_data_type=node.input(1).dtype)
    sizes = x.desc.sizes
    return node.graph.dequantize_linear(
        x,
        _spread(node, 1, sizes),
        _spread(node, 2, sizes) if node.has(2) else _zeros(node, node.input().dtype, sizes),
    )


def _repeated(node: OnnxNode, parameter: Expression, blocks: QuantizationBlocks) -> Expression:
    """A scale or zero point for each element."""
    whole, kind = node.shape()[blocks.axis], data_type_of(parameter.desc.data_type)
    if kind.bits > 4:
        return repeated_for_blocks(node, parameter, blocks.axis, blocks.size, whole)
    x = repeated_for_blocks(node, from_four_bits(node, parameter), blocks.axis, blocks.size, whole)
    return _stored_in_four_bits(node, x, parameter.desc.data_type)


def _spread(node: OnnxNode, index: int, sizes: tuple[int, ...]) -> Expression:
    parameter_shape = parameter_sizes(node, index)
    x = node.tensor(index, parameter_shape)
    blocks = blocks_of(node)
    if blocks is not None:
        x = repeated_for_blocks(node, x, blocks.axis, blocks.size, sizes[blocks.axis])
    return node.spread(x, x.desc.sizes, sizes)


def repeated_for_blocks(node: OnnxNode, x: Expression, axis: int, block: int, whole: int) -> Expression:
    """Each element along an axis repeated for its block, of which the last one may have fewer elements."""
    shape = x.desc.sizes
    before, after = shape[: axis + 1], shape[axis + 1 :]
    repeated = node.packed(node.spread(x, (*before, 1, *after), (*before, block, *after)))
    sizes, strides = (
        (*shape[:axis], whole, *after),
        packed_strides((*shape[:axis], shape[axis] * block, *after)),
    )
    view = node.graph.reinterpret(repeated, sizes=sizes, strides=strides)
    return view if shape[axis] * block == whole else node.packed(view)


def as_floats(node: OnnxNode, x: Expression, dtype: np.dtype[Any]) -> Expression:
    is_small = data_type_of(x.desc.data_type).bits == 4
    return node.cast(from_four_bits(node, x) if is_small else x, dtype)


def blocks_dequantized(
    node: OnnxNode, values: Expression, scale: Expression, zero: Expression | None, axis: int, block: int
) -> Expression:
    """``(values - zero) * scale`` with parameters for blocks along an axis.

    DEQUANTIZE takes blocks that divide the axis, and integer zero points.
    """
    kind, whole = data_type_of(scale.desc.data_type).dtype, values.desc.sizes[axis]
    tensors = [scale] if zero is None else [scale, zero]
    is_integer = zero is None or zero.desc.data_type != scale.desc.data_type
    if is_integer and whole == block * scale.desc.sizes[axis]:
        return node.graph.dequantize(
            values, tensors, quantization_type=QUANTIZATION_TYPES[len(tensors)], output_data_type=kind
        )
    factor, *shift = (
        repeated_for_blocks(node, as_floats(node, parameter, kind), axis, block, whole)
        for parameter in tensors
    )
    x = as_floats(node, values, kind)
    return node.graph.multiply(node.graph.subtract(x, *shift) if shift else x, factor)


def _zeros(node: OnnxNode, dtype: np.dtype[Any], sizes: tuple[int, ...]) -> Expression:
    return node.spread(node.constant(np.zeros(1, dtype)), (1,), sizes)


def _parameters(node: OnnxNode) -> tuple[int, list[Expression]]:
    tensors = [node.tensor(index, parameter_sizes(node, index)) for index in (1, 2) if node.has(index)]
    return QUANTIZATION_TYPES[len(tensors)], tensors


@operator("DynamicQuantizeLinear")
def dynamic_quantize(node: OnnxNode) -> Results:
    return list(node.graph.dynamic_quantize_linear(node.tensor(), output_data_type=np.uint8))
