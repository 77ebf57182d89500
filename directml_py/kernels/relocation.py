"""Bound native kernels moved to other memory, without being bound again.

A bound kernel is a task in C with the addresses of its arrays. Which of its words are addresses, and of what, follows
from two runs that were bound in the same way to different memory: a word that differs by as far as one of the ranges
lies from the other is an address in that range, and a word that does not differ does not depend on memory. If any word
differs otherwise, as the address of memory that a kernel allocates for itself does, the kernel cannot be moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .backend import backend
from .launch import Fixed, NativeRun, RunSequence, launched
from .native_arrays import Run

# Kernels choose their instructions by addresses, of which they see no more than the place in a cache line.
CACHE_LINE = 64
WORD = 8


class MemoryRanges(NamedTuple):
    """The memory that a kernel is bound to: addresses and sizes of ranges that share no bytes."""

    starts: Sequence[int]
    sizes: Sequence[int]

    def containing(self, address: int) -> int | None:
        """The range that an address is in."""
        for index, (start, size) in enumerate(zip(self.starts, self.sizes)):
            if 0 <= address - start < size:
                return index
        return None


class TaskBlock(NamedTuple):
    """Memory of a task: itself, or an array in C that it refers to. ``offset`` is where its copy lies among those of
    all blocks of the task."""

    start: int
    content: bytes
    offset: int


class TaskSnapshot(NamedTuple):
    """A task as it was bound, without the memory that it was bound to. ``kept`` is what else it refers to."""

    kind: object
    blocks: Sequence[TaskBlock]
    kept: Sequence[object]
    pointer: Any
    make: Callable[[Any, object], NativeRun]


class Snapshot(NamedTuple):
    """The tasks of a run, and the memory that they were bound to."""

    ranges: MemoryRanges
    tasks: Sequence[TaskSnapshot]

    def moves(self, other: Snapshot) -> list[int]:
        """How far each range of ``other`` lies from that of this one."""
        return [end - start for start, end in zip(self.ranges.starts, other.ranges.starts)]

    def tells(self, other: Snapshot) -> bool:
        """Whether a comparison tells which word is an address in which range: all ranges that moved did so by
        different distances, within their cache lines in the same places."""
        moved = [distance for distance in self.moves(other) if distance]
        in_lines = all(distance % CACHE_LINE == 0 for distance in moved)
        is_clear = bool(moved) and in_lines and len(set(moved)) == len(moved)
        return is_clear and self.ranges.sizes == other.ranges.sizes


class TaskTemplate(NamedTuple):
    """A task without addresses: its blocks in one.

    ``slots`` are the words that are addresses in ranges: their numbers, the numbers of the ranges, and the offsets
    there. ``inner`` are the words that are addresses in the blocks themselves, with offsets from the first.
    """

    content: bytes
    slots: Sequence[tuple[int, int, int]]
    inner: Sequence[tuple[int, int]]
    task: TaskSnapshot

    def at(self, starts: Sequence[int], keepalive: object) -> NativeRun:
        ffi, block = backend.native.ffi, bytearray(self.content)
        pointer = ffi.from_buffer(self.task.pointer, block)
        words = memoryview(block).cast("Q")
        for word, index, offset in self.slots:
            words[word] = starts[index] + offset
        if self.inner:
            task_address = int(ffi.cast("uintptr_t", pointer))
            for word, offset in self.inner:
                words[word] = task_address + offset
        return self.task.make(pointer, (self.task.kept, keepalive))


class Relocation:
    """What two runs have in common, which a run over any other memory has, too."""

    def __init__(self, one: Snapshot, moves: Sequence[int], tasks: Sequence[TaskTemplate]) -> None:
        self._sizes = one.ranges.sizes
        # MemoryRanges that were the same in both runs must stay where they are.
        self._starts = [
            (start, CACHE_LINE if distance else 0) for start, distance in zip(one.ranges.starts, moves)
        ]
        self._tasks = tasks

    def reaches(self, ranges: MemoryRanges) -> bool:
        """Whether the run can be moved to other memory; else it must be bound to it."""
        if ranges.sizes != self._sizes:
            return False
        for start, (first, line) in zip(ranges.starts, self._starts):
            if start != first and (not line or (start - first) % line):
                return False
        return True

    def at(self, ranges: MemoryRanges, keepalive: object) -> Run:
        """The run over memory that it reaches, which ``keepalive`` holds."""
        runs = [task.at(ranges.starts, keepalive) for task in self._tasks]
        return runs[0] if len(runs) == 1 else launched(runs)


def snapshot(run: Run, ranges: MemoryRanges) -> Snapshot | None:
    """What there is to compare of a run; None if it cannot be moved."""
    tasks = [task_snapshot(each, ranges) for each in native_runs(run)]
    return Snapshot(ranges, [task for task in tasks if task]) if tasks and all(tasks) else None


def native_runs(run: Run) -> Sequence[Any]:
    """The native kernels that a run consists of; none if there is anything else."""
    if isinstance(run, NativeRun):
        return [run]
    return run.runs if isinstance(run, RunSequence) and run.launches is not None else []


def task_snapshot(run: NativeRun, ranges: MemoryRanges) -> TaskSnapshot | None:
    ffi = backend.native.ffi
    blocks: list[TaskBlock] = []
    kept: list[object] = []
    end = 0
    for part in (run.task, *parts_of(run.keepalive)):
        if isinstance(part, ffi.CData):
            content = bytes(ffi.buffer(part))
            blocks.append(TaskBlock(int(ffi.cast("uintptr_t", part)), content, end))
            end += padded(len(content))
        if isinstance(part, np.ndarray):
            # Arrays of the memory go with it, others are a kernel's own.
            if ranges.containing(part.__array_interface__["data"][0]) is None:
                kept.append(part)
        elif isinstance(part, (ffi.CData, Fixed)):
            kept.append(part)
        elif part is not None:
            return None
    kind = ffi.typeof(run.task)
    return TaskSnapshot((run.func, run.args[1:], kind), blocks, kept, pointer_to(kind.item), run.maker())


def parts_of(keepalive: object) -> Iterator[object]:
    if isinstance(keepalive, (tuple, list)):
        for part in keepalive:
            yield from parts_of(part)
    else:
        yield keepalive


def pointer_to(kind: Any) -> Any:
    ffi = backend.native.ffi
    return ffi.typeof(ffi.getctype(kind, "*"))


def padded(size: int) -> int:
    return -(-size // CACHE_LINE) * CACHE_LINE


def relocation(one: Snapshot, other: Snapshot) -> Relocation | None:
    """What a snapshot and one that tells have in common; None if their run cannot be moved."""
    if len(one.tasks) != len(other.tasks):
        return None
    moves = one.moves(other)
    templates = [template(task, its, one.ranges, moves) for task, its in zip(one.tasks, other.tasks)]
    return Relocation(one, moves, [each for each in templates if each]) if all(templates) else None


def template(
    task: TaskSnapshot, its: TaskSnapshot, ranges: MemoryRanges, moves: Sequence[int]
) -> TaskTemplate | None:
    sizes, its_sizes = ([len(block.content) for block in each.blocks] for each in (task, its))
    if task.kind != its.kind or sizes != its_sizes:
        return None
    content, its_content = joined(task.blocks), joined(its.blocks)
    words, its_words = np.frombuffer(content, np.uint64), np.frombuffer(its_content, np.uint64)
    slots, inner = [], []
    for word in np.flatnonzero(words != its_words).tolist():
        value, its_value = int(words[word]), int(its_words[word])
        index, inner_offset = ranges.containing(value), offset_among(value, task.blocks)
        if inner_offset is not None and inner_offset == offset_among(its_value, its.blocks):
            inner.append((word, inner_offset))
        elif index is not None and its_value - value == moves[index]:
            slots.append((word, index, value - ranges.starts[index]))
        else:
            return None
    return TaskTemplate(content, slots, inner, task)


def joined(blocks: Sequence[TaskBlock]) -> bytes:
    return b"".join([block.content.ljust(padded(len(block.content)), b"\0") for block in blocks])


def offset_among(address: int, blocks: Sequence[TaskBlock]) -> int | None:
    """Where an address in one of the blocks lies in their copy."""
    for block in blocks:
        if 0 <= address - block.start < len(block.content):
            return block.offset + address - block.start
    return None
