"""Reference functions for ELEMENT_WISE_* and ACTIVATION_*, after the formulas of their pages, with their samplers.

Where pages leave results for infinities and NaN open, they follow the decisions noted in ``directml_py.operators``.
Formulas of several operations are rounded to FLOAT32 (``narrow``) after each, as in Microsoft's library: results are
compared with theirs, however far cancellation takes these from the exact ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from directml_py.api.enums import (
    DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN,
    DML_ROUNDING_MODE_TOWARD_INFINITY,
    DML_ROUNDING_MODE_TOWARD_ZERO,
)

from .magnitude_samples import Sampler, pairs, powers, rows, single
from .precise import OfArrays, greatest, least, of_elements, of_rows, quotient, rational, unbounded

Attributes = Mapping[str, Any]
Entry = tuple[Callable[..., Any], Sequence[Attributes]]
NONE: Sequence[Attributes] = [{}]


def unamplified(*inputs: Any, **attributes: Any) -> float:
    return 0.0


class MeasuredFunction(NamedTuple):
    """``reference`` computes FLOAT64 from the arrays of ``sampler`` and each of the ``attributes``.

    ``factor`` is what a function's FLOAT32 result, maybe subnormal, is multiplied by: one unit in the last place of
    that may be many in the product.
    """

    reference: OfArrays
    attributes: Sequence[Attributes] = NONE
    sampler: Sampler = single
    factor: Callable[..., Any] = unamplified


exp, expm1, cosh, sinh = map(unbounded, (math.exp, math.expm1, math.cosh, math.sinh))


def log(x: float) -> float:
    return -math.inf if x == 0 else math.log(x)


def atanh(x: float) -> float:
    return math.copysign(math.inf, x) if abs(x) == 1 else math.atanh(x)


def narrow(x: float) -> float:
    """The nearest FLOAT32, also of the FLOAT64 sum, product or quotient of two FLOAT32."""
    with np.errstate(over="ignore"):
        return float(np.float32(x))


def asinh(x: float) -> float:
    return log(narrow(x + narrow(math.sqrt(narrow(narrow(x * x) + 1)))))


def remainder(whole: Callable[[float], int]) -> Callable[[float, float], float]:
    """``a - b * whole(a / b)``"""

    def of(a: float, b: float) -> float:
        ratio = narrow(quotient(a, b))
        return a - narrow(b * (float(whole(ratio)) if math.isfinite(ratio) else ratio))

    return of


def power(x: float, exponent: float) -> float:
    """2^(exponent * log2|x|), negated for a negative base with an odd exponent, which large ones count as; NaN for a
    negative base with a fractional exponent."""
    if x < 0 and math.isfinite(exponent) and exponent % 1:
        return math.nan
    logarithm = exponent * log(abs(x))
    if math.isnan(logarithm):
        return math.nan
    try:
        result = math.pow(abs(x), exponent)
    except (OverflowError, ValueError):
        result = math.inf
    is_odd = exponent >= 2**31 or (exponent > -(2**31) and exponent % 2 == 1)
    return -result if x < 0 and is_odd else result


def logistic(x: float) -> float:
    """``1 / (1 + exp(-x))``."""
    return exp(x) if x < -700 else 1 / (1 + exp(-x))


def softplus(x: float) -> float:
    """``log(1 + exp(x))``."""
    return max(x, 0.0) + math.log1p(exp(-abs(x)))


def celu(x: float, Alpha: float) -> float:
    return float(greatest(0, x) + least(0, narrow(Alpha * narrow(expm1(narrow(x / Alpha))))))


def elu(x: float, Alpha: float) -> float:
    return x if x >= 0 else narrow(Alpha * narrow(expm1(x)))


def gelu(x: float) -> float:
    """``x`` times the standard normal CDF at ``x``."""
    return x * math.erfc(-x / math.sqrt(2)) / 2


def clip(x: Any, Min: Any, Max: Any) -> Any:
    return greatest(Min, least(x, Max))


def clip_gradient(x: Any, gradient: Any, Min: Any, Max: Any) -> Any:
    return 0 if x <= Min or x >= Max else gradient


def linear(x: float, Alpha: float, Beta: float) -> float:
    return narrow(narrow(Alpha * x) + Beta)


def hard_sigmoid(x: float, Alpha: float, Beta: float) -> float:
    return float(greatest(0, least(linear(x, Alpha, Beta), 1)))


def shrink(x: Any, Bias: Any, Threshold: Any) -> Any:
    return x - Bias if x > Threshold else x + Bias if x < -Threshold else 0


def half_away(x: Fraction) -> int:
    """Rounding half away from zero; the sum with one half is rounded to FLOAT32."""
    away = math.floor(narrow(float(abs(x)) + 0.5))
    return away if x > 0 else -away


ROUNDINGS: dict[int, Callable[[Any], int]] = {
    DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN: round,
    DML_ROUNDING_MODE_TOWARD_ZERO: math.trunc,
    DML_ROUNDING_MODE_TOWARD_INFINITY: half_away,
}


def to_integer(function: Callable[[Fraction], int], x: Any) -> Any:
    """Round to an integer; infinities and NaN are unchanged."""
    return function(x) if isinstance(x, Fraction) else x


def softmax(row: Sequence[float], halves: bool) -> list[float]:
    """Softmax of a row. NaN makes all results NaN, and so does an infinite element, by ``inf - inf``, as in Microsoft's
    library. There FLOAT16 is summed in FLOAT16."""
    largest = max(row)
    if any(map(math.isnan, row)) or largest == math.inf:
        return [math.nan] * len(row)
    total = math.fsum(exp(x - largest) for x in row)
    if halves:
        total = float(np.float16(total))
    return [exp(x - largest) / total for x in row]


def log_softmax(row: Sequence[float], halves: bool) -> list[float]:
    """Log-softmax of a row, by log1p of the sum without the largest element, except for FLOAT16. Where the sum is NaN,
    Microsoft's library takes 1e-20."""
    largest = max((x for x in row if not math.isnan(x)), default=math.nan)
    if largest == math.inf or any(map(math.isnan, row)):
        return [x - largest - math.log(1e-20) for x in row]
    smaller = list(row)
    smaller.remove(largest)
    total = math.fsum(exp(x - largest) for x in smaller)
    logarithm = math.log(np.float16(1 + total)) if halves else math.log1p(total)
    return [x - largest - logarithm for x in row]


