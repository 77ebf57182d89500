"""Functions of rows: in blocks and in threads they give what they give at once."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py.kernels import rowwise, threads
from directml_py.kernels.backend import backend
from directml_py.kernels.elementwise.map import map_whole
from directml_py.kernels.rowwise import LINE, map_rows, row_lengths

BLOCK = 1 << 10
# Few rows that are long, many that are short, and rows that lie in between.
SHAPES = [(3 * BLOCK,), (3, 2 * BLOCK + 1), (2 * BLOCK + 1, 3), (5, 40, 30), (7, 6, 5, 11), (1, 70, 1, 50)]


@pytest.fixture(autouse=True)
def _small_work_has_blocks_and_threads(monkeypatch):
    monkeypatch.setattr(rowwise, "BLOCK", BLOCK)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1e-9)
    monkeypatch.setattr(backend, "is_plain", False)
    monkeypatch.setattr(backend, "threads", 3)


def numbers(*shape, dtype=np.float32):
    """Few of them, and of exact sums: whatever the order, the result is the same."""
    return np.random.default_rng(len(shape)).integers(-4, 5, shape).astype(dtype)


def axes_of(shape):
    """None, each alone, the outer ones, the inner ones, and all."""
    whole = range(len(shape))
    return {(), *((axis,) for axis in whole), *map(tuple, ({0, whole[-1]}, whole[1:], whole))}


def centered(axes):
    def function(x, scale, absent):
        assert absent is None
        assert x.dtype == np.float32
        total = x.sum(axes, keepdims=True)
        return x * scale - total, total

    return function


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_choice_of_axes(shape, dtype):
    x = numbers(*shape, dtype=dtype)
    for axes in sorted(axes_of(shape)):
        small = [1 if axis in axes else size for axis, size in enumerate(shape)]
        for scale in (numbers(*small, dtype=dtype), numbers(*(1,) * len(shape), dtype=dtype)):
            outputs = [np.empty(shape, dtype), np.empty(small, dtype)]
            expected = [np.empty(shape, dtype), np.empty(small, dtype)]
            function, inputs = centered(axes), [x, scale, None]
            run = map_rows(function, inputs, outputs, axes)
            map_whole(function, inputs, expected)
            for _ in range(2):
                run()
                for one, other in zip(outputs, expected):
                    np.testing.assert_array_equal(one, other)
                    one[...] = 7


def test_layouts():
    """Turned, spaced, backward, and broadcast; what lies beside an output's elements stays."""
    x = numbers(60, 5, 80).transpose(2, 1, 0)[::-1]
    scale = np.broadcast_to(numbers(1, 5, 1), x.shape)
    memory = np.full((80, 5, 2, 60), 7, np.float32)
    totals = np.empty((80, 1, 60), np.float32)
    expected = [np.empty(x.shape, np.float32), np.empty(totals.shape, np.float32)]
    map_rows(centered((1,)), [x, scale, None], [memory[:, :, 1], totals], (1,))()
    map_whole(centered((1,)), [x, scale, None], expected)
    np.testing.assert_array_equal(memory[:, :, 1], expected[0])
    np.testing.assert_array_equal(totals, expected[1])
    assert (memory[:, :, 0] == 7).all()


def test_an_output_that_is_absent():
    x = numbers(3, 3 * BLOCK)
    totals = np.empty((3, 1), np.float32)
    map_rows(centered((1,)), [x, x, None], [None, totals], (1,))()
    np.testing.assert_array_equal(totals, x.sum(1, keepdims=True))


def test_blocks_have_whole_rows_and_as_many_as_fit():
    def steps(axes, *shape):
        return row_lengths(shape, axes)

    assert steps((2,), 4, 100, 50) == [1, BLOCK // 50, 50]
    assert steps((1,), 4, 3 * BLOCK) == [1, 3 * BLOCK]
    assert steps((), 9, 4, 5) == [9, 4, 5]
    # Of rows whose elements lie apart, as many as lie together.
    assert steps((0, 1), 4, 100, 50) == [4, 100, LINE]
    assert steps((0, 1), 4, 100, 3) == [4, 100, 3]
    assert steps((0,), 8, 3, 1000) == [8, 1, BLOCK // 8]


def test_what_is_added_up_does_not_depend_on_the_layout():
    """Not even where the order of a sum decides about its result."""
    rng = np.random.default_rng(5)
    x = (rng.normal(size=(40, 30, 7)) * 10.0 ** rng.integers(-20, 20, (40, 30, 7))).astype(np.float32)
    views = [x, x.transpose(2, 1, 0).copy().T, x[::-1, ::-1].copy()[::-1, ::-1], np.repeat(x, 2, 2)[..., ::2]]
    for axes in axes_of(x.shape):
        expected = None
        for view in views:
            for target in views:
                output = np.empty_like(target)
                map_rows(lambda one, axes=axes: one - one.sum(axes, keepdims=True), [view], [output], axes)()
                expected = output if expected is None else expected
                np.testing.assert_array_equal(output, expected)


def test_nothing_is_heard_of_infinities():
    x = np.full((3, BLOCK), np.inf, np.float32)
    output = np.empty_like(x)
    with np.errstate(all="raise"):
        map_rows(lambda one: one - one.max(1, keepdims=True), [x], [output], (1,))()
    assert np.isnan(output).all()
