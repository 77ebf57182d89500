"""Files of models: lookup, reading and atomic writing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..storage import read_regular, write_whole
from .model_error import ModelError


def source_path(folder: Path, name: str) -> Path:
    """``name`` in ``folder``, or, if it does not exist there, in the current directory."""
    if "\0" in name:
        raise ModelError("A path has no null characters.")
    path = (folder / name).absolute()
    try:
        return path if path.exists() else Path(name).absolute()
    except OSError as error:
        raise ModelError(f"Given filename '{name}' could not be opened: {error.strerror}.") from None


def read_file(path: Path) -> bytes:
    """The contents of a file. Raises ``ModelError`` for what cannot be read, such as a folder or an endless device."""
    try:
        return read_regular(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is too large"
        raise ModelError(f"Given filename '{path}' could not be opened: {reason}.") from None


def check_target(target: str, folders: Sequence[Path]) -> None:
    """Raise ``ModelError`` for an output file that is in none of ``folders``, wherever symbolic links lead."""
    try:
        path = Path(target).resolve()
        is_inside = any(path.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"The target path '{target}' cannot be resolved: {error}.") from None
    if not is_inside:
        raise ModelError(
            f"The target path '{target}' leads out of the output folder '{folders[0]}', which a model may not write "
            "unless it is allowed to."
        )


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically, creating missing folders. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda file: file.write(content))
