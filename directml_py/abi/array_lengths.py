"""Lengths of the arrays that Python code assigned to structs, by address, for as long as the arrays live.

An API struct holds a pointer and a count. Memory alone cannot show that the count exceeds the list that the pointer was
created from.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any


class _Extent(weakref.ref[Any]):
    """A weak reference to the owner of an array of ``size`` bytes at ``address``."""

    __slots__ = ("address", "size")

    address: int
    size: int


_extents: dict[int, _Extent] = {}


def note_extent(owner: object, address: int, size: int) -> None:
    """Record an array of ``size`` bytes at ``address`` that lives as long as ``owner``."""
    extent = _Extent(owner, _forget)
    extent.address, extent.size = address, size
    _extents[address] = extent


def _forget(extent: _Extent) -> None:
    if _extents.get(extent.address) is extent:
        del _extents[extent.address]


def extent_at(address: int) -> int | None:
    """The size in bytes of the array that begins at ``address``; None if unknown."""
    extent = _extents.get(address)
    return None if extent is None else extent.size


def extents_at(addresses: Iterable[int]) -> list[int | None]:
    """``extent_at`` of each address."""
    return [None if extent is None else extent.size for extent in map(_extents.get, addresses)]
