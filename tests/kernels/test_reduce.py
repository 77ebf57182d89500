"""Folds: the native kernels against NumPy's, and both against arithmetic that rounds once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeps import swept

from directml_py.kernels.decisions import Declined
from directml_py.kernels.reduce import FUNCTIONS, fold, native_fold, numpy_fold

Array = npt.NDArray[Any]
FLOATS = ("float16", "float32")
INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
FLOAT_FUNCTIONS = ("AVERAGE", "L2", "LOG_SUM", "LOG_SUM_EXP")
ARGS = ("ARGMIN", "ARGMAX")
PAIRS = [
    (function, dtype)
    for function in sorted(FUNCTIONS)
    for dtype in (*FLOATS, *INTEGERS)
    if dtype in FLOATS or function not in FLOAT_FUNCTIONS
]
SHAPES = (
    (1,),
    (7,),
    (1031,),
    (5, 1, 3),
    (3, 37, 65),
    (2, 3, 5, 7),
    (1, 1031, 3),
    (70, 1, 300),
    (130, 70),
    (40, 2, 2),
)
LAYOUTS = ("packed", "padded", "transposed", "reversed", "broadcast")
GUARD = 0xA5

pytestmark = pytest.mark.usefixtures("native")


def kept(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape))


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, kind: str = "plain") -> Array:
    """``kind``: ``plain``, ``ties`` (few values), ``special`` (NaN, infinities, zeros and subnormal numbers too)."""
    if dtype not in FLOATS:
        limits = np.iinfo(dtype)
        low, high = (limits.min, limits.max) if kind == "plain" else (0, 3)
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)
    x = rng.standard_normal(shape).astype(dtype)
    if kind == "ties":
        x = np.round(x).astype(dtype)
    if kind == "special":
        tiny = np.finfo(dtype).smallest_subnormal
        extra = np.array([np.nan, np.nan, np.inf, -np.inf, -np.inf, 0.0, -0.0, tiny, -3 * tiny], dtype)
        extra = extra[rng.random(extra.size) < 0.5]
        if extra.size:
            x = np.where(rng.random(shape) < rng.random(), rng.choice(extra, shape), x)
    return x


def signs(function: str, x: Array) -> Array:
    """For products: FLOAT64, which native kernels multiply in, neither overflows nor vanishes where FLOAT32 does."""
    if function != "MULTIPLY" or x.dtype.kind != "f":
        return x
    return np.where(np.isinf(x), x, np.sign(x))


def laid_out(x: Array, layout: str) -> Array:
    if layout == "padded":
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return np.asarray(wide[..., ::2])
    if layout == "transposed":
        return np.asfortranarray(x)
    if layout == "reversed":
        return np.asarray(x[(slice(None, None, -1),) * x.ndim])
    if layout == "broadcast":
        return np.broadcast_to(x[:1], x.shape)
    return x


def output_type(function: str, x: Array) -> Any:
    return np.dtype(np.uint32) if function in ARGS else x.dtype


def run_native(function: str, x: Array, axes: tuple[int, ...], decreasing: bool = False) -> Array:
    """The result, after a check that nothing between or around the output's elements was written."""
    shape = kept(x.shape, axes)
    dtype = output_type(function, x)
    memory = np.full((math.prod(shape) * 2 + 16) * dtype.itemsize, GUARD, np.uint8)
    output = memory.view(dtype)[8 : 8 + 2 * math.prod(shape)].reshape((*shape, 2))[..., 0]
    run = native_fold(function, x, output, axes, decreasing)
    assert run
    run()
    result: Array = output.copy()
    run()
    assert np.array_equal(output.view(), result, equal_nan=dtype.kind == "f")
    output.view(f"u{dtype.itemsize}")[...] = int.from_bytes(bytes([GUARD]) * dtype.itemsize, "little")
    assert (memory == GUARD).all()
    return result


