"""Tensors as grids of numbers: the last two dimensions form matrices, the two before arrange them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from directml_py.descs.format import braces
from directml_py.graph.pictures.svg import element, group, number, text, text_width
from directml_py.text.html import HTML

CELL, GAP, LABEL, ARROW, SIZE = 26.0, 14.0, 20.0, 64.0, 12.0
# Tensors with a greater total height are stacked in several columns.
TALL = 330.0


class Panel(NamedTuple):
    """A tensor to draw; ``styles`` has the class or fill of individual elements by position."""

    title: str
    sizes: tuple[int, ...]
    values: Any
    styles: Mapping[int, str]


class GridBox(NamedTuple):
    width: float
    height: float
    parts: list[str]


def trimmed(sizes: Sequence[int]) -> tuple[int, ...]:
    """``sizes`` without leading ones, with at least two dimensions."""
    kept = list(sizes)
    while len(kept) > 2 and kept[0] == 1:
        kept.pop(0)
    return tuple([1] * (2 - len(kept)) + kept)


def fits(sizes: Sequence[int]) -> bool:
    """Whether a tensor is small enough to be drawn with all its numbers."""
    shape = trimmed(sizes)
    if len(shape) > 4 or prod(shape) > 120:
        return False
    *leading, rows, columns = shape
    across = columns * (leading[-1] if leading else 1)
    down = rows * (leading[0] if len(leading) > 1 else 1)
    return across <= 20 and down <= 20


def shown(value: Any) -> str:
    """A number, abbreviated."""
    if np.asarray(value).dtype.kind != "f":
        return str(int(value))
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "∞" if value > 0 else "-∞"
    return f"{float(value):.3g}".replace("e+0", "e").replace("e-0", "e-")


def draw(panel: Panel) -> GridBox:
    """The drawing of one tensor with its title."""
    shape = trimmed(panel.sizes)
    *leading, rows, columns = shape
    across = leading[-1] if leading else 1
    down = leading[0] if len(leading) > 1 else 1
    texts = [shown(one) for one in np.asarray(panel.values).flat]
    cell = max([CELL, *(text_width(one, SIZE) + 8 for one in texts)])
    parts = [text(0, 12.0, panel.title, SIZE, class_="label")]
    for position, content in enumerate(texts):
        rest, column = divmod(position, columns)
        rest, row = divmod(rest, rows)
        outer, inner = divmod(rest, across)
        x = inner * (columns * cell + GAP) + column * cell
        y = LABEL + outer * (rows * CELL + GAP) + row * CELL
        parts.append(_cell(x, y, cell, content, panel.styles.get(position, "")))
    width = across * columns * cell + (across - 1) * GAP
    height = LABEL + down * rows * CELL + (down - 1) * GAP
    return GridBox(max(width, text_width(panel.title, SIZE)), height, parts)


def _cell(x: float, y: float, width: float, content: str, style: str) -> str:
    fill = style if style.startswith("hsl") else None
    kind = "cell" if not style or fill else f"cell {style}"
    return group(
        [
            element("rect", x=x, y=y, width=width, height=CELL, class_=kind, style=fill and f"fill: {fill}"),
            text(x + width / 2, y + CELL / 2 + 4, content, SIZE, text_anchor="middle"),
        ]
    )


def figure(inputs: Sequence[Panel], outputs: Sequence[Panel], label: str, caption: str) -> str:
    """Inputs, an arrow, outputs, and a caption, as HTML."""
    left, right = stacked([draw(one) for one in inputs]), stacked([draw(one) for one in outputs])
    arrow = ARROW if inputs else 0.0
    height = max(left.height, right.height)
    parts = _moved(left, 0.0, (height - left.height) / 2)
    if inputs:
        middle = height / 2 + LABEL / 2
        start, end = left.width + 12, left.width + ARROW - 12
        points = f"M{number(start)} {number(middle)}H{number(end)}m-7 -5l7 5l-7 5"
        parts.append(element("path", d=points, class_="arrow"))
    parts += _moved(right, left.width + arrow, (height - right.height) / 2)
    return framed(left.width + arrow + right.width, height, parts, label, caption)


def stacked(boxes: Sequence[GridBox]) -> GridBox:
    """Boxes stacked vertically, in enough columns to limit the height."""
    columns: list[list[GridBox]] = []
    height = 0.0
    for box in boxes:
        if not columns or height + GAP + box.height > TALL:
            columns.append([])
            height = -GAP
        columns[-1].append(box)
        height += GAP + box.height
    parts: list[str] = []
    x = tallest = 0.0
    for column in columns:
        y = 0.0
        for box in column:
            parts += _moved(box, x, y)
            y += box.height + GAP
        tallest = max(tallest, y - GAP)
        x += max(box.width for box in column) + 2 * GAP
    return GridBox(max(0.0, x - 2 * GAP), tallest, parts)


def _moved(box: GridBox, x: float, y: float) -> list[str]:
    return [group(box.parts, transform=f"translate({number(x)} {number(y)})")]


def framed(width: float, height: float, parts: Sequence[str], label: str, caption: str) -> str:
    """An SVG in a figure that scrolls horizontally on narrow screens."""
    picture = element(
        "svg",
        HTML("\n".join(parts)),
        viewBox=f"-1 -1 {number(width + 2)} {number(height + 2)}",
        width=number(width + 2),
        height=number(height + 2),
        role="img",
        aria_label=label,
    )
    return f'<figure class="operator-picture">\n<div>{picture}</div>\n<figcaption>{caption}</figcaption>\n</figure>'


def title_of(path: str, sizes: Sequence[int]) -> str:
    return f"{path} {braces(sizes)}"
