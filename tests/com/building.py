"""Builds C and C++ programs as users would: against libdirectml.so, or with MinGW for Windows."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

from building import windows_dlls
from sharing import built_once
from toolchain import INCLUDE, STANDARD, missing, need_d3d12_headers

from directml_py.wine.loader import dll_path

MINGW = {"c_program": "x86_64-w64-mingw32-gcc", "object_model": "x86_64-w64-mingw32-g++-posix"}
# clang with MinGW's headers; MinGW links what it has compiled.
CLANG = {
    name: f"{clang} --target=x86_64-w64-windows-gnu"
    for name, clang in (("c_program", "clang"), ("object_model", "clang++"))
}
# Sources for which MinGW 10's own headers do not suffice: for Windows they are compiled with the DirectX headers.
NEWER = frozenset({"adapters", "answered", "root_signatures", "unemulated", "upload", "versions"})
PROGRAMS = Path(__file__).resolve().parent / "programs"
INCLUDES = re.compile(r"#include\b")
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
        """``object_model`` (C++) or ``c_program`` (C); ``compiler`` is a command, as in ``MINGW``."""
        key = (name, compiler, *flags)
        if key not in self._built:
            build = _build_for_windows if "-w64-" in compiler else _build_for_linux
            for command in (compiler.split()[0], MINGW[name]) if "-w64-" in compiler else (compiler,):
                if shutil.which(command) is None:
                    missing(command)
            need_d3d12_headers()
            words = [name, *compiler.split(), *(flag.replace("=", "") for flag in flags)]
            self._built[key] = built_once(
                self._folder / "-".join(words), partial(build, name, compiler, flags)
            )
        return self._built[key] / f"{name}{'.exe' if '-w64-' in compiler else ''}"


def _build_for_linux(name: str, compiler: str, flags: Sequence[str], folder: Path) -> None:
    library()
    # Only the C++ program uses threads; eventfd is in no standard.
    rest = ["-pthread"] if "++" in compiler else ["-D_GNU_SOURCE"]
    command = [compiler, STANDARD[compiler], "-O0", *rest, *WARNINGS, *flags]
    command += [f"-I{PROGRAMS}", *config("--cflags")]
    objects = _compile(dict.fromkeys(_units(compiler, folder), command), folder)
    _succeed([compiler, *rest, *flags, *objects, "-o", str(folder / name), *config("--libs")])


def _build_for_windows(name: str, compiler: str, flags: Sequence[str], folder: Path) -> None:
    if not dll_path(windows_dlls.BRIDGE).exists():
        missing(f"{windows_dlls.BRIDGE}.dll")
    command = [
        *compiler.split(),
        STANDARD["g++" if "++" in compiler else "gcc"],
        # Unoptimized, clang defines functions of <typeinfo> that MinGW's library defines, too.
        "-O1" if compiler in CLANG.values() else "-O0",
        *WARNINGS,
        *flags,
        f"-I{INCLUDE}",
        f"-I{PROGRAMS}",
    ]
    command += _mingw_headers() if compiler in CLANG.values() and "++" in compiler else []
    # MinGW's libraries lack the newer IIDs.
    command += [] if "++" in compiler else ["-DINITGUID", "-D__USE_MINGW_ANSI_STDIO"]
    # /usr/include itself has the headers of Linux.
    for headers in ("directx", "dxguids"):
        (folder / headers).symlink_to(f"/usr/include/{headers}")
    newer = [
        "-DINITGUID",
        "-DWITH_DIRECTX_HEADERS",
        "-isystem",
        str(folder / "directx"),
        "-isystem",
        str(folder),
    ]
    commands = {
        unit: [*command, *(newer if unit.stem == "newer" else ())] for unit in _units(compiler, folder)
    }
    objects = _compile(commands, folder)
    dlls = [str(dll_path(name)) for name in windows_dlls.DLLS]
    libraries = ["-ldxguid", "-luuid", "-lpsapi"]
    _succeed([MINGW[name], "-static", *objects, "-o", str(folder / f"{name}.exe"), *dlls, *libraries])


def _mingw_headers() -> list[str]:
    """Where the headers of C++ are that belong to MinGW's compiler."""
    found = _succeed([MINGW["object_model"], "-print-libgcc-file-name"]).stdout
    headers = Path(found).parent / "include" / "c++"
    return [
        word for folder in (headers, headers / "x86_64-w64-mingw32") for word in ("-isystem", str(folder))
    ]


def _units(compiler: str, folder: Path) -> list[Path]:
    """What is compiled: each C file, and the C++ files in a few units, since most of their compilation is headers."""
    if "++" not in compiler:
        return sorted(PROGRAMS.glob("*.c"))
    sources = sorted(PROGRAMS.glob("*.cpp"))
    older = [source for source in sources if source.stem not in NEWER]
    groups = {
        "newer": [source for source in sources if source.stem in NEWER],
        "even": older[::2],
        "odd": older[1::2],
    }
    return [_unit(folder / f"{name}.cpp", group) for name, group in groups.items()]


def _unit(path: Path, sources: Sequence[Path]) -> Path:
    """One file of several, in which topics may have the same names: each is a namespace, after what all of them
    include."""
    texts = {source: source.read_text(encoding="utf-8") for source in sources}
    lines = dict.fromkeys(
        line for text in texts.values() for line in text.splitlines() if INCLUDES.match(line)
    )
    for source in sources:
        line = f'#include "{source.name}"'
        is_shared = source.stem == "main" or source.with_suffix(".h").exists()
        lines[line if is_shared else f"namespace {source.stem}_topics {{\n{line}\n}}"] = None
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _compile(commands: Mapping[Path, list[str]], folder: Path) -> list[str]:
    """The object files that the commands make of their sources."""
    objects = {source: str(folder / f"{source.stem}.o") for source in commands}
    every = [[*command, "-c", str(source), "-o", objects[source]] for source, command in commands.items()]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        list(workers.map(_succeed, every))
    return list(objects.values())


def _succeed(command: list[str]) -> subprocess.CompletedProcess[str]:
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    return run


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
