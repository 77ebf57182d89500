"""Formats values of descs as text, in the documents' style."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

from ..abi.schema import FieldSchema

_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def in_words(name: str, joint: str) -> str:
    """The words of a name joined with ``joint``: ``index_dimensions`` for IndexDimensions, ``upsample_2d`` for
    UPSAMPLE_2D."""
    return _WORD.sub(joint, name).lower()


def braces(values: Any) -> str:
    """``{1,2,3}``, the documents' notation of sizes."""
    return "{" + ",".join(str(value) for value in values) + "}"


def format_value(entry: FieldSchema, value: Any) -> str:
    if isinstance(value, tuple) and entry.kind == "array":
        if all(isinstance(item, (int, float)) for item in value):
            return braces(value)
        return "[" + ", ".join(repr(item) for item in value) + "]"
    if isinstance(value, Enum):
        return value.name or str(value.value)
    if entry.kind == "bytes" and isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if entry.kind == "address" and isinstance(value, int):
        return f"0x{value:X}"
    return repr(value)
