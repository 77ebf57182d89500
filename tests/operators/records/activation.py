"""References of ACTIVATION_*, also as fused activations.

Arithmetic is in FLOAT32, each operation rounded, as in Microsoft's library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .library import OF_ERF, OF_EXPONENTIALS, SOFTMAX
from .magnitudes import rows
from .record import ANY, COARSE_FUNCTION, FUNCTION, Attributes, Record, Reference, Values, floats, saturated


def fused(desc: Any, result: Any) -> Any:
    """A desc's FusedActivation applied to the operator's result; the result itself without one."""
    activation = desc.FusedActivation
    if activation is None:
        return result
    if activation.name == "ELEMENT_WISE_CLIP":
        return clip(activation, result)
    return RECORDS[activation.name].reference(activation, result)


def clip(desc: Any, x: Any) -> Any:
    """ELEMENT_WISE_CLIP without tensors."""
    if desc.ScaleBias is not None:
        x = scaled_and_biased(x, desc.ScaleBias.Scale, desc.ScaleBias.Bias)
    return np.fmax(desc.Min, np.fmin(x, desc.Max))


def single(x: Any) -> Any:
    """Values rounded to FLOAT32; infinite where that is too small for them."""
    with np.errstate(all="ignore"):
        return np.asarray(x).astype(np.float32)


def scaled_and_biased(x: Any, scale: float, bias: float) -> Any:
    """The product is rounded before the sum."""
    with np.errstate(all="ignore"):
        return single(x) * np.float32(scale) + np.float32(bias)


def times(x: Any, factor: float) -> Any:
    """A rounded product, as FLOAT64 for a function of it."""
    with np.errstate(all="ignore"):
        return (single(x) * np.float32(factor)).astype(np.float64)


def exp_minus_1(x: Any) -> Any:
    """For values below 0; others are not used."""
    return floats(math.expm1)(np.minimum(x, 0))


def log_of_1_plus_exp(x: Any) -> Any:
    return np.maximum(x, 0) + floats(lambda one: math.log1p(math.exp(-abs(one))))(x)


def logistic(x: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    return np.exp(-log_of_1_plus_exp(-x))


def hard_sigmoid(desc: Any, x: Any) -> Any:
    return np.fmax(0, np.fmin(scaled_and_biased(x, desc.Alpha, desc.Beta), 1))


def normal_share(x: float) -> float:
    """``(1 + erf(x / sqrt(2))) / 2``, with full precision also far below 0."""
    return math.erfc(-x / math.sqrt(2)) / 2


def shrink(desc: Any, x: Any) -> Any:
    """Computed in floats; integers are rounded to the nearest, ties to even."""
    wide = x.astype(np.float64)
    results = np.where(wide < -desc.Threshold, wide + desc.Bias, 0.0)
    results = np.where(wide > desc.Threshold, wide - desc.Bias, results)
    return saturated(desc.OutputTensor.dtype)(np.rint(results)) if x.dtype == object else results


def zero_like(x: Any) -> Any:
    """The zero of integers or of floats."""
    return 0 if x.dtype == object else 0.0


def axes_of(desc: Any, x: Any) -> tuple[int, ...]:
    return tuple(sorted(desc.Axes)) if "Axes" in desc.struct.index else (x.ndim - 1,)


def in_rows(function: Callable[..., Any]) -> Reference:
    """``function`` of a matrix whose rows span the axes, the first axis outermost."""

    def reference(desc: Any, x: Any) -> Any:
        axes = axes_of(desc, x)
        order = [axis for axis in range(x.ndim) if axis not in axes] + list(axes)
        turned = x.transpose(order)
        width = math.prod(x.shape[axis] for axis in axes)
        halves = desc.InputTensor is not None and desc.InputTensor.dtype == np.float16
        result = function(turned.reshape(-1, width), halves)
        return result.reshape(turned.shape).transpose(np.argsort(order))

    return reference


def hardmax(rows: Any, halves: bool) -> Any:
    """1 at the first of the largest; Python compares as Microsoft's library does, so that a first NaN stays."""
    best = [max(range(len(row)), key=row.__getitem__) for row in rows.tolist()]
    return np.eye(rows.shape[1])[best]


