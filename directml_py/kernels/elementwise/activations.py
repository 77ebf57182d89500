"""Activation functions of arrays.

They compute the formulas that the operators' pages print in FLOAT32, each operation rounded, as in Microsoft's library:
arithmetic gives its results bit for bit. Exponentials, logarithms and their kin, whose digits depend on the GPU, are
those of the mathematical functions; in a function that consists of little else, such as SIGMOID or ELU, only the result
is rounded. Infinities and NaN go through the printed formula by IEEE 754, so that SWISH and GELU of -inf are -inf * 0,
which is NaN; TANH of infinities is C's, although the formula on its page gives NaN for -inf.

Where a page says max or min, these are Direct3D's, which return the other operand if one is NaN, as in REDUCE: RELU of
NaN is 0. No function raises warnings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import log, pi, sqrt
from typing import Concatenate, ParamSpec

import numpy as np

from ..half import as_halves
from ..native_arrays import Array
from ..reduce import first_index, unless_nan_begins
from .functions import erf, fmax, fmin, plain, quieted, saturated
from .trace import primitive

P = ParamSpec("P")
Axes = tuple[int, ...]
# Below this, 1 + erf(x / sqrt(2)) has too few correct digits; with this many terms, the fraction has 9.
GELU_TAIL = -3.0
TAIL_TERMS = 20
# The sum of exponentials of a row of which some are NaN.
LEAST_SUM = 1e-20


def quiet(function: Callable[P, Array]) -> Callable[P, Array]:
    """``function`` without NumPy's warnings: infinities and NaN are results."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Array:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return call


def in_double(function: Callable[Concatenate[Array, P], Array]) -> Callable[Concatenate[Array, P], Array]:
    """``function``, quiet, of the array converted to FLOAT64."""

    @wraps(function)
    def call(x: Array, /, *args: P.args, **kwargs: P.kwargs) -> Array:
        with np.errstate(all="ignore"):
            return function(plain(x).astype(np.float64, copy=False), *args, **kwargs)

    return call


def in_single(function: Callable[Concatenate[Array, P], Array]) -> Callable[Concatenate[Array, P], Array]:
    """``function``, quiet, of the array converted to FLOAT32, in which attributes are constants."""

    @wraps(function)
    def call(x: Array, /, *args: P.args, **kwargs: P.kwargs) -> Array:
        with np.errstate(all="ignore"):
            return function(plain(x).astype(np.float32, copy=False), *args, **kwargs)

    return call


def single(x: Array) -> Array:
    """A function's result, rounded to FLOAT32."""
    return plain(x.astype(np.float32, copy=False))


def relu(x: Array) -> Array:
    return plain(fmax(x, 0))


@quiet
def relu_gradient(x: Array, gradient: Array) -> Array:
    return np.where(x > 0, gradient, 0)


@in_double
def leaky_relu(x: Array, alpha: float) -> Array:
    return np.where(x >= 0, x, alpha * x)


@quiet
def parameterized_relu(x: Array, slope: Array) -> Array:
    """Products of FLOAT16 are exact in FLOAT32, unlike those with the ``alpha`` of LEAKY_RELU."""
    return np.where(x >= 0, x, slope * x)


@quiet
def thresholded_relu(x: Array, alpha: float) -> Array:
    return np.where(x > alpha, x, 0)


@quiet
def shrink(x: Array, bias: float, threshold: float) -> Array:
    """Integers, which the page leaves open, are computed as floats and rounded to the nearest, ties to even, as in
    Microsoft's library."""
    wide = x.astype(np.float64)
    results = np.where(wide > threshold, wide - bias, np.where(wide < -threshold, wide + bias, 0))
    return saturated(np.rint(results), x.dtype) if x.dtype.kind in "iu" else results


@in_single
def linear(x: Array, alpha: float, beta: float) -> Array:
    return alpha * x + beta


@in_single
def hard_sigmoid(x: Array, alpha: float, beta: float) -> Array:
    return plain(fmax(0, fmin(alpha * x + beta, 1)))


@in_single
def hard_swish(x: Array, alpha: float, beta: float) -> Array:
    return x * hard_sigmoid(x, alpha, beta)


@primitive("sigmoid")
@in_double
def sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))
    return plain(np.where(x >= 0, 1, small) / (1 + small))


