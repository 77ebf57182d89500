"""Access to the memory of C arguments: output parameters, GUIDs, arrays of pointers.

Bad pointers raise ``E_POINTER``. Results are written twice: by the kernel, which detects unmapped memory, and then
directly, so that a sanitizer detects a buffer that is too small.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

from ..abi.hresult import E_POINTER, DMLError
from ..abi.memory import MemoryFault, read_argument, write
from ..abi.wintypes import GUID

POINTER_SIZE = ctypes.sizeof(ctypes.c_void_p)
GUID_SIZE = ctypes.sizeof(GUID)
NULL = 0


# Writes to the calling thread's own frames, without asking the kernel; False for other memory.
_poke: Callable[[int, bytes], bool] = lambda address, data: False  # noqa: E731


def write_with(poke: Callable[[int, bytes], bool]) -> None:
    """Let ``poke`` try this function first."""
    global _poke
    _poke = poke


def peek(address: int, size: int, name: str) -> bytes:
    """Read ``size`` bytes. Raises ``DMLError`` ``E_POINTER`` for unmapped memory."""
    try:
        return read_argument(address, size)
    except MemoryFault:
        raise DMLError(E_POINTER, f"{name} is 0x{address:X}, where {size} bytes cannot be read") from None


def peek_pointers(address: int, count: int, name: str) -> Sequence[int]:
    """Read an array of pointers."""
    if count == 1:
        return (int.from_bytes(peek(address, POINTER_SIZE, name), "little"),)
    return memoryview(peek(address, POINTER_SIZE * count, name)).cast("Q")


def poke(address: int, data: bytes, name: str) -> None:
    """Write ``data``. Raises ``DMLError`` ``E_POINTER`` for memory that cannot be written."""
    if _poke(address, data):
        return
    try:
        write(address, data)
    except MemoryFault:
        raise DMLError(
            E_POINTER, f"{name} is 0x{address:X}, where {len(data)} bytes cannot be written"
        ) from None
    ctypes.memmove(address, data, len(data))


def peek_guid(address: int, name: str) -> GUID:
    return GUID.from_buffer_copy(peek(address, GUID_SIZE, name))


def peek_number(address: int, size: int, name: str) -> int:
    return int.from_bytes(peek(address, size, name), "little")


def poke_number(address: int, value: int, size: int, name: str) -> None:
    poke(address, value.to_bytes(size, "little"), name)


def poke_pointer(address: int, value: int, name: str) -> None:
    poke(address, value.to_bytes(POINTER_SIZE, "little"), name)
