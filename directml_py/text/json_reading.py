"""JSON files, read with the same limits by every command: one error, and never a traceback, for hostile text."""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from .similar import is_name

# The parser and what follows are recursive. The deepest of our own files has less than 20 levels.
MAX_DEPTH = 256
# A longer number does not fit in a double.
MAX_DIGITS = 400

TOO_DEEP = f"values are nested too deep; at most {MAX_DEPTH} levels are read"

# A string may lack its end: what looks like a comment or a bracket within it is none.
_STRING_PATTERN = r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)'
_STRING = re.compile(_STRING_PATTERN, re.DOTALL)
_COMMENT = re.compile(_STRING_PATTERN + r"|(?P<blank>//[^\n]*|/\*.*?(?:\*/|\Z))", re.DOTALL)
_TRAILING_COMMA = re.compile(_STRING_PATTERN + r"|(?<=[^\s,:\[{])(?P<blank>\s*,)(?=\s*[\]}])", re.DOTALL)
_NOT_NEWLINE = re.compile(r"[^\n]")
_BRACKETS = np.zeros(256, np.int8)
_BRACKETS[[ord("["), ord("{")]] = 1
_BRACKETS[[ord("]"), ord("}")]] = -1


class JsonError(ValueError):
    """Text that is not JSON, or beyond the limits. ``location`` is where, such as ``line 1 column 2``, or empty."""

    def __init__(self, text: str, location: str = "") -> None:
        super().__init__(f"{location}: {text}" if location else text)
        self.text = text
        self.location = location


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


def read_commented_json(data: bytes) -> Any:
    """The first value in UTF-8 text as RapidJSON reads it for DxDispatch: comments and trailing commas are allowed,
    what follows the value is not read, and the first of duplicate members counts.

    Undecodable bytes in strings survive a round trip. Raises ``JsonError`` with the line and column, also for NaN,
    Infinity and numbers that no double holds.
    """
    text = data.decode("utf-8", "surrogateescape")
    for pattern in (_COMMENT, _TRAILING_COMMA):
        # Blanks in their place leave all else where it was.
        text = pattern.sub(_blanked, text)
    if is_too_deep(text):
        raise JsonError(TOO_DEEP)
    decoder = json.JSONDecoder(
        object_pairs_hook=lambda members: {**dict(members), **dict(reversed(members))},
        parse_float=_finite,
        parse_int=lambda digits: int(digits) if len(digits) <= MAX_DIGITS else _finite(digits),
        parse_constant=_refuse_number,
    )
    try:
        return decoder.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))[0]
    except json.JSONDecodeError as error:
        raise JsonError(error.msg, f"line {error.lineno} column {error.colno}") from None
    except _NotANumber as error:
        word = re.escape(str(error))
        found = re.search(rf"(?<![\w.+-]){word}", _STRING.sub(lambda string: "." * len(string[0]), text))
        start = json.JSONDecodeError("", text, found.start() if found else 0)
        raise JsonError(f"no double is {error}", f"line {start.lineno} column {start.colno}") from None


def _blanked(match: re.Match[str]) -> str:
    return match[0] if match["blank"] is None else _NOT_NEWLINE.sub(" ", match[0])


class _NotANumber(ValueError):
    """The text of a number that no double holds, or that JSON does not have."""


def _refuse_number(text: str) -> NoReturn:
    raise _NotANumber(text)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse_number(digits)


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


_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "true or false", int: "an integer"}


class Item:
    """One value of a JSON file. All methods raise ``JsonError`` if the value has another type."""

    def __init__(self, file: Path, location: str, value: Any) -> None:
        self.file = file
        self.location = location
        self.value = value

    def error(self, text: str, below: str = "") -> JsonError:
        location = self.location + below
        return JsonError(text, f"{self.file}: {location}" if location else str(self.file))

    def _kind(self, kind: type) -> Any:
        if type(self.value) is not kind:
            raise self.error(f"must be {_KINDS[kind]}, not {_show(self.value)}")
        return self.value

    def fields(self, required: set[str], optional: set[str] | None = None) -> dict[str, Item]:
        """The members of an object: all of ``required``, possibly some of ``optional``, and no others."""
        members = self._kind(dict)
        dot = "." if self.location else ""
        items = {
            name: Item(self.file, f"{self.location}{dot}{name}", value) for name, value in members.items()
        }
        for name in items:
            if name not in required and name not in (optional or set()):
                raise items[name].error("is unknown here")
        missing = sorted(required - set(items))
        if missing:
            raise self.error("is missing", f"{dot}{missing[0]}")
        return items

    def __iter__(self) -> Iterator[Item]:
        for index, value in enumerate(self._kind(list)):
            yield Item(self.file, f"{self.location}[{index}]", value)

    def integer(self, low: int = 0, high: int = (1 << 32) - 1) -> int:
        number: int = self._kind(int)
        if not low <= number <= high:
            raise self.error(f"must be from {low} to {high}, not {number}")
        return number

    def index(self, count: int, what: str) -> int:
        """An index below ``count``."""
        number: int = self._kind(int)
        if not 0 <= number < count:
            raise self.error(f"is {number}; there are {count} {what}")
        return number

    def boolean(self) -> bool:
        truth: bool = self._kind(bool)
        return truth

    def text(self) -> str:
        text: str = self._kind(str)
        if not is_name(text):
            raise self.error(f"must be Unicode text without null characters, not {_show(text)}")
        return text

    def number(self, largest: float = sys.float_info.max) -> float:
        """A float between -``largest`` and ``largest``, or one of the strings NaN, Infinity and -Infinity, for which
        JSON has no numbers."""
        if type(self.value) is str and self.value in ("NaN", "Infinity", "-Infinity"):
            return float(self.value)
        if type(self.value) not in (int, float):
            raise self.error(f"must be a number, not {_show(self.value)}")
        # JSON integers are unbounded, and 1e400 parses as infinity.
        if not -largest <= self.value <= largest:
            raise self.error(
                f"must be from {-largest} to {largest}, or the string NaN, Infinity or -Infinity"
            )
        return float(self.value)


def _show(value: Any) -> str:
    if value is None:
        return "null"
    kind = _KINDS.get(type(value), "a number")
    return kind if isinstance(value, (dict, list)) else repr(value)[:80]
