"""JSON parser with RapidJSON's options in DxDispatch: comments, trailing commas, and a stop after the first value."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from ..text.json_reading import MAX_DIGITS, TOO_DEEP, is_too_deep
from .model_error import ModelError

TOKEN = re.compile(
    r"""(?P<string>"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z))"""
    r"|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
    r"""|(?P<mark>[,:\[\]{}])|(?P<other>[^\s,:\[\]{}"/]+|/)""",
    re.DOTALL,
)
BLANKS = re.compile(r"[ \t\r\n]*")
NOT_NEWLINE = re.compile(r"[^\n]")
SNIPPET = 40

# RapidJSON's error codes and texts, by prefixes of Python's messages.
PROBLEMS = {
    "Expecting property name": (4, "Missing a name for object member."),
    "Expecting ':'": (5, "Missing a colon after a name of object member."),
    "Expecting ',' in object": (6, "Missing a comma or } after an object member."),
    "Expecting ',' in array": (7, "Missing a comma or ] after an array element."),
    "Invalid \\u": (8, "Incorrect hex digit after \\u escape in string."),
    "Invalid \\": (10, "Invalid escape character in string."),
    "Unterminated string": (11, "Missing a closing quotation mark in string."),
    "Invalid control": (12, "Invalid encoding in string."),
    "": (3, "Invalid value."),
}
EMPTY = (1, "The document is empty.")
TOO_BIG = (13, "Number too big to be stored in double.")


class _NumberTooBig(ValueError):
    pass


def parse_json(data: bytes) -> Any:
    """The first value in ``data``. Of members with the same name the first one is kept.

    Raises ``ModelError`` with line and column for invalid JSON.
    """
    # Undecodable bytes in names survive a round trip.
    text = data.decode("utf-8", "surrogateescape")
    try:
        return _decode(text)
    except (json.JSONDecodeError, _NumberTooBig, RecursionError):
        plain = _without_comments(text)
    try:
        return _decode(plain)
    except json.JSONDecodeError as error:
        raise _problem(text, error.pos, _known(plain, error)) from None
    except _NumberTooBig as error:
        raise _problem(text, _token_position(plain, str(error)), TOO_BIG) from None
    except RecursionError:
        raise ModelError(f"JSON parse error: {TOO_DEEP}") from None


def _decode(text: str) -> Any:
    """Raises ``JSONDecodeError``, and ``RecursionError`` for what is nested too deep, maybe only in a comment."""
    if is_too_deep(text):
        raise RecursionError
    decoder = json.JSONDecoder(
        object_pairs_hook=_first_of_each, parse_int=_integer, parse_float=_float, parse_constant=_constant
    )
    blanks = BLANKS.match(text)
    start = blanks.end() if blanks else 0
    try:
        return decoder.raw_decode(text, start)[0]
    except _Constant as error:
        raise json.JSONDecodeError("", text, _token_position(text, str(error))) from None


def _token_position(text: str, word: str) -> int:
    """The position of the first ``word`` outside strings and comments."""
    positions = (
        token.start()
        for token in TOKEN.finditer(text)
        if token.lastgroup == "other" and token.group() == word
    )
    return next(positions, 0)


class _Constant(ValueError):
    """NaN or Infinity, which Python accepts and JSON does not have."""


def _constant(name: str) -> NoReturn:
    raise _Constant(name)


def _first_of_each(members: list[tuple[str, Any]]) -> dict[str, Any]:
    by_name: dict[str, Any] = {}
    for name, value in members:
        by_name.setdefault(name, value)
    return by_name


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < MAX_DIGITS else _float(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _NumberTooBig(digits)
    return number


def _without_comments(text: str) -> str:
    """``text`` with comments and trailing commas replaced by blanks, so that positions are unchanged."""
    parts: list[str] = []
    end, before, last, comma = 0, "", "", -1
    for token in TOKEN.finditer(text):
        parts.append(text[end : token.start()])
        kind, found = token.lastgroup, token.group()
        end = token.end()
        if kind == "comment":
            parts.append(NOT_NEWLINE.sub(" ", found))
            continue
        if found in ("]", "}") and last == "," and before not in ("", ",", ":", "[", "{"):
            parts[comma] = " "
        if found == ",":
            comma = len(parts)
        before, last = last, found if kind == "mark" else "value"
        parts.append(found)
    parts.append(text[end:])
    return "".join(parts)


def _known(text: str, error: json.JSONDecodeError) -> tuple[int, str]:
    if BLANKS.fullmatch(text):
        return EMPTY
    message = error.msg
    if message.startswith("Expecting ','"):
        message = f"Expecting ',' in {_container(text[: error.pos])}"
    return next(known for start, known in PROBLEMS.items() if message.startswith(start))


def _container(text: str) -> str:
    """Whether an object or an array is open at the end of ``text``."""
    depth = []
    for token in TOKEN.finditer(text):
        if token.group() in ("[", "{"):
            depth.append(token.group())
        elif token.group() in ("]", "}") and depth:
            depth.pop()
    return "array" if depth and depth[-1] == "[" else "object"


def _problem(text: str, position: int, known: tuple[int, str]) -> ModelError:
    number, words = known
    before = text[:position]
    line, column = before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
    offset = len(before.encode("utf-8", "surrogateescape"))
    snippet = re.sub(r"[\r\n]", " ", text[position : position + SNIPPET])
    return ModelError(
        f"JSON parse error at char offset:{offset}, line:{line}, column:{column}, error:{number} {words}\n"
        f"Snippet: >>>{snippet}<<<"
    )
