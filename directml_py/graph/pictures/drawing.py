"""Draws a graph's nodes and edges as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...descs.tensor import TensorDesc
from . import svg
from .layered_layout import Box, Link, lay_out
from .sketch import Arrow, Fate, Figure, Sketch, tensor_lines

LINE = 12.0
NAME_SIZE, TEXT_SIZE, LABEL_SIZE = 11.0, 9.5, 9.0
PADDING = 8.0
LONGEST = 34
FILLS = {"input": "#e3f1fb", "output": "#e4f5e1", "constant": "#f3ecdf", "operator": "#fdfdfd"}
DASHES = {Fate.EXECUTED: None, Fate.FUSED: None, Fate.FOLDED: "5 3", Fate.DEAD: "1 3"}
INKS = {Fate.EXECUTED: "#222222", Fate.FUSED: "#222222", Fate.FOLDED: "#666666", Fate.DEAD: "#aaaaaa"}


@dataclass
class _Shape:
    """A figure's dimensions: ports are offsets from its left side; labels are to their right, above and below."""

    figure: Figure
    lines: list[str]
    input_labels: dict[int, list[str]]
    output_labels: dict[int, list[str]]
    input_ports: dict[int, float] = field(default_factory=dict)
    output_ports: dict[int, float] = field(default_factory=dict)
    width: float = 0.0
    # Includes the labels, which may extend further right than the box.
    extent: float = 0.0

    def measure(self) -> None:
        above, self.input_ports = _ports(self.input_labels)
        below, self.output_ports = _ports(self.output_labels)
        sizes = [NAME_SIZE] + [TEXT_SIZE] * (len(self.lines) - 1)
        text = max(svg.text_width(line, size) for line, size in zip(self.lines, sizes)) + 2 * PADDING
        several = [
            used for used, ports in ((above, self.input_ports), (below, self.output_ports)) if len(ports) > 1
        ]
        self.width = max([text, *several])
        self.extent = max(
            self.width,
            _spread(self.input_ports, self.input_labels, above, self.width),
            _spread(self.output_ports, self.output_labels, below, self.width),
        )

    @property
    def above(self) -> float:
        """The height of the labels above the box."""
        return _height(self.input_labels)

    @property
    def body(self) -> float:
        return LINE * len(self.lines) + PADDING

    @property
    def height(self) -> float:
        return self.above + self.body + _height(self.output_labels)


def _height(labels: dict[int, list[str]]) -> float:
    most = max((len(lines) for lines in labels.values()), default=0)
    return LINE * most + 4 if most else 0.0


def _ports(labels: dict[int, list[str]]) -> tuple[float, dict[int, float]]:
    """The total width and the offsets of ports side by side, each with room for its label on the right."""
    x, ports = PADDING, {}
    for index, lines in sorted(labels.items()):
        ports[index] = x
        x += max([8.0, *(svg.text_width(line, LABEL_SIZE) + 10 for line in lines)])
    return x, ports


def _spread(ports: dict[int, float], labels: dict[int, list[str]], used: float, width: float) -> float:
    """Spread the ports over the box's spare width, a single one in the middle; returns the extent of the labels."""
    if len(ports) == 1:
        ((index, lines),) = labels.items()
        ports[index] = width / 2
        return width / 2 + 5 + max([0.0, *(svg.text_width(line, LABEL_SIZE) for line in lines)])
    for position, index in enumerate(sorted(ports)):
        ports[index] += (width - used) * (position + 1) / (len(ports) + 1)
    return width


def draw_graph(sketch: Sketch) -> tuple[float, float, list[str]]:
    """The width and the height of the picture, and its parts."""
    incoming: list[list[Arrow]] = [[] for _ in sketch.figures]
    for arrow in sketch.arrows:
        incoming[arrow.target].append(arrow)
    shapes = [_shape(sketch, figure, arrows) for figure, arrows in zip(sketch.figures, incoming)]
    boxes = [Box(shape.extent, shape.height) for shape in shapes]
    links = [
        Link(
            arrow.source,
            arrow.target,
            shapes[arrow.source].output_ports[arrow.output],
            shapes[arrow.target].input_ports[arrow.input],
        )
        for arrow in sketch.arrows
    ]
    width, height = lay_out(boxes, links)
    parts = [
        _edge(link, boxes, shapes, sketch.figures[arrow.target].fate)
        for arrow, link in zip(sketch.arrows, links)
    ]
    parts += [part for shape, box in zip(shapes, boxes) for part in _draw(shape, box)]
    return width, height, parts


