"""Layer diagram in the form of a house: floors from the top down, each a row of rooms, from text to SVG.

front ends: samples, command line | com: vtables in C
dml: devices, operators
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from directml_py.graph.pictures import svg
from directml_py.text.html import HTML

WIDTH = 720.0
SIZE = 12.0
LINE = 15.0
PADDING = 9.0
ROOF = 46.0


class Room(NamedTuple):
    name: str
    text: str

    def lines(self, width: float) -> list[str]:
        return textwrap.wrap(self.text, max(8, int((width - 2 * PADDING) / svg.text_width("x", SIZE))))


def parse(text: str) -> list[list[Room]]:
    """Parse floors from the top. Raises ``ValueError`` for a room without a name or a text."""
    floors = []
    for line in filter(None, map(str.strip, text.splitlines())):
        rooms = []
        for cell in line.split("|"):
            name, colon, rest = cell.partition(":")
            if not (name.strip() and colon and rest.strip()):
                raise ValueError(f"{cell.strip()!r} is not of the form 'name: contents'")
            rooms.append(Room(name.strip(), rest.strip()))
        floors.append(rooms)
    return floors


def draw(floors: list[list[Room]]) -> str:
    """An SVG element, styled by the style sheet's classes ``roof`` and ``bar``."""
    parts: list[str] = [
        svg.element("path", d=f"M0 {ROOF} L{WIDTH / 2} 4 L{WIDTH} {ROOF} z", class_="roof"),
    ]
    y = ROOF
    for rooms in floors:
        width = WIDTH / len(rooms)
        height = max(len(room.lines(width)) for room in rooms) * LINE + LINE + 2 * PADDING
        for number, room in enumerate(rooms):
            parts.append(_room(room, number * width, y, width, height))
        y += height
    return svg.element(
        "svg",
        HTML("\n".join([svg.title("; ".join(room.name for rooms in floors for room in rooms)), *parts])),
        xmlns="http://www.w3.org/2000/svg",
        class_="timeline house",
        role="img",
        width=WIDTH + 2,
        height=y + 2,
        viewBox=f"-1 -1 {svg.number(WIDTH + 2)} {svg.number(y + 2)}",
        font_family=svg.FONT,
    )


def _room(room: Room, x: float, y: float, width: float, height: float) -> str:
    middle = x + width / 2
    first = y + PADDING + SIZE
    return svg.group(
        [
            svg.element("rect", x=x, y=y, width=width, height=height, class_="bar"),
            svg.text(middle, first, room.name, SIZE, text_anchor="middle", font_weight="bold"),
            *(
                svg.text(middle, first + (number + 1) * LINE, line, SIZE, text_anchor="middle")
                for number, line in enumerate(room.lines(width))
            ),
        ]
    )
