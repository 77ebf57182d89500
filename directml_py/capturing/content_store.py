"""The files of a capture.

A capture is a folder. Each process, and each ``capture()`` in it, writes two files that only ever grow: ``NAME.jsonl``,
one JSON object a line, and ``NAME.contents``, the bytes that lines name by offset and size. Bytes come before the line
that names them, so that a process that is killed leaves everything up to there.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

FORMAT = "directml-py capture"
VERSION = 1
EVENTS = ".jsonl"
CONTENTS = ".contents"
# How much is compared at once: little at first, which is where most contents that differ do.
FIRST = 1 << 12
CHUNK = 1 << 18
SCRATCHES = 8
# So many bytes of a content are looked at before it is compared, with so many others at most that look the same.
GLANCES = 64
ALIKE = 4
# Room is reserved in the file of contents as soon as it has so many bytes, and so many at a time at most.
RESERVE = (1 << 20, 64 << 20)
# So many lines are written at once, at most.
LINES = 64

Bytes = npt.NDArray[np.uint8]


class ContentLocation(NamedTuple):
    """Where bytes are in the file of contents, and what a glance at them shows."""

    offset: int
    size: int
    glance: bytes


class CaptureWriter:
    """Both files of one process. Raises ``OSError``.

    While ``gathers`` is set, lines are written several at once: one by one they would cost more than all else.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
        self.gathers = False
        self.path, self._events = _first_free(folder, flags)
        contents = self.path.with_suffix(CONTENTS)
        self._contents = os.open(contents, flags, 0o666)
        self._stored = WrittenBytes(contents)
        self._end = self._reserved = 0
        self._lines: list[str] = []
        # The places by number, and the numbers by glance.
        self._locations: list[ContentLocation] = []
        self._alike: dict[bytes, list[int]] = {}
        self._encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)

    def event(self, kind: str, /, **members: Any) -> None:
        self._lines.append(self._encoder.encode({"event": kind, **members}))
        if not self.gathers or len(self._lines) >= LINES:
            self.flush()

    def content(self, content: Bytes, likely: int | None = None) -> int:
        """The number under which these bytes are in the file, which may have them already.

        That is looked for where the newest contents are that look the same, and in ``likely``, the number that the
        bytes had when somebody looked last.
        """
        content = np.ascontiguousarray(content)
        glance = _glance(content)
        alike = self._alike.setdefault(glance, [])
        candidates = alike[-ALIKE:]
        if likely is not None and self._locations[likely].glance == glance:
            candidates.append(likely)
        for number in reversed(candidates):
            if self._stored.has(self._locations[number].offset, content):
                return number
        number, place = len(self._locations), ContentLocation(self._end, len(content), glance)
        self._reserve(place.size)
        _write(self._contents, content.data)
        self._end += place.size
        self._locations.append(place)
        alike.append(number)
        self.event("content", id=number, offset=place.offset, size=place.size)
        return number

    def flush(self) -> None:
        """Returns when everything is in the files."""
        lines, self._lines = self._lines, []
        _write(self._events, "".join(f"{line}\n" for line in lines).encode())

    def _reserve(self, size: int) -> None:
        """Room for so much and more, as much as there is already: to write there takes less time."""
        if self._end + size <= self._reserved or self._end < RESERVE[0] or not hasattr(os, "posix_fallocate"):
            return
        self._reserved = self._end + max(size, min(self._end, RESERVE[1]))
        # A file that cannot have so much may have room for less.
        with suppress(OSError):
            os.posix_fallocate(self._contents, self._end, self._reserved - self._end)

    def close(self) -> None:
        try:
            self.flush()
            os.truncate(self._contents, self._end)
        finally:
            for descriptor in (self._events, self._contents, self._stored.descriptor):
                os.close(descriptor)


class WrittenBytes:
    """What has been written to a file, for comparing. The child of a fork has to forget it without closing."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._file = open(self.descriptor, "rb", buffering=0, closefd=False)  # noqa: SIM115
        self._scratches: dict[int, bytearray] = {}

    def has(self, offset: int, content: Bytes) -> bool:
        is_begun = self._lies_at(offset, content[:FIRST], FIRST)
        return is_begun and (len(content) <= FIRST or self._lies_at(offset, content, CHUNK))

    def _lies_at(self, offset: int, content: Bytes, most: int) -> bool:
        self._file.seek(offset)
        for start in range(0, len(content), most):
            part = content[start : start + most].data
            scratch = self._scratch(len(part))
            if self._file.readinto(scratch) != len(part) or scratch != part:
                return False
        return True

    def _scratch(self, size: int) -> bytearray:
        """Memory of exactly so many bytes: an array of bytes compares itself with any other as fast as C does."""
        found = self._scratches.get(size)
        if found is None:
            if len(self._scratches) == SCRATCHES:
                self._scratches.clear()
            found = self._scratches[size] = bytearray(size)
        return found


def _first_free(folder: Path, flags: int) -> tuple[Path, int]:
    """A pair of names that no process has, however often its identifier comes back."""
    turn = 0
    while True:
        path = folder / f"process-{os.getpid()}-{turn}{EVENTS}"
        try:
            return path, os.open(path, flags, 0o666)
        except FileExistsError:
            turn += 1


def _glance(content: Bytes) -> bytes:
    """What tells most contents apart, in no time."""
    step = len(content) // GLANCES + 1
    return b"".join(
        [content[:GLANCES].tobytes(), content[::step].tobytes(), len(content).to_bytes(8, "little")]
    )


def _write(descriptor: int, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
