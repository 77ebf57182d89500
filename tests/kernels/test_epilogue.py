"""Epilogues of native kernels: the elements of their results, in memory that has more around them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels import depthwise_pool
from directml_py.kernels.backend import backend
from directml_py.kernels.convolution import convolution
from directml_py.kernels.elementwise.activations import relu
from directml_py.kernels.elementwise.functions import fmax, fmin
from directml_py.kernels.elementwise.lower import code_of
from directml_py.kernels.epilogue import clip_bounds, map_results
from directml_py.kernels.im2col import convolve
from directml_py.kernels.launch import NativeRun, RunSequence
from directml_py.kernels.matmul import multiply
from directml_py.kernels.softmax_norm import BatchNormPostOp
from directml_py.kernels.windows import Window

pytestmark = [
    pytest.mark.skipif(backend.native is None, reason="no native kernels"),
    pytest.mark.usefixtures("threads"),
]
FLOAT32 = np.dtype(np.float32)
PLAIN = Window.of((1, 1))
PADDED = Window.of((3, 3), start_padding=(1, 1), end_padding=(1, 1))


def clip(x, low=-3.0, high=6.0):
    return fmax(np.float32(low), fmin(x, np.float32(high)))


def residual(x, other):
    return relu(x + other)


def total(x, other):
    return x + other


def clipped_total(x, other):
    return clip(other + x)


def gated(x):
    return x * clip(x)


def whole(*shape, seed=1, most=4):
    return np.random.default_rng(seed).integers(-most, most + 1, shape).astype(np.float32)


def around(shape, dtype=np.float32):
    """Planes with memory between them."""
    rows = int(np.prod(shape[2:]))
    memory = np.full((*shape[:2], rows + 5), 77, dtype)
    return memory[:, :, 2:-3].reshape(shape), memory


def spread(array):
    """A copy with the memory layout of ``check``'s output."""
    copy, _ = around(array.shape)
    copy[...] = array
    return copy


def check(run_of, sums, function, others=()):
    """``run_of(output)`` stores ``sums``, small whole numbers, which are exact in any order."""
    output, memory = around(sums.shape)
    assert np.shares_memory(output, memory)
    run = map_results(run_of(output), function, [output, *others], output)
    assert isinstance(run, NativeRun)
    for _ in range(2):
        run()
        np.testing.assert_array_equal(output, function(sums, *others))
        assert (memory[:, :, :2] == 77).all()
        assert (memory[:, :, -3:] == 77).all()


