"""Element-wise operators: arithmetic, comparisons, logic and bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ..api.enums import (
    DML_IS_INFINITY_MODE_EITHER,
    DML_IS_INFINITY_MODE_NEGATIVE,
    DML_IS_INFINITY_MODE_POSITIVE,
    DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN,
)
from ..graph import Expression
from .errors import Refusal
from .node import OnnxNode
from .translators import Results, Rows, Translator, operator, outputs, rows
from .values import OnnxValue, Sizes, data_type

LEVEL_5_0 = 0x5000
UNARY = {
    "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan",
    "Atanh": "atanh", "BitwiseNot": "bit_not", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf",
    "Exp": "exp", "Floor": "floor", "Log": "log", "Not": "logical_not", "Reciprocal": "recip", "Sign": "sign",
    "Sin": "sin", "Sinh": "sinh", "Sqrt": "sqrt", "Tan": "tan",
}  # fmt: skip
BINARY = {
    "And": "logical_and", "BitwiseAnd": "bit_and", "BitwiseOr": "bit_or", "BitwiseXor": "bit_xor",
    "Div": "divide", "Mul": "multiply", "Or": "logical_or", "Sub": "subtract", "Xor": "logical_xor",
}  # fmt: skip
COMPARISON = {
    "Equal": "logical_equals", "Greater": "logical_greater_than", "Less": "logical_less_than",
    "GreaterOrEqual": "logical_greater_than_or_equal", "LessOrEqual": "logical_less_than_or_equal",
}  # fmt: skip
# For any number of inputs, one after the other.
VARIADIC = {"Max": "max", "Min": "min"}
INFINITIES = {
    (1, 1): DML_IS_INFINITY_MODE_EITHER,
    (1, 0): DML_IS_INFINITY_MODE_NEGATIVE,
    (0, 1): DML_IS_INFINITY_MODE_POSITIVE,
}


def common_shape(*values: OnnxValue) -> Sizes:
    """The sizes to which tensors broadcast. Raises ``Refusal`` if they do not."""
    if len({value.shape for value in values}) == 1:
        return values[0].shape
    try:
        return np.broadcast_shapes(*(value.shape for value in values))
    except ValueError:
        sizes = ", ".join(str(list(value.shape)) for value in values)
        raise Refusal(f"sizes {sizes} do not broadcast to each other") from None


def spread_all(node: OnnxNode) -> list[Expression]:
    """All inputs, broadcast to their common sizes."""
    shape = common_shape(*(node.input(index) for index in range(len(node.inputs))))
    return [node.broadcast(index, shape) for index in range(len(node.inputs))]


def unary(function: str) -> Translator:
    return lambda node: getattr(node.graph, function)(node.tensor())


def binary(function: str) -> Translator:
    return lambda node: getattr(node.graph, function)(*spread_all(node))


def comparison(function: str) -> Translator:
    return lambda node: getattr(node.graph, function)(*spread_all(node), output_data_type=np.uint8)


def variadic(function: str) -> Translator:
    def translate(node: OnnxNode) -> Results:
        call: Callable[..., Expression] = getattr(node.graph, function)
        values = spread_all(node)
        return reduce(call, values[1:], values[0]) if len(values) > 1 else node.input()

    return translate


def like_input(node: OnnxNode) -> Rows:
    """One output of the type and the sizes of the first input."""
    return [(node.input().dtype, node.shape())]


@outputs("GreaterOrEqual", "LessOrEqual")
def compared(node: OnnxNode) -> Rows:
    """Operator sets before 16 infer nothing."""
    return [(np.dtype(np.bool_), common_shape(node.input(0), node.input(1)))]


rows(UNARY, unary)
rows(BINARY, binary)
rows(COMPARISON, comparison)
rows(VARIADIC, variadic)


@operator("Add")
def add(node: OnnxNode) -> Results:
    activation, node.activation = node.activation, None
    a, b = spread_all(node)
    if activation is not None:
        return node.graph.element_wise_add1(a, b, fused_activation=activation)
    return node.graph.add(a, b)


@operator("Sum")
def total(node: OnnxNode) -> Results:
    return add(node) if len(node.inputs) == 2 else variadic("add")(node)


@operator("Mean")
def mean(node: OnnxNode) -> Results:
    values = spread_all(node)
    if len(values) == 2:
        return node.graph.element_wise_mean(*values)
    total = reduce(node.graph.add, values[1:], values[0])
    return node.graph.identity(total, scale_bias=(1 / len(values), 0.0))


@operator("Abs")
def absolute(node: OnnxNode) -> Results:
    """ABS has signed types."""
    return node.input() if node.input().dtype.kind == "u" else node.graph.abs(node.tensor())


@operator("Neg")
def negate(node: OnnxNode) -> Results:
    if node.level < LEVEL_5_0 and node.input().dtype.kind == "f":
        return node.graph.identity(node.tensor(), scale_bias=(-1.0, 0.0))
    return node.graph.element_wise_negate(node.tensor())


@operator("Mod")
def modulus(node: OnnxNode) -> Results:
    """With ``fmod`` the result has the sign of the dividend, otherwise that of the divisor."""
    if node.get("fmod", 0):
        return node.graph.modulus_truncate(*spread_all(node))
    return node.graph.modulus_floor(*spread_all(node))


@operator("Pow")
def power(node: OnnxNode) -> Results:
    base, exponent = node.input(0), node.input(1)
    shape = common_shape(base, exponent)
    number = None if exponent.array is None or exponent.size != 1 else exponent.array.reshape(-1)[0]
    if number is not None and base.dtype.kind == "f":
        return node.graph.constant_pow(node.broadcast(0, shape), exponent=float(number))
    left, right = node.broadcast(0, shape), node.broadcast(1, shape)
    if base.dtype == exponent.dtype:
        return node.graph.pow(left, right)
    if base.dtype.kind == "f":
        return node.graph.pow(left, node.cast(right, base.dtype))
    both = node.graph.pow(node.cast(left, np.float32), node.cast(right, np.float32))
    return node.cast(both, base.dtype)


@operator("BitShift")
def shift(node: OnnxNode) -> Results:
    """From operator set 28 on, numbers may be signed, and counts larger than DirectML's, which are modulo 32 or 64."""
    functions = {"LEFT": node.graph.bit_shift_left, "RIGHT": node.graph.bit_shift_right}
    call: Callable[..., Expression] = node.choice("direction", "", functions)
    x, count = spread_all(node)
    dtype = node.input().dtype
    if node.version < 28:
        return call(x, count)
    bits, unsigned = dtype.itemsize * 8, np.dtype(f"u{dtype.name.lstrip('u')}")
    # A count below 0 is a large one as an unsigned number.
    count = node.cast(count, unsigned)
    most = node.graph.min(count, node.scalar(bits - 1, count))
    if dtype.kind == "i" and node.get("direction") == "RIGHT":
        # All bits of a negative number are turned around the shift, which fills in zeros.
        sign = node.cast(node.graph.clip(x, min=-1, max=0), unsigned)
        flipped = node.graph.bit_xor(node.cast(x, unsigned), sign)
        return node.cast(node.graph.bit_xor(call(flipped, most), sign), dtype)
    rest = node.graph.min(node.graph.subtract(count, most), node.scalar(1, count))
    return node.cast(call(call(node.cast(x, unsigned), most), rest), dtype)