def shifted(rows: Any) -> tuple[Any, Any]:
    """The values minus their maximum, and the exponentials of all but the first of the largest, summed."""
    # The maximum of a signalling NaN and a number is NaN; arithmetic makes it a quiet one.
    rows = rows * 1.0
    rows -= np.fmax.reduce(rows, axis=1, keepdims=True)
    exponentials = np.exp(rows)
    largest = np.argmax(np.where(np.isnan(rows), -np.inf, rows), axis=1)
    exponentials[np.arange(len(rows)), largest] -= 1
    return rows, exponentials.sum(axis=1, keepdims=True)


def as_half(x: Any) -> Any:
    return x.astype(np.float32).astype(np.float16).astype(float)


def softmax(rows: Any, halves: bool) -> Any:
    """The sum is stored in FLOAT16 for FLOAT16 tensors."""
    rows, smaller = shifted(rows)
    return np.exp(rows) / (as_half(1 + smaller) if halves else 1 + smaller)


def log_softmax(rows: Any, halves: bool) -> Any:
    """The maximum of NaN and a number, here the least sum of Microsoft's library, is the number."""
    rows, smaller = shifted(rows)
    logarithm = np.log(as_half(1 + smaller)) if halves else np.log1p(smaller)
    return rows - np.where(np.isnan(smaller), np.log(1e-20), logarithm)


def relu(desc: Any, x: Any) -> Any:
    return np.maximum(x, 0) if x.dtype == object else np.fmax(x, 0)


def relu_gradient(desc: Any, x: Any, gradient: Any) -> Any:
    return np.where((x > 0).astype(bool), gradient, zero_like(x))


def parameterized_relu(desc: Any, x: Any, slope: Any) -> Any:
    return np.where((x >= 0).astype(bool), x, slope * x)


def celu(desc: Any, x: Any) -> Any:
    ratio = single(single(x) / np.float32(desc.Alpha)).astype(np.float64)
    return np.fmax(0, x) + np.fmin(0, single(desc.Alpha * single(floats(math.expm1)(ratio))))


EXPONENTS = Values(-8, 8, infinite=True)
TIED = Values(step=0.5, special=True)


def sets(**attributes: Sequence[float]) -> Sequence[Attributes]:
    """The n-th values of each attribute."""
    return [dict(zip(attributes, values)) for values in zip(*attributes.values())]


