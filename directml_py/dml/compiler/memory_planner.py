"""Which parts of the temporary resource intermediates share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ALIGNMENT = 64


@dataclass
class TemporaryBlock:
    """Bytes that must be there from ``first_step`` to ``last_step``, both included; ``offset`` is found here."""

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
    """Give every block an offset so that blocks that live at the same time do not overlap; the bytes needed.

    Large blocks first, each at the lowest offset that is free while it lives.
    """
    placed: list[TemporaryBlock] = []
    for block in sorted(blocks, key=lambda entry: (-entry.size, entry.first_step)):
        offset = 0
        for other in sorted((one for one in placed if one.lives_beside(block)), key=lambda one: one.offset):
            if offset + block.size <= other.offset:
                break
            offset = max(offset, -(-other.end // ALIGNMENT) * ALIGNMENT)
        block.offset = offset
        placed.append(block)
    return max((block.end for block in placed), default=0)