def run_numpy(function: str, x: Array, axes: tuple[int, ...], decreasing: bool = False) -> Array:
    output = np.empty(kept(x.shape, axes), output_type(function, x))
    numpy_fold(function, x, output, axes, decreasing)()
    return output


def exact(function: str, row: Array) -> Any:
    """What a row of numbers comes to: FLOAT64 that was rounded once, or an integer that wraps."""
    if row.dtype.kind != "f":
        values = [int(value) for value in row]
        results = {
            "SUM": sum(values),
            "L1": sum(map(abs, values)),
            "SUM_SQUARE": sum(value * value for value in values),
            "MULTIPLY": math.prod(values),
            "MIN": min(values),
            "MAX": max(values),
        }
        return results[function]
    wide = row.astype(np.float64)
    if function in ("SUM", "AVERAGE", "LOG_SUM"):
        total = math.fsum(wide)
        if function == "LOG_SUM":
            return math.log(total)
        return total if function == "SUM" else total / len(wide)
    if function == "L1":
        return math.fsum(np.abs(wide))
    if function in ("L2", "SUM_SQUARE"):
        total = math.fsum(wide * wide)
        return total if function == "SUM_SQUARE" else math.sqrt(total)
    if function == "MULTIPLY":
        return float(np.multiply.reduce(row.astype(np.longdouble)))
    if function == "LOG_SUM_EXP":
        return float(np.log(np.sum(np.exp(row.astype(np.longdouble)))))
    return min(wide) if function == "MIN" else max(wide)


def rows_of(x: Array, axes: tuple[int, ...]) -> Array:
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    order = (*rest, *sorted(axes))
    return np.asarray(x.transpose(order).reshape((math.prod(x.shape[axis] for axis in rest), -1)))


def subsets(rank: int) -> Iterator[tuple[int, ...]]:
    for count in range(1, rank + 1):
        yield from itertools.combinations(range(rank), count)


def alike(function: str, x: Array, found: Array, expected: Array) -> bool:
    """Equal except for the rounding of intermediate results."""
    if function in (*ARGS, "MIN", "MAX") or x.dtype.kind != "f":
        return np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")
    few = 4 * float(np.finfo(x.dtype).eps)
    scale = 1.0 if function in ("MULTIPLY", "L2", "L1", "SUM_SQUARE") else float(x[np.isfinite(x)].size or 1)
    return np.allclose(
        found.astype(np.float64), expected.astype(np.float64), rtol=few, atol=few * scale, equal_nan=True
    )


@pytest.mark.slow
@pytest.mark.parametrize(("function", "dtype"), PAIRS)
def test_every_shape_layout_and_choice_of_axes(function: str, dtype: str) -> None:
    rng = np.random.default_rng(7)
    for shape, layout in itertools.product(SHAPES, LAYOUTS):
        for axes in subsets(len(shape)):
            kind = str(rng.choice(["plain", "ties", "special"]))
            x = laid_out(signs(function, numbers(rng, shape, dtype, kind)), layout)
            for decreasing in (False, True) if function in ARGS else (False,):
                found = run_native(function, x, axes, decreasing)
                expected = run_numpy(function, x, axes, decreasing)
                assert alike(function, x, found, expected), (shape, layout, axes, kind, decreasing)


