"""The memory of C's own arguments: where results go, identifiers, arrays of pointers.

Wild pointers are ``E_POINTER``. Results are written twice: by the kernel, which knows what is mapped, and then
directly, so that a sanitizer sees who gave too little room.
"""

from __future__ import annotations

import ctypes

from ..abi.hresult import E_POINTER, DMLError
from ..abi.memory import MemoryFault, read, write
from ..abi.wintypes import GUID

POINTER_SIZE = ctypes.sizeof(ctypes.c_void_p)
GUID_SIZE = ctypes.sizeof(GUID)
NULL = 0


def peek(address: int, size: int, name: str) -> bytes:
    """Raises ``DMLError`` ``E_POINTER`` where there is no such memory."""
    try:
        return read(address, size)
    except MemoryFault:
        raise DMLError(E_POINTER, f"{name} points to 0x{address:X}, where no {size} bytes are") from None


def poke(address: int, data: bytes, name: str) -> None:
    """Raises ``DMLError`` ``E_POINTER`` where no such memory can be written."""
    try:
        write(address, data)
    except MemoryFault:
        raise DMLError(E_POINTER, f"{name} points to 0x{address:X}, where no result can go") from None
    ctypes.memmove(address, data, len(data))


def peek_guid(address: int, name: str) -> GUID:
    return GUID.from_buffer_copy(peek(address, GUID_SIZE, name))


def peek_number(address: int, size: int, name: str) -> int:
    return int.from_bytes(peek(address, size, name), "little")


def poke_number(address: int, value: int, size: int, name: str) -> None:
    poke(address, value.to_bytes(size, "little"), name)


def poke_pointer(address: int, value: int, name: str) -> None:
    poke_number(address, value, POINTER_SIZE, name)
