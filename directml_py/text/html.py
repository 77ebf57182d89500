"""Small pieces of HTML. Text that is no ``HTML`` is escaped, always."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


class HTML(str):
    """Text that is markup already."""

    __slots__ = ()


def text(content: str) -> HTML:
    return content if isinstance(content, HTML) else HTML(escape(content))


def join(parts: Iterable[str]) -> HTML:
    return HTML("".join(text(part) for part in parts))


def element(tag: str, content: str = "", **attributes: str | None) -> HTML:
    """``class_`` is the attribute class; underscores are hyphens. Attributes of None are left out."""
    shown = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return HTML(f"<{tag}{shown}>{text(content)}</{tag}>")


LEFT = "text-align: left; vertical-align: top"


def table(caption: str, rows: Iterable[tuple[str, ...]], header: Iterable[str] = ()) -> HTML:
    """Rows of text, left-aligned: notebooks align numbers, which these are not."""
    head = join(element("th", name, style=LEFT) for name in header)
    lines = [element("tr", head)] if head else []
    lines += [element("tr", join(element("td", cell, style=LEFT) for cell in row)) for row in rows]
    title = element("caption", caption, style="text-align: left; font-weight: bold") if caption else ""
    return element("table", join([title, *lines]))
