"""What the files of the native kernels are like: short macros, and files that an editor can open."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sweeps import swept
from toolchain import later, missing

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "directml_py" / "kernels" / "native"
FILES = sorted(path.relative_to(NATIVE).as_posix() for path in NATIVE.rglob("*.*"))
TEMPLATES = [file for file in FILES if file.endswith(".inc")]
LONGEST_MACRO = 40
# A function of a header may be for another file.
WARNINGS = ("-Wall", "-Werror", "-Wno-unused-function", "-Wno-unused-variable")


def macros(text: str) -> dict[str, int]:
    """The lines of each macro, those that continue it included."""
    joined = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:.*\\\n)*)", text, re.MULTILINE)
    return {name: continued.count("\n") + 1 for name, continued in joined}


def editor_flags() -> list[str]:
    """The compiler flags that .clangd has for the native kernels."""
    added = re.search(r"Add: \[(.*?)\]", (ROOT / ".clangd").read_text(encoding="utf-8"), re.DOTALL)
    assert added is not None
    return [flag for flag in re.split(r"[\s,]+", added[1]) if flag != "-xc"]


def test_macros_are_counted_with_their_continuations():
    assert macros("#define ONE 1\n#define TWO(x) \\\n    x \\\n    + x\nint y;\n") == {"ONE": 1, "TWO": 3}


@swept("file", FILES)
def test_long_loops_are_templates_not_macros(file: str) -> None:
    lengths = macros((NATIVE / file).read_text(encoding="utf-8"))
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_MACRO} == {}


def compile_alone(compiler: str, file: str, *flags: str) -> str:
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("the flags in .clangd are those of x86-64")
    if shutil.which(compiler) is None:
        missing(compiler)
    # A header is opened as one, by a file that includes it: #pragma once has no meaning in a main file.
    source = f'#include "{file}"\n' if file.endswith(".h") else (NATIVE / file).read_text(encoding="utf-8")
    folder = NATIVE if file.endswith(".h") else (NATIVE / file).parent
    command = [compiler, *editor_flags(), *WARNINGS, *flags, f"-I{folder}", "-xc", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("compiler", "file"),
    [
        *(("gcc", file) for file in TEMPLATES),
        *later(*(("gcc", file) for file in FILES if file not in TEMPLATES)),
        *later(*(("clang", file) for file in FILES)),
    ],
)
def test_a_file_opens_alone(compiler: str, file: str) -> None:
    compile_alone(compiler, file, "-fsyntax-only")


@swept("file", TEMPLATES)
def test_a_template_says_what_its_parameters_are(file: str) -> None:
    assert (NATIVE / file).read_text(encoding="utf-8").startswith("/* Template: ")


@pytest.mark.parametrize("room", sorted({file.split("/")[0] for file in TEMPLATES}))
def test_templates_leave_none_of_their_parameters_defined(room: str) -> None:
    parameters = set()
    for file in TEMPLATES:
        if file.startswith(f"{room}/"):
            alone = re.search(r"^#ifndef \w+\n(.*?)^#endif", (NATIVE / file).read_text("utf-8"), re.M | re.S)
            assert alone is not None, f"{file} cannot be opened alone"
            parameters |= {name for name in macros(alone[1]) if not name.startswith("DML_")}
    assert {"NAME", "T"} <= parameters
    defined = macros(compile_alone("gcc", f"{room}/kernels.c", "-E", "-dM"))
    assert "DML_ONCE" in defined
    assert parameters & set(defined) == set()
