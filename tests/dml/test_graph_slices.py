"""SLICE and SLICE1 in compiled graphs: strided views, also reversed, into their inputs."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml

from .graphs import FLOAT32, Graphs

S = [4, 16]
BYTES = 4 * 16 * 4


@pytest.fixture
def g():
    return Graphs()


def slice_(g, sizes, offsets, counts, strides):
    return g.operator(
        dml.DML_SLICE_OPERATOR_DESC(
            dml.tensor_desc(FLOAT32, sizes),
            dml.tensor_desc(FLOAT32, counts),
            Offsets=offsets,
            Sizes=counts,
            Strides=strides,
        )
    )


def slice1(g, sizes, offsets, windows, strides, data_type=FLOAT32, lying=None):
    counts = [1 + (window - 1) // abs(stride) for window, stride in zip(windows, strides)]
    return g.operator(
        dml.DML_SLICE1_OPERATOR_DESC(
            dml.tensor_desc(data_type, sizes, lying),
            dml.tensor_desc(data_type, counts),
            InputWindowOffsets=offsets,
            InputWindowSizes=windows,
            InputWindowStrides=strides,
        )
    )


def backwards(g, sizes, lying=None):
    return slice1(g, sizes, [0] * len(sizes), sizes, [-1] * len(sizes), lying=lying)


def folded(compiled):
    return [step.operator for step in compiled.program.plan.steps if step.folded]


def temporary(compiled):
    return compiled.GetBindingProperties().TemporaryResourceSize


def x(sizes=S, seed=1):
    return np.random.default_rng(seed).integers(-99, 99, sizes).astype(np.float32)


def scaled(array):
    return array * 2 + 1


@pytest.mark.kind_device
def test_a_slice_between_nodes_is_a_view(g):
    compiled = g.compile(
        [g.scale(S), slice1(g, S, [0, 1], [4, 15], [-2, 3]), g.scale([2, 5])],
        [(0, 0, 0)],
        [(2, 0, 0)],
        [(0, 0, 1, 0), (1, 0, 2, 0)],
    )
    assert folded(compiled) == ["SLICE1"]
    assert temporary(compiled) == BYTES
    np.testing.assert_array_equal(g.run(compiled, x())[0], scaled(scaled(x())[::-2, 1::3]))


def test_a_slice_of_a_slice(g):
    """Backwards twice, with steps in between."""
    compiled = g.compile(
        [
            g.scale(S),
            backwards(g, S),
            slice_(g, S, [1, 2], [3, 7], [1, 2]),
            backwards(g, [3, 7]),
            g.scale([3, 7]),
        ],
        [(0, 0, 0)],
        [(4, 0, 0)],
        [(0, 0, 1, 0), (1, 0, 2, 0), (2, 0, 3, 0), (3, 0, 4, 0)],
    )
    assert folded(compiled) == ["SLICE1", "SLICE", "SLICE1"]
    expected = scaled(scaled(x())[::-1, ::-1][1:4, 2:15:2][::-1, ::-1])
    np.testing.assert_array_equal(g.run(compiled, x())[0], expected)


@pytest.mark.parametrize("lying", [None, [1, 4], [0, 1]])
def test_a_slice_of_a_graph_input(g, lying):
    """Of any layout, also one that is broadcast."""
    compiled = g.compile([backwards(g, S, lying), g.sum(S, 1)], [(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 0)])
    assert folded(compiled) == ["SLICE1"]
    values = np.broadcast_to(x([1, 16]), S) if lying == [0, 1] else x()
    np.testing.assert_array_equal(g.run(compiled, values)[0], values[::-1].sum(1, keepdims=True))


def test_a_slice_of_a_constant(g):
    data = np.arange(4, dtype=np.float32)
    compiled = g.compile(
        [data, backwards(g, [2, 2]), g.scale([2, 2])], [], [(2, 0, 0)], [(0, 0, 1, 0), (1, 0, 2, 0)]
    )
    assert g.run(compiled)[0].tolist() == [[7, 5], [3, 1]]


def test_a_slice_from_input_to_output_stays(g):
    compiled = g.compile([backwards(g, S)], [(0, 0, 0)], [(0, 0, 0)])
    assert folded(compiled) == []
    np.testing.assert_array_equal(g.run(compiled, x())[0], x()[::-1, ::-1])


def test_slices_are_joined(g):
    """The halves are swapped, one of them reversed; JOIN copies straight from the sliced tensor."""
    part = [2, 16]
    compiled = g.compile(
        [
            g.scale(S),
            slice1(g, S, [2, 0], part, [-1, 1]),
            slice_(g, S, [0, 0], part, [1, 1]),
            g.join([part, part], S, 0),
        ],
        [(0, 0, 0)],
        [(3, 0, 0)],
        [(0, 0, 1, 0), (0, 0, 2, 0), (1, 0, 3, 0), (2, 0, 3, 1)],
    )
    assert folded(compiled) == ["SLICE1", "SLICE"]
    whole = scaled(x())
    np.testing.assert_array_equal(g.run(compiled, x())[0], np.concatenate([whole[:1:-1], whole[:2]]))


@pytest.mark.kind_device
def test_a_value_is_joined_with_its_own_slice(g):
    """The value is written into the joined tensor, and the slice is a view into that."""
    compiled = g.compile(
        [g.scale(S), backwards(g, S), g.join([S, S], [8, 16], 0)],
        [(0, 0, 0)],
        [(2, 0, 0)],
        [(0, 0, 1, 0), (0, 0, 2, 0), (1, 0, 2, 1)],
    )
    assert folded(compiled) == ["SLICE1"]
    assert temporary(compiled) == 0
    whole = scaled(x())
    np.testing.assert_array_equal(g.run(compiled, x())[0], np.concatenate([whole, whole[::-1, ::-1]]))


def test_a_slice_of_what_is_split(g):
    part = [2, 16]
    compiled = g.compile(
        [g.scale(S), g.split(S, [part, part], 0), backwards(g, part), g.scale(part), g.scale(part, 3, 0)],
        [(0, 0, 0)],
        [(3, 0, 0), (4, 0, 1)],
        [(0, 0, 1, 0), (1, 1, 2, 0), (2, 0, 3, 0), (1, 0, 4, 0)],
    )
    assert folded(compiled) == ["SPLIT", "SLICE1"]
    one, two = g.run(compiled, x())
    np.testing.assert_array_equal(one, scaled(scaled(x())[:1:-1, ::-1]))
    np.testing.assert_array_equal(two, scaled(x())[:2] * 3)


def test_a_slice_of_a_reinterpreted_value(g):
    """SLICE1 sees {4,4} where the producer wrote {2,8}."""
    compiled = g.compile(
        [g.scale([2, 8]), backwards(g, [4, 4]), g.scale([4, 4])],
        [(0, 0, 0)],
        [(2, 0, 0)],
        [(0, 0, 1, 0), (1, 0, 2, 0)],
    )
    assert folded(compiled) == ["SLICE1"]
    whole = scaled(x([2, 8])).reshape(4, 4)
    np.testing.assert_array_equal(g.run(compiled, x([2, 8]))[0], scaled(whole[::-1, ::-1]))


def test_a_reinterpreted_slice_is_copied(g):
    """The next node reinterprets the slice's bytes, which are not contiguous in a view."""
    compiled = g.compile(
        [g.scale([4, 4]), backwards(g, [4, 4]), g.scale([2, 8])],
        [(0, 0, 0)],
        [(2, 0, 0)],
        [(0, 0, 1, 0), (1, 0, 2, 0)],
    )
    assert folded(compiled) == []
    whole = scaled(x([4, 4]))[::-1, ::-1]
    np.testing.assert_array_equal(g.run(compiled, x([4, 4]))[0], scaled(whole.reshape(2, 8)))


