"""Element-wise fusion in compiled graphs: results are the same as without fusion."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from sweeps import swept
from toolchain import later

import directml_py as dml
from directml_py.graph import Graph
from directml_py.kernels.backend import backend

from .element_graphs import ELEMENT_WISE, FILL, element_graph, run_one_by_one, tensor_of
from .graphs import FLOAT32, Graphs

# Operators without an instruction in the native loops.
UNTRACED = ("ACOS", "ACOSH", "ASIN", "ASINH", "ATAN", "ATANH", "ATAN_YX", "COSH", "SINH", "TAN", "BIT_COUNT")
UNTRACED += ("DEQUANTIZE_LINEAR", "QUANTIZE_LINEAR", "MODULUS_FLOOR", "MODULUS_TRUNCATE")
TRACED = [name for name in ELEMENT_WISE if name.removeprefix("ELEMENT_WISE_") not in UNTRACED]
GRAPHS = 240
BATCH = 20


@pytest.fixture(scope="module")
def device():
    if backend.native is None:
        pytest.skip("the native loops are not built")
    return dml.DMLCreateDevice(dml.D3D12CreateDevice())


def run(made, compiled):
    """The bytes of all outputs, in memory filled beforehand."""
    program = compiled.program
    inputs = [data.copy() for data in made.inputs]
    outputs = [np.full(slot.tensor.total_size, FILL, np.uint8) for slot in program.outputs]
    call = program.bind(inputs, outputs, np.full(program.temporary_size, FILL, np.uint8))
    for _ in range(2):
        call()
    for data, before in zip(inputs, made.inputs):
        np.testing.assert_array_equal(data, before)
    return outputs


def assert_same_bits(one, other, tensor, what):
    """Except for NaN payloads; bytes between elements count."""
    found, expected = tensor.view(one), tensor.view(other)
    if tensor.dtype.kind == "f":
        is_nan = np.isnan(expected)
        np.testing.assert_array_equal(np.isnan(found), is_nan, what)
        for array in (found, expected):
            array[is_nan] = 0
    np.testing.assert_array_equal(one, other, what)


@pytest.mark.parametrize("first", [0, *later(*range(BATCH, GRAPHS, BATCH))])
def test_graphs_against_their_nodes(device, first):
    for seed in range(first, first + BATCH):
        made = element_graph(seed)
        found, expected = run(made, made.compile(device)), run_one_by_one(made)
        for value, one, other in zip(made.outputs, found, expected, strict=True):
            assert_same_bits(one, other, tensor_of(made, value), f"graph {seed}, {made.descs[value[0]]}")


def test_what_can_be_fused_is(device):
    """Every function in a program's vocabulary occurs; fused sets have several inputs and outputs."""
    seen, found = Counter(), set()
    for seed in range(60):
        made = element_graph(seed, 18, TRACED)
        for step in made.compile(device).program.plan.steps:
            if step.fused is not None:
                found |= {made.descs[node].name for node in step.nodes}
                seen["long"] += len(step.nodes) > 3
                seen["several outputs"] += len(step.fused.outputs) > 1
                seen["several inputs"] += len(step.fused.inputs) > 1
    assert found == set(TRACED)
    assert all(seen[what] > 20 for what in seen), seen


S = [4, 300]


@pytest.fixture
def g(device):
    return Graphs()


def fused(compiled):
    return [step.nodes for step in compiled.program.plan.steps if step.fused is not None]


def add(g):
    tensor = dml.tensor_desc(FLOAT32, S)
    return g.operator(dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(tensor, tensor, tensor))


def x(sizes=S, seed=1):
    return np.random.default_rng(seed).normal(size=sizes).astype(np.float32)


def scaled(array):
    return array * np.float32(2) + np.float32(1)


def test_a_chain_runs_at_once_and_needs_no_memory(g):
    between = [(index, 0, index + 1, 0) for index in range(9)]
    compiled = g.compile([g.scale(S) for _ in range(10)], [(0, 0, 0)], [(9, 0, 0)], between)
    assert fused(compiled) == [tuple(range(10))]
    assert compiled.program.temporary_size == 0
    (step,) = compiled.program.plan.steps
    assert step.operator == " + ".join(["ELEMENT_WISE_IDENTITY"] * 10)
    expected = x()
    for _ in range(10):
        expected = scaled(expected)
    np.testing.assert_allclose(g.run(compiled, x())[0], expected, rtol=1e-6)


