"""The README tells the truth, and CONTRIBUTING too."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from toolchain import missing

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_two_commands() -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(commands) == 2
    assert commands[0].endswith("-m directml_py.samples.hello_directml")
    assert re.search(r"-m pytest\b", commands[1])


def test_nox_runs_the_second_command() -> None:
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    (arguments,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PYTEST"
    )
    assert blocks("sh")[1].split()[1:] == list(arguments)


def test_first_program_prints_what_the_readme_says() -> None:
    (program,), (expected,) = blocks("python"), blocks("text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "README.md", "exec"), {})
    assert printed.getvalue().endswith(expected)
    assert "[[[[0. 0. 0. 1. 1. 1. 1.]" in printed.getvalue()


def test_modules_and_files_that_the_readme_names_exist() -> None:
    samples = {path.stem for path in (ROOT / "directml_py" / "samples").glob("*.py")}
    listed = re.search(r"^More programs are in.*?\.$", README, re.MULTILINE | re.DOTALL)
    assert listed is not None
    named = set(re.findall(r"`(\w+)`", listed[0]))
    assert named == samples - {"__init__"}
    for path in re.findall(r"`((?:include|tools|tests|directml_py|\.ci)/[\w./]+)`", README + CONTRIBUTING):
        assert (ROOT / path).exists(), path


def test_the_recipe_for_builders_shows_the_bug_twice(tmp_path: Path) -> None:
    """Compiled, run and failing as the README says: two tests see the bug, two pass."""
    if shutil.which("g++") is None:
        missing("g++")
    (source,) = blocks("cpp")
    (suite,) = (block for block in blocks("py") if "test_builders.py" in block)
    (tmp_path / "builders.cpp").write_text(source, encoding="utf-8")
    (tmp_path / "test_builders.py").write_text(suite, encoding="utf-8")
    command = re.search(r"`(g\+\+ [^`]+ libbuilders\.so)`", README)
    assert command is not None
    arguments = command[1].replace("-Iinclude", f"-I{ROOT / 'include'}").split()
    subprocess.run(arguments, cwd=tmp_path, check=True)
    pytest = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    result = subprocess.run(pytest, cwd=tmp_path, capture_output=True, text=True)
    assert "2 failed, 2 passed" in result.stdout, result.stdout + result.stderr
    for text in (
        "is 64, less than sizes, strides and data type",
        "[DML-BufferTensor-total-size]",
        "64 != 112",
    ):
        assert text in result.stdout


def test_the_graph_runs_as_printed() -> None:
    (program,) = (block for block in blocks("py") if "Graph()" in block)
    numbers = np.array([[0, 1, 5, 3, 4, 2], [2, 3, 1, 9, 0, 4], [4, 5, 7, 7, 6, 8]], np.float32)
    names = {"numbers": numbers.reshape(1, 1, 3, 6)}
    exec(compile(program, "README.md", "exec"), names)
    assert names["result"].reshape(3, 3).tolist() == [[1, 11, 5], [21, 31, 9], [41, 51, 8]]
