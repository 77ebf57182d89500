"""Memory planner: intermediates with disjoint live ranges share parts of the temporary resource."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

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
    # The placed blocks, by each step at which they are live, and by their first step.
    alive: dict[int, list[TemporaryBlock]] = defaultdict(list)
    starting: dict[int, list[TemporaryBlock]] = defaultdict(list)
    total = 0
    for block in sorted(blocks, key=lambda entry: (-entry.size, entry.first_step)):
        steps = range(block.first_step, block.last_step + 1)
        # Each once: whatever overlaps a live range is alive at its first step, or starts later in it.
        beside = alive[block.first_step] + [other for step in steps[1:] for other in starting[step]]
        offset = 0
        for other in sorted(beside, key=attrgetter("offset")):
            if offset + block.size <= other.offset:
                break
            offset = max(offset, -(-other.end // ALIGNMENT) * ALIGNMENT)
        block.offset = offset
        starting[block.first_step].append(block)
        for step in steps:
            alive[step].append(block)
        total = max(total, block.end)
    return total
