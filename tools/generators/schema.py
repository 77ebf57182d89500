"""``directml_py/api/schema_data.py``: the catalog as the package reads it at run time."""

from __future__ import annotations

from typing import Any

from .catalog import SCALARS, Catalog, Field, Struct
from .python_text import python_module
from .structs import is_interface

IMPORTS = "from ..abi.schema import OperatorSchema, StructSchema"


def parse_level(text: str) -> int:
    major, minor = text.split("_")
    return int(major) << 12 | int(minor) << 8


class Kinds:
    """Classifies C types, given the names that the catalog declares."""

    def __init__(self, catalog: Catalog) -> None:
        enums = [*catalog.enums, *catalog.d3d12_enums, *catalog.dxgi_enums]
        structs = [*catalog.structs, *catalog.d3d12_structs, *catalog.dxgi_structs]
        self.flags = {enum.name for enum in enums if enum.flags}
        self.enums = {enum.name for enum in enums}
        self.unions = {struct.name for struct in structs if struct.union}

    def of(self, field: Field, struct: Struct) -> tuple[str, str]:
        target = field.pointee
        if target == "void":
            if struct.variants and field.name == "Desc":
                return "variant", ""
            return ("bytes" if field.count else "address"), ""
        if field.type == "const char*":
            return "string", ""
        if is_interface(field):
            return "interface", target
        if target:
            return ("array" if field.count else "pointer"), target
        if field.array:
            return "address", ""
        return self.by_value(field.type), field.type

    def by_value(self, name: str) -> str:
        if name == "BOOL":
            return "bool"
        if name in ("FLOAT", "DOUBLE"):
            return "float"
        if name in SCALARS or name == "LONG_PTR":
            return "integer"
        if name in self.flags:
            return "flags"
        if name in self.enums:
            return "enum"
        return "union" if name in self.unions else "struct"


def field_text(field: Field, struct: Struct, kinds: Kinds) -> str:
    """The arguments of its FieldSchema, without defaults at the end."""
    kind, type_name = kinds.of(field, struct)
    values = [field.role, field.count, field.optional, field.governed_by]
    defaults = ["attribute", "", False, ""]
    while values and values[-1] == defaults[len(values) - 1]:
        values.pop()
    return repr((field.name, kind, type_name, *values))


def struct_text(struct: Struct, kinds: Kinds, values: dict[str, int]) -> str:
    fields = ", ".join(field_text(field, struct, kinds) for field in struct.fields)
    variants = {values[name]: target for name, target in struct.variants.items()}
    tail = f", {variants!r}" if variants else ""
    return f"StructSchema({struct.name!r}, ({fields},){tail})"


def generate(catalog: Catalog) -> dict[str, str]:
    kinds = Kinds(catalog)
    enums = (*catalog.enums, *catalog.d3d12_enums)
    values = {value.name: value.value for enum in enums for value in enum.values}
    body = ["", "STRUCTS = {"]
    for struct in (*catalog.d3d12_structs, *catalog.structs):
        body.append(f"{struct.name!r}: {struct_text(struct, kinds, values)},")
    body += ["}", "", "OPERATORS = {"]
    for op in catalog.operators:
        level, struct_schema = parse_level(op.level), struct_text(op.struct, kinds, values)
        defaults: list[tuple[str, Any, Any]] = [
            ("library", op.library, ()),
            ("page_only", op.page_only, ()),
            ("in_place_unlisted", op.in_place_unlisted, ()),
            ("module", op.module, op.family),
        ]
        rest = "".join(f", {name}={value!r}" for name, value, default in defaults if value != default)
        body.append(
            f"{op.value}: OperatorSchema({op.name!r}, {op.value}, {level:#x}, {op.family!r}, {struct_schema}, "
            f"{op.in_place!r}, {op.support!r}, {op.same!r}, {op.facts!r}, {op.about!r}{rest}),"
        )
    body += ["}", ""]
    docstring = "The structs by name and the operators by the value of their DML_OPERATOR_TYPE."
    return {
        "directml_py/api/schema_data.py": python_module(docstring, IMPORTS, body, ["STRUCTS", "OPERATORS"])
    }
