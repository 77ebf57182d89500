"""References of ACTIVATION_*, also as fused activations.

Arithmetic is in FLOAT32, each operation rounded, as in Microsoft's library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .row import ANY, Reference, Row, Values, floats, saturated


def fused(desc: Any, result: Any) -> Any:
    """A desc's FusedActivation applied to the operator's result; the result itself without one."""
    activation = desc.FusedActivation
    if activation is None:
        return result
    if activation.name == "ELEMENT_WISE_CLIP":
        return clip(activation, result)
    return ROWS[activation.name].reference(activation, result)


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
    results = np.where(wide > desc.Threshold, wide - desc.Bias, 0.0)
    results = np.where(wide < -desc.Threshold, wide + desc.Bias, results)
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


def shifted(rows: Any, halves: bool) -> tuple[Any, Any]:
    """The values minus their maximum, and the sum of their exponentials, in FLOAT16 for FLOAT16 tensors."""
    rows = rows - np.fmax.reduce(rows, axis=1, keepdims=True)
    total = np.exp(rows).sum(axis=1, keepdims=True)
    return rows, total.astype(np.float32).astype(np.float16).astype(float) if halves else total


def softmax(rows: Any, halves: bool) -> Any:
    rows, total = shifted(rows, halves)
    return np.exp(rows) / total


def log_softmax(rows: Any, halves: bool) -> Any:
    """The maximum of NaN and a number is the number."""
    rows, total = shifted(rows, halves)
    return rows - np.log(np.fmax(total, 1e-20))


def relu(desc: Any, x: Any) -> Any:
    return np.maximum(x, 0) if x.dtype == object else np.fmax(x, 0)


def relu_gradient(desc: Any, x: Any, gradient: Any) -> Any:
    return np.where((x > 0).astype(bool), gradient, zero_like(x))


def parameterized_relu(desc: Any, x: Any, slope: Any) -> Any:
    return np.where((x >= 0).astype(bool), x, slope * x)


def celu(desc: Any, x: Any) -> Any:
    ratio = single(single(x) / np.float32(desc.Alpha)).astype(np.float64)
    return np.fmax(0, x) + np.fmin(0, single(desc.Alpha * single(floats(math.expm1)(ratio))))


OF_ELEMENTS: dict[str, Reference] = {
    "CELU": celu,
    "ELU": lambda desc, x: np.where(x >= 0, x, desc.Alpha * single(exp_minus_1(x))),
    "HARD_SIGMOID": hard_sigmoid,
    "HARD_SWISH": lambda desc, x: single(x) * hard_sigmoid(desc, x),
    "IDENTITY": lambda desc, x: x,
    "LEAKY_RELU": lambda desc, x: np.where(x >= 0, x, desc.Alpha * x),
    "LINEAR": lambda desc, x: scaled_and_biased(x, desc.Alpha, desc.Beta),
    "PARAMETERIZED_RELU": parameterized_relu,
    "PARAMETRIC_SOFTPLUS": lambda desc, x: desc.Alpha * single(log_of_1_plus_exp(times(x, desc.Beta))),
    "RELU": relu,
    "RELU_GRAD": relu_gradient,
    "SCALED_ELU": lambda desc, x: (
        desc.Gamma * np.where(x > 0, single(x), single(desc.Alpha * single(exp_minus_1(x))))
    ),
    "SCALED_TANH": lambda desc, x: desc.Alpha * single(np.tanh(times(x, desc.Beta))),
    "SHRINK": shrink,
    "SIGMOID": lambda desc, x: logistic(x),
    "SOFTPLUS": lambda desc, x: single(log_of_1_plus_exp(times(x, desc.Steepness))) / desc.Steepness,
    "SOFTSIGN": lambda desc, x: single(x) / (1 + np.abs(single(x))),
    "SWISH": lambda desc, x: single(x) * single(logistic(times(x, desc.SigmoidInputScale))),
    "TANH": lambda desc, x: np.tanh(x),
    "THRESHOLDED_RELU": lambda desc, x: np.where(x > desc.Alpha, x, 0),
}
EXPONENTS = Values(-8, 8, infinite=True)
TIED = Values(step=0.5, special=True)
ALONG_AXES: dict[str, Row] = {
    "HARDMAX": Row(in_rows(hardmax), TIED),
    "LOG_SOFTMAX": Row(in_rows(log_softmax), EXPONENTS),
    "SOFTMAX": Row(in_rows(softmax), EXPONENTS),
}
ROWS: dict[str, Row] = {
    **{f"ACTIVATION_{name}": Row(one, ANY) for name, one in OF_ELEMENTS.items()},
    **{f"ACTIVATION_{name}{version}": row for name, row in ALONG_AXES.items() for version in ("", "1")},
    "ACTIVATION_GELU": Row(lambda desc, x: x * floats(normal_share)(x), Values(-12, 12, special=True)),
}
