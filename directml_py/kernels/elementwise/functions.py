"""Element-wise functions that NumPy lacks, or computes differently.

They take arrays of any shape, such as blocks of a tensor, and leave them unchanged. Arithmetic is in FLOAT32, each
operation rounded, as in Microsoft's library; a transcendental function is computed and returned in FLOAT64, to be
rounded once when it is stored. Integer functions never warn; for
floats the caller decides (``numpy.errstate``).

Where DirectML's pages are silent, results are those of the Direct3D 11.3 functional specification.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..native_arrays import Array
from .trace import Symbol, primitive

Function = Callable[..., Any]

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
# The largest difference of two bytes.
BYTE = 255


def plain(values: Any) -> Array:
    """An array of NumPy's results, which may be scalars; a symbol of a trace stays what it is."""
    return values if isinstance(values, Symbol) else np.asarray(values)  # type: ignore[return-value]


def in_float64(function: Function) -> Function:
    """``function`` of floats in FLOAT64; NumPy's FLOAT32 loops are off by up to 4 ULP."""

    def widened(*arrays: Array) -> Array:
        return plain(function(*(array.astype(FLOAT64, copy=False) for array in arrays)))

    return widened


# Coefficients of powers of (x/5)^2 * 2 - 1 whose sum is erf(x) / x for |x| <= 5: Chebyshev interpolation with an error
# of at most 4e-12.
ERF = (
    *(0.282842550321131, -0.14141917262155707, 0.10605123821652769, -0.08832127839317569),
    *(0.07711003496977081, -0.06897125829735644, 0.062332006960801066, -0.05628858606322003),
    *(0.05028949196136927, -0.044039263106824274, 0.03748270491344337, -0.030892971556143605),
    *(0.024663282450915997, -0.018715888946888574, 0.013159278550086128, -0.009312096335004596),
    *(0.007199153913290821, -0.00440194000132192, 0.001341080962167743, -0.0009919463503683598),
    *(0.0018204258789822968, -0.0008523001765801231, -0.00031426713676996446, 0.000108083039242225),
    *(0.0002126015845484101, -9.096473817493317e-05),
)


@primitive("erf")
def erf(x: Array) -> Array:
    """The error function, with an error of at most 6e-12; from 5 on it is 1 to that precision."""
    inside = np.clip(x.astype(FLOAT64, copy=False), -5.0, 5.0)
    argument = np.square(inside)
    argument *= 2 / 25
    argument -= 1
    total: Array = np.full_like(argument, ERF[-1])
    for coefficient in ERF[-2::-1]:
        total *= argument
        total += coefficient
    total *= inside
    return total


def saturated(x: Array, dtype: np.dtype[Any]) -> Array:
    """Floats converted to integers: rounded toward zero, clamped if out of range, 0 for NaN."""
    if isinstance(x, Symbol):
        return plain(x.saturated(dtype))
    limits = np.iinfo(dtype)
    whole = np.trunc(x)
    # Powers of two, which every float type has; the largest integer itself may round to the one above it.
    low, end = float(limits.min), 2.0 ** (limits.max.bit_length())
    below, above = whole < low, whole >= end
    outside = below | above | np.isnan(whole)
    if not outside.any():
        return whole.astype(dtype)
    integers = np.where(outside, 0, whole).astype(dtype)
    integers[below] = limits.min
    integers[above] = limits.max
    return integers


def identity(x: Array) -> Array:
    return x


def cast(x: Array, dtype: np.dtype[Any]) -> Array:
    """``x`` in another type: floats rounded to the nearest (ties to even) or ``saturated``, integers wrapped."""
    if x.dtype.kind == "f" and dtype.kind in "iu":
        return saturated(x, dtype)
    return x.astype(dtype)


def scale_bias(x: Array, scale: float, bias: float | Array) -> Array:
    """``x * scale + bias`` of floats in FLOAT32; of integers, of up to 32 bits, in FLOAT64 and ``saturated``.

    No result recorded from Microsoft's library tells how integers are computed, so that none is rounded to FLOAT32.
    """
    if x.dtype.kind == "f":
        return plain(x.astype(FLOAT32, copy=False) * scale + bias)
    return saturated(x.astype(FLOAT64) * scale + bias, x.dtype)