def test_what_a_slice_sees_lives_as_long_as_the_slice(g):
    """Nodes in between get memory of their own, not that of a value of which a slice is still live."""
    small = [4, 1]
    compiled = g.compile(
        [
            g.scale(S),
            slice1(g, S, [0, 3], small, [-1, 1]),
            *(g.scale(S) for _ in range(3)),
            g.sum(S, 1),
            g.join([small, small], [4, 2], 1),
        ],
        [(0, 0, 0), (1, 2, 0)],
        [(6, 0, 0)],
        [(0, 0, 1, 0), (2, 0, 3, 0), (3, 0, 4, 0), (4, 0, 5, 0), (1, 0, 6, 0), (5, 0, 6, 1)],
    )
    assert folded(compiled) == ["SLICE1"]
    one, two = x(seed=1), x(seed=2)
    expected = np.stack([scaled(one)[::-1, 3], scaled(scaled(scaled(two))).sum(1)], 1)
    np.testing.assert_array_equal(g.run(compiled, one, two)[0], expected)


@pytest.mark.parametrize("consumer", ["scale", "sum"])
def test_loops_of_several_threads_read_backwards(g, consumer):
    sizes = [300, 400]
    node = g.scale(sizes) if consumer == "scale" else g.sum(sizes, 0)
    compiled = g.compile([backwards(g, sizes), node], [(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 0)])
    turned = x(sizes)[::-1, ::-1]
    expected = scaled(turned) if consumer == "scale" else turned.sum(0, keepdims=True)
    np.testing.assert_array_equal(g.run(compiled, x(sizes))[0], expected)


