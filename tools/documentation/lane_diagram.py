"""Swimlane diagram: lanes of bars, and arrows for what must order two of them, from text to SVG.

    CPU   | records both | Execute |                 |
    queue |              |         | first: writes b | ! second: reads b
    missing first -> second: UAV barrier

A lane is a name and its cells, one per column; ``=`` extends the previous bar, ``!`` marks an error. An arrow refers to
its bars by prefixes of their texts.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from directml_py.graph.pictures import svg
from directml_py.text.html import HTML

SIZE = 12.0
LINE = 15.0
# The width of a column; fewer where no bar needs as many.
LETTERS = 17
FEWEST_LETTERS = 9
PADDING = 8.0
GAP = 14.0
LANE_GAP = 34.0
ARROW = re.compile(r"^(missing )?(.+?) -> (.+?): (.+)$")


class TimelineBar(NamedTuple):
    """``last`` is the last column it spans; ``is_wrong`` marks work that is erroneous or premature."""

    lane: int
    first: int
    last: int
    text: str
    is_wrong: bool

    @property
    def lines(self) -> list[str]:
        return textwrap.wrap(self.text, (LETTERS + 2) * (self.last - self.first + 1) - 2)


class TimelineArrow(NamedTuple):
    source: TimelineBar
    target: TimelineBar
    text: str
    is_missing: bool


class LaneDiagram(NamedTuple):
    lanes: list[str]
    bars: list[TimelineBar]
    arrows: list[TimelineArrow]


def parse(text: str) -> LaneDiagram:
    """Parse a diagram. Raises ``ValueError`` for a line that is neither lane nor arrow, and for an arrow between
    nonexistent bars."""
    lanes: list[str] = []
    bars: list[TimelineBar] = []
    arrows: list[TimelineArrow] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, *cells = (part.strip() for part in line.split("|"))
        if cells:
            bars += _bars(len(lanes), cells)
            lanes.append(name)
            continue
        arrow = ARROW.match(line)
        if arrow is None:
            raise ValueError(f"{line!r} is neither 'lane | cell | ...' nor 'bar -> bar: text'")
        missing, source, target, label = arrow.groups()
        arrows.append(TimelineArrow(_find(bars, source), _find(bars, target), label, missing is not None))
    return LaneDiagram(lanes, bars, arrows)


def _bars(lane: int, cells: list[str]) -> Iterator[TimelineBar]:
    first = 0
    while first < len(cells):
        last = first
        while last + 1 < len(cells) and cells[last + 1] == "=":
            last += 1
        if cells[first]:
            text = cells[first].removeprefix("!").strip()
            yield TimelineBar(lane, first, last, text, cells[first].startswith("!"))
        first = last + 1


def _find(bars: list[TimelineBar], start: str) -> TimelineBar:
    matches = [bar for bar in bars if bar.text.startswith(start)]
    if len(matches) != 1:
        raise ValueError(f"{len(matches)} bars begin with {start!r}; there must be one")
    return matches[0]


class _Box(NamedTuple):
    """The position of a bar in the picture."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


class _DrawnLanes(NamedTuple):
    """SVG elements of a picture, and their extents to the right and down."""

    parts: list[str]
    right: float
    bottom: float


