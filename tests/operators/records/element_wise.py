"""ELEMENT_WISE_* and CAST.

Pages leave open what integers give for a divisor of 0 (all bits set, as in Direct3D), which bits of a shift's count
matter (five, and all of 64-bit types), and that minimum and maximum ignore NaN (as in Direct3D).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import directml_py as dml

from .activation import fused, scaled_and_biased, single
from .library import (
    ARCSINE,
    ARCTANGENT,
    HYPERBOLIC_SINE,
    LOGARITHM,
    OF_ANGLES,
    OF_ERF,
    OF_EXPONENTIALS,
    POWER,
    TANGENT,
    OfLargest,
    exponential,
)
from .magnitudes import powers
from .onnx_node import onnx
from .record import (
    ANY,
    COARSE_FUNCTION,
    DYADIC,
    FUNCTION,
    Attributes,
    Record,
    Reference,
    Values,
    floats,
    integers,
    of_kind,
    saturated,
)

SMALL = Values(-9, 9, special=True, limited=True)


def scaled(reference: Reference) -> Reference:
    """``reference`` of x * Scale + Bias where the desc has ScaleBias, of exponents too; integers are saturated."""

    def of_scaled(desc: Any, *inputs: Any) -> Any:
        if desc.ScaleBias is None or desc.InputTensor.dtype.itemsize == 8:
            return reference(desc, *inputs)
        made = []
        for x, slot in zip(inputs, desc.inputs):
            scale, bias = desc.ScaleBias.Scale, desc.ScaleBias.Bias
            if x.dtype.kind == "f":
                made.append(scaled_and_biased(x, scale, bias).astype(np.float64))
            else:
                made.append(saturated(slot.tensor.dtype)(x.astype(np.float64) * scale + bias))
        return reference(desc, *made)

    return of_scaled


def ufunc(function: Callable[..., Any]) -> Reference:
    """A function of arrays of either kind."""
    return lambda desc, *inputs: function(*inputs)


def predicate(function: Callable[..., Any]) -> Record:
    return Record(lambda desc, *inputs: function(*inputs).astype(bool).astype(object) * 1, ANY)


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def all_bits_by_zero(function: Callable[[int, int], int]) -> Callable[..., Any]:
    return integers(lambda a, b: function(a, b) if b else -1, 2)


def modulus(whole: Callable[..., Any]) -> Callable[..., Any]:
    """``a - b * whole(a / b)`` in FLOAT32."""

    def remainder(a: Any, b: Any) -> Any:
        a, b = a.astype(np.float32), b.astype(np.float32)
        return a - b * whole(a / b)

    return remainder


def is_whole(number: float) -> bool:
    """Large numbers are, and so is infinity."""
    return math.isinf(number) or number % 1 == 0


def power_of_floats(x: float, exponent: float) -> float:
    """2^(exponent * log2|x|), with the sign of a negative base; NaN for one with a fraction as exponent."""
    if x < 0 and not is_whole(exponent):
        return math.nan
    with np.errstate(all="ignore"):
        logarithm = float(exponent * np.log2(abs(x)))
    if math.isnan(logarithm):
        return math.nan
    if math.isinf(logarithm):
        result = math.inf if logarithm > 0 else 0.0
    else:
        # In the widest float type, so that exact powers are exact.
        result = float(np.longdouble(abs(x)) ** np.longdouble(exponent))
    # All large exponents are saturated to the same odd INT32.
    is_odd = exponent >= 2**31 or (abs(exponent) < 2**31 and int(exponent) % 2 == 1)
    return -result if x < 0 and is_odd else result


def power(desc: Any, x: Any, exponent: Any) -> Any:
    """Exact if all are integers; an integer to the power of a float is rounded to FLOAT32, and then toward zero and
    saturated."""
    if x.dtype.kind == "f":
        return floats(power_of_floats, 2)(x, exponent)
    if exponent.dtype.kind == "f":
        powers = np.frompyfunc(integer_to_float_power, 2, 1)(single(x), exponent).astype(np.float64)
        return saturated(desc.OutputTensor.dtype)(single(powers).astype(np.float64))
    bits = 8 * desc.OutputTensor.dtype.itemsize

    def one(base: int, count: int) -> int:
        if count >= 0:
            return pow(base, count, 1 << bits)
        return truncated(1, base ** (-count % 2 or 2)) if base else -1

    return integers(one, 2)(x, exponent)


def integer_to_float_power(base: float, exponent: float) -> float:
    if 0 < exponent <= 64 and is_whole(exponent):
        return float(int(base) ** int(exponent))
    return power_of_floats(base, exponent)


def constant_power(desc: Any, x: Any) -> Any:
    return power(desc, x, np.full(x.shape, desc.Exponent))


def limit(desc: Any, name: str, x: Any) -> Any:
    """Min or Max in the type of ``x``."""
    value = getattr(desc, name)
    value = getattr(value, "value", value)
    return int(value) if x.dtype == object else float(desc.inputs[0].tensor.dtype.type(value))


def clip(desc: Any, x: Any) -> Any:
    """``max(Min, min(x, Max))``."""
    low, high = limit(desc, "Min", x), limit(desc, "Max", x)
    if x.dtype == object:
        return np.maximum(low, np.minimum(x, high))
    return np.fmax(low, np.fmin(x, high))


def clip_gradient(desc: Any, x: Any, gradient: Any) -> Any:
    outside = (x <= limit(desc, "Min", x)) | (x >= limit(desc, "Max", x))
    return np.where(outside.astype(bool), gradient * 0 if gradient.dtype == object else 0.0, gradient)


def threshold(desc: Any, x: Any) -> Any:
    return np.maximum(x, limit(desc, "Min", x)) if x.dtype == object else np.fmax(x, desc.Min)


def bits(function: Callable[..., int]) -> Record:
    """A function of elements' bit patterns as unsigned integers, and of their width in bits."""

    def reference(desc: Any, *inputs: Any) -> Any:
        dtype = desc.inputs[0].tensor.dtype
        width = 8 * dtype.itemsize
        encodings = [array.astype(dtype).view(f"u{dtype.itemsize}").astype(object) for array in inputs]
        return integers(lambda *numbers: function(width, *numbers), len(inputs))(*encodings)

    return Record(reference)


