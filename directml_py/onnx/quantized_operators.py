"""Operators of the domain com.microsoft on quantized tensors, which have scales and zero points among their inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from ..graph import Expression
from .convolutions import convolved_sizes, quantized_convolution
from .element_wise import common_shape, like_input
from .errors import Refusal
from .matrices import parameter
from .node import OnnxNode
from .pooling import padded, pooled_maximum, pooled_sizes, window_over
from .translators import MICROSOFT, ONNX, OPERATORS, Results, Rows, Translator, operator, outputs, rows
from .values import OnnxValue, Sizes, data_type
from .window_attributes import WindowAttributes, window_of

FLOAT = np.dtype(np.float32)


def spread_parameter(node: OnnxNode, index: int, sizes: tuple[int, ...]) -> Any:
    """One number as a tensor of ``sizes``; None if it is absent."""
    if not node.has(index):
        return None
    if node.input(index).size != 1:
        raise Refusal(f"has {node.input(index).size} elements; it must be one number", f"input {index}")
    return node.spread(node.tensor(index, (1,)), (1,), sizes)


def dequantized(node: OnnxNode, index: int) -> OnnxValue:
    """The input at ``index``, behind which are its scale and zero point, as floats."""
    value = node.input(index)
    if value.dtype.kind == "f":
        return value
    x = node.tensor(index)
    scale, zero = (spread_parameter(node, index + more, x.desc.sizes) for more in (1, 2))
    return node.value(node.graph.dequantize_linear(x, scale, zero), FLOAT, value.shape)


def quantized(node: OnnxNode, x: Expression, scale: int, dtype: np.dtype[Any]) -> Expression:
    """``x`` with the scale at ``scale`` and the zero point behind it."""
    sizes = x.desc.sizes
    return node.graph.quantize_linear(
        x,
        spread_parameter(node, scale, sizes),
        spread_parameter(node, scale + 1, sizes),
        output_data_type=data_type(dtype),
    )


class OfFloats(NamedTuple):
    """An operator that is one of ONNX between dequantization and quantization."""

    kind: str
    # The inputs that are quantized, and that which is the scale of the output.
    operands: Callable[[OnnxNode], Sequence[int]]
    scale: int
    # Inputs before them that are passed on.
    others: tuple[int, ...] = ()


OF_FLOATS = {
    "QLinearConcat": OfFloats("Concat", lambda node: range(2, len(node.inputs), 3), 0),
    "QLinearLeakyRelu": OfFloats("LeakyRelu", lambda _: (0,), 3),
    "QLinearMul": OfFloats("Mul", lambda _: (0, 3), 6),
    "QLinearReduceMean": OfFloats("ReduceMean", lambda _: (0,), 3),
    "QLinearSigmoid": OfFloats("Sigmoid", lambda _: (0,), 3),
    "QLinearSoftmax": OfFloats("Softmax", lambda _: (0,), 3),
    "QLinearWhere": OfFloats("Where", lambda _: (1, 4), 7, (0,)),
}


def of_floats(row: OfFloats) -> Translator:
    def translate(node: OnnxNode) -> Results:
        operands = row.operands(node)
        part = copy(node)
        part.version = int(node.get("opset", 13))
        part.attributes = {"axis": -1, **node.attributes} if row.kind == "Softmax" else node.attributes
        part.inputs = [
            *(node.input(index) for index in row.others),
            *(dequantized(node, index) for index in operands),
        ]
        result = OPERATORS[ONNX, row.kind](part)
        x = part.tensor(result) if isinstance(result, OnnxValue) else result
        assert isinstance(x, Expression)
        return quantized(node, x, row.scale, node.input(operands[0]).dtype)

    return translate


rows(OF_FLOATS, of_floats, MICROSOFT)
outputs("QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax", domain=MICROSOFT)(like_input)


@outputs("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def combined(node: OnnxNode) -> Rows:
    return [(node.input().dtype, common_shape(node.input(0), node.input(3)))]


@outputs("QLinearWhere", domain=MICROSOFT)
def chosen(node: OnnxNode) -> Rows:
    return [(node.input(1).dtype, common_shape(*(node.input(index) for index in (0, 1, 4))))]


@outputs("QLinearConcat", domain=MICROSOFT)
def joined(node: OnnxNode) -> Rows:
    shapes = [node.shape(index) for index in range(2, len(node.inputs), 3)]
    axis = node.axis(len(shapes[0]))
    total = sum(shape[axis] for shape in shapes)
    return [(node.input(2).dtype, (*shapes[0][:axis], total, *shapes[0][axis + 1 :]))]


@outputs("QLinearReduceMean", domain=MICROSOFT)
def averages(node: OnnxNode) -> Rows:
    shape = node.shape()
    axes = {axis % len(shape) for axis in node.get("axes", range(len(shape)))}
    left = {axis: 1 if axis in axes else size for axis, size in enumerate(shape)}
    kept = tuple(size for axis, size in left.items() if node.get("keepdims", 1) or axis not in axes)
    return [(node.input().dtype, kept)]


@operator("QLinearAdd", domain=MICROSOFT)
def quantized_add(node: OnnxNode) -> Results:
    shape = common_shape(node.input(0), node.input(3))
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


def channels_first(shape: Sizes) -> Sizes:
    """``shape`` with its last dimension behind the first."""
    return (shape[0], shape[-1], *shape[1:-1])


def channels_last(shape: Sizes) -> Sizes:
    return (shape[0], *shape[2:], shape[1])


def with_channels_first(node: OnnxNode, index: int = 0) -> OnnxValue:
    """An input whose channels are last, as ``channels_last`` says, with channels first."""
    shape = node.shape(index)
    if not node.get("channels_last", 0):
        return node.input(index)
    order = channels_first(tuple(range(len(shape))))
    return node.value(
        node.transposed(node.tensor(index), shape, order), node.input(index).dtype, channels_first(shape)
    )


def in_layout_of_input(node: OnnxNode, y: Expression, sizes: Sizes) -> Expression:
    """A result of ``sizes`` with channels first, with channels where the input has them."""
    if not node.get("channels_last", 0):
        return y
    return node.transposed(y, sizes, channels_last(tuple(range(len(sizes)))))


def _spatial(node: OnnxNode) -> Sizes:
    shape = node.shape()
    return shape[1:-1] if node.get("channels_last", 0) else shape[2:]


def _pool_window(node: OnnxNode) -> WindowAttributes:
    sizes = _spatial(node)
    return window_over(sizes) if node.kind == "QLinearGlobalAveragePool" else window_of(node, sizes)


@outputs("QLinearAveragePool", "QLinearGlobalAveragePool", domain=MICROSOFT)
def pooled(node: OnnxNode) -> Rows:
    shape = node.shape()
    if len(shape) < 3:
        raise Refusal(f"has {len(shape)} dimensions; a pool takes at least 3", "input X")
    counts = pooled_sizes(node, _spatial(node), _pool_window(node))
    is_last = node.get("channels_last", 0)
    return [
        (node.input().dtype, (shape[0], *counts, shape[-1]) if is_last else (shape[0], shape[1], *counts))
    ]


@operator("QLinearAveragePool", "QLinearGlobalAveragePool", domain=MICROSOFT)
def quantized_pool(node: OnnxNode) -> Results:
    window = _pool_window(node)
    value = with_channels_first(node)
    sizes = (*value.shape[:2], *pooled_sizes(node, value.shape[2:], window))
    x = node.tensor(value, padded(value.shape))
    more = len(x.desc.sizes) - len(value.shape)
    attributes = {
        name: [0 if name.endswith("padding") else 1] * more + values for name, values in window.pool().items()
    }
    ones = (1,) * len(x.desc.sizes)
    scale, zero, out_scale, out_zero = (spread_parameter(node, index, ones) for index in (1, 2, 3, 4))
    y = node.graph.quantized_linear_average_pooling(
        x,
        scale,
        out_scale,
        zero,
        out_zero,
        include_padding=bool(node.get("count_include_pad", 0)),
        output_sizes=padded(sizes),
        **attributes,
    )
    return in_layout_of_input(node, y, sizes)


def _with_channels_last(node: OnnxNode) -> OnnxNode:
    part = copy(node)
    part.attributes = {**node.attributes, "channels_last": 1}
    return part


@outputs("NhwcMaxPool", domain=MICROSOFT)
def largest(node: OnnxNode) -> Rows:
    return pooled(_with_channels_last(node))


@operator("NhwcMaxPool", domain=MICROSOFT)
def channels_last_maximum(node: OnnxNode) -> Results:
    part = _with_channels_last(node)
    window, value = _pool_window(part), with_channels_first(part)
    sizes = (*value.shape[:2], *pooled_sizes(part, value.shape[2:], window))
    part.inputs = [value]
    return in_layout_of_input(part, pooled_maximum(part, window, sizes), sizes)


def _convolution(node: OnnxNode) -> tuple[OnnxNode, Sizes]:
    """The node as ONNX's QLinearConv, which has its inputs in another order, and the sizes of its result."""
    part = node.having(0, 1, 2, 3, 4, 5, 6, 7, 8)
    shape = channels_first(node.shape()) if node.get("channels_last", 0) else node.shape()
    return part, convolved_sizes(node, shape, node.shape(3))


