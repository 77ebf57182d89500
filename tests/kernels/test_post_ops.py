"""Post-operations of native kernels: the elements of their results, in memory that has more around them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels import depthwise_pool
from directml_py.kernels.backend import backend
from directml_py.kernels.convolution import convolution
from directml_py.kernels.elementwise.activations import leaky_relu, relu
from directml_py.kernels.elementwise.functions import fmax, fmin
from directml_py.kernels.im2col import convolve
from directml_py.kernels.launch import NativeRun, RunSequence
from directml_py.kernels.matmul import multiply
from directml_py.kernels.post_ops import RELU, Activation, BatchNorm, Normalization, Sum, of_function
from directml_py.kernels.post_ops import clip as clip_role
from directml_py.kernels.softmax_norm import batch_norm
from directml_py.kernels.windows import Window

pytestmark = [
    pytest.mark.skipif(backend.native is None, reason="no native kernels"),
    pytest.mark.usefixtures("threads"),
]
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


def leaky(x):
    return leaky_relu(x, 0.25)


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


def post_op(function, inputs, output, role=None):
    return of_function(function, inputs, [output])._replace(role=role)


def check(run_of, sums, name):
    """``run_of(output, post_ops)`` stores the function ``name`` of ``sums``, whole numbers, which are exact in any
    order. Returns the post-operations of the task."""
    function, other_of, role = FUNCTIONS[name]
    others = [] if other_of is None else [other_of(whole(*sums.shape, seed=4, most=90))]
    output, memory = around(sums.shape)
    assert np.shares_memory(output, memory)
    run = run_of(output, [post_op(function, [output, *others], output, role)])
    assert isinstance(run, NativeRun)
    for _ in range(2):
        run()
        np.testing.assert_array_equal(output, function(sums, *others))
        assert (memory[:, :, :2] == 77).all()
        assert (memory[:, :, -3:] == 77).all()
    return run.task.post_ops


CLIP = clip_role(-3.0, 6.0)
LEAKY_RELU = Activation("LEAKY_RELU", slope=0.25)
# The function, how what it adds is laid out, and what it is to kernels that need not run it as a program.
FUNCTIONS = {
    "clip": (clip, None, CLIP),
    "relu": (relu, None, RELU),
    "leaky relu": (leaky, None, LEAKY_RELU),
    "gated": (gated, None, None),
    "residual": (residual, np.copy, Sum(RELU)),
    "total": (total, spread, Sum()),
    "residual laid out alike": (residual, spread, Sum(RELU)),
    "clipped total": (clipped_total, spread, Sum(CLIP)),
}


def in_registers(name, *, adds):
    """What a kernel of sums does in registers: the numbers of the activations, whether it adds, and how many programs
    remain. A sum remains one for Winograd's method."""
    _, other_of, role = FUNCTIONS[name]
    if isinstance(role, Activation):
        return role.number, 0, False, 0
    is_added = adds and isinstance(role, Sum) and other_of is spread
    return 0, role.activation.number if is_added else 0, is_added, 1


def stages(post_ops):
    programs = sum(1 for program in post_ops.epilogue.programs if program)
    return post_ops.activation, post_ops.residual_activation, post_ops.residual != 0, programs


