"""Check of the operators' entries in ``tools/api/operators``, before anything is generated from them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

REQUIRED = ("about", "value", "since", "level", "fields", "support")
OPTIONAL = (
    "module",
    "struct_since",
    "alias",
    "in_place",
    "in_place_unlisted",
    "same",
    "facts",
    "library",
    "page_only",
)
FIELD = re.compile(
    r"(?P<type>\S+) (?P<name>\w+)(?:\[(?P<count>\w+)\])?(?P<optional>\?)?(?: of (?P<governed_by>\w+))?"
)

# A row of `support`: 4_1 if Function = MIN|MAX: ATensor BTensor 1-8 F16-32 I8; OutputTensor 4 U32
ROW = re.compile(r"(?P<level>\d_\d)(?: if [^:]+)?: (?P<groups>.+)")
GROUP = re.compile(r"(?P<tensors>(?:[A-Za-z]\w* )*)\d(?:-\d)?(?: [FIU]\d+(?:-\d+)?)+")


class Incomplete(Exception):
    """The catalog and the package do not match: one line per problem, with the operator, the file, and what to add."""


class Entry(NamedTuple):
    """An operator's entry in the file of its family."""

    name: str
    family: str
    values: Mapping[str, Any]

    @property
    def path(self) -> str:
        return f"tools/api/operators/{self.family}.toml"

    @property
    def tensors(self) -> list[str]:
        return [field["name"] for field in self.fields if field and field["type"] in ("input", "output")]

    @property
    def fields(self) -> list[re.Match[str] | None]:
        return [FIELD.fullmatch(text) for text in self.values.get("fields", ())]


def check(entries: Iterable[Entry], types: Iterable[str], levels: Container[str]) -> None:
    """``types`` are the valid field types besides tensors; ``levels`` the enumerators of DML_FEATURE_LEVEL.

    Raises ``Incomplete`` that lists everything missing.
    """
    entries, known = list(entries), {*types, "input", "output"}
    lines = [
        f"{entry.path}: {entry.name} {what}" for entry in entries for what in missing(entry, known, levels)
    ]
    lines += shared("name", [(entry, entry.name) for entry in entries])
    lines += shared("value", [(entry, entry.values.get("value")) for entry in entries])
    if lines:
        raise Incomplete("\n".join(lines))


def missing(entry: Entry, types: Container[str], levels: Container[str]) -> Iterator[str]:
    for key in REQUIRED:
        if not entry.values.get(key):
            yield f"has no {key}: add it, as its neighbours have it"
    for key in entry.values:
        if key not in REQUIRED and key not in OPTIONAL:
            yield f"has {key}, which no entry has; there are {', '.join((*REQUIRED, *OPTIONAL))}"
    rows = entry.values.get("support", ())
    yield from wrong_in_fields(entry, types)
    if not re.fullmatch(r"0x\d{4}", entry.values.get("since", "0x1000")):
        yield f"has the since {entry.values['since']!r}; it is a DML_TARGET_VERSION as '0x6400'"
    for level in [entry.values.get("level"), *(row["level"] for row in map(ROW.fullmatch, rows) if row)]:
        if level and f"DML_FEATURE_LEVEL_{level}" not in levels:
            yield f"has the level {level!r}: add DML_FEATURE_LEVEL_{level} to tools/api/enums.toml, or name another"
    for row in rows:
        yield from wrong_in_support(row, entry)


def wrong_in_fields(entry: Entry, types: Container[str]) -> Iterator[str]:
    names = {field["name"] for field in entry.fields if field}
    for field, text in zip(entry.fields, entry.values.get("fields", ())):
        if field is None:
            yield f"has the field {text!r}; a field is a type and a name, as in 'UINT* Axes[AxisCount]'"
            continue
        if field["type"].rstrip("*") not in types:
            yield f"has a field of the type {field['type']}: add the type to tools/api/enums.toml or structs.toml"
        for other in (field["count"], field["governed_by"]):
            if other and other not in names:
                yield f"has a field {field['name']} that depends on {other}: add the field {other}"
    for text in entry.values.get("same", ()):
        for tensor in text.partition(": ")[0].partition(" if ")[0].split():
            if tensor not in names:
                yield f"says what is the same as in {tensor}: add that field, or name another"


def wrong_in_support(text: str, entry: Entry) -> Iterator[str]:
    row = ROW.fullmatch(text)
    groups = [GROUP.fullmatch(part) for part in row["groups"].split("; ")] if row else [None]
    if None in groups:
        yield f"has the support {text!r}; it is a level, then dimension counts and types, as in '4_1: 1-8 F16-32 I8'"
        return
    named = [name for group in groups if group for name in group["tensors"].split() or entry.tensors]
    for name in sorted(set(named) - set(entry.tensors)):
        yield f"has the support {text!r} of {name}, which is no tensor of it: name a field that is one"
    for name in entry.tensors:
        if name not in named:
            yield f"has the support {text!r}, which leaves out {name}: add its dimension counts and types"


def shared(key: str, values: Iterable[tuple[Entry, Any]]) -> Iterator[str]:
    """Values that several operators share although they must be unique."""
    owners: dict[Any, Entry] = {}
    for entry, value in values:
        owner = owners.setdefault(value, entry)
        if value is not None and owner is not entry:
            yield f"{entry.path}: {entry.name} has the {key} {value}, as {owner.name} in {owner.path}: give it another"
