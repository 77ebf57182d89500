"""FlatBuffers, read without trust: every offset is checked before it is followed.

Positions are absolute, in bytes; ``slot`` counts the fields of a table from 0. All methods raise ``ModelError`` for
what lies outside the buffer.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from .model_error import ModelError

# Tables and arrays may be shared, so that a small buffer can stand for data without end; no honest one does that much.
SHARING = 16
LEAST_BUDGET = 1 << 12


class FlatbufferBytes:
    """The bytes, and how many more of them may be read, counting each time that they are."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.budget = LEAST_BUDGET + SHARING * len(data)

    def take(self, position: int, size: int) -> int:
        """``position``, if ``size`` bytes from there are in the buffer."""
        if position < 0 or size < 0 or position + size > len(self.data):
            raise ModelError(f"the graph is damaged: {size} bytes at {position} are outside the file")
        self.budget -= size + 1
        if self.budget < 0:
            raise ModelError("the graph is damaged: its parts are shared over and over")
        return position

    def number(self, code: str, position: int) -> Any:
        """The little-endian number of the type that ``struct`` calls ``code``."""
        self.take(position, struct.calcsize(f"<{code}"))
        return struct.unpack_from(f"<{code}", self.data, position)[0]

    def follow(self, position: int) -> int:
        """Where the offset at ``position`` leads."""
        return position + int(self.number("I", position))

    def root(self) -> TableReader:
        return TableReader(self, self.follow(0))


class TableReader:
    """A table at ``position``."""

    def __init__(self, buffer: FlatbufferBytes, position: int) -> None:
        self.buffer = buffer
        self.position = position
        self.layout = position - int(buffer.number("i", position))
        self.layout_size = int(buffer.number("H", self.layout))

    def field(self, slot: int) -> int | None:
        """Where a field is; None if it is absent."""
        entry = 4 + 2 * slot
        if entry + 2 > self.layout_size:
            return None
        offset = int(self.buffer.number("H", self.layout + entry))
        return self.position + offset if offset else None

    def number(self, slot: int, code: str) -> Any:
        """A number, 0 where it is absent."""
        place = self.field(slot)
        return 0 if place is None else self.buffer.number(code, place)

    def target(self, slot: int) -> int | None:
        """Where the offset in a field leads; None if it is absent."""
        place = self.field(slot)
        return None if place is None else self.buffer.follow(place)

    def table(self, slot: int) -> TableReader | None:
        place = self.target(slot)
        return None if place is None else TableReader(self.buffer, place)

    def string(self, slot: int) -> str:
        """A string, empty where it is absent."""
        place = self.target(slot)
        return "" if place is None else _string(self.buffer, place)

    def bytes(self, slot: int) -> bytes:
        """An array of bytes, empty where it is absent."""
        place = self.target(slot)
        return b"" if place is None else _bytes(self.buffer, place)

    def numbers(self, slot: int, code: str) -> tuple[Any, ...] | None:
        """An array of numbers; None where it is absent."""
        place = self.target(slot)
        if place is None:
            return None
        count, size = int(self.buffer.number("I", place)), struct.calcsize(f"<{code}")
        self.buffer.take(place + 4, count * size)
        return struct.unpack_from(f"<{count}{code}", self.buffer.data, place + 4)

    def _targets(self, slot: int) -> Iterator[int]:
        place = self.target(slot)
        if place is None:
            return
        count = int(self.buffer.number("I", place))
        self.buffer.take(place + 4, count * 4)
        for index in range(count):
            yield self.buffer.follow(place + 4 + 4 * index)

    def tables(self, slot: int) -> list[TableReader]:
        """An array of tables, empty where it is absent."""
        return [TableReader(self.buffer, place) for place in self._targets(slot)]

    def strings(self, slot: int) -> tuple[str, ...]:
        """An array of strings, empty where it is absent."""
        return tuple(_string(self.buffer, place) for place in self._targets(slot))


def _bytes(buffer: FlatbufferBytes, position: int) -> bytes:
    size = int(buffer.number("I", position))
    start = buffer.take(position + 4, size)
    return buffer.data[start : start + size]


def _string(buffer: FlatbufferBytes, position: int) -> str:
    try:
        return _bytes(buffer, position).decode()
    except UnicodeDecodeError:
        raise ModelError(f"the graph is damaged: the string at {position} is no UTF-8 text") from None
