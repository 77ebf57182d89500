"""A serialized model without the bytes of its weights, which are left where they are.

The protobuf package copies all that it parses, and copies it again for whoever asks. Most of a model is the
``raw_data`` of its initializers, which is cut out of the message here, before it is parsed. Numbers of fields are those
of onnx.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
FIXED = {FIXED64: 8, FIXED32: 4}
# Smaller tensors are sizes and the like; cutting them out saves nothing.
LEAST = 4096


def without_weights(data: memoryview) -> tuple[bytes, list[memoryview | None]] | None:
    """The message without large ``raw_data``, and these by the position of the initializer.

    None for what this cannot read: damaged data, and a graph in several parts.
    """
    weights: list[memoryview | None] = []
    graphs = 0

    def light_graph(start: int, stop: int) -> bytes:
        nonlocal graphs
        graphs += 1
        return _field(GRAPH, _replaced(data, start, stop, INITIALIZER, light_tensor))

    def light_tensor(start: int, stop: int) -> bytes | None:
        weights.append(None)
        if stop - start < LEAST:
            return None
        light = _replaced(data, start, stop, RAW_DATA, taken)
        return None if weights[-1] is None else _field(INITIALIZER, light)

    def taken(start: int, stop: int) -> bytes | None:
        if stop - start < LEAST:
            return None
        weights[-1] = data[start:stop]
        return b""

    try:
        light = _replaced(data, 0, len(data), GRAPH, light_graph)
    except (IndexError, ValueError):
        return None
    return (light, weights) if graphs == 1 else None


def _replaced(
    data: memoryview, start: int, stop: int, number: int, replacement: Callable[[int, int], bytes | None]
) -> bytes:
    """The message from ``start`` to ``stop`` with other fields for those of one number: ``replacement`` is called with
    where their contents begin and end; if it returns None they stay."""
    parts: list[bytes | memoryview] = []
    for field, begin, first, last in _fields(data, start, stop):
        new = replacement(first, last) if field == number else None
        if new is not None:
            parts += data[start:begin], new
            start = last
    parts.append(data[start:stop])
    return b"".join(parts)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | BYTES) + _varint(len(content)) + content


def _fields(data: memoryview, start: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields of a message that have a length: the number, where the tag begins, where the content begins and ends.

    Raises ``IndexError`` and ``ValueError`` for damaged ones.
    """
    position = start
    while position < stop:
        begin = position
        tag, position = _number(data, position)
        kind = tag & 7
        if kind == VARINT:
            _, position = _number(data, position)
        elif kind == BYTES:
            length, position = _number(data, position)
            first, position = position, position + length
            if position <= stop:
                yield tag >> 3, begin, first, position
        elif kind in FIXED:
            position += FIXED[kind]
        else:
            raise ValueError(f"wire type {kind}")
        if position > stop:
            raise ValueError("a field is longer than its message")


def _number(data: memoryview, position: int) -> tuple[int, int]:
    """The varint at ``position``, and the position after it."""
    byte = data[position]
    if byte < 0x80:
        return byte, position + 1
    number = shift = 0
    while True:
        byte = data[position]
        number |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return number, position
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def _varint(number: int) -> bytes:
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])
