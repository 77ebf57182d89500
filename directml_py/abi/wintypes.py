"""The Windows types used by the headers, as ctypes types of the same size."""

from __future__ import annotations

import ctypes
from ctypes import sizeof as sizeof

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
    "WCHAR",
    "sizeof",
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
# 2 bytes on Windows, 4 elsewhere.
WCHAR = ctypes.c_wchar
ENUM = ctypes.c_int32


class GUID(ctypes.Structure):
    """A GUID with the C layout, parsed from text such as ``"c8263aac-9e0c-4a2d-9b8e-007521a3317c"`` or a ``uuid.UUID``.

    Raises ``ValueError`` for text that is not a GUID. Compared and hashed by value.
    """

    _fields_ = (
        ("Data1", ctypes.c_uint32),
        ("Data2", ctypes.c_uint16),
        ("Data3", ctypes.c_uint16),
        ("Data4", ctypes.c_uint8 * 8),
    )

    def __init__(self, text: object = None) -> None:
        super().__init__()
        if text is not None:
            ctypes.memmove(ctypes.addressof(self), _parse(str(text)), 16)

    def __bytes__(self) -> bytes:
        return ctypes.string_at(ctypes.addressof(self), 16)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GUID) and bytes(self) == bytes(other)

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __str__(self) -> str:
        tail = bytes(self.Data4).hex()
        return f"{self.Data1:08x}-{self.Data2:04x}-{self.Data3:04x}-{tail[:4]}-{tail[4:]}"

    def __repr__(self) -> str:
        return f"GUID('{self}')"


def _parse(text: str) -> bytes:
    digits = text.strip("{}").replace("-", "")
    if len(digits) != 32:
        raise ValueError(f"a GUID has 32 hexadecimal digits, not {text!r}")
    raw = bytes.fromhex(digits)
    # The first three groups are integers in native byte order, the rest are bytes.
    return raw[3::-1] + raw[5:3:-1] + raw[7:5:-1] + raw[8:]
