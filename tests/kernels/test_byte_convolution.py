"""The native kernel of convolutions of 8-bit integers against its reference, and other ISA variants."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels.backend import backend
from directml_py.kernels.convolution import Quantization, byte_convolution
from directml_py.kernels.decisions import Declined
from directml_py.kernels.elementwise.functions import centred, quantize
from directml_py.kernels.im2col import convolve
from directml_py.kernels.windows import Window

from .test_convolution import ONE, SQUARE, at_the_end
from .window_samples import WINDOWS, sizes_for

pytestmark = pytest.mark.skipif(backend.native is None, reason="no native kernels")


def random_bytes(shape, dtype, seed=2):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)


def check_bytes(x, filters, window, *, x_zero=None, filter_zeros=None, groups=1, steps=None):
    steps = window.forward(x.shape[2:]) if steps is None else steps
    zeros = None if filter_zeros is None else filter_zeros.reshape(-1, *[1] * (x.ndim - 1))
    wanted = convolve(centred(x, x_zero), centred(filters, zeros), window, steps, groups)
    memory = np.full((*wanted.shape[:2], wanted[0, 0].size + 5), 77, np.int32)
    target = memory[:, :, 2:-3].reshape(wanted.shape)
    assert np.shares_memory(target, memory)
    run = byte_convolution(x, x_zero, filters, filter_zeros, target, window, groups)
    assert run
    for _ in range(2):
        target[...] = 55
        run()
        np.testing.assert_array_equal(target, wanted.astype(np.int32))
        assert (memory[:, :, :2] == 77).all()
        assert (memory[:, :, -3:] == 77).all()


BYTES = [np.uint8, np.int8]


@swept("window", WINDOWS)
@swept("groups", [1, 3])
@pytest.mark.parametrize("dtype", BYTES)
@swept("filter_type", BYTES)
def test_windows_over_bytes(window, groups, dtype, filter_type):
    """All bytes and all zero points: padding is a zero point, and sums of pairs need more than 16 bits."""
    x = at_the_end(random_bytes((2, 2 * groups, *sizes_for(window)), dtype))
    filters = at_the_end(random_bytes((3 * groups, 2, *window.size), filter_type, 3))
    limits = [np.iinfo(kind) for kind in (dtype, filter_type)]
    each = random_bytes(3 * groups, filter_type, 5)
    for x_zero in (None, limits[0].min, limits[0].max):
        zero = None if x_zero is None else np.full((1,) * x.ndim, x_zero, dtype)
        for filter_zeros in (None, each[:1], np.full(1, limits[1].max, filter_type), each, each[::-1]):
            check_bytes(x, filters, window, x_zero=zero, filter_zeros=filter_zeros, groups=groups)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("filter_type", BYTES)
@pytest.mark.usefixtures("threads")
def test_counts_of_bytes(dtype, filter_type):
    """Remainders of fours, vectors, tiles, parts and slices."""
    window = Window.of((3,), start_padding=(1,), end_padding=(1,))
    for pixels in (1, 4, 15, 16, 17, 48, 49, 65, 113):
        for filters, channels in (
            (1, 1),
            (7, 2),
            (9, 3),
            (23, 5),
            (520, 4),
            (3, 341),
            (2, 342),
            (17, 342),
            (5, 1025),
        ):
            x, taps = (
                random_bytes((1, channels, pixels), dtype),
                random_bytes((filters, channels, 3), filter_type),
            )
            check_bytes(x, taps, window, x_zero=x[0, 0, :1].copy(), filter_zeros=taps[0, 0, :1].copy())


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dtype", BYTES)
def test_images_of_bytes(stride, dtype):
    x = random_bytes((2, 5, 21, 37), dtype)
    window = Window.of((3, 2), (stride,) * 2, (2, 1), (2, 3), (1, 3))
    filters, zero = random_bytes((6, 5, 3, 2), np.int8), np.array(7, dtype)
    for image in (
        x,
        x[::-1, ::-1, ::-1, ::-1],
        x.transpose(0, 1, 3, 2),
        np.broadcast_to(x[..., :1], x.shape),
    ):
        check_bytes(image, filters, window, x_zero=zero)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("filter_type", BYTES)
@pytest.mark.usefixtures("threads")
def test_padded_images_of_bytes(dtype, filter_type):
    """Windows that move by one pixel over whole groups of channels: lines shorter and longer than a panel, padding
    wider than a window, more products than are added at a time."""
    for channels, filters, sizes, window in (
        (4, 5, (33, 40), SQUARE),
        (64, 9, (9, 21), SQUARE),
        (64, 17, (70, 5), Window.of((2, 2), (1, 1), (2, 3), (3, 4), (3, 4))),
        (128, 3, (20, 30), Window.of((3, 2), (1, 1), (2, 1), (0, 2), (1, 0))),
        (192, 8, (130,), Window.of((5,), start_padding=(4,), end_padding=(4,))),
        (64, 2, (4, 5, 9), Window.of((2, 3, 3), (1, 1, 1), (1, 1, 2), (1, 0, 2), (0, 1, 2))),
    ):
        x = at_the_end(random_bytes((2, 2 * channels, *sizes), dtype))
        taps, each = (
            random_bytes((2 * filters, channels, *window.size), filter_type, 3),
            random_bytes(2 * filters, filter_type, 5),
        )
        for x_zero, filter_zeros in ((None, None), (x.ravel()[:1].reshape((1,) * x.ndim), each)):
            check_bytes(x, at_the_end(taps), window, x_zero=x_zero, filter_zeros=filter_zeros, groups=2)


def test_the_largest_sums_of_bytes():
    x, filters = np.full((1, 33025, 17), 255, np.uint8), np.full((1, 33025, 1), 255, np.uint8)
    check_bytes(x, filters, ONE)
    check_bytes(x, filters ^ np.uint8(255), ONE, filter_zeros=np.full(1, 255, np.uint8))


@pytest.mark.parametrize("count", [1, 33])
def test_sums_of_bytes_wrap(count):
    x, filters = np.full((1, 1 << 16, 3), 255, np.uint8), np.full((count, 1 << 16, 1), 255, np.uint8)
    check_bytes(x, filters, ONE)


@pytest.mark.parametrize("filters", range(1, 34, 3))
def test_tiles_of_bytes(filters):
    """Of 16 filters by 16 pixels by 64 channels, and the remainder of each."""
    for channels, pixels in ((1, 1), (3, 70), (63, 17), (64, 64), (65, 16), (130, 49)):
        x, taps = random_bytes((2, channels, pixels), np.uint8), random_bytes((filters, channels, 1), np.int8)
        check_bytes(x, taps, ONE, x_zero=x[0, 0, :1].copy())


WITHOUT_ROOM = """
import ctypes
import numpy as np
from directml_py.kernels.matmul import byte_products

