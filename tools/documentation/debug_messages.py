"""The directive ``{messages-of-direct3d}``: every D3D12_MESSAGE_ID of what is emulated, by the method that it is about,
and whether the info queue is told. The list is ``debug_messages.toml``; tests hold the debug layer against it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FILE = Path(__file__).with_name("debug_messages.toml")
STATUSES = {"told": "reported", "raised": "raised", "not_yet": "not yet"}
COLUMNS = ("D3D12_MESSAGE_ID_", "Number", "")
WIDTHS = (55, 10, 35)


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
    """What the messages that are not in the list are about, each with words of their names."""
    return {subject: tuple(words.split()) for subject, words in read_list()["elsewhere"].items()}


class MessagesDirective(SphinxDirective):
    """One table a page of Microsoft's documentation."""

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        for title, of_page in groupby(rows(), lambda row: row.title):
            found += [nodes.rubric("", "", nodes.Text(title)), self._table(list(of_page))]
        return found

    def _table(self, of_page: list[MessageRow]) -> nodes.table:
        group = nodes.tgroup(cols=len(COLUMNS))
        group += [nodes.colspec(colwidth=width) for width in WIDTHS]
        group += nodes.thead("", self._row([nodes.Text(name) for name in COLUMNS]))
        body = nodes.tbody()
        for row in of_page:
            status = nodes.emphasis("", row.status) if row.impossible else nodes.Text(row.status)
            body += self._row([nodes.literal(row.name, row.name), nodes.Text(str(row.id)), status])
        group += body
        return nodes.table("", group)

    def _row(self, cells: list[nodes.Node]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("messages-of-direct3d", MessagesDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
