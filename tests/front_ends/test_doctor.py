"""``python -m directml_py doctor``: what is missing is named with its package, and only real faults fail."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from documentation.api_pages import environment_page

import directml_py as dml
from directml_py.cli import doctor_command, main
from directml_py.kernels.backend import backend

PACKAGE = Path(dml.__file__).parent


@pytest.fixture
def rows(capsys: pytest.CaptureFixture[str]):
    """``rows()``: the exit code, and each row's state and text by its name."""

    def run() -> tuple[int, dict[str, tuple[str, str]]]:
        code = main(["doctor", "--json"])
        return code, {row["name"]: (row["state"], row["text"]) for row in json.loads(capsys.readouterr().out)}

    return run


def test_programs_that_are_not_on_path(rows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An optional tool is missing, which is no failure."""
    monkeypatch.setenv("PATH", str(tmp_path))
    code, found = rows()
    assert found["CMake"] == (
        "missing",
        "no cmake on PATH; apt-get install cmake (find_package(DirectML))",
    )
    assert found["C++ compiler"][0] == "missing"
    assert found["pytest"] == ("ok", "importable")
    assert code == 0


def test_a_program_that_is(rows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Found by its second name."""
    compiler = tmp_path / "clang++"
    compiler.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert rows()[1]["C++ compiler"] == ("ok", str(compiler))


def test_headers(rows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor_command, "SYSTEM_HEADERS", tmp_path)
    state, text = rows()[1]["Direct3D headers"]
    assert state == "missing"
    assert "apt-get install directx-headers-dev" in text
    (tmp_path / "directx").mkdir()
    (tmp_path / "directx" / "d3d12.h").touch()
    assert rows()[1]["Direct3D headers"][0] == "ok"


def test_a_module_that_is_not_installed(rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_command, "find_spec", lambda name: None)
    assert rows()[1]["rich"] == (
        "missing",
        "not importable; pip install 'directml-py[shell]' (progress bars)",
    )


def test_a_misspelt_variable(rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIRECTML_PY_KERNEL", "numpy")
    code, found = rows()
    assert found["DIRECTML_PY_KERNEL"] == (
        "broken",
        "nothing reads this variable; did you mean DIRECTML_PY_KERNELS?",
    )
    assert code == 1


def test_a_variable_with_a_wrong_value(rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIRECTML_PY_PROFILE", "unkind")
    code, found = rows()
    assert found["profile"][0] == "missing"
    assert found["DIRECTML_PY_PROFILE"][0] == "broken"
    assert "DIRECTML_PY_PROFILE is 'unkind'" in found["DIRECTML_PY_PROFILE"][1]
    assert code == 1


def test_a_variable_with_a_right_value(rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIRECTML_PY_PROFILE", "demanding")
    code, found = rows()
    assert found["profile"] == ("ok", "demanding")
    assert found["DIRECTML_PY_PROFILE"] == ("set", "demanding")
    assert code == 0


def test_without_native_kernels(rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy computes the same, which is no failure."""
    monkeypatch.setattr(backend, "native", None)
    monkeypatch.setattr(backend, "is_plain", False)
    code, found = rows()
    assert found["native kernels"][0] == "missing"
    assert "Debian: gcc python3-dev" in found["native kernels"][1]
    assert code == 0


def test_every_variable_of_the_package_is_known() -> None:
    """Those of pkg-config and of include guards are no variables of the environment."""
    folders = (PACKAGE, PACKAGE.parent / "tools/building", PACKAGE.parent / "tests")
    paths = [path for folder in folders for ending in ("py", "c") for path in folder.rglob(f"*.{ending}")]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    pattern = r'(?:VARIABLE(?:: Final)? = |environ\.get\(|getenv\()"(DIRECTML_PY_[A-Z_]+)"'
    own = {name for text in texts.values() for name in re.findall(pattern, text)}
    assert own == set(doctor_command.VARIABLES)
    product = [text for path, text in texts.items() if folders[2] not in path.parents]
    pattern = r'(?:environ\.get\(|environ\[|getenv\()"([A-Z_]+)"'
    foreign = {name for text in product for name in re.findall(pattern, text)} - own
    assert foreign == set(doctor_command.FOREIGN_VARIABLES)


def test_the_page_of_variables_lists_all() -> None:
    page = environment_page()
    for name in (*doctor_command.VARIABLES, *doctor_command.FOREIGN_VARIABLES):
        assert page.count(f"\n| `{name}` |") == 1
