"""pyright, as basedpyright packs it, on a user's programs: it finds every mistake, and nothing in what is right."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from checkers.checking import PROGRAMS, ROOT, marked_lines, need, of_this_repository, user_folder

pytestmark = pytest.mark.slow


# Not 3.10, which the type annotations of new versions of NumPy no longer support.
@pytest.mark.parametrize("version", ["3.11", "3.13"])
def test_every_mistake_is_found_and_nothing_else(tmp_path, version):
    need("basedpyright")
    folder = user_folder(tmp_path)
    settings = {"typeCheckingMode": "standard", "pythonVersion": version, "extraPaths": [str(ROOT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        command, cwd=folder, env=of_this_repository(), capture_output=True, text=True, timeout=600
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = [
        (one["file"].removeprefix(f"{folder}/"), one["range"]["start"]["line"] + 1, one["message"])
        for one in found
        if one["severity"] == "error"
    ]
    assert [error for error in errors if error[0] != "wrong.py"] == []
    assert {line for _, line, _ in errors} == marked_lines(PROGRAMS / "wrong.py")
