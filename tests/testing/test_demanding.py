"""The project's own samples and tests, on a device that asks for all that the pages let it ask for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Of the tests of the object model, those that bind what a device asks for; others bind what a kind one does.
OBJECT_MODEL = [
    f"tests/dml/test_{name}.py"
    for name in ("devices", "fusion", "graph_rules", "half_precision", "pairs", "private_data", "profiles")
]
DISPATCHED = ["tests/dxdispatch/test_models.py", "tests/faces/test_evaluate.py"]
# The sample prints how much temporary memory its graph needs, and its test knows the number.
PRINTS_SIZES = "tests/faces/test_samples.py::test_branches"


@pytest.mark.slow
@pytest.mark.parametrize(
    "tests",
    [OBJECT_MODEL, ["tests/faces/test_samples.py"], ["tests/graph"], ["tests/pydirectml"], DISPATCHED],
    ids=["dml", "samples", "graph", "pydirectml", "dispatched"],
)
def test_on_a_demanding_device(tests):
    process = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--dml-profile=demanding"),
            *("--deselect", PRINTS_SIZES, *tests),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout
    assert " passed" in process.stdout
