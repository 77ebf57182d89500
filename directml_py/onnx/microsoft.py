"""Fused and quantized operators of the domain com.microsoft."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api.enums import (
    DML_MATRIX_TRANSFORM_TRANSPOSE,
    DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT,
    DML_REDUCE_FUNCTION_SUM,
    DML_TENSOR_DATA_TYPE_UINT4,
)
from ..graph import Expression
from .attention import attended
from .convolutions import per_channel
from .errors import Refusal
from .fusing import ACTIVATIONS, activation_desc
from .matrices import factors, fused_matmul, multiplied, parameters
from .movement import sliced
from .node import OnnxNode
from .pooling import padded, whole
from .translators import MICROSOFT, Result, Results, operator
from .values import data_type
from .window_attributes import WindowAttributes, window_of


@operator("BiasAdd", domain=MICROSOFT)
def bias_add(node: OnnxNode) -> Results:
    biased = node.graph.add(node.tensor(0), node.broadcast(1, node.shape()))
    return node.graph.add(biased, node.broadcast(2, node.shape()))


@operator("BiasSplitGelu", domain=MICROSOFT)
def bias_split_gelu(node: OnnxNode) -> Results:
    """The first half of the biased input, times GELU of the second."""
    x = node.graph.add(node.tensor(0), node.broadcast(1, node.shape()))
    half, axis = node.shape()[-1] // 2, len(node.shape()) - 1
    first, second = (sliced(node, x, axis, start, half) for start in (0, half))
    return node.graph.multiply(first, node.graph.activation_gelu(second))


@operator("GroupNorm", domain=MICROSOFT)
def group_norm(node: OnnxNode) -> Results:
    """Group normalization of channels, which come last by default; followed by SiLU on request."""
    shape, groups = node.shape(), node.get("groups")
    is_last = bool(node.get("channels_last", 1))
    channels, rank = (shape[-1] if is_last else shape[1]), len(shape)
    x = (
        node.transposed(node.tensor(), shape, (0, rank - 1, *range(1, rank - 1)))
        if is_last
        else node.tensor()
    )
    sizes = x.desc.sizes
    grouped = node.graph.reinterpret(x, sizes=(shape[0], groups, channels // groups, math.prod(sizes[2:])))
    normal = node.graph.mean_variance_normalization1(
        grouped, axes=[2, 3], normalize_variance=True, epsilon=node.get("epsilon", 1e-5)
    )
    y = node.graph.reinterpret(normal, sizes=sizes)
    scale, bias = (
        node.spread(node.cast(node.tensor(index), node.input().dtype), per_channel(node, channels), sizes)
        for index in (1, 2)
    )
    y = node.graph.add(node.graph.multiply(y, scale), bias)
    if node.get("activation", 0):
        y = node.graph.activation_swish(y, sigmoid_input_scale=1.0)
    return node.transposed(y, sizes, (0, *range(2, rank), 1)) if is_last else y


@operator("EmbedLayerNormalization", domain=MICROSOFT)
def embed_layer_norm(node: OnnxNode) -> Results:
    """Rows of up to three tables, summed and normalized."""
    batch, length = node.shape(0)
    width = node.shape(2)[1]
    sizes, graph = (batch, length, width), node.graph
    if node.get("mask_index_type", 0) == 2:
        raise Refusal("is 2, which is not supported", "attribute mask_index_type")

    def rows(table: int, indices: Expression) -> Expression:
        found = graph.gather(node.tensor(table, (1, *node.shape(table))), indices, axis=1, index_dimensions=1)
        return graph.reinterpret(found, sizes=sizes)

    count = batch * length
    if node.has(8):
        places = node.spread(node.tensor(8), node.shape(8), (batch, length))
        places = graph.reinterpret(node.packed(places), sizes=(1, 1, count))
    else:
        node.check_room(count, itemsize=8)
        places = node.constant(np.tile(np.arange(length), batch).reshape(1, 1, count), np.int32)
    total = graph.add(rows(2, node.tensor(0, (1, 1, count))), rows(3, places))
    if node.has(1):
        total = graph.add(total, rows(4, node.tensor(1, (1, 1, count))))
    y = graph.mean_variance_normalization1(
        total,
        node.tensor(5, (1, 1, width)),
        node.tensor(6, (1, 1, width)),
        axes=[2],
        normalize_variance=True,
        epsilon=node.get("epsilon", 1e-12),
    )
    return [y, _lengths(node) if node.wants(1) else None, total if node.wants(2) else None]


def _lengths(node: OnnxNode) -> Result:
    """The number of tokens that count, for each batch; 0 without a mask."""
    if not node.has(7):
        return np.zeros(node.shape(0)[0], np.int32)
    return node.graph.reduce(
        node.tensor(7), function=DML_REDUCE_FUNCTION_SUM, axes=[1], output_data_type=node.input(7).dtype
    )


@operator("FusedMatMulActivation", domain=MICROSOFT)
def matmul_activation(node: OnnxNode) -> Results:
    kind = node.get("activation")
    if kind not in ACTIVATIONS:
        raise Refusal(f"is {kind!r}, which GEMM does not fuse", "attribute activation")
    names = {"alpha": "activation_alpha", "beta": "activation_beta", "gamma": "activation_gamma"}
    own = {name: node.get(attribute) for name, attribute in names.items() if attribute in node.attributes}
    node.activation = activation_desc(kind, own)
    return fused_matmul(node)


@operator("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(node: OnnxNode) -> Results:
    a, b = factors(node, 0, 1)
    (a_scale, a_zero), (b_scale, b_zero) = parameters(node, 2, 4, a, 0), parameters(node, 3, 5, b, 1)
    result = node.graph.matrix_multiply_integer_to_float(
        a,
        a_scale,
        b,
        b_scale,
        a_zero,
        b_zero,
        output_data_type=node.input(2).dtype,
    )
    return _shaped(node, _biased(node, result, 6))


@operator("QAttention", domain=MICROSOFT)
def q_attention(node: OnnxNode) -> Results:
    """The attention of a product of quantized factors."""
    node.only("do_rotary", 0, "MULTIHEAD_ATTENTION does not do that")
    batch, length, _ = node.shape(0)
    whole = node.shape(1)[1]
    products = matmul_integer_to_float(node.having(0, 1, 3, 4, 6, 7, 2))
    assert isinstance(products, Expression)
    rows = node.graph.reinterpret(products, sizes=(batch * length, whole))
    return attended(node.having(None, None, None, 5, 8), rows, (batch, length), [whole // 3] * 3)


def _biased(node: OnnxNode, x: Expression, bias: int) -> Expression:
    return node.graph.add(x, node.broadcast(bias, x.desc.sizes)) if node.has(bias) else x


def _shaped(node: OnnxNode, x: Expression) -> Expression:
    a, b = node.shape(0), node.shape(1)
    batch = np.broadcast_shapes(a[:-2], b[:-2])
    return node.graph.reinterpret(x, sizes=(*batch, a[-2], b[-1]))


@operator("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(node: OnnxNode) -> Results:
    """A is quantized by its range, and the product is an integer product."""
    a, b = factors(node, 0, 1)
    b_scale, b_zero = parameters(node, 2, 3, b, 1)
    quantized, scale, zero = node.graph.dynamic_quantize_linear(a, output_data_type=np.uint8)
    result = node.graph.matrix_multiply_integer_to_float(
        quantized,
        scale,
        b,
        b_scale,
        zero,
        b_zero,
        output_data_type=node.input(0).dtype,
    )
    return _shaped(node, _biased(node, result, 4))


@operator("MatMulNBits", domain=MICROSOFT)
def matmul_of_blocks(node: OnnxNode) -> Results:
    """B is dequantized block by block from 4 or 8 bits; each of its rows gives a column of the result."""
    bits, block = node.get("bits", 4), node.get("block_size")
    rows, depth = node.get("N"), node.get("K")
    if node.has(4):
        raise Refusal("columns in another order are not translated", "input g_idx")
    if bits not in (4, 8):
        raise Refusal(f"is {bits}; DirectML has integers of 4 and 8 bits", "attribute bits")
    blocks = -(-depth // block)
    whole = (rows, blocks * block)

    if node.has(3) and node.input(3).dtype.kind == "f":
        raise Refusal("are floats, which DEQUANTIZE does not accept", "input zero_points")
    zero = _zero_points(node, bits, rows, blocks) if node.has(3) else _midpoints(node, bits, rows, blocks)
    kind = None if bits == 8 else DML_TENSOR_DATA_TYPE_UINT4
    scale = node.tensor(2, (rows, blocks))
    values = node.graph.dequantize(
        node.graph.reinterpret(node.tensor(1), kind, sizes=whole),
        [scale, zero],
        quantization_type=DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT,
        output_data_type=node.input(2).dtype,
    )
    if whole[1] != depth:
        values = sliced(node, values, 1, 0, depth)
    count = math.prod(node.shape(0)) // depth
    result = multiplied(node, node.tensor(0, (count, depth)), values, trans_b=DML_MATRIX_TRANSFORM_TRANSPOSE)
    shaped = node.graph.reinterpret(result, sizes=(*node.shape(0)[:-1], rows))
    return _biased(node, shaped, 5)


def _zero_points(node: OnnxNode, bits: int, rows: int, blocks: int) -> Expression:
    own = node.tensor(3)
    return (
        node.graph.reinterpret(own, sizes=(rows, blocks)) if bits == 8 else _halves(node, own, rows, blocks)
    )


def _midpoints(node: OnnxNode, bits: int, rows: int, blocks: int) -> Expression:
    if bits == 8:
        return node.constant(np.full((rows, blocks), 128, np.uint8))
    return _halves(node, node.constant(np.full((rows, (blocks + 1) // 2), 0x88, np.uint8)), rows, blocks)


def _halves(node: OnnxNode, own: Expression, rows: int, blocks: int) -> Expression:
    """Bytes as 4-bit integers; each row begins at a byte."""
    strides = (blocks + blocks % 2, 1)
    return node.graph.reinterpret(own, DML_TENSOR_DATA_TYPE_UINT4, sizes=(rows, blocks), strides=strides)


def spread_parameter(node: OnnxNode, index: int, sizes: tuple[int, ...]) -> Any:
    """One number as a tensor of ``sizes``; None if it is absent."""
    if not node.has(index):
        return None
    if node.input(index).size != 1:
        raise Refusal(f"has {node.input(index).size} elements; it must be one number", f"input {index}")
    return node.spread(node.tensor(index, (1,)), (1,), sizes)


@operator("QLinearAdd", domain=MICROSOFT)
def quantized_add(node: OnnxNode) -> Results:
    shape = np.broadcast_shapes(node.shape(0), node.shape(3))
    sizes = shape or (1,)
    a, b = node.broadcast(0, shape), node.broadcast(3, shape)
    ones = (1,) * len(sizes)
    a_scale, a_zero, b_scale, b_zero, scale, zero = (
        spread_parameter(node, index, ones) for index in (1, 2, 4, 5, 6, 7)
    )
    dtype = node.input(0).dtype
    return node.graph.quantized_linear_add(
        a, a_scale, b, b_scale, scale, a_zero, b_zero, zero, output_data_type=dtype
    )


@operator("QLinearAveragePool", domain=MICROSOFT)
def quantized_average(node: OnnxNode) -> Results:
    node.only("channels_last", 0, "DirectML's pools take channels first")
    window = window_of(node, node.shape()[2:])
    sizes = [
        (size + start + end - extent + (stride - 1 if node.get("ceil_mode", 0) else 0)) // stride + 1
        for size, start, end, extent, stride in zip(
            node.shape()[2:], window.start, window.end, window.extents, window.strides
        )
    ]
    return _quantized_pool(node, window, bool(node.get("count_include_pad", 0)), (*node.shape()[:2], *sizes))


@operator("QLinearGlobalAveragePool", domain=MICROSOFT)
def quantized_global_average(node: OnnxNode) -> Results:
    node.only("channels_last", 0, "DirectML's pools take channels first")
    window, sizes = whole(node)
    return _quantized_pool(node, window, False, sizes)


def _quantized_pool(
    node: OnnxNode, window: WindowAttributes, is_padded: bool, sizes: tuple[int, ...]
) -> Expression:
    x = node.tensor(sizes=padded(node.shape()))
    more = len(x.desc.sizes) - len(node.shape())
    own = {
        name: [0 if name.endswith("padding") else 1] * more + values for name, values in window.pool().items()
    }
    ones = (1,) * len(x.desc.sizes)
    scale, zero, out_scale, out_zero = (
        node.tensor(index, ones) if node.has(index) else None for index in (1, 2, 3, 4)
    )
    assert scale is not None
    assert out_scale is not None
    result = node.graph.quantized_linear_average_pooling(
        x, scale, out_scale, zero, out_zero, include_padding=is_padded, output_sizes=padded(sizes), **own
    )
    return node.graph.reinterpret(result, sizes=sizes)


def dequantized(node: OnnxNode, value: int, scale: int, zero: int) -> Expression:
    x = node.tensor(value)
    if node.input(value).dtype.kind == "f":
        return x
    sizes = x.desc.sizes
    return node.graph.dequantize_linear(
        x, spread_parameter(node, scale, sizes), spread_parameter(node, zero, sizes)
    )


def quantized(node: OnnxNode, x: Expression, scale: int, zero: int) -> Expression:
    sizes = x.desc.sizes
    kind = data_type(node.input(zero).dtype) if node.has(zero) else data_type(np.dtype(np.uint8))
    return node.graph.quantize_linear(
        x, spread_parameter(node, scale, sizes), spread_parameter(node, zero, sizes), output_data_type=kind
    )


@operator("QLinearSigmoid", domain=MICROSOFT)
def quantized_sigmoid(node: OnnxNode) -> Results:
    return quantized(node, node.graph.activation_sigmoid(dequantized(node, 0, 1, 2)), 3, 4)


@operator("QLinearConcat", domain=MICROSOFT)
def quantized_concat(node: OnnxNode) -> Results:
    """Inputs with their scales and zero points, each dequantized."""
    places = range(2, len(node.inputs), 3)
    parts = [dequantized(node, place, place + 1, place + 2) for place in places]
    axis = node.axis(len(node.shape(2)))
    return quantized(node, node.graph.join(parts, axis=axis), 0, 1)
