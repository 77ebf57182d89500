"""Parser of the catalog's short notation, used in ``tools/api/operators``.

Support tables: ``"4_1: 1-8 F16-64 I8-64"`` holds for all tensors, ``"4_1: InputTensor 1-8 F16; IndicesTensor 4 U32"``
for the named ones. Tensors that must agree: ``"ATensor BTensor: DataType Sizes"``. The head of either may end with a
condition: ``"3_0 if Function = ARGMIN|ARGMAX: ..."``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

KINDS = {"F": "FLOAT", "I": "INT", "U": "UINT"}
WIDTHS = {"F": (64, 32, 16), "I": (64, 32, 16, 8, 4), "U": (64, 32, 16, 8, 4)}
_TYPES = re.compile(r"([FIU])(\d+)(?:-(\d+))?")


class Condition(NamedTuple):
    """Holds if a field of the desc has one of the values, which are written without their enumeration's prefix."""

    field: str
    values: tuple[str, ...]


class SupportTable(NamedTuple):
    """A support table from a level on: per tensor name (empty: all tensors) a range of ranks and names of types."""

    level: int
    conditions: tuple[Condition, ...]
    groups: tuple[tuple[tuple[str, ...], range, tuple[str, ...]], ...]


class Agreement(NamedTuple):
    """Tensors that share the named properties."""

    fields: tuple[str, ...]
    properties: tuple[str, ...]
    conditions: tuple[Condition, ...]


def parse_level(text: str) -> int:
    """0x4100 for ``4_1``."""
    major, minor = text.split("_")
    return int(major) << 12 | int(minor) << 8


def parse_types(words: Sequence[str]) -> tuple[str, ...]:
    """``FLOAT32 FLOAT16`` for ``F16-32``: floats, signed, unsigned, wide ones first."""
    names = []
    for word in words:
        match = _TYPES.fullmatch(word)
        if match is None:
            raise ValueError(f"{word!r} is not a range of data types")
        kind, low, high = match[1], int(match[2]), int(match[3] or match[2])
        names += [f"{KINDS[kind]}{width}" for width in WIDTHS[kind] if low <= width <= high]
    return tuple(names)


def parse_range(text: str) -> range:
    """1 to 8 for ``1-8``, inclusive."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _head(text: str) -> tuple[str, tuple[Condition, ...], str]:
    head, _, body = text.partition(":")
    subject, _, condition = head.partition(" if ")
    conditions = []
    for part in condition.split(", ") if condition else ():
        name, _, values = part.partition(" = ")
        conditions.append(Condition(name.strip(), tuple(values.strip().split("|"))))
    return subject.strip(), tuple(conditions), body


def parse_table(text: str) -> SupportTable:
    """One support table. Raises ``ValueError`` for invalid notation."""
    level, conditions, body = _head(text)
    groups = []
    for group in body.split(";"):
        words = group.split()
        start = next(index for index, word in enumerate(words) if word[0].isdigit())
        groups.append((tuple(words[:start]), parse_range(words[start]), parse_types(words[start + 1 :])))
    return SupportTable(parse_level(level), conditions, tuple(groups))


def parse_same(text: str) -> Agreement:
    """One "must have the same" fact."""
    fields, conditions, properties = _head(text)
    return Agreement(tuple(fields.split()), tuple(properties.split()), conditions)
