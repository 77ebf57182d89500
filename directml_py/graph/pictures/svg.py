"""Parts of SVG pictures, and whole ones that follow the reader's preference for light or dark pages."""

from __future__ import annotations

from collections.abc import Sequence

from ...text.html import HTML, element, number

__all__ = ["clipped", "document", "element", "group", "number", "text", "text_width", "title"]

FONT = "DejaVu Sans Mono, Menlo, Consolas, monospace"
# The class of whole pictures.
CLASS = "directml-picture"
# The advance of a monospaced character, in units of the font size.
ADVANCE = 0.605
# The dark counterpart of each colour, for readers who prefer dark pages; other colours stay. Viewers that ignore style
# sheets show the light ones. BLACK is the colour of text that names none.
BLACK = "black"
DARK = {
    "white": "#131416",
    BLACK: "#e3e4e6",
    # Ink and lines.
    "#222222": "#e3e4e6",
    "#444444": "#b4b6ba",
    "#555555": "#9a9ca0",
    "#666666": "#a4a6aa",
    "#999999": "#8a8c90",
    "#aaaaaa": "#77797d",
    "#dddddd": "#3c3e42",
    "#eeeeee": "#2a2c30",
    "#1a4f7a": "#8cc4f0",
    "#9a3412": "#f5a784",
    "#9ec5e6": "#3c698f",
    "#c02020": "#f58a8a",
    # Nodes of graphs.
    "#e3f1fb": "#17344a",
    "#e4f5e1": "#1d3d22",
    "#f3ecdf": "#3f3520",
    "#fdfdfd": "#1d1f22",
    # Tensors in memory.
    "#cfe3f3": "#24425a",
    "#f6dcc4": "#5c3d22",
    "#d5ecd0": "#28482c",
    "#eed3e4": "#54304a",
    "#f5edbc": "#4d4517",
    "#d9d6f0": "#3a3566",
    "#cdebe8": "#1c4a46",
    "#ead9cc": "#4c3d31",
}


def text_width(text: str, size: float) -> float:
    return len(text) * ADVANCE * size


def clipped(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def text(x: float, y: float, content: str, size: float = 11, **attributes: object) -> str:
    return element("text", content, x=x, y=y, font_size=size, **attributes)


def title(content: str) -> str:
    """A tooltip for the enclosing element."""
    return element("title", content)


def group(parts: Sequence[str], **attributes: object) -> str:
    return element("g", HTML("\n".join(parts)), **attributes)


def document(width: float, height: float, parts: Sequence[str]) -> str:
    """A file's text. It follows the reader's preference for light or dark pages."""
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" '
        f'viewBox="0 0 {number(width)} {number(height)}" font-family="{FONT}" class="{CLASS}" '
        'xml:space="preserve">\n'
    )
    background = element("rect", width="100%", height="100%", fill="white")
    body = "\n".join([background, *parts])
    return f"{head}{_dark_style(body)}\n{body}\n</svg>\n"


def _dark_style(body: str) -> str:
    """A style sheet replaces attributes. The class keeps it from other pictures of a page that contains this one."""
    rules = [f".{CLASS} text:not([fill]){{fill:{DARK[BLACK]}}}"]
    rules += [
        f'.{CLASS} [{attribute}="{light}"]{{{attribute}:{dark}}}'
        for light, dark in DARK.items()
        for attribute in ("fill", "stroke")
        if f' {attribute}="{light}"' in body
    ]
    return element("style", HTML("\n".join(["@media (prefers-color-scheme: dark) {", *rules, "}"])))
