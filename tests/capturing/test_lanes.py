"""The overview of a capture: a column of 12 pixels for each command, and one more between lists."""

from __future__ import annotations

import re

import numpy as np
import pytest

import directml_py as dml
from directml_py.capturing import event_types as e
from directml_py.capturing.page.lanes import lanes
from directml_py.capturing.page.tensor_values import _bars
from directml_py.capturing.page.timeline import _barrier, _Begin, _nested, _SpanEnd, _Title
from directml_py.capturing.parser import read_capture
from directml_py.cli import main
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
    assert "more commands" not in html


def test_each_queue_has_a_lane_below_the_one_before(tmp_path):
    with dml.capture(tmp_path):
        session = Session()
        source, target = session.upload(np.ones(4, np.float32)), session.buffer(16)
        other = session.d3d12.CreateCommandQueue(
            dml.D3D12_COMMAND_QUEUE_DESC(Type=dml.D3D12_COMMAND_LIST_TYPE_DIRECT)
        )
        session.commands.CopyResource(target, source)
        session.commands.Close()
        fence = session.d3d12.CreateFence(0)
        other.ExecuteCommandLists([session.commands])
        other.Signal(fence, 1)
        fence.SetEventOnCompletion(1)
    (log,) = read_capture(tmp_path)
    html = str(lanes(log, "p"))
    tops = [numbers(mark, "y")[0] for mark in re.findall(r'class="copy"[^>]*>(<rect[^>]*>)', html)]
    blocks = [numbers(block, "y")[0] for block in re.findall(r'<rect class="block"[^>]*>', html)]
    assert len(tops) == len(blocks) == 2
    assert tops[1] > tops[0] + 26
    assert [top - block for top, block in zip(tops, blocks)] == [5, 5]


def test_owned_inputs_are_told_from_bound_ones(tmp_path):
    record_two_weights(tmp_path)
    target = tmp_path / "page.html"
    assert main(["capture", "show", str(tmp_path), "--html", str(target)]) == 0
    page = target.read_text(encoding="utf-8")
    # Attributes stand apart from the tensors.
    names = set(re.findall(r"<dt>([^<]*)</dt>", page))
    assert names >= {"TransA", "TransB", "Alpha", "Beta"}
    assert not any(name.endswith("Tensor") for name in names)
    operands = re.findall(r"<b>(\w+)</b><code>[^<]*</code><span[^>]*>([^<]*)</span>", page)
    owned = [where for name, where in operands if name == "BTensor"]
    others = [where for name, where in operands if name in ("ATensor", "OutputTensor")]
    assert owned
    assert others
    assert all(where.startswith("owned by DirectML, as initialized · 16") for where in owned)
    assert all(where.startswith("bytes 0 to 16 of ") for where in others)


def test_bars_stand_on_zero():
    """By hand: 1 is 15 high, -1 is at the bottom, 0 is drawn half a unit high, at the middle."""
    html = str(_bars(np.array([1, -1, 0], np.float32)))
    assert "M1 8.50V1.00M3 8.50V16.00M5 8.50V8.00" in html
    assert re.search(r'width="6"|viewBox="0 0 6 ', html)


@pytest.mark.parametrize(
    ("pieces", "html"),
    [
        ([_Begin("<div>"), _SpanEnd("</div>")], "<div></div>"),
        ([_SpanEnd("</div>"), _Begin("<div>")], "<div></div>"),
        ([_Begin("<div>"), _Begin("<div>"), _SpanEnd("</div>")], "<div><div></div></div>"),
        ([_Begin("<div>"), _Title("<h4>"), _SpanEnd("</div>")], "<div></div><h4>"),
    ],
)
def test_spans_end_where_they_can(pieces, html):
    """A span that ends in another list is closed before that list; an end without a beginning is ignored."""
    assert str(_nested(pieces)) == html


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ("D3D12_RESOURCE_BARRIER_FLAG_NONE", "<b>x</b> COMMON → COPY_DEST"),
        (
            "D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY",
            "<b>x</b> COMMON → COPY_DEST (D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY)",
        ),
    ],
)
def test_barriers_say_what_is_not_usual(flags, text):
    resource = e.CapturedResource(0, 0, 0, 16, "DEFAULT", "NONE", "COMMON", False, "x")
    states = ("D3D12_RESOURCE_STATE_COMMON", "D3D12_RESOURCE_STATE_COPY_DEST")
    assert str(_barrier(e.CapturedTransition(resource, *states, flags))) == text
