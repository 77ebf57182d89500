"""Compilers and headers that some tests need, and what happens where they are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

INCLUDE = Path(__file__).resolve().parents[1] / "include"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{INCLUDE}")
STANDARD = {"gcc": "-std=c11", "clang": "-std=c11", "g++": "-std=c++17", "clang++": "-std=c++17"}
D3D12_HEADERS = ("-isystem", "/usr/include/wsl/stubs", "-isystem", "/usr/include/directx")

NOT_INSTALLED = "is not installed"
# The reason that modules give pytest.importorskip, which pytest alone does not make a failure.
NEEDS_PACKAGE = "needs the package"


def tools_are_required() -> bool:
    return bool(os.environ.get("DIRECTML_PY_REQUIRE_TOOLS"))


def missing(what: str) -> None:
    """Skip the test, or fail it where DIRECTML_PY_REQUIRE_TOOLS is set."""
    reason = f"{what} {NOT_INSTALLED}"
    if tools_are_required():
        pytest.fail(reason)
    pytest.skip(reason)


def need_package(name: str) -> Any:
    """A package of the extra ``test-all``."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        missing(f"the package {name.partition('.')[0]}")


def need_d3d12_headers() -> None:
    if not Path("/usr/include/directx/d3d12.h").is_file():
        missing("directx-headers-dev")


def later(*cases: Any) -> list[Any]:
    """Cases of a parametrised test for the slow run: compilers and standards beyond the first ones."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for case in cases
    ]


class Toolchain:
    """Compiles source texts against ``include/DirectML.h`` with warnings as errors."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _command(self, compiler: str, flags: Sequence[str], d3d12: bool) -> list[str]:
        if shutil.which(compiler) is None:
            missing(compiler)
        if d3d12:
            need_d3d12_headers()
        return [compiler, STANDARD[compiler], *STRICT, *(D3D12_HEADERS if d3d12 else ()), *flags]

    def _source(self, compiler: str, text: str, name: str) -> Path:
        path = self.folder / f"{name}{'.cpp' if '++' in compiler else '.c'}"
        path.write_text(text, encoding="utf-8")
        return path

    def errors(self, compiler: str, text: str, *flags: str, d3d12: bool = False) -> str:
        """What the compiler says about the text; nothing if it is clean. A ``-std`` among the flags wins."""
        command = self._command(compiler, flags, d3d12)
        source = self._source(compiler, text, "probe")
        run = subprocess.run([*command, "-fsyntax-only", str(source)], capture_output=True, text=True)
        assert bool(run.returncode) == bool(run.stderr), run
        return run.stderr

    def object(self, compiler: str, text: str, *flags: str, name: str, d3d12: bool = False) -> str:
        """The path of the object file that the text compiles to."""
        command = self._command(compiler, flags, d3d12)
        target = str(self.folder / f"{name}.o")
        source = self._source(compiler, text, name)
        run = subprocess.run([*command, "-c", str(source), "-o", target], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return target

    def run(self, linker: str, *objects: str) -> str:
        """What the program linked from the objects prints; it must exit with 0."""
        program = str(self.folder / "program")
        link = subprocess.run([linker, *objects, "-o", program], capture_output=True, text=True)
        assert link.returncode == 0, link.stderr
        run = subprocess.run([program], capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)
        return run.stdout


def run_with_d3d12(text: str, folder: Path) -> str:
    """What the C++ program ``text`` prints when it is built against Debian's directx-headers-dev."""
    if shutil.which("g++") is None:
        missing("g++")
    need_d3d12_headers()
    source, program = folder / "probe.cpp", folder / "probe"
    source.write_text(text, encoding="utf-8")
    command = ["g++", "-std=c++17", f"-I{INCLUDE}", *D3D12_HEADERS, str(source), "-o", str(program)]
    build = subprocess.run(command, capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    return subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=60).stdout
