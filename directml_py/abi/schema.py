"""What the catalog says at run time: what each field of each struct means, and what each operator supports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from .lazy import lazy

Kind = Literal[
    "integer",  # UINT, INT, UINT64, SIZE_T
    "bool",
    "float",
    "enum",
    "flags",
    "struct",  # held by value
    "union",
    "pointer",  # to one struct
    "array",  # of integers, floats or structs, counted by another field
    "variant",  # const void*, typed by the field Type
    "bytes",  # const void*, counted by another field
    "interface",
    "string",
    "address",
]
Role = Literal["input", "output", "attribute"]
NOTHING: Mapping[int, str] = {}


class FieldSchema(NamedTuple):
    """One member of a struct. ``type`` names the enum, struct, interface or scalar that it holds or points to."""

    name: str
    kind: Kind
    type: str
    role: Role = "attribute"
    counted_by: str = ""
    optional: bool = False
    governed_by: str = ""

    @property
    def is_tensor(self) -> bool:
        return self.role != "attribute"


class StructSchema:
    """A struct: its fields in C order and, where ``Desc`` is typed by ``Type``, the struct for each value."""

    def __init__(
        self, name: str, fields: tuple[FieldSchema, ...], variants: Mapping[int, str] = NOTHING
    ) -> None:
        self.name = name
        self.fields = fields
        self.variants = variants

    @lazy
    def index(self) -> dict[str, int]:
        return {entry.name: position for position, entry in enumerate(self.fields)}

    @lazy
    def holds_operators(self) -> bool:
        """Whether operator descs can stand inside."""
        return any(entry.type == "DML_OPERATOR_DESC" for entry in self.fields)

    @lazy
    def is_exact(self) -> bool:
        """Whether equal values are the same in every respect, as numbers with a sign of zero are not."""
        return all(
            entry.kind in ("integer", "bool", "enum", "flags")
            or entry.is_tensor
            or (entry.kind == "array" and entry.type in ("UINT", "INT"))
            for entry in self.fields
        )

    @lazy
    def tensors(self) -> tuple[FieldSchema, ...]:
        return tuple(entry for entry in self.fields if entry.is_tensor)


class TensorSupport(NamedTuple):
    """Which dimension counts and which data types (members of DML_TENSOR_DATA_TYPE) one tensor may have."""

    dimensions: range
    types: tuple[int, ...]


class Support(NamedTuple):
    """One table of an operator's page: from ``level`` on, and for these attribute values, this is supported."""

    level: int
    tensors: Mapping[str, TensorSupport]
    when: Mapping[str, tuple[int, ...]]


class Same(NamedTuple):
    """Tensors that must agree in the named properties, for these attribute values."""

    fields: tuple[str, ...]
    properties: tuple[str, ...]
    when: Mapping[str, tuple[int, ...]]


class OperatorSchema(NamedTuple):
    """An operator: ``level`` introduced it; ``support`` and ``same`` are empty where no table was filled in."""

    name: str
    value: int
    level: int
    struct: StructSchema
    in_place: bool
    support: tuple[Support, ...] = ()
    same: tuple[Same, ...] = ()

    @property
    def type_name(self) -> str:
        return f"DML_OPERATOR_{self.name}"
