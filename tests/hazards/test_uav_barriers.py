"""The index of accesses since a barrier, against a brute-force reference."""

from __future__ import annotations

import random

import pytest
from toolchain import later
from work import grows_like_its_size

import directml_py as dml
from directml_py.runtime.buffer import BufferRange
from directml_py.runtime.recording import Access, AccessKind
from directml_py.sync_validation.range_map import RangeMap
from directml_py.sync_validation.uav_barriers import AccessesSinceBarrier

STATE = dml.D3D12_RESOURCE_STATE_UNORDERED_ACCESS
DESC = dml.CD3DX12_RESOURCE_DESC.Buffer(1 << 17, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
DEFAULT = dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_DEFAULT)
COMMON = dml.D3D12_RESOURCE_STATE_COMMON


@pytest.fixture
def resources():
    """Three buffers of one heap, each overlapping half of its neighbour, and two committed ones."""
    device = dml.D3D12CreateDevice()
    heap = device.CreateHeap(dml.CD3DX12_HEAP_DESC(1 << 18, DEFAULT, 0, dml.D3D12_HEAP_FLAG_NONE))
    placed = [device.CreatePlacedResource(heap, place << 16, DESC, COMMON) for place in range(3)]
    own = [device.CreateCommittedResource(DEFAULT, dml.D3D12_HEAP_FLAG_NONE, DESC, COMMON) for _ in range(2)]
    return [*placed, *own]


class BruteForce:
    """Brute-force reference: two accesses that share bytes, one of them a write, with no barrier between them."""

    def __init__(self, aliased):
        self.aliased = aliased
        self.pending = []
        self.handed = []

    def is_handed_over(self, earlier, access):
        return any(
            one is earlier and before in (None, earlier.range.buffer) and after is access.range.buffer
            for before, after, one in self.handed
        )

    def barrier(self, buffer):
        self.pending = [
            one for one in self.pending if buffer is not None and one[1].range.buffer is not buffer
        ]

    def aliasing(self, before, after):
        if self.aliased and after is not None:
            self.handed += [(before, after, earlier) for _, earlier in self.pending]
        elif before is not None or after is None:
            self.barrier(before)
        else:
            whole = after.whole
            self.pending = [one for one in self.pending if not one[1].range.buffer.whole.overlaps(whole)]

    def dispatch(self, title, accesses):
        found = []
        for place, access in enumerate(accesses):
            # Through other resources a command conflicts with itself too.
            own = [("it also", earlier) for earlier in accesses[:place]] if self.aliased else []
            found.append(
                [
                    (other, earlier)
                    for other, earlier in self.pending + own
                    if access.conflicts(earlier)
                    and not self.is_handed_over(earlier, access)
                    and self.aliased == (access.range.buffer is not earlier.range.buffer)
                ]
            )
        self.pending += [(title, access) for access in accesses]
        return [each for each in found if each]


def some_access(pick, buffers):
    # Few offsets, so that ranges share ends, touch and contain each other. Some are empty.
    start, end = sorted((pick.randrange(9) << 14, pick.randrange(9) << 14))
    part = BufferRange(pick.choice(buffers), start, end - start)
    return Access(part, pick.choice(list(AccessKind)), STATE, f"x{pick.randrange(1 << 30)}")


@pytest.mark.parametrize("aliased", [False, True])
@pytest.mark.parametrize("seeds", [range(5), *later(range(5, 40))])
def test_agrees_with_brute_force(resources, seeds, aliased):
    for seed in seeds:
        check_against_brute_force(resources, seed, aliased)


def check_against_brute_force(resources, seed, aliased):
    pick = random.Random(seed)
    buffers = [resource.buffer for resource in resources]
    index, reference = AccessesSinceBarrier("barrier", aliased), BruteForce(aliased)
    sentences = 0
    for turn in range(150):
        kind = pick.random()
        if kind < 0.03:
            buffer = pick.choice([None, *buffers])
            index.barrier(buffer)
            reference.barrier(buffer)
        elif kind < 0.1:
            before, after = pick.choice([None, *buffers]), pick.choice([None, *buffers])
            index.aliasing_barrier(before, after)
            reference.aliasing(before, after)
        elif kind < 0.2:
            buffer = pick.choice(buffers)
            index.barrier(buffer)
            reference.barrier(buffer)
        else:
            accesses = [some_access(pick, buffers) for _ in range(pick.randrange(1, 4))]
            said = index.command(f"dispatch {turn}", accesses)
            expected = reference.dispatch(f"dispatch {turn}", accesses)
            assert len(said) == len(expected)
            for sentence, conflicts in zip(said, expected, strict=True):
                assert any(
                    f", which {title} {earlier.use.value} as {earlier.name}" in sentence
                    for title, earlier in conflicts
                )
            sentences += len(said)
    assert sentences > 20