@pytest.mark.parametrize(("function", "dtype"), [pair for pair in PAIRS if pair[0] not in ARGS])
@swept("shape", [(3, 1031), (1031, 3), (40, 40)])
@swept("axes", [(0,), (1,), (0, 1)])
def test_exactness(function: str, dtype: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """One rounding away from the exact result, and so no further than NumPy's loops; integers wrap."""
    x = numbers(np.random.default_rng(3), shape, dtype)
    if dtype in FLOATS and function == "LOG_SUM":
        x = np.abs(x)
    if dtype in FLOATS and function == "MULTIPLY":
        x = (1 + x / 256).astype(dtype)
    found = run_native(function, x, axes).ravel()
    for value, row in zip(found, rows_of(x, axes), strict=True):
        right = exact(function, row)
        if dtype in FLOATS:
            limit = float(np.spacing(np.abs(np.array(right, dtype)))) * 0.501
            # Sums of FLOAT16 are FLOAT32 for four elements; what cancels out shows their rounding.
            limit += float(np.abs(row.astype(np.float64)).sum()) * (
                2.0**-24 if dtype == "float16" else 2.0**-50
            )
            assert abs(float(value) - right) <= limit
        else:
            assert (int(value) - right) % 2 ** (8 * x.itemsize) == 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_are_at_least_as_exact_as_numpys(dtype: str) -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((300, 2000)).astype(dtype)
    right = np.array([math.fsum(row.astype(np.float64)) for row in x])
    errors = [
        np.abs(run(function, x, (1,)).ravel().astype(np.float64) - right).max()
        for run in (run_native, run_numpy)
        for function in ("SUM",)
    ]
    assert errors[0] <= errors[1]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [*FLOATS, "int8", "int64", "uint32"])
