"""Directive ``{index-names} HEADING``: each line is a name in the index, which leads to the section of that heading.

Searches rank the names of the index first. Sphinx's own directive ``index`` leads to an empty element, of which its
search can show no text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class IndexNames(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        section = nodes.make_id(self.arguments[0])
        entries = [("single", name, section, "main", None) for name in self.content if name]
        return [addnodes.index(entries=entries)]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("index-names", IndexNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
