"""JSON values with their paths in the file, for error messages."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_NO_NAME = re.compile("[\0\ud800-\udfff]")
KINDS = {dict: "an object", list: "an array", str: "a string", bool: "true or false", int: "an integer"}


def is_name(text: str) -> bool:
    """Whether ``text`` can be a C string: not empty, no null characters, no lone surrogates."""
    return bool(text) and _NO_NAME.search(text) is None


class GraphFileError(ValueError):
    """A graph file that cannot be read. ``path`` is the file, ``place`` the path in it: ``nodes[3].desc.Axis``."""

    def __init__(self, path: Path, place: str, text: str) -> None:
        super().__init__(f"{path}: {place}: {text}" if place else f"{path}: {text}")
        self.path = path
        self.place = place
        self._text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.place, self._text)


class Item:
    """One value of a JSON file. All methods raise ``GraphFileError`` if the value has another type."""

    def __init__(self, file: Path, place: str, value: Any) -> None:
        self.file = file
        self.place = place
        self.value = value

    def error(self, text: str, below: str = "") -> GraphFileError:
        return GraphFileError(self.file, self.place + below, text)

    def _kind(self, kind: type) -> Any:
        if type(self.value) is not kind:
            raise self.error(f"must be {KINDS[kind]}, not {_show(self.value)}")
        return self.value

    def fields(self, required: set[str], optional: set[str] | None = None) -> dict[str, Item]:
        """The members of an object: all of ``required``, possibly some of ``optional``, and no others."""
        members = self._kind(dict)
        dot = "." if self.place else ""
        items = {name: Item(self.file, f"{self.place}{dot}{name}", value) for name, value in members.items()}
        for name in items:
            if name not in required and name not in (optional or set()):
                raise items[name].error("is unknown here")
        missing = sorted(required - set(items))
        if missing:
            raise self.error("is missing", f"{dot}{missing[0]}")
        return items

    def __iter__(self) -> Iterator[Item]:
        for index, value in enumerate(self._kind(list)):
            yield Item(self.file, f"{self.place}[{index}]", value)

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
    kind = KINDS.get(type(value), "a number")
    return kind if isinstance(value, (dict, list)) else repr(value)[:80]
