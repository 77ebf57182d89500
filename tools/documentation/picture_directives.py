"""The directive ``{timeline}``, which draws the diagram that its text describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from . import lane_diagram

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class TimelineDirective(SphinxDirective):
    """Text that cannot be drawn is an error of the page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            picture = lane_diagram.draw(lane_diagram.parse("\n".join(self.content)))
        except ValueError as error:
            raise self.error(str(error)) from None
        return [nodes.raw("", f'<div class="picture">{picture}</div>', format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("timeline", TimelineDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
