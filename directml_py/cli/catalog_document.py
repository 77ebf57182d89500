"""The whole catalog as one JSON document, for programs in other languages.

``catalog.schema.json`` beside this module is its JSON Schema.
"""

from __future__ import annotations

import ctypes
import enum
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from .. import operators
from .._version import __version__
from ..abi.rules import Rule
from ..abi.schema import FieldSchema, OperatorSchema, StructSchema
from ..api.enums import DML_TENSOR_DATA_TYPE
from ..api.exports import EXPORTS
from ..api.schema_data import OPERATORS, STRUCTS
from ..com.interfaces import FUNCTIONS, INTERFACES
from ..com.signatures import Parameter
from ..descs.data_types import type_name
from ..descs.types_by_name import enum_class
from ..validation.support_rules import HIGHEST_FEATURE_LEVEL
from ..validation.support_tables import Support, When, support_of
from ..validation.tensor_rules import level_name

API_VERSION = "1.15"
ENUM_MODULES = ("api.enums", "api.d3d12_enums")
# Kinds of fields that hold an address, of what ``type`` names or of bytes.
POINTERS = frozenset({"pointer", "array", "variant", "bytes", "interface", "string", "address"})

Document = dict[str, Any]


def json_schema() -> str:
    """The JSON Schema (2020-12) of :func:`document`, as text."""
    return files(__package__).joinpath("catalog.schema.json").read_text(encoding="utf-8")


@cache
def document() -> Document:
    """Enumerations, structs with their layouts, operators with their support tables, interfaces, functions and rules.

    Offsets and sizes are in bytes, on 64-bit platforms.
    """
    rules = operators.every_rule()
    return {
        "version": __version__,
        "directml": API_VERSION,
        "feature_level": HIGHEST_FEATURE_LEVEL.name,
        "enums": {item.__name__: _enum(item) for item in _enums()},
        "structs": {item.name: _struct(item) for item in _structs()},
        "operators": {schema.type_name: _operator(schema, rules) for schema in OPERATORS.values()},
        "interfaces": {
            name: {
                "iid": interface.iid,
                "base": interface.base,
                "methods": [
                    {"name": item.name, "returns": item.returns, "parameters": _parameters(item.params)}
                    for item in interface.methods
                ],
            }
            for name, interface in INTERFACES.items()
        },
        "functions": {
            item.name: {"returns": item.returns, "parameters": _parameters(item.params)} for item in FUNCTIONS
        },
        "rules": {item.id: _rule(item) for item in rules},
    }


def as_document(rule: Rule) -> Document:
    """A rule as JSON values, with its identifier."""
    return {"id": rule.id, **_rule(rule)}


def _enums() -> list[type[enum.Enum]]:
    classes: list[type[enum.Enum]] = []
    for name, module in EXPORTS.items():
        if module in ENUM_MODULES:
            value = getattr(import_module(f"directml_py.{module}"), name)
            if isinstance(value, type) and issubclass(value, enum.Enum):
                classes.append(value)
    return sorted(classes, key=lambda one: one.__name__)


def _enum(enum_class: type[enum.Enum]) -> Document:
    return {
        "flags": issubclass(enum_class, enum.Flag),
        "values": {name: int(member.value) for name, member in enum_class.__members__.items()},
    }


def _structs() -> list[StructSchema]:
    return [*STRUCTS.values(), *(schema.struct for schema in OPERATORS.values())]


def _struct(schema: StructSchema) -> Document:
    layout = getattr(import_module(f"directml_py.{EXPORTS[schema.name]}"), schema.name)
    struct_entry = {
        "union": issubclass(layout, ctypes.Union),
        "size": ctypes.sizeof(layout),
        "alignment": ctypes.alignment(layout),
        "fields": [_field(entry, layout) for entry in schema.fields],
    }
    if schema.variants:
        members = enum_class(_switch(schema))
        struct_entry["variants"] = {members(value).name: name for value, name in schema.variants.items()}
    return struct_entry


def _switch(schema: StructSchema) -> str:
    """The enumeration that tells the variants of a struct apart; those of a union, in the struct that holds it."""
    for owner in (schema, *_structs()):
        for entry in owner.fields:
            if owner is schema and entry.kind in ("enum", "flags"):
                return entry.type
            if entry.type == schema.name and entry.governed_by:
                return owner.fields[owner.index[entry.governed_by]].type
    raise LookupError(f"nothing tells the variants of {schema.name} apart")


def _field(entry: FieldSchema, layout: Any) -> Document:
    field_layout, declared = getattr(layout, entry.name), dict(layout._fields_)[entry.name]
    result: Document = {
        "name": entry.name,
        "kind": entry.kind,
        "offset": field_layout.offset,
        "size": field_layout.size,
    }
    if isinstance(declared, type) and issubclass(declared, ctypes.Array):
        result |= {"kind": "integer", "type": "BYTE", "length": declared._length_}
    elif entry.type:
        result["type"] = entry.type
    result["pointer"] = result["kind"] in POINTERS
    if entry.role != "attribute":
        result["role"] = entry.role
    for name in ("counted_by", "governed_by"):
        if value := getattr(entry, name):
            result[name] = value
    if entry.optional:
        result["optional"] = True
    return result


def _operator(schema: OperatorSchema, rules: list[Rule]) -> Document:
    prefix = f"DML-{schema.name}-"
    return {
        "value": schema.value,
        "struct": schema.struct.name,
        "family": schema.family,
        "about": schema.about,
        "feature_level": level_name(schema.level),
        "page": schema.page,
        "in_place": list(schema.in_place),
        "support": [_support(schema, table) for table in support_of(schema)],
        "rules": [table.id for table in rules if table.id.startswith(prefix)],
    }


def _support(schema: OperatorSchema, table: Support) -> Document:
    return {
        "feature_level": level_name(table.level),
        "when": _when(schema, table.when),
        "tensors": {
            name: {
                "dimensions": [tensor.dimensions[0], tensor.dimensions[-1]],
                "types": [type_name(DML_TENSOR_DATA_TYPE(value)) for value in tensor.types],
            }
            for name, tensor in table.tensors.items()
        },
    }


def _when(schema: OperatorSchema, when: When) -> Document:
    """The conditions of a support row: enumerators by name, numbers and booleans as they are."""
    conditions: Document = {}
    for name, values in when.items():
        entry = schema.struct.fields[schema.struct.index[name]]
        conditions[name] = [
            enum_class(entry.type)(value).name if entry.kind == "enum" else value for value in values
        ]
    return conditions


def _parameters(parameters: tuple[Parameter, ...]) -> list[Document]:
    return [{"type": type, "name": name} for type, name in parameters]


def _rule(rule: Rule) -> Document:
    return {"text": rule.text, "source": rule.source, "severity": rule.severity.value, "debug": rule.debug}