OF_ELEMENTS: dict[str, Record] = {
    "CELU": Record(
        celu, ANY, ulps=FUNCTION, library=OF_EXPONENTIALS, attributes=sets(Alpha=(1, 0.3, -2, 40))
    ),
    "ELU": Record(
        lambda desc, x: np.where(x >= 0, x, desc.Alpha * single(exp_minus_1(x))),
        ANY,
        ulps=FUNCTION,
        library=OF_EXPONENTIALS,
        attributes=sets(Alpha=(1, 0.3, -2)),
    ),
    "GELU": Record(
        lambda desc, x: x * floats(normal_share)(x),
        Values(-12, 12, special=True),
        ulps=COARSE_FUNCTION,
        library=OF_ERF,
    ),
    "HARD_SIGMOID": Record(hard_sigmoid, ANY, attributes=sets(Alpha=(0.2, 1 / 6, -3), Beta=(0.5, 0.5, 0.1))),
    "HARD_SWISH": Record(
        lambda desc, x: single(x) * hard_sigmoid(desc, x),
        ANY,
        attributes=sets(Alpha=(1 / 6, -0.2), Beta=(0.5, 0.7)),
    ),
    "IDENTITY": Record(lambda desc, x: x, ANY),
    "LEAKY_RELU": Record(
        lambda desc, x: np.where(x >= 0, x, desc.Alpha * x), ANY, attributes=sets(Alpha=(0.01, -3.3))
    ),
    "LINEAR": Record(
        lambda desc, x: scaled_and_biased(x, desc.Alpha, desc.Beta),
        ANY,
        attributes=sets(Alpha=(1.7, -1e-3), Beta=(-0.3, 1e3)),
    ),
    "PARAMETERIZED_RELU": Record(parameterized_relu, ANY),
    "PARAMETRIC_SOFTPLUS": Record(
        lambda desc, x: desc.Alpha * single(log_of_1_plus_exp(times(x, desc.Beta))),
        ANY,
        ulps=FUNCTION,
        library=OF_EXPONENTIALS,
        attributes=sets(Alpha=(1, -0.7, 2), Beta=(1, 3.3, -0.1)),
        factor=lambda desc, x: desc.Alpha,
    ),
    "RELU": Record(relu, ANY, either_zero=True),
    "RELU_GRAD": Record(relu_gradient, ANY),
    "SCALED_ELU": Record(
        lambda desc, x: desc.Gamma * np.where(x > 0, single(x), single(desc.Alpha * single(exp_minus_1(x)))),
        ANY,
        ulps=FUNCTION,
        library=OF_EXPONENTIALS,
        attributes=sets(Alpha=(1.6732632, -3), Gamma=(1.050701, 0.1)),
    ),
    "SCALED_TANH": Record(
        lambda desc, x: desc.Alpha * single(np.tanh(times(x, desc.Beta))),
        ANY,
        ulps=FUNCTION,
        library=OF_EXPONENTIALS,
        attributes=sets(Alpha=(1, 1.7159), Beta=(0.5, -0.66)),
    ),
    "SHRINK": Record(shrink, ANY, attributes=sets(Bias=(0, 1 + 2**-20, -1e-3), Threshold=(0.5, 0.7, -2))),
    "SIGMOID": Record(lambda desc, x: logistic(x), ANY, ulps=FUNCTION, library=OF_EXPONENTIALS),
    "SOFTPLUS": Record(
        lambda desc, x: single(log_of_1_plus_exp(times(x, desc.Steepness))) / desc.Steepness,
        ANY,
        ulps=FUNCTION,
        library=OF_EXPONENTIALS,
        attributes=sets(Steepness=(1, 3.7, 0.1, -2)),
        factor=lambda desc, x: 1 / desc.Steepness,
    ),
    "SOFTSIGN": Record(lambda desc, x: single(x) / (1 + np.abs(single(x))), ANY),
    "SWISH": Record(
        lambda desc, x: single(x) * single(logistic(times(x, desc.SigmoidInputScale))),
        ANY,
        ulps=FUNCTION,
        library=OF_EXPONENTIALS,
        attributes=sets(SigmoidInputScale=(1, 1.702, -0.3)),
        # Beyond 104, the logistic function is 0 or 1.
        factor=lambda desc, x: np.where(np.abs(desc.SigmoidInputScale * x) < 104, x, 0),
    ),
    "TANH": Record(lambda desc, x: np.tanh(x), ANY, ulps=FUNCTION, library=OF_EXPONENTIALS),
    "THRESHOLDED_RELU": Record(
        lambda desc, x: np.where(x > desc.Alpha, x, 0), ANY, attributes=sets(Alpha=(1, -0.3))
    ),
}
ALONG_AXES: dict[str, Record] = {
    "HARDMAX": Record(in_rows(hardmax), TIED, magnitudes=rows),
    "LOG_SOFTMAX": Record(
        in_rows(log_softmax), EXPONENTS, ulps=FUNCTION, library=OF_EXPONENTIALS, magnitudes=rows
    ),
    "SOFTMAX": Record(in_rows(softmax), EXPONENTS, ulps=FUNCTION, library=SOFTMAX, magnitudes=rows),
}
RECORDS: dict[str, Record] = {
    **{f"ACTIVATION_{name}": record for name, record in (*OF_ELEMENTS.items(), *ALONG_AXES.items())},
    **{
        f"ACTIVATION_{name}1": record._replace(attributes=[{"Axes": [1]}])
        for name, record in ALONG_AXES.items()
    },
}
