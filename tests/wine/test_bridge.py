"""The DLLs as Windows programs find them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from building import windows_dlls
from building.libdirectml import Source
from com.building import facts
from generators.catalog import Catalog
from toolchain import missing

from directml_py.wine.loader import DLLS, LIBRARIES, dll_path, environment

from .conftest import PATIENCE, Wine


def test_a_dll_that_a_program_ships_is_never_used(
    wine: Wine, program: Callable[[str], Path], tmp_path: Path
) -> None:
    """Neither beside the program nor by its path; functions have names and numbers."""
    shutil.copy(program("bridge"), tmp_path / "bridge.exe")
    shutil.copy(program("shipped"), tmp_path / "DirectML.dll")
    assert facts(wine.command(tmp_path / "bridge.exe", f"Z:{tmp_path}"), wine.environment())


@pytest.mark.parametrize("name", DLLS)
def test_which_are_builtin_modules_to_wine(name: str) -> None:
    """Only those that Wine does not have itself may bear the mark."""
    path = dll_path(name)
    if not path.exists():
        missing("gcc-mingw-w64-x86-64")
    marked = path.read_bytes()[0x40:0x60] == b"Wine builtin DLL".ljust(32, b"\0")
    assert marked == (name == windows_dlls.BRIDGE or windows_dlls.DLLS[name].is_builtin)
    assert marked == (name in {"directml", "directml_py"})


def test_halves_of_two_builds_do_not_work_together(
    wine: Wine, program: Callable[[str], Path], tmp_path: Path
) -> None:
    """As where a program is started with another version's WINEDLLPATH."""
    shutil.copytree(LIBRARIES, tmp_path / "wine")
    bridge = tmp_path / "wine" / "x86_64-windows" / f"{windows_dlls.BRIDGE}.dll"
    digest = Source(Catalog()).digest().encode()
    assert bridge.read_bytes().count(digest) == 1
    bridge.write_bytes(bridge.read_bytes().replace(digest, digest[::-1]))
    variables = {**environment(wine.prefix, wine.environment()), "WINEDLLPATH": str(tmp_path / "wine")}
    command = [wine.loader, str(program("ends")), "return"]
    run = subprocess.run(command, env=variables, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    assert run.stderr.startswith("directml_py.dll was built from sources other than those of "), run.stderr
    assert run.returncode == 99


def test_threads_that_wine_does_not_know(wine: Wine, program: Callable[[str], Path]) -> None:
    """They signal, and release last references; the program's own objects and events are left to a thread of Wine's."""
    lines = facts(wine.command(program("native_threads")), wine.environment(), PATIENCE)
    assert len(lines) == 16
    assert all(line.startswith("ok ") for line in lines)
