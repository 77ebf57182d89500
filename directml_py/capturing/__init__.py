"""Captures: what a program did on its devices, written down to be looked at, run again and taken elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .recorder import Recorder

# Names the folder of a capture that begins when this package is loaded, in Python or by libdirectml.so.
VARIABLE = "DIRECTML_PY_CAPTURE"


@contextmanager
def capture(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Record what the devices of this process do in the block into ``folder``, which is made if need be.

    ``python -m directml_py capture show FOLDER`` makes a page of it. Objects may have been made before; work that was
    submitted before is left out. Raises ``FileExistsError`` if there is something in the folder, ``OSError`` if it
    cannot be written; at the end of the block too, if that happened within.
    """
    from .recorder import Recorder

    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"{path} is there already; a capture needs a new or an empty folder")
    recorder = Recorder(path)
    try:
        yield path
    finally:
        recorder.stop()
    if recorder.error is not None:
        raise recorder.error


_of_process: list[Recorder] = []


def start_from_environment() -> None:
    """Begin what the environment asks for, once in a process; it ends with the process."""
    folder = os.environ.get(VARIABLE)
    if folder and not _of_process:
        from .recorder import Recorder

        try:
            _of_process.append(Recorder(Path(folder)))
        except OSError as error:
            import sys

            text = f"directml_py: {VARIABLE} is {folder}, which cannot be written: {error.strerror or error}"
            print(text, file=sys.stderr)
