"""Descs that were decoded before: where the memory that a decoding read is unchanged, its result is still right.

Programs keep descs and pass them again and again. Memory that ctypes objects own is compared directly, other memory by
one read of all its blocks; to decode it takes one read for each, and more besides.
"""

from __future__ import annotations

import ctypes
import weakref
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..abi.keepalive import extents_at, kept_objects
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

    __slots__ = ("arrays", "blocks", "complete", "extents")

    def __init__(self) -> None:
        self.blocks: list[tuple[int, bytes]] = []
        self.arrays: list[int] = []
        self.extents: list[int | None] = []
        self.complete = True


class OwnedSnapshot:
    """The contents of ctypes objects, which it does not keep alive. Their memory is mapped as long as they live, and so
    is compared without a call of the kernel, in a third of the time."""

    __slots__ = ("_content", "_owners")

    def __init__(self, owners: Sequence[Any]) -> None:
        self._owners: list[Callable[[], Any]] = list(map(weakref.ref, owners))
        self._content = b"".join(owners)

    def are_unchanged(self) -> bool:
        """Whether all objects still live, with the same contents."""
        try:
            return b"".join([owner() for owner in self._owners]) == self._content
        except TypeError:
            return False


def owned_snapshot(blocks: Sequence[tuple[int, bytes]], item: Any) -> OwnedSnapshot | None:
    """A snapshot of the memory of ``blocks``, addresses with the bytes there; None unless small objects that ``item``
    keeps alive own all of it, with these bytes."""
    # Others, as from ``from_address``, may outlive the memory.
    owners = {ctypes.addressof(owner): owner for owner in kept_objects(item) if owner._b_needsfree_}
    starts = sorted(owners)
    found: dict[int, Any] = {}
    for address, data in blocks:
        index = bisect_right(starts, address) - 1
        if index < 0:
            return None
        start = starts[index]
        owner = owners[start]
        offset = address - start
        if bytes(memoryview(owner).cast("B")[offset : offset + len(data)]) != data:
            return None
        found[start] = owner
    if sum(map(ctypes.sizeof, found.values())) > SMALL:
        return None
    return OwnedSnapshot(list(found.values()))


class _Decoding:
    """The last decoding at a key. ``memory`` is None if it was not traced, as at first; ``is_traceable`` is False if
    its trace was incomplete or too large."""

    __slots__ = ("arrays", "extents", "is_traceable", "key", "memory", "result")

    def __init__(self, key: Key) -> None:
        self.key = key
        self.memory: OwnedSnapshot | MemorySnapshot | None = None
        self.arrays: list[int] = []
        self.extents: list[int | None] = []
        self.result: Any = None
        self.is_traceable = True

    def would_differ(self) -> bool:
        """Whether decoding again might give another result than the traced one."""
        if self.memory is None:
            return False
        return extents_at(self.arrays) != self.extents or not self.memory.are_unchanged()


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


def remember(key: Key, trace: Trace, result: Any, owner: object) -> None:
    """Keep the ``result`` of a decoding, if its trace is complete and small enough. ``owner``, the caller's object, may
    own the memory."""
    decoding = _Decoding(key)
    if trace.complete and len(trace.blocks) <= MAX_BLOCKS:
        memory = owned_snapshot(trace.blocks, owner) or _small_snapshot(trace.blocks)
        if memory is not None:
            decoding.memory, decoding.result = memory, result
            decoding.arrays, decoding.extents = trace.arrays, trace.extents
    decoding.is_traceable = decoding.memory is not None
    _slots[(key[0] >> ADDRESS_BITS) % SLOTS] = decoding


def _small_snapshot(blocks: list[tuple[int, bytes]]) -> MemorySnapshot | None:
    """A snapshot that one read compares; None for blocks that are too large."""
    memory = MemorySnapshot(blocks)
    return memory if memory.size <= SMALL else None
