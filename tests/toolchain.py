"""Compilers and headers that some tests need, and what happens where they are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

D3D12_HEADERS = ("-isystem", "/usr/include/wsl/stubs", "-isystem", "/usr/include/directx")


def missing(what: str) -> None:
    """Skip the test, or fail it where DIRECTML_PY_REQUIRE_TOOLS is set."""
    reason = f"{what} is not installed"
    if os.environ.get("DIRECTML_PY_REQUIRE_TOOLS"):
        pytest.fail(reason)
    pytest.skip(reason)


def run_with_d3d12(text: str, folder: Path) -> str:
    """What the C++ program ``text`` prints when it is built against Debian's directx-headers-dev."""
    if shutil.which("g++") is None:
        missing("g++")
    if not Path("/usr/include/directx/d3d12.h").is_file():
        missing("directx-headers-dev")
    source, program = folder / "probe.cpp", folder / "probe"
    source.write_text(text, encoding="utf-8")
    command = ["g++", "-std=c++17", *D3D12_HEADERS, str(source), "-o", str(program)]
    build = subprocess.run(command, capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    return subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=60).stdout
