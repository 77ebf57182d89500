"""Activations, including the softmax family."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph import Expression
from .element_wise import like_input
from .fusing import ACTIVATIONS
from .node import OnnxNode
from .translators import MICROSOFT, Results, Translator, operator, outputs, rows

# The graph builder's function, and for each argument the attribute and its default.
Row = tuple[str, dict[str, tuple[str, float]]]
ROWS: dict[str, Row] = {
    "Celu": ("activation_celu", {"alpha": ("alpha", 1.0)}),
    "Elu": ("activation_elu", {"alpha": ("alpha", 1.0)}),
    "HardSigmoid": ("activation_hard_sigmoid", {"alpha": ("alpha", 0.2), "beta": ("beta", 0.5)}),
    "LeakyRelu": ("activation_leaky_relu", {"alpha": ("alpha", 0.01)}),
    "ParametricSoftplus": (
        "activation_parametric_softplus",
        {"alpha": ("alpha", 1.0), "beta": ("beta", 1.0)},
    ),
    "ScaledTanh": ("activation_scaled_tanh", {"alpha": ("alpha", 1.0), "beta": ("beta", 1.0)}),
    "Selu": ("activation_scaled_elu", {"alpha": ("alpha", 1.6732632), "gamma": ("gamma", 1.0507010)}),
    "Sigmoid": ("activation_sigmoid", {}),
    "Softplus": ("activation_softplus", {"steepness": ("steepness", 1.0)}),
    "Softsign": ("activation_softsign", {}),
    "Tanh": ("activation_tanh", {}),
    "ThresholdedRelu": ("activation_thresholded_relu", {"alpha": ("alpha", 1.0)}),
}
# The newer function, along one or more axes, and the older one, which takes only the last dimension.
ALONG_AXES = {
    "Hardmax": ("activation_hardmax1", "activation_hardmax"),
    "LogSoftmax": ("activation_log_softmax1", "activation_log_softmax"),
    "Softmax": ("activation_softmax1", "activation_softmax"),
}
LEVEL_5_1 = 0x5100


def activation(row: Row) -> Translator:
    function, arguments = row

    def translate(node: OnnxNode) -> Results:
        values = {name: node.get(attribute, default) for name, (attribute, default) in arguments.items()}
        result: Expression = getattr(node.graph, function)(node.tensor(), **values)
        return result

    return translate


def along_axes(functions: tuple[str, str]) -> Translator:
    def translate(node: OnnxNode) -> Results:
        shape = node.shape()
        axis = node.axis(len(shape), -1 if node.version >= 13 else 1)
        # Before opset 13 all dimensions from the axis on are treated as one.
        flat = node.version < 13
        inner = math.prod(shape[axis:]) if flat else shape[axis] if shape else 1
        after = 1 if flat else math.prod(shape[axis + 1 :])
        sizes = (1, math.prod(shape[:axis]), inner, after)
        newer, older = functions
        if node.level < LEVEL_5_1 and after == 1:
            result: Expression = getattr(node.graph, older)(node.tensor(sizes=(1, 1, *sizes[1:3])))
            return result
        function: Callable[..., Expression] = getattr(node.graph, newer)
        return function(node.tensor(sizes=sizes), axes=[2])

    return translate


rows(ROWS, activation)
rows(ALONG_AXES, along_axes)
assert set(ACTIVATIONS) <= {*ROWS, "Relu"}


@operator("Relu")
def relu(node: OnnxNode) -> Results:
    x = node.tensor()
    if node.input().dtype == np.int64:
        return node.graph.max(x, node.scalar(0, x))
    return node.graph.activation_relu(x)


@operator("Shrink")
def shrink(node: OnnxNode) -> Results:
    """Of integers with a fraction as bias, ONNX drops what DirectML would round."""
    bias, threshold = node.get("bias", 0.0), node.get("lambd", 0.5)
    x, dtype = node.tensor(), node.input().dtype
    if dtype.kind == "f" or float(bias).is_integer():
        return node.graph.activation_shrink(x, bias=bias, threshold=threshold)
    made = node.graph.activation_shrink(node.cast(x, np.float32), bias=bias, threshold=threshold)
    return node.cast(made, dtype)


@operator("PRelu")
def parameterized_relu(node: OnnxNode) -> Results:
    """The slope is broadcast as usual or, before opset 7, one per channel."""
    shape, slope = node.shape(), node.shape(1)
    if len(shape) > 1 and len(slope) == 1 and slope[0] not in (1, shape[-1]) and slope[0] == shape[1]:
        slope = (slope[0], *(1,) * (len(shape) - 2))
    spread = node.spread(node.tensor(1, slope), slope, shape)
    return node.graph.activation_parameterized_relu(node.tensor(), spread)


@operator("Gelu")
def gelu(node: OnnxNode) -> Results:
    """The exact GELU; with ``approximate``, that of FastGelu."""
    if node.get("approximate", "none") == "tanh":
        return fast_gelu_of(node, node.tensor())
    return node.graph.activation_gelu(node.tensor())


def fast_gelu_of(node: OnnxNode, x: Expression) -> Expression:
    """0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))."""
    graph = node.graph
    cubic = graph.constant_pow(x, exponent=3.0)
    inner = graph.add(x, graph.identity(cubic, scale_bias=(0.044715, 0.0)))
    curve = graph.tanh(inner, scale_bias=(math.sqrt(2 / math.pi), 0.0))
    return graph.multiply(x, graph.identity(curve, scale_bias=(0.5, 0.5)))


@operator("HardSwish")
def hard_swish(node: OnnxNode) -> Results:
    return node.graph.activation_hard_swish(node.tensor(), alpha=1 / 6, beta=0.5)


@operator("Swish")
def swish(node: OnnxNode) -> Results:
    return node.graph.activation_swish(node.tensor(), sigmoid_input_scale=node.get("alpha", 1.0))


@operator("QuickGelu", domain=MICROSOFT)
def quick_gelu(node: OnnxNode) -> Results:
    return node.graph.activation_swish(node.tensor(), sigmoid_input_scale=node.get("alpha", 1.702))


def biased(node: OnnxNode) -> Expression:
    """The first input, plus the second along its last dimension if present."""
    if not node.has(1):
        return node.tensor()
    return node.graph.add(node.tensor(), node.broadcast(1, node.shape()))


def _fast_gelu(node: OnnxNode) -> Results:
    x = biased(node)
    return node.graph.activation_gelu(x) if node.as_provider else fast_gelu_of(node, x)


def _bias_operators() -> dict[str, Any]:
    return {
        "BiasGelu": lambda node: node.graph.activation_gelu(biased(node)),
        "FastGelu": _fast_gelu,
        "Gelu": lambda node: node.graph.activation_gelu(node.tensor()),
    }


rows(_bias_operators(), lambda function: function, MICROSOFT)
outputs("BiasGelu", "FastGelu", "Gelu", "QuickGelu", domain=MICROSOFT)(like_input)
