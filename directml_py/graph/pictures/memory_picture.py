"""Draws the temporary resource over time: steps across, offsets up, a rectangle per tensor."""

from __future__ import annotations

import re

from ...dml.compiler.memory_planner import TemporaryBlock
from ...dml.compiler.plan import Plan
from . import svg

STEP_WIDTH = 34.0
LEFT = 76.0
SIZE = 9.0
LEAST_HEIGHT = 15.0
HEIGHT = 320.0
COLOURS = ("#cfe3f3", "#f6dcc4", "#d5ecd0", "#eed3e4", "#f5edbc", "#d9d6f0", "#cdebe8", "#ead9cc")


def scale(plan: Plan) -> dict[int, float]:
    """The height of each offset at which a block begins or ends: proportional, but with strips high enough for a
    number."""
    edges = sorted(
        {0, plan.temporary_size} | {one.offset for one in plan.blocks} | {one.end for one in plan.blocks}
    )
    heights, y = {}, 0.0
    # Alignment gaps between blocks may be thin.
    starts = {block.offset for block in plan.blocks}
    for low, high in zip([0, *edges], edges):
        share = (high - low) / max(1, plan.temporary_size) * HEIGHT
        y += max(share, LEAST_HEIGHT if low in starts else 3.0) if high > low else 0.0
        heights[high] = y
    return heights


def draw_memory(plan: Plan) -> tuple[float, float, list[str]]:
    """The width and the height of the picture, and its parts."""
    heights = scale(plan)
    top, right = 24.0, LEFT + STEP_WIDTH * len(plan.steps)
    bottom = top + heights[max(heights)]
    counts = f"blocks: {len(plan.blocks)}, steps: {len(plan.steps)}"
    heading = f"Temporary resource: {plan.temporary_size:,} bytes ({counts})"
    parts = [svg.text(0, 12, heading, 12, font_weight="bold")]
    parts += _grid(plan, heights, top, bottom, right)
    parts += [_block(block, number, heights, bottom) for number, block in enumerate(plan.blocks)]
    names, depth = _step_labels(plan, bottom)
    parts += names
    table, table_width, table_height = _table(plan, bottom + depth + 18)
    return (
        max(right, table_width, svg.text_width(heading, 12)),
        bottom + depth + 18 + table_height,
        parts + table,
    )


def _grid(plan: Plan, heights: dict[int, float], top: float, bottom: float, right: float) -> list[str]:
    parts: list[str] = []
    last = None
    for offset, height in heights.items():
        y = bottom - height
        parts.append(svg.element("line", x1=LEFT, y1=y, x2=right, y2=y, stroke="#dddddd", stroke_width=0.7))
        if last is None or last - y >= SIZE or offset == plan.temporary_size:
            parts.append(svg.text(LEFT - 6, y + 3, f"{offset:,}", SIZE, text_anchor="end"))
            last = y
    for index in range(len(plan.steps) + 1):
        x = LEFT + index * STEP_WIDTH
        parts.append(svg.element("line", x1=x, y1=top, x2=x, y2=bottom, stroke="#eeeeee", stroke_width=0.7))
    return parts


def _block(block: TemporaryBlock, number: int, heights: dict[int, float], bottom: float) -> str:
    x = LEFT + block.first_step * STEP_WIDTH
    width = (block.last_step - block.first_step + 1) * STEP_WIDTH
    low, high = heights[block.offset], heights[block.end]
    y, height = bottom - high, high - low
    rectangle = svg.element(
        "rect", x=x, y=y, width=width, height=height, fill=COLOURS[number % len(COLOURS)], stroke="#555555"
    )
    room = int((width - 6) / (SIZE * svg.ADVANCE))
    name = f"{number}: {short_name(block.name)}"
    label = name if len(name) <= room else str(number)
    across, up = x + width / 2, y + height / 2
    # Moving the baseline down by a third of the size centres text vertically.
    shown = svg.text(across, up + SIZE / 3, label, SIZE, text_anchor="middle")
    if label != name and svg.text_width(name, SIZE) + 6 <= height:
        rotation = f"rotate(-90 {svg.number(across)} {svg.number(up)})"
        shown = svg.text(across, up + SIZE / 3, name, SIZE, text_anchor="middle", transform=rotation)
    where = f"offset {block.offset}, {block.size} bytes, steps {block.first_step} to {block.last_step}"
    return svg.group([svg.title(f"{block.name}\n{where}"), rectangle, shown], class_="block")


def short_name(name: str) -> str:
    """A block's name without the operator's type: ``join0.OutputTensor`` for DML_OPERATOR_JOIN 'join0'.OutputTensor."""
    head, quote, rest = name.partition("'")
    scratch = "scratch of " if head.startswith("scratch of ") else ""
    node, _, field = rest.rpartition("'")
    return scratch + node + re.sub(r"^\.OutputTensors?", "", field) if quote else name


def _step_labels(plan: Plan, bottom: float) -> tuple[list[str], float]:
    """Slanted labels with each step's number and node name, and their total depth."""
    parts, depth = [], 0.0
    for index, step in enumerate(plan.steps):
        x = LEFT + (index + 0.5) * STEP_WIDTH
        name = svg.clipped(step.name or step.operator, 32)
        ink = "#999999" if step.folded else "#222222"
        parts.append(svg.text(x, bottom + 12, str(index), SIZE, text_anchor="middle", fill=ink))
        rotation = f"rotate(-55 {svg.number(x + 4)} {svg.number(bottom + 24)})"
        parts.append(
            svg.text(x + 4, bottom + 24, name, SIZE, text_anchor="end", fill=ink, transform=rotation)
        )
        depth = max(depth, 0.82 * svg.text_width(name, SIZE) + 28)
    return parts, depth


def _table(plan: Plan, top: float) -> tuple[list[str], float, float]:
    """A table of all blocks, and its width and height."""
    rows = [["", "tensor", "offset", "bytes", "steps"]]
    for number, block in enumerate(plan.blocks):
        steps = f"{block.first_step} to {block.last_step}"
        rows.append([str(number), short_name(block.name), f"{block.offset:,}", f"{block.size:,}", steps])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    left = (True, True, False, False, True)[: len(widths)]
    parts = []
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(row, widths, left)
        ]
        line = "  ".join(cells).rstrip()
        weight = "bold" if number == 0 else None
        parts.append(svg.text(0, top + 13 * (number + 1), line, SIZE, font_weight=weight))
    return parts, svg.text_width("  ".join("x" * width for width in widths), SIZE), 13.0 * (len(rows) + 1)