FUNCTIONS = {
    "clip": (clip, None),
    "relu": (relu, None),
    "gated": (gated, None),
    "residual": (residual, np.copy),
    "total": (total, spread),
    "residual laid out alike": (residual, spread),
    "clipped total": (clipped_total, spread),
}
CONVOLUTIONS = {
    "several blocks": ((2, 5, 40, 41), (70, 5, 3, 3), 1),
    "groups": ((2, 6, 9, 11), (9, 2, 3, 3), 3),
    "a pixel more than vectors": ((1, 40, 7, 7), (70, 40, 3, 3), 1),
    "one pixel": ((2, 40, 1, 1), (21, 40, 3, 3), 1),
    "depthwise": ((2, 37, 13, 13), (37, 1, 3, 3), 37),
    "depthwise, of more filters": ((2, 5, 60, 70), (10, 1, 3, 3), 5),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@swept("case", CONVOLUTIONS)
def test_convolutions(case, function):
    sizes, filters, groups = CONVOLUTIONS[case]
    x, weights, bias = whole(*sizes), whole(*filters, seed=2), whole(1, filters[0], 1, 1, seed=3)
    sums = convolve(x, weights, PADDED, PADDED.forward(x.shape[2:]), groups) + bias
    call, others = FUNCTIONS[function]

    def run_of(output):
        task = (x, weights, bias, output, PADDED, groups)
        return depthwise_pool.products(*task) or convolution(*task)

    check(run_of, sums, call, [others(whole(*sums.shape, seed=4, most=90))] if others else [])


@pytest.mark.parametrize("function", [residual, total, clipped_total])
def test_residuals_of_normalized_sums(function):
    """Of 7 by 7 pixels, the last one fills no vector."""
    x, weights, other = whole(2, 40, 7, 7), whole(33, 40, 1, 1, seed=2), whole(2, 33, 7, 7, seed=4, most=90)
    mean, scale, bias = (whole(1, 33, 1, 1, seed=seed) for seed in (5, 6, 7))
    post_op = BatchNormPostOp(mean, np.full_like(mean, 0.25), scale, bias, 0.0, False)
    sums = (convolve(x, weights, PLAIN, (7, 7), 1) - mean) * 2 * scale + bias
    runs = []

    def run_of(output):
        runs.append(convolution(x, weights, None, output, PLAIN, 1, post_op=post_op))
        return runs[0]

    check(run_of, sums, function, [spread(other)])
    assert runs[0].task.post_ops.residual != 0


def test_residuals_are_added_once_to_what_is_taken_along():
    """A second program follows; and what lies elsewhere, or is the sums themselves, has no kernel of its own."""
    x, weights, other = whole(1, 8, 5, 5), whole(20, 8, 1, 1, seed=2), whole(1, 20, 5, 5, seed=3)
    sums, output = convolve(x, weights, PLAIN, (5, 5), 1), np.empty((1, 20, 5, 5), np.float32)
    run = map_results(convolution(x, weights, None, output, PLAIN, 1), total, [output, other], output)
    run = map_results(run, total, [output, other], output)
    run()
    np.testing.assert_array_equal(output, sums + 2 * other)
    assert run.task.post_ops.residual != 0
    run = map_results(convolution(x, weights, None, output, PLAIN, 1), total, [output, output], output)
    run()
    np.testing.assert_array_equal(output, 2 * sums)
    assert run.task.post_ops.residual == 0
    turned = np.asfortranarray(other)
    run = map_results(convolution(x, weights, None, output, PLAIN, 1), total, [output, turned], output)
    run()
    np.testing.assert_array_equal(output, sums + other)
    expected = sums + other
    run = map_results(convolution(x, weights, None, output, PLAIN, 1), total, [output, other], other)
    run()
    np.testing.assert_array_equal(other, expected)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_by_the_method_of_winograd(function):
    x, weights = whole(1, 32, 23, 24), whole(40, 32, 3, 3, seed=2)
    sums = convolve(x, weights, PADDED, (23, 24), 1)
    scratch = np.empty(16 * 4 * 40 * 32, np.uint8)
    call, others = FUNCTIONS[function]

    def run_of(output):
        return convolution(x, weights, None, output, PADDED, 1, scratch=scratch)

    check(run_of, sums, call, [others(whole(*sums.shape, seed=4, most=90))] if others else [])


@pytest.mark.parametrize("function", FUNCTIONS)
@swept("sizes", [(2, 37, 13, 13), (1, 1, 64, 300), (3, 5, 4, 4)])
def test_pools(sizes, function):
    x, window = whole(*sizes, most=90), Window.of((2, 2), (2, 2))
    steps = window.forward(sizes[2:])
    even = x[:, :, : 2 * steps[0], : 2 * steps[1]].reshape(*sizes[:2], steps[0], 2, steps[1], 2)
    call, others = FUNCTIONS[function]

    def run_of(output):
        return depthwise_pool.maximum(x, output, None, window)

    sums = even.max((3, 5))
    check(run_of, sums, call, [others(whole(*sums.shape, seed=4, most=90))] if others else [])


@pytest.mark.parametrize("function", FUNCTIONS)
@swept(
    "batch, m, k, n", [((2, 3), 37, 20, 50), ((1, 1), 300, 9, 400), ((1,), 1300, 9, 400), ((2, 1), 5, 9, 1)]
)
def test_products_of_matrices(batch, m, k, n, function):
    a, b = whole(*batch, m, k), whole(*batch, k, n, seed=2)
    call, others = FUNCTIONS[function]
    sums = np.matmul(a, b)
    row = [np.broadcast_to(whole(n, seed=4, most=90), sums.shape)] if others else []
    output = np.full(sums.shape, 77, np.float32)
    run = map_results(multiply(a, b, output), call, [output, *row], output)
    assert isinstance(run, NativeRun)
    run()
    np.testing.assert_array_equal(output, call(sums, *row))


def test_results_in_another_type():
    """Sums in FLOAT32 become FLOAT16 elsewhere: by one more program, after another."""
    a, b = whole(20, 8), whole(8, 30, seed=2)
    sums, halves = np.empty((20, 30), np.float32), np.empty((20, 30), np.float16)
    run = map_results(multiply(a, b, sums), clip, [sums], halves)
    assert isinstance(run, NativeRun)
    run = map_results(run, gated, [sums], sums)
    assert isinstance(run, NativeRun)
    third = map_results(run, gated, [sums], sums)
    assert isinstance(third, RunSequence)
    third()
    np.testing.assert_array_equal(halves, clip(a @ b).astype(np.float16))
    np.testing.assert_array_equal(sums, gated(gated(a @ b)))


def test_what_is_not_the_result_or_lies_otherwise_is_done_afterwards():
    a, b = whole(20, 8), whole(8, 30, seed=2)
    sums, turned = np.empty((20, 30), np.float32), np.empty((30, 20), np.float32).T
    for inputs, output in (([sums], turned), ([turned], turned)):
        turned[...] = 100
        run = map_results(multiply(a, b, sums), clip, inputs, output)
        run()
        np.testing.assert_array_equal(turned, clip(a @ b) if inputs[0] is sums else np.full((20, 30), 6))
        np.testing.assert_array_equal(sums, a @ b)


SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 6.0, 7.0, -7.0, 3e38], np.float32)
CLIPS = [
    relu,
    clip,
    partial(clip, low=0.0),
    partial(clip, low=-0.0),
    partial(clip, low=-1.0, high=0.0),
    partial(clip, low=-1.0, high=-0.0),
    partial(clip, low=5.0, high=2.0),
    partial(clip, low=-np.inf, high=np.inf),
    partial(clip, low=np.nan),
    partial(clip, high=np.nan),
    lambda x: fmax(x, np.float32(2)),
    lambda x: fmin(x, np.float32(2)),
    lambda x: fmin(np.float32(6), fmax(x, np.float32(2))),
]


