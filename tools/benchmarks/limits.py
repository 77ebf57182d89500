"""The machine's own limits: the fastest read and copy of so many bytes, and a product of so many operations."""

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
    """The loops, compiled for this processor; None where that cannot be done."""
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
        found = ctypes.CDLL(str(target))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    found.limit_read.argtypes = (pointer, size, ctypes.c_int)
    found.limit_stream.argtypes = found.limit_copy.argtypes = (pointer, pointer, size, ctypes.c_int)
    return found


def limits(kind: str, size: int, memory: Recorded, threads: int) -> dict[str, Callable[[], object]]:
    """The candidates for the limit of ``kind``, by name; the fastest of them counts.

    ``read`` and ``copy`` go over ``size`` bytes, in the memory of a dispatch as far as that is large enough; none where
    there is no compiler. ``sgemm`` is a product of FLOAT32 matrices, nearly square, of ``size`` operations, additions
    counted too; it runs on as many threads as NumPy's BLAS was started with.
    """
    if kind == "sgemm":
        return {"limit sgemm": sgemm(size)}
    lib = library()
    if lib is None:
        return {}
    source, target = block(memory.inputs, size), block(memory.outputs, size)
    found: dict[str, Callable[[], object]] = {}
    for count in sorted({1, threads}):
        if kind == "read":
            found[f"limit read {count}"] = partial(_run, lib.limit_read, (source,), size, count)
            continue
        for name, call in (("stream", lib.limit_stream), ("copy", lib.limit_copy)):
            found[f"limit {name} {count}"] = partial(_run, call, (source, target), size, count)
    return found


def sgemm(operations: int) -> Callable[[], object]:
    """BLAS's product of a square matrix and one with as many columns as make up the rest of the operations."""
    rows = max(1, 16 * round((operations / 2) ** (1 / 3) / 16))
    columns = max(1, round(operations / 2 / rows**2))
    left, right = np.ones((rows, rows), np.float32), np.ones((rows, columns), np.float32)
    return partial(np.matmul, left, right, np.empty((rows, columns), np.float32))


def _run(call: Any, blocks: tuple[Any, ...], size: int, threads: int) -> None:
    call(*(block.ctypes.data for block in blocks), size, threads)


def block(tensors: Sequence[Any], size: int) -> Any:
    """``size`` bytes from the beginning of the first tensor's memory; elsewhere if it has not so many."""
    base = tensors[0].base
    if base is not None and base.nbytes >= size and base.ctypes.data % 32 == 0:
        return base
    fresh = np.ones(size + 64, np.uint8)
    skip = -fresh.ctypes.data % 64
    return fresh[skip : skip + size]