@swept("function", ["SUM", "L1", "MIN", "MAX", "ARGMIN", "ARGMAX", "LOG_SUM_EXP"])
@swept(
    "shape, axes",
    [
        ((700, 2100), (0,)),
        ((700, 2100), (1,)),
        ((3, 1_000_003), (1,)),
        ((1_000_003, 3), (0,)),
        ((1200, 1201), (0, 1)),
    ],
)
def test_results_do_not_depend_on_threads(
    set_threads: Any, function: str, dtype: str, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    if function in FLOAT_FUNCTIONS and dtype not in FLOATS:
        pytest.skip("a function of floating point numbers")
    x = numbers(np.random.default_rng(1), shape, dtype, "ties" if function in ARGS else "plain")
    results = []
    for decreasing in (False, True) if function in ARGS else (False,):
        for count in (1, 2, 3):
            set_threads(count)
            results.append(run_native(function, x, axes, decreasing))
        assert np.array_equal(results[-1], results[-2])
        assert np.array_equal(results[-1], results[-3])
        assert alike(function, x, results[-1], run_numpy(function, x, axes, decreasing))


@pytest.mark.parametrize("dtype", FLOATS)
@swept("across", [False, True])
@swept("length", [1, 3, 40, 700])
def test_special_numbers(dtype: str, across: bool, length: int) -> None:
    def result(function: str, *values: float) -> float:
        row = np.resize(np.array(values, dtype), length) if length > len(values) else np.array(values, dtype)
        x = np.repeat(row[:, None], 20, axis=1) if across else row[None]
        found = run_native(function, x, (0,) if across else (1,)).ravel()
        assert np.array_equal(found, np.full_like(found, found[0]), equal_nan=True)
        return float(found[0])

    nan, inf = math.nan, math.inf
    assert math.isnan(result("MAX", nan))
    assert math.isnan(result("MIN", nan))
    assert result("MAX", nan, -inf, nan) == -inf
    assert result("MIN", nan, inf, nan) == inf
    assert result("MAX", nan, 2, -inf) == 2
    assert result("MIN", 2, nan, inf) == 2
    assert math.isnan(result("SUM", 1, nan))
    assert math.isnan(result("SUM", inf, -inf))
    assert result("L1", -inf, 1) == inf
    assert result("L2", -inf, 1) == inf
    assert math.copysign(1, result("SUM", -0.0)) == -1
    assert math.copysign(1, result("SUM", -0.0, 0.0)) == 1
    assert result("LOG_SUM", 0.0) == -inf
    assert math.isnan(result("LOG_SUM", -1.0))
    assert result("LOG_SUM_EXP", -inf) == -inf
    assert result("LOG_SUM_EXP", -inf, inf, 1) == inf
    assert math.isnan(result("LOG_SUM_EXP", nan, 1))
    assert math.isnan(result("LOG_SUM_EXP", inf, nan))
    assert math.isnan(result("LOG_SUM_EXP", nan, -inf))
    assert math.isnan(result("LOG_SUM_EXP", nan))
    assert result("ARGMAX", nan) == 0
    assert result("ARGMAX", nan, -inf, nan) == 0
    assert result("ARGMIN", nan, nan, inf) == 0
    assert result("ARGMAX", -inf, nan, -inf) == 0
    assert result("ARGMIN", inf, nan, nan) == 0
    assert result("ARGMIN", 1, nan, -inf) == 2
    assert result("ARGMAX", -0.0, 0.0) == 0
    assert result("ARGMIN", 0.0, -0.0) == 0
    tiny = float(np.finfo(dtype).smallest_subnormal)
    assert result("MAX", -tiny, tiny) == tiny
    assert result("MIN", tiny, 3 * tiny) == tiny
    large = float(np.finfo(dtype).max)
    assert result("LOG_SUM_EXP", large) == inf
    assert result("LOG_SUM_EXP", -large) == -inf
    assert result("SUM", large, large) == inf


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_of_every_length(dtype: str) -> None:
    """Among NaN, which no row reads; sums of whole numbers are exact, and that of -0 alone is -0."""
    rng = np.random.default_rng(9)
    for length in (*range(1, 140), 255, 511, 512, 513, 1023, 1025, 4097):
        memory = np.full((7, length + 2), np.nan, dtype)
        x = memory[1:6, 1:-1]
        x[:] = rng.integers(-9, 10, x.shape)
        x[-1] = -0.0
        sums = np.sum(x, 1, np.float64, keepdims=True)
        found = run_native("SUM", x, (1,))
        np.testing.assert_array_equal(found, sums)
        assert np.signbit(found[-1])
        means = (sums / length).astype(np.float32)
        np.testing.assert_array_equal(run_native("AVERAGE", x, (1,)), means.astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("function", "best", "infinity"), [("MAX", 2, -np.inf), ("MIN", -2, np.inf)])
def test_extremes_at_every_place_of_rows(dtype: str, function: str, best: float, infinity: float) -> None:
    for length in range(1, 140):
        for value, others in ((best, 1), (best, np.nan), (infinity, np.nan)):
            x = np.full((length, length), others, dtype)
            np.fill_diagonal(x, value)
            np.testing.assert_array_equal(run_native(function, x, (1,)), np.full((length, 1), value, dtype))


@pytest.mark.parametrize("dtype", [*FLOATS, "int8", "uint16", "int32", "int64"])
@swept("function", ["SUM", "L1", "SUM_SQUARE", "MULTIPLY", "MIN", "MAX"])
def test_packed_rows_of_few_and_of_many(dtype: str, function: str) -> None:
    """Rows that follow each other: more than a block of short ones, and around every number of accumulators."""
    rng = np.random.default_rng(6)
    lengths = (
        (5003, 2),
        (4099, 3),
        (4097, 4),
        (37, 5),
        (7, 127),
        (7, 129),
        (5, 383),
        (5, 513),
        (3, 1023),
        (3, 1100),
    )
    for shape in lengths:
        x = rng.integers(1, 3, shape).astype(dtype)
        x[:, x.shape[1] // 2 :: 7] = 5 if dtype.startswith("u") else -4
        x = signs(function, x)
        found = run_native(function, x, (1,)).ravel()
        for value, row in zip(found[-37:], x[-37:], strict=True):
            right = exact(function, row)
            if dtype in FLOATS:
                assert value == np.array(right).astype(dtype)
            else:
                assert (int(value) - right) % 2 ** (8 * x.itemsize) == 0


def test_sums_of_subnormal_numbers() -> None:
    x = np.full((1, 24), np.finfo(np.float16).smallest_subnormal, np.float16)
    assert float(run_native("SUM", x, (1,))[0, 0]) == 24 * 2.0**-24
    y = np.full((1, 24), np.finfo(np.float32).smallest_subnormal, np.float32)
    assert float(run_native("SUM", y, (1,))[0, 0]) == 24 * 2.0**-149


def test_every_float16_is_read_and_written() -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    for view, axes in ((x[:, None], (1,)), (x[None], (0,)), (np.repeat(x, 3).reshape(-1, 3), (1,))):
        found = run_native("MAX", view, axes).ravel()
        assert np.array_equal(found, x, equal_nan=True)


def test_results_of_float16_are_rounded_to_even() -> None:
    large = np.array([[2048, 1], [2050, 1], [65504, 15], [65504, 16]], np.float16)
    assert run_native("SUM", large, (1,)).ravel().tolist() == [2048, 2052, 65504, math.inf]


@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 600.0, 1e30])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_log_sum_exp(spread: float, axes: tuple[int, ...]) -> None:
    """Within one rounding of the result in FLOAT64, where the sum is in the range of FLOAT32."""
    x = (np.random.default_rng(2).standard_normal((257, 1031)) * spread).astype(np.float32)
    found = run_native("LOG_SUM_EXP", x, axes).astype(np.float64)
    wide = x.astype(np.longdouble)
    top = wide.max(axis=axes, keepdims=True)
    right = (np.log(np.exp(wide - top).sum(axis=axes, keepdims=True)) + top).astype(np.float64)
    if spread > 1:
        is_out = right > math.log(np.finfo(np.float32).max)
        assert is_out.any()
        np.testing.assert_array_equal(found == math.inf, is_out)
        found, right = found[~is_out], right[~is_out]
    # The largest alone may nearly cancel the logarithm; then the rounding of FLOAT64 remains.
    assert (np.abs(found - right) <= 0.51 * np.spacing(np.abs(right).astype(np.float32)) + 1e-11).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1, 3), (4, 1), (3, 700), (700, 40)])
