"""The directive ``{messages-of-direct3d}``: the list of D3D12_MESSAGE_IDs as tables."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from .message_list import MessageRow, rows

if TYPE_CHECKING:
    from sphinx.application import Sphinx

COLUMNS = ("D3D12_MESSAGE_ID_", "Number", "")
WIDTHS = (55, 10, 35)


class MessagesDirective(SphinxDirective):
    """One table for each page of Microsoft's documentation."""

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
