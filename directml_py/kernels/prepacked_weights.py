"""Prepacked weights: matrices in the panels of the native matmul, packed once if they stay as they are."""

from __future__ import annotations

import numpy as np

from .backend import backend
from .native_arrays import Array, address

FLOAT32 = np.dtype(np.float32)
# What a panel's vectors are aligned by.
ALIGNMENT = 64


def panels_size(gates: int, hidden: int, depth: int) -> int:
    """The bytes of the panels of a matrix {gates * hidden, depth}."""
    return int(backend.native.lib.dml_prepack_size(gates, hidden, depth))


def pack_panels(matrices: Array, gates: int, memory: Array) -> None:
    """Bring matrices {count, gates * hidden, depth} of FLOAT32 or FLOAT16 into panels of FLOAT32, behind each other in
    ``memory``, bytes."""
    task = backend.native.ffi.new("dml_prepack *")
    task.count, rows, task.k = matrices.shape
    task.gates, task.hidden, task.panels = gates, rows // gates, address(memory)
    matrix = task.matrix
    matrix.memory, matrix.is_half = address(matrices), matrices.dtype != FLOAT32
    matrix.batch[0], matrix.row, matrix.column = matrices.strides
    backend.native.lib.dml_prepack_pack(task)


def aligned(memory: Array, size: int) -> tuple[Array, Array]:
    """``size`` bytes of memory, the first of which is aligned, and what is left."""
    start = -address(memory) % ALIGNMENT
    return memory[start : start + size], memory[start + size :]
