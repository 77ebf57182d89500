"""What a notebook shows of a capture."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from directml_py.capturing import parser
from directml_py.capturing.parser import read_capture


def rows(html):
    """The texts of the table's rows, those of a cell's lines apart; the markup must be sound."""
    table = ElementTree.fromstring(f"<div>{html}</div>").find("table")
    return [
        [["".join(line.itertext()) for line in cell] or [cell.text] for cell in row]
        for row in table.iter("tr")
    ]


def test_a_row_for_each_dispatch(recorded):
    captures = read_capture(recorded)
    (log,) = captures
    head, *dispatches = rows(captures._repr_html_())
    assert [name for (name,) in head] == ["Dispatch", "Operator", "Bound", "Messages"]
    assert [number for (number,), *_ in dispatches] == ["0", "1", "2", "3"]
    _, operator, bound, messages = dispatches[2]
    assert operator == ["DML_OPERATOR_ELEMENT_WISE_ADD 'sum'"]
    assert bound == [
        "inputs[0]: bytes 0 to 24 of a",
        "inputs[1]: bytes 0 to 24 of b",
        "outputs[0]: bytes 0 to 24 of middle",
    ]
    assert messages == [None]
    assert log._repr_html_() == captures._repr_html_()


def test_the_text_is_one_line(recorded):
    (log,) = read_capture(recorded)
    assert re.fullmatch(r"<CaptureLog: .*: 4 dispatches, \d+ resources>", repr(log))


def test_a_long_capture_is_cut_and_one_without_an_end_says_so(recorded, monkeypatch):
    (log,) = read_capture(recorded)
    monkeypatch.setattr(parser, "MOST_ROWS", 1)
    log.ended = False
    html = log._repr_html_()
    assert len(rows(html)) == 2
    assert "<p>and 3 more dispatches</p>" in html
    assert "<p>incomplete; it has no end" in html


def test_names_are_no_markup(recorded):
    (log,) = read_capture(recorded)
    for resource in log.resources.values():
        resource.name = "<b>&"
    assert [line.rpartition(" ")[2] for line in rows(log._repr_html_())[3][2]] == ["<b>&"] * 3
