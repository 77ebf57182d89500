"""What programs for Windows write: each snippet compiles as it is, and runs over libdirectml.so."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from programs import CPP
from toolchain import STANDARD, need_d3d12_headers

from .building import WARNINGS, config, library

SNIPPETS = Path(__file__).resolve().parent / "snippets"
NAMES = sorted(path.stem for path in SNIPPETS.glob("*.cpp"))
# What a snippet needs beside the options of every program.
OPTIONS = {("integer_suffixes", "clang++"): ["-fms-extensions"]}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("compiler", CPP)
def test_snippet(tmp_path: Path, compiler: str, name: str) -> None:
    need_d3d12_headers()
    library()
    program = str(tmp_path / name)
    options = [
        STANDARD[compiler],
        *WARNINGS,
        *config("--cflags"),
        *OPTIONS.get((name, compiler), []),
        str(SNIPPETS / f"{name}.cpp"),
        "-o",
        program,
    ]
    build = subprocess.run([compiler, *options, *config("--libs")], capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    run = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