def test_a_graph_output_is_stored_and_goes_on(g):
    compiled = g.compile(
        [g.scale(S), g.scale(S, -1, 0)], [(0, 0, 0)], [(1, 0, 0), (0, 0, 1), (0, 0, 2)], [(0, 0, 1, 0)]
    )
    assert fused(compiled) == [(0, 1)]
    last, first, again = g.run(compiled, x())
    np.testing.assert_array_equal(first, scaled(x()))
    np.testing.assert_array_equal(again, first)
    np.testing.assert_array_equal(last, -first)


def test_what_waits_for_another_node_does_not_run_before_it(g):
    """scale -> running sums -> sum of both: the sum cannot run with the scale."""
    nodes = [g.scale(S), g.running(S), add(g), g.scale(S, 3, 0)]
    between = [(0, 0, 1, 0), (0, 0, 2, 0), (1, 0, 2, 1), (2, 0, 3, 0)]
    compiled = g.compile(nodes, [(0, 0, 0)], [(3, 0, 0)], between)
    assert fused(compiled) == [(2, 3)]
    top = scaled(x())
    np.testing.assert_allclose(g.run(compiled, x())[0], 3 * (top + np.cumsum(top, 1)), rtol=1e-4, atol=1e-4)


def test_sets_do_not_wait_for_each_other(g):
    """a -> running -> d and b -> running -> c, with a feeding c and b feeding d: either pair can be fused, not both."""
    nodes = [g.scale(S), g.scale(S, 3, 0), g.running(S), g.running(S), add(g), add(g)]
    between = [(0, 0, 2, 0), (1, 0, 3, 0), (0, 0, 4, 0), (3, 0, 4, 1), (1, 0, 5, 0), (2, 0, 5, 1)]
    compiled = g.compile(nodes, [(0, 0, 0), (1, 1, 0)], [(4, 0, 0), (5, 0, 1)], between)
    assert len(fused(compiled)) == 1
    a, b = scaled(x()), x(seed=2) * 3
    c, d = g.run(compiled, x(), x(seed=2))
    np.testing.assert_allclose(c, a + np.cumsum(b, 1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(d, b + np.cumsum(a, 1), rtol=1e-4, atol=1e-4)


def test_identities_between_do_not_separate(g):
    nodes = [g.scale(S), g.identity(S), g.scale(S)]
    compiled = g.compile(nodes, [(0, 0, 0)], [(2, 0, 0)], [(0, 0, 1, 0), (1, 0, 2, 0)])
    assert fused(compiled) == [(0, 2)]
    assert compiled.program.temporary_size == 0
    np.testing.assert_array_equal(g.run(compiled, x())[0], scaled(scaled(x())))


def test_bytes_that_are_read_as_another_tensor_are_written(g):
    """The second node reads the bytes of the first in another order."""
    sizes = [40, 40]
    second = g.scale(sizes, strides=[1, 40])
    compiled = g.compile([g.scale(sizes), second], [(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 0)])
    assert fused(compiled) == []
    np.testing.assert_array_equal(g.run(compiled, x(sizes))[0], scaled(scaled(x(sizes)).T))


def test_a_row_that_is_read_again_and_again_is_written(g):
    """The second operand of the sum is the first row of what the other node writes."""
    row = dml.tensor_desc(FLOAT32, S, [0, 1], total_size=4 * 4 * 300)
    whole = dml.tensor_desc(FLOAT32, S)
    total = g.operator(dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(whole, row, whole))
    compiled = g.compile([g.scale(S), total], [(0, 0, 0), (1, 1, 0)], [(1, 0, 0)], [(0, 0, 1, 1)])
    assert fused(compiled) == []
    np.testing.assert_array_equal(g.run(compiled, x(), x(seed=2))[0], x(seed=2) + scaled(x())[:1])


def test_more_inputs_than_a_program_takes(g):
    """Forty tensors are summed, in programs of up to sixteen tensors."""
    count = 40
    nodes = [add(g) for _ in range(count - 1)]
    inputs = [(0, 0, 0), *((number + 1, number, 1) for number in range(count - 1))]
    between = [(number, 0, number + 1, 0) for number in range(count - 2)]
    compiled = g.compile(nodes, inputs, [(count - 2, 0, 0)], between)
    assert sum(map(len, fused(compiled))) == count - 1
    assert 3 <= len(fused(compiled)) <= 6
    arrays = [x(seed=seed) for seed in range(count)]
    expected = arrays[0]
    for array in arrays[1:]:
        expected = expected + array
    np.testing.assert_array_equal(g.run(compiled, *arrays)[0], expected)


def test_without_native_loops_nothing_is_fused(g, monkeypatch):
    monkeypatch.setitem(vars(backend), "native", None)
    nodes = [g.scale(S), g.scale(S)]
    compiled = g.compile(nodes, [(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 0)])
    assert fused(compiled) == []
    np.testing.assert_array_equal(g.run(compiled, x())[0], scaled(scaled(x())))


def test_halves_are_rounded_between_nodes(g):
    """2049 is not a FLOAT16: the addend is lost before 2048 is subtracted."""
    values = np.array([2048, 1024, 0.5, -0.0], np.float16)
    tensor = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT16, [4])
    nodes = [
        g.operator(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor, tensor, dml.DML_SCALE_BIAS(1, bias)))
        for bias in (1, -2048)
    ]
    compiled = g.compile(nodes, [(0, 0, 0)], [(1, 0, 0), (0, 0, 1)], [(0, 0, 1, 0)])
    assert fused(compiled) == [(0, 1)]
    last, first = g.run(compiled, values)
    assert first.tolist() == [2048, 1025, 1.5, 1]
    assert last.tolist() == [0, -1023, -2046, -2047]


