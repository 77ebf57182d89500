"""The native picks against NumPy's, byte for byte: also what lies around and between the output's elements."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeps import swept

from directml_py.kernels.backend import backend
from directml_py.kernels.gather_scatter_nd import gather, reference_gather, safe_indices, spread_strides

from .variants import DTYPES, LAYOUTS, assert_same_bytes, guarded

INDEX_TYPES = [np.uint32, np.int32, np.uint64, np.int64]

pytestmark = pytest.mark.usefixtures("native")


def laid_out(rng, sizes, dtype, layout):
    """A view of this layout into random bytes, with guards on both sides; and all those bytes."""
    item = np.dtype(dtype).itemsize
    strides = [0] * len(sizes)
    step = item * (2 if layout == "gapped" else 1)
    order = rng.permutation(len(sizes)) if layout in ("permuted", "negative") else range(len(sizes))[::-1]
    for dimension in order:
        strides[dimension] = step
        step *= sizes[dimension]
        if layout in ("padded", "negative"):
            step += item * int(rng.integers(0, 3))
    if layout in ("negative", "broadcast"):
        factors = [-1, 1] if layout == "negative" else [0, 1]
        strides = [stride * int(rng.choice(factors)) for stride in strides]
    memory, low = guarded(rng, sizes, strides, item)
    return np.ndarray(sizes, dtype, memory, low, strides), memory


def fill_indices(rng, indices, size):
    """Mostly good indices, some negative or outside, and the extremes of the type."""
    limits = np.iinfo(indices.dtype)
    low = max(limits.min, -size - 3)
    values = rng.integers(low, size + 3, indices.shape).astype(indices.dtype)
    extremes = np.array([limits.min, limits.max, 0, size - 1, size], indices.dtype)
    wild = rng.random(indices.shape) < 0.2
    indices[...] = np.where(wild, rng.choice(extremes, indices.shape), values)


def assert_picks(x, indices, output, memory, axis):
    """Run twice, as a compiled operator is; the second time over other bytes and indices."""
    run = gather(x, indices, output, axis)
    assert not hasattr(run, "func") or run.func is not reference_gather
    for _ in range(2):
        before = memory.copy()
        reference_gather(x, indices, output, axis)
        expected = memory.copy()
        memory[:] = before
        run()
        assert_same_bytes(memory, expected)
        memory += 1
        if indices.size and 0 not in [s for s, n in zip(indices.strides, indices.shape) if n > 1]:
            indices[...] = indices[(slice(None, None, -1),) * indices.ndim].copy()


def assert_pick(rng, sizes, axis, index_sizes, item, index_type, layouts):
    x, _ = laid_out(rng, sizes, DTYPES[item], layouts[0])
    indices, _ = laid_out(rng, index_sizes, index_type, layouts[1])
    fill_indices(rng, indices, sizes[axis])
    output, memory = laid_out(
        rng, (*sizes[:axis], *index_sizes, *sizes[axis + 1 :]), DTYPES[item], layouts[2]
    )
    assert_picks(x, indices, output, memory, axis)


def random_sizes(rng, rank, choices, limit):
    while True:
        sizes = [int(rng.choice(choices)) for _ in range(rank)]
        if math.prod(sizes) <= limit:
            return sizes


@pytest.mark.slow
@swept("index_rank", range(4))
@swept("rank", range(1, 9))
@pytest.mark.parametrize("item", DTYPES)
def test_every_item_rank_and_layout(item, rank, index_rank):
    rng = np.random.default_rng([item, rank, index_rank])
    for axis in range(rank):
        for layout in rng.choice(LAYOUTS, 2):
            sizes = random_sizes(rng, rank, [1, 2, 3, 5, 8, 17, 40, 64], 4000)
            index_sizes = random_sizes(rng, index_rank, [1, 2, 3, 5, 20], 100)
            layouts = layout, rng.choice(LAYOUTS), rng.choice(LAYOUTS[:-1])
            assert_pick(rng, sizes, axis, index_sizes, item, rng.choice(INDEX_TYPES), layouts)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_random_layouts(data):
    sizes = data.draw(
        st.lists(st.integers(1, 30), min_size=1, max_size=8).filter(lambda s: math.prod(s) <= 3000)
    )
    index_sizes = data.draw(st.lists(st.integers(1, 9), max_size=4).filter(lambda s: math.prod(s) <= 200))
    layouts = [data.draw(st.sampled_from(names)) for names in (LAYOUTS, LAYOUTS, LAYOUTS[:-1])]
    axis = data.draw(st.integers(0, len(sizes) - 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    item, index_type = data.draw(st.sampled_from(sorted(DTYPES))), data.draw(st.sampled_from(INDEX_TYPES))
    assert_pick(rng, sizes, axis, index_sizes, item, index_type, layouts)


@pytest.mark.parametrize("item", DTYPES)
@swept("width", [2, 3, 4, 9, 70])
def test_parts_that_lie_backwards_on_both_sides(width, item):
    """They are copied as a whole, which begins with their last element."""
    rng = np.random.default_rng(width)
    x = rng.integers(0, 250, (30, width), DTYPES[item])[:, ::-1]
    memory = np.full((42, width), 255, DTYPES[item])
    output = memory[1:41, ::-1]
    indices = rng.integers(0, 30, 40)
    gather(x, indices, output, 0)()
    np.testing.assert_array_equal(output, x[indices])
    assert (memory[[0, -1]] == 255).all()


@pytest.mark.parametrize("index_type", INDEX_TYPES)
@swept("size", [1, 2, 7, 1000])
def test_extreme_indices(size, index_type):
    limits = np.iinfo(index_type)
    values = [0, size - 1, size, size + 1, limits.max, limits.max - 1, limits.max // 2 + 1]
    if limits.min < 0:
        values += [-1, -size, -size - 1, -size + 1, limits.min, limits.min + 1]
    indices = np.array(values * 2, index_type)
    for x in (np.arange(size, dtype=np.uint32), np.arange(size * 70).reshape(size, 70)):
        output = np.empty((len(indices), *x.shape[1:]), x.dtype)
        gather(x, indices, output, 0)()
        np.testing.assert_array_equal(output, x[safe_indices(indices, size - 1).astype(int)])
        for index in indices:
            gather(x, np.array(index), output[0, ...], 0)()
            np.testing.assert_array_equal(output[0], x[safe_indices(np.array(index), size - 1)])


@pytest.mark.slow
@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("item", DTYPES)
@swept("width", [1, 2, 3, 12, 100, 128, 2000, 70_000])
def test_rows_beyond_the_blocks_and_the_streaming_threshold(width, item):
    rng = np.random.default_rng(width)
    count = min((9 << 20) // width // item + 1, 2_000_000)
    x, _ = laid_out(rng, (301, width), DTYPES[item], "padded")
    indices, _ = laid_out(rng, (count,), np.int64, "packed")
    fill_indices(rng, indices, 301)
    for layout in ("packed", "gapped"):
        output, memory = laid_out(rng, (count, width), DTYPES[item], layout)
        assert_picks(x, indices, output, memory, 0)


@pytest.mark.slow
@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("item", DTYPES)
@swept("index_sizes", [(), (5,), (16,), (17,), (3, 5), (9001,), (70, 130)])
def test_columns_beyond_the_blocks_and_the_streaming_threshold(index_sizes, item):
    rng = np.random.default_rng(item)
    lines = min(3001, (9 << 20) // item // math.prod(index_sizes) + 1)
    for x_layout, output_layout in (("packed", "packed"), ("permuted", "padded")):
        x, _ = laid_out(rng, (lines, 501), DTYPES[item], x_layout)
        indices, _ = laid_out(rng, index_sizes, np.uint32, "padded")
        fill_indices(rng, indices, 501)
        output, memory = laid_out(rng, (lines, *index_sizes), DTYPES[item], output_layout)
        assert_picks(x, indices, output, memory, 1)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("sizes", [(16, 40, 3, 30, 9), (3, 2, 130, 150), (1000, 3, 8, 2)])
def test_planes(sizes):
    rng = np.random.default_rng(sizes)
    for layouts in (["packed"] * 3, ["permuted", "packed", "padded"], ["padded", "packed", "permuted"]):
        assert_pick(rng, sizes, 1, (4, 10), 4, np.int32, layouts)


def test_output_sizes_of_one_are_free():
    x = np.arange(24).reshape(1, 4, 6)
    for shape in ((3, 6), (1, 1, 3, 6), (1, 3, 1, 6)):
        output = np.zeros(shape, x.dtype)
        gather(x, np.array([[3, 0, -1]]), output, 1)()
        np.testing.assert_array_equal(output.reshape(3, 6), x[0, [3, 0, 3]])
    assert spread_strides((1, 3, 6), np.zeros((3, 1, 6), np.int8)) == [0, 6, 1]


def test_other_index_types_have_no_native_kernel():
    output = np.zeros(3)
    run = gather(np.arange(5.0), np.array([1, -1, 9], np.int16), output, 0)
    run()
    assert output.tolist() == [1, 4, 4]


def test_without_native_loops(monkeypatch):
    monkeypatch.setattr(backend, "native", None)
    output = np.zeros((1, 3))
    gather(np.arange(5.0), np.array([1, -1, 9]), output, 0)()
    assert output.tolist() == [[1, 4, 4]]
