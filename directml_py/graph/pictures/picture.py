"""Whole pictures: as SVG, of legend, graph and the temporary memory below, and in Graphviz's DOT language."""

from __future__ import annotations

from textwrap import wrap

from ...text.html import ILLEGAL
from ..nodes import GraphContent
from . import svg
from .drawing import draw_graph
from .memory_picture import draw_memory
from .sketch import Fate, Figure, Sketch, sketch, tensor_lines

MARGIN = 20.0
# The characters of the heading's lines, of graphs that are narrower.
LEAST_LENGTH = 60
ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0 1L8 4L0 7z" fill="#444444"/></marker></defs>'
)


def to_svg(graph: GraphContent) -> str:
    """A picture of the graph and its plan, for which it is compiled; if that fails, the picture gives the reason."""
    drawn = sketch(graph)
    width, height, parts = draw_graph(drawn)
    heading, heading_width = _heading(drawn, width)
    top = 40.0 + 13.0 * (len(heading) - 1)
    contents = [ARROW, *heading, svg.group(parts, transform=_move(0, top))]
    bottom = top + height
    if drawn.plan is not None and drawn.plan.blocks:
        memory_width, memory_height, memory = draw_memory(drawn.plan)
        contents.append(svg.group(memory, transform=_move(0, bottom + 40)))
        width, bottom = max(width, memory_width), bottom + 40 + memory_height
    width = max(width, heading_width)
    body = svg.group(contents, transform=_move(MARGIN, MARGIN))
    return svg.document(width + 2 * MARGIN, bottom + 2 * MARGIN, [body])


def _move(x: float, y: float) -> str:
    return f"translate({svg.number(x)} {svg.number(y)})"


def _heading(drawn: Sketch, width: float) -> tuple[list[str], float]:
    """Lines as long as the graph is wide, since pages shrink wide pictures until nobody can read them."""
    operators = [figure for figure in drawn.figures if figure.kind == "operator"]
    counts = {fate: sum(figure.fate is fate for figure in operators) for fate in Fate}
    line = f"{len(operators)} operators"
    if drawn.plan is not None:
        said = {
            Fate.EXECUTED: "run (solid)",
            Fate.FUSED: "run together (steps with the same number)",
            Fate.FOLDED: "folded away by the compiler (dashed)",
            Fate.DEAD: "needed by no output (dotted)",
        }
        line += ": " + ", ".join(f"{counts[fate]} {words}" for fate, words in said.items() if counts[fate])
        used = drawn.plan.temporary_size
        line += f"; {used:,} bytes of temporary memory" if used else "; no temporary memory"
    lines = wrap(line, max(LEAST_LENGTH, int(width / svg.text_width(" ", 12))))
    bold = len(lines)
    if drawn.problem:
        lines += ["not compiled:", *drawn.problem.splitlines()]
    parts = [
        svg.text(
            0,
            12 + 13 * number,
            text,
            12 if number < bold else 10,
            font_weight="bold" if number < bold else None,
        )
        for number, text in enumerate(lines)
    ]
    return parts, max(svg.text_width(text, 12) for text in lines)


SHAPES = {"input": "ellipse", "output": "ellipse", "constant": "note", "operator": "box"}
STYLES = {Fate.EXECUTED: "solid", Fate.FUSED: "bold", Fate.FOLDED: "dashed", Fate.DEAD: "dotted"}


def to_dot(graph: GraphContent) -> str:
    """Nodes labelled with operators, edges with tensors; fused nodes are bold, folded ones dashed, dead ones dotted."""
    drawn = sketch(graph)
    lines = ["digraph {", '  node [fontname="monospace"];', '  edge [fontname="monospace", fontsize=10];']
    lines += [f"  {figure.id} [{_attributes(figure)}];" for figure in drawn.figures]
    for arrow in drawn.arrows:
        source, target = drawn.figures[arrow.source], drawn.figures[arrow.target]
        written = source.outputs[arrow.output]
        label = [] if written is None else tensor_lines(written)
        tensor = drawn.reinterpreted(arrow)
        if tensor is not None:
            label += ["as " + line for line in tensor_lines(tensor)]
        style = f", style={STYLES[target.fate]}" if target.fate in (Fate.FOLDED, Fate.DEAD) else ""
        lines.append(f"  {source.id} -> {target.id} [label={quoted(label)}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _attributes(figure: Figure) -> str:
    label = quoted([figure.name, *figure.lines])
    return f"label={label}, shape={SHAPES[figure.kind]}, style={STYLES[figure.fate]}"


def quoted(lines: list[str]) -> str:
    """Lines as one DOT string."""
    parts = [
        line.translate(ILLEGAL).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines
    ]
    return '"' + "\\n".join(parts) + '"'
