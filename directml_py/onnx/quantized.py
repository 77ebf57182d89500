"""Quantization and dequantization of tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api.enums import DML_QUANTIZATION_TYPE_SCALE, DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT
from ..graph import Expression
from .node import OnnxNode
from .translators import MICROSOFT, Results, Rows, operator, outputs
from .values import data_type


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
    """Whether a parameter is for blocks of more than one element along an axis, or elements have 4 bits."""
    own = parameter_sizes(node, 1)
    return any(1 < size < whole for size, whole in zip(own, node.shape()))


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
    if is_blocked(node) or dtype.name in ("int4", "uint4"):
        kind, tensors = _parameters(node)
        return node.graph.quantize(x, tensors, quantization_type=kind, output_data_type=data_type(dtype))
    sizes = x.desc.sizes
    scale = (
        node.cast(_spread(node, 1, sizes), node.input().dtype)
        if node.input().dtype.kind == "f"
        else _spread(node, 1, sizes)
    )
    zero = _spread(node, 2, sizes) if node.has(2) else _zeros(node, dtype, sizes)
    return node.graph.quantize_linear(x, scale, zero, output_data_type=data_type(dtype))


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
    if is_blocked(node) or node.input().dtype.name in ("int4", "uint4"):
        kind, tensors = _parameters(node)
        return node.graph.dequantize(x, tensors, quantization_type=kind, output_data_type=node.input(1).dtype)
    sizes = x.desc.sizes
    zero = _spread(node, 2, sizes) if node.has(2) else _zeros(node, node.input().dtype, sizes)
    return node.graph.dequantize_linear(x, _spread(node, 1, sizes), zero)


def _spread(node: OnnxNode, index: int, sizes: tuple[int, ...]) -> Expression:
    own = parameter_sizes(node, index)
    return node.spread(node.tensor(index, own), own, sizes)


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
