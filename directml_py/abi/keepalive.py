"""What keeps the memory alive that pointers in a struct point to.

ctypes notes what was assigned to a struct's pointers in a dictionary, ``_objects``. A copy of the struct notes that
same dictionary, which changes when the original gets other pointers: the copy would be left with pointers into memory
that is gone. What a copy keeps is therefore taken down at the time.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from .array_lengths import note_extent


class KeptBlock(bytearray):
    """The memory of one pointer, together with what it points to."""

    owner: object


def keep(address: int, owner: object, kind: Any = ctypes.c_void_p, size: int | None = None) -> Any:
    """A pointer of type ``kind`` with the value ``address`` that keeps ``owner`` alive wherever ctypes copies it.

    ``size``, if given, is how many bytes lie there. ctypes.cast would do the same, but with a reference cycle that only
    the garbage collector frees.
    """
    block = KeptBlock(address.to_bytes(8, sys.byteorder))
    block.owner = owner
    if size is not None:
        note_extent(block, address, size)
    return kind.from_buffer(block)


def adopt(copy: Any, original: Any) -> None:
    """Let ``copy``, which has the bytes of ``original``, keep alive what that keeps now."""
    objects = original._objects
    if original._b_base_ is None:
        kept = {key: _taken_down(value) for key, value in (objects or {}).items()}
    else:
        kept = {"original": _taken_down(_root(original)._objects)}
    if kept:
        # The dictionary is made when it is first asked for, as by an array that copies the struct.
        (type(copy) * 1)()[0] = copy
        copy._objects.update(kept)


def settle(item: Any) -> None:
    """Let ``item`` keep what it keeps now, whatever happens to the structs that were copied into it."""
    objects = _root(item)._objects
    if isinstance(objects, dict):
        for key, value in objects.items():
            if isinstance(value, dict):
                objects[key] = _taken_down(value)


def _root(item: Any) -> Any:
    """What ``item`` is a part of, in whose dictionary everything is noted."""
    while item._b_base_ is not None:
        item = item._b_base_
    return item


def _taken_down(objects: Any) -> Any:
    if isinstance(objects, dict):
        return tuple(map(_taken_down, objects.values()))
    if type(objects) is tuple:
        return tuple(map(_taken_down, objects))
    return objects