def test_slices_of_eight_byte_elements(g):
    """FLOAT64, as graphs of INT64 shapes have it: converted, turned around twice, and converted back."""
    kind = dml.DML_TENSOR_DATA_TYPE_FLOAT64

    def cast(source, target):
        return g.operator(dml.DML_CAST_OPERATOR_DESC(dml.tensor_desc(source, S), dml.tensor_desc(target, S)))

    turn = slice1(g, S, [0, 0], S, [-1, 1], data_type=kind)
    compiled = g.compile(
        [cast(FLOAT32, kind), turn, slice1(g, S, [0, 0], S, [1, -1], data_type=kind), cast(kind, FLOAT32)],
        [(0, 0, 0)],
        [(3, 0, 0)],
        [(0, 0, 1, 0), (1, 0, 2, 0), (2, 0, 3, 0)],
    )
    assert folded(compiled) == ["SLICE1", "SLICE1"]
    np.testing.assert_array_equal(g.run(compiled, x())[0], x()[::-1, ::-1])


def test_slices_before_and_behind_elements_of_four_bits(g):
    """4-bit tensors have no views: they are read through one slice, and their results through another."""
    small, scale = dml.DML_TENSOR_DATA_TYPE_INT4, dml.tensor_desc(FLOAT32, S, [0, 0])
    kind = dml.DML_QUANTIZATION_TYPE_SCALE
    floats, nibbles = dml.tensor_desc(FLOAT32, S), dml.tensor_desc(small, S)
    quantize = dml.DML_QUANTIZE_OPERATOR_DESC(floats, kind, QuantizationTensors=[scale], OutputTensor=nibbles)
    restore = dml.DML_DEQUANTIZE_OPERATOR_DESC(
        nibbles, kind, QuantizationTensors=[scale], OutputTensor=floats
    )
    compiled = g.compile(
        [
            slice1(g, S, [0, 0], S, [1, -1]),
            g.operator(quantize),
            g.operator(restore),
            slice1(g, S, [0, 0], S, [-2, 1]),
            g.scale([2, 16]),
        ],
        [(0, 0, 0), (1, 1, 1), (1, 2, 1)],
        [(4, 0, 0)],
        [(0, 0, 1, 0), (1, 0, 2, 0), (2, 0, 3, 0), (3, 0, 4, 0)],
    )
    assert folded(compiled) == ["SLICE1", "SLICE1"]
    values = np.arange(64, dtype=np.float32).reshape(S) % 15 - 7
    result = g.run(compiled, values * 2, np.full(S, 2, np.float32))[0]
    np.testing.assert_array_equal(result, scaled(values[::-2, ::-1] * 2))
