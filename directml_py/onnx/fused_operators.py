"""Operators of the domain com.microsoft that ONNX Runtime's optimizer makes of an operator and an activation."""

from __future__ import annotations

from copy import copy
from typing import Any

from ..graph import Expression
from .convolutions import channels_last_convolution, convolution, convolved_sizes
from .errors import Refusal
from .fusing import ACTIVATIONS, activation_desc
from .matrices import fused_matmul, gemm
from .node import OnnxNode
from .quantized_operators import channels_first, channels_last
from .translators import MICROSOFT, ONNX, OPERATORS, Results, Rows, operator, outputs

# The attributes of activations that activation_params lists, in order.
PARAMETERS = {"HardSigmoid": ("alpha", "beta"), "LeakyRelu": ("alpha",)}
# Activations that DirectML's operators do not fuse, but that follow a convolution.
FOLLOWING = ("Gelu", "HardSwish", "QuickGelu", "Elu", "Clip")


def _parameters(node: OnnxNode, kind: str) -> dict[str, float]:
    numbers = [float(value) for value in node.get("activation_params", [])]
    names = PARAMETERS.get(kind, ())
    if len(numbers) < len(names):
        raise Refusal(f"has {len(numbers)} numbers; {kind} has {len(names)}", "attribute activation_params")
    return dict(zip(names, numbers))


def _activated(node: OnnxNode, x: Expression, kind: str) -> Expression:
    """``x`` with an activation that no operator fuses."""
    numbers = [float(value) for value in node.get("activation_params", [])]
    if kind == "Clip":
        if len(numbers) != 2:
            raise Refusal(f"has {len(numbers)} numbers; Clip has 2", "attribute activation_params")
        return node.graph.clip(x, min=numbers[0], max=numbers[1])
    part = copy(node)
    part.attributes = {"alpha": numbers[0]} if numbers else {}
    part.inputs = [node.value(x, node.input().dtype, x.desc.sizes)]
    result = OPERATORS[MICROSOFT if kind == "QuickGelu" else ONNX, kind](part)
    assert isinstance(result, Expression)
    return result


@outputs("FusedConv", "NhwcConv", "NhwcFusedConv", domain=MICROSOFT)
def convolved(node: OnnxNode) -> Rows:
    shapes = node.shape(0), node.shape(1)
    if node.kind == "FusedConv":
        return [(node.input().dtype, convolved_sizes(node, *shapes))]
    return [(node.input().dtype, channels_last(convolved_sizes(node, *map(channels_first, shapes))))]


@operator("FusedConv", "NhwcFusedConv", domain=MICROSOFT)
def fused_convolution(node: OnnxNode) -> Results:
    """A convolution, the sum with a tensor of its result's sizes, and an activation, the latter two if present."""
    kind = node.get("activation", "")
    is_fused = kind in ACTIVATIONS
    if kind and not is_fused and kind not in FOLLOWING:
        raise Refusal(f"is {kind!r}, which is not translated", "attribute activation")
    desc: Any = activation_desc(kind, _parameters(node, kind)) if is_fused else None
    translate = convolution if node.kind == "FusedConv" else channels_last_convolution
    node.activation = None if node.has(3) else desc
    y = translate(node)
    assert isinstance(y, Expression)
    if node.has(3):
        y = node.graph.element_wise_add1(y, node.broadcast(3, y.desc.sizes), fused_activation=desc)
    return _activated(node, y, kind) if kind and not is_fused else y


def _activation_of(node: OnnxNode) -> Any:
    """The activation that the attributes of a fused product describe."""
    kind = node.get("activation", "")
    if not kind:
        return None
    if kind not in ACTIVATIONS:
        raise Refusal(f"is {kind!r}, which GEMM does not fuse", "attribute activation")
    names = {"alpha": "activation_alpha", "beta": "activation_beta", "gamma": "activation_gamma"}
    parameters = {
        name: node.get(attribute) for name, attribute in names.items() if attribute in node.attributes
    }
    return activation_desc(kind, parameters)


@outputs("FusedGemm", domain=MICROSOFT)
def product_sizes(node: OnnxNode) -> Rows:
    rows = node.shape(0)[1 if node.get("transA", 0) else 0]
    columns = node.shape(1)[0 if node.get("transB", 0) else 1]
    return [(node.input().dtype, (rows, columns))]


@operator("FusedGemm", domain=MICROSOFT)
def fused_gemm(node: OnnxNode) -> Results:
    node.activation = _activation_of(node)
    return gemm(node)


@operator("FusedMatMulActivation", domain=MICROSOFT)
def matmul_activation(node: OnnxNode) -> Results:
    node.activation = _activation_of(node)
    return fused_matmul(node)
