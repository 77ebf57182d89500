"""JSON files, read with the same limits by every command: one error, and never a traceback, for hostile text.

DxDispatch's dialect has a reader of its own, which shares the limits.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import numpy as np

# The parser and what follows are recursive. The deepest of our own files has less than 20 levels.
MAX_DEPTH = 256
# A longer number does not fit in a double.
MAX_DIGITS = 400

TOO_DEEP = f"values are nested too deep; at most {MAX_DEPTH} levels are read"

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BRACKETS = np.zeros(256, np.int8)
_BRACKETS[[ord("["), ord("{")]] = 1
_BRACKETS[[ord("]"), ord("}")]] = -1


class JsonError(ValueError):
    """Text that is not JSON, or beyond the limits. ``place`` is where, such as ``line 1 column 2``, or empty."""

    def __init__(self, text: str, place: str = "") -> None:
        super().__init__(f"{place}: {text}" if place else text)
        self.text = text
        self.place = place


def is_too_deep(text: str) -> bool:
    """Whether more than ``MAX_DEPTH`` arrays and objects contain each other, without parsing."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    plain = _STRING.sub("", text).encode("ascii", "replace")
    depth = np.cumsum(_BRACKETS[np.frombuffer(plain, np.uint8)], dtype=np.int64)
    return bool((depth > MAX_DEPTH).any())


def read_json(data: bytes) -> Any:
    """The one value in UTF-8 text.

    A number that no double holds is infinite; it and the NaN and Infinity that Python accepts are refused where the
    value is used, with its path. Raises ``JsonError`` for anything else, also for a duplicate member.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise JsonError("is not UTF-8 text", f"byte {error.start}") from None
    if is_too_deep(text):
        raise JsonError(TOO_DEEP)
    try:
        return json.loads(text, object_pairs_hook=members_once, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise JsonError(error.msg, f"line {error.lineno} column {error.colno}") from None


def members_once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object. Raises ``JsonError`` for a duplicate member."""
    by_name = dict(members)
    if len(by_name) != len(members):
        counts = Counter(name for name, _ in members)
        raise JsonError(
            f"the member {next(name for name, count in counts.items() if count > 1)!r} is duplicated"
        )
    return by_name


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)
