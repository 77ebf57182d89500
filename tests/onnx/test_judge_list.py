"""The reasons for which nodes need not agree with ONNX Runtime's CPU provider, and the page that prints them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")
from judging.onnx.expected import reason_of, reasons
from judging.onnx.sides import REFUSED, VALUES, SweepVerdict

PAGE = Path(__file__).parents[2] / "docs" / "onnx.md"
CAST = "output 0: 1 of 2 elements, at [0] 0, not 5"
CLIPPED = "node 'node' (GRU): attribute clip: is 0.5; in DirectML only LSTM clips, at more than 0"


def test_the_page_prints_the_reasons():
    """``judge_onnx.py --page`` writes those that any node has; one that none has need not be listed."""
    part = re.search(
        r"<!-- judge_onnx.py: begin -->(.*)<!-- judge_onnx.py: end -->",
        PAGE.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    _, _, table = part[1].partition("| What is refused or differs, and why |")
    printed = re.findall(r"^\| (.*) \| [\d,]+ \|$", table, re.MULTILINE)
    assert printed
    assert sorted(printed) == sorted({reason.why for reason in reasons()})


def test_the_figures_of_the_page_are_consistent():
    text = PAGE.read_text(encoding="utf-8")
    _, _, table = text.partition("| Nodes that ONNX Runtime runs |")
    row = re.search(r"^\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", table, re.MULTILINE)
    run, agree, listed, other, refused = (int(cell.replace(",", "")) for cell in row.groups())
    assert run == agree + listed + other + refused
    assert other == refused == 0
    _, _, table = table.partition("<!-- judge_onnx.py: end -->")[0].partition("and why |")
    counts = re.findall(r" \| ([\d,]+) \|$", table, re.MULTILINE)
    assert sum(int(count.replace(",", "")) for count in counts) == listed


def test_an_unknown_key_is_no_reason(tmp_path):
    path = tmp_path / "list.toml"
    path.write_text(
        '[[reason]]\nwhy = "x"\nverdicts = ["refused"]\nsays = ""\nnodes = "y"\n', encoding="utf-8"
    )
    with pytest.raises(ValueError, match="a reason has the unknown key 'nodes'"):
        reasons(path)


@pytest.mark.parametrize(
    ("found", "is_listed"),
    [
        (
            SweepVerdict(
                "ai.onnx.Cast-7: free 1",
                VALUES,
                f"{CAST}, all of NaN, infinities and numbers beyond the range",
            ),
            True,
        ),
        (SweepVerdict("ai.onnx.Cast-7: free 1", VALUES, CAST), False),
        (SweepVerdict("ai.onnx.GRU-7: free 1", REFUSED, CLIPPED), True),
        (SweepVerdict("ai.onnx.GRU-7: free 1", VALUES, CLIPPED), False),
        (SweepVerdict("ai.onnx.LSTM-7: free 1", REFUSED, CLIPPED), False),
        (
            SweepVerdict(
                "ai.onnx.Celu-12: a",
                VALUES,
                "output 0: 1 of 1 elements, at [0] 0.0, not nan",
                "Celu-12(float[3]) alpha=0",
            ),
            True,
        ),
        (
            SweepVerdict(
                "ai.onnx.Celu-12: a",
                VALUES,
                "output 0: 1 of 1 elements, at [0] 0.0, not nan",
                "Celu-12(float[3]) alpha=0.1",
            ),
            False,
        ),
    ],
)
def test_a_reason_is_that_of_its_cases_alone(found, is_listed):
    assert (reason_of(found, reasons()) is not None) == is_listed
