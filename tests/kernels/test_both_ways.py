"""The whole suite with the loops that this run does not use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from directml_py.kernels import backend

ROOT = Path(__file__).resolve().parents[2]
# These compile headers, build wheels or watch C programs; none of them asks how a tensor is computed.
APART = (
    "tests/include",
    "tests/packaging",
    "tests/com/test_sanitizers.py",
    "tests/kernels/test_both_ways.py",
)


def test_the_suite_passes_with_the_other_loops(tmp_path: Path) -> None:
    if backend.native is None:
        pytest.skip("there are no native loops to switch off")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path}"]
    command += [f"--ignore={path}" for path in APART]
    environment = {**os.environ, "DIRECTML_PY_KERNELS": "numpy"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200)
    assert result.returncode == 0, result.stdout[-6000:]
