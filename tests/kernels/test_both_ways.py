"""Everything that executes operators, with the loops that this run does not use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from directml_py.kernels import backend

ROOT = Path(__file__).resolve().parents[2]
# The rooms whose tests execute operators; the others would not see a difference, and all of them together would take
# too long twice.
ROOMS = ("operators", "graph")


def test_the_suite_passes_with_the_other_loops(tmp_path: Path) -> None:
    if backend.native is None:
        pytest.skip("there are no native loops to switch off")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path}"]
    command += [f"tests/{room}" for room in ROOMS]
    environment = {**os.environ, "DIRECTML_PY_KERNELS": "numpy"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200)
    assert result.returncode == 0, result.stdout[-6000:]
