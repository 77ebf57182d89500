"""``python -m directml_py capture``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from toolchain import later

import directml_py
from directml_py.capturing.parser import read_capture
from directml_py.cli import main

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(directml_py.__file__).parents[1])}
SCRIPT = """
import sys
import numpy as np
import directml_py as dml
x = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, 2])
print(dml.evaluate(dml.DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC(x, x), [np.ones((1, 1, 1, 2), np.float32)]))
sys.exit(int(sys.argv[1]))
"""


def capture(*words, folder):
    command = [sys.executable, "-m", "directml_py", "capture", *words]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, cwd=folder)


@pytest.mark.parametrize("name", [*later("out"), "show"])
def test_a_script_and_its_page(tmp_path, name):
    """With a -- it is a recording, whatever the folder is called."""
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    run = capture(name, "--", "script.py", "3", folder=tmp_path)
    assert (run.returncode, run.stdout) == (3, "[array([[[[-1., -1.]]]], dtype=float32)]\n"), run.stderr
    (log,) = read_capture(tmp_path / name)
    assert log.process.arguments == ("script.py", "3")
    assert [one.dispatchable.title for one in log.dispatches][-1] == "DML_OPERATOR_ELEMENT_WISE_NEGATE"
    if name == "show":
        run = capture("show", "show", folder=tmp_path)
        assert run.stdout == f"{Path('show') / 'index.html'}\n"
        text = (tmp_path / "show" / "index.html").read_text(encoding="utf-8")
        assert "ELEMENT_WISE_NEGATE" in text
        again = capture("show", "show", "--html", "-", folder=tmp_path)
        assert again.stdout == text


def test_the_module_of_a_program_is_named(tmp_path):
    """The recording begins before Python has found it."""
    run = capture("out", "--", sys.executable, "-m", "directml_py.samples.reduce_strided", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    (log,) = read_capture(tmp_path / "out")
    assert log.process.title == "-m directml_py.samples.reduce_strided"


def test_a_program_that_does_not_use_directml(tmp_path, capsys):
    assert main(["capture", str(tmp_path / "out"), "--", sys.executable, "-c", "print(1)"]) == 1
    assert "nothing was recorded" in capsys.readouterr().err


def test_a_program_that_a_signal_ends(tmp_path):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert main(["capture", str(tmp_path / "out"), "--", sys.executable, "-c", code]) == 128 + 15


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give a folder, -- and a program"),
        (["out"], "give a folder, -- and a program"),
        (["--", "program"], "one folder before --"),
        (["one", "two", "--", "program"], "one folder before --"),
        (["out", "--"], "a program after it"),
        (["out", "--", "/no/such/program"], "cannot run /no/such/program: No such file or directory"),
        (["show", "nothing"], "nothing is not a capture: there is no such folder"),
        (["replay", "empty"], "empty is not a capture: it has no .jsonl file"),
        (["export", "file", "1"], "file is not a capture: it is a file, and a capture is a folder"),
    ],
)
def test_wrong_words(tmp_path, monkeypatch, capsys, words, message):
    """What could not begin leaves no folder behind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    assert main(["capture", *words]) == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("show", "is a capture; `capture show {folder}` writes its page"),
        ("graph", "is a capture; `capture export` writes one of its dispatches as a model"),
    ],
)
def test_other_commands_name_the_one_for_captures(recorded, capsys, command, message):
    assert main([command, str(recorded)]) == 2
    assert capsys.readouterr().err == f"{command}: {recorded} {message.format(folder=recorded)}\n"


def test_a_folder_with_something_in_it_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine").write_text("x")
    assert main(["capture", str(tmp_path), "--", "program"]) == 2
    assert "already exists" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_page_that_cannot_be_written(recorded, tmp_path, capsys):
    target = tmp_path / "missing" / "page.html"
    assert main(["capture", "show", str(recorded), "--html", str(target)]) == 2
    assert "No such file or directory" in capsys.readouterr().err
