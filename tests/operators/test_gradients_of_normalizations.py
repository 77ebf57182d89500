"""Gradients of normalizations are the derivatives of the forward operators.

Derivatives are taken by complex steps: the imaginary part of f(x + i * STEP), divided by STEP. The formulas
are those of the forward operators, written for complex numbers.
"""

from __future__ import annotations

import numpy as np
import pytest

from .helpers import generator, run_all

STEP = 1e-150
SIZES = (2, 3, 4, 2)
CHANNELS = (1, 3, 1, 1)


def slopes(function, x, incoming):
    """The gradient of ``sum(function(x) * incoming)``."""
    result = np.empty(x.shape)
    for place in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[place] += 1j * STEP
        result[place] = (function(moved) * incoming).sum().imag / STEP
    return result


def drawn(*sizes, low=-2, high=2):
    values = generator("gradients", sizes).uniform(low, high, (len(sizes), *np.broadcast_shapes(*sizes)))
    return [one[tuple(slice(size) for size in shape)].astype(np.float32) for one, shape in zip(values, sizes)]


def around(squares, before, behind, axes):
    """Sums over each element's neighbourhood, with zeros outside the tensor."""
    for axis in axes:
        pads = [(before, behind) if one == axis else (0, 0) for one in range(squares.ndim)]
        padded = np.pad(squares, pads)
        count = squares.shape[axis]
        parts = [np.take(padded, range(start, start + count), axis) for start in range(before + behind + 1)]
        squares = sum(parts)
    return squares


@pytest.mark.operator("LOCAL_RESPONSE_NORMALIZATION_GRAD")
@pytest.mark.parametrize("across", [True, False])
@pytest.mark.parametrize("size", [1, 3, 9])
def test_local_response(across, size):
    alpha, beta, bias = 0.75, 1.25, 0.5
    axes, before, behind = [1] if across else [2, 3], (size - 1) // 2, size // 2

    def forward(x):
        return x / (bias + alpha / size * around(x * x, before, behind, axes)) ** beta

    x, incoming = drawn(SIZES, SIZES)
    attributes = {"CrossChannel": across, "LocalSize": size, "Alpha": alpha, "Beta": beta, "Bias": bias}
    (result,) = run_all("LOCAL_RESPONSE_NORMALIZATION_GRAD", [x, incoming], [SIZES], **attributes)
    np.testing.assert_allclose(result, slopes(forward, x.astype(float), incoming), rtol=1e-5, atol=1e-6)


@pytest.mark.operator("LOCAL_RESPONSE_NORMALIZATION_GRAD")
def test_even_local_response():
    """As in Microsoft's library, whose region is the forward one: the element itself and the next one.

    The divisors are 1 + 1 + 4, 1 + 4 + 9 and 1 + 9. Of gradient 1 of the first alone, 1/6 comes back to it, less
    2 / 36; the slope would be less 4 / 36 of the second, too, which is in the first one's region.
    """
    x, incoming = np.float32([1, 2, 3]).reshape(1, 3, 1, 1), np.float32([1, 0, 0]).reshape(1, 3, 1, 1)
    attributes = {"CrossChannel": True, "LocalSize": 2, "Alpha": 2, "Beta": 1, "Bias": 1}
    (result,) = run_all("LOCAL_RESPONSE_NORMALIZATION_GRAD", [x, incoming], [x.shape], **attributes)
    np.testing.assert_allclose(result.ravel(), [1 / 6 - 2 / 36, 0, 0], rtol=1e-6)
    incoming = incoming[:, ::-1].copy()
    (result,) = run_all("LOCAL_RESPONSE_NORMALIZATION_GRAD", [x, incoming], [x.shape], **attributes)
    # 3 / 100 of the last, times twice the element, of those that have it in their region.
    np.testing.assert_allclose(result.ravel(), [0, -0.12, 0.1 - 0.18], rtol=1e-6)


def normalized(x, mean, variance, scale, bias, epsilon):
    return scale * (x - mean) / np.sqrt(variance + epsilon) + bias


def of_batch(x, axes):
    mean = x.mean(axes, keepdims=True)
    return mean, ((x - mean) ** 2).mean(axes, keepdims=True)


BY_STATISTICS = pytest.mark.parametrize(
    "sizes", [CHANNELS, (1, 1, 1, 1), (2, 1, 4, 1), SIZES], ids=["channels", "all", "some", "none"]
)


@pytest.mark.operator("BATCH_NORMALIZATION_GRAD")
@BY_STATISTICS
def test_given_statistics(sizes):
    x, incoming = drawn(SIZES, SIZES)
    mean, scale, bias = (one.astype(float) for one in drawn(sizes, sizes, sizes))
    variance = mean**2
    statistics = [one.astype(np.float32) for one in (mean, variance, scale)]
    outputs = [SIZES, sizes, sizes]
    results = run_all("BATCH_NORMALIZATION_GRAD", [x, incoming, *statistics], outputs, Epsilon=0.25)
    expected = [
        slopes(lambda one: normalized(one, mean, variance, scale, bias, 0.25), x, incoming),
        slopes(lambda one: normalized(x, mean, variance, one, bias, 0.25), scale, incoming),
        slopes(lambda one: normalized(x, mean, variance, scale, one, 0.25), bias, incoming),
    ]
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.operator("BATCH_NORMALIZATION_TRAINING_GRAD")
def test_statistics_that_are_not_those_of_the_batch():
    """As in Microsoft's library, with the given statistics: scale / sd * (dy - mean(dy) - xhat * mean(dy * xhat))."""
    x, incoming = np.float32([[1], [5]]), np.float32([[1], [3]])
    mean, variance, scale = np.float32([[2]]), np.float32([[3]]), np.float32([[4]])
    outputs = [(2, 1), (1, 1), (1, 1)]
    results = run_all(
        "BATCH_NORMALIZATION_TRAINING_GRAD", [x, incoming, mean, variance, scale], outputs, Epsilon=1
    )
    # The deviation is 2, xhat -0.5 and 1.5; the mean of dy 2, that of dy * xhat 2.
    assert [one.ravel().tolist() for one in results] == [[2 * (-1 + 1), 2 * (1 - 3)], [4], [4]]


@pytest.mark.operator("BATCH_NORMALIZATION_TRAINING_GRAD")
@BY_STATISTICS
def test_statistics_of_the_batch(sizes):
    x, incoming = drawn(SIZES, SIZES)
    scale, bias = (one.astype(float) for one in drawn(sizes, sizes))
    axes = tuple(axis for axis, size in enumerate(sizes) if size == 1)
    mean, variance = of_batch(x.astype(float), axes)
    statistics = [one.astype(np.float32) for one in (mean, variance, scale)]
    outputs = [SIZES, sizes, sizes]
    results = run_all("BATCH_NORMALIZATION_TRAINING_GRAD", [x, incoming, *statistics], outputs, Epsilon=0.25)
    expected = [
        slopes(lambda one: normalized(one, *of_batch(one, axes), scale, bias, 0.25), x, incoming),
        slopes(lambda one: normalized(x, mean, variance, one, bias, 0.25), scale, incoming),
        slopes(lambda one: normalized(x, mean, variance, scale, one, 0.25), bias, incoming),
    ]
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
