"""mypy on a user's programs: it finds every mistake, and nothing in what is right."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from checkers.checking import PROGRAMS, marked_lines, need, of_this_repository, user_folder

pytestmark = pytest.mark.slow

# scikit-learn, which samples import, has no types; what is wrong in the package itself is another check's affair.
CONFIG = """
[mypy]
strict = true
follow_imports = silent
[mypy-sklearn.*]
ignore_missing_imports = true
"""


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Runs mypy in a user's folder for a version of Python; the lines and texts of its errors by file."""
    need("mypy")
    folder = user_folder(tmp_path_factory.mktemp("user"))
    (folder / "mypy.ini").write_text(CONFIG)

    def run(version):
        command = [sys.executable, "-m", "mypy", "--python-version", version, "--no-error-summary", "."]
        done = subprocess.run(
            command, cwd=folder, env=of_this_repository(), capture_output=True, text=True, timeout=600
        )
        assert not done.stderr, done.stderr
        errors = re.findall(r"^(\S+):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
        return [(file, int(line), text) for file, line, text in errors]

    return run


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_every_mistake_is_found_and_nothing_else(mypy, version):
    errors = mypy(version)
    assert [error for error in errors if error[0] != "wrong.py"] == []
    assert {line for _, line, _ in errors} == marked_lines(PROGRAMS / "wrong.py")


def test_a_misspelt_field_is_named(mypy):
    texts = {line: text for _, line, text in mypy("3.12")}
    program = (PROGRAMS / "wrong.py").read_text().splitlines()
    for word in ("Functoin", "AxisCout", "reduse"):
        line = next(number for number, text in enumerate(program, 1) if word in text)
        assert word in texts[line]


def test_the_program_without_mistakes_runs():
    command = [sys.executable, str(PROGRAMS / "right.py")]
    done = subprocess.run(command, env=of_this_repository(), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