@operator("Round")
def rounded(node: OnnxNode) -> Results:
    return node.graph.round(node.tensor(), rounding_mode=DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN)


@operator("IsNaN")
def is_nan(node: OnnxNode) -> Results:
    return node.graph.is_nan(node.tensor(), output_data_type=np.uint8)


@operator("IsInf")
def is_infinite(node: OnnxNode) -> Results:
    signs = node.get("detect_negative", 1), node.get("detect_positive", 1)
    if signs not in INFINITIES:
        zero = node.constant(np.zeros(1, np.uint8))
        return node.packed(node.spread(zero, (1,), node.tensor().desc.sizes))
    return node.graph.is_infinity(node.tensor(), infinity_mode=INFINITIES[signs], output_data_type=np.uint8)


@operator("Where")
def where(node: OnnxNode) -> Results:
    condition, a, b = spread_all(node)
    return node.graph.if_(condition, node.movable(a), node.movable(b))


@operator("Clip")
def clip(node: OnnxNode) -> Results:
    """Bounds are attributes before opset 11, and scalar inputs from then on; a maximum below the minimum wins."""
    low, high = (_bound(node, name, index) for index, name in ((1, "min"), (2, "max")))
    x, dtype = node.tensor(), node.input().dtype
    if isinstance(low, OnnxValue) or isinstance(high, OnnxValue):
        for bound, limit in ((low, node.graph.max), (high, node.graph.min)):
            if isinstance(bound, OnnxValue):
                x = limit(x, node.broadcast(bound, x.desc.sizes))
            elif bound is not None:
                x = limit(x, node.scalar(bound, x))
        return x
    if low is None and high is None:
        return node.input()
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    low, high = (limits.min if low is None else low), (limits.max if high is None else high)
    low = low if node.as_provider else min(low, high)
    if dtype.kind == "f":
        return node.graph.clip(x, min=float(low), max=float(high))
    return node.graph.clip1(x, min_max_data_type=data_type(dtype), min=int(low), max=int(high))


def _bound(node: OnnxNode, name: str, index: int) -> Any:
    """A number, None, or a value that is known only when the graph runs."""
    if name in node.attributes:
        return node.attributes[name]
    if not node.has(index):
        return None
    value = node.input(index)
    return value if value.array is None else value.array.reshape(-1)[0]
