"""The DLLs as Windows programs find them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from building import windows_dlls
from com.building import facts
from toolchain import missing

from directml_py.wine.loader import DLLS, dll_path

from .conftest import Wine


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
