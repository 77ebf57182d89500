"""How far results may be from what Microsoft's library computed on its software device.

``OfElements`` bound the error of each element by what that device's functions are made of, so that they hold for cases
that nobody recorded: its arcsine and arctangent are short polynomials, its hyperbolic functions sums of exponentials.
Ours are precise. ``OfLargest`` are ULP of the largest element of the output (of its largest input where it cancels):
sums are added in another order, and the functions in them are of order 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# One ULP of FLOAT32, relative to a number.
ULP = 2.0**-23


class OfElements(NamedTuple):
    """The error of a FLOAT32 result, by its magnitude, and that in words. FLOAT16 results, which are rounded from
    FLOAT32 or computed otherwise, are within one ULP of FLOAT16."""

    error: Callable[[Array], Array]
    text: str


class OfLargest(NamedTuple):
    """``each_step`` of a sequence adds as much: it takes what the step before it was off by. ``numpy`` is for builds
    without native loops: NumPy's BLAS adds in an order of its own."""

    ulps: int
    each_step: bool = False
    numpy: int | None = None

    @property
    def text(self) -> str:
        return f"{self.ulps} ULP of the largest{', each step' * self.each_step}" if self.ulps else "0"


Bound = OfElements | OfLargest
SAME_BITS = OfLargest(0)


def exponential(ulps: float, of_exponent: float) -> OfElements:
    """Of e^t, whose relative error grows with that of t: 3 + 2 |t| ULP by the precision of GLSL's and WGSL's exp, which
    is e^t = 2^(t log2(e)) with a rounded product. ``|t|`` is taken from the result."""

    def error(y: Array) -> Array:
        with np.errstate(all="ignore"):
            exponent = np.where(y > 0, np.abs(np.log(y)), 0)
        return (ulps + of_exponent * exponent) * ULP * y

    return OfElements(error, f"({ulps:g} + {of_exponent:g} abs(ln y)) ULP")


def ulps(count: float) -> OfElements:
    return OfElements(lambda y: count * ULP * y, f"{count:g} ULP")


# WGSL's precision of log, in its two ranges: here the larger of the two.
LOGARITHM = OfElements(lambda y: np.maximum(2.0**-21, 3 * ULP * y), "2^-21 or 3 ULP")
# Abramowitz and Stegun, 4.4.45, of four coefficients: pi / 2 less 1.5707288 at 0. WGSL grants as much.
ARCSINE = OfElements(lambda y: 6.77e-5 + ULP * y, "6.77e-5")
# Abramowitz and Stegun, 4.4.49, of five coefficients: relative 1 - 0.9998660 near 0, 1.15e-5 at 1.
ARCTANGENT = OfElements(lambda y: np.minimum(1.2e-5, 1.35e-4 * y) + 2 * ULP * y, "1.2e-5, and 1.35e-4 y")
# sin(x) / cos(x) with an ULP of 1 in each, of an angle that is multiplied by a rounded 1 / (2 pi): half an ULP of it,
# of one up to 12. The tangent's slope is 1 + y^2.
TANGENT = OfElements(lambda y: 8 * ULP * (1 + y * y), "8 ULP of 1 + y^2")
# (e^x - e^-x) / 2: the error of the exponentials, whose sum is twice sqrt(1 + y^2).
HYPERBOLIC_SINE = OfElements(
    lambda y: (3 + 2 * np.arcsinh(y)) * ULP * np.sqrt(1 + y * y), "(3 + 2 abs(x)) ULP of cosh(x)"
)
# Of x^e = 2^(e log2(x)) the logarithm has 3 ULP of its own.
POWER = exponential(3, 5)
# The quotient and the sum of exponentials add to that of one.
SOFTMAX = exponential(8, 2)
# Of functions that are sums of exponentials, polynomials and 1, which nearly cancel near 0: the error of an exponential
# of t < 0 is at most 3 ULP of 1, as (3 - 2 t) e^t is, and rounding the sum adds one.
OF_EXPONENTIALS = OfLargest(4)
# Abramowitz and Stegun, 7.1.26: 5e-7 with what FLOAT32 adds to its 1.5e-7.
OF_ERF = OfLargest(5)
# As in the tangent. Direct3D grants 0.0008.
OF_ANGLES = OfLargest(8)
