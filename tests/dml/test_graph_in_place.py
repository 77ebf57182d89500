"""Graphs that write an output where they read an input."""

from __future__ import annotations

import random

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
        # Elements move between nodes.
        ([transposed(4, 4, 2, 1), transposed()], ([(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 0)]), set()),
        # A copy may be a view, which another node reads after the output is written.
        (
            [identity(), identity(4, scale=2), join(4)],
            ([(0, 0, 0)], [(1, 0, 0), (2, 0, 1)], [(0, 0, 1, 0), (0, 0, 2, 0)]),
            set(),
        ),
        (
            [identity(4, scale=3), identity(4, scale=2), join(4)],
            ([(0, 0, 0)], [(1, 0, 0), (2, 0, 1)], [(0, 0, 1, 0), (0, 0, 2, 0)]),
            {(0, 0)},
        ),
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


LAYOUTS = [*[None] * 8, (9, 9, 1, 3), (0, 0, 0, 1)]


def node(choice):
    """An operator over 3 x 3 elements in random layouts, and the number of its inputs."""

    def matrix(layouts):
        return dml.tensor_desc(
            dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 3, 3], choice.choice(layouts), total_size=36
        )

    x, out = matrix(LAYOUTS), matrix(LAYOUTS[:-1])
    desc = choice.choice(
        [
            dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, out),
            dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, out, dml.DML_SCALE_BIAS(3, 1)),
            dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(x, matrix(LAYOUTS), out),
            dml.DML_CUMULATIVE_SUMMATION_OPERATOR_DESC(x, out, 3, dml.DML_AXIS_DIRECTION_INCREASING, False),
            dml.DML_JOIN_OPERATOR_DESC(InputTensors=[x], OutputTensor=out, Axis=3),
        ]
    )
    return desc, 2 if isinstance(desc, dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC) else 1


def random_graph(choice):
    """Up to four nodes over one input: descs, input edges, output edges, intermediate edges."""
    descs, from_input, between = [], [(0, 0, 0)], []
    for index in range(choice.randint(2, 4)):
        desc, inputs = node(choice)
        descs.append(desc)
        for position in range(inputs if index else 0):
            source = choice.randint(-1, index - 1)
            if source < 0:
                from_input.append((0, index, position))
            else:
                between.append((source, 0, index, position))
        if not index and inputs == 2:
            from_input.append((0, 0, 1))
    read = {edge[0] for edge in between}
    out = [index for index in range(len(descs)) if index not in read or choice.random() < 0.3]
    return descs, from_input, [(index, 0, position) for position, index in enumerate(out)], between


def test_random_graphs_in_place(bench):
    """Where a graph says that it works in place, results are those of outputs apart."""
    tried = 0
    x = np.random.default_rng(3).integers(1, 50, 9).astype(np.float32)
    for seed in range(1200):
        op = compiled(bench, *random_graph(random.Random(seed)))
        program = op.program
        expected = results(program, x, None)
        for pair in pairs(op):
            tried += 1
            for one, other in zip(results(program, x, pair), expected):
                np.testing.assert_array_equal(one, other, err_msg=f"seed {seed}, {pair}")
    assert tried > 200


def results(program, x, pair):
    """The graph's outputs, one of which may take the memory of the input."""
    source = x.view(np.uint8).copy()
    outputs = [np.zeros(36, np.uint8) for _ in program.outputs]
    if pair is not None:
        outputs[pair[1]] = source
    program.bind([source], outputs, np.zeros(program.temporary_size, np.uint8))()
    return outputs
