"""The whole suite, with the kernels that this run does not use."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from directml_py.kernels import backend

TESTS = Path(__file__).resolve().parents[1]
# Headers and wheels execute nothing, C programs what Python programs do, after minutes of compiling; the kernels' own
# tests choose their kernels themselves.
ELSEWHERE = {"com", "include", "kernels", "packaging"}


@pytest.mark.slow
def test_the_suite_passes_with_the_other_loops(tmp_path: Path) -> None:
    if backend.native is None:
        pytest.skip("there are no native kernels to switch off")
    files = [
        path
        for path in sorted(TESTS.rglob("test_*.py"))
        if not ELSEWHERE & set(path.relative_to(TESTS).parts)
    ]
    parallel = ["-n", "auto", "--dist", "loadfile"] if find_spec("xdist") else []
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path}"]
    # What is slow elsewhere is part of it.
    command += ["-m", ""]
    # Of a run that is divided among workers this one knows nothing.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["DIRECTML_PY_KERNELS"] = "numpy"
    result = subprocess.run(
        [*command, *parallel, *map(str, files)],
        cwd=TESTS.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert result.returncode == 0, result.stdout[-6000:]
