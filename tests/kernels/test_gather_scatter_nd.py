"""Reads and writes at places against plain loops, byte for byte: also what lies around and between the elements."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels import cache_blocks, threads
from directml_py.kernels.backend import backend
from directml_py.kernels.gather_scatter_nd import (
    exact_indices,
    gather_nd,
    read_reversed,
    read_whole,
    scatter_nd,
    scratch_for,
    written_whole,
)
from directml_py.kernels.launch import NativeRun

from .test_gather import INDEX_TYPES, fill_indices, laid_out
from .variants import DTYPES, LAYOUTS, assert_same_bytes

# sizes of the array, and of the places for its first dimensions: a number is that of an index, None the place's own
CASES = [
    ((7,), (5,), [0]),
    ((7,), (), [0]),
    ((7,), (2, 3), [0]),
    ((4, 5), (9, 5), [0, None]),
    ((4, 5), (4, 9), [None, 0]),
    ((4, 5), (6,), [0, 1]),
    ((4, 5), (6,), [0]),
    ((4, 5), (4, 2), [None, 0]),
    ((4, 1, 5), (4, 1, 3), [None, None, 0]),
    ((3, 4, 5), (3, 8, 5), [None, 0, None]),
    ((3, 4, 5, 2), (3, 2, 2), [None, 0, 1]),
    ((3, 4, 5, 2), (6, 2), [0, 1, 2]),
    ((3, 4, 5, 2), (), [0, 1, 2, 3]),
    ((2, 3, 2, 2, 1, 3, 2, 2), (2, 3, 2), [None, None, 0, 1, 2]),
]
LARGE = [
    ((300, 40), (300, 500), [None, 0]),
    ((40, 300), (900, 300), [0, None]),
    ((50, 60, 70), (100_000,), [0, 1, 2]),
    ((50, 60, 9), (200, 100), [0, 1]),
    ((40, 4100), (600,), [0]),
    ((9, 2, 64), (40_000,), [0, 1]),
    ((9, 2, 2), (40_000,), [0, 1]),
]


def python_place(index, size, clamp):
    """Where an index is: as Python counts, or else the nearest or None."""
    place = index + size if index < 0 else index
    if 0 <= place < size:
        return place
    return (0 if index < 0 else size - 1) if clamp else None


def places(x_sizes, coordinates, sizes, clamp):
    """The coordinates of every place in order, None where an index is outside."""
    for own in np.ndindex(*sizes):
        found = [
            own[dimension] if one is None else python_place(int(one[own]), x_sizes[dimension], clamp)
            for dimension, one in enumerate(coordinates)
        ]
        yield own, None if None in found else tuple(found)


def prepared(rng, case, layout, dtype):
    """An array, what names places in it, and the sizes of what is read or written there."""
    sizes, place_sizes, numbers = case
    x, memory = laid_out(rng, sizes, dtype, layout)
    index_type = rng.choice(INDEX_TYPES)
    coordinates = []
    for size, number in zip(sizes, numbers):
        if number is None:
            coordinates.append(None)
            continue
        indices, _ = laid_out(rng, place_sizes, index_type, rng.choice(LAYOUTS))
        fill_indices(rng, indices, size)
        coordinates.append(indices)
    return x, memory, coordinates, (*place_sizes, *sizes[len(numbers) :])


def scratch_of(sizes):
    return np.full(scratch_for(sizes), 0xA5, np.uint8)


def assert_is_native(run):
    assert isinstance(run, NativeRun) == (backend.native is not None)


def assert_reads(rng, case, layout, dtype):
    x, _, coordinates, sizes = prepared(rng, case, layout, dtype)
    output, memory = laid_out(rng, sizes, dtype, rng.choice(LAYOUTS[:-1]))
    run = gather_nd(x, coordinates, output, scratch_of(case[1]))
    assert_is_native(run)
    before = memory.copy()
    for own, place in places(case[0], coordinates, case[1], clamp=True):
        output[own] = x[place]
    expected, memory[:] = memory.copy(), before
    run()
    assert_same_bytes(memory, expected)
    np.testing.assert_array_equal(read_whole(x, coordinates), output)


def assert_writes(rng, case, layout, dtype):
    x, memory, coordinates, sizes = prepared(rng, case, layout, dtype)
    updates, _ = laid_out(rng, sizes, dtype, rng.choice(LAYOUTS))
    run = scatter_nd(x, coordinates, updates, scratch_of(case[1]))
    assert_is_native(run)
    before, twin = memory.copy(), written_whole(x, coordinates, updates)
    for own, place in places(case[0], coordinates, case[1], clamp=False):
        if place is not None:
            x[place] = updates[own]
    expected, memory[:] = memory.copy(), before
    run()
    assert_same_bytes(memory, expected)
    np.testing.assert_array_equal(twin, x)


@pytest.mark.parametrize("item", DTYPES)
@swept("number", range(len(CASES)))
def test_every_layout(number, item, native):
    rng = np.random.default_rng([number, item])
    for layout in LAYOUTS:
        assert_reads(rng, CASES[number], layout, DTYPES[item])
        if layout != "broadcast":
            assert_writes(rng, CASES[number], layout, DTYPES[item])


@pytest.mark.parametrize("number", range(len(CASES)))
def test_without_native_loops(monkeypatch, number):
    monkeypatch.setattr(backend, "native", None)
    rng = np.random.default_rng(number)
    for layout in LAYOUTS[:-1]:
        assert_reads(rng, CASES[number], layout, np.uint32)
        assert_writes(rng, CASES[number], layout, np.uint32)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(LARGE)))
def test_native_blocks_and_threads(number, set_threads):
    set_threads(3)
    rng = np.random.default_rng(number)
    for layout, dtype in (("permuted", np.uint32), ("negative", np.uint64), ("packed", np.uint64)):
        assert_reads(rng, LARGE[number], layout, dtype)
        assert_writes(rng, LARGE[number], layout, dtype)


def reversed_elements(x, lengths, axis):
    """The sizes of ``lengths`` are those of ``x`` but 1 along ``axis``."""
    counts = np.minimum(lengths, x.shape[axis]).astype(np.int64)
    places = np.expand_dims(np.arange(x.shape[axis]), [each for each in range(x.ndim) if each != axis])
    return np.take_along_axis(x, np.where(places < counts, counts - 1 - places, places), axis)


@pytest.mark.parametrize(
    "sizes", [(4, 5, 3), (200, 300), (1, 7), (2, 1, 9, 2), (9_000, 2), (2, 40_000), (2, 70, 2_000)]
)
def test_reversed_places(sizes, set_threads):
    set_threads(3)
    rng = np.random.default_rng(len(sizes))
    for axis, dtype in itertools.product(range(len(sizes)), (np.uint32, np.uint64)):
        for layout in LAYOUTS[:-1]:
            x, _ = laid_out(rng, sizes, np.uint16, rng.choice(LAYOUTS))
            of = [1 if each == axis else size for each, size in enumerate(sizes)]
            lengths, _ = laid_out(rng, of, dtype, rng.choice(LAYOUTS))
            fill_indices(rng, lengths, sizes[axis])
            output, memory = laid_out(rng, sizes, np.uint16, layout)
            alike = np.broadcast_to(lengths, sizes)
            run = read_reversed(x, [alike if each == axis else None for each in range(len(sizes))], output)
            before = memory.copy()
            output[...] = reversed_elements(x, lengths, axis)
            expected, memory[:] = memory.copy(), before
            run()
            assert_same_bytes(memory, expected)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(4_200, 1_010), (1_010, 4_200)])
def test_much_memory_is_reversed(native, set_threads, sizes):
    set_threads(3)
    rng = np.random.default_rng(sizes)
    for axis, dtype in itertools.product((0, 1), INDEX_TYPES):
        x = rng.integers(0, 2**16, sizes, np.uint16)
        lengths = rng.integers(0, sizes[axis] + 9, (1, sizes[1]) if axis == 0 else (sizes[0], 1)).astype(
            dtype
        )
        output = np.empty_like(x)
        alike = np.broadcast_to(lengths, sizes)
        read_reversed(x, [alike if each == axis else None for each in range(2)], output)()
        np.testing.assert_array_equal(output, reversed_elements(x, lengths, axis))


@pytest.mark.slow
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_what_is_written_past_the_caches(native, set_threads, index_type, axis):
    """Much memory, indices that are outside among them."""
    set_threads(3)
    rng = np.random.default_rng(axis)
    for dtype, sizes in ((np.uint8, (900, 10_000)), (np.uint32, (700, 3_100)), (np.uint64, (1_300, 900))):
        x, updates = (rng.integers(0, 256, sizes, dtype) for _ in range(2))
        indices = np.argsort(rng.random(sizes, np.float32), axis).astype(index_type)
        negative = (rng.random(sizes, np.float32) < 0.1) & (indices.dtype.kind == "i")
        named = np.where(negative, indices.astype(np.int64) - sizes[axis], indices.astype(np.int64))
        given = named.astype(index_type)
        outside = rng.random(sizes, np.float32) < 0.01
        given[outside] = sizes[axis] + 3
        coordinates = [given if dimension == axis else None for dimension in range(2)]
        output = np.empty_like(x)
        gather_nd(x, coordinates, output, scratch_of(sizes))()
        safe = np.where(outside, sizes[axis] - 1, indices.astype(np.int64))
        np.testing.assert_array_equal(output, np.take_along_axis(x, safe, axis))
        # What a permutation has put there is found where it came from.
        written = x.copy()
        scatter_nd(written, coordinates, updates, scratch_of(sizes))()
        taken = np.take_along_axis(written, indices.astype(np.int64), axis)
        kept = np.take_along_axis(x, indices.astype(np.int64), axis)
        np.testing.assert_array_equal(taken, np.where(outside, kept, updates))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(LARGE)))
def test_blocks_and_threads(monkeypatch, number):
    """Places are found in blocks; elements are the sums of all that differ."""
    monkeypatch.setattr(backend, "native", None)
    monkeypatch.setattr(cache_blocks, "BLOCK", 1 << 12)
    monkeypatch.setattr("directml_py.kernels.elementwise.map.BLOCK", 1 << 12)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1e-9)
    monkeypatch.setattr(backend, "is_plain", False)
    monkeypatch.setattr(backend, "threads", 3)
    rng = np.random.default_rng(number)
    for layout in ("packed", "permuted", "negative"):
        assert_reads(rng, LARGE[number], layout, np.uint16)
        assert_writes(rng, LARGE[number], layout, np.uint16)


@pytest.mark.parametrize("item", DTYPES)
@swept("width", [2, 3, 4, 16, 70])
def test_parts_that_lie_backwards_on_both_sides(native, item, width):
    rng = np.random.default_rng(width)
    memory, updates = (rng.integers(0, 250, (32, width), DTYPES[item]) for _ in range(2))
    expected, x, indices = memory.copy(), memory[1:31, ::-1], rng.permutation(30)
    output = np.full((32, width), 255, DTYPES[item])
    gather_nd(x, [indices], output[1:31, ::-1], scratch_of((30,)))()
    np.testing.assert_array_equal(output[1:31], memory[1:31][indices])
    assert (output[[0, -1]] == 255).all()
    scatter_nd(x, [indices], updates[1:31, ::-1], scratch_of((30,)))()
    expected[1 + indices] = updates[1:31]
    assert_same_bytes(memory, expected)


def test_indices_are_read_at_each_call():
    x, indices, output = np.arange(10, 14), np.array([0, 3]), np.zeros(2, int)
    read = gather_nd(x, [indices], output, scratch_of((2,)))
    read()
    assert output.tolist() == [10, 13]
    indices[:] = [-1, 1]
    x += 100
    read()
    assert output.tolist() == [113, 111]
    write = scatter_nd(x, [indices], output, scratch_of((2,)))
    indices[:] = [1, 2]
    output[:] = [7, 8]
    write()
    assert x.tolist() == [110, 7, 8, 113]


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_last_of_equal_places_wins(order):
    """In the order of the places, not that of memory."""
    indices = np.array([[2, 2, 1], [2, 0, 2]], order=order)
    updates = np.array([[1, 2, 3], [4, 5, 6]], order=order)
    for turned in (indices, np.ascontiguousarray(indices[::-1])[::-1]):
        output = np.zeros(4, int)
        scatter_nd(output, [turned], updates, scratch_of((2, 3)))()
        assert output.tolist() == [5, 3, 6, 0]


@pytest.mark.parametrize(
    ("dtype", "indices", "found"),
    [
        (np.int32, [-(2**31), -5, -4, -1, 0, 3, 4, 2**31 - 1], [-1, -1, 0, 3, 0, 3, -1, -1]),
        (np.int64, [-(2**63), -(2**32), -4, 3, 4, 2**32, 2**63 - 1], [-1, -1, 0, 3, -1, -1, -1]),
        (np.uint32, [0, 3, 4, 2**31, 2**32 - 1], [0, 3, -1, -1, -1]),
        (np.uint64, [0, 3, 4, 2**32 + 1, 2**63, 2**64 - 1], [0, 3, -1, -1, -1, -1]),
    ],
)
def test_exact_indices(dtype, indices, found):
    assert exact_indices(np.array(indices, dtype), 3).tolist() == found


@pytest.mark.parametrize("dtype", INDEX_TYPES)
def test_axes_longer_than_32_bits(dtype):
    """The last element is beyond what 32 bits reach."""
    assert exact_indices(np.array([2**31 - 1], dtype), 2**32 + 5).tolist() == [2**31 - 1]
    if np.dtype(dtype).kind == "i":
        assert exact_indices(np.array([-1, -(2**31)], dtype), 2**32 + 5).tolist() == [
            2**32 + 5,
            2**32 + 6 - 2**31,
        ]
