"""Native quantized depthwise convolution against its reference."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels import depthwise_pool
from directml_py.kernels.backend import backend
from directml_py.kernels.decisions import Declined
from directml_py.kernels.elementwise.functions import quantize
from directml_py.kernels.im2col import convolve
from directml_py.kernels.windows import Window

from .test_depthwise_pool import LAYOUTS, WINDOWS, check, guarded, laid_out

pytestmark = pytest.mark.skipif(backend.native is None, reason="no native kernels")


def test_quantized_products():
    """Windows of all kinds, both types of bytes for each tensor, and scales for each channel or one."""
    rng = np.random.default_rng(13)
    for number, (window, sizes, steps) in enumerate(WINDOWS):
        kinds = [np.dtype((np.uint8, np.int8)[number >> place & 1]) for place in range(3)]
        multiplier = 1 + number % 2
        shapes = [(2, 3, *sizes), (3 * multiplier, 1, *window.size), (2, 3 * multiplier, *steps)]
        x, filters = (rng.integers(0, 256, shapes[i]).astype(kinds[i]) for i in range(2))
        one, each = (1, 1, *(1,) * len(sizes)), (1, 3 * multiplier, *(1,) * len(sizes))
        zeros = [rng.integers(0, 100, shape).astype(kind) for shape, kind in zip((one, each, one), kinds)]
        scales = [rng.random(shape, np.float32) + np.float32(0.1) for shape in (one, each, one)]
        scales[2] *= 3000
        bias = rng.integers(-(1 << 30), 1 << 30, each).astype(np.int32) // (1 << 16 if number % 3 else 1)
        if number % 5 == 0:
            zeros, bias = [None, None, None], None
        whole_x, whole_filters = (
            values.astype(np.float64) - (0 if zero is None else zero.reshape(shape))
            for values, zero, shape in (
                (x, zeros[0], (1,) * x.ndim),
                (filters, zeros[1], (-1, *(1,) * (x.ndim - 1))),
            )
        )
        sums = convolve(whole_x, whole_filters, window, steps, 3)
        sums = sums if bias is None else sums + bias
        unit = scales[0].astype(np.float64) * scales[1]
        expected = quantize(sums * unit, scales[2], zeros[2], kinds[2])
        seen = laid_out(x, LAYOUTS[number % 4])
        output, memory = guarded(shapes[2], kinds[2])
        run = depthwise_pool.quantized_products(seen, filters, bias, output, window, 3, scales, zeros)
        check(run, output, memory, expected)


@swept("width", [3, 5])
@swept("stride", [1, 2])
@swept("sizes", [(7, 7), (14, 13), (1, 16), (40, 21), (5, 96), (120, 70), (4, 700)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_quantized_planes(width, stride, sizes, dtype):
    """As many planes as are read as flat rows: ties of a scale of 2, biases at the ends of INT32, and scales whose
    quotients are infinite, NaN, or subnormal."""
    rng, edge, channels = np.random.default_rng(17), width // 2, 24
    window = Window.of((width, width), (stride, stride), (1, 1), (edge, edge), (edge, edge))
    x = rng.integers(0, 256, (2, channels, *sizes)).astype(dtype)
    filters = rng.integers(0, 256, (channels, 1, width, width)).astype(np.int8)
    one, each = (1, 1, 1, 1), (1, channels, 1, 1)
    zeros = [
        np.full(one, 7, dtype),
        np.arange(channels, dtype=np.int8).reshape(each),
        np.full(one, 90, dtype),
    ]
    scales = [np.float32(0.5).reshape(one), rng.random(each, np.float32) / 50, np.float32(2).reshape(one)]
    scales[1][0, :8, 0, 0] = [2**-9, 0.0, np.nan, np.inf, 3e38, 1e-38, 1e-45, -0.01]
    bias = rng.integers(-5000, 5000, each).astype(np.int32)
    bias[0, 8:10, 0, 0] = [np.iinfo(np.int32).max, np.iinfo(np.int32).min]
    scales[1][0, 8:10, 0, 0] = 1e-7
    centred = x.astype(np.float64) - 7, filters - zeros[1].astype(np.float64).reshape(-1, 1, 1, 1)
    sums = convolve(*centred, window, window.forward(sizes), channels) + bias
    with np.errstate(all="ignore"):
        expected = quantize(
            sums * (scales[0].astype(np.float64) * scales[1]), scales[2], zeros[2], np.dtype(dtype)
        )
    output, memory = guarded(expected.shape, np.dtype(dtype))
    run = depthwise_pool.quantized_products(x, filters, bias, output, window, channels, scales, zeros)
    check(run, output, memory, expected)


@pytest.mark.parametrize("is_each", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_quantized_means_of_whole_planes(dtype, is_each):
    rng, channels = np.random.default_rng(19), 150
    x = rng.integers(0, 256, (2, channels, 7, 9)).astype(dtype)
    shape = (1, channels if is_each else 1, 1, 1)
    scales = [np.full(shape, 63.0, np.float32), np.full(shape, 126.0, np.float32)]
    zeros = [rng.integers(0, 100, shape).astype(dtype), rng.integers(0, 100, shape).astype(dtype)]
    totals = (x.astype(np.int64) - zeros[0]).sum(axis=(2, 3), keepdims=True)
    limits = np.iinfo(dtype)
    expected = np.clip(np.rint(totals / 126) + zeros[1], limits.min, limits.max).astype(dtype)
    output, memory = guarded(expected.shape, np.dtype(dtype))
    counts = [np.array([7], np.float32), np.array([9], np.float32)]
    run = depthwise_pool.quantized_mean(x, output, Window.of((7, 9)), counts, scales, zeros)
    check(run, output, memory, expected)


def test_quantized_products_that_there_is_no_loop_for():
    x, one, zero = np.zeros((1, 2, 40, 40), np.uint8), np.ones((1, 1, 1, 1), np.float32), [None] * 3
    output = np.empty((1, 2, 24, 24), np.uint8)
    window = Window.of((17, 17))
    filters = np.zeros((2, 1, 17, 17), np.int8)
    products = depthwise_pool.quantized_products
    assert isinstance(products(x, filters, None, output, window, 2, [one] * 3, zero), Declined)
    near, output = Window.of((3, 3)), np.empty((1, 2, 38, 38), np.uint8)
    filters = filters[:, :, :3, :3].copy()
    assert products(x, filters, None, output, near, 2, [one] * 3, zero)
    assert isinstance(products(x, filters, None, output, near, 1, [one] * 3, zero), Declined)
    assert isinstance(products(x, filters.astype(np.int16), None, output, near, 2, [one] * 3, zero), Declined)
    wrong = [None, np.zeros((1, 1, 1, 1), np.uint8), None]
    assert isinstance(products(x, filters, None, output, near, 2, [one] * 3, wrong), Declined)
    assert isinstance(
        products(x, filters, None, output, near, 2, [one.astype(np.float16)] * 3, zero), Declined
    )
    assert isinstance(products(x, filters, one, output, near, 2, [one] * 3, zero), Declined)
