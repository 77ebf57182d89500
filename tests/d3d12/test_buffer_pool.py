"""The buffer pool reuses memory once no array views it."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from directml_py.runtime.allocation import IDLE, MOST, SIZES, Recycling

SIZE = 1 << 20


@pytest.fixture
def recycling() -> Recycling:
    return Recycling()


def place(array: np.ndarray) -> int:
    return array.ctypes.data


def test_memory_comes_back_as_zeros(recycling: Recycling) -> None:
    first = recycling.memory(SIZE)
    first[:] = 7
    before = place(first)
    del first
    again = recycling.memory(SIZE)
    assert place(again) == before
    assert again.shape == (SIZE,)
    assert again.flags.writeable
    assert not again.any()


def test_memory_that_need_not_be_zeroed_comes_back_as_it_was(recycling: Recycling) -> None:
    first = recycling.memory(SIZE, False)
    assert not first.any()
    first[:] = 7
    before = place(first)
    del first
    again = recycling.memory(SIZE, False)
    assert place(again) == before
    assert set(bytes(again)) == {7}


@pytest.mark.parametrize(
    "look", [lambda a: a[5:9], lambda a: a.view(np.float32)[::2].reshape(-1, 4), lambda a: a[10:].data]
)
def test_viewed_memory_is_not_reused(recycling: Recycling, look: object) -> None:
    array = recycling.memory(SIZE)
    array[:] = 9
    view = look(array)  # type: ignore[operator]
    del array
    gc.collect()
    other = recycling.memory(SIZE)
    other[:] = 1
    assert set(bytes(view)) == {9}
    del view
    assert recycling._pop_idle(SIZE) is not None


def test_other_sizes_are_other_memory(recycling: Recycling) -> None:
    kept = [recycling.memory(SIZE + 64 * number) for number in range(IDLE)]
    places = {array.size: place(array) for array in kept}
    del kept
    for size in sorted(places, reverse=True):
        array = recycling.memory(size)
        assert place(array) == places[size]
        del array
    assert recycling._pop_idle(SIZE - 64) is None


def test_the_number_of_idle_blocks_is_limited(recycling: Recycling) -> None:
    many = [recycling.memory(SIZE) for _ in range(IDLE + 3)]
    last = [place(array) for array in many[-IDLE:]]
    while many:
        del many[0]
    found = [recycling._pop_idle(SIZE) for _ in range(IDLE + 1)]
    assert [place(array) for array in found[:IDLE]] == last  # type: ignore[arg-type]
    assert found[IDLE] is None


def test_the_bytes_of_idle_blocks_are_limited(recycling: Recycling) -> None:
    small, large = SIZES.start, SIZES[-1]
    fit = MOST // large
    assert fit < IDLE - 1
    many = [recycling.memory(size) for size in (small, *[large] * (fit + 1))]
    last = [place(array) for array in many[-fit:]]
    while many:
        del many[0]
    assert recycling._pop_idle(small) is None
    found = [recycling._pop_idle(large) for _ in range(fit + 1)]
    assert [place(array) for array in found[:fit]] == last  # type: ignore[arg-type]
    assert found[fit] is None


@pytest.mark.parametrize("size", [SIZES.start - 1, SIZES.stop])
def test_small_and_huge_blocks_are_not_pooled(recycling: Recycling, size: int) -> None:
    array = recycling.memory(size)
    assert array.size == size
    assert not array.any()
    del array
    assert recycling._pop_idle(size) is None
