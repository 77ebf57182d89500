"""Copy elision and memory planning in compiled graphs."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.dml.compiler import memory_planner

from .graphs import FLOAT32, Graphs, graph

S = [4, 16]
BYTES = 4 * 16 * 4


@pytest.fixture
def g():
    return Graphs()


def plan(compiled):
    return compiled.program.plan


def temporary(compiled):
    return compiled.GetBindingProperties().TemporaryResourceSize


def x(sizes=S, seed=1):
    return np.random.default_rng(seed).normal(size=sizes).astype(np.float32)


def chain(g, count):
    return g.compile(
        [g.running(S) for _ in range(count)],
        [(0, 0, 0)],
        [(count - 1, 0, 0)],
        [(index, 0, index + 1, 0) for index in range(count - 1)],
    )


def repeated(array, count):
    for _ in range(count):
        array = array * np.float32(2) + np.float32(1)
    return array


@pytest.mark.kind_device
@pytest.mark.parametrize(("count", "blocks"), [(1, 0), (2, 1), (3, 2), (4, 2), (9, 2)])
def test_a_chain_needs_two_blocks_however_long(g, count, blocks):
    """A step's inputs and outputs are live together; the last step writes the graph output."""
    compiled = chain(g, count)
    assert temporary(compiled) == blocks * BYTES
    expected = x()
    for _ in range(count):
        expected = np.cumsum(expected, 1, np.float64).astype(np.float32)
    np.testing.assert_allclose(g.run(compiled, x())[0], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [1, 2, 40])
def test_all_ways_to_place_blocks_agree(count):
    places = []
    for place in (memory_planner._pack_few, memory_planner._pack_short, memory_planner._pack_many):
        random = np.random.default_rng(count)
        blocks = [
            memory_planner.TemporaryBlock("", int(size), int(first), int(first + length))
            for size, first, length in random.integers(1, 300, (count, 3))
        ]
        place(blocks)
        places.append([block.offset for block in blocks])
        assert not any(
            one.offset < other.end
            and other.offset < one.end
            and one.first_step <= other.last_step
            and other.first_step <= one.last_step
            for index, one in enumerate(blocks)
            for other in blocks[:index]
        )
    assert places[0] == places[1] == places[2]


@pytest.mark.kind_device
def test_a_diamond_shares_what_its_branches_leave(g):
    """top -> (left, right) -> sums -> join: both branches need top, whose memory is then reused."""
    narrow = [4, 1]
    compiled = g.compile(
        [
            g.running(S),
            g.running(S),
            g.running(S),
            g.sum(S, 1),
            g.sum(S, 1),
            g.join([narrow, narrow], [4, 2], 1),
        ],
        [(0, 0, 0)],
        [(5, 0, 0)],
        [(0, 0, 1, 0), (0, 0, 2, 0), (1, 0, 3, 0), (2, 0, 4, 0), (3, 0, 5, 0), (4, 0, 5, 1)],
    )
    # At most top, left and right live at once; the sums are written into the joined output.
    assert temporary(compiled) == 3 * BYTES
    blocks = plan(compiled).blocks
    assert sorted((block.first_step, block.last_step) for block in blocks) == [(0, 2), (1, 3), (2, 4)]
    twice = np.cumsum(np.cumsum(x(), 1, np.float64), 1)
    expected = np.stack([twice.sum(1)] * 2, 1)
    np.testing.assert_allclose(g.run(compiled, x())[0], expected, rtol=1e-5)


def test_blocks_that_live_together_do_not_overlap(g):
    compiled = chain(g, 12)
    blocks = plan(compiled).blocks
    for index, one in enumerate(blocks):
        for other in blocks[:index]:
            together = one.first_step <= other.last_step and other.first_step <= one.last_step
            apart = one.end <= other.offset or other.end <= one.offset
            assert apart or not together


def folded(compiled):
    return [step.operator for step in plan(compiled).steps if step.folded]


@pytest.mark.kind_device
def test_split_into_nodes_and_join_of_nodes_copy_nothing(g):
    part = [2, 16]
    compiled = g.compile(
        [g.split(S, [part, part], 0), g.scale(part), g.scale(part, -1, 0), g.join([part, part], S, 0)],
        [(0, 0, 0)],
        [(3, 0, 0)],
        [(0, 0, 1, 0), (0, 1, 2, 0), (1, 0, 3, 0), (2, 0, 3, 1)],
    )
    assert folded(compiled) == ["SPLIT", "JOIN"]
    assert temporary(compiled) == 0
    expected = np.concatenate([x()[:2] * 2 + 1, -x()[2:]])
    np.testing.assert_array_equal(g.run(compiled, x())[0], expected)


