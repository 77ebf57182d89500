"""Whether the entries of operators in ``tools/api/operators`` are whole, before anything is made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .incomplete import Incomplete

REQUIRED = ("about", "value", "since", "level", "fields", "support")
OPTIONAL = ("module", "struct_since", "alias", "in_place", "same", "facts", "library", "page_only")
FIELD = re.compile(
    r"(?P<type>\S+) (?P<name>\w+)(?:\[(?P<count>\w+)\])?(?P<optional>\?)?(?: of (?P<governed_by>\w+))?"
)


class Entry(NamedTuple):
    """An operator as its family's file has it."""

    name: str
    family: str
    values: Mapping[str, Any]

    @property
    def path(self) -> str:
        return f"tools/api/operators/{self.family}.toml"

    @property
    def fields(self) -> list[re.Match[str] | None]:
        return [FIELD.fullmatch(text) for text in self.values.get("fields", ())]


def check(entries: Iterable[Entry], types: Iterable[str]) -> None:
    """``types`` are those that fields may have, besides tensors. Raises ``Incomplete``, with all that is missing."""
    entries, known = list(entries), {*types, "input", "output"}
    lines = [f"{entry.path}: {entry.name} {what}" for entry in entries for what in missing(entry, known)]
    lines += shared("name", [(entry, entry.name) for entry in entries])
    lines += shared("value", [(entry, entry.values.get("value")) for entry in entries])
    if lines:
        raise Incomplete("\n".join(lines))


def missing(entry: Entry, types: set[str]) -> Iterator[str]:
    for key in REQUIRED:
        if not entry.values.get(key):
            yield f"has no {key}: add it, as its neighbours have it"
    for key in entry.values:
        if key not in REQUIRED and key not in OPTIONAL:
            yield f"has {key}, which no entry has; there are {', '.join((*REQUIRED, *OPTIONAL))}"
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


def shared(key: str, values: Iterable[tuple[Entry, Any]]) -> Iterator[str]:
    """What several operators have that only one may have."""
    owners: dict[Any, Entry] = {}
    for entry, value in values:
        owner = owners.setdefault(value, entry)
        if value is not None and owner is not entry:
            yield f"{entry.path}: {entry.name} has the {key} {value}, as {owner.name} in {owner.path}: give it another"
