"""How far we may be from what Microsoft's library computed on its software device, by operator.

``FUNCTIONS`` bound the error of each element by what that device's functions are made of, so that they hold for cases
that nobody recorded: its arcsine and arctangent are short polynomials, its hyperbolic functions sums of exponentials.
Ours are precise. ``SUMS`` are ULP of the largest element of the output (of its largest input where it cancels): sums
are added in another order, and the functions in them are of order 1. Every operator without an entry gives the same
bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# By the name of the case: where that device, not the library, makes the difference, with the reason.
NO_PIPELINE = "the software device builds no pipeline for FLOAT32 gradients of ROI_ALIGN"
BY_ZERO = "its integer divisions by 0 do not give what the Direct3D specification says"
SATURATES = "its INT8 stores saturate"
SOFTWARE_DEVICE: dict[str, str] = {
    **dict.fromkeys(("ROI_ALIGN_GRAD-20260-0", "ROI_ALIGN_GRAD-20260-3"), NO_PIPELINE),
    **{f"ELEMENT_WISE_DIVIDE-20260-{case}": BY_ZERO for case in (0, 2, 4)},
    **{f"ELEMENT_WISE_MODULUS_TRUNCATE-20260-{case}": BY_ZERO for case in (3, 5)},
    "ELEMENT_WISE_NEGATE-20260-5": SATURATES,
}

# One ULP of FLOAT32, relative to a number.
ULP = 2.0**-23


class Function(NamedTuple):
    """The error of a FLOAT32 result, by its magnitude, and that in words. FLOAT16 results, which are rounded from
    FLOAT32 or computed otherwise, are within one ULP of FLOAT16."""

    error: Callable[[Array], Array]
    text: str


def exponential(ulps: float, of_exponent: float) -> Function:
    """Of e^t, whose relative error grows with that of t: 3 + 2 |t| ULP by the precision of GLSL's and WGSL's exp, which
    is e^t = 2^(t log2(e)) with a rounded product. ``|t|`` is taken from the result."""

    def error(y: Array) -> Array:
        with np.errstate(all="ignore"):
            exponent = np.where(y > 0, np.abs(np.log(y)), 0)
        return (ulps + of_exponent * exponent) * ULP * y

    return Function(error, f"({ulps:g} + {of_exponent:g} abs(ln y)) ULP")


def ulps(count: float) -> Function:
    return Function(lambda y: count * ULP * y, f"{count:g} ULP")


# WGSL's precision of log, in its two ranges: here the larger of the two.
LOGARITHM = Function(lambda y: np.maximum(2.0**-21, 3 * ULP * y), "2^-21 or 3 ULP")
# Abramowitz and Stegun, 4.4.45, of four coefficients: pi / 2 less 1.5707288 at 0. WGSL grants as much.
ARCSINE = Function(lambda y: 6.77e-5 + ULP * y, "6.77e-5")
# Abramowitz and Stegun, 4.4.49, of five coefficients: relative 1 - 0.9998660 near 0, 1.15e-5 at 1.
ARCTANGENT = Function(lambda y: np.minimum(1.2e-5, 1.35e-4 * y) + 2 * ULP * y, "1.2e-5, and 1.35e-4 y")
# sin(x) / cos(x) with an ULP of 1 in each, of an angle that is multiplied by a rounded 1 / (2 pi): half an ULP of it,
# of one up to 12. The tangent's slope is 1 + y^2.
TANGENT = Function(lambda y: 8 * ULP * (1 + y * y), "8 ULP of 1 + y^2")
# (e^x - e^-x) / 2: the error of the exponentials, whose sum is twice sqrt(1 + y^2).
HYPERBOLIC_SINE = Function(
    lambda y: (3 + 2 * np.arcsinh(y)) * ULP * np.sqrt(1 + y * y), "(3 + 2 abs(x)) ULP of cosh(x)"
)
# Of x^e = 2^(e log2(x)) the logarithm has 3 ULP of its own.
POWER = exponential(3, 5)

FUNCTIONS: dict[str, Function] = {
    # The quotient and the sum of exponentials add to that of one.
    "ACTIVATION_SOFTMAX": exponential(8, 2),
    "ACTIVATION_SOFTMAX1": exponential(8, 2),
    "ELEMENT_WISE_ACOS": ARCSINE,
    "ELEMENT_WISE_ACOSH": LOGARITHM,
    "ELEMENT_WISE_ASIN": ARCSINE,
    "ELEMENT_WISE_ATAN": ARCTANGENT,
    "ELEMENT_WISE_ATAN_YX": ARCTANGENT,
    "ELEMENT_WISE_COSH": exponential(3, 2),
    "ELEMENT_WISE_EXP": exponential(3, 2),
    "ELEMENT_WISE_LOG": LOGARITHM,
    "ELEMENT_WISE_POW": POWER,
    "ELEMENT_WISE_SINH": HYPERBOLIC_SINE,
    "ELEMENT_WISE_TAN": TANGENT,
    # A power of the sum of squares, of moderate exponents.
    "LOCAL_RESPONSE_NORMALIZATION": ulps(16),
    "LP_NORMALIZATION": ulps(2),
    "LP_POOLING": POWER,
    "LP_POOLING1": POWER,
}
# Of an exponential of t < 0 the error is at most 3 ULP of 1, as (3 - 2 t) e^t is, and rounding the sum adds one.
OF_EXPONENTIALS = 4
# Abramowitz and Stegun, 7.1.26: 5e-7 with what FLOAT32 adds to its 1.5e-7.
OF_ERF = 5
# Functions that are sums of exponentials, polynomials and 1, which nearly cancel near 0.
SUMS: dict[str, int] = {
    **dict.fromkeys(
        [
            f"ACTIVATION_{name}"
            for name in (
                *("CELU", "ELU", "LOG_SOFTMAX", "LOG_SOFTMAX1", "PARAMETRIC_SOFTPLUS", "SCALED_ELU"),
                *("SCALED_TANH", "SIGMOID", "SOFTPLUS", "SWISH", "TANH"),
            )
        ],
        OF_EXPONENTIALS,
    ),
    **dict.fromkeys([f"ELEMENT_WISE_{name}" for name in ("ASINH", "ATANH", "TANH")], OF_EXPONENTIALS),
    # As in the tangent. Direct3D grants 0.0008.
    **dict.fromkeys([f"ELEMENT_WISE_{name}" for name in ("COS", "SIN")], 8),
    **dict.fromkeys(("ACTIVATION_GELU", "ELEMENT_WISE_ERF"), OF_ERF),
    "ELEMENT_WISE_ADD1": 1,
    "ADAM_OPTIMIZER": 3,
    # FLOAT16 is rounded before a bias is added backwards, and before the activation.
    "CONVOLUTION": 1,
    "GEMM": 1,
    **dict.fromkeys(("ROI_ALIGN", "ROI_ALIGN1", "ROI_ALIGN_GRAD"), 1),
    "BATCH_NORMALIZATION": 1,
    "BATCH_NORMALIZATION_GRAD": 3,
    "BATCH_NORMALIZATION_TRAINING": 1,
    "BATCH_NORMALIZATION_TRAINING_GRAD": 2,
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": 2,
    # That device cuts some factors to FLOAT16 instead of rounding them; see test_products.py.
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": 1,
    "MEAN_VARIANCE_NORMALIZATION": 1,
    "MEAN_VARIANCE_NORMALIZATION1": 1,
    **dict.fromkeys(("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE_GRAD", "RESAMPLE_GRAD1"), 2),
}
# The same for each step of a sequence, which takes what the step before it was off by: as much as an exponential for
# each function of a step, and for GRU's mean of two states.
SUMS_OF_EACH_STEP: dict[str, int] = {
    "GRU": 4 * OF_EXPONENTIALS,
    "LSTM": 5 * OF_EXPONENTIALS,
    "RNN": OF_EXPONENTIALS,
}
# Where there are no native loops: NumPy's BLAS adds in an order of its own.
SUMS_OF_NUMPY: dict[str, int] = {"GEMM": 2}