def test_a_join_of_graph_inputs_must_copy(g):
    part = [2, 16]
    compiled = g.compile([g.join([part, part], S, 0)], [(0, 0, 0), (1, 0, 1)], [(0, 0, 0)])
    assert folded(compiled) == []
    np.testing.assert_array_equal(g.run(compiled, x()[:2], x()[2:])[0], x())


def test_the_same_value_joined_twice(g):
    part = [2, 16]
    compiled = g.compile(
        [g.scale(part), g.join([part, part], S, 0)], [(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 0), (0, 0, 1, 1)]
    )
    half = repeated(x(part), 1)
    np.testing.assert_array_equal(g.run(compiled, x(part))[0], np.concatenate([half, half]))


def test_a_value_that_is_joined_and_a_graph_output(g):
    part = [2, 16]
    compiled = g.compile(
        [g.scale(part), g.scale(part, 3, 0), g.join([part, part], S, 0)],
        [(0, 0, 0), (0, 1, 0)],
        [(2, 0, 0), (0, 0, 1), (0, 0, 2)],
        [(0, 0, 2, 0), (1, 0, 2, 1)],
    )
    joined, one, two = g.run(compiled, x(part))
    np.testing.assert_array_equal(joined, np.concatenate([repeated(x(part), 1), x(part) * 3]))
    np.testing.assert_array_equal(one, repeated(x(part), 1))
    np.testing.assert_array_equal(two, one)


@pytest.mark.kind_device
def test_identities_vanish(g):
    compiled = g.compile(
        [g.identity(S), g.scale(S), g.identity(S), g.identity(S)],
        [(0, 0, 0)],
        [(3, 0, 0)],
        [(0, 0, 1, 0), (1, 0, 2, 0), (2, 0, 3, 0)],
    )
    assert folded(compiled) == ["ELEMENT_WISE_IDENTITY"] * 3
    assert temporary(compiled) == 0
    np.testing.assert_array_equal(g.run(compiled, x())[0], repeated(x(), 1))


def test_an_identity_from_input_to_output_stays(g):
    compiled = g.compile([g.identity(S)], [(0, 0, 0)], [(0, 0, 0)])
    assert folded(compiled) == []
    np.testing.assert_array_equal(g.run(compiled, x())[0], x())


def test_reinterpretation_keeps_the_bytes_in_place(g):
    """The transposed tensor of one node is read as packed by the next: the bytes count, not the elements."""
    sizes, turned = [4, 4], [1, 4]
    compiled = g.compile(
        [g.identity(sizes, None, turned), g.scale(sizes)], [(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 0)]
    )
    assert folded(compiled) == []
    np.testing.assert_array_equal(g.run(compiled, x(sizes))[0], repeated(x(sizes).T, 1))


def test_a_part_of_a_reinterpreted_value(g):
    """SPLIT sees {4,4} where the producer wrote {2,8}."""
    compiled = g.compile(
        [g.scale([2, 8]), g.split([4, 4], [[2, 4], [2, 4]], 0), g.scale([2, 4]), g.scale([2, 4], 3, 0)],
        [(0, 0, 0)],
        [(2, 0, 0), (3, 0, 1)],
        [(0, 0, 1, 0), (1, 0, 2, 0), (1, 1, 3, 0)],
    )
    values = repeated(x([2, 8]), 1).reshape(4, 4)
    one, two = g.run(compiled, x([2, 8]))
    np.testing.assert_array_equal(one, repeated(values[:2], 1))
    np.testing.assert_array_equal(two, values[2:] * 3)


@pytest.mark.kind_device
def test_joins_of_joins_write_into_the_last(g):
    part, half = [1, 16], [2, 16]
    compiled = g.compile(
        [
            *(g.scale(part, index + 1, 0) for index in range(4)),
            g.join([part, part], half, 0),
            g.join([part, part], half, 0),
            g.join([half, half], S, 0),
        ],
        [(0, index, 0) for index in range(4)],
        [(6, 0, 0)],
        [(0, 0, 4, 0), (1, 0, 4, 1), (2, 0, 5, 0), (3, 0, 5, 1), (4, 0, 6, 0), (5, 0, 6, 1)],
    )
    assert folded(compiled) == ["JOIN"] * 3
    assert temporary(compiled) == 0
    row = x(part)
    np.testing.assert_array_equal(g.run(compiled, row)[0], np.concatenate([row * i for i in (1, 2, 3, 4)]))


def test_constants_and_broadcast(g):
    scalar = np.array([3.5], np.float32)
    spread = dml.tensor_desc(FLOAT32, [2, 2], [0, 0])
    take = g.operator(
        dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(spread, dml.tensor_desc(FLOAT32, [2, 2]), None)
    )
    compiled = g.compile([scalar, take], [], [(1, 0, 0)], [(0, 0, 1, 0)])
    assert g.run(compiled)[0].tolist() == [[3.5, 3.5], [3.5, 3.5]]


