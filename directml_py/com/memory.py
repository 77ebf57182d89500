"""The memory of C's own arguments: where results go, identifiers, arrays of pointers.

It is touched directly, as C would: a debugger or a sanitizer then sees who got it wrong. What descs lead to is probed,
by those who decode them.
"""

from __future__ import annotations

import ctypes

from ..api.hresult import E_POINTER, DMLError
from ..api.memory import FIRST_MAPPABLE

POINTER_SIZE = ctypes.sizeof(ctypes.c_void_p)
NULL = bytes(POINTER_SIZE)


def peek(address: int, size: int, name: str) -> bytes:
    """Raises ``DMLError`` ``E_POINTER`` for null and its neighbours."""
    if address < FIRST_MAPPABLE:
        raise DMLError(E_POINTER, f"{name} points to 0x{address:X}, where no data can be")
    return ctypes.string_at(address, size)


def poke(address: int, data: bytes, name: str) -> None:
    """Raises ``DMLError`` ``E_POINTER`` for null and its neighbours."""
    if address < FIRST_MAPPABLE:
        raise DMLError(E_POINTER, f"{name} points to 0x{address:X}, where no result can go")
    ctypes.memmove(address, data, len(data))
