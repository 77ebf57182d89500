"""The layouts of structs and arrays in memory, as formats of ``struct``."""

from __future__ import annotations

import ctypes
import struct
from functools import cache

from .types_by_name import ctypes_class, struct_schema

FORMATS = {
    "INT8": "b",
    "UINT8": "B",
    "BYTE": "B",
    "INT16": "h",
    "UINT16": "H",
    "INT": "i",
    "INT32": "i",
    "UINT": "I",
    "UINT32": "I",
    "INT64": "q",
    "UINT64": "Q",
    "SIZE_T": "Q",
    "LONG_PTR": "q",
    "FLOAT": "f",
    "DOUBLE": "d",
}
_KIND_FORMATS = {"enum": "i", "flags": "I", "bool": "i"}


@cache
def struct_layout(name: str) -> struct.Struct:
    """The ``struct`` format that unpacks all fields at once, at the offsets of the ctypes struct."""
    own = struct_schema(name)
    assert own is not None, name
    kind = ctypes_class(name)
    text = "="
    position = 0
    for entry in own.fields:
        member = getattr(kind, entry.name)
        code = _KIND_FORMATS.get(entry.kind) or FORMATS.get(
            entry.type if entry.kind in ("integer", "float") else "", ""
        )
        if not code:
            code = f"{member.size}s" if entry.kind in ("struct", "union") or member.size != 8 else "Q"
        text += f"{member.offset - position}x{code}"
        position = member.offset + member.size
    text += f"{ctypes.sizeof(kind) - position}x"
    return struct.Struct(text)


@cache
def array_layout(count: int, code: str) -> struct.Struct:
    return struct.Struct(f"={count}{code}")
