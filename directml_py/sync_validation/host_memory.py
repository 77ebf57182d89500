"""Memory that the CPU can access, as the debug layer watches it.

It belongs to an allocation, so it sees accesses through every resource of a heap and on every device that shares it.
Whether there is one is decided by the CPU page property of the heap: a heap of type CUSTOM races as an UPLOAD or a
READBACK heap does, and one that both sides read and write can race in every way.

CPU writes through a pointer cannot be intercepted. They show as differences: between what the memory held when commands
were submitted and what it holds when they begin, and between the beginning of a map and its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
import numpy.typing as npt

from ..abi.rules import Rule
from ..runtime.allocation import PATTERN, Allocation
from . import sync_rules
from .range_map import RangeMap

if TYPE_CHECKING:
    from ..runtime.buffer import Buffer, BufferRange
    from ..runtime.recording import Access

Bytes = npt.NDArray[np.uint8]
Problem: TypeAlias = tuple[Rule, str]


# Marks of bytes: nothing defined, defined, or zeros since the memory was allocated.
UNDEFINED, DEFINED, ZEROED = 0, 1, 2


class Result(NamedTuple):
    """What a command has left: ``mark`` is that of all bytes of ``source`` if they were copied from there."""

    mark: int
    source: str


WRITTEN: Final = Result(DEFINED, "")


class _InFlight:
    """The bytes that one submission accesses, as offsets in the allocation."""

    def __init__(self) -> None:
        self.reads: RangeMap[BufferRange] = RangeMap()
        self.writes: RangeMap[BufferRange] = RangeMap()


class _Piece(NamedTuple):
    """What a range of mapped memory held before the program could change it, or when a change was accounted for."""

    start: int
    content: Bytes
    name: str
    buffer_start: int


class HostMemory:
    """The watched memory of one allocation. Offsets are relative to the allocation."""

    def __init__(self, memory: Bytes) -> None:
        self._memory = memory
        # What the bytes in flight hold if only commands have written them; created when commands first access them.
        self._expected: Bytes | None = None
        self._in_flight: dict[int, _InFlight] = {}
        # The ranges written by commands.
        self.results: RangeMap[Result] = RangeMap()
        # The ranges that the CPU has views of, or says that it has written.
        self._reached: RangeMap[None] = RangeMap()
        # Resources in this memory that are or were mapped.
        self._mapped: WeakSet[Buffer] = WeakSet()
        self._maps = 0
        self._pieces: list[_Piece] = []

    def submit(self, submission: int, accesses: Iterable[Access]) -> None:
        """The accesses of a submission are in flight from here to ``finish``.

        What they write is poisoned, so that a read through a pointer finds neither this result nor that of an earlier
        run; except what commands in flight read, and padding between elements, which may hold data of the CPU.
        """
        if self._expected is None:
            self._expected = np.empty_like(self._memory)
        in_flight = self._in_flight[submission] = _InFlight()
        accesses = list(accesses)
        for access in accesses:
            start, end = extent(access.range)
            for first, last in _gaps(start, end, self._ranges_in_flight()):
                self._expected[first:last] = self._memory[first:last]
            (in_flight.writes if access.writes else in_flight.reads).put(start, end, access.range)
        for access in accesses:
            if access.writes and access.elements is None:
                reads = [other.reads for other in list(self._in_flight.values())]
                for first, last in _gaps(*extent(access.range), reads):
                    self._memory[first:last] = self._expected[first:last] = PATTERN
                    self._account_for(first, last)

    def _ranges_in_flight(self) -> list[RangeMap[BufferRange]]:
        return [ranges for other in list(self._in_flight.values()) for ranges in (other.reads, other.writes)]

    def finish(self, submission: int) -> None:
        self._in_flight.pop(submission, None)

    def written_by_cpu(self, part: BufferRange) -> bool:
        """Whether the CPU has changed bytes in flight; each change is reported once."""
        assert self._expected is not None
        start, end = extent(part)
        now, expected = self._memory[start:end], self._expected[start:end]
        if np.array_equal(now, expected):
            return False
        expected[:] = now
        return True

    def written_by_command(self, part: BufferRange) -> None:
        start, end = extent(part)
        if self._expected is not None:
            self._expected[start:end] = self._memory[start:end]
        self._account_for(start, end)

    def written_in_flight(self, part: BufferRange) -> BufferRange | None:
        """A range that shares bytes with ``part`` and that commands in flight write; None without one."""
        start, end = extent(part)
        for submission in list(self._in_flight.values()):
            for _, _, written in submission.writes.parts(start, end):
                return written
        return None

    def copied_undefined(self, read: BufferRange) -> tuple[int, int, str] | None:
        """The first part that commands have written of a range that the CPU reads, with its source, if all such parts
        are copies of unwritten bytes; else None. Padding between defined bytes is valid. Where the pattern of undefined
        bytes is gone, the CPU has written since."""
        parts = list(self.results.parts(*extent(read)))
        if not parts or any(result.mark != UNDEFINED for _, _, result in parts):
            return None
        if any((self._memory[first:last] != PATTERN).any() for first, last, _ in parts):
            return None
        base, (first, last, result) = read.buffer.offset, parts[0]
        return first - base, last - base, result.source

    def reads(self, call: str, read: BufferRange) -> Iterator[Problem]:
        """What is wrong with a read of the CPU now."""
        early = self.written_in_flight(read)
        if early is not None:
            yield (
                sync_rules.READBACK_READ,
                f"{call}: {read.buffer} is read while commands that write {_words(early, read.buffer)} are in flight; "
                "the fence that covers them must be waited for first",
            )
            return
        undefined = self.copied_undefined(read)
        if undefined is not None:
            start, end, source = undefined
            yield (
                sync_rules.UNDEFINED,
                f"{call}: {read.buffer} is read, whose bytes {start} to {end} are a copy of unwritten bytes of "
                f"{source}",
            )

    def mapped_for_reading(self, part: BufferRange) -> bool:
        """Whether an outstanding map names bytes of ``part`` as read."""
        start, end = extent(part)
        return any(
            buffer.offset + offset < end and start < buffer.offset + offset + size
            for buffer in list(self._mapped)
            for offset, size in list(buffer.maps)
        )

    def reach(self, part: BufferRange) -> None:
        """The CPU may have written ``part``."""
        self._reached.put(*extent(part), None)

    def is_fresh(self, part: BufferRange) -> bool:
        """Whether neither the CPU nor a command can have written ``part`` since the memory was allocated."""
        start, end = extent(part)
        touched = [*self._reached.parts(start, end), *self.results.parts(start, end)]
        return not touched and not self._is_mapped(start, end) and is_fresh(part.bytes)

    def _is_mapped(self, start: int, end: int) -> bool:
        mapped = [extent(buffer.whole) for buffer in list(self._mapped) if buffer.maps]
        return any(first < end and start < last for first, last in mapped)

    def map(self, buffer: Buffer) -> None:
        """The CPU maps ``buffer``."""
        self._mapped.add(buffer)
        self._maps += 1
        start, end = extent(buffer.whole)
        watched: RangeMap[None] = RangeMap()
        for piece in self._pieces:
            watched.put(piece.start, piece.start + piece.content.size, None)
        for first, last in _gaps(start, end, [watched]):
            self._pieces.append(_Piece(first, self._memory[first:last].copy(), str(buffer), start))

    def unmap(self, ended: BufferRange, written: BufferRange) -> Iterator[Problem]:
        """End a map for reading ``ended``; ``written`` are the bytes that the program says that it wrote."""
        changed = self._changed_besides(written)
        if changed is not None:
            yield (
                sync_rules.UNMAP_RANGE,
                f"Unmap: {changed} were changed while mapped, but no writtenRange has them",
            )
        early = self.written_in_flight(ended)
        if early is not None:
            yield (
                sync_rules.READBACK_UNMAP,
                f"Unmap: {ended.buffer} was mapped before commands that write {_words(early, ended.buffer)} were "
                "submitted, and the fence that covers them was not waited for; reads since then did not see what they "
                "write",
            )

    def _changed_besides(self, written: BufferRange) -> str | None:
        """What the CPU has changed besides ``written``, if this was the last map of the memory: until then another one
        may account for it."""
        self.account_for(written)
        self._maps -= 1
        if self._maps:
            return None
        pieces, self._pieces = self._pieces, []
        for piece in pieces:
            changed = np.flatnonzero(piece.content != self._memory[piece.start :][: piece.content.size])
            if changed.size:
                first, last = (int(changed[index]) + piece.start - piece.buffer_start for index in (0, -1))
                return f"bytes {first} to {last + 1} of {piece.name}"
        return None

    def account_for(self, part: BufferRange) -> None:
        """Changes to ``part`` until now are known to the debug layer."""
        self.reach(part)
        self._account_for(*extent(part))

    def _account_for(self, start: int, end: int) -> None:
        for piece in self._pieces:
            first, last = max(start, piece.start), min(end, piece.start + piece.content.size)
            if first < last:
                piece.content[first - piece.start : last - piece.start] = self._memory[first:last]


HOSTS: Final[WeakKeyDictionary[Allocation, HostMemory]] = WeakKeyDictionary()


def host_memory(part: BufferRange) -> HostMemory | None:
    """The memory of a range if the CPU can access it and the debug layer watches it."""
    return HOSTS.get(part.buffer.allocation)


def extent(part: BufferRange) -> tuple[int, int]:
    """The bytes of a range, as offsets in its allocation."""
    start = part.buffer.offset + part.offset
    return start, start + part.size


def is_fresh(content: Bytes) -> bool:
    """Whether bytes are as allocation leaves them: all zeros, or all of the pattern."""
    return bool(content.size) and content[0] in (0, PATTERN) and not (content != content[0]).any()


def _words(part: BufferRange, buffer: Buffer) -> str:
    """``part`` in a sentence about ``buffer``."""
    if part.buffer is buffer:
        return f"its {part.words}"
    return f"{part.words} of {part.buffer}, which shares its memory,"


def _gaps(
    start: int, end: int, taken: Iterable[RangeMap[BufferRange] | RangeMap[None]]
) -> Iterator[tuple[int, int]]:
    """The parts from ``start`` to ``end`` that are in none of the maps, in order."""
    parts = sorted((first, last) for ranges in taken for first, last, _ in ranges.parts(start, end))
    for first, last in parts:
        if start < first:
            yield start, first
        start = max(start, last)
    if start < end:
        yield start, end
