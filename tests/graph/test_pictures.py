"""Pictures: well-formed, complete, and without overlaps."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise

import numpy as np
import pytest

import directml_py as dml
from directml_py.graph import Graph
from directml_py.graph.pictures.layered_layout import Box, Link, lay_out
from directml_py.graph.pictures.memory_picture import scale, short_name
from directml_py.graph.pictures.svg import clipped

from .random_graphs import random_graph

SVG = "{http://www.w3.org/2000/svg}"


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def classes(root, name):
    return [element for element in root.iter(f"{SVG}g") if element.get("class") == name]


def test_what_a_picture_shows(branches):
    root = ElementTree.fromstring(branches.to_svg())
    assert root.tag == f"{SVG}svg"
    found = texts(root)
    # Nodes with their turns, operators and attributes.
    assert {"0: parts", "SPLIT", "2: left/identity0", "3: left/join0", "JOIN", "Axis=2", "ones"} <= set(found)
    assert {"Function=SUM", "Axes={2,3}", "AxisDirection=DECREASING"} <= set(found)
    assert {"x", "total", "best", "graph input 0", "graph output 1"} <= set(found)
    # Data types, sizes, strides, and reinterpretations.
    assert {"FLOAT32 {1,2,6,3}", "strides {24,1,6,2}", "as INT32 {1,2,3,1}"} <= set(found)
    assert found.count("FLOAT32 {1,2,1,3}") == 3
    # SPLIT folds; its output of 6 rows of the picture is dashed, nothing else is.
    (folded,) = classes(root, "folded")
    assert "0: parts" in [element.text for element in folded.iter(f"{SVG}text")]
    assert folded.find(f"{SVG}rect").get("stroke-dasharray")
    assert all(not g.find(f"{SVG}rect").get("stroke-dasharray") for g in classes(root, "executed"))
    plan = branches.compile().plan
    assert len(classes(root, "block")) == len(plan.blocks) > 0
    assert any(text.startswith(f"Temporary resource: {plan.temporary_size:,} bytes") for text in found)


def test_dead_nodes_are_dotted(graph, x):
    graph.identity(x, name="unused")
    graph.outputs = graph.identity(x, scale_bias=(2, 0), name="used")
    (dead,) = classes(ElementTree.fromstring(graph.to_svg()), "dead")
    assert "unused" in [element.text for element in dead.iter(f"{SVG}text")]
    assert re.search(r'label="unused\\n.*style=dotted', graph.to_dot())


def test_a_graph_that_cannot_be_compiled_is_drawn_all_the_same(graph, x):
    graph.split(x, axis=2, sizes=[3, 3])
    assert "the graph has no outputs" in " ".join(texts(ElementTree.fromstring(graph.to_svg())))
    assert "split0" in graph.to_dot()
    assert ElementTree.fromstring(Graph(graph.device).to_svg()) is not None


HOSTILE = '<b>&"\\n\\"]]>\x01\ufffe\n漢'


def test_hostile_names(graph):
    x = graph.input_tensor(HOSTILE, dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1])
    graph.outputs = {HOSTILE: graph.identity(x, name=HOSTILE)}
    found = texts(ElementTree.fromstring(graph.to_svg()))
    assert sum("漢" in text and "<b>&" in text for text in found) >= 3
    strings = re.findall(r'label="((?:[^"\\]|\\.)*)"', graph.to_dot())
    assert len(strings) == 5
    assert graph.to_dot().count("\n") == 3 + 3 + 2 + 1


def test_dot(branches):
    lines = branches.to_dot().splitlines()
    assert lines[0] == "digraph {"
    assert lines[-1] == "}"
    nodes = [line for line in lines if re.match(r"  (node|input|output)\d+ \[", line)]
    edges = [line for line in lines if "->" in line]
    assert len(nodes) == 1 + 7 + 2
    assert len(edges) == 8 + 2
    assert any(re.search(r'label="parts\\nSPLIT\\nAxis=2".*style=dashed', line) for line in nodes)
    (edge,) = [line for line in edges if "node4 -> node6" in line]
    # Interleaved: the three rows of each channel lie two elements apart.
    label = r"UINT32 {1,2,3,1}\nstrides {6,1,2,2}\nas INT32 {1,2,3,1}\nas strides {6,1,2,2}"
    assert edge == f'  node4 -> node6 [label="{label}"];'


def contrast(one, other):
    """The contrast ratio of two colours, ``#rrggbb``, as WCAG 2.2 defines it."""

    def luminance(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_pictures_follow_the_readers_colour_scheme(branches):
    """On dark pages no colour of light ones is left, and text is legible where it was."""
    root = ElementTree.fromstring(branches.to_svg())
    (style,) = root.iter(f"{SVG}style")
    media, *rules, end = style.text.splitlines()
    assert (media, end) == ("@media (prefers-color-scheme: dark) {", "}")
    own = re.escape(f".{root.get('class')} ")
    black, *rest = rules
    dark = {("text", None): re.fullmatch(own + r"text:not\(\[fill\]\)\{fill:(#\w{6})\}", black)[1]}
    for rule in rest:
        attribute, light, same, colour = re.fullmatch(
            own + r'\[(\w+)="(.+)"\]\{(\w+):(#\w{6})\}', rule
        ).groups()
        assert attribute == same
        dark[attribute, light] = colour
    used = {(name, one.get(name)) for one in root.iter() for name in ("fill", "stroke")}
    assert {(name, colour) for name, colour in used if colour not in (None, "none")} == {*dark} - {
        ("text", None)
    }
    for group in root.iter(f"{SVG}g"):
        rectangle, label = group.find(f"{SVG}rect"), group.find(f"{SVG}text")
        if rectangle is not None:
            ground, ink = rectangle.get("fill"), label.get("fill")
            on_light = contrast(ink or "#000000", ground)
            on_dark = contrast(dark["fill" if ink else "text", ink], dark["fill", ground])
            assert on_dark >= min(on_light, 4.5), (ground, ink)


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_nothing_overlaps(device, seed):
    """No two boxes, and no two labels of tensors, in pictures of up to 40 nodes."""
    root = ElementTree.fromstring(random_graph(seed, device=device).to_svg())
    graph_part = root.find(f"{SVG}g").findall(f"{SVG}g")[0]
    boxes = []
    for rect in graph_part.iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
        boxes.append((x, y, x + width, y + height))
    for label in graph_part.findall(f"{SVG}text"):
        size = float(label.get("font-size"))
        x, y = float(label.get("x")), float(label.get("y"))
        boxes.append((x, y - 0.7 * size, x + 0.6 * size * len(label.text), y))
    for one, other in combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)
    width, height = float(root.get("width")), float(root.get("height"))
    assert max(box[2] for box in boxes) <= width
    assert max(box[3] for box in boxes) <= height