def hardmax(row: Sequence[float], halves: bool) -> list[float]:
    """1 at the first maximum; NaN is ignored, unless it is the first element, as in Microsoft's library."""
    numbers = [x for x in row if not math.isnan(x)]
    first = 0 if math.isnan(row[0]) else row.index(max(numbers))
    return [float(index == first) for index in range(len(row))]


IN_FLOAT64: dict[str, Entry] = {
    "ACTIVATION_CELU": (celu, [{"Alpha": alpha} for alpha in (1, 0.3, -2, 40)]),
    "ACTIVATION_ELU": (elu, [{"Alpha": alpha} for alpha in (1, 0.3, -2)]),
    "ACTIVATION_GELU": (gelu, NONE),
    "ACTIVATION_HARD_SIGMOID": (
        hard_sigmoid,
        [{"Alpha": 0.2, "Beta": 0.5}, {"Alpha": 1 / 6, "Beta": 0.5}, {"Alpha": -3, "Beta": 0.1}],
    ),
    "ACTIVATION_HARD_SWISH": (
        lambda x, Alpha, Beta: narrow(x * hard_sigmoid(x, Alpha, Beta)),
        [{"Alpha": 1 / 6, "Beta": 0.5}, {"Alpha": -0.2, "Beta": 0.7}],
    ),
    "ACTIVATION_LINEAR": (linear, [{"Alpha": 1.7, "Beta": -0.3}, {"Alpha": -1e-3, "Beta": 1e3}]),
    "ACTIVATION_PARAMETRIC_SOFTPLUS": (
        lambda x, Alpha, Beta: narrow(Alpha * narrow(softplus(narrow(Beta * x)))),
        [{"Alpha": 1, "Beta": 1}, {"Alpha": -0.7, "Beta": 3.3}, {"Alpha": 2, "Beta": -0.1}],
    ),
    "ACTIVATION_SCALED_ELU": (
        lambda x, Alpha, Gamma: narrow(Gamma * elu(x, Alpha)),
        [{"Alpha": 1.6732632, "Gamma": 1.050701}, {"Alpha": -3, "Gamma": 0.1}],
    ),
    "ACTIVATION_SCALED_TANH": (
        lambda x, Alpha, Beta: narrow(Alpha * narrow(math.tanh(narrow(Beta * x)))),
        [{"Alpha": 1, "Beta": 0.5}, {"Alpha": 1.7159, "Beta": -0.66}],
    ),
    "ACTIVATION_SIGMOID": (logistic, NONE),
    "ACTIVATION_SOFTPLUS": (
        lambda x, Steepness: narrow(narrow(softplus(narrow(Steepness * x))) / Steepness),
        [{"Steepness": steepness} for steepness in (1, 3.7, 0.1, -2)],
    ),
    "ACTIVATION_SOFTSIGN": (lambda x: narrow(x / narrow(1 + abs(x))), NONE),
    "ACTIVATION_SWISH": (
        lambda x, SigmoidInputScale: narrow(x * narrow(logistic(narrow(SigmoidInputScale * x)))),
        [{"SigmoidInputScale": scale} for scale in (1, 1.702, -0.3)],
    ),
    "ACTIVATION_TANH": (math.tanh, NONE),
    "ELEMENT_WISE_ACOS": (math.acos, NONE),
    "ELEMENT_WISE_ACOSH": (math.acosh, NONE),
    "ELEMENT_WISE_ASIN": (math.asin, NONE),
    "ELEMENT_WISE_ASINH": (asinh, NONE),
    "ELEMENT_WISE_ATAN": (math.atan, NONE),
    "ELEMENT_WISE_ATANH": (atanh, NONE),
    "ELEMENT_WISE_CONSTANT_POW": (
        lambda x, Exponent: power(x, Exponent),
        [{"Exponent": exponent} for exponent in (0, 0.5, 1, 2, 3, 0.3, -1, -2.5, 10, 1e-6, 3e6)],
    ),
    "ELEMENT_WISE_COS": (math.cos, NONE),
    "ELEMENT_WISE_COSH": (cosh, NONE),
    "ELEMENT_WISE_ERF": (math.erf, NONE),
    "ELEMENT_WISE_EXP": (exp, NONE),
    "ELEMENT_WISE_LOG": (log, NONE),
    "ELEMENT_WISE_SIN": (math.sin, NONE),
    "ELEMENT_WISE_SINH": (sinh, NONE),
    "ELEMENT_WISE_SQRT": (math.sqrt, NONE),
    "ELEMENT_WISE_TAN": (math.tan, NONE),
    "ELEMENT_WISE_TANH": (math.tanh, NONE),
}
FACTORS: dict[str, Callable[..., Any]] = {
    "ACTIVATION_PARAMETRIC_SOFTPLUS": lambda x, Alpha, Beta: Alpha,
    "ACTIVATION_SOFTPLUS": lambda x, Steepness: 1 / Steepness,
    # Beyond 104, the logistic function is 0 or 1.
    "ACTIVATION_SWISH": lambda x, SigmoidInputScale: np.where(np.abs(SigmoidInputScale * x) < 104, x, 0),
}
LIMITS: Sequence[Attributes] = [{"Min": -1.5, "Max": 2.7}, {"Min": 3, "Max": -3}]
RATIONAL: dict[str, Entry] = {
    "ACTIVATION_IDENTITY": (lambda x: x, NONE),
    "ACTIVATION_LEAKY_RELU": (
        lambda x, Alpha: x if x >= 0 else Alpha * x,
        [{"Alpha": alpha} for alpha in (0.01, -3.3)],
    ),
    "ACTIVATION_RELU": (lambda x: greatest(x, 0), NONE),
    "ACTIVATION_SHRINK": (
        shrink,
        [
            {"Bias": 0, "Threshold": 0.5},
            {"Bias": 1 + 2**-20, "Threshold": 0.7},
            {"Bias": -1e-3, "Threshold": -2},
        ],
    ),
    "ACTIVATION_THRESHOLDED_RELU": (
        lambda x, Alpha: x if x > Alpha else 0,
        [{"Alpha": alpha} for alpha in (1, -0.3)],
    ),
    "ELEMENT_WISE_ABS": (abs, NONE),
    "ELEMENT_WISE_CEIL": (lambda x: to_integer(math.ceil, x), NONE),
    "ELEMENT_WISE_CLIP": (clip, LIMITS),
    "ELEMENT_WISE_CLIP1": (clip, LIMITS),
    "ELEMENT_WISE_FLOOR": (lambda x: to_integer(math.floor, x), NONE),
    "ELEMENT_WISE_IDENTITY": (lambda x: x, NONE),
    "ELEMENT_WISE_NEGATE": (lambda x: -x, NONE),
    "ELEMENT_WISE_ROUND": (
        lambda x, RoundingMode: to_integer(ROUNDINGS[int(RoundingMode)], x),
        [{"RoundingMode": mode} for mode in ROUNDINGS],
    ),
    "ELEMENT_WISE_SIGN": (lambda x: (x > 0) - (x < 0), NONE),
    "ELEMENT_WISE_THRESHOLD": (lambda x, Min: greatest(x, Min), [{"Min": 0.7}, {"Min": -0.1}]),
}
RATIONAL_OF_TWO: dict[str, Entry] = {
    "ACTIVATION_PARAMETERIZED_RELU": (lambda x, slope: x if x >= 0 else slope * x, NONE),
    "ACTIVATION_RELU_GRAD": (lambda x, gradient: gradient if x > 0 else 0, NONE),
    "ELEMENT_WISE_ADD": (lambda a, b: a + b, NONE),
    "ELEMENT_WISE_ADD1": (lambda a, b: a + b, NONE),
    "ELEMENT_WISE_CLIP_GRAD": (clip_gradient, LIMITS),
    "ELEMENT_WISE_CLIP_GRAD1": (clip_gradient, LIMITS),
    "ELEMENT_WISE_MAX": (greatest, NONE),
    "ELEMENT_WISE_MIN": (least, NONE),
    "ELEMENT_WISE_MULTIPLY": (lambda a, b: a * b, NONE),
    "ELEMENT_WISE_SUBTRACT": (lambda a, b: a - b, NONE),
}
OF_ROWS = {"HARDMAX": hardmax, "LOG_SOFTMAX": log_softmax, "SOFTMAX": softmax}

