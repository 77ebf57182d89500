"""Graphs that write an output where they read an input."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.dml.compiler.graph_program import GraphProgram

from .graphs import graph
from .helpers import identity, join, tensor


def dispatch(bench, op, inputs, outputs):
    if not op.initialized:
        bench.initialize(op)
    bench.record(op, bench.table(op, inputs, outputs))
    bench.execute()
    assert not bench.removed


def add(size=4):
    one = tensor(size)
    return dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(one, one, one)


BOTH = [(0, 0, 2, 0), (1, 0, 2, 1)]


def transposed(*strides):
    """Of 2 x 2 elements, unless other strides are given."""
    x = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 2, 2], strides or [4, 4, 1, 2])
    y = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 2, 2])
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, y, None)


def reciprocal(size=4):
    return dml.DML_ELEMENT_WISE_RECIP_OPERATOR_DESC(tensor(size), tensor(size), None)


def compiled(bench, descs, *edges):
    return bench.dml.CompileGraph(graph([bench.dml.CreateOperator(desc) for desc in descs], *edges))


def pairs(op):
    program = op.program
    assert isinstance(program, GraphProgram)
    inputs, outputs = range(len(program.inputs)), range(len(program.outputs))
    return {(x, y) for x in inputs for y in outputs if program.works_in_place(x, y)}


def test_a_sum_in_place_of_an_operand(bench):
    """The pattern of tensorflow-directml-plugin's variables."""
    op = compiled(bench, [add()], [(0, 0, 0), (1, 0, 1)], [(0, 0, 0)])
    x, y = bench.holding(1, 2, 3, 4), bench.holding(10, 20, 30, 40)
    dispatch(bench, op, inputs=[x, y], outputs=[x])
    assert bench.read(x).tolist() == [11, 22, 33, 44]
    assert bench.read(y).tolist() == [10, 20, 30, 40]


def test_an_input_that_is_read_after_an_early_write(bench):
    """(1 / (3 y)) + x in place of x: the first steps must not use the output as scratch."""
    descs = [identity(4, scale=3), reciprocal(), add()]
    op = compiled(bench, descs, [(0, 2, 1), (1, 0, 0)], [(2, 0, 0)], [(0, 0, 1, 0), (1, 0, 2, 0)])
    x, y = bench.holding(1, 2, 3, 4), bench.holding(1, 2, 4, 8)
    dispatch(bench, op, inputs=[x, y], outputs=[x])
    expected = np.float32([1, 2, 3, 4]) + 1 / (3 * np.float32([1, 2, 4, 8]))
    np.testing.assert_allclose(bench.read(x), expected, rtol=1e-6)
    assert bench.read(y).tolist() == [1, 2, 4, 8]


def test_an_update_that_reads_what_it_writes_twice(bench):
    """x + 3 x, again and again."""
    op = compiled(bench, [identity(4, scale=3), add()], [(0, 0, 0), (0, 1, 0)], [(1, 0, 0)], [(0, 0, 1, 1)])
    x = bench.holding(1, 2, 3, 4)
    for factor in (4, 16):
        dispatch(bench, op, inputs=[x], outputs=[x])
        assert bench.read(x).tolist() == [factor * value for value in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("descs", "edges", "expected"),
    [
        ([add()], ([(0, 0, 0), (1, 0, 1)], [(0, 0, 0)]), {(0, 0), (1, 0)}),
        # Both of two readers must lead to the output.
        ([identity(), identity()], ([(0, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 0, 1)]), set()),
        ([identity(), identity()], ([(0, 0, 0), (1, 1, 0)], [(0, 0, 0), (1, 0, 1)]), {(0, 0), (1, 1)}),
        # The chain leads through an operator that does not work in place, or begins at one.
        (
            [identity(), join(4), add()],
            ([(0, 0, 0), (1, 2, 1)], [(2, 0, 0)], [(0, 0, 1, 0), (1, 0, 2, 0)]),
            {(1, 0)},
        ),
        ([join(4), identity()], ([(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 0)]), set()),
        # Elements move: the last read of one may come after the first write of another.
        ([identity(), transposed(), add()], ([(0, 0, 0), (1, 1, 0)], [(2, 0, 0)], BOTH), {(0, 0)}),
        # Alone as well; strides of single elements lead nowhere.
        ([transposed()], ([(0, 0, 0)], [(0, 0, 0)]), set()),
        ([transposed(9, 7, 2, 1)], ([(0, 0, 0)], [(0, 0, 0)]), {(0, 0)}),
        ([transposed(4, 4, 2, 0)], ([(0, 0, 0)], [(0, 0, 0)]), set()),
        # The second node writes another output, not in place of its input.
        (
            [identity(), identity(4, scale=2)],
            ([(0, 0, 0)], [(0, 0, 0), (1, 0, 1)], [(0, 0, 1, 0)]),
            {(0, 0), (0, 1)},
        ),
    ],
)
def test_which_outputs_may_take_the_memory_of_which_inputs(bench, descs, edges, expected):
    assert pairs(compiled(bench, descs, *edges)) == expected