@pytest.mark.parametrize("seed", [5, 17, 29, 38])
def test_blocks_lie_as_in_memory(device, seed):
    """Overlapping rectangles would be bytes used twice; higher offsets are drawn higher."""
    graph = random_graph(seed, device=device)
    plan = graph.compile().plan
    heights = scale(plan)
    assert list(heights.values()) == sorted(heights.values())
    rects = []
    for group in classes(ElementTree.fromstring(graph.to_svg()), "block"):
        rect = group.find(f"{SVG}rect")
        x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
        rects.append((x, y, x + width, y + height))
        assert height >= 14
        assert group.find(f"{SVG}text").text.startswith(str(len(rects) - 1))
    assert len(rects) == len(plan.blocks) > 1
    for one, other in combinations(rects, 2):
        across = min(one[2], other[2]) - max(one[0], other[0])
        up = min(one[3], other[3]) - max(one[1], other[1])
        assert across <= 0.2 or up <= 0.2
    for (one, block), (other, further) in combinations(zip(rects, plan.blocks), 2):
        if block.offset != further.offset:
            assert (block.offset < further.offset) == (one[3] > other[3])


def test_layout():
    """Boxes are below their sources; edges are straight if unobstructed; long edges pass between boxes."""
    boxes = [Box(100, 20) for _ in range(4)]
    links = [Link(0, 1, 50, 50), Link(1, 2, 50, 50), Link(2, 3, 50, 20), Link(0, 3, 50, 80)]
    width, height = lay_out(boxes, links)
    assert [box.row for box in boxes[:4]] == [0, 1, 2, 3]
    assert [len(link.points) for link in links] == [0, 0, 0, 2]
    assert len({boxes[point].x for point in links[3].points}) == 1
    assert all(box.y + box.height < below.y for box, below in pairwise(boxes[:4]))
    for box in boxes[1:3]:
        for x, y in links[3].path[1:-1]:
            assert not (box.x <= x <= box.x + box.width and box.y <= y <= box.y + box.height)
    assert width >= 100
    assert height >= 80
    chain = [Box(80, 10), Box(80, 10), Box(80, 10)]
    lay_out(chain, [Link(0, 1, 40, 40), Link(1, 2, 40, 40)])
    assert len({box.x for box in chain}) == 1
    assert lay_out([], []) == (0.0, 0.0)


def test_crossings_are_undone():
    """Two pairs created in crossed order are drawn side by side."""
    boxes = [Box(10, 10) for _ in range(4)]
    lay_out(boxes, [Link(0, 3, 5, 5), Link(1, 2, 5, 5)])
    assert (boxes[0].x < boxes[1].x) == (boxes[3].x < boxes[2].x)


def test_text():
    assert clipped("abcdef", 6) == "abcdef"
    assert clipped("abcdefg", 6) == "abcde…"
    assert short_name("DML_OPERATOR_JOIN 'a/b'.OutputTensor") == "a/b"
    assert short_name("DML_OPERATOR_SPLIT 'a'.OutputTensors[2]") == "a[2]"
    assert short_name("DML_OPERATOR_GRU 'a'.OutputSingleTensor") == "a.OutputSingleTensor"
    assert short_name("scratch of DML_OPERATOR_REDUCE 'r'") == "scratch of r"
    assert short_name("x") == "x"


def test_fifty_nodes_take_no_time(device):
    """A picture of 50 nodes takes well under a second."""
    import time

    graph = random_graph(3, 50, device)
    while len(graph.nodes) < 50:
        graph.constant(np.ones(4, np.float32))
    start = time.perf_counter()
    graph.to_svg()
    assert time.perf_counter() - start < 5
