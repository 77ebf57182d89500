"""Snapshots of memory that ctypes objects own, which is mapped as long as they live and so is read without probing."""

from __future__ import annotations

import ctypes
import weakref
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from .keepalive import kept_objects
from .memory import SMALL


class OwnedSnapshot:
    """The contents of ctypes objects, which it does not keep alive."""

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
        place = bisect_right(starts, address) - 1
        if place < 0:
            return None
        start = starts[place]
        owner = owners[start]
        offset = address - start
        if bytes(memoryview(owner).cast("B")[offset : offset + len(data)]) != data:
            return None
        found[start] = owner
    if sum(map(ctypes.sizeof, found.values())) > SMALL:
        return None
    return OwnedSnapshot(list(found.values()))