def cast(desc: Any, x: Any) -> Any:
    to = desc.OutputTensor.dtype
    if to.kind != "f":
        return x if x.dtype == object else saturated(to)(x)
    return x if x.dtype.kind == "f" else integers_to_floats(x, to)


def integers_to_floats(x: Any, to: np.dtype[Any]) -> Any:
    """In FLOAT64 with a sticky last bit (round to odd), so that rounding once more is correct."""

    def one(number: int) -> float:
        cut = max(0, abs(number).bit_length() - 53)
        kept = abs(number) >> cut
        sticky = kept << cut != abs(number)
        return math.copysign(math.ldexp(kept | sticky, cut), number)

    return floats(float)(x) if to == np.float64 else np.frompyfunc(one, 1, 1)(x).astype(np.float64)


def arcsinh(desc: Any, x: Any) -> Any:
    """The sum in FLOAT32, which cancels to 0 for large negative numbers."""
    x = x.astype(np.float32)
    return np.log((x + np.sqrt(x * x + np.float32(1))).astype(np.float64))


def round_to(desc: Any, x: Any) -> Any:
    if desc.RoundingMode == dml.DML_ROUNDING_MODE_TOWARD_ZERO:
        return np.trunc(x)
    if desc.RoundingMode == dml.DML_ROUNDING_MODE_TOWARD_INFINITY:
        return np.sign(x) * np.floor(np.abs(x.astype(np.float32)) + np.float32(0.5))
    return onnx("Round")(desc, x)


def is_infinity(desc: Any, x: Any) -> Any:
    either = desc.InfinityMode == dml.DML_IS_INFINITY_MODE_EITHER
    positive = either or desc.InfinityMode == dml.DML_IS_INFINITY_MODE_POSITIVE
    negative = either or desc.InfinityMode == dml.DML_IS_INFINITY_MODE_NEGATIVE
    return (positive & (x == np.inf) | negative & (x == -np.inf)).astype(object) * 1


def quantize(desc: Any, x: Any, scale: Any, zero_point: Any) -> Any:
    """``clamp(round(x / scale) + zero_point)``, halves to even; the quotient is one of FLOAT32, NaN the least."""
    quotient = (x.astype(np.float32) / scale).astype(np.float32)
    limits = np.iinfo(desc.OutputTensor.dtype)
    zero_point = np.zeros(x.shape, object) if zero_point is None else zero_point

    def one(number: float, zero: int) -> int:
        if math.isinf(number) or math.isnan(number):
            return limits.max if number > 0 else limits.min
        return min(max(round(number) + zero, limits.min), limits.max)

    return integers(one, 2)(quotient.astype(object), zero_point)


def dequantize(desc: Any, x: Any, scale: Any, zero_point: Any) -> Any:
    return ((x if zero_point is None else x - zero_point) * scale).astype(np.float64)


