"""Descs that were decoded before: where the memory that a decoding read is unchanged, its result is still right.

Programs keep descs and pass them again and again. To compare their memory takes one read of all its blocks; to decode
it takes one read for each, and more besides.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ..abi.array_lengths import extent_at
from ..abi.memory import SMALL, MemorySnapshot

# A desc's address selects its slot, which holds the last one decoded there.
SLOTS = 256
ADDRESS_BITS = 4
# A remembered desc is compared as a whole, and must fit into one read.
MAX_BLOCKS = 256

# The address, the name of the struct, and the depth of the operator.
Key: TypeAlias = tuple[int, str, int]


class Trace:
    """All that a decoding depends on: the blocks of memory that it read, and the array lengths that it compared counts
    with. One that also depends on something else is not ``complete``."""

    __slots__ = ("blocks", "complete", "extents")

    def __init__(self) -> None:
        self.blocks: list[tuple[int, bytes]] = []
        self.extents: list[tuple[int, int | None]] = []
        self.complete = True


class _Decoding:
    """The last decoding at a key. ``memory`` is None if it was not traced, as at first; ``is_traceable`` is False if
    its trace was incomplete or too large."""

    __slots__ = ("extents", "is_traceable", "key", "memory", "result")

    def __init__(self, key: Key) -> None:
        self.key = key
        self.memory: MemorySnapshot | None = None
        self.extents: list[tuple[int, int | None]] = []
        self.result: Any = None
        self.is_traceable = True

    def would_differ(self) -> bool:
        """Whether decoding again might give another result than the traced one."""
        if self.memory is None:
            return False
        now = [(address, extent_at(address)) for address, _ in self.extents]
        return now != self.extents or not self.memory.are_unchanged()


_slots: list[_Decoding | None] = [None] * SLOTS


def recall(key: Key) -> tuple[Any, Trace | None]:
    """The result of the last decoding at ``key`` if decoding again would give the same, else None; and the trace to
    keep of the decoding if another one at ``key`` came before, as most descs are decoded only once."""
    slot = (key[0] >> ADDRESS_BITS) % SLOTS
    found = _slots[slot]
    if found is None or found.key != key or found.would_differ():
        _slots[slot] = _Decoding(key)
        return None, None
    if found.memory is not None:
        return found.result, None
    return None, Trace() if found.is_traceable else None


def remember(key: Key, trace: Trace, result: Any) -> None:
    """Keep the ``result`` of a decoding, if its trace is complete and small enough."""
    decoding = _Decoding(key)
    if trace.complete and len(trace.blocks) <= MAX_BLOCKS:
        memory = MemorySnapshot(trace.blocks)
        if memory.size <= SMALL:
            decoding.memory, decoding.extents, decoding.result = memory, trace.extents, result
    decoding.is_traceable = decoding.memory is not None
    _slots[(key[0] >> ADDRESS_BITS) % SLOTS] = decoding
