"""Memory planner: intermediates with disjoint live ranges share parts of the temporary resource."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

ALIGNMENT = 64
# Up to this many blocks a loop over them takes less time than NumPy's calls.
FEW = 512
# Up to this many steps per block, on average, it takes less time to look at the blocks of each step than at all.
SHORT = 16


@dataclass
class TemporaryBlock:
    """A block with the live range ``first_step`` to ``last_step``, inclusive; ``pack`` sets ``offset``."""

    name: str
    size: int
    first_step: int
    last_step: int
    offset: int = 0

    @property
    def end(self) -> int:
        return self.offset + self.size


def pack(blocks: Iterable[TemporaryBlock]) -> int:
    """Give every block an offset so that blocks with overlapping live ranges do not overlap; return the total bytes.

    Greedy by size: the largest blocks first, each at the lowest offset that is free during its live range.
    """
    ordered = sorted(blocks, key=lambda entry: (-entry.size, entry.first_step))
    if len(ordered) <= FEW:
        _pack_few(ordered)
    elif sum(block.last_step - block.first_step + 1 for block in ordered) <= SHORT * len(ordered):
        _pack_short(ordered)
    else:
        _pack_many(ordered)
    return max((block.end for block in ordered), default=0)


def _pack_few(ordered: Sequence[TemporaryBlock]) -> None:
    # The offset, the aligned end, the first and the last step of the blocks that have an offset, by rising offsets.
    placed: list[tuple[int, int, int, int]] = []
    for block in ordered:
        size, first_step, last_step, behind = block.size, block.first_step, block.last_step, 0
        for offset, end, first, last in placed:
            if first <= last_step and last >= first_step:
                if offset - behind >= size:
                    break
                if end > behind:
                    behind = end
        block.offset = behind
        insort(placed, (behind, _aligned(behind + size), first_step, last_step))


def _pack_short(ordered: Sequence[TemporaryBlock]) -> None:
    """The same, comparing each block with those of the steps that it lives in: a long chain has few in each."""
    placed: dict[int, list[TemporaryBlock]] = defaultdict(list)
    for block in ordered:
        rows = [placed[step] for step in range(block.first_step, block.last_step + 1)]
        beside = {id(other): other for row in rows for other in row}
        behind = 0
        for other in sorted(beside.values(), key=attrgetter("offset")):
            if other.offset - behind >= block.size:
                break
            behind = max(behind, _aligned(other.end))
        block.offset = behind
        for row in rows:
            row.append(block)


def _pack_many(ordered: Sequence[TemporaryBlock]) -> None:
    """The same, comparing each block with all others at once."""
    placed = np.zeros((4, len(ordered)), np.int64)
    for count, block in enumerate(ordered):
        offsets, ends, first_steps, last_steps = placed[:, :count]
        beside = np.flatnonzero((first_steps <= block.last_step) & (last_steps >= block.first_step))
        # The lowest offset behind the blocks before each of them, and behind all.
        behind = np.maximum.accumulate(np.append(0, ends[beside]))
        fits = offsets[beside] - behind[:-1] >= block.size
        block.offset = int(behind[fits.argmax()] if fits.any() else behind[-1])
        index = int(offsets.searchsorted(block.offset))
        placed[:, index + 1 : count + 1] = placed[:, index:count]
        placed[:, index] = block.offset, _aligned(block.end), block.first_step, block.last_step


def _aligned(end: int) -> int:
    return -(-end // ALIGNMENT) * ALIGNMENT
