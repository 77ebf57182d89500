"""Memory planner: intermediates with disjoint live ranges share parts of the temporary resource."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ALIGNMENT = 64


@dataclass
class TemporaryBlock:
    """A block with the live range ``first_step`` to ``last_step``, inclusive; ``pack`` sets ``offset``."""

    name: str
    size: int
    first_step: int
    last_step: int
    offset: int = 0

    def lives_beside(self, other: TemporaryBlock) -> bool:
        return self.first_step <= other.last_step and other.first_step <= self.last_step

    @property
    def end(self) -> int:
        return self.offset + self.size


def pack(blocks: Iterable[TemporaryBlock]) -> int:
    """Give every block an offset so that blocks with overlapping live ranges do not overlap; return the total bytes.

    Greedy by size: the largest blocks first, each at the lowest offset that is free during its live range.
    """
    placed: list[TemporaryBlock] = []
    for block in sorted(blocks, key=lambda entry: (-entry.size, entry.first_step)):
        offset = 0
        for other in sorted(
            (placed_block for placed_block in placed if placed_block.lives_beside(block)),
            key=lambda placed_block: placed_block.offset,
        ):
            if offset + block.size <= other.offset:
                break
            offset = max(offset, -(-other.end // ALIGNMENT) * ALIGNMENT)
        block.offset = offset
        placed.append(block)
    return max((block.end for block in placed), default=0)
