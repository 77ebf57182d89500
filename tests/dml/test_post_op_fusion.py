"""Nodes as post-operations of convolutions, products and pools: results are those of the nodes one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.kernels.backend import backend
from directml_py.kernels.relocation import native_runs
from directml_py.session import Session

from . import nets
from .graphs import Graphs
from .nets import FLOAT32, normal, operators

RELU = dml.DML_ACTIVATION_RELU_OPERATOR_DESC()
SIZES = [2, 8, 9, 10]


@pytest.fixture(autouse=True)
def _has_loops():
    if backend.native is None:
        pytest.skip("the native loops are not built")


class Net(nets.Net):
    def run(self, *results):
        self.graph.outputs = results
        compiled = self.graph.compile()
        return operators(compiled.operator), compiled.run(self.arrays)

    def stages(self):
        """What the kernel of a graph of one step does to its results, in this order."""
        program = self.graph.compile().operator.program
        memory = [array.view(np.uint8).reshape(-1) for array in self.arrays]
        output = np.empty(program.outputs[0].tensor.total_size, np.uint8)
        run = program.bind(memory, [output], np.empty(program.temporary_size, np.uint8))
        (task,) = (each.task for each in native_runs(run))
        names = ("", "RELU", "LEAKY_RELU", "CLIP")
        post_ops = task.post_ops
        found = [
            names[post_ops.activation],
            "BATCH_NORMALIZATION" if post_ops.normalization.prepared else "",
            "RELU" if post_ops.normalization.relu else "",
            "ADD" if post_ops.residual else "",
            names[post_ops.residual_activation],
            *("program" for one in post_ops.epilogue.programs if one),
        ]
        return " + ".join(filter(None, found))


def image(dtype):
    """Whose sums are numbers, infinite, and none."""
    x = normal(*SIZES, dtype=dtype)
    x[0, :, 1, 1], x[1, 0, 6, 6] = np.nan, np.inf
    return x


def convolution(net, dtype=np.float32, groups=1, window=3, x=None, seed=2, **options):
    x = net.input(image(dtype)) if x is None else x
    filters = net.input(normal(8, 8 // groups, window, window, seed=seed, dtype=dtype))
    return net.graph.convolution(
        x,
        filters,
        mode=dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        direction=dml.DML_CONVOLUTION_DIRECTION_FORWARD,
        strides=[1, 1],
        dilations=[1, 1],
        start_padding=[window // 2] * 2,
        end_padding=[window // 2] * 2,
        output_padding=[0, 0],
        group_count=groups,
        **options,
    )


def normalized(net, groups=1, **options):
    statistics = [net.input(abs(normal(1, 8, 1, 1, seed=seed)) + 1) for seed in range(4)]
    sums = convolution(net, groups=groups)
    return net.graph.batch_normalization(sums, *statistics, spatial=True, epsilon=1e-3, **options)


def gemm(net, **options):
    a, b, c = (net.input(normal(*sizes)) for sizes in ((1, 2, 80, 20), (1, 2, 20, 90), (1, 2, 80, 90)))
    return net.graph.gemm(a, b, c, alpha=0.5, beta=2.0, trans_a=0, trans_b=0, **options)


def average(net):
    x = net.input(normal(2, 8, 20, 20))
    attributes = {"strides": [2, 2], "window_size": [3, 3], "start_padding": [1, 1], "end_padding": [1, 1]}
    return net.graph.average_pooling(x, **attributes, include_padding=False)


FIRSTS = {
    "CONVOLUTION": convolution,
    "CONVOLUTION of halves": lambda net: convolution(net, np.float16),
    "CONVOLUTION depthwise": lambda net: convolution(net, groups=8),
    "CONVOLUTION with RELU": lambda net: convolution(net, fused_activation=RELU),
    "CONVOLUTION with SIGMOID": lambda net: convolution(
        net, fused_activation=dml.DML_ACTIVATION_SIGMOID_OPERATOR_DESC()
    ),
    "CONVOLUTION + BATCH_NORMALIZATION": normalized,
    "CONVOLUTION + BATCH_NORMALIZATION with RELU": lambda net: normalized(net, fused_activation=RELU),
    "CONVOLUTION + BATCH_NORMALIZATION depthwise": lambda net: normalized(net, groups=8),
    "GEMM": gemm,
    "AVERAGE_POOLING": average,
}


def other_like(net, x, seed=7):
    return net.input(normal(*x.desc.sizes, seed=seed, dtype=x.desc.dtype.type))


def clip_by(low, high):
    return lambda net, x: net.graph.element_wise_clip(x, min=low, max=high)


SECONDS = {
    "CLIP": clip_by(0.0, 6.0),
    "CLIP to the lower bound": clip_by(0.5, 0.25),
    "CLIP below 0": clip_by(-1.0, 0.0),
    "CLIP without a bound": clip_by(-1.0, float("nan")),
    "RELU": lambda net, x: net.graph.activation_relu(x),
    "LEAKY_RELU": lambda net, x: net.graph.activation_leaky_relu(x, alpha=0.3),
    "GELU": lambda net, x: net.graph.activation_gelu(x),
    "SIGMOID": lambda net, x: net.graph.activation_sigmoid(x),
    "SIGMOID + MULTIPLY": lambda net, x: x * net.graph.activation_sigmoid(x),
    "ADD": lambda net, x: x + other_like(net, x),
    "ADD + RELU": lambda net, x: net.graph.activation_relu(other_like(net, x) + x),
    "ADD1 with RELU": lambda net, x: net.graph.element_wise_add1(
        x, other_like(net, x), fused_activation=RELU
    ),
    "ADD1 with RELU + CLIP": lambda net, x: SECONDS["CLIP"](net, SECONDS["ADD1 with RELU"](net, x)),
    "ADD + CLIP": lambda net, x: clip_by(0.0, 6.0)(net, x + other_like(net, x)),
    "ADD + LEAKY_RELU": lambda net, x: net.graph.activation_leaky_relu(x + other_like(net, x), alpha=0.3),
    "RELU + ADD": lambda net, x: net.graph.activation_relu(x) + other_like(net, x),
}
# What the kernels of the first nodes do before any of the second ones, and which of these they have in registers. The
# sum remains a program too, for Winograd's method. All others are programs.
BEFORE = {
    "CONVOLUTION with RELU": ["RELU"],
    "CONVOLUTION with SIGMOID": ["program"],
    "CONVOLUTION + BATCH_NORMALIZATION": ["BATCH_NORMALIZATION"],
    "CONVOLUTION + BATCH_NORMALIZATION with RELU": ["BATCH_NORMALIZATION + RELU"],
    "CONVOLUTION + BATCH_NORMALIZATION depthwise": ["BATCH_NORMALIZATION"],
    "GEMM": ["program"],
}
OF_SUMS = {
    "RELU": "RELU",
    "LEAKY_RELU": "LEAKY_RELU",
    "CLIP": "CLIP",
    "CLIP to the lower bound": "CLIP",
}
ADDED = {
    "ADD": "ADD + program",
    "ADD + RELU": "ADD + RELU + program",
    "ADD1 with RELU": "ADD + RELU + program",
    "ADD + CLIP": "ADD + CLIP + program",
}
IN_REGISTERS = {
    "CONVOLUTION": {**OF_SUMS, **ADDED},
    "CONVOLUTION of halves": {"RELU": "RELU"},
    "CONVOLUTION depthwise": OF_SUMS,
    "CONVOLUTION + BATCH_NORMALIZATION": ADDED,
}


@pytest.mark.parametrize("first", FIRSTS)
@swept("second", SECONDS)
def test_results_have_the_bits_of_the_nodes(first, second):
    net = Net()
    result = SECONDS[second](net, FIRSTS[first](net))
    steps, (found,) = net.run(result)
    assert len(steps) == 1
    assert steps[0].startswith(first.split(" of")[0].split(" with")[0].split(" depth")[0])
    own = IN_REGISTERS.get(first, {}).get(second, "program")
    assert net.stages() == " + ".join([*BEFORE.get(first, []), own])
    separate = Net()
    between = FIRSTS[first](separate)
    steps, (sums, expected) = separate.run(between, SECONDS[second](separate, between))
    assert len(steps) == 2
    assert np.ptp(sums[np.isfinite(sums)]) > 0.5
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), ~is_number)
    # Zeros of both signs are equal.
    bits = f"u{expected.itemsize}"
    np.testing.assert_array_equal(found.view(bits)[is_number], expected.view(bits)[is_number])


def test_the_value_between_takes_no_memory():
    net = Net()
    net.graph.outputs = [net.graph.element_wise_clip(convolution(net, window=1), min=0.0, max=6.0)]
    program = net.graph.compile().operator.program
    assert program.temporary_size == 0
    assert "is graph output 0" in str(program.plan)


def test_two_results_of_which_one_is_added():
    """The later convolution's results are replaced; the other's are read."""
    net = Net()
    x = net.input(normal(*SIZES))
    left, right = convolution(net, x=x, window=1), convolution(net, x=x, window=1, seed=3)
    steps, (found,) = net.run(left + right)
    assert sorted(steps) == ["CONVOLUTION", "CONVOLUTION + ELEMENT_WISE_ADD"]
    image, first, second = (array.astype(np.float64) for array in net.arrays)
    filters = (first + second)[:, :, 0, 0]
    np.testing.assert_allclose(found, np.einsum("nchw,mc->nmhw", image, filters), rtol=1e-4, atol=1e-5)


def test_a_node_that_waits_for_others_takes_the_convolution_along():
    """The input of the convolution must still be there when what is added has been computed."""
    net = Net()
    first = net.graph.cumulative_summation(
        net.input(normal(*SIZES)),
        axis=3,
        axis_direction=dml.DML_AXIS_DIRECTION_INCREASING,
        has_exclusive_sum=False,
    )
    sums = convolution(net, x=first, window=1)
    other = net.input(normal(*SIZES, seed=5))
    for axis in (3, 2, 1):
        other = net.graph.cumulative_summation(
            other, axis=axis, axis_direction=dml.DML_AXIS_DIRECTION_INCREASING, has_exclusive_sum=False
        )
    steps, (found,) = net.run(sums + other)
    assert "CONVOLUTION + ELEMENT_WISE_ADD" in steps
    image, filters, added = (array.astype(np.float64) for array in net.arrays)
    expected = np.einsum("nchw,mc->nmhw", image.cumsum(3), filters[:, :, 0, 0])
    np.testing.assert_allclose(found, expected + added.cumsum(3).cumsum(2).cumsum(1), rtol=1e-4, atol=1e-3)


def test_what_others_read_is_stored():
    net = Net()
    sums = convolution(net)
    added = net.graph.cumulative_summation(
        sums, axis=3, axis_direction=dml.DML_AXIS_DIRECTION_INCREASING, has_exclusive_sum=False
    )
    steps, _ = net.run(net.graph.activation_relu(sums), added)
    assert sorted(steps) == ["ACTIVATION_RELU", "CONVOLUTION", "CUMULATIVE_SUMMATION"]


def test_parts_of_a_join_of_channels():
    net = Net()
    x = net.input(normal(*SIZES))
    parts = [net.graph.activation_relu(convolution(net, x=x, window=1, seed=seed)) for seed in (3, 4)]
    steps, (found,) = net.run(net.graph.join(parts, axis=1))
    assert steps.count("CONVOLUTION + ACTIVATION_RELU") == 2
    image, *filters = (array.astype(np.float64) for array in net.arrays)
    expected = np.einsum("nchw,mc->nmhw", image, np.concatenate(filters)[:, :, 0, 0])
    np.testing.assert_allclose(found, np.maximum(expected, 0), rtol=1e-4, atol=1e-5)


def test_an_output_in_the_memory_of_what_is_added():
    """Sums go elsewhere, since there they would overwrite what is added to them."""
    graphs = Graphs()
    image, filters = dml.tensor_desc(FLOAT32, SIZES), dml.tensor_desc(FLOAT32, [8, 8, 1, 1])
    convolution_desc = dml.DML_CONVOLUTION_OPERATOR_DESC(
        image,
        filters,
        None,
        image,
        dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        dml.DML_CONVOLUTION_DIRECTION_FORWARD,
        Strides=[1, 1],
        Dilations=[1, 1],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
        OutputPadding=[0, 0],
        GroupCount=1,
    )
    add = dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(image, image, image)
    nodes = [graphs.operator(convolution_desc), graphs.operator(add)]
    compiled = graphs.compile(nodes, [(0, 0, 0), (1, 0, 1), (2, 1, 1)], [(1, 0, 0)], [(0, 0, 1, 0)])
    assert operators(compiled) == ["CONVOLUTION + ELEMENT_WISE_ADD"]
    x, weights, added = normal(*SIZES), normal(8, 8, 1, 1, seed=2), normal(*SIZES, seed=3)
    (expected,) = Session(graphs.device).evaluate(compiled, [x, weights, added])
    memory = [array.copy().view(np.uint8).reshape(-1) for array in (x, weights, added)]
    compiled.program.bind(memory, [memory[2]], np.empty(compiled.temporary_size, np.uint8))()
    np.testing.assert_array_equal(memory[2].view(np.float32).reshape(SIZES), expected)
    np.testing.assert_allclose(
        expected, np.einsum("nchw,mc->nmhw", x, weights[:, :, 0, 0]) + added, rtol=1e-4, atol=1e-5
    )


def test_without_native_loops_nothing_is_joined(monkeypatch):
    monkeypatch.setitem(vars(backend), "native", None)
    net = Net()
    steps, _ = net.run(net.graph.activation_relu(convolution(net)))
    assert steps == ["CONVOLUTION", "ACTIVATION_RELU"]
