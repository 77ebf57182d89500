"""Parser of the catalog's short notation, used in ``tools/api/operators``.

Support tables: ``"4_1: 1-8 F16-64 I8-64"`` holds for all tensors, ``"4_1: InputTensor 1-8 F16; IndicesTensor 4 U32"``
for the named ones. Tensors that must agree: ``"ATensor BTensor: DataType Sizes"``. The head of either may end with a
condition: ``"3_0 if Function = ARGMIN|ARGMAX: ..."``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

KINDS = {"F": "FLOAT", "I": "INT", "U": "UINT"}
WIDTHS = {"F": (64, 32, 16), "I": (64, 32, 16, 8, 4), "U": (64, 32, 16, 8, 4)}


# For the fields of a condition the values, one of which each has, written without their enumeration's prefix.
Conditions: TypeAlias = dict[str, tuple[str, ...]]
# Names of tensors (none: all tensors), a range of ranks, and names of types.
Group: TypeAlias = tuple[tuple[str, ...], range, tuple[str, ...]]


def parse_level(text: str) -> int:
    """0x4100 for ``4_1``."""
    major, minor = text.split("_")
    return int(major) << 12 | int(minor) << 8


def parse_types(words: Sequence[str]) -> tuple[str, ...]:
    """``FLOAT32 FLOAT16`` for ``F16-32``: floats, signed, unsigned, wide ones first."""
    names = []
    for word in words:
        kind, (low, _, high) = word[0], word[1:].partition("-")
        if kind not in KINDS or not low.isdecimal() or not (high or low).isdecimal():
            raise ValueError(f"{word!r} is not a range of data types")
        names += [f"{KINDS[kind]}{width}" for width in WIDTHS[kind] if int(low) <= width <= int(high or low)]
    return tuple(names)


def parse_range(text: str) -> range:
    """1 to 8 for ``1-8``, inclusive."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _head(text: str) -> tuple[str, Conditions, str]:
    head, _, body = text.partition(":")
    subject, _, condition = head.partition(" if ")
    conditions: Conditions = {}
    for part in condition.split(", ") if condition else ():
        name, _, values = part.partition(" = ")
        conditions[name.strip()] = tuple(values.strip().split("|"))
    return subject.strip(), conditions, body


def parse_table(text: str) -> tuple[int, Conditions, list[Group]]:
    """One support table, from a level on. Raises ``ValueError`` for invalid notation."""
    level, conditions, body = _head(text)
    groups: list[Group] = []
    for group in body.split(";"):
        words = group.split()
        start = next(index for index, word in enumerate(words) if word[0].isdigit())
        groups.append((tuple(words[:start]), parse_range(words[start]), parse_types(words[start + 1 :])))
    return parse_level(level), conditions, groups


def parse_same(text: str) -> tuple[tuple[str, ...], tuple[str, ...], Conditions]:
    """One "must have the same" fact: tensors, and the properties that they share."""
    fields, conditions, properties = _head(text)
    return tuple(fields.split()), tuple(properties.split()), conditions
