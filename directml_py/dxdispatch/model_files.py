"""Files of models: where they are looked for, and how they are written."""

from __future__ import annotations

from pathlib import Path

from ..storage import regular_file, write_whole
from .model_error import ModelError


def source_path(folder: Path, name: str) -> Path:
    """``name`` in ``folder``, or, if there is none, in the current directory."""
    if "\0" in name:
        raise ModelError("A path has no null characters.")
    path = (folder / name).absolute()
    try:
        return path if path.exists() else Path(name).absolute()
    except OSError as error:
        raise ModelError(f"Given filename '{name}' could not be opened: {error.strerror}.") from None


def read_file(path: Path) -> bytes:
    """All of a file. Raises ``ModelError`` for what cannot be read, such as a folder or a device without end."""
    try:
        with regular_file(path) as file:
            return file.read()
    except (OSError, MemoryError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is too large"
        raise ModelError(f"Given filename '{path}' could not be opened: {reason}.") from None


def write_file(path: Path, content: bytes) -> None:
    """Write all of a file or nothing; missing folders are made. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda file: file.write(content))
