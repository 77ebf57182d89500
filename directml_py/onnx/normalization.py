"""Normalization by mean and variance, by norms, and over neighbouring channels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..api.enums import DML_REDUCE_FUNCTION_AVERAGE, DML_REDUCE_FUNCTION_L1, DML_REDUCE_FUNCTION_L2
from ..graph import Expression
from .convolutions import per_channel
from .element_wise import like_input
from .errors import Refusal
from .node import OnnxNode
from .translators import MICROSOFT, Results, Rows, operator, outputs
from .values import Sizes

LEVEL_6_3 = 0x6300
NORMS = {1: DML_REDUCE_FUNCTION_L1, 2: DML_REDUCE_FUNCTION_L2}
# That of ONNX Runtime's DirectML provider, which is added to variances and squares.
PROVIDER_EPSILON = 1e-5
# ONNX adds 1e-9 to the deviation: this is its square, as DirectML adds to the variance.
MEAN_EPSILON = 1e-18
# The smallest normal FLOAT32.
SMALLEST = float(np.finfo(np.float32).tiny)


@operator("BatchNormalization")
def batch_norm(node: OnnxNode) -> Results:
    if node.get("training_mode", 0):
        return _training(node)
    activation, node.activation = node.activation, None
    spatial = bool(node.get("spatial", 1))
    x = _with_channels(node)
    scale, bias, mean, variance = (
        node.cast(node.tensor(index, _parameter(node, index, spatial)), node.input().dtype)
        for index in (1, 2, 3, 4)
    )
    return node.graph.batch_normalization(
        x,
        mean,
        variance,
        scale,
        bias,
        spatial=spatial,
        epsilon=node.get("epsilon", 1e-5),
        fused_activation=activation,
    )


def _with_channels(node: OnnxNode) -> Expression:
    """The input; one of a single dimension has one channel."""
    shape = node.shape()
    return node.tensor(sizes=(*shape, 1) if len(shape) == 1 else shape)


def _parameter(node: OnnxNode, index: int, spatial: bool) -> Sizes:
    if spatial:
        return per_channel(node, math.prod(node.shape(index)))
    return (1, *node.shape()[1:])


def _training(node: OnnxNode) -> Results:
    """The batch statistics, and the running statistics that they update, all in the type of the latter."""
    momentum, dtype = node.get("momentum", 0.9), node.input(3).dtype
    scale, bias, mean, variance = (
        node.tensor(index, _parameter(node, index, True)) for index in (1, 2, 3, 4)
    )
    y, batch_mean, batch_variance = node.graph.batch_normalization_training(
        node.cast(_with_channels(node), dtype),
        node.cast(scale, dtype),
        node.cast(bias, dtype),
        epsilon=node.get("epsilon", 1e-5),
    )
    running = [
        node.graph.add(
            node.graph.identity(old, scale_bias=(momentum, 0.0)),
            node.graph.identity(new, scale_bias=(1 - momentum, 0.0)),
        )
        if node.wants(index)
        else None
        for index, old, new in ((1, mean, batch_mean), (2, variance, batch_variance))
    ]
    return [node.cast(y, node.input().dtype), *running]


def around_mean(node: OnnxNode, x: Expression, axes: Sequence[int]) -> Expression:
    """``x`` as the input of a normalization; where each element is its own mean, their differences.

    MEAN_VARIANCE_NORMALIZATION takes a single element for its own variance.
    """
    is_single = all(x.desc.sizes[axis] == 1 for axis in axes)
    return node.graph.subtract(x, x) if is_single else x


@operator("InstanceNormalization")
def instance_norm(node: OnnxNode) -> Results:
    activation, node.activation = node.activation, None
    axes, sizes = list(range(2, len(node.shape()))), per_channel(node, node.shape()[1])
    dtype = node.input().dtype
    # DirectML rounds mean and variance to FLOAT16, if that is the type of the input.
    wide = dtype if node.as_provider else np.dtype(np.float32)
    x, scale, bias = (
        node.cast(part, wide) for part in (node.tensor(), node.tensor(1, sizes), node.tensor(2, sizes))
    )
    y = node.graph.mean_variance_normalization1(
        around_mean(node, x, axes),
        scale,
        bias,
        axes=axes,
        normalize_variance=True,
        epsilon=node.get("epsilon", 1e-5),
        fused_activation=activation,
    )
    return node.cast(y, dtype)


outputs("MeanVarianceNormalization")(like_input)


@operator("MeanVarianceNormalization")
def mean_variance_norm(node: OnnxNode) -> Results:
    activation, node.activation = node.activation, None
    default = [0, 2, 3] if node.get("across_channels", 0) == 0 else [0, 1, 2, 3]
    axes = [axis % len(node.shape()) for axis in node.get("axes", default)]
    return node.graph.mean_variance_normalization1(
        around_mean(node, node.tensor(), axes),
        axes=axes,
        normalize_variance=bool(node.get("normalize_variance", 1)),
        epsilon=PROVIDER_EPSILON if node.as_provider else MEAN_EPSILON,
        fused_activation=activation,
    )


@outputs("LayerNormalization")
def normalized_to_scale(node: OnnxNode) -> Rows:
    """Before operator set 17 ONNX Runtime takes a scale of another type than the input, which is that of the output."""
    rows = normalized_with_root(node)
    return [*rows, rows[1]]


@operator("LayerNormalization")
def layer_norm(node: OnnxNode) -> Results:
    part = _in_floats(node)
    y, *statistics = normalized(part, part.tensor(), 1, 2)
    assert y is not None
    return [node.cast(y, node.input(1).dtype), *statistics]


def _in_floats(node: OnnxNode) -> OnnxNode:
    """The node with a FLOAT32 input, if that and the scale have different types."""
    if node.input().dtype == node.input(1).dtype:
        return node
    part = node.having(*range(len(node.inputs)))
    part.inputs[0] = node.value(node.cast(node.tensor(), np.float32), np.dtype(np.float32), node.shape())
    return part


def normalized(node: OnnxNode, x: Expression, scale: int, bias: int) -> list[Expression | None]:
    """``x``, with the sizes of the first input, normalized along the axes from ``axis`` on."""
    shape = node.shape()
    axes = list(range(node.axis(len(shape), -1), len(shape)))
    epsilon = node.get("epsilon", 1e-5)
    y = node.graph.mean_variance_normalization1(
        around_mean(node, x, axes),
        _factor(node, scale, shape),
        _factor(node, bias, shape),
        axes=axes,
        normalize_variance=True,
        epsilon=epsilon,
    )
    if not (node.wants(1) or node.wants(2)):
        return [y]
    # The statistics are FLOAT32, whatever the type of the input.
    x = node.cast(x, np.float32)
    mean = _average(node, x, axes)
    spread = node.graph.difference_square(x, node.spread(mean, mean.desc.sizes, shape))
    return [
        y,
        mean if node.wants(1) else None,
        _inverse_root(node, _average(node, spread, axes), epsilon) if node.wants(2) else None,
    ]


def _factor(node: OnnxNode, index: int, shape: Sizes) -> Expression | None:
    if not node.has(index):
        return None
    stored_sizes = node.shape(index)
    sizes = (1,) * (len(shape) - len(stored_sizes)) + stored_sizes
    return node.cast(node.tensor(index, sizes), node.input().dtype)


def _average(node: OnnxNode, x: Expression, axes: list[int]) -> Expression:
    kind = x.desc.data_type
    return node.graph.reduce(x, function=DML_REDUCE_FUNCTION_AVERAGE, axes=axes, output_data_type=kind)


def _inverse_root(node: OnnxNode, x: Expression, epsilon: float) -> Expression:
    return node.graph.recip(node.graph.sqrt(x, scale_bias=(1.0, epsilon)))


def root_mean_square(node: OnnxNode, x: Expression, scale: int, bias: int | None = None) -> Expression:
    """``x`` divided by its root mean square along the axes from ``axis`` on, times a scale, and a bias."""
    shape = node.shape()
    axes = list(range(node.axis(len(shape), -1), len(shape)))
    epsilon = node.get("epsilon", 1e-5)
    factor, offset = (None if index is None else _factor(node, index, shape) for index in (scale, bias))
    if node.level >= LEVEL_6_3:
        return node.graph.mean_variance_normalization2(
            x, factor, offset, axes=axes, use_mean=False, use_variance=True, epsilon=epsilon
        )
    root = _inverse_root(node, _average(node, node.graph.multiply(x, x), axes), epsilon)
    y = node.graph.multiply(x, node.spread(root, root.desc.sizes, shape))
    for operand, call in ((factor, node.graph.multiply), (offset, node.graph.add)):
        y = y if operand is None else call(y, node.spread(operand, operand.desc.sizes, shape))
    return y


@outputs("RMSNormalization", "SimplifiedLayerNormalization")
@outputs("SimplifiedLayerNormalization", domain=MICROSOFT)
def normalized_with_root(node: OnnxNode) -> Rows:
    shape = node.shape()
    axis = node.axis(len(shape), -1)
    averages = (*shape[:axis], *(1,) * (len(shape) - axis))
    return [(node.input(1).dtype, shape), (np.dtype(np.float32), averages)]


@operator("RMSNormalization", "SimplifiedLayerNormalization")
@operator("SimplifiedLayerNormalization", domain=MICROSOFT)
def simplified_layer_norm(node: OnnxNode) -> Results:
    """The second output is what the input is multiplied by, always FLOAT32; so is what is between other types."""
    x, part = node.tensor(), _in_floats(node)
    y = node.cast(root_mean_square(part, part.tensor(), 1), node.input(1).dtype)
    if not node.wants(1):
        return y
    x = node.cast(x, np.float32)
    axes = list(range(node.axis(len(node.shape()), -1), len(node.shape())))
    square = node.graph.multiply(x, x)
    return [y, _inverse_root(node, _average(node, square, axes), node.get("epsilon", 1e-5))]


def _skipped(node: OnnxNode, bias: int) -> Expression:
    """The sum of input, skip and bias; the operators' epsilon is less than that of others."""
    node.attributes.setdefault("epsilon", 1e-12)
    shape = node.shape()
    total = node.graph.add(node.tensor(0), node.broadcast(1, shape))
    return node.graph.add(total, node.broadcast(bias, shape)) if node.has(bias) else total


