"""Files of a serialized graph's constants."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from .model_error import ModelError

SUFFIX = ".bin"


def constant_path(graph: Path, name: str) -> Path:
    """The file of the constant ``name``, beside the graph. Raises ``ModelError`` for a name that leads elsewhere."""
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(name)
        if path.is_absolute() or path.drive or ".." in path.parts or "\0" in name:
            raise ModelError(f"Could not open file: the constant '{name}' is not beside the graph")
    return graph.parent / (name + SUFFIX)