def _shape(sketch: Sketch, figure: Figure, incoming: Sequence[Arrow]) -> _Shape:
    step = "" if figure.step is None or figure.kind == "constant" else f"{figure.step}: "
    lines = [svg.clipped(step + figure.name, LONGEST), *(svg.clipped(line, LONGEST) for line in figure.lines)]
    shape = _Shape(
        figure,
        lines,
        {arrow.input: _as_label(sketch, arrow) for arrow in incoming},
        {number: _label(tensor) for number, tensor in enumerate(figure.outputs) if tensor is not None},
    )
    shape.measure()
    return shape


def _label(tensor: TensorDesc) -> list[str]:
    return tensor_lines(tensor)


def _as_label(sketch: Sketch, arrow: Arrow) -> list[str]:
    tensor = sketch.reinterpreted(arrow)
    return [] if tensor is None else [f"as {line}" for line in tensor_lines(tensor)]


def _edge(link: Link, boxes: Sequence[Box], shapes: Sequence[_Shape], fate: Fate) -> str:
    """A curve that leaves and arrives vertically."""
    source, target = shapes[link.source], shapes[link.target]
    start = boxes[link.source].y + source.above + source.body
    commands = [f"M{svg.number(link.path[0][0])} {svg.number(start)}"]
    for index, (x, y) in enumerate(link.path):
        if index % 2 == 0:
            commands.append(f"L{svg.number(x)} {svg.number(y)}")
            continue
        x0, y0 = link.path[index - 1]
        middle = svg.number((y0 + y) / 2)
        x1, y1 = svg.number(x), svg.number(y)
        commands.append(f"C{svg.number(x0)} {middle} {x1} {middle} {x1} {y1}")
    end = boxes[link.target].y + target.above
    commands.append(f"L{svg.number(link.path[-1][0])} {svg.number(end)}")
    return svg.element(
        "path",
        d=" ".join(commands),
        fill="none",
        stroke=INKS[fate],
        stroke_width=1,
        stroke_dasharray=DASHES[fate],
        marker_end="url(#arrow)",
    )


def _draw(shape: _Shape, box: Box) -> list[str]:
    figure, top = shape.figure, box.y + shape.above
    ink = INKS[figure.fate]
    rounded = 12 if figure.kind in ("input", "output") else 2
    parts = [
        svg.title("\n".join([figure.name, *figure.lines])),
        svg.element(
            "rect",
            x=box.x,
            y=top,
            width=shape.width,
            height=shape.body,
            rx=rounded,
            fill=FILLS[figure.kind],
            stroke=ink,
            stroke_dasharray=DASHES[figure.fate],
        ),
    ]
    for number, line in enumerate(shape.lines):
        size, weight = (NAME_SIZE, "bold") if number == 0 else (TEXT_SIZE, None)
        y = top + LINE * (number + 1)
        middle = box.x + shape.width / 2
        parts.append(svg.text(middle, y, line, size, text_anchor="middle", font_weight=weight, fill=ink))
    elements = [svg.group(parts, class_=figure.fate.name.lower())]
    elements += _labels(
        shape.output_labels, shape.output_ports, box.x, top + shape.body + LINE - 1, "#1a4f7a"
    )
    elements += _labels(shape.input_labels, shape.input_ports, box.x, box.y + LINE - 2, "#9a3412")
    return elements


def _labels(
    labels: dict[int, list[str]], ports: dict[int, float], left: float, top: float, ink: str
) -> list[str]:
    return [
        svg.text(
            left + ports[index] + 5,
            top + LINE * number,
            line,
            LABEL_SIZE,
            fill=ink,
            paint_order="stroke",
            stroke="white",
            stroke_width=3,
        )
        for index, lines in labels.items()
        for number, line in enumerate(lines)
    ]
