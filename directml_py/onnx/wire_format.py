"""A serialized model without the bytes of its weights, which are left where they are.

The protobuf package copies all that it parses, and copies it again for whoever asks. Most of a model is the
``raw_data`` of its initializers, which is cut out of the message here, before it is parsed. Numbers of fields are those
of onnx.proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
FIXED = {FIXED64: 8, FIXED32: 4}
# Smaller tensors are sizes and the like; cutting them out saves nothing.
LEAST = 4096


class WireField(NamedTuple):
    """A field of a message: its number, where it begins with its tag, and its content if that has a length."""

    number: int
    start: int
    content: slice | None


def without_weights(data: memoryview) -> tuple[bytes, list[memoryview | None]] | None:
    """The message without large ``raw_data``, and these by the position of the initializer.

    None for what this cannot read: damaged data, and a graph in several parts.
    """
    weights: list[memoryview | None] = []
    try:
        fields = list(_fields(data, 0, len(data)))
        if sum(field.number == GRAPH for field in fields) != 1:
            return None
        return b"".join(_cut(data, slice(0, len(data)), (GRAPH, INITIALIZER, RAW_DATA), weights)), weights
    except (IndexError, ValueError):
        return None


def _cut(
    data: memoryview, message: slice, path: tuple[int, ...], weights: list[memoryview | None]
) -> Iterator[bytes | memoryview]:
    """The parts of a message without the fields that ``path`` leads to, which are added to ``weights``."""
    number, *further = path
    if number == RAW_DATA:
        weights.append(None)
        if message.stop - message.start < LEAST:
            yield data[message]
            return
    start = message.start
    for field in _fields(data, message.start, message.stop):
        content = field.content
        if (
            field.number != number
            or content is None
            or (not further and content.stop - content.start < LEAST)
        ):
            continue
        yield data[start : field.start]
        start = content.stop
        if further:
            inner = b"".join(_cut(data, content, tuple(further), weights))
            yield _varint(number << 3 | BYTES) + _varint(len(inner)) + inner
        else:
            weights[-1] = data[content]
    yield data[start : message.stop]


def _fields(data: memoryview, start: int, stop: int) -> Iterator[WireField]:
    """The fields of a message. Raises ``IndexError`` and ``ValueError`` for damaged ones."""
    place = start
    while place < stop:
        begin, tag, content = place, data[place], None
        if tag < 0x80:
            place += 1
        else:
            tag, place = _number(data, place)
        kind = tag & 7
        if kind == VARINT:
            _, place = _number(data, place)
        elif kind == BYTES:
            length = data[place]
            if length < 0x80:
                place += 1
            else:
                length, place = _number(data, place)
            content = slice(place, place + length)
            place += length
        elif kind in FIXED:
            place += FIXED[kind]
        else:
            raise ValueError(f"wire type {kind}")
        if place > stop:
            raise ValueError("a field is longer than its message")
        yield WireField(tag >> 3, begin, content)


def _number(data: memoryview, place: int) -> tuple[int, int]:
    """The varint at ``place``, and the place after it."""
    number = shift = 0
    while True:
        byte = data[place]
        number |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return number, place
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def _varint(number: int) -> bytes:
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])
