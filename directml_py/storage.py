"""Files on a disk: written whole or not at all, and read only where reading has an end."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

# Windows has no such call, and its files of other kinds have no paths in folders.
NONBLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let ``write`` write a file, which takes the place of ``path`` once all of it is on the disk.

    Whatever goes wrong before, the file that ``path`` was stays as it was. A link is followed; what is no regular
    file, such as ``/dev/null``, is written to as it is. Raises ``OSError`` that names ``path``.
    """
    try:
        _write_whole(Path(os.path.realpath(path)), write)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    present = _status(path)
    if present is not None and not stat.S_ISREG(present.st_mode):
        with path.open("wb") as file:
            write(file)
        return
    if present is not None and not os.access(path, os.W_OK):
        # Only the folder is asked when a file is replaced, but who took the right to write away meant the file.
        raise PermissionError(13, "Permission denied")
    # Names have at most 255 bytes, and a character up to four.
    beside = path.with_name(f".{path.name[:48]}.{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            write(file)
            file.flush()
            if present is not None:
                beside.chmod(stat.S_IMODE(present.st_mode))
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def sync_folder(folder: Path) -> None:
    """What was renamed in ``folder`` stays so when the machine stops, where folders can be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def regular_file(path: Path) -> Iterator[BinaryIO]:
    """A regular file, open for reading.

    Raises ``OSError``, also for what is no regular file: a pipe would be waited for, a device may have no end.
    """
    # Opening a pipe does not wait here, and what was opened is what is asked.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | NONBLOCKING)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(22, "it is no regular file", str(path))
        yield file
