"""The overview of a capture: a column of 12 pixels for each command, and one more between lists."""

from __future__ import annotations

import re

import numpy as np

import directml_py as dml
from directml_py.capturing.page.lanes import lanes
from directml_py.capturing.reading import read_capture
from directml_py.session import Session

from .conftest import record_two_weights, tensor


def numbers(tag, *names):
    return [int(re.search(rf'\b{name}="(-?\d+)"', tag)[1]) for name in names]


def test_lists_are_blocks_of_marks(tmp_path):
    """Two lists with three dispatches, and one with one."""
    session = Session()
    plain = tensor([1, 1, 1, 4])
    add = session.compile(dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(plain, plain, plain))
    session.initialize(add)
    one, other, out = (session.upload(np.ones(4, np.float32)) for _ in range(3))
    with dml.capture(tmp_path):
        for count in (3, 1):
            for _ in range(count):
                session.dispatch(add, [one, other], [out])
            session.execute()
    (log,) = read_capture(tmp_path)
    html = str(lanes(log, "p"))
    marks = re.findall(r'<a href="#pc[^>]*class="dispatch"[^>]*>(<rect[^>]*>)', html)
    assert [numbers(mark, "x", "y", "width") for mark in marks] == [
        [12, 9, 9],
        [24, 9, 9],
        [36, 9, 9],
        [60, 9, 9],
    ]
    blocks = re.findall(r'<rect class="block"[^>]*>', html)
    assert [numbers(block, "x", "y", "width", "height") for block in blocks] == [
        [9, 4, 38, 26],
        [57, 4, 14, 26],
    ]
    assert numbers(re.search("<svg[^>]*>", html)[0], "width", "height") == [84, 42]
    assert "commands more" not in html


def test_owned_inputs_are_told_from_bound_ones(tmp_path):
    record_two_weights(tmp_path)
    from directml_py.cli import main

    target = tmp_path / "page.html"
    assert main(["capture", "show", str(tmp_path), "--html", str(target)]) == 0
    page = target.read_text(encoding="utf-8")
    operands = re.findall(r"<b>(\w+)</b><code>[^<]*</code><span[^>]*>([^<]*)</span>", page)
    owned = [where for name, where in operands if name == "BTensor"]
    others = [where for name, where in operands if name in ("ATensor", "OutputTensor")]
    assert owned
    assert others
    assert all(where.startswith("owned by DirectML, as initialized · 16") for where in owned)
    assert all(where.startswith("bytes 0 to 16 of ") for where in others)
