"""Geometry of pictures: text within its box, lines from edge to edge, tables row by row."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from types import SimpleNamespace

import pytest

import directml_py as dml
from directml_py.graph.pictures import svg
from directml_py.graph.pictures.layered_layout import Box, Link, lay_out
from directml_py.graph.pictures.memory_picture import SIZE, draw_memory, scale, short_name

from .random_graphs import random_graph

SVG = "{http://www.w3.org/2000/svg}"
# What a character of a monospaced font takes of its size, and pixels by which numbers are rounded.
ADVANCE, ROUNDED = 0.605, 0.11


def figures(root):
    """Each box with its lines of text."""
    graph_part = root.find(f"{SVG}g").findall(f"{SVG}g")[0]
    for group in graph_part.iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        if rect is not None:
            yield (
                [float(rect.get(name)) for name in ("x", "y", "width", "height")],
                group.findall(f"{SVG}text"),
            )


@pytest.mark.parametrize("seed", [1, 8, 20])
def test_text_stands_in_its_box(device, seed):
    """The name first, bold and larger; a line each 12 pixels, in the middle, with 8 pixels free around them."""
    some = list(figures(ElementTree.fromstring(random_graph(seed, device=device).to_svg())))
    assert len(some) > 5
    for (x, y, width, height), texts in some:
        assert height == 12 * len(texts) + 8
        for number, text in enumerate(texts):
            assert float(text.get("y")) == pytest.approx(y + 12 * (number + 1), abs=ROUNDED)
            assert float(text.get("x")) == pytest.approx(x + width / 2, abs=ROUNDED)
            assert (text.get("font-weight"), text.get("font-size")) == (
                ("bold", "11") if number == 0 else (None, "9.5")
            )
        needed = max(ADVANCE * float(text.get("font-size")) * len(text.text) for text in texts) + 16
        assert width >= needed - ROUNDED


def test_a_box_is_as_wide_as_its_text(graph, x):
    graph.outputs = graph.identity(x, name="a_name_that_is_longer_than_all_else_in_the_box")
    wide = max(figures(ElementTree.fromstring(graph.to_svg())), key=lambda one: one[0][2])
    assert wide[0][2] == pytest.approx(ADVANCE * 11 * len(wide[1][0].text) + 16, abs=ROUNDED)


@pytest.mark.parametrize("seed", [1, 8, 20])
def test_lines_go_from_the_bottom_of_a_box_to_the_top_of_another(device, seed):
    root = ElementTree.fromstring(random_graph(seed, device=device).to_svg())
    boxes = [place for place, _ in figures(root)]
    graph_part = root.find(f"{SVG}g").findall(f"{SVG}g")[0]
    paths = [path.get("d") for path in graph_part.iter(f"{SVG}path") if path.get("marker-end")]
    assert len(paths) > 4
    for path in paths:
        places = path.replace("M", " ").replace("L", " ").replace("C", " ").split()
        (x0, y0), (x1, y1) = map(float, places[:2]), map(float, places[-2:])
        assert any(y0 == pytest.approx(y + h, abs=ROUNDED) and x <= x0 <= x + w for x, y, w, h in boxes)
        assert any(y1 == pytest.approx(y, abs=ROUNDED) and x <= x1 <= x + w for x, y, w, h in boxes)


def test_a_chain_of_boxes_of_any_width_is_straight():
    widths = [40, 160, 90, 10]
    boxes = [Box(width, 10) for width in widths]
    lay_out(boxes, [Link(i, i + 1, widths[i] / 2, widths[i + 1] / 2) for i in range(3)])
    middles = [box.x + box.width / 2 for box in boxes]
    assert middles == pytest.approx([80] * 4)


def test_a_box_stands_in_the_middle_of_what_it_feeds():
    boxes = [Box(20, 10), Box(20, 10), Box(60, 10), Box(20, 10)]
    lay_out(boxes, [Link(0, 1, 10, 10), Link(0, 2, 10, 30), Link(1, 3, 10, 10), Link(2, 3, 30, 10)])
    both = (boxes[1].x + 10 + boxes[2].x + 30) / 2
    assert boxes[0].x + 10 == pytest.approx(both, abs=1)
    assert boxes[3].x + 10 == pytest.approx(both, abs=1)


def test_a_long_edge_is_straight_beside_boxes():
    """Past two rows of boxes in its way: it gets a column of its own, 12 pixels to their left."""
    boxes = [Box(50, 10) for _ in range(4)]
    long = Link(0, 3, 0, 0)
    lay_out(boxes, [Link(0, 1, 25, 25), Link(1, 2, 25, 25), Link(2, 3, 25, 25), long])
    assert len(long.points) == 2
    assert {boxes[1].x - boxes[point].x for point in long.points} == {12}


def test_ports_are_as_far_apart_as_their_labels_need(graph, x):
    """Ten pixels more than the longest line of a label, which is of 9 units."""
    parts = graph.split(x, axis=2, sizes=[3, 3])
    graph.outputs = dict(zip(("first", "second"), parts))
    root = ElementTree.fromstring(graph.to_svg())
    labels = [text for text in root.iter(f"{SVG}text") if text.text == "FLOAT32 {1,2,3,3}"]
    one, other = sorted(float(text.get("x")) for text in labels[:2])
    assert other - one >= ADVANCE * 9 * len("FLOAT32 {1,2,3,3}") + 10 - ROUNDED
    assert other - one <= ADVANCE * 9 * len("strides {36,18,3,1}") + 30


@pytest.mark.parametrize("seed", [1, 8])
def test_lines_bend_half_way(device, seed):
    """Straight into a gap between rows, and through it as a curve that begins and ends vertically."""
    root = ElementTree.fromstring(random_graph(seed, device=device).to_svg())
    curves = 0
    for path in root.iter(f"{SVG}path"):
        if not path.get("marker-end"):
            continue
        commands = re.findall(r"([MLC])([^MLC]*)", path.get("d"))
        assert re.fullmatch("M(LC)+L", "".join(letter for letter, _ in commands))
        for (_, before), (letter, curve) in pairwise(commands):
            if letter == "C":
                curves += 1
                (x0, y0), numbers = map(float, before.split()[-2:]), [float(one) for one in curve.split()]
                assert numbers[0] == x0
                assert numbers[2] == numbers[4]
                assert numbers[1] == numbers[3] == pytest.approx((y0 + numbers[5]) / 2, abs=ROUNDED)
    assert curves > 4


def test_a_picture_of_memory_by_hand(graph, x):
    """A column of the same width for each step; below them slanted names, a gap of 18, and the table."""
    long = "n" * 40
    y = graph.identity(x, scale_bias=(2, 0), name=long)
    graph.outputs = graph.reduce(y, function=dml.DML_REDUCE_FUNCTION_SUM, axes=[3])
    plan = graph.compile().plan
    width, height, parts = draw_memory(plan)
    root = ElementTree.fromstring(f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>')
    upright = [line for line in root.iter(f"{SVG}line") if line.get("x1") == line.get("x2")]
    columns = [float(line.get("x1")) for line in upright]
    assert len(columns) == len(plan.steps) + 1
    step = columns[1] - columns[0]
    assert columns == pytest.approx([columns[0] + step * number for number in range(len(columns))])
    assert width >= columns[-1]
    for block, group in zip(plan.blocks, (g for g in root.iter(f"{SVG}g") if g.get("class") == "block")):
        rect = group.find(f"{SVG}rect")
        assert float(rect.get("x")) == columns[block.first_step]
        assert float(rect.get("x")) + float(rect.get("width")) == columns[block.last_step + 1]
    found = {text.text: text for text in root.iter(f"{SVG}text")}
    names = [step.name or step.operator for step in plan.steps]
    shown = [name if len(name) <= 32 else name[:31] + "…" for name in names]
    assert set(shown) <= found.keys()
    bottom = max(float(line.get("y2")) for line in upright)
    for turn, name in enumerate(shown):
        x, y = columns[turn] + step / 2 + 4, bottom + 24
        text = found[name]
        assert (float(text.get("x")), float(text.get("y"))) == pytest.approx((x, y), abs=ROUNDED)
        turned = re.fullmatch(r"rotate\(-55 (\S+) (\S+)\)", text.get("transform"))
        assert [float(turned[1]), float(turned[2])] == pytest.approx([x, y], abs=ROUNDED)
    depth = max(0.82 * ADVANCE * SIZE * len(name) + 28 for name in shown)
    (head,) = [text for name, text in found.items() if name.endswith("steps") and "tensor" in name]
    assert float(head.get("y")) == pytest.approx(bottom + depth + 18 + 13, abs=ROUNDED)
    assert float(head.get("x")) == 0
    assert height == pytest.approx(bottom + depth + 18 + 13 * (len(plan.blocks) + 2), abs=ROUNDED)


def test_a_table_of_memory_has_a_line_each_13_pixels(branches):
    root = ElementTree.fromstring(branches.to_svg())
    rows = [text for text in root.iter(f"{SVG}text") if (text.text or "").rstrip().endswith("steps")]
    (head,) = rows
    assert head.get("font-weight") == "bold"
    below = [
        text
        for text in root.iter(f"{SVG}text")
        if text.get("x") == head.get("x") and float(text.get("y")) > float(head.get("y"))
    ]
    plan = branches.compile().plan
    first = float(head.get("y"))
    assert [float(text.get("y")) for text in below] == [
        pytest.approx(first + 13 * (number + 1)) for number in range(len(plan.blocks))
    ]
    assert all(text.get("font-weight") is None for text in below)
    assert float(root.get("height")) >= first + 13 * (len(plan.blocks) + 1)


@pytest.mark.parametrize("seed", [5, 17, 29, 38])
def test_names_of_blocks_are_upright_where_they_fit(device, seed):
    plan = random_graph(seed, device=device).compile().plan
    root = ElementTree.fromstring(
        f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(draw_memory(plan)[2])}</svg>'
    )
    groups = [g for g in root.iter(f"{SVG}g") if g.get("class") == "block"]
    assert len(groups) == len(plan.blocks) > 1
    for number, (block, group) in enumerate(zip(plan.blocks, groups)):
        name, text = f"{number}: {short_name(block.name)}", group.find(f"{SVG}text")
        room = float(group.find(f"{SVG}rect").get("width")) - 6
        fits = len(name) <= int(room / (SIZE * ADVANCE))
        assert text.text == (name if fits or text.get("transform") else str(number))
        rect, x = group.find(f"{SVG}rect"), float(text.get("x"))
        middle = float(rect.get("x")) + float(rect.get("width")) / 2
        assert (x, text.get("text-anchor")) == (pytest.approx(middle, abs=6), "middle")
        assert not (fits and text.get("transform"))


def test_memory_is_drawn_below_the_graph(branches):
    root = ElementTree.fromstring(branches.to_svg())
    graph_part, memory = root.find(f"{SVG}g").findall(f"{SVG}g")
    (above,), (below,) = (
        re.findall(r"translate\(0 (\S+)\)", part.get("transform")) for part in (graph_part, memory)
    )
    bottom = max(float(r.get("y")) + float(r.get("height")) for r in graph_part.iter(f"{SVG}rect"))
    assert float(above) + bottom + 40 <= float(below) + ROUNDED
    _, height, _ = draw_memory(branches.compile().plan)
    assert float(root.get("height")) >= float(below) + height


@pytest.mark.parametrize("code", [0, 8, 11, 12, 14, 31, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF])
def test_what_xml_cannot_hold_is_replaced(code):
    assert ElementTree.fromstring(svg.text(0, 0, f"a{chr(code)}b")).text == "a\ufffdb"


@pytest.mark.parametrize("code", [9, 32, 0xD7FF, 0xE000, 0xFFFD, 0x10000])
def test_what_xml_can_hold_stays(code):
    assert ElementTree.fromstring(svg.text(0, 0, f"a{chr(code)}b")).text == f"a{chr(code)}b"


def test_the_height_is_that_of_the_rows():
    """Three boxes of 10 and two gaps of 34."""
    boxes = [Box(80, 10) for _ in range(3)]
    assert lay_out(boxes, [Link(0, 1, 40, 40), Link(1, 2, 40, 40)]) == (80, 98)


def test_the_heading_counts_what_became_of_operators(graph, x):
    graph.identity(x, name="unused")
    graph.outputs = graph.reduce(x, function=dml.DML_REDUCE_FUNCTION_SUM, axes=[3])
    found = " ".join(str(text.text) for text in ElementTree.fromstring(graph.to_svg()).iter(f"{SVG}text"))
    assert found.startswith(
        "2 operators: 1 run (solid), 1 needed by no output (dotted); no temporary memory "
    )


@pytest.mark.parametrize("seed", [5, 17, 29, 38])
def test_offsets_stand_beside_the_memory_and_apart(device, seed):
    plan = random_graph(seed, device=device).compile().plan
    root = ElementTree.fromstring(
        f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(draw_memory(plan)[2])}</svg>'
    )
    left = min(float(line.get("x1")) for line in root.iter(f"{SVG}line"))
    labels = [
        text
        for text in root.iter(f"{SVG}text")
        if text.get("text-anchor") == "end" and not text.get("transform")
    ]
    assert {float(text.get("x")) for text in labels} == {left - 6}
    places = [float(text.get("y")) for text in labels if text.text != f"{plan.temporary_size:,}"]
    assert len(places) > 1
    assert all(one - other >= SIZE - ROUNDED for one, other in pairwise(places))


@pytest.mark.parametrize(
    ("size", "blocks", "heights"),
    [
        (100, [(0, 50), (50, 100)], {0: 0, 50: 160, 100: 320}),
        # Used strips are at least 15 high; unused ones may be thin.
        (1000, [(0, 10), (20, 1000)], {0: 0, 10: 15, 20: 18.2, 1000: 331.8}),
        (1000, [(0, 10), (11, 1000)], {0: 0, 10: 15, 11: 18, 1000: 18 + 316.48}),
    ],
)
def test_heights_are_in_proportion_to_bytes(size, blocks, heights):
    """Of 320 for all."""
    plan = SimpleNamespace(
        temporary_size=size, blocks=[SimpleNamespace(offset=low, end=high) for low, high in blocks]
    )
    assert scale(plan) == pytest.approx(heights)


def test_what_is_wrong_stands_below_the_heading(graph, x):
    graph.split(x, axis=2, sizes=[3, 3])
    root = ElementTree.fromstring(graph.to_svg())
    texts = list(root.find(f"{SVG}g").findall(f"{SVG}text"))
    assert [float(text.get("y")) for text in texts] == [12 + 13 * number for number in range(len(texts))]
    assert [text.get("font-size") for text in texts] == ["12", *["10"] * (len(texts) - 1)]
    assert [text.get("font-weight") for text in texts] == ["bold", *[None] * (len(texts) - 1)]
    assert len(texts) >= 3
