"""Higher-precision references for FLOAT32: exact rational arithmetic, or C's FLOAT64 functions (``math``).

The latter have errors of less than one FLOAT64 ULP, independently of NumPy's loops; in FLOAT32 that is 2 ** -29 ULP.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .magnitude_samples import Array

OfNumbers = Callable[..., float]
OfArrays = Callable[..., Array]


def to_odd(number: Fraction) -> float:
    """Round to odd: ``number`` truncated to 52 or 53 bits, with the last bit set if it is inexact.

    Rounding the result to FLOAT32 or FLOAT16 then avoids double rounding.
    """
    numerator, denominator = abs(number.numerator), number.denominator
    exponent = numerator.bit_length() - denominator.bit_length() - 52
    quotient, remainder = divmod(numerator << max(0, -exponent), denominator << max(0, exponent))
    return math.copysign(math.ldexp(quotient | (remainder != 0), exponent), number.numerator)


def rational(function: Callable[..., Any]) -> OfNumbers:
    """``function`` in exact rational arithmetic; in floats where an argument is not finite."""

    def call(*numbers: float, **attributes: float) -> float:
        if not all(map(math.isfinite, numbers)):
            return float(function(*numbers, **attributes))
        exact = {name: Fraction(value) for name, value in attributes.items()}
        return to_odd(Fraction(function(*map(Fraction, numbers), **exact)))

    return call


def quotient(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
    return to_odd(Fraction(a) / Fraction(b)) if math.isfinite(a) and math.isfinite(b) else a / b


def least(a: Any, b: Any) -> Any:
    """Direct3D's min: of a number and NaN, the number."""
    return a if b != b or a < b else b


def greatest(a: Any, b: Any) -> Any:
    """Direct3D's max: of a number and NaN, the number."""
    return a if b != b or a > b else b


def unbounded(function: OfNumbers) -> OfNumbers:
    """``function`` with infinity instead of OverflowError, for functions that overflow with an odd or positive sign."""

    def call(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.copysign(math.inf, function(math.copysign(1, x)))

    return call


def of_elements(function: OfNumbers) -> OfArrays:
    """``function`` applied element by element; NaN where ``math`` raises a domain error."""

    def call(*arrays: Array, **attributes: float) -> Array:
        def one(*numbers: float) -> float:
            try:
                return function(*numbers, **attributes)
            except (ValueError, ZeroDivisionError):
                return math.nan

        results = np.frompyfunc(one, len(arrays), 1)(
            *(array.astype(np.float64).astype(object) for array in arrays)
        )
        return np.asarray(results, np.float64)

    return call


def of_rows(function: Callable[[Sequence[float], bool], Sequence[float]]) -> OfArrays:
    """``function`` applied to each row of a matrix; its second argument is whether they are FLOAT16."""

    def call(x: Array, **attributes: object) -> Array:
        halves = x.dtype == np.float16
        return np.array([function(row, halves) for row in x.astype(np.float64).tolist()], np.float64)

    return call
