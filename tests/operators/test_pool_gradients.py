"""Gradients of pools, step by step and element by element."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest

import directml_py as dml
from directml_py.kernels.windows import Window
from directml_py.operators.window import pooling
from directml_py.operators.window import pooling_gradients as gradients_module

from .helpers import tensor

AVERAGE = dml.DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC
MAXIMUM = dml.DML_MAX_POOLING_GRAD_OPERATOR_DESC


def windows():
    """With two and three dimensions, and some windows so far in the padding that they are empty."""
    rng = np.random.default_rng(3)
    found = []
    while len(found) < 30:
        rank = 2 + len(found) % 2
        size, strides, dilations = rng.integers(1, 4, (3, rank)).tolist()
        paddings = rng.integers(0, 4 if len(found) % 5 == 0 else 2, (2, rank)).tolist()
        sizes = rng.integers(1, 8, rank).tolist()
        if len(found) % 3:
            dilations = [1] * rank
        window = Window.of(size, strides, dilations, *paddings)
        if min(window.forward(sizes)) >= 1:
            found.append((window, sizes, window.forward(sizes)))
    return found


def seen(window, sizes, step):
    """The coordinates in a window, in order, and the counts of its elements and of padding."""
    places, counted = [], 1
    for axis, number in enumerate(step):
        first = number * window.strides[axis] - window.start_padding[axis]
        along = [first + tap * window.dilations[axis] for tap in range(window.size[axis])]
        counted *= sum(one < sizes[axis] + window.end_padding[axis] for one in along)
        places.append([one for one in along if 0 <= one < sizes[axis]])
    return list(product(*places)), counted


def attributes(window):
    return {
        "Strides": list(window.strides),
        "WindowSize": list(window.size),
        "StartPadding": list(window.start_padding),
        "EndPadding": list(window.end_padding),
    }


@pytest.mark.parametrize("name", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("with_padding", [False, True])
@pytest.mark.parametrize("most", [gradients_module.MOST_TAPS, 5], ids=["all at once", "in parts"])
def test_shares_of_means(with_padding, name, most, monkeypatch):
    monkeypatch.setattr(gradients_module, "MOST_TAPS", most)
    for number, (window, sizes, steps) in enumerate(windows()):
        if set(window.dilations) != {1}:
            continue
        rng = np.random.default_rng(number)
        gradients = rng.integers(-9, 9, (2, 3, *steps)).astype(name.lower())
        expected = np.zeros((2, 3, *sizes))
        for step in np.ndindex(*steps):
            places, counted = seen(window, sizes, step)
            for place in places:
                share = gradients[(..., *step)].astype(np.float64) / (
                    counted if with_padding else len(places)
                )
                expected[(..., *place)] += share
        desc = AVERAGE(
            InputGradientTensor=tensor(name, gradients.shape),
            OutputGradientTensor=tensor(name, expected.shape),
            IncludePadding=with_padding,
            **attributes(window),
        )
        (found,) = dml.evaluate(desc, [gradients])
        np.testing.assert_allclose(found, expected, rtol=np.finfo(found.dtype).eps, atol=1e-6)


@pytest.mark.parametrize("name", ["FLOAT32", "FLOAT16"])
def test_gradients_go_to_the_first_of_the_largest(name):
    """A number is larger than NaN; the gradient of an empty window is lost."""
    for number, (window, sizes, steps) in enumerate(windows()):
        rng = np.random.default_rng(number)
        x = rng.choice(np.array([np.nan, -np.inf, -1, 0, 2, 2.5]), (2, 2, *sizes)).astype(name.lower())
        gradients = rng.integers(-9, 9, (2, 2, *steps)).astype(x.dtype)
        expected = np.zeros(x.shape)
        for batch, channel, *step in np.ndindex(2, 2, *steps):
            best = None
            for place in seen(window, sizes, step)[0]:
                value, old = x[(batch, channel, *place)], None if best is None else x[(batch, channel, *best)]
                if old is None or value > old or (np.isnan(old) and not np.isnan(value)):
                    best = place
            if best is not None:
                expected[(batch, channel, *best)] += gradients[(batch, channel, *step)]
        desc = MAXIMUM(
            InputTensor=tensor(name, x.shape),
            InputGradientTensor=tensor(name, gradients.shape),
            OutputGradientTensor=tensor(name, x.shape),
            Dilations=list(window.dilations),
            **attributes(window),
        )
        (found,) = dml.evaluate(desc, [x, gradients])
        np.testing.assert_array_equal(found, expected)


def test_sums_beyond_the_largest_float16():
    """Two windows contain the largest element; no NumPy warning reaches the program."""
    x = np.array([1, 5, 2], np.float16).reshape(1, 1, 1, 3)
    gradients = np.full((1, 1, 1, 2), 65504, np.float16)
    one, few = tensor("FLOAT16", [1, 1, 1, 3]), tensor("FLOAT16", [1, 1, 1, 2])
    desc = MAXIMUM(
        one,
        few,
        one,
        Strides=[1, 1],
        WindowSize=[1, 2],
        Dilations=[1, 1],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
    )
    (found,) = dml.evaluate(desc, [x, gradients])
    assert found.tolist() == [[[[0, np.inf, 0]]]]


def window_over(size, padding):
    """A window of ``size`` columns in one step over 4 of them, in paddings that make room for it."""
    image, step = tensor("FLOAT32", [1, 1, 1, 4]), tensor("FLOAT32", [1, 1, 1, 1])
    rest = {"StartPadding": [0, padding], "EndPadding": [0, size - 4 - padding]}
    return image, step, {"Strides": [1, 1], "WindowSize": [1, size], **rest}


def test_windows_cost_what_they_see():
    """Most of a window is padding, which takes no memory, neither to compile nor to run."""
    image, step, rest = window_over(3_000_000_000, 7)
    desc = AVERAGE(step, image, IncludePadding=True, **rest)
    tracemalloc.start()
    try:
        (found,) = dml.evaluate(desc, [np.full((1, 1, 1, 1), 3e9, np.float32)])
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    assert found.tolist() == [[[[1, 1, 1, 1]]]]


def test_norms_of_windows_that_see_too_much_to_be_kept(monkeypatch):
    image, step, rest = window_over(4, 0)
    desc = dml.DML_LP_POOLING_OPERATOR_DESC(image, step, P=2, **rest)
    x = np.array([1, 4, 8, 12], np.float32).reshape(1, 1, 1, 4)
    for most in (pooling.MOST_TAPS, 3):
        monkeypatch.setattr(pooling, "MOST_TAPS", most)
        (found,) = dml.evaluate(desc, [x])
        assert found.tolist() == [[[[15]]]]
