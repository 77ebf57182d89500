"""Nodes with empty inputs.

A tensor without elements has no counterpart in DirectML, whose sizes are at least 1. It is a constant, as the host
knows all of its elements, and where all outputs of a node are empty, nothing has to be computed. For nodes that make
elements out of none this table says what these are, which is what ONNX Runtime's CPU provider returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .errors import Refusal
from .node import OnnxNode
from .translators import MICROSOFT, ONNX, OPERATORS, Results
from .values import Array, OnnxValue, known

Rule = Callable[[OnnxNode], Results]
# By operator: the inputs of which one must be empty, and the rule.
RULES: dict[tuple[str, str], tuple[Sequence[int], Rule]] = {}


def rule(*names: str, inputs: Sequence[int] = (0,), domain: str = ONNX) -> Callable[[Rule], Rule]:
    """Decorator: registers what operators return if one of these inputs is empty."""

    def add(function: Rule) -> Rule:
        for name in names:
            RULES[domain, name] = inputs, function
        return function

    return add


def is_empty(value: OnnxValue | None) -> bool:
    return value is not None and value.items is None and not value.is_nothing and value.size == 0


def without_elements(node: OnnxNode, domain: str) -> Results:
    """The outputs of a node without elements: the empty arrays that they are, or by the rule of the operator for empty
    inputs; None if they are neither."""
    wanted = [name for name in node.outputs if name]
    if all(name in node.inferred and 0 in node.inferred[name][1] for name in wanted):
        return [filled(node, index) if name else None for index, name in enumerate(node.outputs)]
    inputs, rule = RULES.get((domain, node.kind), ((), None))
    if rule is None or not any(is_empty(node.inputs[index]) for index in inputs if node.has(index)):
        return None
    return rule(node)


def filled(node: OnnxNode, index: int = 0, value: Any = 0) -> Array:
    """An output whose elements all have one value. Raises ``Refusal`` if its sizes depend on values, or for too
    many bytes."""
    shape = node.output_shape(index)
    dtype = node.inferred[node.outputs[index]][0]
    node.constants.budget.take_bytes(dtype.itemsize * math.prod(shape))
    return np.full(shape, value, dtype)


def lowest(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind == "f" else dtype.kind != "b" and np.iinfo(dtype).min


def highest(dtype: np.dtype[Any]) -> Any:
    return np.inf if dtype.kind == "f" else dtype.kind == "b" or np.iinfo(dtype).max


def zero(dtype: np.dtype[Any]) -> Any:
    return 0


def one(dtype: np.dtype[Any]) -> Any:
    return 1


# What reductions return for no elements. ONNX Runtime's average is 0.
OF_NOTHING: dict[str, Callable[[np.dtype[Any]], Any]] = {
    "ReduceL1": zero,
    "ReduceL2": zero,
    "ReduceLogSum": lowest,
    "ReduceLogSumExp": lowest,
    "ReduceMax": lowest,
    "ReduceMean": zero,
    "ReduceMin": highest,
    "ReduceProd": one,
    "ReduceSum": zero,
    "ReduceSumSquare": zero,
}


@rule(*OF_NOTHING)
def reduced(node: OnnxNode) -> Results:
    node.numbers(1, "axes")
    return filled(node, value=OF_NOTHING[node.kind](node.input().dtype))


@rule("BatchNormalization")
def trained_by_nothing(node: OnnxNode) -> Results:
    """Averages of no elements are NaN."""
    return [filled(node, index, np.nan if index else 0) for index in range(len(node.outputs))]


@rule("MaxUnpool", "RoiAlign")
def unset(node: OnnxNode) -> Results:
    return filled(node)


@rule("DynamicQuantizeLinear")
def quantized(node: OnnxNode) -> Results:
    return [filled(node), filled(node, 1, 1), filled(node, 2)]


@rule("Scatter", "ScatterElements", "ScatterND", inputs=[1])
def not_updated(node: OnnxNode) -> Results:
    return node.input()


def of_zeros(*zero_points: int, domain: str = ONNX) -> Rule:
    """Sums of no products, as those of one product of zeros; ``zero_points`` are the inputs that must be 0."""

    def zeros(node: OnnxNode) -> Results:
        node.output_shape()
        for index, value in enumerate(node.inputs):
            if value is not None and (is_empty(value) or index in zero_points):
                sizes = [size or 1 for size in value.shape]
                node.inputs[index] = known(value.name, np.zeros(sizes, value.dtype))
        return OPERATORS[domain, node.kind](node)

    return zeros


rule("Einsum", "Gemm", "MatMul")(of_zeros())
rule("MatMulInteger")(of_zeros(2, 3))
rule("QLinearMatMul")(of_zeros(2, 5))
rule("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)(of_zeros(domain=MICROSOFT))
rule("MatMulIntegerToFloat", domain=MICROSOFT)(of_zeros(4, 5, domain=MICROSOFT))
rule("DynamicQuantizeMatMul", domain=MICROSOFT)(of_zeros(3, domain=MICROSOFT))


@rule("Conv", "ConvInteger", "ConvTranspose")
def biases_alone(node: OnnxNode) -> Results:
    """Convolutions of no channels, or of padding alone."""
    shape = node.output_shape()
    if node.kind == "ConvInteger" or not node.has(2):
        return filled(node)
    sizes = (shape[1], *(1,) * (len(shape) - 2))
    return node.packed(node.spread(node.tensor(2, sizes), sizes, shape))


@rule("GRU", "LSTM", "RNN")
def without_time_steps(node: OnnxNode) -> Results:
    """The last states are the first ones, or 0; ONNX Runtime's are not initialized."""
    if node.shape()[0]:
        return None
    # The inputs from 5 on are the first states.
    return [
        None if not name else node.input(4 + index) if index and node.has(4 + index) else filled(node, index)
        for index, name in enumerate(node.outputs)
    ]


@rule("Pad")
def padding_alone(node: OnnxNode) -> Results:
    """All elements are padding."""
    if node.get("mode", "constant") != "constant":
        raise Refusal("has no elements to repeat", "input data")
    if node.has(2):
        return node.packed(node.broadcast(2, node.output_shape()))
    return filled(node, value=node.get("value", 0))


def without_past(*past: int) -> Rule:
    """Attention whose past keys and values, at these inputs, are empty."""

    def absent(node: OnnxNode) -> Results:
        for index in past:
            if index < len(node.inputs) and is_empty(node.inputs[index]):
                node.inputs[index] = None
        return OPERATORS[MICROSOFT, node.kind](node)

    return absent


@rule("MultiHeadAttention", inputs=[1, 6, 7], domain=MICROSOFT)
def without_keys_or_past(node: OnnxNode) -> Results:
    """Without keys there are no values to choose from."""
    if is_empty(node.inputs[1]) and not node.has(6) and not node.wants(1):
        return filled(node)
    return without_past(6, 7)(node)


rule("Attention", inputs=[4], domain=MICROSOFT)(without_past(4))
rule("GroupQueryAttention", inputs=[3, 4], domain=MICROSOFT)(without_past(3, 4))
