"""The ctypes structs, enumerations, schemas and memory layouts of the API by their names."""

from __future__ import annotations

import ctypes
import struct
from functools import cache
from importlib import import_module
from typing import Any

from ..abi.schema import FieldSchema, StructSchema
from ..api.exports import EXPORTS
from ..api.schema_data import OPERATORS, STRUCTS
from ..late import loading

OPERATOR_SCHEMAS = {op.struct.name: op for op in OPERATORS.values()}


@cache
def ctypes_class(name: str) -> Any:
    """The ctypes struct named ``name``. Raises ``KeyError``."""
    with loading:
        return getattr(import_module(f"directml_py.{EXPORTS[name]}"), name)


# Enumerations are found in the same way.
enum_class = ctypes_class


@cache
def members(enum: str) -> dict[int, Any]:
    """The members of an enumeration by their numbers."""
    members: dict[int, Any] = enum_class(enum)._value2member_map_
    return members


def value_name(enum: str, value: int) -> str:
    """The enumerator's name; the number itself if there is none."""
    member = enum_class(enum)._value2member_map_.get(value)
    return str(value) if member is None else str(member.name)


def member_name(entry: FieldSchema, value: Any) -> str:
    """The name by which ``value``, a decoded field, is set: that of the member if it was one of a union."""
    union = STRUCTS.get(entry.type) if entry.kind == "union" else None
    held = getattr(value, "struct", None)
    if union is None or held is None:
        return entry.name
    return next(member.name for member in union.fields if member.type == held.name)


def struct_schema(name: str) -> StructSchema | None:
    """The schema of a plain struct or operator desc named ``name``."""
    operator = OPERATOR_SCHEMAS.get(name)
    return operator.struct if operator else STRUCTS.get(name)


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
    schema = struct_schema(name)
    assert schema is not None, name
    kind = ctypes_class(name)
    text = "="
    position = 0
    for entry in schema.fields:
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
