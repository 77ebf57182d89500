"""The threads among which kernels divide their work: a C program, run plainly and under sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest
from sharing import built_once, shared_folder
from toolchain import later, missing

HERE = Path(__file__).resolve().parent
NATIVE = HERE.parents[1] / "directml_py" / "kernels" / "native"
TOPICS = ("threads", "closely", "ends", "long", "arithmetic", "signals", "callers", "forks", "exit")
STRICT = ("-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O2", "-g", "-pthread")
# A child of a process with several threads starts threads of its own, which ThreadSanitizer does not expect.
OPTIONS = {"TSAN_OPTIONS": "die_after_fork=0"}


def build(compiler: str, sanitizers: str, folder: Path) -> None:
    flags = [f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all"] if sanitizers else []
    source, program = HERE / "programs" / "parallel.c", folder / "parallel"
    command = [compiler, *STRICT, *flags, f"-I{NATIVE}", str(source), "-o", str(program), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize(
    ("compiler", "sanitizers"), [("gcc", ""), *later(("clang", "thread"), ("gcc", "address,undefined"))]
)
def test_parallel(
    tmp_path_factory: pytest.TempPathFactory, compiler: str, sanitizers: str, topic: str
) -> None:
    if shutil.which(compiler) is None:
        missing(compiler)
    folder = shared_folder(tmp_path_factory, f"parallel-{compiler}-{sanitizers.replace(',', '-')}")
    program = built_once(folder, partial(build, compiler, sanitizers)) / "parallel"
    done = subprocess.run(
        [program, topic], capture_output=True, text=True, timeout=300, env={**os.environ, **OPTIONS}
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