@pytest.mark.parametrize(
    ("kind", "highest"), [("INT8", 127), ("UINT8", 255), ("INT16", 32767), ("UINT32", 2**32 - 1)]
)
def test_integers_wrap_between_nodes(g, kind, highest):
    """Whether x + 1 is greater than x."""
    data_type = dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{kind}"]
    tensor = dml.tensor_desc(data_type, [3])
    truth = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT8, [3])
    nodes = [
        g.operator(dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(tensor, tensor, tensor)),
        g.operator(dml.DML_ELEMENT_WISE_LOGICAL_GREATER_THAN_OPERATOR_DESC(tensor, tensor, truth)),
    ]
    edges = [(0, 0, 0), (1, 0, 1), (0, 1, 1)]
    compiled = g.compile(nodes, edges, [(1, 0, 0)], [(0, 0, 1, 0)])
    assert fused(compiled) == [(0, 1)]
    values = np.array([highest, highest - 1, 0], kind.lower())
    assert g.run(compiled, values, np.ones_like(values))[0].tolist() == [0, 1, 1]


# What hands values on as they are, as numbers or as bits.
PASSING = {
    "nothing": lambda graph, mask, value: value,
    "IF": lambda graph, mask, value: graph.if_(mask, value, value),
    "IDENTITY": lambda graph, mask, value: graph.identity(value),
    "MAX": lambda graph, mask, value: graph.max(value, value),
    "MIN": lambda graph, mask, value: graph.min(value, value),
}
# Numbers that the second type does not hold, and what memory of that type has instead.
CASTS = {
    ("float32", "float16"): {7.7: 7.69921875, -45.003: -45, 1e30: math.inf, 1e-9: 0, -math.inf: -math.inf},
    ("float32", "int16"): {7.7: 7, -45.003: -45, 1e30: 32767, -math.inf: -32768, math.nan: 0},
    ("int32", "float16"): {2049: 2048, -2051: -2052, 65519: 65504, 65520: math.inf, -(2**31): -math.inf},
    ("int32", "int8"): {128: -128, 255: -1, 256: 0, -129: 127, 2**31 - 1: -1},
    ("int32", "uint16"): {65535: 65535, 65536: 0, -1: 65535, -65537: 65535, 2**31 - 1: 65535},
    ("uint32", "float32"): {2**24 + 1: 2**24, 2**32 - 1: 2**32, 2**31 + 129: 2**31 + 256, 7: 7},
}


@pytest.mark.parametrize(("own", "other"), CASTS)
@swept("before", PASSING)
@swept("after", PASSING)
def test_a_cast_gives_what_memory_would_hold(device, own, other, before, after):
    """The value that was cast is not stored, but read again as FLOAT32, which holds all of these."""
    graph = Graph(device)
    numbers = np.array([*CASTS[own, other]], own)
    mask = graph.input_tensor("mask", np.dtype(np.uint8), numbers.shape)
    x = graph.input_tensor("x", numbers.dtype, numbers.shape)
    value = graph.cast(PASSING[before](graph, mask, x), output_data_type=np.dtype(other))
    value = PASSING[after](graph, mask, value)
    result = graph.negate(graph.cast(value, output_data_type=FLOAT32))
    found = graph.compile({"y": result}).run([np.ones(numbers.shape, np.uint8), numbers])[0]
    np.testing.assert_array_equal(found, -np.array([*CASTS[own, other].values()], np.float32))
