"""The native kernels of rows against their references, in any layout, and what lies beside the tensors."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from sweeps import swept
from toolchain import later

from directml_py.kernels import softmax_norm
from directml_py.kernels.backend import backend
from directml_py.kernels.decisions import Declined
from directml_py.kernels.elementwise import activations
from directml_py.kernels.half import as_halves

pytestmark = pytest.mark.skipif(backend.native is None, reason="no native kernels")
EPSILON = 1e-3
TYPES = {np.float32: 2, np.float16: 1}
COUNTS = [2, 3, 4, 15, 16, 17, 31, 33, 100, 1000, 4099]
# Less than a vector, whole ones, and more.
FEW_COUNTS = [3, 16, 1000]
OTHER_COUNTS = [count for count in COUNTS if count not in FEW_COUNTS]
CORNERS = [0.0, -0.0, 1.0, -2.5, 1000.0, -1000.0, np.inf, -np.inf, np.nan]


def numbers(shape, dtype, seed=3):
    return np.random.default_rng(seed).normal(0, 3, shape).astype(dtype)


def guarded_like(x):
    """An array of these sizes with rows that lie together, and the memory around them."""
    memory = np.full((*x.shape[:-1], x.shape[-1] + 24), 7, x.dtype)
    return memory[..., 8:-16], memory


def check(run, output, memory, expected, ulps):
    assert run
    for _ in range(2):
        output[...] = 3
        run()
        with np.errstate(all="ignore"):
            expected = np.asarray(expected).astype(output.dtype)
        np.testing.assert_array_equal(np.isnan(output), np.isnan(expected))
        numeric = np.where(np.isnan(expected), 0, expected)
        np.testing.assert_array_max_ulp(np.where(np.isnan(output), 0, output), numeric, ulps)
        assert (memory[..., :8] == 7).all()
        assert (memory[..., -16:] == 7).all()


def check_given(run, output, memory, product, shift):
    """The difference and the factor are rounded to FLOAT32 at most, and the result is: to half a unit of its last
    place, and twice that of what the bias is added to."""
    assert run
    output[...] = 3
    run()
    expected = product + shift
    half_unit = np.spacing(np.abs(expected).astype(output.dtype)).astype(np.float64) * 0.5
    assert (np.abs(output - expected) <= half_unit * 1.001 + np.abs(product) * 2.0**-23).all()
    assert (memory[..., :8] == 7).all()
    assert (memory[..., -16:] == 7).all()


def twin_of_mean_variance(x, scale, bias, axes, uses_mean=True, uses_variance=True):
    """Of FLOAT16, mean and variance are kept in FLOAT16."""
    kept = as_halves if x.dtype == np.float16 else np.asarray
    values = x.astype(np.float64)
    if uses_mean:
        values = values - kept(values.mean(axes, keepdims=True))
    if uses_variance:
        values = values / np.sqrt(kept(np.square(values).mean(axes, keepdims=True)) + EPSILON)
    return values * (1 if scale is None else scale) + (-0.0 if bias is None else bias)


@pytest.mark.parametrize("dtype", TYPES)
@swept("count", COUNTS)
def test_softmax(count, dtype):
    x = numbers((5, count), dtype)
    for logarithm, twin in ((False, activations.softmax), (True, activations.log_softmax)):
        output, memory = guarded_like(x)
        run = softmax_norm.softmax(x, output, (1,), logarithm)
        check(run, output, memory, twin(x, (1,), dtype is np.float16), TYPES[dtype])


@pytest.mark.parametrize("dtype", TYPES)
def test_corners_of_softmax(dtype):
    """Every pair of them, in rows that are else finite or else -infinity, alone and in what is left of vectors."""
    for base in (0.5, -np.inf):
        x = np.full((len(CORNERS) ** 2, 37), base, dtype)
        x[:, 2] = np.repeat(CORNERS, len(CORNERS))
        x[:, 35] = np.tile(CORNERS, len(CORNERS))
        for logarithm, twin in ((False, activations.softmax), (True, activations.log_softmax)):
            output, memory = guarded_like(x)
            expected = twin(x, (1,), dtype is np.float16)
            check(softmax_norm.softmax(x, output, (1,), logarithm), output, memory, expected, TYPES[dtype])
            ours, theirs = (np.signbit(np.where(np.isnan(one), 0, one)) for one in (output, expected))
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("counts", [[2, 21, 1000], *later([64, 2048, 2051, 8192])], ids=max)
@swept("across", [2, 3, 16, 17, 63, 64, 65, 130])
def test_softmax_of_columns(counts, across, dtype):
    """In strips that fill vectors and that do not, of as many columns as fit into the work memory."""
    for count in counts:
        check_softmax_of_columns(numbers((2, count, across), dtype), dtype)


def check_softmax_of_columns(x, dtype):
    for logarithm, twin in ((False, activations.softmax), (True, activations.log_softmax)):
        output, memory = guarded_like(x)
        expected = twin(x, (1,), dtype is np.float16)
        check(softmax_norm.softmax(x, output, (1,), logarithm), output, memory, expected, TYPES[dtype])


@pytest.mark.parametrize("dtype", TYPES)
def test_corners_of_softmax_of_columns(dtype):
    for base in (0.5, -np.inf):
        x = np.full((37, len(CORNERS) ** 2), base, dtype)
        x[2] = np.repeat(CORNERS, len(CORNERS))
        x[35] = np.tile(CORNERS, len(CORNERS))
        for logarithm, twin in ((False, activations.softmax), (True, activations.log_softmax)):
            output, memory = guarded_like(x)
            expected = twin(x, (0,), dtype is np.float16)
            check(softmax_norm.softmax(x, output, (0,), logarithm), output, memory, expected, TYPES[dtype])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axes", [(1,), (1, 2)])
def test_columns_of_many_dimensions_in_threads(axes, dtype, set_threads):
    """Input and output lie otherwise; threads change no bit. Of so many sums one is nearly a tie of FLOAT16, in which
    it is kept: the other neighbour is one unit more."""
    x = numbers((3, 40, 5, 700), dtype)[:, ::2]
    output, memory = guarded_like(x)
    expected = activations.softmax(x, axes, dtype is np.float16)
    results = []
    for count in (1, 3):
        set_threads(count)
        check(softmax_norm.softmax(x, output, axes), output, memory, expected, 2)
        results.append(output.tobytes())
    assert results[0] == results[1]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("sizes", [(2, 21, 5, 19), (3, 7, 20, 3), (1, 70, 9, 16)])
def test_columns_have_the_same_bits_in_any_layout(sizes, dtype):
    """Columns that are neighbours, that follow each other, and that do neither, with and without gaps."""
    x, packed = numbers(sizes, dtype), np.empty(sizes, dtype)
    softmax_norm.softmax(x, packed, (1,))()
    layouts = list(product([(0, 1, 2, 3), (0, 2, 3, 1), (3, 0, 2, 1), (0, 1, 3, 2)], [0, 5]))
    for (order, gap), (output_order, output_gap) in product(layouts, repeat=2):
        source, _ = laid_out(sizes, order, gap, dtype)
        output, memory = laid_out(sizes, output_order, output_gap, dtype)
        source[...], output[...] = x, 3
        softmax_norm.softmax(source, output, (1,))()
        assert output.tobytes() == packed.tobytes()
        assert (memory[..., sizes[output_order[-1]] :] == 7).all()


def laid_out(sizes, order, gap, dtype):
    """An array with its dimensions in an order of memory, the last of which ends with a gap; and that memory."""
    memory = np.full([sizes[axis] + (gap if axis == order[-1] else 0) for axis in order], 7, dtype)
    return memory[..., : sizes[order[-1]]].transpose(np.argsort(order)), memory


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("count", [2, 15, 16, 64, 127, 128, 129])
def test_softmax_of_many_short_rows(count, dtype):
    """More rows than are done at a time, in several dimensions."""
    x = numbers((3, 37, count), dtype)
    x[0, 5], x[1, 17, 0], x[2, 36, -1] = -np.inf, np.nan, np.inf
    output, memory = guarded_like(x)
    with np.errstate(all="ignore"):
        expected = activations.softmax(x, (2,), dtype is np.float16)
    check(softmax_norm.softmax(x, output, (2,)), output, memory, expected, TYPES[dtype])


def test_digits_beside_one():
    """What is left of the sum of exponentials keeps its digits."""
    x = np.float32([[0, -50, -60], [3, -20, 3 - 1e-6], [-90, 0, -89]])
    output, memory = guarded_like(x)
    check(
        softmax_norm.softmax(x, output, (1,), True), output, memory, activations.log_softmax(x, (1,)), ulps=2
    )


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axes", [(0,), (3,), (2, 3), (1, 2, 3), (0, 1, 2, 3)])
def test_axes_and_layouts(axes, dtype):
    """Rows that do not lie together are reordered, whichever dimensions they are, and give the same bits."""
    base = numbers((3, 4, 5, 6), dtype)
    kept = [axis for axis in range(4) if axis not in axes]
    order = np.argsort([*kept, *axes])
    together = np.ascontiguousarray(base.transpose(*kept, *axes)).transpose(*order)
    turned = together[tuple(slice(None, None, -1 if axis in kept else 1) for axis in range(4))]
    for x in (together, turned):
        output = np.empty((*(base.shape[axis] for axis in kept), *(base.shape[axis] for axis in axes)), dtype)
        output = output.transpose(*order)
        run = softmax_norm.softmax(x, output, axes)
        assert run
        run()
        expected = activations.softmax(x, axes, dtype is np.float16).astype(dtype)
        np.testing.assert_array_max_ulp(output, expected, TYPES[dtype])
    backward = together[tuple(slice(None, None, -1 if axis in axes else 1) for axis in range(4))]
    straight = np.empty_like(together)
    straight[...] = backward
    expected = np.empty_like(output)
    softmax_norm.softmax(straight, expected, axes)()
    softmax_norm.softmax(backward, output, axes)()
    assert output.tobytes() == expected.tobytes()
    # Nothing lies together in the output.
    apart, packed = np.zeros((*base.shape[:-1], 12), dtype)[..., ::2], np.empty_like(base)
    softmax_norm.softmax(base, apart, axes)()
    softmax_norm.softmax(base, packed, axes)()
    np.testing.assert_array_equal(apart, packed)
    assert not np.any(apart.base[..., 1::2])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("counts", [FEW_COUNTS, *later(OTHER_COUNTS)], ids=len)
@swept("uses", [(True, True), (False, True), (True, False), (False, False)])
@swept("activation", [{}, {"relu": True}, {"slope": 0.3}])
def test_mean_and_variance_of_the_row(counts, dtype, uses, activation):
    for count in counts:
        check_mean_and_variance(count, dtype, uses, activation)


def check_mean_and_variance(count, dtype, uses, activation):
    x = numbers((6, count), dtype)
    along, across, one = (numbers(sizes, dtype, 5) for sizes in ((1, count), (6, 1), (1, 1)))
    for scale in (None, along, across, one):
        for bias in (None, along[:, ::-1].copy(), across, one):
            output, memory = guarded_like(x)
            run = softmax_norm.mean_variance(
                x, scale, bias, output, (1,), EPSILON, uses_mean=uses[0], uses_variance=uses[1], **activation
            )
            expected = activated(twin_of_mean_variance(x, scale, bias, (1,), *uses), **activation)
            check(run, output, memory, expected, TYPES[dtype])


def activated(values, relu=False, slope=1.0):
    return np.fmax(values, 0) if relu else np.where(values < 0, values * slope, values)


@pytest.mark.parametrize(("size", "share"), [(100, 1), (1000, 0)])
def test_a_variance_that_float16_does_not_have(size, share):
    """10^4 it has, 10^6 is infinite."""
    x = np.array([[size, -size] * 8], np.float16)
    output, memory = guarded_like(x)
    run = softmax_norm.mean_variance(
        x, None, None, output, (1,), 0.0, uses_mean=True, uses_variance=True, relu=False
    )
    check(run, output, memory, np.array([[share, -share] * 8]), 0)


def test_a_sum_of_exponentials_that_float16_does_not_have():
    """2049 of 1 are 2048 in FLOAT16."""
    x = np.zeros((1, 2049), np.float16)
    for logarithm, wanted in ((False, 1 / 2048), (True, -np.log(2048))):
        output, memory = guarded_like(x)
        check(softmax_norm.softmax(x, output, (1,), logarithm), output, memory, np.full(x.shape, wanted), 0)


@swept("count", [5, 64, 1003])
@swept("mean", [0, 30, 1e2, -1e4, 1e6, 1e30])
def test_deviations_that_are_small_beside_the_mean(mean, count):
    """Sums of squares alone have few digits of them, or none."""
    x = (numbers((6, count), np.float32) * max(1, mean / 1e7) + mean).astype(np.float32)
    x[1], x[2, 0], x[3, -1] = mean, np.inf, np.nan
    output, memory = guarded_like(x)
    run = softmax_norm.mean_variance(
        x, None, None, output, (1,), EPSILON, uses_mean=True, uses_variance=True, relu=False
    )
    with np.errstate(invalid="ignore"):
        expected = twin_of_mean_variance(x, 1.0, 0.0, (1,))
    check(run, output, memory, expected, TYPES[np.float32])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("place", [np.s_[:, :, 1:-1, 1:-1], np.s_[:, 1:, ::2, ::-1], np.s_[..., ::3]])
def test_images_whose_rows_lie_apart(place, dtype):
    base = numbers((2, 3, 12, 14), dtype)
    x, before = base[place], base.copy()
    scale, bias = numbers((1, x.shape[1], 1, 1), dtype, 4), numbers((1, x.shape[1], 1, 1), dtype, 5)
    memory = np.full(x.size + 24, 7, dtype)
    output = memory[8:-16].reshape(x.shape)
    statistics = [np.full((2, x.shape[1], 1, 1), 7, dtype) for _ in range(2)]
    options = {"uses_mean": True, "uses_variance": True}
    run = softmax_norm.mean_variance(
        x, scale, bias, output, (2, 3), EPSILON, **options, statistics=statistics
    )
    twin = twin_of_mean_variance(x, scale, bias, (2, 3))
    check(run, output, memory, twin, TYPES[dtype])
    np.testing.assert_array_equal(base, before)
    mean = x.mean((2, 3), np.float64, keepdims=True).astype(dtype)
    about = mean if dtype == np.float16 else x.mean((2, 3), np.float64, keepdims=True)
    variance = np.square(x - about.astype(np.float64)).mean((2, 3), keepdims=True)
    for statistic, wanted in zip(statistics, (mean, variance.astype(dtype))):
        np.testing.assert_array_max_ulp(statistic, wanted, TYPES[dtype] - 1)
    again = softmax_norm.mean_variance(
        np.ascontiguousarray(x), scale, bias, output, (2, 3), EPSILON, **options
    )
    check(again, output, memory, twin, TYPES[dtype])
    softmax_norm.mean_variance(x, scale, bias, x, (2, 3), EPSILON, **options)()
    np.testing.assert_array_equal(x, output)


@swept("dtype", TYPES)
@swept("place", [np.s_[:], np.s_[:, :, 1:-1, 1:-1], np.s_[:, 1:, ::2, ::-1], np.s_[:, ::2, :1, :2]])
@swept("neighbours", [(0, 0), (1, 2), (2, 2), (0, 3), (40, 40)])
def test_responses_of_neighbouring_channels(neighbours, place, dtype):
    before, behind = neighbours
    x = numbers((2, 37, 12, 14), dtype)[place]
    count, squares = x.shape[1], np.square(x.astype(np.float64))
    sums = np.stack([squares[:, max(0, i - before) : i + behind + 1].sum(1) for i in range(count)], axis=1)
    for exponent in (0.75, 1.0, -2.0):
        output, memory = guarded_like(x)
        run = softmax_norm.response(x, output, before, behind, share=0.25, bias=1.5, exponent=exponent)
        check(run, output, memory, x / (1.5 + 0.25 * sums) ** exponent, 1)


def twin_of_gradient(x, incoming, mean, variance, scale, axes, is_through_statistics):
    """By the chain rule, one output of the normalization at a time."""
    count = prod(x.shape[axis] for axis in axes)
    deviation = np.sqrt(variance.astype(np.float64) + EPSILON)
    normalized = (x.astype(np.float64) - mean) / deviation
    of_scale, of_bias = (
        total.sum(axes, np.float64, keepdims=True) for total in (incoming * normalized, incoming)
    )
    of_normalized = incoming * scale.astype(np.float64)
    if not is_through_statistics:
        return of_normalized / deviation, of_scale, of_bias
    of_variance = -0.5 * of_scale * scale / deviation**2
    of_mean = -of_bias * scale / deviation
    of_input = of_normalized / deviation + of_variance * 2 * normalized * deviation / count + of_mean / count
    return of_input, of_scale, of_bias


@swept("is_through_statistics", [False, True])
@swept("axes", [(0, 2, 3), (2, 3)])
@swept("place", [np.s_[:], np.s_[:, :, 1:-1, 1:-1], np.s_[:, 1:, ::2, ::-1], np.s_[..., :1]])
def test_gradients_of_images(place, axes, is_through_statistics):
    images, gradients = (numbers((2, 5, 18, 19), np.float32, seed) for seed in (3, 4))
    x, incoming = images[place], gradients[place]
    sizes = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    # Of the input itself: only then is the chain rule the whole gradient.
    mean, variance = (np.float32(one(x, axes, np.float64, keepdims=True)) for one in (np.mean, np.var))
    scale = numbers(sizes, np.float32, 6)
    output, memory = guarded_like(x)
    sums = [np.empty(sizes, np.float32) for _ in range(2)]
    parameters = mean, variance, scale
    run = softmax_norm.gradient(
        x, incoming, *parameters, [output, *sums], axes, EPSILON, is_through_statistics=is_through_statistics
    )
    expected = twin_of_gradient(x, incoming, *parameters, axes, is_through_statistics)
    assert run
    run()
    for result, wanted in zip((output, *sums), expected):
        # Terms that cancel are as large as the gradients: their rounding is that of the largest.
        np.testing.assert_allclose(result, wanted, rtol=1e-7, atol=2.0**-23 * np.abs(wanted).max())
    assert (memory[..., :8] == 7).all()
    assert (memory[..., -16:] == 7).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("sizes", [(3, 5, 7, 9), (1, 4, 1, 2), (2, 3, 16, 16), (1, 1, 1, 40)])
def test_mean_and_variance_that_are_given(sizes, dtype):
    x = numbers(sizes, dtype)
    mean, variance, scale, bias = (numbers((1, sizes[1], 1, 1), dtype, seed) for seed in range(4))
    variance = abs(variance)
    product = (x.astype(np.float64) - mean) / np.sqrt(variance.astype(np.float64) + EPSILON) * scale
    output, memory = guarded_like(x)
    run = softmax_norm.batch_norm(x, mean, variance, scale, bias, output, EPSILON)
    check_given(run, output, memory, product, bias)


@pytest.mark.parametrize("spread", [1e-30, 1e-3, 1e30])
def test_differences_from_a_large_mean_keep_their_digits(spread):
    """A bias made of the mean times the factor would lose them."""
    x = np.float32(1000) + np.float32(2.0**-14) * numbers((2, 3, 50), np.float32).round()
    mean, scale = np.full((1, 3, 1), 1000, np.float32), np.full((1, 3, 1), spread, np.float32)
    variance, bias = np.full((1, 3, 1), 2.0**-26, np.float32), np.zeros((1, 3, 1), np.float32)
    output, memory = guarded_like(x)
    product = (x.astype(np.float64) - mean) * 2.0**13 * scale.astype(np.float64)
    check_given(
        softmax_norm.batch_norm(x, mean, variance, scale, bias, output, 0.0), output, memory, product, bias
    )


def test_long_rows_of_halves_with_what_is_given():
    """More than are widened at a time."""
    x = numbers((2, 3, 2 * backend.native.lib.DML_SOFTMAX_NORM_LONGEST_HALVES + 5), np.float16)
    mean, variance, scale, bias = (numbers((1, 3, 1), np.float16, seed) for seed in range(4))
    output, memory = guarded_like(x)
    wide = x.astype(np.float64)
    product = (wide - mean) / np.sqrt(abs(variance).astype(np.float64) + EPSILON) * scale
    run = softmax_norm.batch_norm(x, mean, abs(variance), scale, bias, output, EPSILON)
    check_given(run, output, memory, product, bias)


def test_differences_are_exact():
    """Where the difference from the largest element has more digits than FLOAT32."""
    rng = np.random.default_rng(4)
    x = np.float32(rng.standard_normal((64, 100)) * 10.0 ** rng.integers(-3, 3, (64, 1)))
    x += np.float32(10.0) ** rng.integers(-2, 7, (64, 1))
    x[:, 7] += 30
    for logarithm, twin in ((False, activations.softmax), (True, activations.log_softmax)):
        output, memory = guarded_like(x)
        check(softmax_norm.softmax(x, output, (1,), logarithm), output, memory, twin(x, (1,)), 2)


def test_what_is_small_beside_the_largest():
    """Results of every exponent, subnormal ones too, and others that FLOAT32 has not beside 1."""
    x = np.zeros((4, 700), np.float32)
    x[:, 1:] = -np.linspace(0.1, 210, 699)
    x[1, 1:200] = -np.inf
    x[2, 1:] = -100
    x[3, 2:] = -300
    for logarithm, twin in ((False, activations.softmax), (True, activations.log_softmax)):
        output, memory = guarded_like(x)
        check(softmax_norm.softmax(x, output, (1,), logarithm), output, memory, twin(x, (1,)), 2)


def test_corners_of_normalization():
    corners = np.float32([*CORNERS, 1e-40, 3e38])
    x = np.ascontiguousarray(np.broadcast_to(corners, (len(corners), len(corners))))
    mean, variance, scale, bias = (np.roll(corners, step)[:, np.newaxis] for step in range(4))
    for epsilon, relu in product((0.0, EPSILON), (False, True)):
        output, memory = guarded_like(x)
        with np.errstate(all="ignore"):
            expected = (x.astype(np.float64) - mean) / np.sqrt(variance.astype(np.float64) + epsilon)
            expected = expected * scale + bias
        check(
            softmax_norm.batch_norm(x, mean, variance, scale, bias, output, epsilon, relu=relu),
            output,
            memory,
            np.fmax(expected, 0) if relu else expected,
            ulps=1,
        )


def test_what_there_are_no_loops_for():
    x = numbers((4, 10), np.float32)
    assert isinstance(softmax_norm.softmax(x.astype(np.float64), np.empty((4, 10)), (1,)), Declined)
    assert isinstance(softmax_norm.softmax(x, np.empty((4, 10), np.float16), (1,)), Declined)
    assert isinstance(softmax_norm.softmax(x, np.empty((4, 10), np.float32), ()), Declined)
    long = np.ones((2, backend.native.lib.DML_SOFTMAX_NORM_LONGEST_HALVES + 1), np.float16)
    assert isinstance(softmax_norm.softmax(long, np.empty_like(long), (1,)), Declined)
    along = np.ones((1, 10), np.float32)
    assert isinstance(
        softmax_norm.batch_norm(x, along, along, along, along, np.empty_like(x), EPSILON), Declined
    )


@pytest.mark.parametrize("logarithm", [False, True])
def test_columns_that_are_too_long_become_rows(logarithm):
    count = backend.native.lib.DML_SOFTMAX_NORM_LONGEST_COLUMN + 1
    columns = numbers((count, 3), np.float32)
    output, rows = np.empty_like(columns), np.empty((3, count), np.float32)
    softmax_norm.softmax(columns, output, (0,), logarithm)()
    softmax_norm.softmax(columns.T.copy(), rows, (1,), logarithm)()
    np.testing.assert_array_equal(output, rows.T)


@pytest.mark.parametrize("shift", [0, 1, 5])
def test_in_place_and_beside_it(shift):
    """An output that overlaps the input gets what an output apart from it does."""
    memory = numbers((45,), np.float32)
    x, output = memory[:40].reshape(4, 10), memory[shift : shift + 40].reshape(4, 10)
    expected = np.empty_like(x)
    softmax_norm.softmax(x.copy(), expected, (1,))()
    softmax_norm.softmax(x, output, (1,))()
    np.testing.assert_array_equal(output, expected)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("count", [1024, 1023, 8192])
def test_in_threads_and_past_the_caches(dtype, count):
    before = backend.native.lib.dml_get_threads()
    x = numbers(((5 << 20) // count, count), dtype)
    output, memory = guarded_like(x)
    assert output.nbytes >= 8 << 20
    backend.native.lib.dml_set_threads(4)
    try:
        run = softmax_norm.softmax(x, output, (1,))
        check(run, output, memory, activations.softmax(x, (1,), dtype is np.float16), TYPES[dtype])
    finally:
        backend.native.lib.dml_set_threads(before)
