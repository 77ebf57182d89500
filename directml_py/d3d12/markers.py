"""PIX markers and events of command lists and queues, which debuggers display and which have no effect on the GPU."""

from __future__ import annotations

from abc import abstractmethod
from enum import Enum
from typing import Any

from ..abi.arguments import uint
from ..abi.memory import MemoryFault, read
from ..abi.pointers import locate
from ..runtime.recording import Command

# The metadata values for plain text in pix.h, and in pix3.h before it had an encoding of its own.
UNICODE, ANSI = 0, 1
LIMIT = 1 << 12


class MarkerKind(Enum):
    SET = "SetMarker"
    BEGIN = "BeginEvent"
    END = "EndEvent"


class Marker(Command):
    """A marker with its text, or the begin or end of an event; the end has no text."""

    takes_step = False

    def __init__(self, kind: MarkerKind, text: str = "") -> None:
        self.kind = kind
        self.text = text
        self.title = kind.value


class Marked:
    """Mixin of command lists and queues: the marker methods. ``data`` is a str, bytes, or an address with ``size``
    bytes.

    Direct3D does not report invalid arguments: unreadable text is empty.
    """

    @abstractmethod
    def _mark(self, marker: Marker) -> None:
        """Record ``marker`` in order."""

    def SetMarker(self, metadata: int, data: Any = None, size: int | None = None) -> None:
        self._mark(Marker(MarkerKind.SET, marker_text(metadata, data, size)))

    def BeginEvent(self, metadata: int, data: Any = None, size: int | None = None) -> None:
        """Begin an event, which lasts until the matching ``EndEvent``; events nest."""
        self._mark(Marker(MarkerKind.BEGIN, marker_text(metadata, data, size)))

    def EndEvent(self) -> None:
        self._mark(Marker(MarkerKind.END))


def marker_text(metadata: int, data: Any, size: int | None) -> str:
    """The text up to its null terminator, or a placeholder for pix3.h's encoding, which is private to PIX."""
    kind = uint(metadata, "metadata")
    if isinstance(data, str):
        return data
    raw = _bytes(data, size)
    if kind not in (UNICODE, ANSI):
        return f"an event of {len(raw)} bytes in PIX's own encoding" if raw else ""
    return raw.decode("utf-16-le" if kind == UNICODE else "utf-8", "replace").partition("\0")[0]


def _bytes(data: Any, size: int | None) -> bytes:
    if data is None:
        return b""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)[:size]
    length = 0 if size is None else uint(size, "size")
    try:
        return read(locate(data, "data").address, min(length, LIMIT))
    except MemoryFault:
        return b""


# pix3.h. Colors are for PIX alone.
PIX_COLOR_DEFAULT = 0


def PIX_COLOR(r: int, g: int, b: int) -> int:
    """The color of an event, from bytes."""
    return 0xFF000000 | (r & 0xFF) << 16 | (g & 0xFF) << 8 | b & 0xFF


def PIX_COLOR_INDEX(i: int) -> int:
    """The color of an event, by number."""
    return i & 0xFF


def PIXBeginEvent(context: Marked | int, *color_and_text: Any) -> None:
    """Begin an event of a command list or queue: ``(context, color, format, *values)``, formatted by ``%``.

    Without a context, as ``(color, format, *values)``, it is an event of the CPU, which nothing records.
    """
    if isinstance(context, Marked):
        context.BeginEvent(ANSI, _formatted(*color_and_text))


def PIXSetMarker(context: Marked | int, *color_and_text: Any) -> None:
    """A marker, with the arguments of ``PIXBeginEvent``."""
    if isinstance(context, Marked):
        context.SetMarker(ANSI, _formatted(*color_and_text))


def PIXEndEvent(context: Marked | None = None) -> None:
    """End the event that ``PIXBeginEvent`` began."""
    if context is not None:
        context.EndEvent()


def _formatted(color: int, text: str, *values: Any) -> str:
    return text % values if values else text
