"""Maps in blocks against the twin, which takes all elements at once."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeps import swept

import directml_py as dml
from directml_py.kernels import cache_blocks, threads
from directml_py.kernels.backend import backend
from directml_py.kernels.elementwise.map import Blocks, map_blocks, map_whole

BLOCK = 1 << 14
BIG = 3 * BLOCK + 17


def set_block(patch, size):
    patch.setattr(cache_blocks, "BLOCK", size)
    patch.setattr("directml_py.kernels.elementwise.map.BLOCK", size)


@pytest.fixture(autouse=True)
def _small_work_has_blocks_and_threads(monkeypatch):
    set_block(monkeypatch, BLOCK)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1e-9)
    monkeypatch.setattr(backend, "is_plain", False)
    before = dml.thread_count()
    dml.set_thread_count(3)
    yield
    dml.set_thread_count(before)


def assert_maps(function, inputs, outputs):
    """Twice over other numbers; what lies beside the outputs' elements stays."""
    run = map_blocks(function, inputs, outputs)
    bases = [output.base if output.base is not None else output for output in outputs if output is not None]
    for _ in range(2):
        before = [base.copy() for base in bases]
        map_whole(function, inputs, outputs)
        expected = [base.copy() for base in bases]
        for base, old in zip(bases, before):
            base[...] = old
        run()
        for base, right in zip(bases, expected):
            np.testing.assert_array_equal(base, right)
        for x in inputs:
            if x is not None and x.flags.writeable:
                x += x.dtype.type(1)
    return run


def numbers(*shape, dtype=np.float32):
    return (np.random.default_rng(math.prod(shape)).standard_normal(shape) * 4).astype(dtype)


def spaced(*shape, dtype=np.float32):
    """A view of every other element along the last dimension."""
    return numbers(*shape[:-1], 2 * shape[-1], dtype=dtype)[..., ::2]


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 5, BLOCK, BLOCK + 1, BIG])
def test_a_chain_of_functions(size, dtype):
    x = numbers(size, dtype=dtype)
    run = assert_maps(gelu, [x], [np.empty_like(x)])
    assert isinstance(run, Blocks) == (size > BLOCK)


@pytest.mark.parametrize("function", [np.add, lambda x, y: x + y], ids=["ufunc", "function"])
@swept(
    "y",
    [
        lambda: numbers(40, 50, 30),
        lambda: np.broadcast_to(numbers(30), (40, 50, 30)),
        lambda: numbers(50, 1),
        lambda: numbers(40, 1, 1),
        lambda: numbers(1),
        lambda: numbers(30, 50, 40).T,
        lambda: numbers(40, 50, 30)[::-1, :, ::-1],
        lambda: spaced(40, 50, 30),
        lambda: np.asfortranarray(numbers(40, 50, 30)).transpose(0, 1, 2),
    ],
)
@swept("output", [np.empty, spaced, lambda *_: numbers(40, 30, 50).swapaxes(1, 2)])
@swept("dtype", [np.float16, np.float32])
def test_layouts(function, y, output, dtype):
    output = output((40, 50, 30), dtype) if output is np.empty else output(40, 50, 30)
    assert_maps(function, [numbers(40, 50, 30), y().astype(dtype)], [output])


def test_transposed_planes_are_taken_in_squares():
    x = numbers(700, 300)
    output = np.empty((300, 700), np.float32)
    assert cache_blocks.block_sizes([output, x.T], 1) == [128, 128]
    assert_maps(np.negative, [x.T], [output])
    assert cache_blocks.block_sizes([np.empty((5, 70000)), np.empty((70000, 5)).T], 1) == [5, 128 * 25]


def test_absent_inputs_and_outputs():
    x = numbers(BIG)
    first, last = np.empty_like(x), np.empty(BIG, np.uint8)
    assert_maps(
        lambda a, b, c: (a + c, None if b is None else b, a > c), [x, None, numbers(BIG)], [first, None, last]
    )


def test_results_are_rounded_and_wrap():
    x = np.arange(BIG, dtype=np.int64)
    outputs = [np.empty(BIG, kind) for kind in (np.uint8, np.int32, np.float16, np.float32)]
    assert_maps(lambda x: (x, x * -(1 << 30), x * 0.7, x > 5), [x], outputs)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("function", [np.multiply, lambda x, y: x * y + 1])
def test_in_place(function, dtype):
    x, y = numbers(BIG, dtype=dtype), numbers(BIG, dtype=dtype)
    right = np.empty_like(x)
    map_whole(function, [x, y], [right])
    map_blocks(function, [x, y], [x])()
    np.testing.assert_array_equal(x, right)


def test_two_results_over_both_inputs():
    x, y = numbers(BIG), numbers(BIG)
    total, difference = x + y, x - y
    map_blocks(lambda x, y: (x + y, x - y), [x, y], [x, y])()
    np.testing.assert_array_equal(x, total)
    np.testing.assert_array_equal(y, difference)


def test_numbers_out_of_range_are_no_warnings():
    x = numbers(BIG) * np.float32(1e30)
    assert_maps(lambda x: np.log(x * x), [x], [np.empty_like(x)])
    assert_maps(np.arctanh, [x], [np.empty_like(x)])
    assert_maps(np.square, [x], [np.empty(BIG, np.float16)])


def test_several_threads_take_part():
    dml.set_thread_count(2)
    first, seen, gate = [], set(), threading.Barrier(2, timeout=20)

    def function(x):
        if not first:
            first.append("timed, alone")
        elif threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            gate.wait()
        return x

    x = numbers(40 * BLOCK)
    output = np.empty_like(x)
    before = threading.active_count()
    map_blocks(function, [x], [output])()
    assert len(seen) == 2
    assert threading.active_count() == before
    np.testing.assert_array_equal(output, x)


@pytest.mark.parametrize("count", [1, 3])
def test_what_a_function_raises_is_raised(count):
    dml.set_thread_count(count)
    calls = []

    def function(x):
        calls.append(x.size)
        if len(calls) > 4:
            raise ZeroDivisionError("in a block")
        return x

    x = numbers(50 * BLOCK)
    with pytest.raises(ZeroDivisionError, match="in a block"):
        map_blocks(function, [x], [np.empty_like(x)])()
    assert len(calls) < 10


def test_plain_loops_take_all_at_once(monkeypatch):
    monkeypatch.setattr(backend, "is_plain", True)
    calls = []
    x = numbers(BIG)
    output = np.empty_like(x)
    map_blocks(lambda x: calls.append(x.size) or x, [x], [output])()
    assert calls == [BIG]
    np.testing.assert_array_equal(output, x)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_random_layouts(data):
    shape = tuple(data.draw(st.lists(st.sampled_from([1, 2, 3, 7, 40, 130]), min_size=1, max_size=5)))
    shape = shape if math.prod(shape) <= 400_000 else shape[:2]

    def laid_out(broadcasts):
        order = data.draw(st.permutations(range(len(shape))))
        x = numbers(
            *(shape[axis] for axis in order), dtype=data.draw(st.sampled_from([np.float16, np.float32]))
        )
        x = x.transpose([order.index(axis) for axis in range(len(shape))])
        if broadcasts:
            part = tuple(
                slice(0, 1)
                if data.draw(st.booleans())
                else slice(None, None, data.draw(st.sampled_from([1, -1])))
                for _ in shape
            )
            return np.broadcast_to(x[part], shape)
        return x

    with pytest.MonkeyPatch.context() as patch:
        set_block(patch, 1 << 10)
        assert_maps(
            lambda x, y: (x + y, x * y), [laid_out(True), laid_out(True)], [laid_out(False), laid_out(False)]
        )
