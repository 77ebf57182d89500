"""File I/O: atomic writes, and reads restricted to regular files."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from .abi.physical_memory import physical_memory

# Windows has no O_NONBLOCK and does not need it: its pipes and devices have no paths in folders.
NONBLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Atomically replace ``path`` with a file written by ``write``, once it is on disk.

    On failure, an existing file stays unchanged. A symbolic link is followed; anything but a regular file, such as
    ``/dev/null``, is written in place. Raises ``OSError`` naming ``path``.
    """
    try:
        _write_whole(Path(os.path.realpath(path)), write)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    status = _status(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        with path.open("wb") as file:
            write(file)
        return
    if status is not None and not os.access(path, os.W_OK):
        # Replacing a file needs write permission on the folder only, but a read-only file is meant to stay.
        raise PermissionError(13, "Permission denied")
    # File names have at most 255 bytes, and a character takes up to four.
    temporary = path.with_name(f".{path.name[:48]}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            if status is not None:
                temporary.chmod(stat.S_IMODE(status.st_mode))
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def sync_folder(folder: Path) -> None:
    """Make renames in ``folder`` durable, on systems where folders can be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_regular(path: Path) -> bytes:
    """The contents of a regular file. Raises ``OSError``, also for one that does not fit into memory."""
    with regular_file(path) as file:
        size, memory = os.fstat(file.fileno()).st_size, physical_memory()
        try:
            # A file with holes may have any size, and systems that overcommit grant the memory until it is touched.
            if memory is not None and size > memory:
                raise MemoryError
            return file.read()
        except (MemoryError, OverflowError):
            raise OSError(errno.EFBIG, "it is too large", str(path)) from None


@contextlib.contextmanager
def regular_file(path: Path) -> Iterator[BinaryIO]:
    """A regular file, open for reading.

    Raises ``OSError``, also if it is not a regular file: a pipe would block, a device may be endless.
    """
    # Opening a pipe does not block here, and the check is on the opened file itself.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | NONBLOCKING)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(22, "not a regular file", str(path))
        yield file
