"""HTML fragments. Text that is not ``HTML`` is always escaped."""

from __future__ import annotations

from collections.abc import Iterable

# As ``html.escape`` writes them; importing ``html`` takes longer than most modules here.
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def escape(content: str) -> str:
    return content.translate(_ESCAPES)


class HTML(str):
    """Text that is already markup."""

    __slots__ = ()


def text(content: str) -> HTML:
    return content if isinstance(content, HTML) else HTML(escape(content))


def join(parts: Iterable[str]) -> HTML:
    return HTML("".join(text(part) for part in parts))


def element(tag: str, content: str = "", **attributes: str | None) -> HTML:
    """An HTML element. ``class_`` is the attribute class; other underscores become hyphens. Attributes that are None
    are omitted."""
    attribute_text = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return HTML(f"<{tag}{attribute_text}>{text(content)}</{tag}>")


LEFT = "text-align: left; vertical-align: top"


def table(caption: str, rows: Iterable[tuple[str, ...]], header: Iterable[str] = ()) -> HTML:
    """A table of text, left-aligned, as notebooks align cells to the right for numbers."""
    head = join(element("th", name, style=LEFT) for name in header)
    lines = [element("tr", head)] if head else []
    lines += [element("tr", join(element("td", cell, style=LEFT) for cell in row)) for row in rows]
    title = element("caption", caption, style="text-align: left; font-weight: bold") if caption else ""
    return element("table", join([title, *lines]))
