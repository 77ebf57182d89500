"""``python -m directml_py exec``: the environment it sets, and its errors."""

from __future__ import annotations

import pytest

from directml_py.cli import config_command, exec_command, main


def test_the_folder_comes_first_and_empty_parts_go() -> None:
    """An empty entry of LD_LIBRARY_PATH would be the working directory."""
    folder = str(config_command.FOLDER)
    made = exec_command.environment(
        {"LD_LIBRARY_PATH": ":/one::/two", "TF_DIRECTML_PATH": "/other", "KEPT": "1"}
    )
    assert made == {
        "LD_LIBRARY_PATH": f"{folder}:/one:/two",
        "TF_DIRECTML_PATH": folder,
        "DIRECTML_PY_LIBDIR": folder,
        "KEPT": "1",
    }
    assert exec_command.environment({})["LD_LIBRARY_PATH"] == folder


def test_no_such_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(config_command, "check_library", lambda: None)
    assert main(["exec", "/nowhere/program", "-x"]) == 2
    assert capsys.readouterr().err == "exec: /nowhere/program: No such file or directory\n"


def test_no_library(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing() -> None:
        raise config_command.Missing("there is none")

    monkeypatch.setattr(config_command, "check_library", missing)
    assert main(["exec", "true"]) == 2
    assert capsys.readouterr().err == "exec: there is none\n"
