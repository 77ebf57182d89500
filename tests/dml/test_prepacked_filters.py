"""Prepacked filters: OWNED_BY_DML filters transformed at initialization, where that pays off."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.kernels.backend import backend
from directml_py.kernels.im2col import convolve
from directml_py.kernels.windows import Window

from .graphs import Graphs
from .helpers import OWNED, Bench, initialized_and_moved

FLOAT32, FLOAT16 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_FLOAT16
SQUARE = Window.of((3, 3), (1, 1), (1, 1), (1, 1), (1, 1))
pytestmark = pytest.mark.skipif(backend.native is None, reason="reference kernels take tensors as they are")


def whole(*sizes, seed=3):
    """Few and small enough that sums of their products are exact in any order."""
    return np.random.default_rng(seed).integers(-4, 5, sizes).astype(np.float32)


def convolution(
    channels=16,
    outputs=20,
    *,
    size=(17, 17),
    groups=1,
    mode=dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
    data_type=FLOAT32,
    flags=OWNED,
    padding=0,
    backward=False,
    bias=True,
):
    row = 3 + padding
    strides = [channels * 3 * row, 3 * row, row, 1]
    sides = (channels * groups, outputs) if not backward else (outputs, channels * groups)
    return dml.DML_CONVOLUTION_OPERATOR_DESC(
        InputTensor=dml.tensor_desc(data_type, [2, sides[0], *size]),
        FilterTensor=dml.tensor_desc(data_type, [outputs, channels, 3, 3], strides, flags=flags),
        BiasTensor=dml.tensor_desc(data_type, [1, sides[1], 1, 1]) if bias else None,
        OutputTensor=dml.tensor_desc(data_type, [2, sides[1], *size]),
        Mode=mode,
        Direction=dml.DML_CONVOLUTION_DIRECTION(int(backward)),
        DimensionCount=2,
        Strides=[1, 1],
        Dilations=[1, 1],
        StartPadding=[1, 1],
        EndPadding=[1, 1],
        OutputPadding=[0, 0],
        GroupCount=groups,
    )


CASES = {
    "channels that fill a vector": {},
    "two groups, channels that fill none": {"channels": 19, "groups": 2, "outputs": 40},
    "turned round": {"mode": dml.DML_CONVOLUTION_MODE_CONVOLUTION},
    "padded": {"padding": 5},
    "the fewest pixels": {"size": (14, 14)},
    "windows that fill vectors": {"size": (15, 15)},
    "rows shorter than a vector of windows": {"size": (49, 4)},
}


@pytest.mark.parametrize("case", CASES)
def test_filters(bench, case):
    case = CASES[case]
    op = bench.compile(convolution(**case))
    assert list(op.program.packed) == [1]
    x, filters, bias = (whole(*slot.tensor.sizes, seed=index) for index, slot in enumerate(op.inputs))
    (found,) = bench.evaluate(op, [x, filters, bias])
    seen = filters[..., ::-1, ::-1] if "mode" in case else filters
    wanted = convolve(x, seen, SQUARE, x.shape[2:], case.get("groups", 1)) + bias
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("place", ["input", "filter"])
def test_what_is_no_number_reaches_only_those_that_see_it(bench, value, place):
    x, filters, bias = whole(2, 16, 17, 17), whole(20, 16, 3, 3, seed=4), whole(1, 20, 1, 1)
    if place == "input":
        x[1, 3, 6, 6] = value
    else:
        filters[5, 2, 1, 0] = value
    found, plain = (
        bench.evaluate(bench.compile(convolution(flags=flags)), [x, filters, bias])[0] for flags in (OWNED, 0)
    )
    np.testing.assert_array_equal(found, plain)
    with np.errstate(invalid="ignore"):
        wanted = convolve(x, filters, SQUARE, (17, 17), 1) + bias
    np.testing.assert_array_equal(found, wanted)
    if place == "input":
        assert (~np.isfinite(found)).sum() <= 9 * 20
    else:
        assert np.isfinite(found[:, np.arange(20) != 5]).all()


def test_filters_that_are_left_alone(bench):
    """Too few pixels or channels, windows that waste lanes, other types, backwards, or not owned by DirectML."""
    for case in (
        {"size": (13, 15)},
        {"size": (3, 66)},
        {"channels": 15},
        {"data_type": FLOAT16},
        {"backward": True},
        {"flags": 0},
    ):
        assert not bench.compile(convolution(**case)).program.packed, case


def test_filters_that_take_too_much_memory(bench):
    """8 MiB, of 64 bytes for each of 256 x 512 channels, are the most."""
    for outputs, packed in ((512, [1]), (513, [])):
        assert list(bench.compile(convolution(256, outputs)).program.packed) == packed


@pytest.mark.kind_device
def test_what_is_packed_lives_in_the_persistent_resource_alone(bench):
    """A copy of it at another offset serves as well, and stays; weights that change later do not matter."""
    op = bench.compile(convolution(bias=False))
    x, filters = whole(2, 16, 17, 17), whole(20, 16, 3, 3, seed=4)
    assert op.persistent_size == 4 * 20 * 16 * (16 + 9)
    target = bench.buffer(4 * 2 * 20 * 17 * 17)
    moved, persistent = initialized_and_moved(bench, op, [None, bench.upload(filters), None])
    kept = bench.read(moved, np.uint8)
    bench.record(op, bench.table(op, [bench.upload(x), None, None], [target], persistent=persistent))
    bench.execute()
    found = bench.read(target, np.float32).reshape(2, 20, 17, 17)
    np.testing.assert_array_equal(found, convolve(x, filters, SQUARE, (17, 17), 1))
    np.testing.assert_array_equal(bench.read(moved, np.uint8), kept)


def normalization(size):
    channels = dml.tensor_desc(FLOAT32, [1, 20, 1, 1])
    tensor = dml.tensor_desc(FLOAT32, [2, 20, *size])
    return dml.DML_BATCH_NORMALIZATION_OPERATOR_DESC(
        tensor, channels, channels, channels, channels, tensor, Spatial=True, Epsilon=0.0
    )


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("size", [(13, 13), (17, 17)])
def test_with_a_normalization_in_graphs(shared, size):
    """The nodes are fused whether or not the filter is prepacked: filters of two nodes, or for few pixels, are not."""
    g = Graphs()
    nodes = [g.operator(convolution(size=size)), g.operator(normalization(size))]
    edges = [(0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 1, 1), (4, 1, 2), (5, 1, 3), (6, 1, 4)]
    outputs = [(1, 0, 0)]
    if shared:
        nodes.append(g.operator(convolution(size=size)))
        edges += [(0, 2, 0), (1, 2, 1), (2, 2, 2)]
        outputs.append((2, 0, 1))
    compiled = g.compile(nodes, edges, outputs, [(0, 0, 1, 0)])
    assert list(compiled.program.packed) == ([] if shared or size == (13, 13) else [1])
    assert (0, 1) in [step.nodes for step in compiled.program.plan.steps]
    x, filters, bias = whole(2, 16, *size), whole(20, 16, 3, 3, seed=4), whole(1, 20, 1, 1, seed=5)
    mean, variance = whole(1, 20, 1, 1, seed=6), np.full((1, 20, 1, 1), 0.25, np.float32)
    scale, shift = whole(1, 20, 1, 1, seed=7), whole(1, 20, 1, 1, seed=8)
    found, *others = g.run(compiled, x, filters, bias, mean, variance, scale, shift)
    wanted = convolve(x, filters, SQUARE, size, 1) + bias
    np.testing.assert_array_equal(found.reshape(wanted.shape), (wanted - mean) * 2 * scale + shift)
    for other in others:
        np.testing.assert_array_equal(other.reshape(wanted.shape), wanted)


def test_memory_that_a_device_asks_for_beyond_the_kernels():
    """Too few pixels for a transform: the memory that a profile adds must not be used for it."""
    for profile in ("more-memory", "kind"):
        bench = Bench(profile=profile)
        op = bench.compile(convolution(flags=0, size=(13, 13)))
        assert (op.temporary_size > 0) is (profile == "more-memory")
        temporary = np.full(1 << 16, 0xA5, np.uint8)
        inputs = [
            whole(*slot.tensor.sizes, seed=index).view(np.uint8).ravel()
            for index, slot in enumerate(op.inputs)
        ]
        output = np.empty(op.outputs[0].tensor.total_size, np.uint8)
        op.program.bind(inputs, [output], temporary)()
        assert (temporary == 0xA5).all()
