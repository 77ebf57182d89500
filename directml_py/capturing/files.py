"""The files of a capture.

A capture is a folder. Each process, and each ``capture()`` in it, writes two files that only ever grow: ``NAME.jsonl``,
one JSON object a line, and ``NAME.contents``, the bytes that lines name by offset and size. Bytes come before the line
that names them, so that a process that is killed leaves everything up to there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernels.fingerprint import fingerprint

FORMAT = "directml-py capture"
VERSION = 1
EVENTS = ".jsonl"
CONTENTS = ".contents"
# How much is compared at once: little at first, which is where most contents that differ do.
CHUNKS = (1 << 12, 1 << 18)

Bytes = npt.NDArray[np.uint8]


class Writer:
    """Both files of one process. Raises ``OSError``.

    ``default`` gives what stands in JSON for what has no form there.
    """

    def __init__(self, folder: Path, default: Callable[[Any], object] | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self.path, self._events = _first_free(folder, flags)
        self._contents = os.open(self.path.with_suffix(CONTENTS), flags, 0o666)
        # The child of a fork forgets it without closing what is its parent's.
        self._stored = open(self._contents, "rb", buffering=0, closefd=False)  # noqa: SIM115
        self._end = 0
        # Where each content begins and how long it is, by number; and the numbers by fingerprint.
        self._places: list[tuple[int, int]] = []
        self._known: dict[str, list[int]] = {}
        self._encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=default)
        # An array of bytes compares itself with any memory as fast as C does.
        self._scratch = [bytearray(size) for size in CHUNKS]

    def event(self, kind: str, /, **members: Any) -> None:
        line = self._encoder.encode({"event": kind, **members})
        _write(self._events, memoryview(f"{line}\n".encode()))

    def content(self, content: Bytes, likely: int | None = None) -> int:
        """The number under which these bytes are in the file, where they are written but once.

        ``likely`` is the number that they had when somebody looked last: that is cheaper to find out.
        """
        content = np.ascontiguousarray(content)
        if likely is not None and self._holds(likely, content):
            return likely
        digest = fingerprint(content)
        known = self._known.setdefault(digest, [])
        for number in known:
            if number != likely and self._holds(number, content):
                return number
        number, offset = len(self._places), self._end
        _write(self._contents, content.data)
        self._end += len(content)
        self._places.append((offset, len(content)))
        known.append(number)
        self.event("content", id=number, offset=offset, size=len(content), hash=digest)
        return number

    def _holds(self, number: int, content: Bytes) -> bool:
        offset, size = self._places[number]
        if size != len(content):
            return False
        self._stored.seek(offset)
        start = 0
        while start < size:
            scratch = self._scratch[start > 0]
            if len(scratch) > size - start:
                scratch = bytearray(size - start)
            end = start + len(scratch)
            if self._stored.readinto(scratch) != len(scratch) or scratch != content[start:end].data:
                return False
            start = end
        return True

    def close(self) -> None:
        os.close(self._events)
        os.close(self._contents)


def _first_free(folder: Path, flags: int) -> tuple[Path, int]:
    """A pair of names that no process has, however often its identifier comes back."""
    turn = 0
    while True:
        path = folder / f"process-{os.getpid()}-{turn}{EVENTS}"
        try:
            return path, os.open(path, flags, 0o666)
        except FileExistsError:
            turn += 1


def _write(descriptor: int, data: memoryview) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
