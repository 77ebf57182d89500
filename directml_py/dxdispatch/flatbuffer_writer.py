"""FlatBuffers writer, front to back: a table precedes what it points to, so that all offsets are positive."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

# The largest alignment in the format.
ALIGNMENT = 8


class Number(NamedTuple):
    """An inline number of a table, of the type with the ``struct`` format ``code``."""

    code: str
    value: float


class StructValue(NamedTuple):
    """A struct that a union points to; ``codes`` is its ``struct`` format."""

    codes: str
    values: tuple[float, ...]


class Numbers(NamedTuple):
    """An array of numbers."""

    code: str
    values: Sequence[float]


class TableValue(NamedTuple):
    """A table; a field that is None is absent."""

    fields: Sequence[Part | None]


Part = Number | StructValue | Numbers | TableValue | str | bytes | Sequence["Part"]


class _Writer:
    def __init__(self) -> None:
        self.data = bytearray()

    def align(self, size: int, behind: int = 0) -> None:
        """Pad so that the position ``behind`` bytes further is a multiple of ``size``."""
        self.data += bytes(-(len(self.data) + behind) % size)

    def reserve(self, size: int) -> int:
        start = len(self.data)
        self.data += bytes(size)
        return start

    def point(self, slot: int, value: Part) -> None:
        """Write ``part``, and its offset at position ``place``."""
        target = self.part(value)
        struct.pack_into("<I", self.data, slot, target - slot)

    def part(self, part: Part) -> int:
        """Write ``part``; returns its position."""
        if isinstance(part, TableValue):
            return self.table(part)
        if isinstance(part, str):
            text = part.encode()
            return self.array(text + b"\0", len(text))
        if isinstance(part, bytes):
            return self.array(part, len(part))
        if isinstance(part, Numbers):
            return self.array(struct.pack(f"<{len(part.values)}{part.code}", *part.values), len(part.values))
        if isinstance(part, StructValue):
            self.align(ALIGNMENT)
            start = len(self.data)
            self.data += struct.pack(f"<{part.codes}", *part.values)
            return start
        assert not isinstance(part, Number)
        return self.pointers(part)

    def array(self, content: bytes, count: int) -> int:
        self.align(ALIGNMENT, 4)
        start = len(self.data)
        self.data += struct.pack("<I", count) + content
        return start

    def pointers(self, parts: Sequence[Part]) -> int:
        self.align(4)
        start = self.reserve(4 + 4 * len(parts))
        struct.pack_into("<I", self.data, start, len(parts))
        for index, part in enumerate(parts):
            self.point(start + 4 + 4 * index, part)
        return start

    def table(self, table: TableValue) -> int:
        offsets, end = [], 4
        for part in table.fields:
            if part is None:
                offsets.append(0)
                continue
            size = struct.calcsize(f"<{part.code}") if isinstance(part, Number) else 4
            end += -end % size
            offsets.append(end)
            end += size
        self.align(2)
        layout = len(self.data)
        self.data += struct.pack(f"<{2 + len(offsets)}H", 4 + 2 * len(offsets), end, *offsets)
        self.align(ALIGNMENT)
        start = self.reserve(end)
        struct.pack_into("<i", self.data, start, start - layout)
        for part, offset in zip(table.fields, offsets):
            if isinstance(part, Number):
                struct.pack_into(f"<{part.code}", self.data, start + offset, part.value)
            elif part is not None:
                self.point(start + offset, part)
        return start


def flatbuffer(root: TableValue) -> bytes:
    """The bytes of a buffer whose root is ``root``."""
    writer = _Writer()
    writer.reserve(4)
    writer.point(0, root)
    return bytes(writer.data)
