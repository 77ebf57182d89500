"""The catalog at run time: schemas of structs, their fields, and operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ..late import lazy

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
    """A struct: its fields in C order and, if ``Type`` determines the type of ``Desc``, the struct for each value. Of a
    union, ``variants`` are the members for the values of the field that governs it."""

    # ``fields`` are the arguments of each ``FieldSchema``: a program needs those of few structs.
    def __init__(
        self, name: str, fields: tuple[tuple[Any, ...], ...], variants: Mapping[int, str] = NOTHING
    ) -> None:
        self.name = name
        self._fields = fields
        self.variants = variants

    @lazy
    def fields(self) -> tuple[FieldSchema, ...]:
        return tuple(FieldSchema(*arguments) for arguments in self._fields)

    @lazy
    def index(self) -> dict[str, int]:
        return {entry.name: position for position, entry in enumerate(self.fields)}

    def selected(self, value: int) -> FieldSchema | None:
        """The member of this union for a value of the field that governs it."""
        name = self.variants.get(value)
        return None if name is None else self.fields[self.index[name]]

    @lazy
    def operators(self) -> tuple[str, ...]:
        """The fields that hold operator descs."""
        return tuple(entry.name for entry in self.fields if entry.type == "DML_OPERATOR_DESC")

    @lazy
    def has_floats(self) -> bool:
        return any(entry.type in ("FLOAT", "DOUBLE") for entry in self.fields)

    @lazy
    def tensors(self) -> tuple[FieldSchema, ...]:
        return tuple(entry for entry in self.fields if entry.is_tensor)


class OperatorSchema:
    """An operator: ``level`` is the feature level that introduced it, ``family`` its group in the documentation;
    ``module``, in ``directml_py.operators``, implements it and is named like the family unless the catalog overrides
    that.

    ``in_place`` names the inputs whose memory an output may share; ``in_place_unlisted`` those for which its page does
    not say so, though programs do it with Microsoft's library. ``support``, ``same`` and ``facts`` are the statements
    of its page, in the catalog's notation; ``library`` are facts that only Microsoft's library enforces, and
    ``page_only`` those that it does not enforce. ``about`` describes in one line what it computes.
    """

    def __init__(
        self,
        name: str,
        value: int,
        level: int,
        family: str,
        struct: StructSchema,
        in_place: tuple[str, ...],
        support: tuple[str, ...],
        same: tuple[str, ...],
        facts: tuple[str, ...],
        about: str,
        library: tuple[str, ...] = (),
        page_only: tuple[str, ...] = (),
        in_place_unlisted: tuple[str, ...] = (),
        module: str = "",
    ) -> None:
        self.name = name
        self.value = value
        self.level = level
        self.family = family
        self.module = module or family
        self.struct = struct
        self.in_place = in_place
        self.support = support
        self.same = same
        self.facts = facts
        self.about = about
        self.library = library
        self.page_only = page_only
        self.in_place_unlisted = in_place_unlisted

    @property
    def type_name(self) -> str:
        return f"DML_OPERATOR_{self.name}"

    @property
    def page(self) -> str:
        """The documentation page that the operator's rules come from."""
        tail = "_desc" if self.name == "REVERSE_SUBSEQUENCES" else "_operator_desc"
        return f"ns-directml-dml_{self.name.lower()}{tail}"
