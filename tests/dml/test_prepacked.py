"""Prepacked weights: OWNED_BY_DML inputs packed at initialization, where that pays off."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.kernels.backend import backend

from .graphs import Graphs
from .helpers import OWNED, floats, initialized_and_moved

FLOAT32, FLOAT16 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_FLOAT16
pytestmark = pytest.mark.skipif(backend.native is None, reason="reference kernels take tensors as they are")


def values(*sizes, seed=3):
    return np.random.default_rng(seed).standard_normal(sizes, np.float32) / 4


def gemm(rows, depth, columns, *, batch=1, data_type=FLOAT32, flags=OWNED, transposed=False, padding=0):
    right = (columns, depth) if transposed else (depth, columns)
    strides = [
        batch * right[0] * (right[1] + padding),
        right[0] * (right[1] + padding),
        right[1] + padding,
        1,
    ]
    return dml.DML_GEMM_OPERATOR_DESC(
        dml.tensor_desc(data_type, [1, batch, rows, depth]),
        dml.tensor_desc(data_type, [1, batch, *right], strides, flags=flags),
        None,
        dml.tensor_desc(data_type, [1, batch, rows, columns]),
        TransB=dml.DML_MATRIX_TRANSFORM_TRANSPOSE if transposed else dml.DML_MATRIX_TRANSFORM_NONE,
        Alpha=1.0,
    )


def arrays_of(op):
    return [
        None if slot.tensor is None else values(*slot.tensor.sizes, seed=index).astype(slot.tensor.dtype)
        for index, slot in enumerate(op.inputs)
    ]


PRODUCTS = {
    "row": {"rows": 1, "depth": 300, "columns": 97},
    "large": {"rows": 40, "depth": 300, "columns": 70},
    "transposed": {"rows": 17, "depth": 257, "columns": 33, "transposed": True},
    "batch of halves": {"rows": 3, "depth": 5, "columns": 40, "batch": 3, "data_type": FLOAT16},
    "padded": {"rows": 9, "depth": 30, "columns": 300, "padding": 500},
    "halves, padded": {"rows": 9, "depth": 30, "columns": 31, "data_type": FLOAT16, "padding": 5},
}


@pytest.mark.parametrize("case", PRODUCTS)
def test_products(bench, case):
    """Results of weights that are OWNED_BY_DML and of others have the same bits, and agree with NumPy in FLOAT64.

    Those of a single row are not prepacked."""
    case = PRODUCTS[case]
    owned, other = bench.compile(gemm(**case)), bench.compile(gemm(**case, flags=0))
    assert list(owned.program.packed) == ([1] if case["rows"] > 1 else [])
    assert not other.program.packed
    a, b, _ = arrays = arrays_of(owned)
    (found,), (plain,) = bench.evaluate(owned, arrays), bench.evaluate(other, arrays)
    np.testing.assert_array_equal(dml.evaluate(gemm(**case), arrays)[0], found)
    right = b.swapaxes(2, 3) if case.get("transposed") else b
    wanted = np.matmul(a.astype(np.float64), right.astype(np.float64))
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=1e-3 if "data_type" in case else 1e-5)
    np.testing.assert_array_equal(found, plain)


@pytest.mark.kind_device
def test_products_of_what_is_left_alone(bench):
    """Not for small or narrow matrices, a single row, or many rows, which go to BLAS."""
    for sizes in ((1, 3000, 97), (2, 3000, 15), (512, 512, 512), (20, 30, 40)):
        op = bench.compile(gemm(*sizes))
        assert not op.program.packed
        assert op.persistent_size == sizes[1] * sizes[2] * 4


@pytest.mark.kind_device
def test_what_is_packed_lives_in_the_persistent_resource_alone(bench):
    """A copy at another offset works too; later changes to the weights have no effect."""
    op = bench.compile(gemm(20, 200, 64))
    a, b, _ = arrays_of(op)
    _, persistent = initialized_and_moved(bench, op, [None, bench.upload(b), None])
    target = bench.buffer(20 * 64 * 4)
    bench.record(op, bench.table(op, [bench.upload(a), None, None], [target], persistent=persistent))
    bench.execute()
    found = bench.read(target, np.float32).reshape(20, 64)
    np.testing.assert_allclose(found, a[0, 0] @ b[0, 0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shared", [False, True])
def test_in_graphs(shared):
    """Inputs of two nodes are not prepacked."""
    g = Graphs()
    nodes = [g.operator(gemm(20, 200, 64)), g.operator(gemm(20, 200, 64))][: 1 + shared]
    edges = [(0, 0, 0), (1, 0, 1), (0, 1, 0), (1, 1, 1)] if shared else [(0, 0, 0), (1, 0, 1)]
    compiled = g.compile(nodes, edges, [(index, 0, index) for index in range(len(nodes))])
    assert list(compiled.program.packed) == ([] if shared else [1])
    a, b = values(20, 200), values(200, 64, seed=4)
    for found in g.run(compiled, a, b):
        np.testing.assert_allclose(found.reshape(20, 64), a @ b, rtol=1e-4, atol=1e-5)


def test_denormals_and_infinity_stay(bench):
    op = bench.compile(gemm(17, 128, 65))
    a, b = np.zeros((1, 1, 17, 128), np.float32), np.zeros((1, 1, 128, 65), np.float32)
    a[0, 0, :, 0], b[0, 0, 0, :3] = 1, floats(1e-42, np.inf, -0.5)
    (found,) = bench.evaluate(op, [a, b, None])
    assert found[0, 0, 3, :3].tolist() == [np.float32(1e-42), np.inf, -0.5]
