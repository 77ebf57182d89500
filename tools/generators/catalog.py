"""The API catalog: reads ``tools/api/*.toml`` into values that the generators share."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .operator_entries import FIELD, Entry, check

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

API = Path(__file__).resolve().parents[1] / "api"
TENSOR = "const DML_TENSOR_DESC*"

SCALARS = {
    "BYTE": 1,
    "INT8": 1,
    "UINT8": 1,
    "INT16": 2,
    "UINT16": 2,
    "INT": 4,
    "INT32": 4,
    "UINT": 4,
    "UINT32": 4,
    "BOOL": 4,
    "FLOAT": 4,
    "INT64": 8,
    "UINT64": 8,
    "DOUBLE": 8,
    "SIZE_T": 8,
}


@dataclass(frozen=True)
class EnumValue:
    name: str
    value: int
    since: int


@dataclass(frozen=True)
class Enum:
    name: str
    since: int
    values: tuple[EnumValue, ...]
    flags: bool = False
    scoped: bool = False


@dataclass(frozen=True)
class Field:
    """One member of a struct, in its C spelling, with the meaning that C cannot express."""

    name: str
    type: str
    role: str = "attribute"
    count: str = ""
    optional: bool = False
    governed_by: str = ""
    anonymous: bool = False

    @property
    def pointee(self) -> str:
        """The target type of a pointer, without ``const``; empty for a field held by value."""
        match = re.fullmatch(r"(?:const )?(\w+)\*", self.type)
        return match[1] if match else ""

    @property
    def array(self) -> tuple[str, int] | None:
        """The element type and length of a fixed-size array held by value."""
        match = re.fullmatch(r"(\w+)\[(\d+)\]", self.type)
        return (match[1], int(match[2])) if match else None


@dataclass(frozen=True)
class Struct:
    name: str
    since: int
    fields: tuple[Field, ...]
    union: bool = False
    variants: dict[str, str] = field(default_factory=dict)
    operator: str = ""
    alias: str = ""


@dataclass(frozen=True)
class Operator:
    """``about`` is one line on what it computes; ``module``, of ``directml_py.operators``, implements it."""

    name: str
    about: str
    value: int
    since: int
    level: str
    family: str
    module: str
    struct: Struct
    in_place: tuple[str, ...]
    support: tuple[str, ...]
    same: tuple[str, ...]
    facts: tuple[str, ...]
    library: tuple[str, ...]
    page_only: tuple[str, ...]
    in_place_unlisted: tuple[str, ...]

    @property
    def type(self) -> str:
        return f"DML_OPERATOR_{self.name}"


@dataclass(frozen=True)
class Method:
    name: str
    returns: str
    params: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Interface:
    name: str
    iid: str
    base: str
    since: int
    methods: tuple[Method, ...]


@dataclass(frozen=True)
class Function:
    name: str
    returns: str
    params: tuple[tuple[str, str], ...]
    since: int


def version(text: str | None, default: int = 0x1000) -> int:
    return int(text, 16) if text else default


def split_parameter(text: str) -> tuple[str, str]:
    """``"const UINT* sizes"`` -> ``("const UINT*", "sizes")``."""
    kind, _, name = text.rpartition(" ")
    return kind, name


def load(name: str) -> dict[str, Any]:
    path = API / f"{name}.toml"
    with path.open("rb") as file:
        content: dict[str, Any] = tomllib.load(file)
    return content


def read_enums(table: dict[str, Any]) -> list[Enum]:
    enums = []
    for name, entry in table.items():
        since = version(entry.get("since"))
        values = tuple(
            EnumValue(v["name"], v["value"], version(v.get("since"), since)) for v in entry["values"]
        )
        enums.append(Enum(name, since, values, entry.get("flags", False), entry.get("scoped", False)))
    return enums


def read_field(text: str) -> dict[str, Any]:
    """``input XTensors[XCount]``, ``UINT Axis``, ``FLOAT* Scales[Count]?``, ``DML_SCALAR_UNION Value of DataType``.

    ``input`` and ``output`` are tensors; pointers are to constants; a question mark says that one may be null.
    """
    match = FIELD.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no field")
    entry: dict[str, Any] = {name: value for name, value in match.groupdict().items() if value}
    entry["optional"] = "optional" in entry
    if entry["type"] in ("input", "output"):
        entry["role"], entry["type"] = entry["type"], TENSOR
    elif entry["type"].endswith("*"):
        entry["type"] = f"const {entry['type']}"
    return entry


def read_operator_entry(entry: Mapping[str, Any], family: str) -> dict[str, Any]:
    return {
        "module": family,
        **entry,
        "family": family,
        "fields": [read_field(text) for text in entry["fields"]],
    }


def read_struct(name: str, entry: dict[str, Any], operator: str = "") -> Struct:
    fields = tuple(Field(**{"role": "attribute", **f}) for f in entry["fields"])
    since = version(entry.get("struct_since") or entry.get("since"))
    union = entry.get("union", False)
    alias = f"DML_{entry['alias']}_OPERATOR_DESC" if "alias" in entry else ""
    return Struct(name, since, fields, union, entry.get("variants", {}), operator, alias)


def read_in_place(name: str, entry: bool | str, struct: Struct) -> tuple[str, ...]:
    """The inputs whose memory an output may share: ``true`` means all of them, ``"ATensor BTensor"`` only these."""
    inputs = tuple(field.name for field in struct.fields if field.role == "input")
    named = tuple(entry.split()) if isinstance(entry, str) else inputs if entry else ()
    unknown = set(named) - set(inputs)
    if unknown:
        raise ValueError(f"{name} works in place of {sorted(unknown)}; it has the inputs {inputs}")
    return named


def read_interfaces(table: dict[str, Any]) -> list[Interface]:
    return [
        Interface(
            name,
            entry["iid"],
            entry["base"],
            version(entry.get("since")),
            tuple(
                Method(m["name"], m["returns"], tuple(split_parameter(p) for p in m["params"]))
                for m in entry.get("methods", [])
            ),
        )
        for name, entry in table.items()
    ]


def read_functions(table: dict[str, Any]) -> list[Function]:
    return [
        Function(
            name,
            entry["returns"],
            tuple(split_parameter(p) for p in entry["params"]),
            version(entry.get("since")),
        )
        for name, entry in table.items()
    ]


class Catalog:
    """The contents of ``tools/api``, cross-referenced. Read lazily, once per instance."""

    @cached_property
    def constants(self) -> dict[str, int]:
        return dict(load("constants")["constants"])

    @cached_property
    def operators(self) -> list[Operator]:
        read = [
            Entry(name, path.stem, values)
            for path in sorted((API / "operators").glob("*.toml"))
            for name, values in load(f"operators/{path.stem}").items()
        ]
        levels = {value["name"] for value in load("enums")["DML_FEATURE_LEVEL"]["values"]}
        check(read, (*SCALARS, *load("enums"), *load("structs")), levels)
        entries = {entry.name: read_operator_entry(entry.values, entry.family) for entry in read}
        operators = []
        for name, entry in sorted(entries.items(), key=lambda item: int(item[1]["value"])):
            struct = read_struct(f"DML_{name}_OPERATOR_DESC", entry, name)
            operators.append(
                Operator(
                    name,
                    entry["about"],
                    entry["value"],
                    version(entry["since"]),
                    entry["level"],
                    entry["family"],
                    entry["module"],
                    struct,
                    read_in_place(name, entry.get("in_place", ""), struct),
                    tuple(entry.get("support", [])),
                    tuple(entry.get("same", [])),
                    tuple(entry.get("facts", [])),
                    tuple(entry.get("library", [])),
                    tuple(entry.get("page_only", [])),
                    read_in_place(name, entry.get("in_place_unlisted", ""), struct),
                )
            )
        return operators

    @cached_property
    def enums(self) -> list[Enum]:
        enums = read_enums(load("enums"))
        for index, enum in enumerate(enums):
            if enum.name == "DML_OPERATOR_TYPE":
                members = [EnumValue(op.type, op.value, op.since) for op in self.operators]
                values = sorted((*members, *enum.values), key=lambda v: v.value)
                enums[index] = Enum(enum.name, enum.since, tuple(values))
        return enums

    @cached_property
    def structs(self) -> list[Struct]:
        """The union, then the plain structs, in header order; without the operator descs."""
        structs = [read_struct(name, entry) for name, entry in load("structs").items()]
        variants = {op.type: op.struct.name for op in self.operators}
        return [
            Struct(s.name, s.since, s.fields, variants=variants) if s.name == "DML_OPERATOR_DESC" else s
            for s in structs
        ]

    @cached_property
    def interfaces(self) -> list[Interface]:
        return read_interfaces(load("interfaces"))

    @cached_property
    def functions(self) -> list[Function]:
        return read_functions(load("functions"))

    @cached_property
    def d3d12_functions(self) -> list[Function]:
        """Including those of DXGI and DXCore."""
        return read_functions(load("d3d12_functions"))

    @cached_property
    def d3d12_enums(self) -> list[Enum]:
        return read_enums(load("d3d12_enums"))

    @cached_property
    def d3d12_structs(self) -> list[Struct]:
        return [read_struct(name, entry) for name, entry in load("d3d12_structs").items()]

    @cached_property
    def d3d12_interfaces(self) -> list[Interface]:
        """Each after its base, with all its methods."""
        return read_interfaces(load("d3d12_interfaces"))

    @cached_property
    def dxgi_enums(self) -> list[Enum]:
        """Including those of DXCore, which are scoped; structs and interfaces likewise."""
        return read_enums(load("dxgi_enums"))

    @cached_property
    def dxgi_structs(self) -> list[Struct]:
        return [read_struct(name, entry) for name, entry in load("dxgi_structs").items()]

    @cached_property
    def dxgi_interfaces(self) -> list[Interface]:
        return read_interfaces(load("dxgi_interfaces"))
