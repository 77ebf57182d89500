"""The kernel that the page writes from nothing compiles, is found, and computes, in every variant."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from toolchain import missing

from .pages import ROOT, blocks

pytestmark = pytest.mark.slow
PAGE = "docs/inside/kernels.md"
BUILD = """
import sys
from pathlib import Path

sys.path.insert(0, "tools")
from building import native_kernels

compiler, module = sys.argv[1:]
# Without the optimizations of an installation, which take minutes.
native_kernels.build([compiler, "-O1", "-fno-wrapv"], Path("build"), Path(module))
"""
# 0.1 and its like are rounded to FLOAT32 first; what is left is one rounding of the product and one of the sum.
CHECK = """
import sys

import numpy as np

from directml_py.kernels.axpy import axpy
from directml_py.kernels.backend import backend
from directml_py.kernels.launch import NativeRun

lib = backend.native.lib
rng = np.random.default_rng(1)
kinds = [kind for kind in (b"baseline", b"avx2", b"avx512") if lib.dml_use_isa(kind)]
for kind in kinds:
    lib.dml_use_isa(kind)
    for threads in (1, 3):
        lib.dml_set_threads(threads)
        for count in (0, 1, 15, 16, 17, 1023, 1024, 1025, 300_001):
            x, y, out = (rng.standard_normal(count).astype(np.float32) for _ in range(3))
            run = axpy(1.5, x, y, out)
            assert isinstance(run, NativeRun)
            run()
            np.testing.assert_allclose(out, 1.5 * x.astype(np.float64) + y, rtol=3e-7, atol=3e-7)
strided = np.zeros((8, 2), np.float32)[:, 0]
axpy(2.0, np.arange(8, dtype=np.float32), np.ones(8, np.float32), strided)()
assert strided.tolist() == [1, 3, 5, 7, 9, 11, 13, 15]
print(len(kinds))
"""


# What the page tells to add to files that there are: a context's rows, and the number of a launch.
EDITS = {
    "context.h": {
        r'^(#include "fill/dispatch.h")$': r'#include "axpy/dispatch.h"\n\1',
        r"^(    const dml_fill_table \*fill;)$": r"    const dml_axpy_table *axpy;\n\1",
    },
    "context.c": {r"^(    \.)fill( = &dml_)fill(_table_##narrow, *\\)$": r"\1axpy\2axpy\3\n\1fill\2fill\3"},
    "common/declarations.h": {r"^(    DML_LAUNCH_)CONV_RUN,$": r"\1AXPY_RUN,\n\1CONV_RUN,"},
    "common/launch.c": {
        r"^(        DML_LAUNCH\()CONV_RUN, dml_conv_run\)$": r"\1AXPY_RUN, dml_axpy_run)\n\1CONV_RUN, dml_conv_run)"
    },
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the repository with the files of the page."""
    for name in ("directml_py", "docs/_static", "tools", "include", "tests"):
        shutil.copytree(
            ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "_native*", "*.so")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    kernels = tmp_path / "directml_py" / "kernels"
    (kernels / "native" / "axpy").mkdir()
    kernel_list = tmp_path / "tools" / "building" / "kernel_list.py"
    for block in blocks(PAGE):
        if block.file == "entry.txt":
            text = kernel_list.read_text(encoding="utf-8")
            kernel_list.write_text(
                text.replace("KERNELS = (\n", f"KERNELS = (\n{block.text}"), encoding="utf-8"
            )
        elif block.file:
            folder = kernels if block.file.endswith(".py") else kernels / "native" / "axpy"
            (folder / block.file).write_text(block.text, encoding="utf-8")
    for file, replaced in EDITS.items():
        text = (kernels / "native" / file).read_text(encoding="utf-8")
        for pattern, replacement in replaced.items():
            text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
            assert count, f"{file} has no {pattern}"
        (kernels / "native" / file).write_text(text, encoding="utf-8")
    return tmp_path


def test_axpy(clone: Path) -> None:
    compiler = next(filter(shutil.which, ("gcc", "clang")), None)
    if compiler is None:
        missing("a C compiler")

    def run(*command: str, **variables: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(clone), "DIRECTML_PY_KERNELS": "", **variables}
        done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(sys.executable, "tools/generate.py")
    module = f"directml_py/kernels/_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    run(sys.executable, "-c", BUILD, compiler, module)
    assert int(run(sys.executable, "-c", CHECK, DIRECTML_PY_KERNELS="native")) >= 1
