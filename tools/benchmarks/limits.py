"""The machine's limits: the fastest read and copy of given bytes, and matrix product of given operations."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from .replay_cost import Recorded

SOURCE = Path(__file__).with_name("limits.c")


@cache
def library() -> Any:
    """The loops, compiled for this processor; None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "limits.so"
        command = [
            compiler,
            "-O3",
            "-march=native",
            "-shared",
            "-fPIC",
            "-pthread",
            str(SOURCE),
            "-o",
            str(target),
        ]
        if subprocess.run(command, capture_output=True).returncode:
            return None
        loaded = ctypes.CDLL(str(target))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    loaded.limit_read.argtypes = (pointer, size, ctypes.c_int)
    loaded.limit_stream.argtypes = loaded.limit_copy.argtypes = (pointer, pointer, size, ctypes.c_int)
    return loaded


def limits(kind: str, size: int, memory: Recorded, threads: int) -> dict[str, Callable[[], object]]:
    """The candidates for the limit of ``kind``, by name; the limit is the fastest of them.

    ``read`` and ``copy`` process ``size`` bytes, in a dispatch's memory where that is large enough; empty without a
    compiler. ``sgemm`` is a nearly square FLOAT32 matrix product of ``size`` operations, counting additions; it uses as
    many threads as NumPy's BLAS was started with.
    """
    if kind == "sgemm":
        return {"limit sgemm": sgemm(size)}
    lib = library()
    if lib is None:
        return {}
    source, target = block(memory.inputs, size), block(memory.outputs, size)
    candidates: dict[str, Callable[[], object]] = {}
    for count in sorted({1, threads}):
        if kind == "read":
            candidates[f"limit read {count}"] = partial(_run, lib.limit_read, (source,), size, count)
            continue
        for name, call in (("stream", lib.limit_stream), ("copy", lib.limit_copy)):
            candidates[f"limit {name} {count}"] = partial(_run, call, (source, target), size, count)
    return candidates


def sgemm(operations: int) -> Callable[[], object]:
    """BLAS's product of a square matrix and one with as many columns as the number of operations requires."""
    rows = max(1, 16 * round((operations / 2) ** (1 / 3) / 16))
    columns = max(1, round(operations / 2 / rows**2))
    left, right = np.ones((rows, rows), np.float32), np.ones((rows, columns), np.float32)
    return partial(np.matmul, left, right, np.empty((rows, columns), np.float32))


def _run(call: Any, blocks: tuple[Any, ...], size: int, threads: int) -> None:
    call(*(block.ctypes.data for block in blocks), size, threads)


def block(tensors: Sequence[Any], size: int) -> Any:
    """``size`` bytes from the start of the first tensor's memory; newly allocated if that is too small."""
    base = tensors[0].base
    if base is not None and base.nbytes >= size and base.ctypes.data % 32 == 0:
        return base
    fresh = np.ones(size + 64, np.uint8)
    skip = -fresh.ctypes.data % 64
    return fresh[skip : skip + size]
