"""The support tables and agreements of an operator's page, parsed on first use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from ..abi.schema import OperatorSchema
from ..descs.data_types import BY_NAME
from ..descs.operator_desc import OperatorDesc
from ..descs.types_by_name import enum_class
from .notation import Conditions, parse_same, parse_table


class TensorSupport(NamedTuple):
    """The supported dimension counts and data types (members of DML_TENSOR_DATA_TYPE) of one tensor."""

    dimensions: range
    types: tuple[int, ...]


When = Mapping[str, tuple[Any, ...]]


class Support(NamedTuple):
    """One support table of an operator's page, for ``level`` and later, and for these attribute values."""

    level: int
    tensors: Mapping[str, TensorSupport]
    when: When


class Same(NamedTuple):
    """Tensors that must agree in the named properties, for these attribute values."""

    fields: tuple[str, ...]
    properties: tuple[str, ...]
    when: When


@cache
def support_of(schema: OperatorSchema) -> tuple[Support, ...]:
    """The support tables, newest first among those with the same condition."""
    all_tensors = tuple(entry.name for entry in schema.struct.tensors)
    tables = []
    for text in schema.support:
        level, conditions, groups = parse_table(text)
        tensors = {
            name: TensorSupport(ranks, tuple(BY_NAME[kind] for kind in kinds))
            for names, ranks, kinds in groups
            for name in names or all_tensors
        }
        tables.append(Support(level, tensors, _when(schema, conditions)))
    return tuple(tables)


@cache
def same_of(schema: OperatorSchema) -> tuple[Same, ...]:
    """The tensors that must agree."""
    agreements = map(parse_same, schema.same)
    return tuple(
        Same(fields, properties, _when(schema, conditions)) for fields, properties, conditions in agreements
    )


def _when(schema: OperatorSchema, conditions: Conditions) -> When:
    return {
        field: tuple(_value(schema, field, text) for text in values) for field, values in conditions.items()
    }


def _value(schema: OperatorSchema, field: str, text: str) -> Any:
    entry = schema.struct.fields[schema.struct.index[field]]
    if entry.kind == "bool":
        return {"true": True, "false": False}[text]
    return enum_class(entry.type)[f"{entry.type}_{text}"] if entry.kind == "enum" else int(text)


def applies(entry: Support | Same, desc: OperatorDesc) -> bool:
    return not entry.when or all(getattr(desc, name) in values for name, values in entry.when.items())


def support_at(desc: OperatorDesc, level: int) -> Support | None:
    """The newest support table that ``level`` has for the desc's attributes."""
    newest = None
    for entry in support_of(desc.schema):
        if (newest.level if newest else 0) < entry.level <= level and applies(entry, desc):
            newest = entry
    return newest