def round_half_away(x: Array) -> Array:
    """Floats rounded to the nearest integer, halves away from zero: ``sign(x) * floor(|x| + 0.5)`` in their own type.

    The sum is rounded too, as in Microsoft's library: 0.49999997 gives 1, and 8388609 gives 8388610.
    """
    whole = np.floor(np.abs(x) + x.dtype.type(0.5))
    return plain(np.where(x < 0, -whole, whole))


def arcsinh(x: Array) -> Array:
    """``log(x + sqrt(x^2 + 1))``, the sum in FLOAT32, as in Microsoft's library: -1e5 gives -inf, and 1e20 inf."""
    x = x.astype(FLOAT32, copy=False)
    return plain(np.log((x + np.sqrt(x * x + FLOAT32.type(1))).astype(FLOAT64, copy=False)))


def sign(x: Array) -> Array:
    """-1, 0 or 1; 0 for NaN and for both zeros."""
    return np.subtract(x > 0, x < 0, dtype=x.dtype)


def mean(a: Array, b: Array) -> Array:
    """``(a + b) / 2``; the sum of integers wraps and is halved toward zero, that of floats may overflow."""
    if a.dtype.kind == "f":
        return plain((a + b) / a.dtype.type(2))
    return divide(a + b, a.dtype.type(2))


def difference_square(a: Array, b: Array) -> Array:
    return plain(np.square(a - b))


def _by(a: Array, b: Array, function: Function, minus_one: Array) -> Array:
    """An integer ``function`` where it has a result; all bits set where ``b`` is 0, ``minus_one`` where ``b`` is -1.

    The quotient of the smallest integer and -1 is out of range, and may trap.
    """
    special = (b == 0) | (b == -1) if b.dtype.kind == "i" else b == 0
    if not special.any():
        return np.asarray(function(a, b))
    results: Array = function(a, np.where(special, b.dtype.type(1), b))
    if b.dtype.kind == "i":
        results = np.where(b == -1, minus_one, results)
    return np.asarray(np.where(b == 0, np.invert(b.dtype.type(0)), results))


def _truncated_quotient(a: Array, b: Array) -> Array:
    quotient: Array = a // b
    if a.dtype.kind == "i":
        quotient += ((a < 0) != (b < 0)) & (quotient * b != a)
    return quotient


def divide(a: Array, b: Array) -> Array:
    """``a / b``; integers round toward zero, and give all bits set where ``b`` is 0 (the specification's ``udiv``)."""
    if a.dtype.kind == "f":
        return plain(a / b)
    return _by(a, b, _truncated_quotient, np.negative(a))


def modulus_truncate(a: Array, b: Array) -> Array:
    """The remainder with the sign of ``a``: ``a - b * trunc(a / b)``, for floats with each step rounded.

    As in Microsoft's library, not as in C's ``fmod``: NaN where ``b`` is 0 or either is infinite, and 1e8 by 3 leaves
    0. Integers give all bits set where ``b`` is 0.
    """
    if a.dtype.kind == "f":
        return plain(a - b * np.trunc(a / b))
    return _by(a, b, np.fmod, np.zeros_like(a))


def modulus_floor(a: Array, b: Array) -> Array:
    """The remainder with the sign of ``b``: ``a - b * floor(a / b)``, for floats with each step rounded.

    NaN where ``b`` is 0 or either is infinite. Integers give all bits set where ``b`` is 0.
    """
    if a.dtype.kind == "f":
        return plain(a - b * np.floor(a / b))
    return _by(a, b, np.remainder, np.zeros_like(a))


def power(x: Array, exponent: Array) -> Array:
    """``x`` to the power of ``exponent``.

    For integer operands of up to 32 bits, exact and wrapped; for an integer ``x`` with float exponents, FLOAT32 results
    are ``saturated``.
    """
    if x.dtype.kind in "iu" and exponent.dtype.kind in "iu":
        return _integer_power(x, exponent)
    if x.dtype.kind == "f":
        return plain(_float_power(x, exponent))
    # In FLOAT64 the root of 9 would come out as 2.9999999999999996, and be cut to 2.
    results: Array = _float_power(x.astype(FLOAT32), exponent)
    return saturated(results.astype(FLOAT32), x.dtype)


