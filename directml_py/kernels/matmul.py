"""Matrix products of FLOAT32 or FLOAT16, accumulated in FLOAT32, in the native kernel or NumPy's BLAS."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from .backend import backend
from .convolution import BYTES, Quantization, byte_convolution
from .decisions import ABSENT, Declined
from .half import widened
from .launch import NativeRun, launch_in_order
from .move import move
from .native_arrays import Array, Run, address, type_name
from .post_ops import KernelResults, PostOps, followed, run_with
from .reorder import Reorders, lie_together
from .windows import Window

FLOAT32 = np.dtype(np.float32)
TYPES = (FLOAT32, np.dtype(np.float16))
# The maximum number of 8-bit products that are bound one by one.
MAX_BATCH = 256
# When prepacking the right-hand matrix pays: at most this many rows, at least this many bytes, and columns that fill
# half a panel.
FEW_ROWS, NEAR_BYTES, LEAST_COLUMNS = 256, 1 << 15, 16
ONE_BY_ONE = Window.of((1,))
# The number of multiply-adds per matrix from which on BLAS is as fast, by kind of processor.
WORTH_BLAS = {"baseline": 1 << 26, "avx2": 1 << 26, "avx512": 1 << 28, "amx": 1 << 28}
# Up to this depth it is not: the time is that of storing the result.
SHALLOW = {"baseline": 0, "avx2": 0, "avx512": 128, "amx": 128}


def multiply(
    a: Array, b: Array, out: Array, transposed: tuple[bool, bool] = (False, False), post_ops: PostOps = ()
) -> Run:
    """The call that stores the products of {..., M, K} and {..., K, N} in FLOAT32 {..., M, N}, and runs ``post_ops``
    over them.

    The leading dimensions of the operands broadcast. Sizes are at least 1; the result is disjoint from the operands.
    ``transposed`` says which operands are transposes of tensors: their columns lie together where these are packed.
    """
    run = native_multiply(a, b, out, transposed, post_ops)
    return run or followed(numpy_multiply(a, b, out, transposed), post_ops)


def numpy_multiply(a: Array, b: Array, out: Array, transposed: tuple[bool, bool] = (False, False)) -> Run:
    """BLAS, whose sums depend on the layout of small matrices, over packed tensors."""
    reorders = Reorders()
    left, right = (
        oriented(
            reorders.read(oriented(x, is_transposed), lie_together(oriented(x, is_transposed))), is_transposed
        )
        for x, is_transposed in zip((a, b), transposed)
    )
    if np.may_share_memory(left, right):
        # NumPy computes the product of a matrix and its own transpose in another way.
        right = oriented(reorders.read(oriented(right, transposed[1]), is_taken=False), transposed[1])
    target = reorders.write(out, lie_together(out), [left, right])
    return reorders.around(partial(multiply_whole, left, right, target))


def multiply_whole(a: Array, b: Array, out: Array) -> None:
    with np.errstate(all="ignore"):
        np.matmul(widened(a), widened(b), out=out)


def oriented(x: Array, is_transposed: bool) -> Array:
    """The transposes of matrices, if ``is_transposed``."""
    return x.swapaxes(-1, -2) if is_transposed else x


def native_multiply(
    a: Array, b: Array, out: Array, transposed: tuple[bool, bool] = (False, False), post_ops: PostOps = ()
) -> Run | Declined:
    """The native kernel, unless BLAS is as fast."""
    output, is_transposed = out, False
    if out.shape[-1] == 1 < out.shape[-2]:
        a, b, out = (x.swapaxes(-1, -2) for x in (b, a, out))
        transposed, is_transposed = (not transposed[1], not transposed[0]), True
    reason = unsupported(a, b, out)
    if reason is not None:
        return Declined("matmul", reason)
    if min(out.shape[-2:]) > 1 and out.strides[-2] == out.itemsize != out.strides[-1]:
        # Sums are added up in the order of the depth, whichever operand's rows are those of the tiles.
        a, b, out = (x.swapaxes(-1, -2) for x in (b, a, out))
        is_transposed = not is_transposed
    *batch, rows, columns = out.shape
    reorders = Reorders()
    a = reorders.read(a, is_taken=True)
    if rows == 1:
        b = oriented(reorders.read(oriented(b, transposed[1]), is_in_order(b, transposed[1])), transposed[1])
    else:
        b = reorders.read(b, is_taken=True)
    out = reorders.write(out, columns == 1 or out.strides[-1] == out.itemsize, [a, b])
    ffi, lib = backend.native.ffi, backend.native.lib
    task = ffi.new("dml_matmul_products *")
    task.m, task.n, task.k = rows, columns, a.shape[-1]
    task.rank, task.sizes[0 : len(batch)] = len(batch), batch
    a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    for matrix, x in ((task.a, a), (task.b, b), (task.out, out)):
        matrix.memory = address(x)
        matrix.batch[0 : len(batch)] = x.strides[:-2]
        matrix.row, matrix.column = matrix_strides(x)
        matrix.is_half = x.dtype != FLOAT32
    lib.dml_matmul_prepare(task)
    results = KernelResults(output, (prod(batch), rows, columns), not reorders.after, is_transposed)
    return run_with(NativeRun("dml_matmul_run", task, keepalive=(a, b, out)), post_ops, results, reorders)


def matrix_strides(x: Array) -> tuple[int, int]:
    """The strides of rows and columns; a dimension of one element counts as contiguous."""
    row, column = (x.itemsize if size == 1 else stride for size, stride in zip(x.shape[-2:], x.strides[-2:]))
    return row, column


def is_in_order(b: Array, is_transposed: bool) -> bool:
    """Whether the native kernel adds up the products of a row and ``b`` as if it were packed: as sums of rows, or by
    columns if these lie together."""
    row, column = matrix_strides(b)
    if is_transposed and b.shape[-1] > 1 < b.shape[-2]:
        return row == b.itemsize != column
    return column == b.itemsize


def multiply_packed(a: Array, panels: Array, out: Array, post_ops: PostOps = ()) -> Run:
    """``multiply`` for {..., M, K} and {..., K, N} whose right-hand matrices are prepacked as ``panels``, bytes."""
    *sizes, rows, columns = out.shape
    reorders, output = Reorders(), out
    a = reorders.read(a, is_taken=True)
    out = reorders.write(out, out.strides[-1] == out.itemsize, [a])
    ffi, lib = backend.native.ffi, backend.native.lib
    task = ffi.new("dml_matmul_products *")
    task.m, task.n, task.k, task.is_packed = rows, columns, a.shape[-1], 1
    task.rank, task.sizes[0 : len(sizes)] = len(sizes), sizes
    for matrix, x in ((task.a, a), (task.out, out)):
        matrix.memory = address(x)
        matrix.batch[0 : len(sizes)] = x.strides[:-2]
        matrix.row, matrix.column = matrix_strides(x)
        matrix.is_half = x.dtype != FLOAT32
    task.b.memory = address(panels)
    panel_bytes = panels_size(1, columns, a.shape[-1])
    task.b.batch[0 : len(sizes)] = [panel_bytes * prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    lib.dml_matmul_prepare(task)
    results = KernelResults(output, (prod(sizes), rows, columns), not reorders.after)
    return run_with(
        NativeRun("dml_matmul_run", task, keepalive=(a, panels, out)), post_ops, results, reorders
    )


def unsupported(a: Array, b: Array, out: Array) -> str | None:
    """Why the native kernel does not take these operands."""
    if backend.native is None:
        return ABSENT
    for x in (a, b):
        if x.dtype not in TYPES:
            return f"{type_name(x)} has no native kernel"
    if out.dtype != FLOAT32:
        return f"products of {type_name(out)} have no native kernel"
    if out.ndim - 2 > (most := backend.native.lib.DML_MATMUL_BATCH_DIMENSIONS):
        return f"{out.ndim} dimensions are more than {most + 2}"
    return "BLAS is as fast for matrices of this size" if is_for_blas(a, b) else None


def is_for_blas(a: Array, b: Array) -> bool:
    """Whether the product is one of FLOAT32 that is large. A single row is limited by the bandwidth of memory, and
    few rows may have a prepacked right-hand matrix."""
    (rows, depth), columns = a.shape[-2:], b.shape[-1]
    is_large = rows * depth * columns >= WORTH_BLAS[backend.isa] and depth > SHALLOW[backend.isa]
    is_float32 = a.dtype == b.dtype == FLOAT32
    return is_large and is_float32 and rows > 1 and not is_worth_panels(rows, depth, columns, FLOAT32)


def is_worth_panels(rows: int, depth: int, columns: int, dtype: np.dtype[Any]) -> bool:
    """Whether prepacking the right-hand matrix pays: it needs conversion or exceeds a near cache, and there are so few
    rows that the panels which BLAS packs at each call do not amortize. A single row is multiplied by elements where
    they lie, which is as fast as from panels."""
    if backend.native is None or dtype not in TYPES or rows == 1 or columns < LEAST_COLUMNS:
        return False
    is_large = depth * columns * FLOAT32.itemsize > NEAR_BYTES
    return dtype != FLOAT32 or (is_large and rows <= FEW_ROWS)


def byte_products(
    a: Array,
    a_zero: Array | None,
    b: Array,
    b_zero: Array | None,
    out: Array,
    quantization: Quantization | None = None,
) -> Run | Declined:
    """The call that stores ``(a - a_zero) x (b - b_zero)``, which wraps, in INT32; or bytes, requantized as in
    ``byte_convolution``, with the scale of ``b`` as the input's and those of ``a`` as the filters'.

    A single row has a native kernel of its own. Other products run as convolutions, in which rows of ``a`` are 1 x 1
    filters and columns of ``b`` are pixels. Both take INT8 and UINT8, with a single zero point for ``b`` unless ``a``
    is a row.
    """
    batch = out.shape[:-2]
    if prod(batch) > MAX_BATCH:
        return Declined("int8_gemv", f"{prod(batch)} products are more than {MAX_BATCH}")
    runs: list[Run] = []
    for index in np.ndindex(batch):
        run = byte_product(a[index], a_zero, b[index], b_zero, out[index], quantization)
        if not run:
            return run
        runs.append(run)
    return launch_in_order(runs)


def byte_product(
    a: Array,
    a_zero: Array | None,
    b: Array,
    b_zero: Array | None,
    out: Array,
    quantization: Quantization | None,
) -> Run | Declined:
    """``byte_products`` of two matrices."""
    if quantization is None:
        run = int8_gemv(a, a_zero, b, b_zero, out)
        if run:
            return run
    if b_zero is not None and b_zero.size > 1:
        return Declined("conv", "BTensor has several zero points")
    left, right = a[:, :, np.newaxis], b[np.newaxis]
    return byte_convolution(right, b_zero, left, a_zero, out[np.newaxis], ONE_BY_ONE, 1, quantization)


def int8_gemv(a: Array, a_zero: Array | None, b: Array, b_zero: Array | None, out: Array) -> Run | Declined:
    """``byte_products`` of one row, {1, K}, with a matrix whose rows are contiguous."""
    if backend.native is None:
        return Declined("int8_gemv", ABSENT)
    for x, zero in ((a, a_zero), (b, b_zero)):
        if x.dtype not in BYTES:
            return Declined("int8_gemv", f"{type_name(x)} has no native kernel")
        if zero is not None and zero.dtype != x.dtype:
            return Declined("int8_gemv", "a zero point and its tensor have different data types")
    if len(a) > 1:
        return Declined("int8_gemv", f"{len(a)} rows are more than 1")
    reorders = Reorders()
    b = reorders.read(b, 1 in (b.shape[1], b.strides[1]))
    out = reorders.write(out, lie_together(out), [a, b])
    task = backend.native.ffi.new("dml_int8_gemv *")
    task.k, task.n = b.shape
    task.a, task.b, task.out = address(a), address(b), address(out)
    task.a_stride, task.b_stride = a.strides[1], b.strides[0]
    task.a_is_signed, task.b_is_signed = a.dtype == np.int8, b.dtype == np.int8
    zeros = None if b_zero is None else b_zero.reshape(-1)
    if a_zero is not None:
        task.a_zero = address(a_zero)
    if zeros is not None:
        task.b_zero, task.b_zero_stride = address(zeros), zeros.strides[0] if zeros.size > 1 else 0
    return reorders.around(NativeRun("dml_int8_gemv_run", task, keepalive=(a, a_zero, b, zeros, out)))


# The alignment of a panel's vectors.
ALIGNMENT = 64


def panels_size(gates: int, hidden: int, depth: int) -> int:
    """The bytes of the panels of a matrix {gates * hidden, depth}."""
    return int(backend.native.lib.dml_prepack_size(gates, hidden, depth))


def pack_panels(matrices: Array, gates: int, memory: Array) -> None:
    """Pack matrices {count, gates * hidden, depth} of FLOAT32 or FLOAT16 into consecutive panels of FLOAT32 in
    ``memory``, bytes. They need not be aligned: weights may lie anywhere in a file."""
    for run in panels_runs(matrices, gates, memory):
        run()


def panels_runs(matrices: Array, gates: int, memory: Array) -> Sequence[Run]:
    """The calls, in order, that ``pack_panels``."""
    copies: list[Run] = []
    if not matrices.flags.aligned:
        aligned_copy = np.empty_like(matrices)
        copies.append(move([(aligned_copy, matrices)]))
        matrices = aligned_copy
    task = backend.native.ffi.new("dml_prepack *")
    task.count, rows, task.k = matrices.shape
    task.gates, task.hidden, task.panels = gates, rows // gates, address(memory)
    matrix = task.matrix
    matrix.memory, matrix.is_half = address(matrices), matrices.dtype != FLOAT32
    matrix.batch[0], matrix.row, matrix.column = matrices.strides
    return [*copies, NativeRun("dml_prepack_run", task, keepalive=(matrices, memory))]


def aligned(memory: Array, size: int) -> tuple[Array, Array]:
    """``size`` bytes of memory from the first aligned byte on, and the rest."""
    start = -address(memory) % ALIGNMENT
    return memory[start : start + size], memory[start + size :]
