"""Dead links fail the build: every link of the built pages to a page, a file or a place within a page is followed."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class Links(HTMLParser):
    """The identifiers of a page, and where it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.identifiers: set[str] = set()
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.identifiers.add(str(given["id"]))
        if tag == "a" and given.get("name"):
            self.identifiers.add(str(given["name"]))
        for name in ("href", "src"):
            if given.get(name):
                self.targets.append(str(given[name]))


def dead_links(site: Path) -> Iterator[tuple[str, str]]:
    """Page and target of each link within the site that leads nowhere."""
    site = site.resolve()
    read = {path: Links(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for page, links in read.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if path.is_dir():
                path /= "index.html"
            # What the filter of the feature levels reads from the fragment is no place of the page.
            place = "" if "=" in parts.fragment else unquote(parts.fragment)
            if not path.is_file() or (place and path in read and place not in read[path].identifiers):
                yield page.relative_to(site).as_posix(), target


def check(app: Sphinx, exception: Exception | None) -> None:
    """Warns of each: an error, as the documentation is built."""
    from sphinx.util import logging

    if exception is None and app.builder.format == "html":
        for page, target in dead_links(Path(app.outdir)):
            logging.getLogger(__name__).warning("%s: the link to %s leads nowhere", page, target)


def setup(app: Sphinx) -> dict[str, Any]:
    # Behind what others write when the build is finished.
    app.connect("build-finished", check, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