FUNCTIONS: dict[str, MeasuredFunction] = {
    **{
        name: MeasuredFunction(of_elements(one), attributes, factor=FACTORS.get(name, unamplified))
        for name, (one, attributes) in IN_FLOAT64.items()
    },
    **{
        name: MeasuredFunction(of_elements(rational(one)), attributes)
        for name, (one, attributes) in RATIONAL.items()
    },
    **{
        name: MeasuredFunction(of_elements(rational(one)), attributes, pairs)
        for name, (one, attributes) in RATIONAL_OF_TWO.items()
    },
    **{f"ACTIVATION_{name}": MeasuredFunction(of_rows(one), NONE, rows) for name, one in OF_ROWS.items()},
    **{
        f"ACTIVATION_{name}1": MeasuredFunction(of_rows(one), [{"Axes": [1]}], rows)
        for name, one in OF_ROWS.items()
    },
    "ELEMENT_WISE_ATAN_YX": MeasuredFunction(of_elements(math.atan2), NONE, pairs),
    "ELEMENT_WISE_DIFFERENCE_SQUARE": MeasuredFunction(
        of_elements(lambda a, b: narrow(narrow(a - b) ** 2)), NONE, pairs
    ),
    "ELEMENT_WISE_DIVIDE": MeasuredFunction(of_elements(quotient), NONE, pairs),
    "ELEMENT_WISE_MEAN": MeasuredFunction(of_elements(lambda a, b: narrow(narrow(a + b) / 2)), NONE, pairs),
    "ELEMENT_WISE_MODULUS_FLOOR": MeasuredFunction(of_elements(remainder(math.floor)), NONE, pairs),
    "ELEMENT_WISE_MODULUS_TRUNCATE": MeasuredFunction(of_elements(remainder(math.trunc)), NONE, pairs),
    "ELEMENT_WISE_POW": MeasuredFunction(of_elements(power), NONE, powers),
    "ELEMENT_WISE_RECIP": MeasuredFunction(of_elements(lambda x: quotient(1, x))),
}