CONVOLUTIONS = {
    "several blocks": ((2, 5, 40, 41), (70, 5, 3, 3), 1),
    "groups": ((2, 6, 9, 11), (9, 2, 3, 3), 3),
    "a pixel more than vectors": ((1, 40, 7, 7), (70, 40, 3, 3), 1),
    "one pixel": ((2, 40, 1, 1), (21, 40, 3, 3), 1),
    "depthwise": ((2, 37, 13, 13), (37, 1, 3, 3), 37),
    "depthwise, blocks of channels": ((2, 16, 90, 90), (16, 1, 3, 3), 16),
    "depthwise, of more filters": ((2, 5, 60, 70), (10, 1, 3, 3), 5),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@swept("case", CONVOLUTIONS)
def test_convolutions(case, function):
    sizes, filters, groups = CONVOLUTIONS[case]
    x, weights, bias = whole(*sizes), whole(*filters, seed=2), whole(1, filters[0], 1, 1, seed=3)
    sums = convolve(x, weights, PADDED, PADDED.forward(x.shape[2:]), groups) + bias

    def run_of(output, post_ops):
        task = (x, weights, bias, output, PADDED, groups)
        return depthwise_pool.products(*task, post_ops=post_ops) or convolution(*task, post_ops=post_ops)

    found = stages(check(run_of, sums, function))
    assert found == in_registers(function, adds="depthwise" not in case)


@pytest.mark.parametrize("function", ["residual laid out alike", "total", "clipped total"])
def test_residuals_of_normalized_sums(function):
    """Of 7 by 7 pixels, the last one fills no vector."""
    x, weights = whole(2, 40, 7, 7), whole(33, 40, 1, 1, seed=2)
    mean, scale, bias = (whole(1, 33, 1, 1, seed=seed) for seed in (5, 6, 7))
    normal = BatchNorm(
        [mean, np.full_like(mean, 0.25), scale, bias], Normalization(0.0, relu=False), pytest.fail
    )
    sums = (convolve(x, weights, PLAIN, (7, 7), 1) - mean) * 2 * scale + bias

    def run_of(output, post_ops):
        return convolution(x, weights, None, output, PLAIN, 1, post_ops=[normal, *post_ops])

    assert stages(check(run_of, sums, function)) == in_registers(function, adds=True)


def sums_of(kernel, output, post_ops):
    """Whole numbers {1, 20, 5, 5}, and the call that stores them in ``output``."""
    groups = 20 if kernel is depthwise_pool.products else 1
    x, weights = whole(1, max(8, groups), 5, 5), whole(20, 8 if groups == 1 else 1, 1, 1, seed=2)
    run = kernel(x, weights, None, output, PLAIN, groups, post_ops=post_ops)
    return convolve(x, weights, PLAIN, (5, 5), groups), run


@pytest.mark.parametrize("kernel", [convolution, depthwise_pool.products])
def test_normalizations_of_programs_run_by_themselves(kernel):
    output = np.empty((1, 20, 5, 5), np.float32)
    mean, variance, scale, bias = (whole(1, 20, 1, 1, seed=seed) for seed in (5, 6, 7, 8))
    statistics = [mean, np.full_like(variance, 0.25), scale, bias]
    normal = BatchNorm(
        statistics, Normalization(0.0, relu=False), lambda: batch_norm(output, *statistics, output, 0.0)
    )
    sums, run = sums_of(kernel, output, [of_function(gated, [output], [output]), normal])
    run()
    np.testing.assert_array_equal(output, (gated(sums) - mean) * 2 * scale + bias)


@pytest.mark.parametrize("kernel", [convolution, depthwise_pool.products])
def test_normalizations_by_numbers_in_the_output(kernel):
    """They are read before any sum is stored."""
    output = np.empty((1, 20, 5, 5), np.float32)
    mean, ones = output[:, :, :1, 3:4], np.ones((1, 20, 1, 1), np.float32)
    normal = BatchNorm([mean, ones, ones, ones], Normalization(0.0, relu=False), pytest.fail)
    sums, run = sums_of(kernel, output, [normal])
    mean[...] = 3
    run()
    np.testing.assert_array_equal(output, sums - 2)


def test_residuals_are_added_once_to_what_is_taken_along():
    """A second program follows; and what lies elsewhere, or is the sums themselves, has no kernel of its own."""
    x, weights, other = whole(1, 8, 5, 5), whole(20, 8, 1, 1, seed=2), whole(1, 20, 5, 5, seed=3)
    sums, output = convolve(x, weights, PLAIN, (5, 5), 1), np.empty((1, 20, 5, 5), np.float32)

    def run(*post_ops):
        call = convolution(x, weights, None, output, PLAIN, 1, post_ops=post_ops)
        call()
        return call

    added = post_op(total, [output, other], output, Sum())
    assert stages(run(added, added).task.post_ops) == (0, 0, True, 2)
    np.testing.assert_array_equal(output, sums + 2 * other)
    assert stages(run(post_op(total, [output, output], output, Sum())).task.post_ops) == (0, 0, False, 1)
    np.testing.assert_array_equal(output, 2 * sums)
    run(post_op(total, [output, np.asfortranarray(other)], output, Sum()))
    np.testing.assert_array_equal(output, sums + other)
    expected = sums + other
    run(post_op(total, [output, other], other, Sum()))
    np.testing.assert_array_equal(other, expected)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_by_the_method_of_winograd(function):
    x, weights = whole(1, 32, 23, 24), whole(40, 32, 3, 3, seed=2)
    sums = convolve(x, weights, PADDED, (23, 24), 1)
    scratch = np.empty(16 * 4 * 40 * 32, np.uint8)

    def run_of(output, post_ops):
        return convolution(x, weights, None, output, PADDED, 1, scratch=scratch, post_ops=post_ops)

    check(run_of, sums, function)


@pytest.mark.parametrize("function", FUNCTIONS)
@swept("sizes", [(2, 37, 13, 13), (1, 1, 64, 300), (3, 5, 4, 4)])
def test_pools(sizes, function):
    x, window = whole(*sizes, most=90), Window.of((2, 2), (2, 2))
    steps = window.forward(sizes[2:])
    even = x[:, :, : 2 * steps[0], : 2 * steps[1]].reshape(*sizes[:2], steps[0], 2, steps[1], 2)

    def run_of(output, post_ops):
        return depthwise_pool.maximum(x, output, None, window, post_ops)

    assert stages(check(run_of, even.max((3, 5)), function)) == (0, 0, False, 1)


@pytest.mark.parametrize("function", FUNCTIONS)
@swept(
    "batch, m, k, n", [((2, 3), 37, 20, 50), ((1, 1), 300, 9, 400), ((1,), 1300, 9, 400), ((2, 1), 5, 9, 1)]
)
def test_products_of_matrices(batch, m, k, n, function):
    a, b = whole(*batch, m, k), whole(*batch, k, n, seed=2)
    call, others, role = FUNCTIONS[function]
    sums = np.matmul(a, b)
    row = [np.broadcast_to(whole(n, seed=4, most=90), sums.shape)] if others else []
    output = np.full(sums.shape, 77, np.float32)
    run = multiply(a, b, output, post_ops=[post_op(call, [output, *row], output, role)])
    assert isinstance(run, NativeRun)
    assert stages(run.task.post_ops) == (0, 0, False, 1)
    run()
    np.testing.assert_array_equal(output, call(sums, *row))


@pytest.mark.parametrize(("m", "n"), [(900, 900), (30, 900), (900, 1)])
def test_products_of_matrices_whose_columns_lie_together(m, n):
    """The kernel computes the transpose, and a block of that is a block of columns."""
    a, b, other = whole(m, 9), whole(9, n, seed=2), whole(m, n, seed=3)
    output, laid_out_alike = (np.zeros((n, m), np.float32).T for _ in range(2))
    laid_out_alike[...] = other
    for added in (other, laid_out_alike):
        run = multiply(a, b, output, post_ops=[post_op(total, [output, added], output, Sum())])
        assert isinstance(run, NativeRun)
        run()
        np.testing.assert_array_equal(output, a @ b + other)


def test_results_in_another_type():
    """Sums in FLOAT32 become FLOAT16 elsewhere, and what follows reads these; the third program runs by itself."""
    a, b = whole(20, 8), whole(8, 30, seed=2)
    sums, halves = np.empty((20, 30), np.float32), np.empty((20, 30), np.float16)
    rounded, again = of_function(clip, [sums], [halves]), of_function(gated, [halves], [halves])
    assert isinstance(multiply(a, b, sums, post_ops=[rounded, again]), NativeRun)
    run = multiply(a, b, sums, post_ops=[rounded, again, again])
    assert isinstance(run, RunSequence)
    run()
    np.testing.assert_array_equal(halves, gated(gated(clip(a @ b))).astype(np.float16))
    np.testing.assert_array_equal(sums, a @ b)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_depthwise_convolutions_of_channels_that_are_neighbours(function):
    """All but a normalization is done where they lie, without reorders."""
    call, other_of, role = FUNCTIONS[function]
    x, output, other = (np.empty((2, 13, 13, 37), np.float32).transpose(0, 3, 1, 2) for _ in range(3))
    x[...], other[...] = whole(*x.shape), whole(*x.shape, seed=4, most=90)
    weights = whole(37, 1, 3, 3, seed=2)
    inputs = [output] if other_of is None else [output, other]
    added = post_op(call, inputs, output, role)
    run = depthwise_pool.products(x, weights, None, output, PADDED, 37, post_ops=[added])
    assert isinstance(run, NativeRun)
    assert stages(run.task.post_ops) == in_registers(function, adds=False)
    run()
    sums = convolve(x, weights, PADDED, (13, 13), 37)
    np.testing.assert_array_equal(output, call(sums, *inputs[1:]))


def test_what_lies_otherwise_is_done_afterwards():
    """Elements that cannot be numbered as the images of the results are; and all that follows."""
    x, weights = whole(1, 8, 5, 6), whole(20, 8, 1, 1, seed=2)
    sums, output = convolve(x, weights, PLAIN, (5, 6), 1), np.empty((1, 20, 5, 6), np.float32)
    turned = np.empty((1, 20, 6, 5), np.float32).swapaxes(2, 3)
    clipped = of_function(clip, [output], [turned])
    run = convolution(
        x, weights, None, output, PLAIN, 1, post_ops=[clipped, post_op(relu, [turned], turned, RELU)]
    )
    assert isinstance(run, RunSequence)
    assert stages(run.runs[0].task.post_ops) == (0, 0, False, 0)
    run()
    np.testing.assert_array_equal(turned, relu(clip(sums)))
    np.testing.assert_array_equal(output, sums)


def test_results_that_are_reordered_afterwards():
    """What is done in registers is done there; programs run over the output itself."""
    x, weights, other = whole(1, 8, 5, 6), whole(20, 8, 1, 1, seed=2), whole(1, 20, 5, 6, seed=3)
    sums, output = (
        convolve(x, weights, PLAIN, (5, 6), 1),
        np.empty((1, 5, 6, 20), np.float32).transpose(0, 3, 1, 2),
    )
    run = convolution(x, weights, None, output, PLAIN, 1, post_ops=[post_op(clip, [output], output, CLIP)])
    assert len(run.runs) == 2
    run()
    np.testing.assert_array_equal(output, clip(sums))
    run = convolution(
        x, weights, None, output, PLAIN, 1, post_ops=[post_op(residual, [output, other], output, Sum(RELU))]
    )
    assert len(run.runs) == 3
    run()
    np.testing.assert_array_equal(output, residual(sums, other))


SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 6.0, 7.0, -7.0, 3e38], np.float32)
BOUNDS = [
    (-3, 6),
    (0, 6),
    (-0.0, 6),
    (-1, 0),
    (-1, -0.0),
    (5, 2),
    (-np.inf, np.inf),
    (np.nan, 6),
    (-3, np.nan),
]
IN_REGISTERS = {"relu": (relu, RELU), "leaky relu": (leaky, LEAKY_RELU)}
IN_REGISTERS |= {
    f"clip {low} {high}": (partial(clip, low=low, high=high), clip_role(low, high)) for low, high in BOUNDS
}