@outputs("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def normalized_sum(node: OnnxNode) -> Rows:
    shape, dtype = node.shape(), node.input().dtype
    statistics = (np.dtype(np.float32), (*shape[:-1], 1))
    return [(dtype, shape), statistics, statistics, (dtype, shape)]


@operator("SkipLayerNormalization", domain=MICROSOFT)
def skip_layer_norm(node: OnnxNode) -> Results:
    total = _skipped(node, 4)
    results = normalized(node, total, 2, 3)
    return [*results, *[None] * (3 - len(results)), total if node.wants(3) else None]


@operator("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_rms_norm(node: OnnxNode) -> Results:
    has_offset = node.has(3) and node.as_provider
    total = _skipped(node, 4 if has_offset else 3)
    y = root_mean_square(node, total, 2, 3 if has_offset else None)
    return [y, None, None, total if node.wants(3) else None]


@operator("LpNormalization")
def lp_norm(node: OnnxNode) -> Results:
    """Quotients by norms, computed in FLOAT32; a norm of 0 gives 0. LP_NORMALIZATION adds an epsilon under the root,
    which changes what is small."""
    axis, order = node.axis(len(node.shape()), -1), node.get("p", 2)
    if order not in NORMS:
        raise Refusal(f"is {order}; it must be 1 or 2", "attribute p")
    if node.as_provider:
        return node.graph.lp_normalization(node.tensor(), axis=axis, epsilon=PROVIDER_EPSILON, p=order)
    x = node.cast(node.tensor(), np.float32)
    norm = node.graph.reduce(x, function=NORMS[order], axes=[axis], output_data_type=x.desc.data_type)
    divisor = node.graph.max(norm, node.scalar(SMALLEST, norm))
    return node.cast(
        node.graph.divide(x, node.spread(divisor, norm.desc.sizes, x.desc.sizes)), node.input().dtype
    )


@operator("LRN")
def local_response_norm(node: OnnxNode) -> Results:
    size, alpha, beta, bias = (
        node.get(name, default)
        for name, default in (("size", 1), ("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    if size % 2:
        return node.graph.local_response_normalization(
            node.tensor(), cross_channel=True, local_size=size, alpha=alpha, beta=beta, bias=bias
        )
    # Windows of even size reach further to the end in ONNX, and further to the start in DirectML.
    batch, channels, *others = node.shape()
    x = node.tensor(sizes=(batch, 1, channels, math.prod(others)))
    squares = node.graph.average_pooling(
        node.graph.multiply(x, x),
        strides=(1, 1),
        window_size=(size, 1),
        start_padding=((size - 1) // 2, 0),
        end_padding=(size // 2, 0),
        include_padding=True,
    )
    divisor = node.graph.constant_pow(squares, scale_bias=(alpha, bias), exponent=beta)
    return node.graph.divide(x, divisor)