def test_the_range_of_sums_of_exponentials(dtype: str, shape: tuple[int, ...]) -> None:
    """exp(88.72) is FLOAT32's, exp(88.73) is not; nor is exp(-104), and 2^-149, which is, is more than exp(-103.5)."""
    inf = math.inf
    results = {88.5: 88.5, 88.75: inf, 100.0: inf, -103.5: -103.5, -104.0: -inf, -300.0: -inf}
    for value, result in results.items():
        x = np.full(shape, -inf, dtype)
        x[:, 0] = value
        for run in (run_native, run_numpy):
            assert (run("LOG_SUM_EXP", x, (1,)) == result).all()


@pytest.mark.parametrize("run", [run_native, run_numpy])
def test_the_range_of_sums_of_squares(run: Any) -> None:
    x = np.array([[1e20, 1e20], [1e19, 1e19], [1e-20, 1e-20], [1e-23, 1e-23]], np.float32)
    expected = np.array([[math.inf], [math.sqrt(2) * 1e19], [math.sqrt(2) * 1e-20], [0]], np.float32)
    np.testing.assert_array_max_ulp(run("L2", x, (1,)), expected, 2)


@pytest.mark.parametrize("output", ["int32", "int64", "uint32", "uint64"])
def test_types_of_indices(output: str) -> None:
    x = np.random.default_rng(4).standard_normal((30, 50)).astype(np.float32)
    for axes in ((0,), (1,), (0, 1)):
        found = np.empty(kept(x.shape, axes), output)
        run = native_fold("ARGMAX", x, found, axes, False)
        assert run
        run()
        assert np.array_equal(found, run_numpy("ARGMAX", x, axes))


def test_what_the_loops_do_not_know_is_done_by_numpy() -> None:
    x = np.arange(12.0).reshape(3, 4)
    output = np.zeros((3, 1))
    assert isinstance(native_fold("SUM", x, output, (1,), False), Declined)
    fold("SUM", x, output, (1,))()
    assert output.ravel().tolist() == [6, 22, 38]
    y = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert isinstance(native_fold("SUM", y, y[:, :1], (1,), False), Declined)
    with pytest.raises(ValueError, match="no such function"):
        fold("MEDIAN", x, output, (1,))