@pytest.mark.parametrize("name", IN_REGISTERS)
@swept("window", [Window.of((1, 1)), Window.of((2, 2), (2, 2), start_padding=(0, 1))])
@swept("groups", [1, 3])
def test_activations_have_the_bits_of_the_function(groups, window, name):
    """Of what is not a number, of zeros and of what is nearly 0; sums are those of one element and of nothing."""
    function, role = IN_REGISTERS[name]
    x = np.zeros((1, 3, 2, 17), np.float32)
    x[0, :, 0] = np.resize(SPECIAL, 17)
    filters = np.zeros((3, 3 // groups, *window.size), np.float32)
    for channel in range(3):
        filters[channel, channel if groups == 1 else 0, 0, -1] = 1
    plain, output = (np.empty((1, 3, *window.forward((2, 17))), np.float32) for _ in range(2))

    def run_of(target, post_ops):
        task = (x, filters, None, target, window, groups)
        return depthwise_pool.products(*task, post_ops=post_ops) or convolution(*task, post_ops=post_ops)

    run_of(plain, [])()
    run = run_of(output, [post_op(function, [output], output, role)])
    assert stages(run.task.post_ops) == ((0, 0, False, 1) if role is None else (role.number, 0, False, 0))
    run()
    expected = function(plain).astype(np.float32)
    is_nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(output), is_nan)
    np.testing.assert_array_equal(output.view(np.uint32)[~is_nan], expected.view(np.uint32)[~is_nan])


def test_which_bounds_registers_clip_to():
    """Bounds of which one is not a number, or a zero that a program tells from the other one, are left to that."""
    found = [low_high for low_high in BOUNDS if clip_role(*low_high) is not None]
    assert found == [(-3, 6), (0, 6), (5, 2), (-np.inf, np.inf)]
