"""Builds C and C++ programs against libdirectml.so, as users would."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

from sharing import built_once
from toolchain import STANDARD, missing, need_d3d12_headers

PROGRAMS = Path(__file__).resolve().parent / "programs"
WARNINGS = ("-Wall", "-Wextra", "-Werror")


@cache
def config(*options: str) -> list[str]:
    """Compiler and linker options of ``python -m directml_py config``; see ``_printed``."""
    return shlex.split(_printed(*options))


@cache
def config_path(option: str) -> str:
    """The path that ``python -m directml_py config`` prints, which may contain spaces; see ``_printed``."""
    return _printed(option).rstrip("\n")


def _printed(*options: str) -> str:
    """The test is skipped if there is no library."""
    command = [sys.executable, "-m", "directml_py", "config", *options]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if run.returncode:
        missing(f"libdirectml.so ({run.stderr.strip()})")
    return run.stdout


def library() -> str:
    path = config_path("--library")
    if not Path(path).is_file():
        missing("libdirectml.so")
    return path


class Builder:
    """Builds each program once per compiler and set of flags, in a folder that all workers of a run share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built: dict[tuple[str, ...], Path] = {}

    def program(self, name: str, compiler: str, *flags: str) -> Path:
        """``object_model`` (C++) or ``c_program`` (C)."""
        key = (name, compiler, *flags)
        if key not in self._built:
            if shutil.which(compiler) is None:
                missing(compiler)
            need_d3d12_headers()
            library()
            folder = self._folder / "-".join([name, compiler, *(flag.replace("=", "") for flag in flags)])
            self._built[key] = built_once(folder, partial(_build, name, compiler, flags)) / name
        return self._built[key]


def _build(name: str, compiler: str, flags: Sequence[str], folder: Path) -> None:
    sources = sorted(PROGRAMS.glob("*.cpp" if "++" in compiler else "*.c"))
    # Only the C++ program uses threads; eventfd is in no standard.
    rest = ["-pthread"] if "++" in compiler else ["-D_GNU_SOURCE"]
    options = [STANDARD[compiler], "-O1", *rest, *WARNINGS, *flags, *config("--cflags")]
    options += _precompiled(compiler, options, folder)
    objects = [str(folder / f"{source.stem}.o") for source in sources]
    commands = [
        [compiler, *options, "-c", str(source), "-o", target] for source, target in zip(sources, objects)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        for run in workers.map(_run, commands):
            assert run.returncode == 0, run.stderr
    link = _run([compiler, *rest, *flags, *objects, "-o", str(folder / name), *config("--libs")])
    assert link.returncode == 0, link.stderr


def _precompiled(compiler: str, options: Sequence[str], folder: Path) -> list[str]:
    """Options that take what nearly all programs include from one file: most of their compilation is headers."""
    if not compiler.startswith("g++"):
        return []
    header = PROGRAMS / "bench.h"
    command = [compiler, *options, "-x", "c++-header", str(header), "-o", str(folder / f"{header.name}.gch")]
    run = _run(command)
    assert run.returncode == 0, run.stderr
    return ["-I", str(folder), "-include", header.name, "-Winvalid-pch"]


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def facts(
    command: Sequence[str | Path], environment: dict[str, str] | None = None, timeout: int = 600
) -> list[str]:
    """The facts that a program prints; all must hold, and it must exit with 0."""
    run = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(environment or {})},
    )
    lines = run.stdout.splitlines()
    failed = [line for line in lines if line.startswith("FAIL")]
    assert not failed, "\n".join([*failed, run.stderr[-4000:]])
    assert run.returncode == 0, (run.returncode, run.stdout[-2000:], run.stderr[-4000:])
    return lines
