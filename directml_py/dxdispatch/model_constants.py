"""The files of a serialized graph's constants."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from .model_error import ModelError

SUFFIX = ".bin"


def constant_path(graph: Path, name: str) -> Path:
    """Where the bytes of the constant ``name`` lie: beside the graph. Raises ``ModelError`` for what is elsewhere."""
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(name)
        if path.is_absolute() or path.drive or ".." in path.parts or "\0" in name:
            raise ModelError(f"Could not open file: the constant '{name}' does not lie beside the graph")
    return graph.parent / (name + SUFFIX)
