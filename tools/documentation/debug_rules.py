"""The directive ``{rules-of-debug-layers}``: a table of the rules checked while commands are recorded and run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from directml_py.operators import SCHEMAS
from directml_py.testing.known_rules import every_rule

if TYPE_CHECKING:
    from sphinx.application import Sphinx

COLUMNS = ("Rule", "Text", "Severity")


def rows() -> list[tuple[str, str, str]]:
    """Identifier, text and severity of each rule of the debug layers."""
    return [(rule.id, rule.text, rule.severity.value) for rule in every_rule() if rule.debug]


def address(rule: str) -> str:
    """The link to a rule from a sibling folder: on its operator's page, or on the page of all rules."""
    operator = rule.split("-")[1]
    page = f"operators/{operator}" if operator in SCHEMAS else "reference/rules"
    return f"../{page}.html#{nodes.make_id(rule)}"


class DebugRulesDirective(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        group = nodes.tgroup(cols=len(COLUMNS))
        group += [nodes.colspec(colwidth=width) for width in (30, 60, 10)]
        group += nodes.thead("", self._row([nodes.Text(name) for name in COLUMNS]))
        body = nodes.tbody()
        for rule, text, severity in rows():
            link = nodes.reference("", "", nodes.literal(rule, rule), refuri=address(rule))
            body += self._row([link, nodes.Text(text), nodes.Text(severity)])
        group += body
        return [nodes.table("", group)]

    def _row(self, cells: list[nodes.Node]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rules-of-debug-layers", DebugRulesDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
