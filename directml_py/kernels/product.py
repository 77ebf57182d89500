"""Products of matrices of FLOAT32 or FLOAT16, added up in FLOAT32, over the native loop or NumPy's BLAS."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from .backend import backend
from .binding import Array, Run, address, bound, in_turn
from .convolution import byte_convolution
from .half import widened
from .windows import Window

FLOAT32 = np.dtype(np.float32)
TYPES = (FLOAT32, np.dtype(np.float16))
# Dimensions before the last two.
MAX_RANK = 6
# Products of bytes that are bound one by one.
MAX_BATCH = 256
ONE_BY_ONE = Window.of((1,))
# The products that one matrix takes from which on BLAS, which knows the processor better, is as fast.
WORTH_BLAS = 1 << 26


def multiply(a: Array, b: Array, out: Array) -> Run:
    """The call that stores the products of {..., M, K} and {..., K, N} in FLOAT32 {..., M, N}.

    The leading dimensions of the factors broadcast. Sizes are at least 1; the result lies apart from the factors.
    """
    return multiplied(a, b, out) or partial(multiply_whole, a, b, out)


def multiply_whole(a: Array, b: Array, out: Array) -> None:
    """The twin."""
    with np.errstate(all="ignore"):
        np.matmul(widened(a), widened(b), out=out)


def multiplied(a: Array, b: Array, out: Array) -> Run | None:
    """The native loop; None where it does not do, or BLAS does better."""
    if out.shape[-1] == 1 < out.shape[-2]:
        a, b, out = (x.swapaxes(-1, -2) for x in (b, a, out))
    if backend.native is None or is_for_blas(a, b) or not is_for_loop(a, b, out):
        return None
    *batch, rows, columns = out.shape
    ffi, lib = backend.native.ffi, backend.native.lib
    task = ffi.new("dml_products *")
    task.rows, task.columns, task.depth = rows, columns, a.shape[-1]
    task.rank, task.sizes[0 : len(batch)] = len(batch), batch
    a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    for matrix, x in ((task.a, a), (task.b, b), (task.out, out)):
        matrix.memory = address(x)
        matrix.batch[0 : len(batch)] = x.strides[:-2]
        # Where there is no other element it lies next to this one.
        matrix.row, matrix.column = (
            x.itemsize if size == 1 else stride for size, stride in zip(x.shape[-2:], x.strides[-2:])
        )
        matrix.is_half = x.dtype != FLOAT32
    lib.dml_product_prepare(task)
    return bound(lib.dml_product_run, task, memory=(a, b, out))


def is_for_loop(a: Array, b: Array, out: Array) -> bool:
    known = a.dtype in TYPES and b.dtype in TYPES and out.dtype == FLOAT32 and out.ndim - 2 <= MAX_RANK
    together = out.strides[-1] == out.itemsize or out.shape[-1] == 1
    return known and together and all(x.flags.aligned for x in (a, b, out))


def is_for_blas(a: Array, b: Array) -> bool:
    """Whether both are FLOAT32 as BLAS takes it, and many."""
    products = a.shape[-2] * a.shape[-1] * b.shape[-1]
    return products >= WORTH_BLAS and a.shape[-2] > 1 and all(is_blas_matrix(x) for x in (a, b))


def is_blas_matrix(x: Any) -> bool:
    row, column = x.strides[-2:]
    return x.dtype == FLOAT32 and x.itemsize in (row, column) and min(row, column) > 0


def byte_products(a: Array, a_zero: Array | None, b: Array, b_zero: Array | None, out: Array) -> Run | None:
    """The call that stores ``(a - a_zero) x (b - b_zero)``, which wraps, in INT32: the loop of convolutions, to which
    rows of ``a`` are filters of a single element, and columns of ``b`` what these see.

    None if it does not take that: it takes INT8 and UINT8, and a single zero point for ``b``.
    """
    batch = out.shape[:-2]
    if prod(batch) > MAX_BATCH or (b_zero is not None and b_zero.size > 1):
        return None
    runs = []
    for place in np.ndindex(batch):
        left, right, target = a[place][:, :, np.newaxis], b[place][np.newaxis], out[place][np.newaxis]
        run = byte_convolution(right, b_zero, left, a_zero, target, ONE_BY_ONE, 1)
        if run is None:
            return None
        runs.append(run)
    return in_turn(runs)
