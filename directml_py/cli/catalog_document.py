"""The whole catalog as one document of plain values, for programs in other languages.

``catalog.schema.json`` beside this module says what it looks like.
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
from ..descs.decode import enum_class
from ..dml.dml_device import HIGHEST_FEATURE_LEVEL
from ..validation.support_tables import Support, When, support_of
from ..validation.tensor_rules import level_name

API_VERSION = "1.15"
ENUM_MODULES = ("api.enums", "api.d3d12_enums")
# Where a struct holds an address, of what ``type`` names or of bytes.
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
        "enums": {one.__name__: _enum(one) for one in _enums()},
        "structs": {one.name: _struct(one) for one in _structs()},
        "operators": {schema.type_name: _operator(schema, rules) for schema in OPERATORS.values()},
        "interfaces": {
            name: {
                "iid": interface.iid,
                "base": interface.base,
                "methods": [
                    {"name": one.name, "returns": one.returns, "parameters": _parameters(one.params)}
                    for one in interface.methods
                ],
            }
            for name, interface in INTERFACES.items()
        },
        "functions": {
            one.name: {"returns": one.returns, "parameters": _parameters(one.params)} for one in FUNCTIONS
        },
        "rules": {one.id: _rule(one) for one in rules},
    }


def as_document(rule: Rule) -> Document:
    """A rule with its identifier."""
    return {"id": rule.id, **_rule(rule)}


def _enums() -> list[type[enum.Enum]]:
    found: list[type[enum.Enum]] = []
    for name, module in EXPORTS.items():
        if module in ENUM_MODULES:
            value = getattr(import_module(f"directml_py.{module}"), name)
            if isinstance(value, type) and issubclass(value, enum.Enum):
                found.append(value)
    return sorted(found, key=lambda one: one.__name__)


def _enum(one: type[enum.Enum]) -> Document:
    return {
        "flags": issubclass(one, enum.Flag),
        "values": {name: int(member.value) for name, member in one.__members__.items()},
    }


def _structs() -> list[StructSchema]:
    return [*STRUCTS.values(), *(schema.struct for schema in OPERATORS.values())]


def _struct(schema: StructSchema) -> Document:
    layout = getattr(import_module(f"directml_py.{EXPORTS[schema.name]}"), schema.name)
    found = {
        "union": issubclass(layout, ctypes.Union),
        "size": ctypes.sizeof(layout),
        "alignment": ctypes.alignment(layout),
        "fields": [_field(entry, layout) for entry in schema.fields],
    }
    if schema.variants:
        (switch,) = (entry.type for entry in schema.fields if entry.kind in ("enum", "flags"))
        members = enum_class(switch)
        found["variants"] = {members(value).name: name for value, name in schema.variants.items()}
    return found


def _field(entry: FieldSchema, layout: Any) -> Document:
    place, declared = getattr(layout, entry.name), dict(layout._fields_)[entry.name]
    found: Document = {"name": entry.name, "kind": entry.kind, "offset": place.offset, "size": place.size}
    if isinstance(declared, type) and issubclass(declared, ctypes.Array):
        found |= {"kind": "integer", "type": "BYTE", "length": declared._length_}
    elif entry.type:
        found["type"] = entry.type
    found["pointer"] = found["kind"] in POINTERS
    if entry.role != "attribute":
        found["role"] = entry.role
    for name in ("counted_by", "governed_by"):
        if value := getattr(entry, name):
            found[name] = value
    if entry.optional:
        found["optional"] = True
    return found


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
        "support": [_support(schema, one) for one in support_of(schema)],
        "rules": [one.id for one in rules if one.id.startswith(prefix)],
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
    """Enumerators by name, numbers and truth values as they are."""
    found: Document = {}
    for name, values in when.items():
        entry = schema.struct.fields[schema.struct.index[name]]
        found[name] = [enum_class(entry.type)(one).name if entry.kind == "enum" else one for one in values]
    return found


def _parameters(parameters: tuple[Parameter, ...]) -> list[Document]:
    return [{"type": type, "name": name} for type, name in parameters]


def _rule(rule: Rule) -> Document:
    return {"text": rule.text, "source": rule.source, "severity": rule.severity.value, "debug": rule.debug}
