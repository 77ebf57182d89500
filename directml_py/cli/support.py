"""Support tables as text, for the command line."""

from __future__ import annotations

from ..abi.schema import OperatorSchema, Support
from ..api import enums
from ..descs.decode import enum_class
from ..descs.tensor import type_name
from ..validation.tensors import level_name


def support_table(schema: OperatorSchema, executes: bool) -> str:
    """What the operator's page says that it supports, per feature level, and whether it executes here."""
    lines = [
        f"{schema.type_name} ({schema.struct.name})",
        f"introduced in {level_name(schema.level)}; {'executes' if executes else 'is checked, does not execute yet'}",
    ]
    if not schema.support:
        lines.append("its support tables have not been filled in")
    condition = None
    for entry in schema.support:
        if entry.when and entry.when != condition:
            lines += ["", _condition(schema, entry)]
            condition = entry.when
        lines += ["", f"{level_name(entry.level)} and above", *_rows(entry)]
    return "\n".join(lines)


def _condition(schema: OperatorSchema, entry: Support) -> str:
    parts = []
    for name, values in entry.when.items():
        field = schema.struct.fields[schema.struct.index[name]]
        parts.append(f"{name}: " + ", ".join(enum_class(field.type)(value).name for value in values))
    return "; ".join(parts)


def _rows(entry: Support) -> list[str]:
    width = max(map(len, entry.tensors))
    rows = []
    for name, support in entry.tensors.items():
        first, last = support.dimensions[0], support.dimensions[-1]
        counts = str(first) if first == last else f"{first} to {last}"
        types = ", ".join(type_name(enums.DML_TENSOR_DATA_TYPE(value)) for value in support.types)
        rows.append(f"  {name:{width}}  {counts:6}  {types}")
    return rows
