"""The project's own samples and tests on devices with the maximum and minimum requirements that the pages permit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DISPATCHED = ["tests/dxdispatch/test_models.py", "tests/front_ends/test_evaluate.py"]
ROOMS = {
    "dml": ["tests/dml"],
    "samples": ["tests/front_ends/test_samples.py"],
    "graph": ["tests/graph"],
    "pydirectml": ["tests/pydirectml"],
    "dispatched": DISPATCHED,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("profile", "room"), [*(("demanding", room) for room in ROOMS), ("no-descriptors", "dml")]
)
def test_on_a_device_of_a_profile(profile, room):
    process = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *(f"--dml-profile={profile}", *ROOMS[room]),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout
    assert " passed" in process.stdout
