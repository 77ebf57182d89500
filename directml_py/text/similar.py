"""Names: what can be one, those like a misspelt one, for messages of all rooms, and arguments by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..late import loading

if TYPE_CHECKING:
    from inspect import BoundArguments, Signature


def is_name(text: str) -> bool:
    """Whether ``text`` can be a C string: not empty, no null characters, no lone surrogates."""
    return bool(text) and "\0" not in text and (text.isascii() or re.search("[\ud800-\udfff]", text) is None)


def similar_names(name: str, names: Iterable[str], count: int = 3, cutoff: float = 0.75) -> list[str]:
    """Up to ``count`` of ``names`` that end with ``name``, as ``ACTIVATION_RELU`` does with ``relu``, or else resemble
    it, whatever its case, the most similar first."""
    # Only messages need it.
    with loading:
        from difflib import get_close_matches

    upper, by_case = name.upper(), {known.upper(): known for known in names}
    longer = sorted((known for known in by_case if upper and known.endswith(f"_{upper}")), key=len)
    return [by_case[known] for known in longer[:count] or get_close_matches(upper, by_case, count, cutoff)]


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.75) -> str:
    """``; did you mean Axes?``, or nothing if no name is similar."""
    close = similar_names(name, names, 1, cutoff)
    return f"; did you mean {close[0]}?" if close else ""


def bind(signature: Signature, arguments: Iterable[Any], keywords: Mapping[str, Any]) -> BoundArguments:
    """``signature.bind``; a keyword that is none of its parameters is reported first, with a similar one: what is
    missing may be what was misspelt. Raises ``TypeError``."""
    known = signature.parameters
    for name in keywords:
        if name not in known:
            raise TypeError(f"there is no argument {name!r}{did_you_mean(name, known)}")
    return signature.bind(*arguments, **keywords)