@in_single
def swish(x: Array, scale: float) -> Array:
    return x * single(sigmoid(scale * x))


@in_double
def tanh(x: Array) -> Array:
    return plain(np.tanh(x))


@in_single
def scaled_tanh(x: Array, alpha: float, beta: float) -> Array:
    return alpha * single(tanh(beta * x))


@in_single
def softsign(x: Array) -> Array:
    return plain(x / (1 + np.abs(x)))


@primitive("softplus")
@in_double
def softplus_of(x: Array) -> Array:
    """log(1 + exp(x))"""
    return plain(np.logaddexp(0, x))


@in_single
def softplus(x: Array, steepness: float) -> Array:
    return plain(single(softplus_of(steepness * x)) / np.float32(steepness))


@in_single
def parametric_softplus(x: Array, alpha: float, beta: float) -> Array:
    return plain(alpha * single(softplus_of(beta * x)))


@in_double
def exponential_minus_1(x: Array) -> Array:
    return plain(np.expm1(x))


@in_single
def elu(x: Array, alpha: float) -> Array:
    return np.where(x >= 0, x, alpha * single(exponential_minus_1(np.minimum(x, 0))))


@in_single
def scaled_elu(x: Array, alpha: float, gamma: float) -> Array:
    return gamma * np.where(x > 0, x, alpha * single(exponential_minus_1(np.where(x > 0, 0, x))))


@in_single
def celu(x: Array, alpha: float) -> Array:
    return plain(fmax(0, x) + fmin(0, alpha * single(exponential_minus_1(x / np.float32(alpha)))))


@primitive("gelu")
@in_double
def gelu(x: Array) -> Array:
    """x times the standard normal distribution function."""
    result: Array = 0.5 * x * (1 + erf(x / sqrt(2)))
    tail = x < GELU_TAIL
    if tail.any():
        result[tail] = x[tail] * share_below(x[tail])
    return result


def share_below(x: Array) -> Array:
    """The standard normal distribution function for ``x`` far below 0: Laplace's continued fraction."""
    fraction = -x
    for term in range(TAIL_TERMS, 0, -1):
        fraction = -x + term / fraction
    return plain(np.exp(-0.5 * x * x) / (sqrt(2 * pi) * fraction))


@in_double
def softmax(x: Array, axes: Axes, halves: bool = False) -> Array:
    """A row whose maximum is infinite gives NaN, which propagates to its sum. With ``halves`` the sum is FLOAT16."""
    parts = np.exp(x - x.max(axes, keepdims=True))
    total = parts.sum(axes, keepdims=True)
    return np.asarray(parts / (as_halves(total) if halves else total))


@in_double
def log_softmax(x: Array, axes: Axes, halves: bool = False) -> Array:
    """The sum of exponentials without that of the maximum, which is 1, keeps its digits; with ``halves`` it is FLOAT16.
    A sum that is NaN counts as 1e-20."""
    largest = np.fmax.reduce(quieted(x), axis=axes, keepdims=True)
    shifted = x - largest
    parts = np.exp(shifted)
    others = np.where(is_first_largest(x, axes), 0, parts).sum(axes, keepdims=True)
    if halves:
        others = as_halves(1 + others) - 1
    is_lost = np.isnan(parts.sum(axes, keepdims=True))
    return np.asarray(shifted - np.where(is_lost, log(LEAST_SUM), np.log1p(others)))


@quiet
def hardmax(x: Array, axes: Axes) -> Array:
    return is_first_largest(x, axes).astype(x.dtype)


def is_first_largest(x: Array, axes: Axes) -> Array:
    """Whether an element is the first maximum over ``axes``, in increasing dimension order.

    NaN is ignored unless it comes first, as in ARGMAX.
    """
    last = range(-len(axes), 0)
    order = sorted(axis % x.ndim for axis in axes)
    moved = np.moveaxis(x, order, last)
    rows = moved.reshape((*moved.shape[: x.ndim - len(axes)], -1))
    first = unless_nan_begins(rows, first_index(rows, largest=True))
    marks = np.arange(rows.shape[-1]) == first[..., np.newaxis]
    return np.moveaxis(marks.reshape(moved.shape), last, order)
