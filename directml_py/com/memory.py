"""The memory of C's own arguments: where results go, identifiers, arrays of pointers.

It is touched directly, as C would: a debugger or a sanitizer then sees who got it wrong. What descs lead to is probed,
by those who decode them.
"""

from __future__ import annotations

import ctypes

from ..abi.hresult import E_POINTER, DMLError
from ..abi.memory import FIRST_MAPPABLE
from ..abi.wintypes import GUID

POINTER_SIZE = ctypes.sizeof(ctypes.c_void_p)
GUID_SIZE = ctypes.sizeof(GUID)
NULL = 0


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


def peek_guid(address: int, name: str) -> GUID:
    return GUID.from_buffer_copy(peek(address, GUID_SIZE, name))


def peek_number(address: int, size: int, name: str) -> int:
    return int.from_bytes(peek(address, size, name), "little")


def poke_number(address: int, value: int, size: int, name: str) -> None:
    poke(address, value.to_bytes(size, "little"), name)


def poke_pointer(address: int, value: int, name: str) -> None:
    poke_number(address, value, POINTER_SIZE, name)
