"""The list of D3D12_MESSAGE_IDs, ``debug_messages.toml``, by method, and whether the info queue gets each. Tests
compare the debug layer with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("debug_messages.toml")
STATUSES = {"told": "reported", "raised": "raised", "not_yet": "not yet"}


class MessageRow(NamedTuple):
    """A message: ``status`` is ``reported``, ``raised``, ``not yet``, or why it is ``impossible``."""

    title: str
    source: str
    name: str
    id: int
    status: str
    impossible: bool = False


def _ids(text: str) -> Iterator[tuple[str, int]]:
    for item in text.split():
        name, _, number = item.partition("=")
        yield name, int(number)


def read_list() -> dict[str, Any]:
    with FILE.open("rb") as file:
        content: dict[str, Any] = tomllib.load(file)
        return content


def rows() -> list[MessageRow]:
    return [row for page in read_list()["page"] for row in _of_page(page)]


def _of_page(page: dict[str, Any]) -> Iterator[MessageRow]:
    title, source = page["title"], page.get("source", "")
    for key, status in STATUSES.items():
        for name, number in _ids(page.get(key, "")):
            yield MessageRow(title, source, name, number, status)
    for reason, names in page.get("why", {}).items():
        for name, number in _ids(names):
            yield MessageRow(title, source, name, number, reason, impossible=True)


def elsewhere() -> dict[str, tuple[str, ...]]:
    """The subjects of messages that are not in the list, each with words of their names."""
    return {subject: tuple(words.split()) for subject, words in read_list()["elsewhere"].items()}
