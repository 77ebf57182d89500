"""Scans: sums and products up to each element."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels import cache_blocks, threads
from directml_py.kernels.backend import backend
from directml_py.kernels.scan import Tiles, scan

from .test_gather import laid_out
from .variants import LAYOUTS

BLOCK = 1 << 14
SHAPES = [(7,), (3 * BLOCK + 5,), (300, 200), (3, 70_000), (70_000, 3), (40, 50, 30), (1, 9, 130, 70)]
FLOATS = (np.float16, np.float32, np.float64)


@pytest.fixture(autouse=True, params=["native", "numpy"])
def kernels(request, monkeypatch):
    """Small work has blocks and threads."""
    if request.param == "native":
        request.getfixturevalue("set_threads")(3)
    else:
        monkeypatch.setattr(backend, "native", None)
    monkeypatch.setattr(cache_blocks, "BLOCK", BLOCK)
    monkeypatch.setattr("directml_py.kernels.scan.BLOCK", BLOCK)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1e-9)
    monkeypatch.setattr(backend, "is_plain", False)
    monkeypatch.setattr(backend, "threads", 3)
    return request.param


def numbers(shape, dtype):
    rng = np.random.default_rng(3)
    if dtype in FLOATS:
        # Few of them, and of exact sums: whatever the order, the result is the same.
        return rng.integers(-4, 5, shape).astype(dtype)
    return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def expected(function, x, axis, exclusive, decreasing):
    wide = x.astype(np.float32 if x.dtype == np.float16 else x.dtype)
    wide = np.flip(wide, axis) if decreasing else wide
    with np.errstate(all="ignore"):
        results = function.accumulate(wide, axis, dtype=wide.dtype)
        if exclusive:
            results = np.roll(results, 1, axis)
            np.moveaxis(results, axis, 0)[0] = function.identity
        return (np.flip(results, axis) if decreasing else results).astype(x.dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [*FLOATS, np.int8, np.uint32, np.int64])
@swept("shape", SHAPES)
def test_every_shape_axis_and_direction(shape, dtype, kernels):
    x = numbers(shape, dtype)
    for axis, exclusive, decreasing in itertools.product(range(len(shape)), [False, True], [False, True]):
        output = np.empty_like(x)
        run = scan(np.add, x, output, axis, exclusive=exclusive, decreasing=decreasing)
        assert isinstance(run, Tiles) == (kernels == "numpy" and math.prod(shape) > BLOCK)
        for _ in range(2):
            run()
            np.testing.assert_array_equal(output, expected(np.add, x, axis, exclusive, decreasing))
            output[...] = 0


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32])
def test_products(dtype, exclusive):
    x = np.where(np.random.default_rng(0).random((300, 400)) < 0.5, 2, 0.5).astype(dtype)
    x[x == 0] = 3
    for axis in (0, 1):
        output = np.empty_like(x)
        scan(np.multiply, x, output, axis, exclusive=exclusive)()
        np.testing.assert_array_equal(output, expected(np.multiply, x, axis, exclusive, False))


@pytest.mark.parametrize("shape", [(30, 20), (300, 200)])
def test_strided_broadcast_and_in_place(shape):
    base = numbers((shape[0], 2 * shape[1]), np.float32)
    for x in (base[:, ::2], base[:, 1::2][::-1], np.broadcast_to(base[:1, : shape[1]], shape)):
        for axis in (0, 1):
            output = np.zeros(shape[::-1], np.float32).T
            scan(np.add, x, output, axis)()
            np.testing.assert_array_equal(output, expected(np.add, x, axis, False, False))
    for axis, exclusive, decreasing in itertools.product((0, 1), [False, True], [False, True]):
        x = numbers(shape, np.float32)
        right = expected(np.add, x, axis, exclusive, decreasing)
        scan(np.add, x, x, axis, exclusive=exclusive, decreasing=decreasing)()
        np.testing.assert_array_equal(x, right)


@pytest.mark.parametrize("size", [10, BLOCK + 10])
def test_special_numbers(size):
    x = np.full(size, -0.0, np.float32)
    output = np.empty_like(x)
    scan(np.add, x, output, 0)()
    assert np.signbit(output).all()
    scan(np.add, x, output, 0, exclusive=True)()
    assert not np.signbit(output).any()
    x[3:6] = np.inf, 1, -np.inf
    scan(np.add, x, output, 0)()
    assert output[:6].tolist()[:5] == [0, 0, 0, np.inf, np.inf]
    assert np.isnan(output[5:]).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("function", [np.add, np.multiply])
def test_each_result_is_rounded_to_float32(function, dtype):
    """Before the next element, in long rows too; what FLOAT32 has is no error."""
    x = np.random.default_rng(1).random(8 * BLOCK).astype(dtype) + dtype(function is np.multiply) / 2
    output, right, kept = np.empty_like(x), np.empty_like(x), np.float32(function.identity)
    scan(function, x, output, 0)()
    with np.errstate(all="ignore"):
        for place, element in enumerate(x.astype(np.float32)):
            kept = function(kept, element)
            right[place] = kept
    np.testing.assert_array_equal(output, right)


def test_plain_loops_give_the_same(monkeypatch):
    x = numbers((300, 200), np.float32)
    first, second = np.empty_like(x), np.empty_like(x)
    scan(np.add, x, first, 1)()
    monkeypatch.setattr(backend, "native", None)
    monkeypatch.setattr(backend, "is_plain", True)
    run = scan(np.add, x, second, 1)
    assert not isinstance(run, Tiles)
    run()
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int8, np.uint16, np.int32, np.uint64]
)
def test_every_layout_byte_for_byte(dtype):
    """Also what lies around and between the elements, which products that overflow do not touch either."""
    rng = np.random.default_rng(5)
    for layout, other in itertools.product(LAYOUTS, LAYOUTS[:-1]):
        for sizes in [(5, 70, 3), (80, 9), (1,), (2, 3, 2, 2, 1, 3, 2, 2)]:
            x, _ = laid_out(rng, sizes, dtype, layout)
            x[...] = numbers(sizes, dtype)
            output, memory = laid_out(rng, sizes, dtype, other)
            for function, axis in itertools.product((np.add, np.multiply), range(len(sizes))):
                exclusive, decreasing = rng.random(2) < 0.5
                options = {"exclusive": bool(exclusive), "decreasing": bool(decreasing)}
                before = memory.copy()
                output[...] = expected(function, x, axis, exclusive, decreasing)
                right, memory[:] = memory.copy(), before
                scan(function, x, output, axis, **options)()
                np.testing.assert_array_equal(memory, right)


@pytest.mark.slow
def test_long_rows_in_parts():
    """Integers go on from part to part, in place too; floats are one after the other."""
    rng = np.random.default_rng(9)
    for sizes, axis in [((1_200_007,), 0), ((3, 400_003), 1), ((400_003, 3), 0), ((9, 300_001), 1)]:
        for dtype in (np.int32, np.float32, np.float16):
            x = rng.integers(-1, 2, sizes).astype(dtype)
            for exclusive in (False, True):
                output = x.copy()
                scan(np.add, output, output, axis, exclusive=exclusive)()
                np.testing.assert_array_equal(output, expected(np.add, x, axis, exclusive, False))
    x = np.ones(100_000, np.float32)
    # The later ones by themselves are out of FLOAT32's range.
    x[:1], x[50_000:50_002] = 2.0**-126, 2.0**120
    output = np.empty_like(x)
    scan(np.multiply, x, output, 0)()
    assert output[[0, 49_999, 60_000]].tolist() == [2.0**-126, 2.0**-126, 2.0**114]


@swept("exclusive", [False, True])
@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (np.maximum, np.float32),
        (np.maximum, np.float16),
        (np.minimum, np.int8),
        (np.minimum, np.uint32),
        (np.bitwise_or, np.int64),
        (np.logaddexp, np.float32),
    ],
    ids=str,
)
def test_functions_without_a_native_kernel(function, dtype, exclusive):
    """NumPy's, with whichever kernels; exclusive ones begin with what any element goes through unchanged."""
    first = {
        np.maximum: -np.inf,
        np.minimum: np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else np.inf,
        np.bitwise_or: 0,
        np.logaddexp: -np.inf,
    }[function]
    for shape in [(7,), (300, 200)]:
        x = numbers(shape, dtype)
        right = function.accumulate(x.astype(np.float32) if dtype == np.float16 else x, 0)
        if exclusive:
            right = np.concatenate([np.full_like(right[:1], first), right[:-1]])
        output = np.empty_like(x)
        scan(function, x, output, 0, exclusive=exclusive)()
        np.testing.assert_array_equal(output, right.astype(dtype))


def test_a_function_without_a_result_of_no_elements():
    x = numbers((7,), np.float32)
    with pytest.raises(ValueError, match="subtract of no elements has no result"):
        scan(np.subtract, x, np.empty_like(x), 0)()
