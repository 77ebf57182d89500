"""The tolerances of functions, held against what the software device's functions are made of: they hold for every
argument, and no wider error is within them."""

from __future__ import annotations

import numpy as np
import pytest

from ..operators.records import RECORDS
from ..operators.records.library import OF_ERF, OF_EXPONENTIALS, ULP, OfElements

HALF_PI = np.float32(np.pi / 2)


def polynomial(x, coefficients):
    """By Horner's rule in FLOAT32, of the lowest power first."""
    result = np.zeros_like(x)
    for coefficient in reversed(coefficients):
        result = result * x + np.float32(coefficient)
    return result


def exp(x):
    return np.exp2(x * np.float32(np.log2(np.e)))


def asin(x):
    """Abramowitz and Stegun, 4.4.45."""
    size = np.abs(x)
    series = polynomial(size, [1.5707288, -0.2121144, 0.0742610, -0.0187293])
    return np.copysign(HALF_PI - np.sqrt(1 - size) * series, x)


def atan(x):
    """Abramowitz and Stegun, 4.4.49."""
    size = np.abs(x)
    is_steep = size > 1
    small = np.where(is_steep, 1 / np.maximum(size, np.float32(1e-30)), size)
    odd = small * polynomial(small * small, [0.9998660, -0.3302995, 0.1801410, -0.0851330, 0.0208351])
    return np.copysign(np.where(is_steep, HALF_PI - odd, odd), x)


def turned(x):
    """The angle by turns, as hardware takes it."""
    return (x * np.float32(1 / (2 * np.pi))).astype(np.float64) * (2 * np.pi)


def tan(x):
    angle = turned(x)
    return np.sin(angle).astype(np.float32) / np.cos(angle).astype(np.float32)


def softmax(exponential):
    """Of rows of eight."""

    def rows(x):
        rows = x[: x.size // 8 * 8].reshape(-1, 8)
        parts = exponential(rows - rows.max(1, keepdims=True))
        return (parts / parts.sum(1, keepdims=True)).ravel()

    return rows


WIDE, HALF, UNIT, ANGLES = (-80, 80), (-40, 40), (-1, 1), (-10, 10)
# The device's function, the exact one, and a range of arguments.
DEVICE = {
    "ACTIVATION_SOFTMAX": (softmax(exp), softmax(np.exp), HALF),
    "ELEMENT_WISE_ACOS": (lambda x: HALF_PI - asin(x), np.arccos, UNIT),
    "ELEMENT_WISE_ASIN": (asin, np.arcsin, UNIT),
    "ELEMENT_WISE_ATAN": (atan, np.arctan, WIDE),
    "ELEMENT_WISE_COSH": (lambda x: (exp(x) + exp(-x)) / 2, np.cosh, WIDE),
    "ELEMENT_WISE_EXP": (exp, np.exp, WIDE),
    "ELEMENT_WISE_SINH": (lambda x: (exp(x) - exp(-x)) / 2, np.sinh, WIDE),
    "ELEMENT_WISE_TAN": (tan, np.tan, ANGLES),
}


def arguments(low, high):
    """Evenly spaced, and of all magnitudes; none is 0."""
    small = np.geomspace(1e-6, high, 20_000)
    return np.concatenate([np.linspace(low, high, 100_000), small, -small]).astype(np.float32)


@pytest.mark.parametrize("name", DEVICE)
def test_the_device_is_within(name):
    """And polynomials fill their bounds."""
    device, exact, (low, high) = DEVICE[name]
    x = arguments(low, high)
    expected = exact(x.astype(np.float64))
    errors = np.abs(device(x) - expected) / RECORDS[name].library.error(np.abs(expected))
    is_polynomial = name.removeprefix("ELEMENT_WISE_") in ("ACOS", "ASIN", "ATAN")
    assert (0.9 if is_polynomial else 0.05) < errors.max() <= 1, x[errors.argmax()]


@pytest.mark.parametrize(
    ("device", "exact", "count"),
    [
        (lambda x: 1 / (1 + exp(-x)), lambda x: 1 / (1 + np.exp(-x)), OF_EXPONENTIALS),
        (lambda x: exp(-np.abs(x)) - 1, lambda x: np.expm1(-np.abs(x)), OF_EXPONENTIALS),
        (lambda x: 1 - 2 / (exp(2 * np.abs(x)) + 1), lambda x: np.tanh(np.abs(x)), OF_EXPONENTIALS),
    ],
    ids=["sigmoid", "elu", "tanh"],
)
def test_sums_of_exponentials(device, exact, count):
    x = arguments(-30, 30)
    assert np.abs(device(x) - exact(x.astype(np.float64))).max() <= count.ulps * ULP


def test_nothing_wrong_is_within():
    """A result that is off by a thousandth is, by every bound, which are also continuous where they change."""
    y = np.geomspace(0.1, 10, 1000)
    bounds = {name: record.library for name, record in RECORDS.items()}
    of_elements = {name: bound for name, bound in bounds.items() if isinstance(bound, OfElements)}
    assert len(of_elements) > 10
    for name, bound in of_elements.items():
        assert (bound.error(y) < 1e-3 * y).all(), name
    assert OF_ERF.ulps * ULP < 1e-6
