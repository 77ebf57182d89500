"""Numbers in higher precision than FLOAT32: rational ones exactly, others by C's functions of FLOAT64 (``math``).

Those are less than one unit in the last place off where the package's own come from NumPy's loops; in FLOAT32 that is
2 ** -29 units.
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
    """``number`` cut off after 52 bits or 53, the last bit set if that takes anything away.

    What is rounded once more, to FLOAT32 or FLOAT16, is as near as if it were rounded once.
    """
    numerator, denominator = abs(number.numerator), number.denominator
    exponent = numerator.bit_length() - denominator.bit_length() - 52
    kept, cut = divmod(numerator << max(0, -exponent), denominator << max(0, exponent))
    return math.copysign(math.ldexp(kept | (cut != 0), exponent), number.numerator)


def rational(function: Callable[..., Any]) -> OfNumbers:
    """``function``, of sums, products and comparisons, without errors; in floats where something is not finite."""

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
    """Direct3D's min: the other one if one is NaN."""
    return a if b != b or a < b else b


def greatest(a: Any, b: Any) -> Any:
    """Direct3D's max: the other one if one is NaN."""
    return a if b != b or a > b else b


def unbounded(function: OfNumbers) -> OfNumbers:
    """A function of one number that is odd, or positive, where it overflows: infinite there."""

    def call(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.copysign(math.inf, function(math.copysign(1, x)))

    return call


def of_elements(function: OfNumbers) -> OfArrays:
    """``function`` of the elements of arrays; NaN where C's ``math`` has no result."""

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
    """``function`` of the rows of a matrix, and of whether they are FLOAT16."""

    def call(x: Array, **attributes: object) -> Array:
        halves = x.dtype == np.float16
        return np.array([function(row, halves) for row in x.astype(np.float64).tolist()], np.float64)

    return call
