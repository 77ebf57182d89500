"""Pictures of timelines say what their text says."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from documentation import lane_diagram

RACE = """
CPU   | records both | Execute | =
queue |              |         | first: writes b | ! second: reads b
missing first -> second: UAV barrier
Execute -> first: runs
"""
SVG = "{http://www.w3.org/2000/svg}"


def test_a_timeline_is_read() -> None:
    read = lane_diagram.parse(RACE)
    assert read.lanes == ["CPU", "queue"]
    assert [(bar.lane, bar.first, bar.last, bar.text, bar.is_wrong) for bar in read.bars] == [
        (0, 0, 0, "records both", False),
        (0, 1, 2, "Execute", False),
        (1, 2, 2, "first: writes b", False),
        (1, 3, 3, "second: reads b", True),
    ]
    assert [(one.source.text, one.target.text, one.text, one.is_missing) for one in read.arrows] == [
        ("first: writes b", "second: reads b", "UAV barrier", True),
        ("Execute", "first: writes b", "runs", False),
    ]


def test_what_is_wrong_is_drawn_so() -> None:
    root = ElementTree.fromstring(lane_diagram.draw(lane_diagram.parse(RACE)))
    kinds = [rect.get("class") for rect in root.iter(f"{SVG}rect")]
    assert (kinds.count("bar"), kinds.count("bar wrong")) == (3, 1)
    crosses = [path for path in root.iter(f"{SVG}path") if path.get("class") == "cross"]
    assert len(crosses) == 1
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert {"CPU", "queue", "records both", "UAV barrier", "runs"} <= texts


def test_nothing_is_drawn_outside() -> None:
    """The label of an arrow between lanes stands beside it, to the right of the last bar if need be."""
    text = "a | | one\nb | | two\nmissing one -> two: a label that is longer than the bar it belongs to"
    root = ElementTree.fromstring(lane_diagram.draw(lane_diagram.parse(text)))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for label in root.iter(f"{SVG}text"):
        x, length = float(label.get("x", 0)), len(label.text or "") * 0.605 * 12
        anchored = x + (length / 2 if label.get("text-anchor") == "middle" else length)
        assert 0 <= x <= anchored <= width
        assert 0 <= float(label.get("y", 0)) <= height


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no lane", "neither"),
        ("a | one | one\none -> one: x", "2 bars begin with 'one'"),
        ("a | one\none -> two: x", "0 bars begin with 'two'"),
    ],
)
def test_what_is_no_timeline(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lane_diagram.parse(text)
