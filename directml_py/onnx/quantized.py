"""Quantization and dequantization of tensors."""

from __future__ import annotations

import math
from typing import Any

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
    kind = DML_QUANTIZATION_TYPE_SCALE
    return graph.quantize(
        floats, [_unit(node, floats)], quantization_type=kind, output_data_type=data_type(dtype)
    )


def _unit(node: OnnxNode, x: Expression) -> Expression:
    """A scale of 1."""
    return node.constant(np.ones((1,) * len(x.desc.sizes)), np.float32)


def parameter_sizes(node: OnnxNode, index: int) -> tuple[int, ...]:
    """The sizes of a scale or zero point relative to the input: one number, one along the axis, or one per block."""
    shape, own = node.shape(), node.shape(index)
    if math.prod(own) == 1:
        return (1,) * max(1, len(shape))
    if len(own) == 1:
        axis = node.axis(len(shape), 1)
        return tuple(own[0] if place == axis else 1 for place in range(len(shape)))
    return own


def is_blocked(node: OnnxNode) -> bool:
    """Whether a parameter is for blocks of more than one element along an axis."""
    own = parameter_sizes(node, 1)
    return any(1 < size < whole for size, whole in zip(own, node.shape()))


def _is_for_blocks(node: OnnxNode, dtype: np.dtype[Any]) -> bool:
    """Whether QUANTIZE and DEQUANTIZE compute it, which take blocks that divide an axis, and 4 or 8 bits."""
    if dtype.name in FOUR_BITS:
        return True
    divides = all(whole % size == 0 for size, whole in zip(parameter_sizes(node, 1), node.shape()))
    return is_blocked(node) and divides and dtype.itemsize == 1


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
    x, scale, zero = (node.cast(own, np.float32) for own in (x, scale, zero))
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
        return node.graph.dequantize(x, tensors, quantization_type=kind, output_data_type=node.input(1).dtype)
    sizes = x.desc.sizes
    zero = _spread(node, 2, sizes) if node.has(2) else _zeros(node, node.input().dtype, sizes)
    return node.graph.dequantize_linear(x, _spread(node, 1, sizes), zero)


def _spread(node: OnnxNode, index: int, sizes: tuple[int, ...]) -> Expression:
    own = parameter_sizes(node, index)
    x = node.tensor(index, own)
    for axis, (size, whole) in enumerate(zip(own, sizes)):
        if 1 < size < whole:
            # Each number is repeated for its block, of which the last one may have fewer elements.
            block = int(node.get("block_size", 0)) or -(-whole // size)
            before, after = own[: axis + 1], own[axis + 1 :]
            repeated = node.packed(node.spread(x, (*before, 1, *after), (*before, block, *after)))
            own = (*own[:axis], whole, *after)
            strides = packed_strides((*before[:-1], size * block, *after))
            x = node.packed(node.graph.reinterpret(repeated, sizes=own, strides=strides))
    return node.spread(x, own, sizes)


def _zeros(node: OnnxNode, dtype: np.dtype[Any], sizes: tuple[int, ...]) -> Expression:
    return node.spread(node.constant(np.zeros(1, dtype)), (1,), sizes)


def _parameters(node: OnnxNode) -> tuple[int, list[Expression]]:
    tensors = [node.tensor(index, parameter_sizes(node, index)) for index in (1, 2) if node.has(index)]
    return (
        DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT if len(tensors) == 2 else DML_QUANTIZATION_TYPE_SCALE
    ), tensors


@operator("DynamicQuantizeLinear")
def dynamic_quantize(node: OnnxNode) -> Results:
    return list(node.graph.dynamic_quantize_linear(node.tensor(), output_data_type=np.uint8))
