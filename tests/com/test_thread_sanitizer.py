"""libdirectml.so and a C++ program under ThreadSanitizer, with 64 threads."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from building import libdirectml
from sharing import built_once, shared_folder

from .building import Builder, facts, library

SANITIZE = ("-g", "-fsanitize=thread")
ROUNDS, THREADS = "2", "64"


def build(folder: Path) -> None:
    libdirectml.write_source(folder / "libdirectml.c", sys.executable, str(Path(library()).parent))
    python = Path(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDLIBRARY"))
    options = ["-std=gnu11", "-O1", *SANITIZE, "-fvisibility=hidden", "-fPIC", "-shared"]
    options += [
        f"-I{sysconfig.get_paths()['include']}",
        "-Wl,-soname,libdirectml.so",
        f"-Wl,-rpath,{python.parent}",
    ]
    command = ["gcc", *options, "libdirectml.c", str(python), "-o", "libdirectml.so", "-pthread", "-ldl"]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("threads", ROUNDS, THREADS), ("lifetime",), ("released",)])
def test_no_data_race(
    builder: Builder, tmp_path_factory: pytest.TempPathFactory, arguments: tuple[str, ...]
) -> None:
    program = builder.program("object_model", "g++", *SANITIZE)
    folder = built_once(shared_folder(tmp_path_factory, "tsan-library"), build)
    # Python itself and NumPy are not instrumented: only the functions that they call are known.
    options = {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1 halt_on_error=1"}
    assert facts(
        [program, *arguments], {**options, "LD_PRELOAD": str(folder / "libdirectml.so")}, timeout=3000
    )