def test_the_last_to_touch_is_named(resources):
    """The last access to the first shared byte is reported."""
    index, buffer = AccessesSinceBarrier("barrier"), resources[3].buffer

    def access(use, start, end, name):
        return Access(BufferRange(buffer, start, end - start), use, STATE, name)

    index.command("one", [access(AccessKind.WRITE, 0, 8, "all")])
    index.command("two", [access(AccessKind.READ, 4, 8, "high")])
    (sentence,) = index.command("three", [access(AccessKind.WRITE, 4, 8, "high again")])
    assert "which two reads as high;" in sentence
    (sentence,) = index.command("four", [access(AccessKind.READ, 2, 8, "most")])
    assert "which one writes as all;" in sentence


def test_ranges_against_bytes():
    pick = random.Random(0)
    for _ in range(200):
        ranges, by_byte = RangeMap(), {}
        for turn in range(12):
            start, end = pick.randrange(24), pick.randrange(24)
            ranges.put(start, end, turn)
            by_byte.update(dict.fromkeys(range(start, end), turn))
            start, end = pick.randrange(24), pick.randrange(24)
            parts = list(ranges.parts(start, end))
            touched = {byte: turn for first, last, turn in parts for byte in range(first, last)}
            assert len(touched) == sum(last - first for first, last, _ in parts)
            assert touched == {byte: by_byte[byte] for byte in range(start, end) if byte in by_byte}
        assert len(ranges) <= len(by_byte)


WIDTH = 1 << 17


def own_parts(buffers, count):
    """Each dispatch reads a part and writes another, all of them different."""
    return [
        [(buffers[3], 0, 4, AccessKind.READ), (buffers[4], 4 * n, 4, AccessKind.WRITE)] for n in range(count)
    ]


def everything(buffers, count):
    """Each dispatch reads a whole buffer, of which others have read parts."""
    return [
        [
            (buffers[3], 4 * n, 4, AccessKind.READ),
            (buffers[3], 0, WIDTH, AccessKind.READ),
            (buffers[4], 4 * n, 4, AccessKind.WRITE),
        ]
        for n in range(count)
    ]


def forgotten(buffers, count):
    """Each dispatch reads the previous one's output."""
    return [
        [(buffers[3], 4 * n, 4, AccessKind.READ), (buffers[3], 4 * n + 4, 4, AccessKind.WRITE)]
        for n in range(count)
    ]


@pytest.mark.parametrize("program", [own_parts, everything, forgotten])
def test_many_dispatches(resources, program):
    buffers = [resource.buffer for resource in resources]

    def prepared(count):
        turns = [
            [
                Access(BufferRange(buffer, start, size), use, STATE, "x")
                for buffer, start, size, use in accesses
            ]
            for accesses in program(buffers, count)
        ]
        index = AccessesSinceBarrier("barrier")
        return lambda: [index.command("dispatch", accesses) for accesses in turns]

    assert grows_like_its_size(prepared, 100)


def test_many_buffers_of_one_heap():
    """Buffers are looked up by address; each dispatch is followed by a barrier for its own."""
    device = dml.D3D12CreateDevice()
    heap = device.CreateHeap(dml.CD3DX12_HEAP_DESC(240 << 16, DEFAULT, 0, dml.D3D12_HEAP_FLAG_NONE))
    desc = dml.CD3DX12_RESOURCE_DESC.Buffer(64, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
    made = [device.CreatePlacedResource(heap, place << 16, desc, COMMON) for place in range(240)]

    def prepared(count):
        index = AccessesSinceBarrier("barrier")

        def run():
            for resource in made[:count]:
                index.command("dispatch", [Access(resource.buffer.whole, AccessKind.WRITE, STATE, "x")])
            for resource in made[:count]:
                index.barrier(resource.buffer)
                assert (
                    index.command("again", [Access(resource.buffer.whole, AccessKind.READ, STATE, "x")]) == []
                )

        return run

    assert grows_like_its_size(prepared, 60)
