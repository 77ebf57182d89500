"""Graphs that write an output where they read an input."""

from __future__ import annotations

import random

import numpy as np
import pytest

import directml_py as dml
from directml_py.dml.compiler.graph_program import GraphProgram

from .graphs import graph
from .helpers import identity, join, power, tensor


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
    return {(x, y) for x in inputs for y in outputs if program.is_in_place_listed(x, y)}


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


def scatter():
    """Two of four elements, for four; the updates are negated first."""
    kind = dml.DML_TENSOR_DATA_TYPE_UINT32
    desc = dml.DML_SCATTER_OPERATOR_DESC(
        tensor(4), dml.tensor_desc(kind, [1, 1, 1, 2]), tensor(2), tensor(4), 3
    )
    return [identity(2, scale=-1), desc]


SCATTER_EDGES = [(0, 1, 0), (1, 1, 1), (2, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 2)]


@pytest.mark.kind_device
def test_a_scatter_in_place_of_a_variable(bench):
    """No page says that it works in place; tensorflow-directml-plugin does it."""
    op = compiled(bench, scatter(), *SCATTER_EDGES)
    x, updates = bench.holding(1, 2, 3, 4), bench.holding(10, 20)
    indices = bench.buffer(8)
    bench.fill(indices, np.array([3, 1], np.uint32))
    dispatch(bench, op, inputs=[x, indices, updates], outputs=[x])
    assert bench.read(x).tolist() == [1, -20, 3, -10]


def softmax():
    return dml.DML_ACTIVATION_SOFTMAX_OPERATOR_DESC(tensor(4), tensor(4))


def log_softmax():
    return dml.DML_ACTIVATION_LOG_SOFTMAX_OPERATOR_DESC(tensor(4), tensor(4))


def relu_gradient():
    return dml.DML_ACTIVATION_RELU_GRAD_OPERATOR_DESC(tensor(4), tensor(4), tensor(4))


@pytest.mark.kind_device
@pytest.mark.parametrize(
    ("desc", "others", "both", "expected"),
    [
        (softmax(), [], np.log([1, 2, 3, 4]), [0.1, 0.2, 0.3, 0.4]),
        (log_softmax(), [], np.log([1, 2, 3, 4]), np.log([0.1, 0.2, 0.3, 0.4])),
        (relu_gradient(), [[1, -1, 2, 0]], [5, 6, 7, 8], [5, 0, 7, 0]),
        (power(4), [[2, 3, 4, 5]], [3, 2, 0.5, 0], [8, 9, 2, 1]),
    ],
)
def test_an_operator_in_place_of_what_its_page_does_not_list(bench, desc, others, both, expected):
    op, last = bench.compile(desc), bench.holding(*both)
    dispatch(bench, op, inputs=[*(bench.holding(*other) for other in others), last], outputs=[last])
    np.testing.assert_allclose(bench.read(last), expected, rtol=1e-6)


@pytest.mark.kind_device
def test_halves_that_change_places(bench):
    """SPLIT and JOIN do not work in place, and neither moves anything by itself here; but the one ends before the other
    begins."""
    halves = dml.DML_SPLIT_OPERATOR_DESC(tensor(4), OutputTensors=[tensor(2), tensor(2)], Axis=3)
    joined = dml.DML_JOIN_OPERATOR_DESC(InputTensors=[tensor(2), tensor(2)], OutputTensor=tensor(4), Axis=3)
    op = compiled(bench, [halves, joined], [(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 1), (0, 1, 1, 0)])
    x = bench.holding(1, 2, 3, 4)
    for expected in ([3, 4, 1, 2], [1, 2, 3, 4]):
        dispatch(bench, op, inputs=[x], outputs=[x])
        assert bench.read(x).tolist() == expected


@pytest.mark.kind_device
def test_a_variable_that_is_gathered_and_scattered(bench):
    """Two elements are negated where they are: the sparse updates of optimizers."""
    indices = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, [1, 1, 1, 2])
    gather = dml.DML_GATHER_OPERATOR_DESC(tensor(4), indices, tensor(2), 3, 1)
    inputs, steps = [(0, 0, 0), (1, 0, 1), (0, 2, 0), (1, 2, 1)], [(0, 0, 1, 0), (1, 0, 2, 2)]
    op = compiled(bench, [gather, *scatter()], inputs, [(2, 0, 0)], steps)
    x, where = bench.holding(1, 2, 3, 4), bench.buffer(8)
    bench.fill(where, np.array([3, 1], np.uint32))
    dispatch(bench, op, inputs=[x, where], outputs=[x])
    assert bench.read(x).tolist() == [1, -2, 3, -4]


def test_the_message_names_the_operator_in_the_way(bench):
    program = compiled(bench, [join(4)], [(0, 0, 0)], [(0, 0, 0)]).program
    assert program.why_not_in_place(0, 0) == (
        "Nodes[0] (DML_OPERATOR_JOIN) does not work in place of InputTensors[0]"
    )
    both = [identity(), join(4)], [(0, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 0, 1)]
    assert compiled(bench, *both).program.why_not_in_place(0, 0) == (
        "Nodes[1] (DML_OPERATOR_JOIN) reads it as InputTensors[0] and does not lead to Nodes[0] "
        "(DML_OPERATOR_ELEMENT_WISE_IDENTITY), which writes the output"
    )


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


@pytest.mark.slow
def test_random_graphs_in_place(bench):
    """Where a graph says that it works in place, results are the same as with separate outputs."""
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
