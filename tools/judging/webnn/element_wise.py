"""WebNN's element-wise operators and quantization, as graphs of DirectML's operators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import directml_py as dml
from directml_py.graph.expression import Expression

from .lowering import (
    DATA_TYPES,
    OPERATORS,
    Lowered,
    Lowering,
    Operator,
    broadcast,
    operator,
)

UNARY: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        name: (name, {})
        for name in (
            "abs",
            "ceil",
            "cos",
            "erf",
            "exp",
            "floor",
            "identity",
            "log",
            "sign",
            "sin",
            "sqrt",
            "tan",
        )
    },
    "neg": ("negate", {}),
    "reciprocal": ("recip", {}),
    "tanh": ("tanh", {}),
    "logicalNot": ("logical_not", {}),
    "isNaN": ("is_nan", {"output_data_type": dml.DML_TENSOR_DATA_TYPE_UINT8}),
    "isInfinite": (
        "is_infinity",
        {
            "infinity_mode": dml.DML_IS_INFINITY_MODE_EITHER,
            "output_data_type": dml.DML_TENSOR_DATA_TYPE_UINT8,
        },
    ),
    "roundEven": ("round", {"rounding_mode": dml.DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN}),
    "gelu": ("activation_gelu", {}),
    "hardSwish": ("activation_hard_swish", {"alpha": 1 / 6, "beta": 0.5}),
    "sigmoid": ("activation_sigmoid", {}),
    "softplus": ("activation_softplus", {"steepness": 1.0}),
    "softsign": ("activation_softsign", {}),
}
# Activations with numbers of their own, and WebNN's defaults of these.
PARAMETRIC: dict[str, tuple[str, dict[str, float]]] = {
    "elu": ("activation_elu", {"alpha": 1.0}),
    "hardSigmoid": ("activation_hard_sigmoid", {"alpha": 0.2, "beta": 0.5}),
    "leakyRelu": ("activation_leaky_relu", {"alpha": 0.01}),
    "linear": ("activation_linear", {"alpha": 1.0, "beta": 0.0}),
}
BINARY = {
    **{name: name for name in ("add", "max", "min", "pow")},
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "logicalAnd": "logical_and",
    "logicalOr": "logical_or",
    "logicalXor": "logical_xor",
    "prelu": "activation_parameterized_relu",
}
COMPARISONS = {
    "equal": "logical_equals",
    "greater": "logical_greater_than",
    "greaterOrEqual": "logical_greater_than_or_equal",
    "lesser": "logical_less_than",
    "lesserOrEqual": "logical_less_than_or_equal",
}


def _unary(method: str, choices: dict[str, Any]) -> Operator:
    return lambda into, x: Lowered(getattr(into.graph, method)(x.x, **choices), x.shape)


def _parametric(method: str, defaults: dict[str, float]) -> Operator:
    if len(defaults) == 1:
        return lambda into, x, alpha=defaults["alpha"]: Lowered(
            getattr(into.graph, method)(x.x, alpha=alpha), x.shape
        )
    return lambda into, x, alpha=defaults["alpha"], beta=defaults["beta"]: Lowered(
        getattr(into.graph, method)(x.x, alpha=alpha, beta=beta), x.shape
    )


def _binary(method: str, **choices: Any) -> Operator:
    def lowered(into: Lowering, a: Lowered, b: Lowered) -> Lowered:
        shape = broadcast(a, b)
        return Lowered(
            getattr(into.graph, method)(into.spread(a, shape), into.spread(b, shape), **choices), shape
        )

    return lowered


OPERATORS |= {name: _unary(*entry) for name, entry in UNARY.items()}
OPERATORS |= {name: _parametric(*entry) for name, entry in PARAMETRIC.items()}
OPERATORS |= {name: _binary(method) for name, method in BINARY.items()}
OPERATORS |= {
    name: _binary(method, output_data_type=dml.DML_TENSOR_DATA_TYPE_UINT8)
    for name, method in COMPARISONS.items()
}


@operator("relu")
def relu(into: Lowering, x: Lowered) -> Lowered:
    if x.dtype.kind != "f" and x.dtype.itemsize == 8:
        # ACTIVATION_RELU has no integers of 64 bits.
        return OPERATORS["max"](into, x, into.filled(x, (), 0))  # type: ignore[no-any-return]
    return Lowered(into.graph.activation_relu(x.x), x.shape)


@operator("notEqual")
def not_equal(into: Lowering, a: Lowered, b: Lowered) -> Lowered:
    return OPERATORS["logicalNot"](into, OPERATORS["equal"](into, a, b))  # type: ignore[no-any-return]


@operator("where")
def where(into: Lowering, condition: Lowered, a: Lowered, b: Lowered) -> Lowered:
    shape = broadcast(condition, a, b)
    return Lowered(into.graph.if_(*(into.spread(value, shape) for value in (condition, a, b))), shape)


@operator("cast")
def cast(into: Lowering, x: Lowered, kind: str) -> Lowered:
    return Lowered(into.graph.cast(x.x, output_data_type=DATA_TYPES[kind]), x.shape)


@operator("clamp")
def clamp(into: Lowering, x: Lowered, min_value: Any = None, max_value: Any = None) -> Lowered:
    """WebNN keeps NaN, of which DirectML makes the largest value."""
    limits = [
        _limit(x.dtype, bound, default) for bound, default in ((min_value, -math.inf), (max_value, math.inf))
    ]
    made = into.graph.clip1(x.x, min_max_data_type=x.data_type, min=limits[0], max=limits[1])
    if x.dtype.kind == "f":
        is_nan = into.graph.is_nan(x.x, output_data_type=dml.DML_TENSOR_DATA_TYPE_UINT8)
        made = into.graph.if_(is_nan, x.x, made)
    return Lowered(made, x.shape)


def _limit(dtype: np.dtype[Any], bound: Any, default: float) -> Any:
    value = default if bound is None else bound
    if dtype.kind == "f":
        return float(value)
    limits = np.iinfo(dtype)
    if isinstance(value, float) and math.isinf(value):
        return int(limits.max) if value > 0 else int(limits.min)
    return min(max(int(value), int(limits.min)), int(limits.max))


# The integers of DirectML's operators of blocks; other ones have element-wise operators without blocks.
BLOCKED = {DATA_TYPES[name] for name in ("int8", "uint8", "int4", "uint4")}


@operator("quantizeLinear")
def quantize_linear(into: Lowering, x: Lowered, scale: Lowered, zero_point: Lowered) -> Lowered:
    if zero_point.data_type not in BLOCKED:
        parameters = [into.spread(one, x.shape) for one in (scale, zero_point)]
        return Lowered(
            into.graph.quantize_linear(x.x, *parameters, output_data_type=zero_point.data_type), x.shape
        )
    made = into.graph.quantize(
        x.x,
        [_ranked(into, scale, x), _ranked(into, zero_point, x)],
        quantization_type=dml.DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT,
        output_data_type=zero_point.data_type,
    )
    return Lowered(made, x.shape)


@operator("dequantizeLinear")
def dequantize_linear(
    into: Lowering, x: Lowered, scale: Lowered, zero_point: Lowered | None = None
) -> Lowered:
    if x.data_type not in BLOCKED:
        pair = (scale, zero_point or into.filled(x, (), 0))
        return Lowered(
            into.graph.dequantize_linear(x.x, *(into.spread(one, x.shape) for one in pair)), x.shape
        )
    parameters = [_ranked(into, one, x) for one in (scale, zero_point) if one is not None]
    kinds = (dml.DML_QUANTIZATION_TYPE_SCALE, dml.DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT)
    made = into.graph.dequantize(
        x.x,
        parameters,
        quantization_type=kinds[len(parameters) - 1],
        output_data_type=scale.data_type,
    )
    return Lowered(made, x.shape)


def _ranked(into: Lowering, parameter: Lowered, x: Lowered) -> Expression:
    """With leading ones, to the rank of ``x``; DirectML itself repeats each over a block."""
    return into.view(parameter, (1,) * (len(x.shape) - len(parameter.shape)) + parameter.shape).x
