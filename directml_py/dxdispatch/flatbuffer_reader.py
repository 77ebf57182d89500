"""FlatBuffers reader for untrusted input: every offset is checked before it is followed.

Positions are absolute, in bytes; ``slot`` is the index of a field in its table. All methods raise ``ModelError`` for
positions outside the buffer.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from .model_files import ModelError

# Tables and arrays may be shared, so that a small buffer can expand to exponentially large data. The budget bounds the
# bytes read, far above what a valid file needs.
SHARING = 16
LEAST_BUDGET = 1 << 12


class FlatbufferBytes:
    """The buffer, and the remaining budget of bytes to read, in which repeated reads count again."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.budget = LEAST_BUDGET + SHARING * len(data)

    def take(self, position: int, size: int) -> int:
        """Check that ``size`` bytes at ``position`` are within the buffer and the budget; returns ``position``."""
        if position < 0 or size < 0 or position + size > len(self.data):
            raise ModelError(f"the graph is damaged: {size} bytes at {position} are outside the file")
        self.budget -= size + 1
        if self.budget < 0:
            raise ModelError("the graph is damaged: its tables are shared too often")
        return position

    def number(self, code: str, position: int) -> Any:
        """The little-endian number at ``position``, of the type with the ``struct`` format ``code``."""
        self.take(position, struct.calcsize(f"<{code}"))
        return struct.unpack_from(f"<{code}", self.data, position)[0]

    def follow(self, position: int) -> int:
        """The target of the offset at ``position``."""
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
        """The position of a field; None if it is absent."""
        entry = 4 + 2 * slot
        if entry + 2 > self.layout_size:
            return None
        offset = int(self.buffer.number("H", self.layout + entry))
        return self.position + offset if offset else None

    def number(self, slot: int, code: str) -> Any:
        """A number; 0 if absent."""
        start = self.field(slot)
        return 0 if start is None else self.buffer.number(code, start)

    def target(self, slot: int) -> int | None:
        """The target of a field's offset; None if absent."""
        start = self.field(slot)
        return None if start is None else self.buffer.follow(start)

    def table(self, slot: int) -> TableReader | None:
        start = self.target(slot)
        return None if start is None else TableReader(self.buffer, start)

    def string(self, slot: int) -> str:
        """A string; empty if absent."""
        start = self.target(slot)
        return "" if start is None else _string(self.buffer, start)

    def bytes(self, slot: int) -> bytes:
        """An array of bytes; empty if absent."""
        start = self.target(slot)
        return b"" if start is None else _bytes(self.buffer, start)

    def numbers(self, slot: int, code: str) -> tuple[Any, ...] | None:
        """An array of numbers; None if absent."""
        start = self.target(slot)
        if start is None:
            return None
        count, size = int(self.buffer.number("I", start)), struct.calcsize(f"<{code}")
        self.buffer.take(start + 4, count * size)
        return struct.unpack_from(f"<{count}{code}", self.buffer.data, start + 4)

    def _targets(self, slot: int) -> Iterator[int]:
        start = self.target(slot)
        if start is None:
            return
        count = int(self.buffer.number("I", start))
        self.buffer.take(start + 4, count * 4)
        for index in range(count):
            yield self.buffer.follow(start + 4 + 4 * index)

    def tables(self, slot: int) -> list[TableReader]:
        """An array of tables; empty if absent."""
        return [TableReader(self.buffer, start) for start in self._targets(slot)]

    def strings(self, slot: int) -> tuple[str, ...]:
        """An array of strings; empty if absent."""
        return tuple(_string(self.buffer, start) for start in self._targets(slot))


def _bytes(buffer: FlatbufferBytes, position: int) -> bytes:
    size = int(buffer.number("I", position))
    start = buffer.take(position + 4, size)
    return buffer.data[start : start + size]


def _string(buffer: FlatbufferBytes, position: int) -> str:
    try:
        return _bytes(buffer, position).decode()
    except UnicodeDecodeError:
        raise ModelError(f"the graph is damaged: the string at {position} is not UTF-8 text") from None
