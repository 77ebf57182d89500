"""Operators of the domain com.microsoft that ONNX Runtime's DirectML provider does not register, of DirectML's."""

from __future__ import annotations

import math

import numpy as np

from ..api.enums import (
    DML_AXIS_DIRECTION_INCREASING,
    DML_MATRIX_TRANSFORM_NONE,
    DML_MATRIX_TRANSFORM_TRANSPOSE,
    DML_REDUCE_FUNCTION_MIN,
    DML_REDUCE_FUNCTION_SUM,
    DML_REDUCE_FUNCTION_SUM_SQUARE,
)
from ..descs.tensor_size import packed_strides
from ..graph import Expression
from .element_wise import like_input
from .errors import Refusal
from .matrices import factors, multiplied, product_shape
from .movement import sliced
from .node import OnnxNode
from .normalization import root_mean_square
from .translators import MICROSOFT, Results, Rows, operator, outputs
from .values import Array, unique_slices

FLOAT = np.dtype(np.float32)

outputs("BranchwiseRMSNorm", "GatedAdd", "GatedRMSNorm", "Inverse", "ScaledSiLU", domain=MICROSOFT)(
    like_input
)


@operator("Inverse", domain=MICROSOFT)
def inverse(node: OnnxNode) -> Results:
    """Gauss and Jordan's elimination of matrices beside the identity; the pivot of a column is its largest element
    among the rows that had none."""
    *batch, count, width = node.shape()
    if count != width:
        raise Refusal(f"has sizes {node.shape()}, which are not those of square matrices", "input X")
    graph, stack = node.graph, math.prod(batch)
    column, whole = (stack, count, 1), (stack, count, 2 * count)
    node.check_room(count, count)
    row_numbers = node.spread(
        node.constant(np.arange(count).reshape(1, count, 1), np.uint32), (1, count, 1), column
    )
    beside = node.spread(node.constant(np.eye(count), FLOAT), (count, count), (stack, count, count))
    x = graph.join([node.cast(node.tensor(sizes=(stack, count, count)), FLOAT), beside], axis=2)
    is_used: Expression | None = None
    pivots: list[Expression] = []
    for number in range(count):
        pivot_column = sliced(node, x, 2, number, 1)
        size = graph.abs(pivot_column)
        if is_used is not None:
            size = graph.if_(is_used, node.scalar(-1, size), size)
        pivots.append(graph.argmax(size, axes=[1], axis_direction=DML_AXIS_DIRECTION_INCREASING))
        is_pivot = graph.logical_equals(
            row_numbers, node.spread(pivots[-1], (stack, 1, 1), column), output_data_type=np.uint8
        )
        chosen = node.spread(is_pivot, column, whole)
        row = graph.reduce(
            graph.if_(chosen, x, node.scalar(0, x)),
            function=DML_REDUCE_FUNCTION_SUM,
            axes=[1],
            output_data_type=FLOAT,
        )
        row = graph.divide(row, node.spread(sliced(node, row, 2, number, 1), (stack, 1, 1), row.desc.sizes))
        rows = node.spread(row, row.desc.sizes, whole)
        x = graph.if_(
            chosen, rows, graph.subtract(x, graph.multiply(node.spread(pivot_column, column, whole), rows))
        )
        is_used = is_pivot if is_used is None else graph.logical_or(is_used, is_pivot)
    order = graph.join(pivots, axis=1) if count > 1 else pivots[0]
    result = sliced(node, x, 2, count, count)
    sorted_rows = graph.gather_elements(result, node.spread(order, column, (stack, count, count)), axis=1)
    return graph.reinterpret(node.cast(sorted_rows, node.input().dtype), sizes=node.shape())


@outputs("CDist", domain=MICROSOFT)
def distances(node: OnnxNode) -> Rows:
    return [(node.input().dtype, (node.shape(0)[0], node.shape(1)[0]))]


