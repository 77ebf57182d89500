"""Programs with more rights than their user do not obey variables that name files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import directml_py
from directml_py import capturing
from directml_py.abi import secure_environment
from directml_py.abi.secure_environment import path_variable

ROOT = Path(directml_py.__file__).parents[1]
NOBODY = 65534


def test_a_plain_program(monkeypatch):
    monkeypatch.setenv("DIRECTML_PY_CAPTURE", "here")
    assert path_variable("DIRECTML_PY_CAPTURE") == "here"
    assert path_variable("DIRECTML_PY_NOTHING") == ""


def test_no_capture_of_a_privileged_program(monkeypatch, tmp_path):
    monkeypatch.setattr(secure_environment, "is_privileged", lambda: True)
    monkeypatch.setenv("DIRECTML_PY_CAPTURE", str(tmp_path / "out"))
    capturing.start_from_environment()
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can make such programs")
def test_which_programs_are_privileged(request):
    # Temporary folders of pytest are for their owner alone.
    folder = Path(tempfile.mkdtemp())
    request.addfinalizer(lambda: shutil.rmtree(folder))
    folder.chmod(0o755)
    program = shutil.copy(os.path.realpath(sys.executable), folder / "python")
    os.chmod(program, 0o4755)
    source = Path(secure_environment.__file__).read_text(encoding="utf-8")
    environment = {"PYTHONHOME": sys.base_prefix}
    for user, expected in ((0, "False"), (NOBODY, "True")):
        command = [program, "-S", "-c", f"{source}\nprint(is_privileged())"]
        process = subprocess.run(command, capture_output=True, text=True, user=user, env=environment)
        if user == NOBODY and process.returncode:
            pytest.skip(f"nobody cannot run {program}: {process.stderr.splitlines()[-1:]}")
        assert process.stdout.split() == [expected]


def test_the_library_asks_safely():
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "tools/building").glob("*.[ch]")]
    asked = [call for text in sources for call in re.findall(r"(\w*getenv)\(\"(\w+)\"", text)]
    assert asked
    # PYTHONMALLOC names an allocator.
    assert {call for call, name in asked if name != "PYTHONMALLOC"} == {"secure_getenv"}
