"""The native kernels under ThreadSanitizer, in 64 threads of the pool and eight of Python."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from sharing import built_once, shared_folder
from toolchain import missing

from directml_py.kernels.backend import backend

from .calls_of_everything import CALLS

pytest.importorskip("cffi")

from building import native_kernels

ROOT = Path(__file__).resolve().parents[2]
THREADS = 64
# The package loads this build as its own.
LOAD = """
import importlib.util, sys, threading
import directml_py.kernels
spec = importlib.util.spec_from_file_location("directml_py.kernels._native", sys.argv[1])
native = importlib.util.module_from_spec(spec)
spec.loader.exec_module(native)
sys.modules["directml_py.kernels._native"] = native
"""
IN_THREADS = """
errors = []

def work(seed):
    try:
        for name in sorted(SCHEMAS):
            evaluate(name, seed)
        for build, *inputs in CASES.values():
            graph_of(build, *inputs)
    except BaseException as error:
        errors.append(error)

threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not errors, errors
from directml_py.kernels.backend import backend
assert backend.native is native and native.lib.dml_get_threads() == 64
"""


def build(folder: Path) -> None:
    module = folder / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    native_kernels.build(["gcc", "-O1", "-g1", "-fsanitize=thread"], folder, module)


def runtime() -> str:
    """The library of ThreadSanitizer, which must be loaded before Python."""
    found = subprocess.run(
        ["gcc", "-print-file-name=libtsan.so"], capture_output=True, text=True
    ).stdout.strip()
    if not Path(found).is_absolute():
        missing("libtsan")
    return found


@pytest.mark.slow
def test_no_data_race(tmp_path_factory: pytest.TempPathFactory) -> None:
    if backend.native is None:
        pytest.skip("there is no compiler for the native kernels")
    folder = built_once(shared_folder(tmp_path_factory, "tsan-kernels"), build)
    library = next(folder.glob("_native*.so"))
    # Python itself and NumPy are not instrumented: only the functions that they call are known.
    settings = {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1", "LD_PRELOAD": runtime()}
    run = subprocess.run(
        [sys.executable, "-c", LOAD + CALLS + IN_THREADS, str(library)],
        capture_output=True,
        text=True,
        timeout=3000,
        cwd=ROOT,
        env={**os.environ, **settings, "DIRECTML_PY_THREADS": str(THREADS), "OPENBLAS_NUM_THREADS": "1"},
    )
    assert "WARNING: ThreadSanitizer" not in run.stderr, run.stderr[:8000]
    assert run.returncode == 0, run.stderr[-4000:]
