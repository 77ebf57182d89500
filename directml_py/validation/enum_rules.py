"""Rules about enumerations and flags, at any depth of a desc."""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any

from ..abi.arguments import known_bits
from ..abi.rules import rule
from ..abi.schema import FieldSchema, StructSchema
from ..api.enums import DML_TENSOR_DATA_TYPE_UNKNOWN
from ..descs.operator_desc import Record
from ..descs.types_by_name import enum_class, struct_schema
from .report import Report

ENUM_VALUE = rule(
    "DML-Desc-enum", "A field of an enumeration type holds one of its values", "directml-enumerations"
)
FLAGS_VALUE = rule(
    "DML-Desc-flags", "A field of flags has only bits of its enumeration", "directml-enumerations"
)


# Every value of these kinds is valid by itself; tensors have rules of their own.
PLAIN = frozenset({"integer", "bool", "float", "union", "interface", "string", "bytes", "address"})

# Microsoft's library does not read this data type: Min and Max have the tensors'. ONNX Runtime leaves it UNKNOWN.
UNREAD = frozenset({("DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC", "MinMaxDataType")})


@cache
def judged_fields(struct: StructSchema) -> tuple[FieldSchema, ...]:
    """The fields for which some values are invalid, or which contain such fields."""
    return tuple(
        entry
        for entry in struct.fields
        if entry.kind not in PLAIN
        and not entry.is_tensor
        and (entry.kind != "array" or struct_schema(entry.type) is not None)
    )


def check_values(record: Record, report: Report, prefix: str = "") -> None:
    """Check ``record`` and the records inside it."""
    for entry in judged_fields(record.struct):
        value, path = getattr(record, entry.name), prefix + entry.name
        if entry.kind == "enum" and not is_readable(record, entry.name):
            is_unknown = value is DML_TENSOR_DATA_TYPE_UNKNOWN
            problem = (
                f"{value.name}; a data type is required"
                if is_unknown
                else f"{value}, which is not a {entry.type}"
            )
            report.add(ENUM_VALUE, path, f"is {problem}")
        elif entry.kind == "flags":
            check_flags(enum_class(entry.type), value, path, report)
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, Record):
                    check_values(item, report, f"{path}[{index}].")
        elif isinstance(value, Record):
            check_values(value, report, f"{path}.")


def is_known(value: object) -> bool:
    """Whether the value of an enumeration field is one of its enumerators, and a data type not UNKNOWN."""
    return isinstance(value, IntEnum) and value is not DML_TENSOR_DATA_TYPE_UNKNOWN


def is_readable(record: Record, name: str) -> bool:
    """Whether the field's value is known, or UNKNOWN in a field that is not read."""
    value = getattr(record, name)
    is_unread = value is DML_TENSOR_DATA_TYPE_UNKNOWN and (record.struct.name, name) in UNREAD
    return is_unread or is_known(value)


def check_flags(kind: Any, value: int, path: str, report: Report) -> None:
    unknown = int(value) & ~known_bits(kind)
    if unknown:
        report.add(FLAGS_VALUE, path, f"has the bits 0x{unknown:X}, which no {kind.__name__} defines")
