"""Backward convolution as forward ones: against its twin, over windows, strides and dilations of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py.kernels import transposed_convolution
from directml_py.kernels.backend import backend
from directml_py.kernels.decisions import Declined
from directml_py.kernels.im2col import convolve_back
from directml_py.kernels.post_ops import RELU, Activation
from directml_py.kernels.windows import Window

pytestmark = pytest.mark.skipif(backend.native is None, reason="no native kernels")


def whole(rng, shape, dtype):
    """Whole numbers, few enough for all sums of them to be exact."""
    return rng.integers(-4, 5, shape).astype(dtype)


def cases():
    """Windows with taps for every phase, steps, and sizes that may have elements beyond the last step."""
    rng = np.random.default_rng(2)
    for number in range(400):
        rank = number % 3 + 1
        steps = tuple(rng.integers(1, (30, 10, 6)[rank - 1], rank).tolist())
        sizes, strides, dilations = (rng.integers(1, most, rank).tolist() for most in (6, 4, 4))
        window = Window.of(sizes, strides, dilations, *rng.integers(0, 3, (2, rank)).tolist())
        more = [(number // 6 + axis) % 3 * (number // 18 % 2) for axis in range(rank)]
        reached = all(
            len({tap * dilation % stride for tap in range(size)}) == stride
            for size, stride, dilation in zip(sizes, strides, dilations)
        )
        outputs = tuple(size + (number // 3) % 2 for size in window.backward(steps))
        if min(outputs) >= 1:
            yield number, window._replace(output_padding=tuple(more)), steps, outputs, reached


@pytest.mark.slow
@pytest.mark.parametrize("part", [1 << 22, 300, 4])
def test_every_window(part, monkeypatch):
    """Phases at once, or some groups or features of them at a time."""
    monkeypatch.setattr(transposed_convolution, "PART_BYTES", part)
    computed = padded = unreached = 0
    for number, window, steps, sizes, reached in cases():
        rng = np.random.default_rng(number)
        groups, channels, features = rng.integers(1, 4, 3).tolist()
        dtype = (np.float32, np.float16)[number % 2]
        x = whole(rng, (2, groups * channels, *steps), dtype)
        filters = whole(rng, (groups * channels, features, *window.size), dtype)
        bias = whole(rng, (1, groups * features, *(1,) * len(sizes)), dtype) if number % 5 else None
        turned = np.flip(filters, range(2, filters.ndim))
        more = [(0, 0), (0, 0), *((0, count) for count in window.output_padding)]
        output = np.pad(np.empty((2, groups * features, *sizes), dtype), more)
        need = transposed_convolution.scratch_of(filters.shape, output.shape, window)
        scratch = np.full(need + 8, 77, np.uint8)
        for is_flipped in (False, True):
            run = transposed_convolution.convolution_back(
                x, filters, bias, output, window, groups, scratch[:need], is_flipped=is_flipped
            )
            assert reached or bias is None or isinstance(run, Declined)
            if not run:
                continue
            computed += 1
            unreached += not reached
            padded += any(window.output_padding)
            own = (turned if is_flipped else filters).astype(np.float32)
            sums = convolve_back(x.astype(np.float32), own, window, sizes, groups)
            expected = np.pad(sums if bias is None else sums + bias, more)
            for _ in range(2):
                output[...] = 55
                run()
                np.testing.assert_array_equal(output, expected.astype(dtype))
            assert (scratch[need:] == 77).all()
    assert computed > 150
    assert padded > 50
    assert unreached > 30


@pytest.mark.parametrize("has_bias", [False, True])
def test_padding_of_the_output_is_activated(has_bias):
    window = Window.of((3, 3), (2, 2), output_padding=(1, 2))
    rng = np.random.default_rng(6)
    x, filters = whole(rng, (1, 2, 4, 5), np.float32), whole(rng, (2, 3, 3, 3), np.float32)
    bias = np.array([-2, 0, 3], np.float32).reshape(1, 3, 1, 1) if has_bias else None
    output = np.empty((1, 3, 10, 13), np.float32)
    scratch = np.empty(transposed_convolution.scratch_of(filters.shape, output.shape, window), np.uint8)
    sums = convolve_back(x, filters, window, (9, 11)) + (0 if bias is None else bias)
    sums = np.pad(sums, [(0, 0), (0, 0), (0, 1), (0, 2)])
    for options, expected in (
        ({"activation": RELU}, np.maximum(sums, 0)),
        ({"activation": Activation("LEAKY_RELU", 0.5)}, np.where(sums < 0, sums / 2, sums)),
        ({"activation": Activation("CLIP", low=2, high=9)}, np.clip(sums, 2, 9)),
    ):
        output[...] = 55
        run = transposed_convolution.convolution_back(x, filters, bias, output, window, 1, scratch, **options)
        assert run
        run()
        np.testing.assert_array_equal(output, expected)


def test_what_is_read_is_what_is_there_at_the_call():
    window = Window.of((3, 3), (2, 2), start_padding=(1, 1), end_padding=(1, 1))
    x, filters = np.zeros((1, 2, 4, 5), np.float32), np.zeros((2, 3, 3, 3), np.float32)
    output = np.empty((1, 3, 7, 9), np.float32)
    scratch = np.empty(transposed_convolution.scratch_of(filters.shape, output.shape, window), np.uint8)
    run = transposed_convolution.convolution_back(
        x, filters, None, output, window, 1, scratch, activation=RELU
    )
    assert run
    rng = np.random.default_rng(4)
    x[...], filters[...] = whole(rng, x.shape, np.float32), whole(rng, filters.shape, np.float32)
    run()
    np.testing.assert_array_equal(output, np.maximum(convolve_back(x, filters, window, (7, 9)), 0))


def test_elements_that_no_tap_reaches_are_the_activation_of_0():
    window = Window.of((1, 2), (2, 1))
    x, filters = np.ones((1, 1, 3, 3), np.float32), np.ones((1, 1, 1, 2), np.float32)
    output, scratch = np.full((1, 1, 5, 4), 55, np.float32), np.empty(1000, np.uint8)
    task = output, window, 1, scratch
    run = transposed_convolution.convolution_back(x, filters, None, *task)
    assert run
    run()
    expected = np.array([[1, 2, 2, 1], [0] * 4] * 2 + [[1, 2, 2, 1]])
    np.testing.assert_array_equal(output[0, 0], expected)
    clip = Activation("CLIP", low=1.5, high=6)
    run = transposed_convolution.convolution_back(x, filters, None, *task, activation=clip)
    assert run
    run()
    np.testing.assert_array_equal(output[0, 0], np.maximum(expected, 1.5))
    bias = np.ones((1, 1, 1, 1), np.float32)
    assert isinstance(transposed_convolution.convolution_back(x, filters, bias, *task), Declined)


def test_elements_that_only_padding_of_the_input_reaches():
    """The last element has a tap, but the input ends before the element that this would read."""
    window = Window.of((3,), (3,), (2,), (1,), (3,))
    x, filters = np.full((1, 1, 1), 3, np.float32), np.array([[[2, 5, 7]]], np.float32)
    output = np.full((1, 1, 3), 55, np.float32)
    need = transposed_convolution.scratch_of(filters.shape, output.shape, window)
    task = output, window, 1, np.empty(need, np.uint8)
    run = transposed_convolution.convolution_back(x, filters, None, *task)
    assert run
    run()
    np.testing.assert_array_equal(output[0, 0], [0, 15, 0])
    bias = np.ones((1, 1, 1), np.float32)
    assert isinstance(transposed_convolution.convolution_back(x, filters, bias, *task), Declined)
