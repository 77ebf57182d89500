"""The Windows types that the headers use, as ctypes types of the same size."""

from __future__ import annotations

import ctypes
import uuid

__all__ = [
    "BOOL",
    "BYTE",
    "DOUBLE",
    "FLOAT",
    "GUID",
    "HRESULT",
    "INT",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "LONG_PTR",
    "SIZE_T",
    "UINT",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
]

BYTE = ctypes.c_uint8
INT8 = ctypes.c_int8
UINT8 = ctypes.c_uint8
INT16 = ctypes.c_int16
UINT16 = ctypes.c_uint16
INT = ctypes.c_int32
INT32 = ctypes.c_int32
UINT = ctypes.c_uint32
UINT32 = ctypes.c_uint32
INT64 = ctypes.c_int64
UINT64 = ctypes.c_uint64
BOOL = ctypes.c_int32
FLOAT = ctypes.c_float
DOUBLE = ctypes.c_double
SIZE_T = ctypes.c_size_t
LONG_PTR = ctypes.c_ssize_t
HRESULT = ctypes.c_int32
ENUM = ctypes.c_int32


class GUID(ctypes.Structure):
    """A GUID with the C layout; ``GUID("c8263aac-9e0c-4a2d-9b8e-007521a3317c")`` parses text.

    Raises ``ValueError`` for text that is no GUID. Equal GUIDs are equal and hash alike.
    """

    _fields_ = (
        ("Data1", ctypes.c_uint32),
        ("Data2", ctypes.c_uint16),
        ("Data3", ctypes.c_uint16),
        ("Data4", ctypes.c_uint8 * 8),
    )

    def __init__(self, text: str | uuid.UUID | None = None) -> None:
        super().__init__()
        if text is not None:
            data = (text if isinstance(text, uuid.UUID) else uuid.UUID(text)).bytes_le
            ctypes.memmove(ctypes.addressof(self), data, 16)

    def __bytes__(self) -> bytes:
        return ctypes.string_at(ctypes.addressof(self), 16)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GUID) and bytes(self) == bytes(other)

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __str__(self) -> str:
        return str(uuid.UUID(bytes_le=bytes(self)))

    def __repr__(self) -> str:
        return f"GUID('{self}')"