def test_scratch_is_used_by_numpys_loops() -> None:
    x = np.zeros((3, 4), np.float32)
    output, scratch = np.empty((3, 1), np.float32), np.zeros(8 * x.size, np.uint8)
    numpy_fold("LOG_SUM_EXP", x, output, (1,), scratch=scratch)()
    assert np.allclose(output, math.log(4))
    assert (scratch.view(np.float64) == 1).all()


def test_logarithms() -> None:
    """Of one number each: of every magnitude, around 1 where little is left, and of what has none."""
    rng = np.random.default_rng(5)
    near = 1 + np.concatenate([rng.uniform(-1e-6, 1e-6, 500), rng.uniform(-0.5, 1, 500)])
    magnitudes = 2 ** rng.uniform(-149, 128, 5000)
    special = [0.0, -0.0, -1.0, np.inf, -np.inf, np.nan, 1.0, 2**0.5, 0.5**0.5, 2.0**-149, 3.4e38]
    x = np.concatenate([near, magnitudes, special]).astype(np.float32)[:, None]
    found = run_native("LOG_SUM", x, (1,))
    with np.errstate(all="ignore"):
        expected = np.log(x.astype(np.float64))
        np.testing.assert_allclose(found, expected, rtol=6.1e-8, atol=0)
    assert (found == expected.astype(np.float32)).sum() > x.size - 20


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_random_cases(data: st.DataObject) -> None:
    function, dtype = data.draw(st.sampled_from(PAIRS))
    shape = tuple(data.draw(st.lists(st.sampled_from([1, 2, 3, 5, 17, 33, 130]), min_size=1, max_size=4)))
    if math.prod(shape) > 300_000:
        shape = shape[:2]
    axes = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    order = data.draw(st.permutations(range(len(shape))))
    base = numbers(
        rng, tuple(shape[axis] for axis in order), dtype, data.draw(st.sampled_from(["ties", "special"]))
    )
    base = laid_out(signs(function, base), data.draw(st.sampled_from(LAYOUTS)))
    x = base.transpose([order.index(axis) for axis in range(len(shape))])
    decreasing = function in ARGS and data.draw(st.booleans())
    found = run_native(function, x, axes, decreasing)
    assert alike(function, x, found, run_numpy(function, x, axes, decreasing))


@pytest.mark.parametrize("decreasing", [False, True])
@pytest.mark.parametrize("function", ["ARGMIN", "ARGMAX"])
def test_indices_over_broadcast_axes(function, decreasing):
    """Against the same elements in memory of their own: some reduced axes are broadcast, and kept ones."""
    pick = np.random.default_rng(0)
    for axes in ((1,), (0, 1), (1, 3), (0, 1, 2, 3), (2, 3)):
        small = pick.integers(0, 3, (2, 1, 3, 1)).astype(np.float32)
        small[pick.random(small.shape) < 0.2] = np.nan
        x = np.broadcast_to(small, (2, 4, 3, 5))
        sizes = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
        found, expected = np.empty(sizes, np.uint32), np.empty(sizes, np.uint32)
        numpy_fold(function, x, found, axes, decreasing)()
        numpy_fold(function, x.copy(), expected, axes, decreasing)()
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("decreasing", "index"), [(False, 0), (True, 2**32 - 2)])
def test_indices_of_as_many_elements_as_a_tensor_has(decreasing, index):
    """One element, seen 2 ** 32 - 1 times: there is no memory for that many."""
    x = np.broadcast_to(np.float32(2), (1, 1, 65535, 65537))
    out = np.empty((1, 1, 1, 1), np.uint32)
    numpy_fold("ARGMAX", x, out, (2, 3), decreasing)()
    assert out.item() == index
