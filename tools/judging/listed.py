"""Lists of what is not as expected, with reasons: the tables ``reason`` of a TOML file."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Listed = TypeVar("Listed")
# What is made of an entry's values, by the types of the fields.
MAKERS: dict[Any, Callable[[Any], Any]] = {
    str: str,
    re.Pattern[str]: re.compile,
    tuple[str, ...]: tuple,
    frozenset[str]: frozenset,
}


def read(path: Path, kind: type[Listed]) -> list[Listed]:
    """The entries in order, as ``kind``, a NamedTuple with a field for each key; one without a ``why`` has that of the
    entry before it.

    Raises ``ValueError`` for a key that is no field, ``TypeError`` for a field without a key or a default.
    """
    makers = {name: MAKERS[hint] for name, hint in get_type_hints(kind).items()}
    found, why = [], ""
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["reason"]:
        why = entry.setdefault("why", why)
        unknown = entry.keys() - makers.keys()
        if unknown:
            raise ValueError(f"{path}: a reason has the unknown key {min(unknown)!r}")
        found.append(kind(**{name: makers[name](value) for name, value in entry.items()}))
    return found
