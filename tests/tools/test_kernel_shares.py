"""What native kernels compute of a captured program, and what NumPy does."""

from __future__ import annotations

import time

import numpy as np
import pytest
from benchmarks import step_times
from clients import kernel_shares

import directml_py as dml
from directml_py.capturing.parser import read_capture
from directml_py.graph import Graph
from directml_py.kernels.backend import backend
from directml_py.kernels.move import move

native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")


def tensor(sizes):
    return dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, sizes)


@pytest.fixture
def shares(tmp_path):
    """Of a program that adds twice, normalizes once in NumPy, and runs a graph of both once."""
    x, sizes = np.ones((1, 1, 8, 64), np.float32), [1, 1, 8, 64]
    with dml.capture(tmp_path / "out"):
        for _ in range(2):
            dml.evaluate(dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(*[tensor(sizes)] * 3), [x, x])
        norm = dml.DML_LP_NORMALIZATION_OPERATOR_DESC(tensor(sizes), tensor(sizes), 3, 0.0, 2)
        dml.evaluate(norm, [x])
        graph = Graph()
        a, b = (graph.input_tensor(name, dml.DML_TENSOR_DATA_TYPE_FLOAT32, sizes) for name in "ab")
        graph.compile({"norm": graph.lp_normalization(a + b, axis=3, epsilon=0.0, p=2)}).run([x, x])
    found = kernel_shares.KernelShares()
    found.add(read_capture(tmp_path / "out"))
    return found


@native
def test_steps_are_counted_and_timed_by_operator(shares):
    add, norm = (shares.by_operator[name] for name in ("ELEMENT_WISE_ADD", "LP_NORMALIZATION"))
    assert (add.steps, norm.steps) == (3, 2)
    assert add.native > 0 == add.numpy
    assert norm.numpy > 0
    assert not add.reasons
    assert norm.reasons == {"softmax_norm: LP_NORMALIZATION has no native kernel"}
    assert shares.numpy == norm.numpy / shares.total


@native
def test_the_table_begins_with_what_numpy_computes(shares):
    _, _, first, second, _, total = str(shares).splitlines()
    assert first.startswith("| LP_NORMALIZATION | 2 | ")
    assert first.endswith(" | softmax_norm: LP_NORMALIZATION has no native kernel |")
    assert second.startswith("| ELEMENT_WISE_ADD | 3 | ")
    assert second.endswith(" | 0.000 | 0.00% |  |")
    assert total == f"5 steps, {shares.total / 1e6:.1f} ms, of which NumPy computed {shares.numpy:.2%}."


@native
def test_of_a_call_in_python_the_part_in_c_is_native():
    module, source, target = backend.native, np.arange(4), np.zeros(4, int)
    with step_times.timed_library() as library:
        copy = move([(target, source)])
        part = step_times.timed(step_times.TimedStep(0, "", (), lambda: (copy(), time.sleep(0.2))), library)
        whole = step_times.timed(step_times.TimedStep(0, "", (), copy), library)
    assert 0 < part.native < 2e8 <= part.nanoseconds
    assert whole.native == whole.nanoseconds
    assert (target == source).all()
    assert backend.native is module
    assert move([(target, source)]).func == module.lib.dml_move_run
