"""What kernels assert of their tasks: in debug builds, and not in a release."""

from __future__ import annotations

import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from sharing import built_once, shared_folder

from directml_py.kernels.backend import backend

pytest.importorskip("cffi")

from building import native_kernels

MESSAGE = b"assertion failed: "
LOAD = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("directml_py.kernels._native", sys.argv[1])
native = importlib.util.module_from_spec(spec)
spec.loader.exec_module(native)
ffi, lib = native.ffi, native.lib
memory = ffi.new("double[64]")
place = int(ffi.cast("uintptr_t", memory))
"""
SCAN = """
task = ffi.new("dml_scan *", {"x": place, "output": place, "length": 4, "type": 1})
task.x_axis_stride = task.output_axis_stride = 4
task.rank, task.sizes, task.x_strides, task.output_strides = 1, [2], [16], [16]
"""
MATMUL = """
task = ffi.new("dml_matmul_products *", {"m": 2, "n": 2, "k": 2})
for matrix in (task.a, task.b, task.out):
    matrix.memory, matrix.row, matrix.column = place, 8, 4
lib.dml_matmul_prepare(task)
"""
TOP_K = """
task = ffi.new("dml_top_k *", {"x": place, "values": place + 64, "indices": place + 128, "length": 4, "count": 2})
task.type, task.index_item, task.value_axis_stride, task.index_axis_stride = 1, 4, 4, 4
"""
MOVE = """
sizes, strides = ffi.new("int64_t[]", [2, 2]), ffi.new("int64_t[]", [8, 4])
task = ffi.new("dml_move *")
lib.dml_move_prepare(task, 4, 2, sizes, strides, strides, place, place + 64)
"""
NONZERO = """
task = ffi.new("dml_nonzero *", {"x": place, "coordinates": place + 128, "item": 4, "size": 4, "mask": 1})
task.rank, task.width, task.sizes, task.strides, task.row_stride, task.column_stride = 1, 1, [4], [4], 4, 4
"""
CASES = [
    (SCAN, "dml_scan_run(task)", "task.type = 7", "DML_IS_INDEX(task->type, 7)"),
    (SCAN, "dml_scan_run(task)", "task.rank = 9", "DML_IS_RANK(task->rank)"),
    (SCAN, "dml_scan_run(task)", "task.sizes[0] = -1", "task->sizes[i] >= 0"),
    (MATMUL, "dml_matmul_run(task)", "task.k = 0", "task->k >= 1"),
    (MATMUL, "dml_matmul_run(task)", "task.a.memory = place + 2", "DML_IS_ALIGNED(task->a.memory"),
    (MATMUL, "dml_matmul_run(task)", "task.out.column = 8", "task->out.column == 4"),
    (TOP_K, "dml_top_k_run(task)", "task.count = 5", "task->count <= task->length"),
    (TOP_K, "dml_top_k_run(task)", "task.index_item = 2", "task->index_item == 4"),
    (MOVE, "dml_move_run(task, 1)", "task.item = 3", "DML_IS_ITEM(tasks[i].item)"),
    (NONZERO, "dml_nonzero_run(task)", "task.width = 2", "task->width <= task->rank"),
]


def build(folder: Path) -> None:
    module = folder / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    native_kernels.build(["gcc", "-O1", "-g0", "-DDML_DEBUG"], folder, module)


@pytest.fixture
def debug_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if backend.native is None:
        pytest.skip("there is no compiler for the native kernels")
    folder = built_once(shared_folder(tmp_path_factory, "debug-kernels"), build)
    return next(folder.glob("_native*.so"))


def run(library: Path, *lines: str) -> subprocess.CompletedProcess[bytes]:
    code = "\n".join((LOAD, *lines))
    return subprocess.run([sys.executable, "-c", code, str(library)], capture_output=True, timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize(("task", "call", "breach", "condition"), CASES)
def test_a_debug_build_aborts_at_a_broken_task(
    debug_build: Path, task: str, call: str, breach: str, condition: str
) -> None:
    sound = run(debug_build, task, f"lib.{call}")
    assert (sound.returncode, sound.stderr) == (0, b"")
    broken = run(debug_build, task, breach, f"lib.{call}")
    assert broken.returncode == -signal.SIGABRT
    assert MESSAGE in broken.stderr
    assert condition.encode() in broken.stderr
    assert b".c:" in broken.stderr


def test_a_release_has_no_asserts() -> None:
    if backend.native is None:
        pytest.skip("there are no native kernels")
    assert MESSAGE not in Path(backend.native.__file__).read_bytes()
