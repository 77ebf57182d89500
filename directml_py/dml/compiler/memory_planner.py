"""Memory planner: intermediates with disjoint live ranges share parts of the temporary resource."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

ALIGNMENT = 64


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
    # Of the blocks that have an offset, by rising offsets: the offset, the aligned end, the first and the last step.
    placed = np.zeros((4, len(ordered)), np.int64)
    total = 0
    for count, block in enumerate(ordered):
        offsets, ends, first_steps, last_steps = placed[:, :count]
        beside = np.flatnonzero((first_steps <= block.last_step) & (last_steps >= block.first_step))
        # The lowest offset behind the blocks before each of them, and behind all.
        behind = np.maximum.accumulate(np.append(0, ends[beside]))
        fits = offsets[beside] - behind[:-1] >= block.size
        block.offset = int(behind[fits.argmax()] if fits.any() else behind[-1])
        total = max(total, block.end)
        index = int(offsets.searchsorted(block.offset))
        placed[:, index + 1 : count + 1] = placed[:, index:count]
        end = -(-block.end // ALIGNMENT) * ALIGNMENT
        placed[:, index] = block.offset, end, block.first_step, block.last_step
    return total
