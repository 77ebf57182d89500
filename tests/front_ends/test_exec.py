"""``python -m directml_py exec``: the environment it sets, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from directml_py.cli import config_command, exec_command, main


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder that LD_PRELOAD can name, wherever this package is."""
    monkeypatch.setattr(config_command, "FOLDER", Path("/opt/directml/lib"))
    return "/opt/directml/lib"


def test_the_folder_comes_first_and_empty_parts_go(folder: str) -> None:
    """An empty entry of LD_LIBRARY_PATH would be the working directory."""
    made = exec_command.environment(
        {"LD_LIBRARY_PATH": ":/one::/two", "TF_DIRECTML_PATH": "/other", "KEPT": "1"}
    )
    assert made == {
        "LD_LIBRARY_PATH": f"{folder}:/one:/two",
        "TF_DIRECTML_PATH": folder,
        "LD_PRELOAD": f"{folder}/libdirectml_preload.so",
        "DIRECTML_PY_LIBDIR": folder,
        "KEPT": "1",
    }
    assert exec_command.environment({})["LD_LIBRARY_PATH"] == folder


def test_what_a_program_preloads_itself_stays_first(folder: str) -> None:
    """The linker ends names at spaces and colons."""
    made = exec_command.environment({"LD_PRELOAD": "libasan.so.8 /one/two.so:"})
    assert made["LD_PRELOAD"] == f"libasan.so.8:/one/two.so:{folder}/libdirectml_preload.so"


def test_a_folder_that_cannot_be_preloaded_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spaces separate nothing in LD_LIBRARY_PATH, so the library is preloaded by its name."""
    monkeypatch.setattr(config_command, "FOLDER", Path("/a b/lib"))
    made = exec_command.environment({})
    assert (made["LD_LIBRARY_PATH"], made["LD_PRELOAD"]) == ("/a b/lib", "libdirectml_preload.so")


def test_no_such_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(config_command, "check_library", lambda: None)
    assert main(["exec", "/nowhere/program", "-x"]) == 2
    assert capsys.readouterr().err == "exec: /nowhere/program: No such file or directory\n"


def test_a_file_of_this_folder_is_named_by_its_path(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(config_command, "check_library", lambda: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program-of-mine").touch(0o755)
    assert main(["exec", "program-of-mine"]) == 2
    error = "No such file or directory on PATH; the file in this folder is ./program-of-mine"
    assert capsys.readouterr().err == f"exec: program-of-mine: {error}\n"


def test_no_library(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing() -> None:
        raise config_command.Missing("there is none")

    monkeypatch.setattr(config_command, "check_library", missing)
    assert main(["exec", "true"]) == 2
    assert capsys.readouterr().err == "exec: there is none\n"
