"""The directives ``{timeline}`` and ``{house}``, which draw the diagram that their text describes."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from . import house, lane_diagram

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class PictureDirective(SphinxDirective):
    """Base class; text that cannot be drawn is an error of the page."""

    has_content = True

    @abstractmethod
    def draw(self, text: str) -> str:
        """An SVG element. Raises ``ValueError`` for text that cannot be drawn."""

    def run(self) -> list[nodes.Node]:
        try:
            picture = self.draw("\n".join(self.content))
        except ValueError as error:
            raise self.error(str(error)) from None
        return [nodes.raw("", f'<div class="picture">{picture}</div>', format="html")]


class TimelineDirective(PictureDirective):
    def draw(self, text: str) -> str:
        return lane_diagram.draw(lane_diagram.parse(text))


class HouseDirective(PictureDirective):
    def draw(self, text: str) -> str:
        return house.draw(house.parse(text))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("timeline", TimelineDirective)
    app.add_directive("house", HouseDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
