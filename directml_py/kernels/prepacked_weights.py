"""Prepacked weights: matrices in the panel layout of the native matmul, packed once."""

from __future__ import annotations

import numpy as np

from .backend import backend
from .native_arrays import Array, address

FLOAT32 = np.dtype(np.float32)
# The alignment of a panel's vectors.
ALIGNMENT = 64


def panels_size(gates: int, hidden: int, depth: int) -> int:
    """The bytes of the panels of a matrix {gates * hidden, depth}."""
    return int(backend.native.lib.dml_prepack_size(gates, hidden, depth))


def pack_panels(matrices: Array, gates: int, memory: Array) -> None:
    """Pack matrices {count, gates * hidden, depth} of FLOAT32 or FLOAT16 into consecutive panels of FLOAT32 in
    ``memory``, bytes. They need not be aligned: weights may lie anywhere in a file."""
    if matrices.dtype != FLOAT32 and not matrices.flags.aligned:
        matrices = matrices.copy()
    task = backend.native.ffi.new("dml_prepack *")
    task.count, rows, task.k = matrices.shape
    task.gates, task.hidden, task.panels = gates, rows // gates, address(memory)
    matrix = task.matrix
    matrix.memory, matrix.is_half = address(matrices), matrices.dtype != FLOAT32
    matrix.batch[0], matrix.row, matrix.column = matrices.strides
    backend.native.lib.dml_prepack_pack(task)


def aligned(memory: Array, size: int) -> tuple[Array, Array]:
    """``size`` bytes of memory from the first aligned byte on, and the rest."""
    start = -address(memory) % ALIGNMENT
    return memory[start : start + size], memory[start + size :]
