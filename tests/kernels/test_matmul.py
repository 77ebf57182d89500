"""Native products of matrices against FLOAT64, and against themselves in every layout and partition."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels import matmul
from directml_py.kernels.decisions import Declined
from directml_py.kernels.matmul import (
    aligned,
    multiply_packed,
    multiply_whole,
    native_multiply,
    numpy_multiply,
    oriented,
    pack_panels,
    panels_size,
)

# Batches, rows, steps, columns: on both sides of the sizes of tiles, blocks and panels.
SIZES = [
    ((), 1, 1, 1),
    ((), 1, 5, 7),
    ((), 7, 5, 1),
    ((), 1, 300, 100),
    ((), 1, 4099, 70),
    ((), 2, 33, 1541),
    ((), 6, 255, 16),
    ((), 8, 256, 32),
    ((), 9, 257, 33),
    ((), 17, 700, 65),
    ((), 31, 31, 31),
    ((), 140, 40, 400),
    ((), 300, 64, 1000),
    ((3,), 64, 64, 64),
    ((2, 3), 5, 6, 40),
]
LAYOUTS = {
    "packed": np.ascontiguousarray,
    "transposed": lambda x: np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2),
    "gapped": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "negative": lambda x: np.flip(np.flip(x).copy()),
}
DTYPES = {"float32": np.float32, "float16": np.float16}


@pytest.fixture(autouse=True)
def no_blas(native, monkeypatch):
    monkeypatch.setattr(matmul, "WORTH_BLAS", dict.fromkeys(matmul.WORTH_BLAS, 1 << 62))


def whole_numbers(shape, dtype, seed):
    """Sums of their products are exact."""
    return np.random.default_rng(seed).integers(-30, 31, shape).astype(dtype)


def guarded_result(batch, rows, columns):
    """Gaps between rows that must not be touched."""
    room = np.full((*batch, rows, columns + 3), 7, np.float32)
    return room, room[..., :columns]


@swept("sizes", SIZES)
@pytest.mark.parametrize("left", DTYPES)
@swept("right", DTYPES)
@pytest.mark.usefixtures("threads")
def test_products_are_exact_in_all_layouts(sizes, left, right):
    batch, rows, depth, columns = sizes
    a = whole_numbers((*batch, rows, depth), DTYPES[left], 1)
    b = whole_numbers((*batch, depth, columns), DTYPES[right], 2)
    wanted = np.matmul(a.astype(np.float64), b.astype(np.float64))
    for one in LAYOUTS.values():
        for other in LAYOUTS.values():
            room, out = guarded_result(batch, rows, columns)
            if columns == 1:
                room = out = np.empty(wanted.shape, np.float32)
            run = native_multiply(one(a), other(b), out)
            assert run
            run()
            np.testing.assert_array_equal(out, wanted)
            assert (room[..., columns:] == 7).all()


@pytest.mark.slow
@swept("rows", [1, 2, 7, 8, 9])
@swept("depth", [1, 300, 4099])
@swept("columns", [16, 33, 64, 65, 150])
@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.usefixtures("threads")
def test_few_rows_pass_through_panels(rows, depth, columns, left):
    """With the last panel whole or not, alone or the second of two."""
    a = whole_numbers((2, rows, depth), DTYPES[left], 1)
    b = whole_numbers((2, depth, columns), np.float32, 2)
    size = panels_size(1, columns, depth)
    memory, _ = aligned(np.empty(2 * size + 64, np.uint8), 2 * size)
    pack_panels(b.swapaxes(-1, -2), 1, memory)
    for one in LAYOUTS.values():
        room, out = guarded_result((2,), rows, columns)
        multiply_packed(one(a), memory, out)()
        np.testing.assert_array_equal(out, np.matmul(a.astype(np.float64), b.astype(np.float64)))
        assert (room[..., columns:] == 7).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axes", [(0, 1, 2), (0, 2, 1)], ids=["rows", "columns"])
@pytest.mark.parametrize("gap", [0, 3])
def test_panels_are_packed_from_any_address(native, dtype, axes, gap):
    """Also where a line is longer than what is packed at once, and the last panel is not whole."""
    matrices = whole_numbers((2, 97, 133), DTYPES[dtype], 1).transpose(axes)
    _, rows, depth = matrices.shape
    size = panels_size(1, rows, depth)
    # Narrow panels do not fill it.
    memory, _ = aligned(np.full(2 * size + 64, 0xFF, np.uint8), 2 * size)
    pack_panels(matrices, 1, memory)
    wanted = memory.tobytes()
    width = matrices.shape[-1] + gap
    data = np.concatenate([matrices, np.full((2, rows, gap), 7, matrices.dtype)], -1).tobytes()
    for offset in range(1, matrices.itemsize):
        moved = np.frombuffer(b"\xff" * offset + data, matrices.dtype, 2 * rows * width, offset)
        moved = moved.reshape(2, rows, width)[..., :depth]
        assert not moved.flags.aligned
        memory.fill(0xFF)
        pack_panels(moved, 1, memory)
        assert memory.tobytes() == wanted


def test_a_row_alone_is_that_among_others(native):
    a, b = (np.random.default_rng(4).standard_normal(sizes, np.float32) for sizes in ((5, 700), (700, 97)))
    size = panels_size(1, 97, 700)
    memory, _ = aligned(np.empty(size + 64, np.uint8), size)
    pack_panels(b.T[np.newaxis], 1, memory)
    together, alone = np.empty((5, 97), np.float32), np.empty((5, 97), np.float32)
    multiply_packed(a, memory, together)()
    for row in range(5):
        multiply_packed(a[row : row + 1], memory, alone[row : row + 1])()
    np.testing.assert_array_equal(alone, together)


def test_factors_are_broadcast(native):
    a, b = whole_numbers((4, 1, 5, 6), np.float32, 1), whole_numbers((3, 6, 33), np.float32, 2)
    out = np.empty((4, 3, 5, 33), np.float32)
    native_multiply(a, b, out)()
    np.testing.assert_array_equal(out, a @ b)
    row = np.broadcast_to(b[:1, :1], b.shape)
    native_multiply(a, row, out)()
    np.testing.assert_array_equal(out, a @ row)


def test_sums_do_not_depend_on_threads_or_neighbours(set_threads):
    """Each element is added up in the same order, whatever tile and thread it falls to."""
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((300, 600), np.float32), rng.standard_normal((600, 500), np.float32)
    found = []
    for count in (1, 2, 3):
        set_threads(count)
        out = np.empty((300, 500), np.float32)
        native_multiply(a, b, out)()
        found.append(out)
    part = np.empty((41, 70), np.float32)
    native_multiply(a[13:54], b[:, 90:160], part)()
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(part, found[0][13:54, 90:160])
    np.testing.assert_allclose(found[0], a.astype(np.float64) @ b, rtol=0, atol=1e-4)


@pytest.mark.parametrize("rows", [1, 3, 20])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_infinities_and_nan_stay_in_their_rows_and_columns(rows, layout, native):
    a, b = np.ones((rows, 70), np.float32), np.ones((70, 50), np.float32)
    a[-1, 69], b[3, 49] = np.inf, np.nan
    out = np.empty((rows, 50), np.float32)
    native_multiply(LAYOUTS[layout](a), LAYOUTS[layout](b), out)()
    wanted = np.full((rows, 50), 70, np.float32)
    wanted[-1], wanted[:, 49] = np.inf, np.nan
    np.testing.assert_array_equal(out, wanted)


def test_what_the_loop_does_not_take(native):
    a, b, out = np.ones((2, 3)), np.ones((3, 4), np.float32), np.empty((2, 4), np.float32)
    assert isinstance(native_multiply(a, b, out), Declined)


def test_what_the_loop_reorders(native):
    """A result whose rows lie apart, and an operand that is not aligned."""
    a, b = whole_numbers((2, 3), np.float32, 1), whole_numbers((3, 4), np.float32, 2)
    askew = np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3)
    askew[...] = a
    room = np.full((2, 8), 7, np.float32)
    native_multiply(askew, b, room[:, ::2])()
    np.testing.assert_array_equal(room[:, ::2], a @ b)
    assert (room[:, 1::2] == 7).all()


@swept("is_native", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@swept("turned", [(False, False), (False, True), (True, False)])
@swept("sizes", [(1, 700, 97), (90, 700, 1), (1, 1, 40), (33, 300, 65), (6, 5, 4)])
def test_sums_do_not_depend_on_layouts(sizes, turned, dtype, is_native, native):
    """Whatever the layouts of both operands, they are those of tensors that are packed, some of them transposed."""
    multiply = native_multiply if is_native else numpy_multiply
    rows, depth, columns = sizes
    rng = np.random.default_rng(7)
    a = oriented(rng.standard_normal(oriented(np.empty((2, rows, depth)), turned[0]).shape), turned[0])
    b = oriented(rng.standard_normal(oriented(np.empty((2, depth, columns)), turned[1]).shape), turned[1])
    a, b = a.astype(DTYPES[dtype]), b.astype(DTYPES[dtype])
    expected, out = np.empty((2, rows, columns), np.float32), np.zeros((2, columns, rows), np.float32)
    multiply(a, b, expected, turned)()
    for one in LAYOUTS.values():
        for other in LAYOUTS.values():
            multiply(one(a), other(b), out.swapaxes(1, 2), turned)()
            np.testing.assert_array_equal(out.swapaxes(1, 2), expected)


@pytest.mark.parametrize("is_native", [True, False])
def test_a_matrix_times_its_own_transpose(is_native, native):
    """The same as times a copy of that."""
    multiply = native_multiply if is_native else numpy_multiply
    a = np.random.default_rng(1).standard_normal((70, 300), np.float32)
    one, other = np.empty((70, 70), np.float32), np.empty((70, 70), np.float32)
    multiply(a, a.T, one, (False, True))()
    multiply(a, a.copy().T, other, (False, True))()
    np.testing.assert_array_equal(one, other)


def test_blas_takes_large_ones(native, monkeypatch):
    monkeypatch.setattr(matmul, "WORTH_BLAS", dict.fromkeys(matmul.WORTH_BLAS, 24))
    monkeypatch.setattr(matmul, "SHALLOW", dict.fromkeys(matmul.SHALLOW, 3))
    monkeypatch.setattr(matmul, "FEW_ROWS", 1)
    assert native_multiply(*(np.ones(shape, np.float32) for shape in ((2, 3), (3, 4), (2, 4))))
    monkeypatch.setattr(matmul, "SHALLOW", dict.fromkeys(matmul.SHALLOW, 2))
    a, b, out = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32), np.empty((2, 4), np.float32)
    assert isinstance(native_multiply(a, b, out), Declined)
    assert native_multiply(a.astype(np.float16), b, out)
    assert native_multiply(np.ones((1, 30), np.float32), np.ones((30, 4), np.float32), out[:1])
    multiply_whole(a, b, out)
    assert (out == 3).all()


@pytest.mark.usefixtures("threads")
@swept("offset", [0, 4])
@swept("m, k, n", [(37, 8, 448), (9, 256, 64), (40, 257, 96), (17, 5, 80)])
def test_results_that_are_streamed(native, m, k, n, offset):
    """Results beyond the cache, as small ones here seem to be: of one slice of k or two, at a line or beside one."""
    whole = np.random.default_rng(3).integers(-9, 10, (2, m * k + k * n)).astype(np.float32)
    a, b = whole[:, : m * k].reshape(2, m, k), whole[:, m * k :].reshape(2, k, n)
    memory = np.full(2 * m * n + 64, 77, np.float32)
    first = -(memory.ctypes.data // 4) % 16 + offset + 16
    out = memory[first : first + 2 * m * n].reshape(2, m, n)
    before = native.lib.dml_set_stream_bytes(1)
    try:
        native_multiply(a, b, out)()
    finally:
        native.lib.dml_set_stream_bytes(before)
    np.testing.assert_array_equal(out, np.matmul(a.astype(np.float64), b))
    assert (memory[:first] == 77).all()
    assert (memory[first + out.size :] == 77).all()


BYTE_TYPES = {"uint8": np.uint8, "int8": np.int8}


def some_bytes(shape, dtype, seed):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("left", BYTE_TYPES)
@swept("right", BYTE_TYPES)
@swept("sizes", [(1, 1, 1), (1, 9, 33), (1, 4099, 70), (1, 64, 4096), (5, 33, 17), (3, 7, 1)])
@swept("zeros", ["none", "single", "by row", "by column"])
@pytest.mark.usefixtures("threads")
def test_products_of_bytes(sizes, left, right, zeros):
    rows, depth, columns = sizes
    a, b = (
        some_bytes((2, rows, depth), BYTE_TYPES[left], 1),
        some_bytes((2, depth, columns), BYTE_TYPES[right], 2),
    )
    # The largest products of all.
    a[..., 0], b[:, 0] = np.iinfo(a.dtype).min, np.iinfo(b.dtype).min
    a_zero = b_zero = None
    if zeros != "none":
        a_zero = some_bytes((1, rows if zeros == "by row" else 1, 1), a.dtype, 3)
        b_zero = some_bytes((1, 1, columns if zeros == "by column" else 1), b.dtype, 4)
    wanted = np.matmul(
        a.astype(np.int64) - (0 if a_zero is None else a_zero.astype(np.int64)),
        b.astype(np.int64) - (0 if b_zero is None else b_zero.astype(np.int64)),
    )
    out = np.empty(wanted.shape, np.int32)
    run = matmul.byte_products(a, a_zero, b, b_zero, out)
    if not run:
        assert (zeros == "by column" and rows > 1) or columns == 1
        return
    run()
    np.testing.assert_array_equal(out, wanted)


def test_sums_of_bytes_wrap(native):
    depth = (1 << 31) // 255**2 + 100
    a, b = np.full((1, depth), 255, np.uint8), np.full((depth, 3), 255, np.uint8)
    out = np.empty((1, 3), np.int32)
    matmul.byte_products(a, None, b, None, out)()
    assert (out == depth * 255**2 - (1 << 32)).all()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux lists threads there")
@pytest.mark.parametrize("rows", [1, 4])
def test_products_that_are_short_for_the_bytes_they_read_start_threads(rows):
    """A factor of 9 MB, of which each element is used once or a few times."""
    code = f"""
        import os
        import numpy as np
        from directml_py.kernels.backend import backend
        from directml_py.kernels.matmul import multiply_packed
        from directml_py.kernels.matmul import aligned, panels_size

        backend.native.lib.dml_set_threads(2)
        a, out = np.ones(({rows}, 768), np.float32), np.empty(({rows}, 3072), np.float32)
        size = panels_size(1, 3072, 768)
        memory, _ = aligned(np.zeros(size + 64, np.uint8), size)
        before = len(os.listdir("/proc/self/task"))
        multiply_packed(a, memory, out)()
        print(len(os.listdir("/proc/self/task")) - before, out.any())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["1", "False"], done.stderr