def draw(timeline: LaneDiagram) -> str:
    """An SVG element, styled by the style sheet's classes ``bar``, ``wrong``, ``arrow``, ``missing``."""
    left = max(svg.text_width(name, SIZE) for name in timeline.lanes) + 2 * PADDING
    lines = [line for bar in timeline.bars if bar.first == bar.last for line in bar.lines]
    letters = max(FEWEST_LETTERS, *map(len, lines), 0)
    column_width = svg.text_width("x" * letters, SIZE) + 2 * PADDING + GAP
    right = left + (max(bar.last for bar in timeline.bars) + 1) * column_width
    parts, tops, bottom = [], [], PADDING
    for lane, name in enumerate(timeline.lanes):
        tops.append(bottom)
        height = _lane_height(timeline, lane)
        middle = bottom + height / 2
        parts.append(svg.text(PADDING, middle + SIZE / 3, name, SIZE, class_="lane"))
        parts.append(svg.element("line", x1=left, y1=middle, x2=right, y2=middle, class_="rail"))
        bottom += height + LANE_GAP
    bottom -= LANE_GAP
    boxes = {
        bar: _Box(
            left + bar.first * column_width,
            tops[bar.lane],
            (bar.last - bar.first + 1) * column_width - GAP,
            _lane_height(timeline, bar.lane),
        )
        for bar in timeline.bars
    }
    parts += [_bar(bar, box) for bar, box in boxes.items()]
    for arrow in timeline.arrows:
        drawn = _arrow(arrow, boxes[arrow.source], boxes[arrow.target])
        parts += drawn.parts
        right, bottom = max(right, drawn.right), max(bottom, drawn.bottom)
    width, height = right + PADDING, bottom + PADDING
    return svg.element(
        "svg",
        HTML("\n".join([svg.title("; ".join(bar.text for bar in timeline.bars)), *parts])),
        xmlns="http://www.w3.org/2000/svg",
        class_="timeline",
        role="img",
        width=width,
        height=height,
        viewBox=f"0 0 {svg.number(width)} {svg.number(height)}",
        font_family=svg.FONT,
    )


def _lane_height(timeline: LaneDiagram, lane: int) -> float:
    lines = [len(bar.lines) for bar in timeline.bars if bar.lane == lane]
    return max(lines, default=1) * LINE + 2 * PADDING


def _bar(bar: TimelineBar, box: _Box) -> str:
    # The colour is translucent, so an opaque rectangle in the page's colour is drawn under it.
    kinds = ("ground", "bar wrong" if bar.is_wrong else "bar")
    first = box.y + box.height / 2 - (len(bar.lines) - 1) * LINE / 2 + SIZE / 3
    return svg.group(
        [
            *(svg.element("rect", **box._asdict(), rx=4, class_=kind) for kind in kinds),
            *(
                svg.text(box.middle, first + number * LINE, line, SIZE, text_anchor="middle")
                for number, line in enumerate(bar.lines)
            ),
        ]
    )


def _arrow(arrow: TimelineArrow, source: _Box, target: _Box) -> _DrawnLanes:
    kind = "arrow missing" if arrow.is_missing else "arrow"
    length = svg.text_width(arrow.text, SIZE)
    centre = (source.middle + target.middle) / 2
    if source.y == target.y:
        # Below both bars, its text under it.
        begin, stop, bend = source.bottom, target.bottom + 2, source.bottom + LANE_GAP / 2
        x, y, anchor = centre, bend + 6 + SIZE, "middle"
    else:
        is_down = target.y > source.y
        begin, stop = (source.bottom, target.y - 2) if is_down else (source.y, target.bottom + 2)
        bend = (begin + stop) / 2
        x, y, anchor = max(source.middle, target.middle) + GAP, bend + SIZE / 3, "start"
    path = f"M{source.middle:.1f} {begin:.1f} V{bend:.1f} H{target.middle:.1f} V{stop:.1f}"
    head = f"M{target.middle:.1f} {stop:.1f} l-4 {7 if stop < bend else -7} h8 z"
    cross = f"M{centre - 6:.1f} {bend - 6:.1f} l12 12 m0 -12 l-12 12"
    parts = [
        svg.element("path", d=path, class_=kind, fill="none"),
        svg.element("path", d=head, class_=f"head {kind}"),
        svg.text(x, y, arrow.text, SIZE, text_anchor=anchor, class_=f"label {kind}"),
        *([svg.element("path", d=cross, class_="cross")] if arrow.is_missing else []),
    ]
    return _DrawnLanes(parts, x + (length / 2 if anchor == "middle" else length), y + 4)
