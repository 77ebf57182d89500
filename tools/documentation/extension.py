"""The Sphinx extension that writes the generated pages before Sphinx reads its sources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .site import pages, write

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def write_pages(app: Sphinx) -> None:
    write(Path(app.srcdir), pages())


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
