"""Keepalives: references that keep the memory alive which a struct's pointers point to.

ctypes stores the objects assigned to a struct's pointers in a dictionary, ``_objects``. A copy of the struct refers to
the same dictionary, which changes when other pointers are assigned to the original: the copy would be left with
dangling pointers. The references of a copy are therefore snapshotted when it is made.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Iterable
from typing import Any

_CData: Any = ctypes.Structure.__base__


class KeptBlock(bytearray):
    """The memory of one pointer, with a reference to the owner of the memory that it points to."""

    owner: object


def keep(address: int, owner: object, kind: Any = ctypes.c_void_p, size: int | None = None) -> Any:
    """A pointer of type ``kind`` to ``address`` that keeps ``owner`` alive wherever ctypes copies it.

    ``size``, if given, is the size of the memory in bytes. ctypes.cast would do the same, but creates a reference cycle
    that only the garbage collector frees.
    """
    block = KeptBlock(address.to_bytes(8, sys.byteorder))
    block.owner = owner
    if size is not None:
        note_extent(block, address, size)
    return kind.from_buffer(block)


def adopt(copy: Any, original: Any) -> None:
    """Let ``copy``, which has the bytes of ``original``, keep alive what ``original`` currently does."""
    objects = original._objects
    if original._b_base_ is None:
        kept = {key: _snapshot(value) for key, value in (objects or {}).items()}
    else:
        kept = {"original": _snapshot(_root(original)._objects)}
    if kept:
        # ctypes creates the dictionary on demand, for example for an array that copies the struct.
        (type(copy) * 1)()[0] = copy
        copy._objects.update(kept)


def kept_objects(item: Any) -> list[Any]:
    """The ctypes objects that ``item`` keeps alive, itself included."""
    found: list[Any] = []
    visited, waiting = set(), [item]
    while waiting:
        value = waiting.pop()
        if id(value) in visited:
            continue
        visited.add(id(value))
        if isinstance(value, _CData):
            found.append(value)
            waiting += value._objects, value._b_base_
        elif isinstance(value, KeptBlock):
            waiting.append(value.owner)
        elif isinstance(value, memoryview):
            waiting.append(value.obj)
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, tuple):
            waiting += value
    return found


def settle(item: Any) -> None:
    """Snapshot the keepalives of ``item``, so that later changes to the structs copied into it have no effect."""
    objects = _root(item)._objects
    if isinstance(objects, dict):
        for key, value in objects.items():
            if isinstance(value, dict):
                objects[key] = _snapshot(value)


def _root(item: Any) -> Any:
    """The outermost object that ``item`` is a part of, whose dictionary holds all keepalives."""
    while item._b_base_ is not None:
        item = item._b_base_
    return item


def _snapshot(objects: Any) -> Any:
    if isinstance(objects, dict):
        return tuple(map(_snapshot, objects.values()))
    if type(objects) is tuple:
        return tuple(map(_snapshot, objects))
    return objects


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
