"""Where long names may break: after an underscore, in the navigation and on pages.

``<wbr>`` is in no text that a reader copies, unlike a space of no width.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# The whole text of an element: an identifier with two underscores or more.
NAME = re.compile(r">(\w+(?:_\w+){2,})(?=<)")
PARTS = ("body", "furo_navigation_tree")
# The theme writes its navigation at the same event.
LATE = 900


def breakable(html: str) -> str:
    return NAME.sub(lambda name: ">" + name[1].replace("_", "_<wbr>"), html)


def mark(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    for part in PARTS:
        if part in context:
            context[part] = breakable(context[part])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", mark, priority=LATE)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
