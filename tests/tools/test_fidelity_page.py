"""What the page on fidelity takes from the tests is up to date, without a run of the judge."""

from __future__ import annotations

import re

import pytest
from judging.evidence import evidence, informative, webnn_figures
from judging.fidelity_page import PAGE, tolerances

from directml_py.operators import SCHEMAS

CELL = r" ([^|]*?) ?"
ROWS = {
    name: cells
    for name, *cells in re.findall(
        r"^\| ([A-Z][A-Z0-9_]+) \|" + r"\|".join([CELL] * 6) + r"\|$",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
}


def test_tolerances_and_informative_cases():
    telling, within = informative(), tolerances()
    assert len(ROWS) == 170
    for name, (_, _, recorded, tell, _, bound) in ROWS.items():
        assert int(tell or 0) == telling[name] <= int(recorded), name
        assert bound == within[name], name
    # Two results alone, and as many as were recorded.
    assert telling["ELEMENT_WISE_LOGICAL_AND"] == 0
    assert telling["ELEMENT_WISE_ADD"] == 6


def test_the_figures_of_webnn():
    figures = webnn_figures()
    verdicts = figures["verdicts"]
    assert verdicts["differ"] == 0
    assert set(figures["agree"]) <= set(SCHEMAS)
    assert max(figures["agree"].values()) <= verdicts["agree"]


@pytest.mark.slow
def test_what_holds_an_operator():
    """Some references run ONNX Runtime and others cannot."""
    held = evidence()
    assert held.keys() == SCHEMAS.keys()
    assert {name: cells[4] for name, cells in ROWS.items()} == {name: held[name] for name in ROWS}
    assert held["GEMM"].startswith("ONNX Runtime")
    assert held["ADAM_OPTIMIZER"].startswith("formula")
