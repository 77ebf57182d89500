"""HTML and SVG fragments. Text that is not ``HTML`` is always escaped."""

from __future__ import annotations

from collections.abc import Iterable

# Characters that XML cannot represent, even escaped.
ILLEGAL = dict.fromkeys(
    [*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "\N{REPLACEMENT CHARACTER}"
)
# As ``html.escape`` writes them; importing ``html`` takes longer than most modules here.
_ESCAPES = {
    **ILLEGAL,
    **str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}),
}


class HTML(str):
    """Text that is already markup."""

    __slots__ = ()


def text(content: str) -> HTML:
    return content if isinstance(content, HTML) else HTML(content.translate(_ESCAPES))


def join(parts: Iterable[str]) -> HTML:
    return HTML("".join(map(text, parts)))


def number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def element(tag: str, content: str | None = None, **attributes: object) -> HTML:
    """An element; one without content closes itself, as in SVG. ``class_`` is the attribute class; other underscores
    become hyphens. Attributes that are None are omitted; floats have at most one decimal."""
    attribute_text = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{text(number(value) if isinstance(value, float) else str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return HTML(
        f"<{tag}{attribute_text}/>" if content is None else f"<{tag}{attribute_text}>{text(content)}</{tag}>"
    )


FIELD_VALUE = ("Field", "Value")
LEFT = "text-align: left; vertical-align: top"


def table(caption: str, rows: Iterable[tuple[str, ...]], header: Iterable[str] = ()) -> HTML:
    """A table of text, left-aligned, as notebooks align cells to the right for numbers."""
    head = join(element("th", name, style=LEFT) for name in header)
    lines = [element("tr", head)] if head else []
    lines += [element("tr", join(element("td", cell, style=LEFT) for cell in row)) for row in rows]
    title = element("caption", caption, style="text-align: left; font-weight: bold") if caption else ""
    return element("table", join([title, *lines]))
