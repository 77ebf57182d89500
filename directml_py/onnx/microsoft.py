"""Fused and quantized operators of the domain com.microsoft."""

from __future__ import annotations

import math

import numpy as np
import onnx

from ..api.enums import DML_REDUCE_FUNCTION_SUM
from ..graph import Expression
from .attention import attended
from .convolutions import per_channel
from .element_wise import like_input
from .errors import Refusal
from .indexing import gather_nd, gathered_nd
from .matrices import factors, parameters, product_shape
from .movement import sliced
from .node import OnnxNode
from .protobuf import NodeMessage
from .quantized_operators import dequantized
from .shapes import renamed
from .translators import MICROSOFT, Result, Results, Rows, operator, outputs

# Operators that ONNX has taken over, as which they are translated, with the operator set of which they are there.
SUCCESSORS = {"GridSample": 16, "Pad": 19, "Range": 11, "Trilu": 14}


def successor(node: NodeMessage) -> NodeMessage:
    """The node as one of ONNX's operators, if it is one that ONNX has taken over."""
    if node.domain != MICROSOFT or node.op_type not in SUCCESSORS:
        return node
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    proto.domain = ""
    return NodeMessage(proto, {"": SUCCESSORS[node.op_type]})


outputs("BiasAdd", "GroupNorm", domain=MICROSOFT)(like_input)
# As ONNX's, but with indices of INT32 too.
outputs("GatherND", domain=MICROSOFT)(gathered_nd)
operator("GatherND", domain=MICROSOFT)(gather_nd)


@operator("BiasAdd", domain=MICROSOFT)
def bias_add(node: OnnxNode) -> Results:
    biased = node.graph.add(node.tensor(0), node.broadcast(1, node.shape()))
    return node.graph.add(biased, node.broadcast(2, node.shape()))


@outputs("ExpandDims", domain=MICROSOFT)
def with_dimension(node: OnnxNode) -> Rows:
    shape = list(node.shape())
    axis = int(node.known(1, "axis").reshape(-1)[0])
    if not -len(shape) - 1 <= axis <= len(shape):
        raise Refusal(f"is {axis}; the result has {len(shape) + 1} dimensions", "input axis")
    shape.insert(axis % (len(shape) + 1), 1)
    return [(node.input().dtype, tuple(shape))]


@operator("ExpandDims", domain=MICROSOFT)
def expand_dims(node: OnnxNode) -> Results:
    return renamed(node, node.output_shape())


@outputs("BiasSplitGelu", domain=MICROSOFT)
def half_of_input(node: OnnxNode) -> Rows:
    shape = node.shape()
    return [(node.input().dtype, (*shape[:-1], shape[-1] // 2))]


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


@outputs("EmbedLayerNormalization", "QEmbedLayerNormalization", domain=MICROSOFT)
def embedded(node: OnnxNode) -> Rows:
    shape = node.shape(0)
    if len(shape) != 2 or len(node.shape(2)) != 2:
        raise Refusal(f"has sizes {list(shape)} for a table of {list(node.shape(2))}", "input input_ids")
    dtype = node.input(2).dtype if node.kind == "EmbedLayerNormalization" else np.dtype(np.float32)
    sums = (dtype, (*shape, node.shape(2)[1]))
    return [sums, (np.dtype(np.int32), shape[:1]), sums]


# The tables and parameters of QEmbedLayerNormalization; its scales and zero points begin at 8 and 13.
QUANTIZED_TABLES = (2, 3, 4, 5, 6)


@operator("QEmbedLayerNormalization", domain=MICROSOFT)
def embed_layer_norm_of_quantized(node: OnnxNode) -> Results:
    part = node.having(*range(8))
    for number, index in enumerate(QUANTIZED_TABLES):
        if node.has(index):
            part.inputs[index] = dequantized(node.having(index, 8 + number, 13 + number), 0)
    return embed_layer_norm(part)


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
        positions = node.spread(node.tensor(8), node.shape(8), (batch, length))
        positions = graph.reinterpret(node.packed(positions), sizes=(1, 1, count))
    else:
        node.check_room(count, itemsize=8)
        positions = node.constant(np.tile(np.arange(length), batch).reshape(1, 1, count), np.int32)
    total = graph.add(rows(2, node.tensor(0, (1, 1, count))), rows(3, positions))
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


@outputs("MatMulIntegerToFloat", "DynamicQuantizeMatMul", domain=MICROSOFT)
def float_product(node: OnnxNode) -> Rows:
    dtype = node.input(2 if node.kind == "MatMulIntegerToFloat" else 0).dtype
    return [(dtype, product_shape(node.shape(0), node.shape(1)))]


@operator("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(node: OnnxNode) -> Results:
    a, b = factors(node, 0, 1)
    (a_scale, a_zero), (b_scale, b_zero) = parameters(node, 2, 4, a, 0), parameters(node, 3, 5, b, 1)
    return node.graph.matrix_multiply_integer_to_float(
        a,
        a_scale,
        b,
        b_scale,
        a_zero,
        b_zero,
        _bias(node, 6, a, b),
        output_data_type=node.input(2).dtype,
    )


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


def _bias(node: OnnxNode, index: int, a: Expression, b: Expression) -> Expression | None:
    """A bias as a tensor of the sizes of a product."""
    sizes = (*a.desc.sizes[:-1], b.desc.sizes[-1])
    return node.broadcast(index, sizes) if node.has(index) else None


@operator("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(node: OnnxNode) -> Results:
    """A is quantized by its range, to the type of B, and the product is an integer product."""
    a, b = factors(node, 0, 1)
    b_scale, b_zero = parameters(node, 2, 3, b, 1)
    quantized, scale, zero = node.graph.dynamic_quantize_linear(a, output_data_type=b.desc.data_type)
    return node.graph.matrix_multiply_integer_to_float(
        quantized,
        scale,
        b,
        b_scale,
        zero,
        b_zero,
        _bias(node, 4, a, b),
        output_data_type=node.input(0).dtype,
    )
