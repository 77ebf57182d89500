"""Graphs in Graphviz's DOT language."""

from __future__ import annotations

from ...text.html import ILLEGAL
from ..nodes import GraphContent
from .sketch import Fate, Figure, sketch, tensor_lines

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