@pytest.mark.parametrize("function", CLIPS)
@swept("window", [Window.of((1, 1)), Window.of((2, 2), (2, 2), start_padding=(0, 1))])
@swept("groups", [1, 3])
def test_clips_have_the_bits_of_the_function(groups, window, function):
    """Of what is not a number, of zeros and of what is nearly 0; sums are those of one element and of nothing."""
    x = np.zeros((1, 3, 2, 17), np.float32)
    x[0, :, 0] = np.resize(SPECIAL, 17)
    filters = np.zeros((3, 3 // groups, *window.size), np.float32)
    for channel in range(3):
        filters[channel, channel if groups == 1 else 0, 0, -1] = 1
    plain, output = (np.empty((1, 3, *window.forward((2, 17))), np.float32) for _ in range(2))

    def run_of(target):
        task = (x, filters, None, target, window, groups)
        return depthwise_pool.products(*task) or convolution(*task)

    run_of(plain)()
    map_results(run_of(output), function, [output], output)()
    expected = function(plain)
    is_nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(output), is_nan)
    np.testing.assert_array_equal(output.view(np.uint32)[~is_nan], expected.view(np.uint32)[~is_nan])


def test_which_programs_are_clips():
    bounds = [clip_bounds(code_of(function, (FLOAT32,), (FLOAT32,))) for function in CLIPS]
    found = dict(zip(range(len(bounds)), bounds))
    is_clip = {0: (0, None), 1: (-3, 6), 2: (0, 6), 6: (5, 2), 7: (-np.inf, np.inf)}
    assert found == {**dict.fromkeys(found), **is_clip}
