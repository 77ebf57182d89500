"""Bound kernels moved to other memory: what they compute there, and when they cannot be moved."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py.kernels.elementwise.map import map_elements
from directml_py.kernels.launch import RunSequence, launch_in_order
from directml_py.kernels.matmul import multiply
from directml_py.kernels.move import move
from directml_py.kernels.relocation import MemoryRanges, relocation, snapshot

pytestmark = pytest.mark.usefixtures("native")

ROWS = COLUMNS = 4
SIZE = 4 * ROWS * COLUMNS


class Memory:
    """Matrices of FLOAT32 at offsets of one array, which begins at a cache line."""

    def __init__(self, *offsets):
        block = np.zeros(1 << 16, np.uint8)
        start = -block.ctypes.data % 64
        self.bytes = block[start:]
        self.offsets = offsets

    @property
    def arrays(self):
        return [
            self.bytes[offset : offset + SIZE].view(np.float32).reshape(ROWS, COLUMNS)
            for offset in self.offsets
        ]

    @property
    def ranges(self):
        return MemoryRanges([array.ctypes.data for array in self.arrays], [SIZE] * len(self.offsets))

    def fill(self, seed):
        rng = np.random.default_rng(seed)
        for array in self.arrays:
            array[...] = rng.uniform(1, 2, array.shape)
        return [array.copy() for array in self.arrays]


def add(x, y, output):
    return map_elements(np.add, [x, y], [output])


def add_twice(x, y, output):
    return launch_in_order([add(x, y, output), add(output, y, output)])


def transpose(x, y, output):
    return move([(output, x.T)])


def product(x, y, output):
    return multiply(x, y, output)


KERNELS = {
    add: lambda x, y: x + y,
    add_twice: lambda x, y: x + y + y,
    transpose: lambda x, y: x.T,
    product: lambda x, y: (x.astype(np.float64) @ y).astype(np.float32),
}
FIRST, SECOND, THIRD = (256, 1024, 4096), (512, 1408, 4672), (30016, 128, 9024)


def snapshots(kernel, *places):
    # All memory lives on, so that none lies where another did.
    memories = [Memory(*place) for place in places]
    for memory in memories:
        yield snapshot(kernel(*memory.arrays), memory.ranges)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_moved_kernel_computes_the_same(kernel):
    first, second, third = Memory(*FIRST), Memory(*SECOND), Memory(*THIRD)
    one, other = (snapshot(kernel(*each.arrays), each.ranges) for each in (first, second))
    assert one.tells(other)
    moves = relocation(one, other)
    assert moves.reaches(third.ranges)
    moved = moves.at(third.ranges, third.bytes)
    for seed in range(3):
        x, y, _ = third.fill(seed)
        before = first.fill(seed + 10), second.fill(seed + 20)
        moved()
        np.testing.assert_allclose(third.arrays[2], KERNELS[kernel](x, y), rtol=1e-6)
        np.testing.assert_array_equal(third.arrays[:2], [x, y])
        np.testing.assert_array_equal([first.arrays, second.arrays], before)


def test_moved_kernels_are_launched_together():
    one, other = snapshots(add_twice, FIRST, SECOND)
    third = Memory(*THIRD)
    moved = relocation(one, other).at(third.ranges, third.bytes)
    assert isinstance(moved, RunSequence)
    assert moved.launches is not None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(FIRST, [place + 256 for place in FIRST], id="equal distances"),
        pytest.param(FIRST, (512, 1408, 4688), id="another place in a cache line"),
        pytest.param(FIRST, FIRST, id="no distance"),
    ],
)
def test_what_tells_nothing(first, second):
    memory = Memory(*first)
    one = snapshot(add(*memory.arrays), memory.ranges)
    memory.offsets = second
    assert not one.tells(snapshot(add(*memory.arrays), memory.ranges))


def moved_in(memory, kernel, first, second):
    found = []
    for memory.offsets in (first, second):
        found.append(snapshot(kernel(*memory.arrays), memory.ranges))
    assert found[0].tells(found[1])
    return relocation(*found)


def test_a_range_that_stayed_must_stay():
    memory = Memory(*FIRST)
    moves = moved_in(memory, add, FIRST, (256, 1408, 4672))
    memory.offsets = (256, 8192, 640)
    x, y, _ = memory.fill(0)
    moves.at(memory.ranges, memory.bytes)()
    np.testing.assert_array_equal(memory.arrays[2], x + y)
    memory.offsets = (16384, 8192, 640)
    assert not moves.reaches(memory.ranges)


def test_other_sizes_and_places_in_cache_lines_must_be_bound():
    memory = Memory(*FIRST)
    moves = moved_in(memory, add, FIRST, SECOND)
    starts, sizes = memory.ranges
    assert not moves.reaches(MemoryRanges(starts, [*sizes[:2], SIZE + 4]))
    memory.offsets = (256, 1024, 4112)
    assert not moves.reaches(memory.ranges)


def reordered(x, y, output):
    """A product whose operand is copied to memory of its own, as its elements lie apart."""
    return multiply(x[:, ::-1], y[::-1, ::-1], output[::-1, ::-1])


def test_memory_of_a_kernels_own():
    """It may be written while the kernel runs, so that two runs must not share it. The first run has ended when the
    second is bound, which then must not be given the same memory."""
    one, other = snapshots(reordered, FIRST, SECOND)
    assert one.tells(other)
    assert relocation(one, other) is None


def test_what_runs_in_python():
    def both(x, y, output):
        return launch_in_order([add(x, y, output), lambda: None])

    assert [*snapshots(both, FIRST)] == [None]