class Stack(ctypes.Structure):
    _fields_ = [("memory", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]

small = ctypes.create_string_buffer(4096)
stack = Stack(ctypes.addressof(small), 0, len(small))
ctypes.CDLL(None).sigaltstack(ctypes.byref(stack), None)
a, b = np.full((40, 70), 255, np.uint8), np.full((70, 50), -128, np.int8)
out = np.empty((40, 50), np.int32)
byte_products(a, None, b, None, out)()
assert (out == 70 * 255 * -128).all()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a call of Linux")
def test_signals_without_room_for_tiles():
    """The system refuses tiles to a process whose signal stack is too small to save them."""
    subprocess.run([sys.executable, "-c", WITHOUT_ROOM], check=True)


def test_zero_points_are_read_when_it_runs():
    x, filters, zero = np.full((1, 1, 3), 5, np.uint8), np.full((1, 1, 1), 2, np.int8), np.zeros(1, np.uint8)
    output = np.empty((1, 1, 3), np.int32)
    run = byte_convolution(x, zero, filters, None, output, ONE, 1)
    assert run
    zero[0] = 4
    run()
    assert (output == 2).all()


def test_what_there_is_no_loop_of_bytes_for():
    x, filters, output = (
        np.ones((1, 1, 4), np.uint8),
        np.ones((1, 1, 2), np.int8),
        np.empty((1, 1, 3), np.int32),
    )
    window = Window.of((2,))
    assert byte_convolution(x, None, filters, None, output, window, 1)
    assert isinstance(byte_convolution(x.astype(np.int16), None, filters, None, output, window, 1), Declined)
    assert isinstance(byte_convolution(x, np.ones(1, np.int8), filters, None, output, window, 1), Declined)
    assert isinstance(byte_convolution(x, None, filters, None, output.astype(np.int64), window, 1), Declined)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("has_more", [False, True])
@pytest.mark.parametrize("channels", [3, 64])
def test_quantized(dtype, has_more, channels):
    """Halves, which are rounded to even, results out of range, and parameters for each filter; NaN gives the least
    integer."""
    x = random_bytes((2, 2 * channels, 9, 11), dtype)
    filters = random_bytes((10, channels, 3, 3), np.int8, 4)
    each = random_bytes(10, np.int8, 5)
    scales = np.float32([2.0**-9, 0.003, 1e-6, np.nan, np.inf, 3e38, 0.01, -0.01, 0.0, 0.005]).reshape(
        1, -1, 1, 1
    )
    bias = random_bytes(10, np.int32, 6) // 1000 if has_more else None
    one = np.full((1, 1, 1, 1), 0.5, np.float32)
    zero = np.full((1, 1, 1, 1), 100, dtype) if has_more else None
    total = convolve(x.astype(np.int16), centred(filters, each.reshape(-1, 1, 1, 1)), SQUARE, (9, 11), 2)
    more = 0 if bias is None else bias.reshape(1, -1, 1, 1)
    with np.errstate(all="ignore"):
        wanted = quantize((total + more) * (0.5 * scales.astype(np.float64)), one, zero, np.dtype(dtype))
    memory = np.full((2, 10, 9, 12), 77, dtype)
    target = np.full((2, 10, 9, 11), 55, dtype)
    quantization = Quantization(one, scales, bias, one, zero)
    run = byte_convolution(x, None, filters, each, target, SQUARE, 2, quantization)
    assert run
    run()
    np.testing.assert_array_equal(target, wanted)
    byte_convolution(x, None, filters, each, memory[..., :11], SQUARE, 2, quantization)()
    np.testing.assert_array_equal(memory[..., :11], wanted)
    assert (memory[..., 11] == 77).all()
    wider = quantization._replace(input_scale=one.astype(np.float64))
    assert isinstance(byte_convolution(x, None, filters, each, target, SQUARE, 2, wider), Declined)
