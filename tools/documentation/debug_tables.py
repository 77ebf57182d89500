"""The tables of the debug layers: ``{messages-of-direct3d}`` and ``{rules-of-debug-layers}``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from directml_py.operators import SCHEMAS
from directml_py.testing.known_rules import every_rule

from .message_list import MessageRow
from .message_list import rows as messages

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def table(columns: Sequence[str], widths: Sequence[int], rows: Iterable[Sequence[nodes.Node]]) -> nodes.table:
    group = nodes.tgroup(cols=len(columns))
    group += [nodes.colspec(colwidth=width) for width in widths]
    group += nodes.thead("", _row([nodes.Text(name) for name in columns]))
    group += nodes.tbody("", *map(_row, rows))
    return nodes.table("", group)


def _row(cells: Sequence[nodes.Node]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


class MessagesDirective(SphinxDirective):
    """The D3D12_MESSAGE_IDs, in one table for each page of Microsoft's documentation."""

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        for title, of_page in groupby(messages(), lambda row: row.title):
            shown = table(("D3D12_MESSAGE_ID_", "Number", ""), (55, 10, 35), map(self._cells, of_page))
            found += [nodes.rubric("", "", nodes.Text(title)), shown]
        return found

    def _cells(self, row: MessageRow) -> list[nodes.Node]:
        status = nodes.emphasis("", row.status) if row.impossible else nodes.Text(row.status)
        return [nodes.literal(row.name, row.name), nodes.Text(str(row.id)), status]


class RulesDirective(SphinxDirective):
    """The rules that are checked while commands are recorded and run."""

    def run(self) -> list[nodes.Node]:
        rows = (
            [
                nodes.reference("", "", nodes.literal(rule.id, rule.id), refuri=address(rule.id)),
                nodes.Text(rule.text),
                nodes.Text(rule.severity.value),
            ]
            for rule in every_rule()
            if rule.debug
        )
        return [table(("Rule", "Text", "Severity"), (30, 60, 10), rows)]


def address(rule: str) -> str:
    """The link to a rule from a sibling folder: on its operator's page, or on the page of all rules."""
    operator = rule.split("-")[1]
    page = f"operators/{operator}" if operator in SCHEMAS else "reference/rules"
    return f"../{page}.html#{nodes.make_id(rule)}"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("messages-of-direct3d", MessagesDirective)
    app.add_directive("rules-of-debug-layers", RulesDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
