"""The ctypes structs, enumerations and schemas of the API by their names."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..abi.schema import FieldSchema, StructSchema
from ..api import d3d12_enums, d3d12_structs, enums, operator_descs, structs
from ..api.schema_data import OPERATORS, STRUCTS

OPERATOR_SCHEMAS = {op.struct.name: op for op in OPERATORS.values()}


@cache
def ctypes_class(name: str) -> Any:
    """The ctypes struct named ``name``."""
    for module in (operator_descs, structs, d3d12_structs):
        kind = getattr(module, name, None)
        if kind is not None:
            return kind
    raise KeyError(name)


@cache
def enum_class(name: str) -> Any:
    return getattr(enums, name, None) or getattr(d3d12_enums, name)


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