@operator("CDist", domain=MICROSOFT)
def pairwise_distances(node: OnnxNode) -> Results:
    """Squares of distances are sums of squares, less twice the product."""
    graph, sizes = node.graph, (node.shape(0)[0], node.shape(1)[0])
    roots = node.choice("metric", "sqeuclidean", {"sqeuclidean": False, "euclidean": True})
    squares = []
    for index, shape in enumerate(((sizes[0], 1), (1, sizes[1]))):
        x = node.tensor(index)
        norms = graph.reduce(
            x, function=DML_REDUCE_FUNCTION_SUM_SQUARE, axes=[1], output_data_type=x.desc.data_type
        )
        squares.append(node.spread(graph.reinterpret(norms, sizes=shape), shape, sizes))
    total = graph.gemm(
        node.tensor(0), node.tensor(1), graph.add(*squares),
        trans_a=DML_MATRIX_TRANSFORM_NONE, trans_b=DML_MATRIX_TRANSFORM_TRANSPOSE, alpha=-2.0, beta=1.0,
    )  # fmt: skip
    total = graph.max(total, node.scalar(0, total))
    return graph.sqrt(total) if roots else total


@outputs("MatMulInteger16", domain=MICROSOFT)
def wide_product(node: OnnxNode) -> Rows:
    return [(np.dtype(np.int32), product_shape(node.shape(0), node.shape(1)))]


@operator("MatMulInteger16", domain=MICROSOFT)
def product_of_wide_integers(node: OnnxNode) -> Results:
    a, b = factors(node, 0, 1)
    return multiplied(node, node.cast(a, np.int32), node.cast(b, np.int32))


@outputs("Unique", domain=MICROSOFT)
def unique_values(node: OnnxNode) -> Rows:
    values, inverse, _ = _uniques(node)
    return [(values.dtype, values.shape), *((np.dtype(np.int64), one.shape) for one in (inverse, values))]


@operator("Unique", domain=MICROSOFT)
def unique(node: OnnxNode) -> Results:
    return list(_uniques(node))


def _uniques(node: OnnxNode) -> tuple[Array, Array, Array]:
    """The values in the order of their first appearance, the place of each element's among them, and their counts."""
    x = node.known(0, "x").reshape(-1)
    first, inverse, counts = unique_slices(x, None, False)
    return x[first], inverse, counts


@outputs("UnfoldTensor", domain=MICROSOFT)
def windows(node: OnnxNode) -> Rows:
    shape, size, axis = node.shape(), node.get("size"), node.axis(len(node.shape()), -1, "dim")
    count = (shape[axis] - size) // node.get("step", 1) + 1
    if count < 1:
        raise Refusal(f"is {size}, more than the {shape[axis]} elements of the dimension", "attribute size")
    return [(node.input().dtype, (*shape[:axis], count, *shape[axis + 1 :], size))]


@operator("UnfoldTensor", domain=MICROSOFT)
def unfold(node: OnnxNode) -> Results:
    """Windows of an axis, whose elements are a further dimension."""
    axis, strides = node.axis(len(node.shape()), -1, "dim"), packed_strides(node.shape())
    view_strides = (*strides[:axis], strides[axis] * node.get("step", 1), *strides[axis + 1 :], strides[axis])
    described = windows(node)[0]
    assert described is not None
    return node.packed(node.graph.reinterpret(node.moved(), sizes=described[1], strides=view_strides))


@operator("ScaledSiLU", domain=MICROSOFT)
def scaled_silu(node: OnnxNode) -> Results:
    """SiLU of a product, which is rounded to the type of the input."""
    x = node.cast(node.tensor(), FLOAT)
    if node.has(1):
        scaled = node.graph.multiply(
            x, node.spread(node.cast(node.tensor(1, (1,)), FLOAT), (1,), x.desc.sizes)
        )
    else:
        scaled = node.graph.identity(x, scale_bias=(node.get("alpha", 1.0), 0.0))
    rounded = node.cast(scaled, node.input().dtype)
    return node.graph.multiply(rounded, node.graph.activation_sigmoid(rounded))


