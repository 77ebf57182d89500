"""Captures: a recording of a program's work on its devices, to be inspected, replayed and exported."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..abi.secure_environment import path_variable
from ..late import loading

if TYPE_CHECKING:
    from .recorder import Recorder

# Names the folder of a capture that begins when this package is loaded, in Python or by libdirectml.so.
VARIABLE = "DIRECTML_PY_CAPTURE"
# How the names of a capture's files end that list its events, one file a process.
EVENTS = ".jsonl"


def is_capture(folder: Path) -> bool:
    return folder.is_dir() and any(folder.glob(f"*{EVENTS}"))


@contextmanager
def capture(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Record what this process's devices do within the block into ``folder``, creating it if necessary.

    ``python -m directml_py capture show FOLDER`` renders it as a page. Objects may exist already; work submitted before
    the block is left out. Raises ``FileExistsError`` if the folder is not empty, ``OSError`` if it cannot be written;
    an ``OSError`` within the block is raised at its end.
    """
    with loading:
        from .recorder import Recorder
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"{path} already exists; a capture needs a new or an empty folder")
    recorder = Recorder(path)
    try:
        yield path
    finally:
        recorder.stop()
    if recorder.error is not None:
        raise recorder.error


_of_process: list[Recorder] = []


def start_from_environment() -> None:
    """Begin the capture that the environment variable asks for, once per process; it ends with the process."""
    folder = path_variable(VARIABLE)
    if folder and not _of_process:
        with loading:
            from .recorder import Recorder
        try:
            recorder = Recorder(Path(folder))
            _of_process.append(recorder)
            atexit.register(recorder.stop_at_exit)
        except OSError as error:
            text = f"directml_py: {VARIABLE} is {folder}, which cannot be written: {error.strerror or error}"
            print(text, file=sys.stderr)


def leave_to_next_program() -> None:
    """Remove the capture of this process, which has recorded nothing: it turns into another program, with its own."""
    while _of_process:
        recorder = _of_process.pop()
        atexit.unregister(recorder.stop_at_exit)
        recorder.remove()
