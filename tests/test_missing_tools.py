"""``--missing-tools``: the tests that were skipped for lack of a tool, as a file that a later run can take."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from toolchain import missing

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
COMPILED, PLAIN = "tests/include/test_target_version.py", "tests/abi/test_copies.py"


def run(*arguments: str, **environment: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    variables.pop("DIRECTML_PY_REQUIRE_TOOLS", None)
    done = subprocess.run(command, cwd=ROOT, env=variables | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_second_run_takes_what_the_first_one_skipped(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        missing("g++")
    skipped = tmp_path / "skipped"
    run(COMPILED, PLAIN, f"--missing-tools={skipped}", PATH=str(tmp_path))
    tests = skipped.read_text(encoding="utf-8").splitlines()
    # Those of the other file are skipped for other reasons, if at all.
    assert tests
    assert all(test.startswith(f"{COMPILED}::") for test in tests)
    # Some need more than a compiler, and may be skipped once more.
    report = run(f"@{skipped}", f"--missing-tools={tmp_path / 'again'}")
    again = (tmp_path / "again").read_text(encoding="utf-8").splitlines()
    assert set(again) < set(tests)
    assert f"\n{len(tests) - len(again)} passed" in report


def test_nothing_was_skipped(tmp_path: Path) -> None:
    run(PLAIN, f"--missing-tools={tmp_path / 'skipped'}")
    assert not (tmp_path / "skipped").read_text(encoding="utf-8")
