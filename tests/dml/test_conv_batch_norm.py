"""Batch norm fused into a convolution as a post-op: results are the same as without fusion."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.graph import interleaved_channel
from directml_py.kernels.backend import backend
from directml_py.kernels.softmax_norm import batch_norm

from . import nets
from .nets import normal, operators

RELU = dml.DML_ACTIVATION_RELU_OPERATOR_DESC()
ATTRIBUTES = {"strides": 1, "dilations": 1, "start_padding": 0, "end_padding": 0, "output_padding": 0}
INCREASING = dml.DML_AXIS_DIRECTION_INCREASING
BOTH = "CONVOLUTION + BATCH_NORMALIZATION"


@pytest.fixture(autouse=True)
def _has_loops():
    if backend.native is None:
        pytest.skip("the native loops are not built")


class Net(nets.Net):
    """A graph over one image."""

    def __init__(self, *sizes, dtype=np.float32):
        super().__init__()
        self.image = self.input(normal(*sizes, dtype=dtype))

    def convolution(self, x, filters, bias=None, **options):
        spatial = filters.ndim - 2
        given = {name: options.pop(name, [default] * spatial) for name, default in ATTRIBUTES.items()}
        return self.graph.convolution(
            x,
            self.input(filters),
            None if bias is None else self.input(bias),
            mode=dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
            direction=options.pop("direction", dml.DML_CONVOLUTION_DIRECTION_FORWARD),
            group_count=options.pop("group_count", 1),
            **given,
            **options,
        )

    def statistics(self, channels, dtype=np.float32, sizes=None):
        """Mean, variance, scale and bias."""
        sizes = sizes or [(1, channels, 1, 1)] * 4
        arrays = [normal(*one, seed=9 + place, dtype=dtype) for place, one in enumerate(sizes)]
        arrays[1] = abs(arrays[1]) + dtype(0.1)
        return [self.input(one) for one in arrays]

    def normalized(self, x, statistics, **options):
        return self.graph.batch_normalization(x, *statistics, spatial=True, epsilon=1e-3, **options)

    def run(self, *results):
        self.graph.outputs = results
        compiled = self.graph.compile()
        return compiled, compiled.run(self.arrays)


def one_by_one(net, between, result):
    """The same result where the sums are an output too, so that the nodes are not fused."""
    compiled, (first, last) = net.run(between, result)
    assert BOTH not in operators(compiled.operator)
    return first, last


CASES = {
    "several channels at a time": (
        (2, 5, 9, 11),
        (20, 5, 3, 3),
        {"start_padding": [1, 1], "end_padding": [1, 1]},
    ),
    "whole images": ((1, 7, 14, 14), (33, 7, 1, 1), {}),
    "groups": ((1, 6, 8, 8), (9, 2, 3, 3), {"group_count": 3}),
    "depthwise": ((2, 6, 13, 13), (6, 1, 3, 3), {"group_count": 6, "start_padding": [1, 1]}),
    "depthwise, rows that lie together": (
        (2, 9, 13, 13),
        (9, 1, 3, 3),
        {"group_count": 9, "start_padding": [1, 1], "end_padding": [1, 1]},
    ),
    "depthwise, blocks of channels": (
        (2, 16, 90, 90),
        (16, 1, 3, 3),
        {"group_count": 16, "strides": [2, 2], "start_padding": [1, 1]},
    ),
    "depthwise, by columns": ((1, 6, 9, 40), (12, 1, 5, 5), {"group_count": 6, "strides": [2, 2]}),
    "depthwise, of other filters": ((1, 4, 9, 40), (4, 1, 2, 4), {"group_count": 4, "strides": [1, 3]}),
    "transformed": ((1, 32, 23, 24), (40, 16, 3, 3), {"group_count": 2, "start_padding": [1, 1]}),
    "few pixels": ((1, 40, 2, 1), (21, 40, 1, 1), {}),
    "a pixel more than vectors": ((1, 40, 7, 7), (70, 40, 1, 1), {}),
}


@pytest.mark.parametrize("case", CASES)
@swept("has_bias", [False, True])
@swept("activations", [(None, None), (RELU, None), (None, RELU)])
def test_results_have_the_bits_of_the_nodes(case, activations, has_bias):
    image, filters, options = CASES[case]
    bias = normal(1, filters[0], 1, 1, seed=3) if has_bias else None
    results = []
    for separate in (True, False):
        net = Net(*image)
        sums = net.convolution(
            net.image, normal(*filters, seed=2), bias, fused_activation=activations[0], **options
        )
        last = net.normalized(sums, net.statistics(filters[0]), fused_activation=activations[1])
        if separate:
            results.append(one_by_one(net, sums, last)[1])
        else:
            compiled, (found,) = net.run(last)
            assert operators(compiled.operator) == [BOTH]
            assert (compiled.operator.program.temporary_size > 0) == (case == "transformed")
            results.append(found)
    np.testing.assert_array_equal(*results)


def test_results_are_those_of_the_formula():
    net = Net(1, 3, 6, 6)
    last = net.normalized(net.convolution(net.image, normal(4, 3, 1, 1, seed=2)), net.statistics(4))
    _, (found,) = net.run(last)
    x, filters, mean, variance, scale, bias = (array.astype(np.float64) for array in net.arrays)
    sums = np.einsum("nchw,mc->nmhw", x, filters[:, :, 0, 0])
    np.testing.assert_allclose(
        found, (sums - mean) / np.sqrt(variance + 1e-3) * scale + bias, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("case", ["whole images", "depthwise", "transformed"])
def test_of_nan_the_larger_than_0_is_0(case):
    image, filters, options = CASES[case]
    for activation, expected in ((None, np.nan), (RELU, 0)):
        net = Net(*image)
        sums = net.convolution(net.image, normal(*filters, seed=2), **options)
        mean, *rest = net.statistics(filters[0])
        net.arrays[-4][0, 1] = np.nan
        _, (found,) = net.run(net.normalized(sums, [mean, *rest], fused_activation=activation))
        assert np.array_equal(found[:, 1], np.full_like(found[:, 1], expected), equal_nan=True)
        assert not np.isnan(found[:, 0]).any()


# What the image is multiplied by, and the last channel's mean, variance, scale and bias: a difference that is beyond
# FLOAT32, a factor that is, and one of which FLOAT32 has few digits. What is stored is none of these.
EXTREMES = [(1e36, [-3.3e38, 1, 1e-3, 0]), (1e-3, [0, 1e-38, 3e20, 0]), (1e36, [0, 3e38, 1e-22, 0])]


@pytest.mark.parametrize("case", CASES)
@swept("activation", [None, RELU])
@swept("size, numbers", EXTREMES)
def test_numbers_that_float32_has_no_room_for_on_the_way(case, size, numbers, activation):
    image, filters, options = CASES[case]
    net = Net(*image)
    net.arrays[0] *= np.float32(size)
    sums = net.convolution(net.image, normal(*filters, seed=2), **options)
    statistics = net.statistics(filters[0])
    for array, number in zip(net.arrays[-4:], numbers):
        array[0, -1] = number
    last = net.graph.batch_normalization(
        sums, *statistics, spatial=True, epsilon=0.0, fused_activation=activation
    )
    compiled, (found,) = net.run(last)
    assert operators(compiled.operator) == [BOTH]
    seen, separate = one_by_one(net, sums, last)
    np.testing.assert_array_equal(found, separate)
    mean, variance, scale, _ = numbers
    exact = (seen[:, -1].astype(np.float64) - mean) / np.sqrt(np.float64(np.float32(variance))) * scale
    exact = exact if activation is None else np.fmax(exact, 0)
    assert np.isfinite(found[:, -1]).all()
    np.testing.assert_allclose(found[:, -1], exact, rtol=1e-6)


def test_one_number_for_all_channels():
    net = Net(1, 3, 6, 6)
    sizes = [(1, 1, 1, 1), (1, 4, 1, 1), (1, 1, 1, 1), (1, 4, 1, 1)]
    sums = net.convolution(net.image, normal(4, 3, 1, 1, seed=2))
    last = net.normalized(sums, net.statistics(4, sizes=sizes))
    compiled, (found,) = net.run(last)
    assert operators(compiled.operator) == [BOTH]
    np.testing.assert_array_equal(found, one_by_one(net, sums, last)[1])


def test_a_normalization_may_wait_for_others():
    """Its mean is made after the convolution, whose input must still be there."""
    net = Net(1, 3, 6, 6)
    first = net.graph.cumulative_summation(
        net.image, axis=3, axis_direction=INCREASING, has_exclusive_sum=False
    )
    sums = net.convolution(first, normal(4, 3, 1, 1, seed=2))
    mean, *rest = net.statistics(4)
    late = net.graph.cumulative_summation(mean, axis=1, axis_direction=INCREASING, has_exclusive_sum=False)
    last = net.normalized(sums, [late, *rest])
    compiled, (found,) = net.run(last)
    assert BOTH in operators(compiled.operator)
    np.testing.assert_array_equal(found, one_by_one(net, sums, last)[1])


def test_what_somebody_else_sees_is_stored():
    net = Net(1, 3, 6, 6)
    sums = net.convolution(net.image, normal(4, 3, 1, 1, seed=2))
    last = net.graph.add(net.normalized(sums, net.statistics(4)), sums)
    compiled, (found,) = net.run(last)
    assert BOTH not in operators(compiled.operator)
    x, filters, mean, variance, scale, bias = (array.astype(np.float64) for array in net.arrays)
    made = np.einsum("nchw,mc->nmhw", x, filters[:, :, 0, 0])
    expected = (made - mean) / np.sqrt(variance + 1e-3) * scale + bias + made
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"direction": dml.DML_CONVOLUTION_DIRECTION_BACKWARD},
        {"fused_activation": dml.DML_ACTIVATION_SIGMOID_OPERATOR_DESC()},
    ],
)
def test_sums_that_are_not_in_registers_are_normalized_afterwards(options):
    net = Net(1, 3, 6, 6)
    sums = net.convolution(net.image, normal(3, 3, 1, 1, seed=2), **options)
    assert BOTH not in operators(net.run(net.normalized(sums, net.statistics(3)))[0].operator)


def test_numbers_of_pixels_and_halves_run_by_themselves():
    net = Net(1, 3, 6, 6)
    sums = net.convolution(net.image, normal(4, 3, 1, 1, seed=2))
    statistics = net.statistics(4, sizes=[(1, 4, 6, 6), (1, 4, 1, 1), (1, 4, 1, 1), (1, 4, 1, 1)])
    assert BOTH not in operators(net.run(net.normalized(sums, statistics))[0].operator)
    half = Net(1, 3, 6, 6, dtype=np.float16)
    sums = half.convolution(half.image, normal(4, 3, 1, 1, seed=2, dtype=np.float16))
    last = half.normalized(sums, half.statistics(4, np.float16))
    assert BOTH not in operators(half.run(last)[0].operator)


def test_images_that_there_is_no_loop_for():
    """With channels-last layout the nodes run separately, the second one in place of the result."""
    net = Net(2, 3, 6, 6)
    net.graph.tensor_policy = interleaved_channel
    last = net.normalized(net.convolution(net.image, normal(4, 3, 1, 1, seed=2)), net.statistics(4))
    compiled, (found,) = net.run(last)
    assert operators(compiled.operator) == [BOTH]
    x, filters, mean, variance, scale, bias = (array.astype(np.float64) for array in net.arrays)
    sums = np.einsum("nchw,mc->nmhw", x, filters[:, :, 0, 0])
    expected = (sums - mean) / np.sqrt(variance + 1e-3) * scale + bias
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_in_place_of_sums():
    """Where the convolution has no post-op, its sums are normalized where they lie: by the same kernel."""
    x, (mean, scale, bias) = normal(2, 3, 5, 7), (normal(1, 3, 1, 1, seed=seed) for seed in range(3))
    variance, output = np.square(mean) + np.float32(0.1), np.empty_like(x)
    for target, source in ((output, x), (x, x)):
        run = batch_norm(source, mean, variance, scale, bias, target, 1e-5)
        assert run
        run()
    np.testing.assert_array_equal(x, output)