@primitive("power")
def _float_power(x: Array, exponent: Array) -> Array:
    """``2^(exponent * log2|x|)`` in FLOAT64, negative for a negative ``x`` with an odd exponent.

    Microsoft's library has no special cases, unlike C's ``pow``: 0^0, inf^0, 1^inf and 1^NaN are NaN, (-0)^-1 is inf.
    Negative bases have no powers with fractional exponents (ns-directml-dml_element_wise_pow_operator_desc). The
    library considers an exponent odd if it is odd as an INT32, to which all large ones saturate: (-1)^1e10 is -1.
    """
    base, power = x.astype(FLOAT64, copy=False), exponent.astype(FLOAT64, copy=False)
    results = np.exp2(power * np.log2(np.abs(base)))
    is_negative = base < 0
    if is_negative.any():
        odd = (saturated(power, np.dtype(np.int32)) & 1).astype(bool)
        signed = np.where(odd, -results, results)
        signed = np.where(np.trunc(power) == power, signed, np.nan)
        results = np.where(is_negative, signed, results)
    return np.asarray(results)


def _integer_power(x: Array, exponent: Array) -> Array:
    """The inverse of 0 has all bits set, like a quotient by 0; the inverse of anything else but 1 and -1 is 0."""
    base, count = x.astype(np.int64), exponent.astype(np.int64)
    negative = count < 0
    results: Array = np.power(base.astype(np.uint64), np.where(negative, 0, count).astype(np.uint64))
    if negative.any():
        inverse = np.where(base == -1, 1 - 2 * (count & 1), base == 1)
        inverse = np.where(base == 0, -1, inverse)
        results = np.where(negative, inverse.astype(np.uint64), results)
    return results.astype(x.dtype)


def bits_of(x: Array) -> Array:
    """The elements as unsigned integers of the same width."""
    return x.view(f"u{x.dtype.itemsize}")


def shift_left(x: Array, count: Array) -> Array:
    """Unsigned integers shifted to the left.

    By ``count`` modulo 32, like the specification's 32-bit ``ishl``, with which Microsoft's library also computes 8 and
    16 bits. It treats 64 bits as two words: for counts from 32 on, the upper word is the lower one shifted by ``count``
    modulo 32.
    """
    kind = x.dtype.type
    if x.dtype.itemsize < 8:
        return plain(_words(x) << (_words(count) & np.uint32(31))).astype(x.dtype)
    far = ((x & kind(0xFFFFFFFF)) << (count & kind(31)) & kind(0xFFFFFFFF)) << kind(32)
    return plain(np.where(count < 32, x << (count & kind(31)), far))


def shift_right(x: Array, count: Array) -> Array:
    """Unsigned integers shifted to the right, filled with zeros; counts as in ``shift_left``."""
    kind = x.dtype.type
    if x.dtype.itemsize < 8:
        return plain(_words(x) >> (_words(count) & np.uint32(31))).astype(x.dtype)
    return plain(np.where(count < 32, x >> (count & kind(31)), (x >> kind(32)) >> (count & kind(31))))


def _words(x: Array) -> Array:
    return x.astype(np.uint32, copy=False)


