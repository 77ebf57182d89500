"""What the type checkers are given: a user's programs, and the samples as a user has them."""

from __future__ import annotations

import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from toolchain import missing

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
SAMPLES = ROOT / "directml_py" / "samples"


def user_folder(folder: Path) -> Path:
    """The programs, and the samples as a package of the user's own."""
    for path in PROGRAMS.glob("*.py"):
        shutil.copy(path, folder)
    (folder / "ported").mkdir()
    for path in SAMPLES.glob("*.py"):
        shutil.copy(path, folder / "ported")
    return folder


def marked_lines(path: Path) -> set[int]:
    """The lines that say that they are wrong."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if re.search(r"# error$", line)}


def need(module: str) -> None:
    if find_spec(module) is None:
        missing(module)


def of_this_repository() -> dict[str, str]:
    """The environment in which an import finds the package that is tested."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)}
