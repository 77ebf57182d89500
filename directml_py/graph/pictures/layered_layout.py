"""Layered graph layout (Sugiyama): boxes in rows below their sources, edges as curves between ports.

Long edges cross the rows in between as dummy points, which are ordered and placed like boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

SWEEPS = 12
COLUMN_GAP = 26.0
POINT_GAP = 12.0
ROW_GAP = 34.0
STRAIGHT = 6.0


@dataclass
class Box:
    """A box with a size in pixels; ``lay_out`` sets ``x`` and ``y`` of its upper left corner."""

    width: float
    height: float
    row: int = 0
    x: float = 0.0
    y: float = 0.0
    is_point: bool = False

    @property
    def gap(self) -> float:
        return POINT_GAP if self.is_point else COLUMN_GAP


@dataclass
class Link:
    """An edge between two boxes, at these offsets from their left sides. ``path`` holds pairs of points that it passes
    through, each from top to bottom."""

    source: int
    target: int
    source_offset: float
    target_offset: float
    points: list[int] = field(default_factory=list)
    path: list[tuple[float, float]] = field(default_factory=list)


@dataclass
class _Hop:
    """The segment of a link between two consecutive rows."""

    above: int
    below: int
    above_offset: float
    below_offset: float
    weight: float


def lay_out(boxes: list[Box], links: Sequence[Link]) -> tuple[float, float]:
    """Position ``boxes`` and route ``links`` (sources have lower indices than targets); returns the total width and
    height. Dummy points are appended to ``boxes``."""
    if not boxes:
        return 0.0, 0.0
    _assign_rows(boxes, links)
    hops = _hops(boxes, links)
    rows: list[list[int]] = [[] for _ in range(max(box.row for box in boxes) + 1)]
    for index, box in enumerate(boxes):
        rows[box.row].append(index)
    _order(boxes, rows, hops)
    _assign_columns(boxes, rows, hops)
    height = _assign_heights(boxes, rows, hops)
    for link in links:
        _trace(boxes, link)
    return max(box.x + box.width for box in boxes), height


def _assign_rows(boxes: list[Box], links: Sequence[Link]) -> None:
    for link in sorted(links, key=lambda one: one.target):
        boxes[link.target].row = max(boxes[link.target].row, boxes[link.source].row + 1)
    fed = {link.target for link in links}
    below: dict[int, int] = {}
    for link in links:
        row = boxes[link.target].row
        below[link.source] = min(row, below.get(link.source, row))
    for index, row in below.items():
        if index not in fed:
            # A box without sources goes directly above its first target.
            boxes[index].row = row - 1


def _hops(boxes: list[Box], links: Sequence[Link]) -> list[_Hop]:
    hops = []
    for link in links:
        above, offset = link.source, link.source_offset
        for row in range(boxes[link.source].row + 1, boxes[link.target].row):
            boxes.append(Box(0.0, 0.0, row, is_point=True))
            link.points.append(len(boxes) - 1)
            weight = STRAIGHT if boxes[above].is_point else 2.0
            hops.append(_Hop(above, len(boxes) - 1, offset, 0.0, weight))
            above, offset = len(boxes) - 1, 0.0
        hops.append(
            _Hop(above, link.target, offset, link.target_offset, 2.0 if boxes[above].is_point else 1.0)
        )
    return hops


def _order(boxes: list[Box], rows: list[list[int]], hops: list[_Hop]) -> None:
    """Reduce crossings: sweep down and up, sorting each row by the neighbours of its boxes; keep the best."""
    best, fewest = [list(row) for row in rows], _crossings(rows, hops)
    above, below = _by_end(hops)
    positions = {index: position for row in rows for position, index in enumerate(row)}
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows[1:] if down else list(reversed(rows[:-1])):
            _sort(boxes, positions, row, above if down else below, down)
        count = _crossings(rows, hops)
        if count < fewest:
            best, fewest = [list(row) for row in rows], count
    for row, order in zip(rows, best):
        row[:] = order


def _by_end(hops: list[_Hop]) -> tuple[dict[int, list[_Hop]], dict[int, list[_Hop]]]:
    """The hops above each box, and those below it."""
    above: dict[int, list[_Hop]] = {}
    below: dict[int, list[_Hop]] = {}
    for hop in hops:
        above.setdefault(hop.below, []).append(hop)
        below.setdefault(hop.above, []).append(hop)
    return above, below


def _sort(
    boxes: list[Box], positions: dict[int, int], row: list[int], hops: dict[int, list[_Hop]], down: bool
) -> None:
    wishes: dict[int, float] = {}
    for index in row:
        neighbours = [
            positions[other] + offset / (boxes[other].width + 1.0)
            for hop in hops.get(index, ())
            for other, offset in [(hop.above, hop.above_offset) if down else (hop.below, hop.below_offset)]
        ]
        wishes[index] = sum(neighbours) / len(neighbours) if neighbours else positions[index]
    row.sort(key=wishes.__getitem__)
    positions.update((index, position) for position, index in enumerate(row))


def _crossings(rows: list[list[int]], hops: list[_Hop]) -> int:
    positions = {index: position for row in rows for position, index in enumerate(row)}
    by_row: dict[int, list[tuple[float, float, float, float]]] = {}
    row_of = {index: number for number, row in enumerate(rows) for index in row}
    for hop in hops:
        ends = (positions[hop.above], hop.above_offset, positions[hop.below], hop.below_offset)
        by_row.setdefault(row_of[hop.above], []).append(ends)
    return sum(inversions([line[2:] for line in sorted(lines)]) for lines in by_row.values())


def inversions(values: Sequence[Any]) -> int:
    """The count of inversions in ``values``."""
    ranks = {value: rank for rank, value in enumerate(sorted(set(values)), 1)}
    # A Fenwick tree: each entry counts the values of as many ranks as its lowest set bit.
    tree = [0] * (len(ranks) + 1)
    count = 0
    for preceding, value in enumerate(values):
        rank = node = ranks[value]
        not_above = 0
        while node:
            not_above += tree[node]
            node &= node - 1
        count += preceding - not_above
        while rank < len(tree):
            tree[rank] += 1
            rank += rank & -rank
    return count


def _assign_columns(boxes: list[Box], rows: list[list[int]], hops: list[_Hop]) -> None:
    for row in rows:
        x = 0.0
        for index in row:
            boxes[index].x = x
            x += boxes[index].width + boxes[index].gap
    above, below = _by_end(hops)
    for sweep in range(2 * SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else list(reversed(rows)):
            # The last sweeps consider both neighbouring rows, so that boxes are centred between their neighbours.
            both = sweep >= SWEEPS
            _align(boxes, row, above if down or both else {}, below if not down or both else {})
    left = min(box.x for box in boxes)
    for box in boxes:
        box.x -= left


def _align(
    boxes: list[Box], row: list[int], above: dict[int, list[_Hop]], below: dict[int, list[_Hop]]
) -> None:
    """Move the boxes of a row as close as possible to the positions where their edges are straight."""
    starts, x = [], 0.0
    for index in row:
        starts.append(x)
        x += boxes[index].width + boxes[index].gap
    blocks: list[tuple[float, float, int]] = []
    for index, start in zip(row, starts):
        total = weight = 0.0
        for hop in above.get(index, ()):
            total += hop.weight * (boxes[hop.above].x + hop.above_offset - hop.below_offset)
            weight += hop.weight
        for hop in below.get(index, ()):
            total += hop.weight * (boxes[hop.below].x + hop.below_offset - hop.above_offset)
            weight += hop.weight
        wish = total / weight if weight else boxes[index].x
        blocks.append((wish - start, weight or 0.01, 1))
        # Neighbours whose target positions cross move as one, to the mean of their targets.
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (one, one_weight, one_count), (two, two_weight, two_count) = blocks[-2:]
            both = one_weight + two_weight
            blocks[-2:] = [((one * one_weight + two * two_weight) / both, both, one_count + two_count)]
    shifts = [shift for shift, _, count in blocks for _ in range(count)]
    for index, start, shift in zip(row, starts, shifts):
        boxes[index].x = start + shift


def _assign_heights(boxes: list[Box], rows: list[list[int]], hops: list[_Hop]) -> float:
    """Set row heights, with more space below rows whose edges span a wide distance, so that curves are not flat."""
    reach = [0.0] * len(rows)
    for hop in hops:
        across = abs(boxes[hop.above].x + hop.above_offset - boxes[hop.below].x - hop.below_offset)
        reach[boxes[hop.above].row] = max(reach[boxes[hop.above].row], across)
    y = 0.0
    for number, row in enumerate(rows):
        tallest = max((boxes[index].height for index in row), default=0.0)
        for index in row:
            boxes[index].y = y
            if boxes[index].is_point:
                boxes[index].height = tallest
        y += tallest + ROW_GAP + min(60.0, reach[number] / 12)
    return y - ROW_GAP


def _trace(boxes: list[Box], link: Link) -> None:
    source, target = boxes[link.source], boxes[link.target]
    link.path.append((source.x + link.source_offset, source.y + source.height))
    for index in link.points:
        point = boxes[index]
        link.path += [(point.x, point.y), (point.x, point.y + point.height)]
    link.path.append((target.x + link.target_offset, target.y))
