"""How long the arrays are that Python code gave to structs, by their addresses, for as long as they live.

A struct of the API holds a pointer and a count. Memory alone does not tell that the count is larger than the list that
the pointer was made from.
"""

from __future__ import annotations

import weakref
from typing import Any


class _Extent(weakref.ref[Any]):
    """The array at ``address`` and its ``size`` in bytes."""

    __slots__ = ("address", "size")

    address: int
    size: int


_extents: dict[int, _Extent] = {}


def note_extent(owner: object, address: int, size: int) -> None:
    """From ``address`` on, ``size`` bytes belong to an array until ``owner`` is gone."""
    extent = _Extent(owner, _forget)
    extent.address, extent.size = address, size
    _extents[address] = extent


def _forget(extent: _Extent) -> None:
    if _extents.get(extent.address) is extent:
        del _extents[extent.address]


def extent_at(address: int) -> int | None:
    """The bytes of the array that begins at ``address``; None where none is known to."""
    extent = _extents.get(address)
    return None if extent is None else extent.size