@operator("GatedAdd", domain=MICROSOFT)
def gated_add(node: OnnxNode) -> Results:
    if node.has(3):
        raise Refusal("ONNX Runtime has it for CUDA alone", "input gate_weight")
    return node.graph.add(
        node.tensor(0), node.graph.multiply(node.tensor(1), node.broadcast(2, node.shape()))
    )


@operator("GatedRMSNorm", domain=MICROSOFT)
def gated_rms_norm(node: OnnxNode) -> Results:
    """Groups of as many elements as the scale has are normalized, all in FLOAT32."""
    kind = node.choice("activation", "silu", {"silu": True, "swish": True, "sigmoid": False})
    width = node.input(1).size
    y = _normalized(node, width, True)
    gate = node.cast(node.tensor(2, y.desc.sizes), FLOAT)
    factor = node.graph.activation_sigmoid(gate)
    if kind:
        factor = node.graph.multiply(gate, factor)
    return node.cast(node.graph.multiply(y, factor), node.input().dtype)


@operator("BranchwiseRMSNorm", domain=MICROSOFT)
def branchwise_rms_norm(node: OnnxNode) -> Results:
    shape, branches = node.shape(), node.get("num_branches", 0)
    width = shape[-1] // branches if branches else shape[-1]
    branches = branches or shape[-2]
    y = _normalized(node, width, False)
    if node.has(1):
        factor_sizes = (1, node.input(1).size // width, width)
        scale = node.cast(node.tensor(1, factor_sizes), FLOAT)
        y = node.graph.reinterpret(y, sizes=(-(-node.input().size // (branches * width)), branches, width))
        y = node.graph.multiply(y, node.spread(scale, factor_sizes, y.desc.sizes))
    return node.cast(y, node.input().dtype)


def _normalized(node: OnnxNode, width: int, is_scaled: bool) -> Expression:
    """Groups of ``width`` elements of the input, divided by their root mean squares in FLOAT32."""
    part = node.having(0, 1 if is_scaled else None)
    sizes = (node.input().size // width, width)
    x = node.cast(node.tensor(sizes=sizes), FLOAT)
    part.inputs[0] = node.value(x, FLOAT, sizes)
    return root_mean_square(part, x, 1)


outputs("NGramRepeatBlock", domain=MICROSOFT)(lambda node: [(node.input(1).dtype, node.shape(1))])


@operator("NGramRepeatBlock", domain=MICROSOFT)
def block_repeated_n_grams(node: OnnxNode) -> Results:
    """The scores of tokens are negative infinity behind which the last tokens would make an n-gram once more."""
    (batch, length), (_, words) = node.shape(0), node.shape(1)
    graph, size = node.graph, node.get("ngram_size")
    count = length - size + 1
    if size < 1 or count < 1:
        return node.input(1)
    tokens, scores = node.tensor(0), node.tensor(1)
    following = sliced(node, tokens, 1, size - 1, count)
    if size > 1:
        starts = graph.reinterpret(tokens, sizes=(batch, count, size - 1), strides=(length, 1, 1))
        last = graph.reinterpret(sliced(node, tokens, 1, count, size - 1), sizes=(batch, 1, size - 1))
        same = graph.logical_equals(
            node.packed(starts),
            node.spread(last, last.desc.sizes, starts.desc.sizes),
            output_data_type=np.uint8,
        )
        is_same = graph.reduce(same, function=DML_REDUCE_FUNCTION_MIN, axes=[2], output_data_type=np.uint8)
        # All others go to a further word, which is left out again.
        nowhere = node.scalar(words, following)
        following = graph.if_(graph.reinterpret(is_same, sizes=(batch, count)), following, nowhere)
    lowest = node.repeated(node.constant(np.full((1, 1), -np.inf), FLOAT), (batch, count))
    # Scatters take at most as many indices as there are elements.
    more = max(1, count - words)
    rest = node.repeated(node.constant(np.zeros((1, 1)), FLOAT), (batch, more))
    wide = graph.join([scores, rest], axis=1)
    return sliced(node, graph.scatter(wide, following, lowest, axis=1), 1, 0, words)
