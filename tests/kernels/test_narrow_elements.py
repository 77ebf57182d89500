"""Steps over FLOAT16 and narrow integers as they lie in memory, and those that quantize, against the twin."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py.kernels.elementwise import activations, functions, lower
from directml_py.kernels.elementwise.functions import fmax, fmin
from directml_py.kernels.elementwise.map import map_whole

from .test_lower import INF, NAN, TYPES, assert_maps, numbers

NARROW = {
    "float16": (np.add, np.subtract, np.multiply, np.divide, np.fmin, np.fmax),
    **dict.fromkeys(("int8", "uint8", "int16", "uint16"), (np.add, np.subtract)),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", NARROW)
def test_one_step_of_narrow_elements(native, dtype):
    """Whole vectors and their remainders, rows that repeat or have gaps, in place, and beyond the caches."""
    for function in NARROW[dtype]:
        for size in (1, 2, 15, 16, 17, 63, 1023, 1024, 2049, 40_001):
            x, y = numbers(dtype, size, 1), numbers(dtype, size, 2)
            assert_maps(function, [x, y], [np.empty_like(x)])
            lower.mapped(function, [x, y], [x])()
            map_whole(function, [numbers(dtype, size, 1), y], [wanted := np.empty_like(x)])
            np.testing.assert_array_equal(x, wanted)
        x = np.resize(numbers(dtype, 9973), (37, 301))
        rows = np.resize(numbers(dtype, 9967, 3), (1, 301))
        for one, other in (
            (x, rows),
            (rows, x),
            (x, x),
            (x[:, ::2], rows[:, ::2]),
            (x, rows[:, :1]),
            (x, x[:, :1]),
            (x[:, :7], x[:, 8:9]),
            (x[:, :-1], x[:, 1:]),
        ):
            sizes = np.broadcast_shapes(one.shape, other.shape)
            assert_maps(function, [one, other], [np.empty(sizes, dtype)])
            assert_maps(function, [one, other], [np.empty((37, 310), dtype)[:, 3 : sizes[1] + 3]])
        x = np.resize(numbers(dtype, 99_991), (9 << 20) // np.dtype(dtype).itemsize + 77)
        out = np.empty(x.size + 64, dtype)[5 : x.size + 5]
        assert_maps(function, [x, x[::-1].copy()], [out])


@pytest.mark.parametrize("dtype", TYPES)
def test_one_extreme_of_elements_and_a_constant(native, dtype):
    """Which comes first in the program depends on the constant, and so does what is compared."""
    x = numbers(dtype, 2000)
    for constant in (0, 2) if np.dtype(dtype).kind != "f" else (0, -0.0, 2, -3, INF, NAN):
        number = np.dtype(dtype).type(constant)
        for function in (fmin, fmax):
            for one in (lambda x, f=function, c=number: f(x, c), lambda x, f=function, c=number: f(c, x)):
                assert_maps(one, [x], [np.empty_like(x)], has_signs=np.dtype(dtype).kind == "f")


def test_one_step_of_every_float16(native):
    """Alone, between limits, which may be NaN, zeros or no numbers of FLOAT16, and after each other."""
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    assert_maps(np.sqrt, [x], [np.empty_like(x)])
    assert_maps(activations.relu, [x], [np.empty_like(x)])
    for least, most in (
        (-1.0, 1.0),
        (0.0, 6.0),
        (-0.0, 0.0),
        (-INF, 1e5),
        (0.1, 0.10001),
        (NAN, 2.0),
        (3.0, -3.0),
    ):
        assert_maps(lambda x, a=least, b=most: fmax(a, fmin(x, b)), [x], [np.empty_like(x)])
        assert_maps(lambda x, a=least, b=most: fmin(b, fmax(a, x)), [x], [np.empty_like(x)])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_quantized(native, dtype):
    """Halfway between integers, at the ends of the range and beyond them, NaN; with one scale and one for each."""
    x = np.concatenate([np.arange(-70_000, 70_000, dtype=np.float32) * 0.25, numbers("float32")])
    scales = np.resize(np.float32([0.5, 3e-3, 1e30, 1e-38, 0.0, -2.0, INF, NAN]), x.size)
    zeros = numbers(dtype, x.size)
    for scale, zero in ((np.float32([0.5]), zeros[:1]), (scales, zeros), (scales, None)):
        inputs = [x, scale] if zero is None else [x, scale, zero]
        if zero is None:
            assert_maps(
                lambda x, s: functions.quantize(x, s, None, np.dtype(dtype)),
                inputs,
                [np.empty(x.size, dtype)],
            )
        else:
            assert_maps(
                lambda x, s, z: functions.quantize(x, s, z, np.dtype(dtype)),
                inputs,
                [np.empty(x.size, dtype)],
            )


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_dequantized(native, dtype):
    x = np.resize(numbers(dtype), 5001)
    scales = np.resize(np.float32([0.1, 3e-3, 1e30, 1e-44, 0.0, -2.0, INF, NAN]), x.size)
    zeros = numbers(dtype, x.size, 4)
    for scale in (np.float32([0.1]), scales):
        out = np.empty(x.size, np.float32)
        for zero in (zeros[:1], zeros):
            assert_maps(functions.dequantize, [x, scale, zero], [out])
        assert_maps(lambda x, s: functions.dequantize(x, s, None), [x, scale], [out])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_narrow_integers_as_floats(native, dtype):
    for size in (1, 31, 33, 1025, 300_001):
        x = numbers(dtype, size)
        assert_maps(lambda x: x.astype(np.float32), [x], [np.empty(size, np.float32)])
    wide = np.resize(numbers(dtype, 99_991), (3 << 20) + 5)
    assert_maps(lambda x: x.astype(np.float32), [wide], [np.empty(wide.size + 3, np.float32)[3:]])