def bit_count(x: Array) -> Array:
    """The population count of each unsigned integer, in its own type."""
    kind, bits = x.dtype.type, 8 * x.dtype.itemsize
    # Every other bit, every other pair, every other half of a byte; the lowest bit of every byte.
    ones, pairs, halves, bytes_ = (kind((2**bits - 1) // divisor) for divisor in (3, 5, 17, 255))
    x = x - ((x >> kind(1)) & ones)
    x = (x & pairs) + ((x >> kind(2)) & pairs)
    x = (x + (x >> kind(4))) & halves
    return plain((x * bytes_) >> kind(bits - 8))


def is_plain_scale(scale: Array, zero_point: Array | None) -> bool:
    """Whether these parameters quantize in one step: a FLOAT32 scale, and integer zero points, if any."""
    zero_points = [] if zero_point is None else [zero_point]
    is_symbolic = all(isinstance(parameter, Symbol) for parameter in (scale, *zero_points))
    return is_symbolic and scale.dtype == FLOAT32 and all(zero.dtype.kind in "iu" for zero in zero_points)


def quantize(x: Array, scale: Array, zero_point: Array | None, dtype: np.dtype[Any]) -> Array:
    """``round(x / scale) + zero_point`` clamped to the range of ``dtype``, in FLOAT32, ties to even, also for a sum
    with a fractional zero point.

    NaN becomes the lowest value: the specification's ``max(NaN, y)`` is ``y``.
    """
    limits = np.iinfo(dtype)
    is_short = dtype.itemsize < 4 and x.dtype == FLOAT32
    if isinstance(x, Symbol) and is_short and is_plain_scale(scale, zero_point):
        return plain(x.scaled_by(f"quantize_{dtype.name}", scale, zero_point, dtype))
    values: Array = np.rint(x.astype(FLOAT32, copy=False) / scale)
    if zero_point is not None:
        values = np.add(values, zero_point, dtype=FLOAT32)
        if zero_point.dtype.kind == "f":
            values = np.rint(values)
    return saturated(fmax(values, limits.min), dtype)


def centred(x: Array, zero_point: Array | None) -> Array:
    """Integers minus a zero point of their type, in twice as many bits, so that the difference does not wrap."""
    wider = np.dtype(f"i{2 * x.dtype.itemsize}")
    return x.astype(wider) if zero_point is None else np.subtract(x, zero_point, dtype=wider)


def dequantize(x: Array, scale: Array, zero_point: Array | None) -> Array:
    """``(x - zero_point) * scale``; the difference of integers does not wrap.

    Products of a byte and a FLOAT16 scale are exact in FLOAT32; products of wider integers would be rounded twice.
    """
    if isinstance(x, Symbol) and x.dtype.itemsize == 1 and is_plain_scale(scale, zero_point):
        return plain(x.scaled_by("dequantize_int32", scale, zero_point, FLOAT32))
    values: Array = x.astype(FLOAT32 if x.dtype.itemsize == 1 else FLOAT64)
    if zero_point is not None:
        # A float zero point leaves a fraction to round, and the product is rounded anyway.
        values = values - (zero_point if zero_point.dtype.kind in "iu" else zero_point.astype(FLOAT64))
    return plain(values * scale)


def fmin(x: Any, y: Any) -> Any:
    if isinstance(x, Symbol) or isinstance(y, Symbol):
        return _instruction(np.fmin, "signed_fmin", x, y, comes_first=np.signbit)
    if np.result_type(x, y).kind != "f":
        return np.fmin(x, y)
    with np.errstate(all="ignore"):
        return np.where((x == 0) & (y == 0), -(-x - y), np.where((x <= y) | np.isnan(y), x, y))


def fmax(x: Any, y: Any) -> Any:
    if isinstance(x, Symbol) or isinstance(y, Symbol):
        return _instruction(np.fmax, "signed_fmax", x, y, comes_first=lambda number: not np.signbit(number))
    if np.result_type(x, y).kind != "f":
        return np.fmax(x, y)
    with np.errstate(all="ignore"):
        return np.where((x == 0) & (y == 0), x + y, np.where((x >= y) | np.isnan(y), x, y))


def _instruction(ufunc: np.ufunc, signed: str, x: Any, y: Any, comes_first: Callable[[Any], Any]) -> Any:
    """The step of a program. Steps named like NumPy's functions are cheaper and return the first of equal operands: a
    constant goes first if, being a zero, it is the result for a zero of the other sign."""
    if isinstance(x, Symbol) and isinstance(y, Symbol):
        dtype = np.result_type(x.dtype, y.dtype)
        return x.instruction(signed, dtype, (x, y)) if dtype.kind == "f" else ufunc(x, y)
    number, symbol = (y, x) if isinstance(x, Symbol) else (x, y)
    return ufunc(number, symbol) if comes_first(number) else ufunc(symbol, number)


def quieted(x: Array) -> Array:
    """``x`` with all NaNs quiet, which ``numpy.fmin`` and ``numpy.fmax`` ignore."""
    return np.where(np.isnan(x), x.dtype.type(np.nan), x) if x.dtype.kind == "f" else x