def mean(desc: Any, a: Any, b: Any) -> Any:
    """The sum of floats is FLOAT32; that of integers wraps, and its half is rounded toward zero."""
    if a.dtype.kind == "f":
        return (single(a) + single(b)) / 2
    dtype = desc.OutputTensor.dtype
    total = ((a + b) & ((1 << 8 * dtype.itemsize) - 1)).astype(f"u{dtype.itemsize}").view(dtype)
    return integers(lambda one: truncated(one, 2))(total.astype(object))


def add1(desc: Any, a: Any, b: Any) -> Any:
    return fused(desc, a + b)


def shifted_left(width: int, a: int, count: int) -> int:
    """64 bits are two words: the upper one is the lower one, shifted by the count less 32, modulo 32."""
    if width == 64 and count >= 32:
        return (a << count % 32 & 0xFFFFFFFF) << 32
    return a << count % 32 & (1 << width) - 1


def shifted_right(width: int, a: int, count: int) -> int:
    return a >> 32 >> count % 32 if width == 64 and count >= 32 else a >> count % 32


SINGLE = Values(-1.2, 1.2, special=True)
POSITIVE = Values(0.05, 4)
EXPONENTS = Values(-5, 5, special=True, limited=True)

LIMITS: Sequence[Attributes] = [{"Min": -1.5, "Max": 2.7}, {"Min": 3, "Max": -3}]
CLIP = Record(clip, SMALL, either_zero=True, attributes=LIMITS)