@pytest.mark.parametrize("size", [2, 4])
def test_a_constant_of_the_bytes_of_its_elements(g, size):
    """ONNX Runtime passes only the elements' bytes: 2 for a FLOAT16 scalar, whose tensor has 4."""
    half = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT16, [1])
    doubled = g.operator(dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(half, half, half))
    data = np.array([1.5, 0], np.float16)[: size // 2]
    compiled = g.compile([data, doubled], [], [(1, 0, 0)], [(0, 0, 1, 0), (0, 0, 1, 1)])
    assert g.run(compiled)[0].tolist() == [3]


@pytest.mark.kind_device
@pytest.mark.parametrize(("size", "expected"), [(0, None), (1, [2, 0]), (3, [2, 4]), (6, [2, 4])])
def test_a_constant_of_other_sizes(g, size, expected):
    """Missing bytes are 0, bytes behind the elements are not read, and a constant without bytes is refused."""
    byte = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT8, [2])
    doubled = g.operator(dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(byte, byte, byte))
    data = np.arange(1, size + 1, dtype=np.uint8)
    desc = graph([data, doubled], [], [(1, 0, 0)], [(0, 0, 1, 0), (0, 0, 1, 1)])
    if expected is not None:
        assert g.run(g.device.CompileGraph(desc))[0].tolist() == expected
        return
    with pytest.raises(dml.DMLError) as caught:
        g.device.CompileGraph(desc)
    found = {(one.rule, one.path) for one in caught.value.diagnostics}
    assert found == {("DML-Graph-constant-empty", "Nodes[0].DataSize")}


def test_a_graph_output_of_two_nodes(g):
    """Both nodes write, in any order, and consumers of either read its own value."""
    even = dml.tensor_desc(FLOAT32, [2], [3])
    pair = dml.tensor_desc(FLOAT32, [2])
    bias = dml.DML_SCALE_BIAS
    spread = g.operator(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(pair, even, bias(1, 10)))
    packed = g.operator(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(pair, pair, bias(1, 20)))
    later = [
        g.operator(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(seen, pair, bias(1, 100)))
        for seen in (even, pair)
    ]
    compiled = g.compile(
        [spread, packed, *later],
        [(0, 0, 0), (0, 1, 0)],
        [(0, 0, 0), (1, 0, 0), (2, 0, 1), (3, 0, 2)],
        [(0, 0, 2, 0), (1, 0, 3, 0)],
    )
    shared, *others = g.run(compiled, np.array([1, 2], np.float32))
    assert [array.tolist() for array in others] == [[111, 112], [121, 122]]
    # The output is bound as the larger of the two tensors, {1+10, 2+10} at elements 0 and 3; element 0 is shared.
    assert shared[0] in (11, 21)
    assert shared[1] == 12


def test_the_constant_may_go_after_compiling(g):
    data = np.arange(4, dtype=np.float32)
    compiled = g.compile([data, g.scale([2, 2])], [], [(1, 0, 0)], [(0, 0, 1, 0)])
    data[:] = np.nan
    assert g.run(compiled)[0].ravel().tolist() == [1, 3, 5, 7]


@pytest.mark.kind_device
def test_owned_inputs_live_in_the_persistent_resource(g):
    owned = g.scale(S, flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML)
    compiled = g.compile(
        [owned, g.scale(S), g.join([S, S], [8, 16], 0)],
        [(0, 0, 0), (1, 1, 0)],
        [(2, 0, 0)],
        [(0, 0, 2, 0), (1, 0, 2, 1)],
    )
    assert compiled.GetBindingProperties().PersistentResourceSize == BYTES
    one, two = x(seed=1), x(seed=2)
    expected = np.concatenate([repeated(one, 1), repeated(two, 1)])
    np.testing.assert_array_equal(g.run(compiled, one, two)[0], expected)


def test_one_input_for_several_nodes_and_one_for_none(g):
    compiled = g.compile(
        [g.scale(S), g.scale(S, 3, 0)], [(0, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 0, 1)], input_count=2
    )
    one, two = g.run(compiled, x(), None)
    np.testing.assert_array_equal(one, repeated(x(), 1))
    np.testing.assert_array_equal(two, x() * 3)


def test_operators_may_go_after_compiling(g):
    compiled = g.device.CompileGraph(graph([g.scale(S)], [(0, 0, 0)], [(0, 0, 0)]))
    assert compiled.op is None
    np.testing.assert_array_equal(g.run(compiled, x())[0], repeated(x(), 1))
