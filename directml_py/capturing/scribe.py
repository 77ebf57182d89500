"""Writing beside the program: while commands run, a thread of its own fingerprints, compares and writes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any

import numpy as np

from .files import Bytes, Writer

# At most so many things wait to be written; contents of more bytes than LARGEST are written at once, without a copy.
MOST = 16
LARGEST = 4 << 20

Task = Callable[[], None]


class Content:
    """Bytes that were given to a scribe; ``number`` is theirs in the file as soon as they are written."""

    number: int | None = None


class Scribe:
    """Passes everything on to a ``Writer``, in the order in which it comes; callers take turns.

    While ``beside`` is set, calls return before they have come into the files, and contents are those of the moment of
    the call. All else waits for what came before: after a call with ``beside`` unset everything is in the files. Raises
    ``OSError`` as the writer does, for what was written beside at one of the next calls.
    """

    def __init__(self, folder: Path) -> None:
        self.beside = False
        self._writer = Writer(folder, _number_of)
        self._helper: _Helper | None = None

    def event(self, kind: str, /, **members: Any) -> None:
        """``members`` may hold a ``Content`` that was given earlier, which becomes its number."""
        self._do(partial(self._writer.event, kind, **members))

    def content(self, content: Bytes, likely: Content | None = None) -> Content:
        """``likely`` is what lay there when somebody looked last."""
        given = Content()
        is_beside = self.beside and content.nbytes <= LARGEST
        bytes_ = content.copy() if is_beside else np.ascontiguousarray(content)

        def write() -> None:
            given.number = self._writer.content(bytes_, None if likely is None else likely.number)

        self._do(write, is_beside)
        return given

    def close(self) -> None:
        """Raises as other calls do, for what was written beside; the files are closed all the same."""
        try:
            self._wait()
        finally:
            self._writer.close()

    def _do(self, task: Task, is_beside: bool = True) -> None:
        if not (self.beside and is_beside):
            self._wait()
            task()
            return
        if self._helper is None:
            try:
                self._helper = _Helper()
            except RuntimeError:
                # An interpreter that is about to end starts no threads.
                task()
                return
        self._helper.do(task)

    def _wait(self) -> None:
        helper = self._helper
        if helper is not None:
            helper.end()
            self._helper = None


class _Helper:
    """A thread that does what it is told until the end, or the first error."""

    def __init__(self) -> None:
        self._tasks: Queue[Task | None] = Queue(MOST)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="directml_py capture", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            if self._error is None:
                try:
                    task()
                except BaseException as error:
                    self._error = error

    def do(self, task: Task) -> None:
        if self._error is not None:
            self.end()
        self._tasks.put(task)

    def end(self) -> None:
        """Wait for all tasks; raises what one of them raised."""
        self._tasks.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error


def _number_of(item: object) -> int | None:
    if isinstance(item, Content):
        return item.number
    raise TypeError(f"{type(item).__name__} is not JSON")
