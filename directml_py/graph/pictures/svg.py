"""A minimal SVG writer: elements, escaped text, and text widths."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

FONT = "DejaVu Sans Mono, Menlo, Consolas, monospace"
# The advance of a monospaced character, in units of the font size.
ADVANCE = 0.605
# Characters that XML cannot represent, even escaped.
ILLEGAL = dict.fromkeys(
    [*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "\N{REPLACEMENT CHARACTER}"
)


def text_width(text: str, size: float) -> float:
    return len(text) * ADVANCE * size


def clipped(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def element(tag: str, content: str | None = None, **attributes: object) -> str:
    """``font_size=9`` becomes ``font-size="9"``; None attributes are left out."""
    parts = [tag]
    for name, value in attributes.items():
        if value is not None:
            shown = number(value) if isinstance(value, float) else str(value)
            parts.append(f"{name.rstrip('_').replace('_', '-')}={quoteattr(shown.translate(ILLEGAL))}")
    return f"<{' '.join(parts)}/>" if content is None else f"<{' '.join(parts)}>{content}</{tag}>"


def text(x: float, y: float, content: str, size: float = 11, **attributes: object) -> str:
    return element("text", escape(content.translate(ILLEGAL)), x=x, y=y, font_size=size, **attributes)


def title(content: str) -> str:
    """A tooltip for the enclosing element."""
    return element("title", escape(content.translate(ILLEGAL)))


def group(parts: Sequence[str], **attributes: object) -> str:
    return element("g", "\n".join(parts), **attributes)


def document(width: float, height: float, parts: Sequence[str]) -> str:
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" '
        f'viewBox="0 0 {number(width)} {number(height)}" font-family="{FONT}" xml:space="preserve">\n'
    )
    background = element("rect", width="100%", height="100%", fill="white")
    return head + "\n".join([background, *parts]) + "\n</svg>\n"
