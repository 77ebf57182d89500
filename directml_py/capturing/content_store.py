"""The files of a capture.

A capture is a folder. Each process, and each ``capture()`` in it, appends to two files: ``NAME.jsonl``, one JSON object
per line, and ``NAME.contents``, the bytes that lines refer to by offset and size. Bytes are written before the line
that refers to them, so that the files of a killed process are complete up to its last line.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import EVENTS

FORMAT = "directml-py capture"
VERSION = 1
CONTENTS = ".contents"
# Bytes per comparison: few at first, because most contents that differ do so near their beginning.
FIRST = 1 << 12
CHUNK = 1 << 18
MAX_SCRATCHES = 8
# The bytes of each of a fingerprint's two samples, and the most contents with an equal fingerprint to compare with.
SAMPLES = 64
MAX_DUPLICATES = 4
# The size from which on space in the contents file is preallocated, and the most at a time, in bytes.
RESERVE = (1 << 20, 64 << 20)
# The most lines per write.
LINES = 64

Bytes = npt.NDArray[np.uint8]


class ContentLocation(NamedTuple):
    """The position of bytes in the contents file, and their fingerprint."""

    offset: int
    size: int
    fingerprint: bytes


class CaptureWriter:
    """Writer for both files of one process. Raises ``OSError``.

    While ``gathers`` is set, lines are buffered: writing them one by one would dominate the cost of recording.
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
        # Locations by content number, and content numbers by fingerprint.
        self._locations: list[ContentLocation] = []
        self._numbers_by_fingerprint: dict[bytes, list[int]] = {}
        self._encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)

    def remove(self) -> None:
        self.path.unlink()
        self.path.with_suffix(CONTENTS).unlink()

    def event(self, kind: str, /, **members: Any) -> None:
        self._lines.append(self._encoder.encode({"event": kind, **members}))
        if not self.gathers or len(self._lines) >= LINES:
            self.flush()

    def content(self, content: Bytes, likely: int | None = None) -> int:
        """Store bytes, unless they are stored already; returns their content number.

        Duplicates are looked for among the newest contents with an equal fingerprint and in ``likely``, the number of
        what the same range last held.
        """
        content = np.ascontiguousarray(content)
        fingerprint = _fingerprint(content)
        duplicates = self._numbers_by_fingerprint.setdefault(fingerprint, [])
        candidates = duplicates[-MAX_DUPLICATES:]
        if likely is not None and self._locations[likely].fingerprint == fingerprint:
            candidates.append(likely)
        for number in reversed(candidates):
            if self._stored.has(self._locations[number].offset, content):
                return number
        number, location = len(self._locations), ContentLocation(self._end, len(content), fingerprint)
        self._reserve(location.size)
        _write(self._contents, content.data)
        self._end += location.size
        self._locations.append(location)
        duplicates.append(number)
        self.event("content", id=number, offset=location.offset, size=location.size)
        return number

    def flush(self) -> None:
        """Write all buffered lines."""
        lines, self._lines = self._lines, []
        _write(self._events, "".join(f"{line}\n" for line in lines).encode())

    def _reserve(self, size: int) -> None:
        """Preallocate space for ``size`` bytes and more, doubling the file up to a limit: writes are then faster."""
        if self._end + size <= self._reserved or self._end < RESERVE[0] or not hasattr(os, "posix_fallocate"):
            return
        self._reserved = self._end + max(size, min(self._end, RESERVE[1]))
        # Without space for all of it there may still be space for this content.
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
    """Reads a file back for comparisons. The child of a fork must drop it without closing it."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._file = open(self.descriptor, "rb", buffering=0, closefd=False)  # noqa: SIM115
        self._scratches: dict[int, bytearray] = {}

    def has(self, offset: int, content: Bytes) -> bool:
        has_prefix = self._equals(offset, content[:FIRST], FIRST)
        return has_prefix and (len(content) <= FIRST or self._equals(offset, content, CHUNK))

    def _equals(self, offset: int, content: Bytes, chunk_size: int) -> bool:
        self._file.seek(offset)
        for start in range(0, len(content), chunk_size):
            chunk = content[start : start + chunk_size].data
            scratch = self._scratch(len(chunk))
            if self._file.readinto(scratch) != len(chunk) or scratch != chunk:
                return False
        return True

    def _scratch(self, size: int) -> bytearray:
        """A buffer of exactly ``size`` bytes: bytearrays of equal length are compared by memcmp."""
        buffer = self._scratches.get(size)
        if buffer is None:
            if len(self._scratches) == MAX_SCRATCHES:
                self._scratches.clear()
            buffer = self._scratches[size] = bytearray(size)
        return buffer


def _first_free(folder: Path, flags: int) -> tuple[Path, int]:
    """A pair of file names that is still free: process identifiers are reused."""
    suffix = 0
    while True:
        path = folder / f"process-{os.getpid()}-{suffix}{EVENTS}"
        try:
            return path, os.open(path, flags, 0o666)
        except FileExistsError:
            suffix += 1


def _fingerprint(content: Bytes) -> bytes:
    """A cheap fingerprint: the first bytes, samples at regular intervals, and the size."""
    step = len(content) // SAMPLES + 1
    return b"".join(
        [content[:SAMPLES].tobytes(), content[::step].tobytes(), len(content).to_bytes(8, "little")]
    )


def _write(descriptor: int, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