# Those with ScaleBias.
SCALED: dict[str, Record] = {
    "ABS": Record(ufunc(abs), ANY),
    "ACOS": Record(ufunc(np.arccos), SINGLE, ulps=FUNCTION, library=ARCSINE),
    "ACOSH": Record(ufunc(np.arccosh), Values(0.5, 9, special=True), ulps=FUNCTION, library=LOGARITHM),
    "ASIN": Record(ufunc(np.arcsin), SINGLE, ulps=FUNCTION, library=ARCSINE),
    "ASINH": Record(arcsinh, ANY, ulps=FUNCTION, library=OF_EXPONENTIALS),
    "ATAN": Record(ufunc(np.arctan), ANY, ulps=FUNCTION, library=ARCTANGENT),
    "ATANH": Record(ufunc(np.arctanh), SINGLE, ulps=FUNCTION, library=OF_EXPONENTIALS),
    "CEIL": Record(onnx("Ceil"), ANY),
    "CLIP": CLIP,
    "CLIP1": CLIP,
    "CONSTANT_POW": Record(
        constant_power,
        SMALL,
        ulps=COARSE_FUNCTION,
        attributes=[{"Exponent": one} for one in (0, 0.5, 1, 2, 3, 0.3, -1, -2.5, 10, 1e-6, 3e6)],
    ),
    "COS": Record(ufunc(np.cos), ANY, ulps=FUNCTION, library=OF_ANGLES),
    "COSH": Record(ufunc(np.cosh), ANY, ulps=FUNCTION, library=exponential(3, 2)),
    "ERF": Record(ufunc(floats(math.erf)), ANY, ulps=COARSE_FUNCTION, library=OF_ERF),
    "EXP": Record(onnx("Exp"), Values(-20, 20, special=True), ulps=FUNCTION, library=exponential(3, 2)),
    "FLOOR": Record(onnx("Floor"), ANY),
    "IDENTITY": Record(ufunc(lambda x: x), ANY),
    "LOG": Record(onnx("Log"), Values(-0.5, 9, special=True), ulps=FUNCTION, library=LOGARITHM),
    "POW": Record(
        power,
        {"InputTensor": SMALL, "ExponentTensor": EXPONENTS},
        ulps=COARSE_FUNCTION,
        library=POWER,
        magnitudes=powers,
    ),
    "RECIP": Record(onnx("Reciprocal"), ANY),
    "SIN": Record(onnx("Sin"), ANY, ulps=FUNCTION, library=OF_ANGLES),
    "SINH": Record(ufunc(np.sinh), ANY, ulps=FUNCTION, library=HYPERBOLIC_SINE),
    "SQRT": Record(onnx("Sqrt"), Values(-0.5, 9, special=True)),
    "TAN": Record(ufunc(np.tan), ANY, ulps=COARSE_FUNCTION, library=TANGENT),
    "TANH": Record(onnx("Tanh"), ANY, ulps=FUNCTION, library=OF_EXPONENTIALS),
    "THRESHOLD": Record(threshold, SMALL, either_zero=True, attributes=[{"Min": 0.7}, {"Min": -0.1}]),
}
PLAIN: dict[str, Record] = {
    "ADD": Record(ufunc(np.add), ANY),
    "ATAN_YX": Record(ufunc(np.arctan2), ANY, ulps=FUNCTION, library=ARCTANGENT),
    "CLIP_GRAD": Record(clip_gradient, ANY, attributes=LIMITS),
    "CLIP_GRAD1": Record(clip_gradient, ANY, attributes=LIMITS),
    "DIFFERENCE_SQUARE": Record(
        of_kind(lambda a, b: (single(a) - single(b)) ** 2, lambda a, b: (a - b) * (a - b)), ANY
    ),
    "DIVIDE": Record(of_kind(np.divide, all_bits_by_zero(truncated)), ANY),
    "IF": Record(lambda desc, condition, a, b: np.where((condition != 0).astype(bool), a, b), ANY),
    "IS_INFINITY": Record(is_infinity, ANY),
    "MAX": Record(of_kind(np.fmax, np.maximum), ANY, either_zero=True),
    "MEAN": Record(mean, ANY),
    "MIN": Record(of_kind(np.fmin, np.minimum), ANY, either_zero=True),
    "MODULUS_FLOOR": Record(of_kind(modulus(np.floor), all_bits_by_zero(lambda a, b: a % b)), ANY),
    "MODULUS_TRUNCATE": Record(
        of_kind(modulus(np.trunc), all_bits_by_zero(lambda a, b: a - b * truncated(a, b))), ANY
    ),
    "MULTIPLY": Record(ufunc(np.multiply), ANY),
    "NEGATE": Record(ufunc(np.negative), ANY),
    "ROUND": Record(round_to, ANY, attributes=[{"RoundingMode": mode} for mode in dml.DML_ROUNDING_MODE]),
    "SIGN": Record(of_kind(lambda x: (x > 0) * 1.0 - (x < 0), integers(lambda x: (x > 0) - (x < 0))), ANY),
    "SUBTRACT": Record(ufunc(np.subtract), ANY),
}
PREDICATES: dict[str, Callable[..., Any]] = {
    "IS_NAN": lambda x: x != x,
    "LOGICAL_AND": integers(lambda a, b: a and b, 2),
    "LOGICAL_EQUALS": lambda a, b: a == b,
    "LOGICAL_GREATER_THAN": lambda a, b: a > b,
    "LOGICAL_GREATER_THAN_OR_EQUAL": lambda a, b: a >= b,
    "LOGICAL_LESS_THAN": lambda a, b: a < b,
    "LOGICAL_LESS_THAN_OR_EQUAL": lambda a, b: a <= b,
    "LOGICAL_NOT": lambda x: x == 0,
    "LOGICAL_OR": integers(lambda a, b: a or b, 2),
    "LOGICAL_XOR": lambda a, b: (a != 0) != (b != 0),
}
BITS: dict[str, Callable[..., int]] = {
    "BIT_AND": lambda width, a, b: a & b,
    "BIT_COUNT": lambda width, a: bin(a).count("1"),
    "BIT_NOT": lambda width, a: a ^ ((1 << width) - 1),
    "BIT_OR": lambda width, a, b: a | b,
    "BIT_SHIFT_LEFT": shifted_left,
    "BIT_SHIFT_RIGHT": shifted_right,
    "BIT_XOR": lambda width, a, b: a ^ b,
}
RECORDS: dict[str, Record] = {
    **{
        f"ELEMENT_WISE_{name}": record._replace(reference=scaled(record.reference))
        for name, record in SCALED.items()
    },
    **{f"ELEMENT_WISE_{name}": record for name, record in PLAIN.items()},
    **{f"ELEMENT_WISE_{name}": predicate(one) for name, one in PREDICATES.items()},
    **{f"ELEMENT_WISE_{name}": bits(one) for name, one in BITS.items()},
    # The fused activation could amplify an error of the sum, which must therefore be exact.
    "ELEMENT_WISE_ADD1": Record(
        add1,
        lambda desc: ANY if desc.FusedActivation is None else DYADIC,
        either_zero=True,
        library=OfLargest(1),
    ),
    "ELEMENT_WISE_QUANTIZE_LINEAR": Record(
        quantize, {"InputTensor": Values(-300, 300, special=True), "ScaleTensor": POSITIVE}
    ),
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": Record(dequantize),
    "CAST": Record(cast, Values(-300, 300, special=True)),
}