@outputs("QLinearConv", domain=MICROSOFT)
def convolved(node: OnnxNode) -> Rows:
    _, sizes = _convolution(node)
    return [(node.input(7).dtype, channels_last(sizes) if node.get("channels_last", 0) else sizes)]


@operator("QLinearConv", domain=MICROSOFT)
def quantized_channels_last_convolution(node: OnnxNode) -> Results:
    part, sizes = _convolution(node)
    part.inputs[0] = with_channels_first(node)
    y = quantized_convolution(part)
    assert isinstance(y, Expression)
    return in_layout_of_input(node, y, sizes)


def _transposed(node: OnnxNode) -> OnnxNode:
    """The node with A and B as the product has them."""
    part = copy(node)
    part.inputs = list(node.inputs)
    for name, index in (("transA", 0), ("transB", 3)):
        shape = node.shape(index)
        if len(shape) != 2:
            raise Refusal(f"has {len(shape)} dimensions; it must be a matrix", f"input {'AB'[index // 3]}")
        if node.get(name, 0):
            transposed = node.transposed(node.tensor(index), shape, (1, 0))
            part.inputs[index] = node.value(transposed, node.input(index).dtype, shape[::-1])
    return part


@outputs("QGemm", domain=MICROSOFT)
def product_type(node: OnnxNode) -> Rows:
    rows_ = node.shape(0)[1 if node.get("transA", 0) else 0]
    columns = node.shape(3)[0 if node.get("transB", 0) else 1]
    dtype = node.input(8).dtype if node.has(8) else node.input(0).dtype if node.has(7) else FLOAT
    return [(dtype, (rows_, columns))]


@operator("QGemm", domain=MICROSOFT)
def quantized_gemm(node: OnnxNode) -> Results:
    """An integer product and an integer bias, whose scale is that of both factors and ``alpha``."""
    part, graph = _transposed(node), node.graph
    a, b = part.tensor(0), part.tensor(3)
    total = graph.matrix_multiply_integer(a, b, parameter(part, 2, a, 0), parameter(part, 5, b, 1))
    sizes = total.desc.sizes
    if node.has(6):
        total = graph.add(total, node.broadcast(6, sizes))
    scales = [parameter(part, index, like, side) for index, like, side in ((1, a, 0), (4, b, 1))]
    scale = graph.multiply(*(node.spread(one, one.desc.sizes, (1, sizes[1])) for one in scales))
    alpha = node.get("alpha", 1.0)
    if alpha != 1:
        scale = graph.identity(scale, scale_bias=(alpha, 0.0))
    y = graph.multiply(node.cast(total, FLOAT), node.spread(scale, scale.desc.sizes, sizes))
    if not node.has(7):
        return y
    return quantized(node, y, 7, product_type(node)[0][0])  # type: ignore[index]
