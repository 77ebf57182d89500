"""Support tables as rows: an operator's dimension counts and data types by feature level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from directml_py.abi.schema import OperatorSchema
from directml_py.descs.data_types import data_type_of
from directml_py.descs.types_by_name import enum_class
from directml_py.validation.support_tables import When, support_of


class SupportRow(NamedTuple):
    """What ``tensors`` (empty: all) support from ``level`` on, for the attribute values ``when``."""

    level: int
    when: When
    tensors: tuple[str, ...]
    dimensions: str
    types: tuple[str, ...]


def support_rows(schema: OperatorSchema) -> list[SupportRow]:
    """The tables of an operator; tensors with equal support share a row."""
    rows = []
    every = {entry.name for entry in schema.struct.tensors}
    for entry in support_of(schema):
        groups: dict[Any, list[str]] = {}
        for name, tensor in entry.tensors.items():
            groups.setdefault((tensor.dimensions, tensor.types), []).append(name)
        for (dimensions, kinds), names in groups.items():
            shared = () if set(names) == every and len(every) > 1 else tuple(names)
            types = tuple(data_type_of(kind).name for kind in kinds)
            rows.append(SupportRow(entry.level, entry.when, shared, counts(dimensions), types))
    return rows


def counts(dimensions: range) -> str:
    first, last = dimensions[0], dimensions[-1]
    return str(first) if first == last else f"{first} to {last}"


def when_text(schema: OperatorSchema, when: When) -> str:
    parts = []
    for name, values in when.items():
        entry = schema.struct.fields[schema.struct.index[name]]
        shown = [
            enum_class(entry.type)(value).name.removeprefix(f"{entry.type}_")
            if entry.kind == "enum"
            else str(value)
            for value in values
        ]
        parts.append(f"`{name}` is {' or '.join(shown)}")
    return "; ".join(parts)


def level_text(level: int) -> str:
    """``6.4`` for DML_FEATURE_LEVEL_6_4."""
    return f"{level >> 12}.{level >> 8 & 15}"


def types_text(names: Sequence[str]) -> str:
    """Data types grouped by kind: ``FLOAT16 to 64, INT8 to 32`` for contiguous widths."""
    parts = []
    for kind in ("FLOAT", "INT", "UINT"):
        widths = sorted(int(name.removeprefix(kind)) for name in names if name.startswith(kind))
        if not widths:
            continue
        is_whole = len(widths) > 1 and widths == [widths[0] << step for step in range(len(widths))]
        several = is_whole and len(widths) > 2
        parts += [f"{kind}{widths[0]} to {widths[-1]}"] if several else [f"{kind}{width}" for width in widths]
    return ", ".join(parts)
