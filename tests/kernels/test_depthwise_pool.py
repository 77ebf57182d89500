"""Native depthwise convolution and pooling against their references, over windows and layouts of all kinds."""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import prod

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels import depthwise_pool
from directml_py.kernels.backend import backend
from directml_py.kernels.decisions import Declined
from directml_py.kernels.elementwise.functions import quantize
from directml_py.kernels.im2col import convolve
from directml_py.kernels.post_ops import RELU, Activation
from directml_py.kernels.windows import Window

pytestmark = pytest.mark.skipif(backend.native is None, reason="no native kernels")
TYPES = [np.float32, np.float16]
# Around the end of a vector and of a block of vectors, and longer than a unit of work.
WIDTHS = [1, 2, 7, 15, 16, 17, 33, 63, 64, 65, 130, 5000]
GUARD = 5


def whole(rng, shape, dtype):
    """Whole numbers, few enough for all sums of them to be exact."""
    return rng.integers(-4, 5, shape).astype(dtype)


def laid_out(x, layout):
    """The same numbers: contiguous, reversed, channels last, with gaps between rows and elements."""
    if layout == "backward":
        every = (slice(None, None, -1),) * x.ndim
        return np.ascontiguousarray(x[every])[every]
    if layout == "channels last":
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    if layout == "gaps":
        wide = np.full((*x.shape[:-1], 2 * x.shape[-1] + 3), 99, x.dtype)
        wide[..., : 2 * x.shape[-1] : 2] = x
        return wide[..., : 2 * x.shape[-1] : 2]
    return x


def guarded(shape, dtype):
    memory = np.full((*shape[:-1], shape[-1] + 2 * GUARD), 77, dtype)
    return memory[..., GUARD:-GUARD], memory


def check(run, output, memory, expected):
    assert run
    for _ in range(2):
        output[...] = 55
        run()
        np.testing.assert_array_equal(output, expected)
        assert (memory[..., :GUARD] == 77).all()
        assert (memory[..., -GUARD:] == 77).all()


def windows():
    """Windows of one to three dimensions, sizes that they slide over, and steps, sometimes one more than fit whole."""
    rng = np.random.default_rng(11)
    for number in range(160):
        rank = number % 3 + 1
        sizes, size = rng.integers(1, (70, 30, 10)[rank - 1], rank), rng.integers(1, 6, rank)
        strides, dilations = rng.integers(1, 4, (2, rank))
        paddings = rng.integers(0, 6 if number % 5 == 0 else 3, (2, rank))
        window = Window.of(*(one.tolist() for one in (size, strides, dilations, *paddings)))
        steps = tuple(int(count) + number % 2 for count in window.forward(sizes.tolist()))
        if min(steps) >= 1:
            yield window, tuple(sizes.tolist()), steps


WINDOWS = list(windows())
LAYOUTS = ("together", "backward", "channels last", "gaps")


def cases():
    for number, (window, sizes, steps) in enumerate(WINDOWS):
        yield number, window, sizes, steps, LAYOUTS[number // 2 % 4], TYPES[number % 2]


def convolved(x, filters, bias, window, steps, groups):
    return convolve(x.astype(np.float32), filters.astype(np.float32), window, steps, groups) + bias


def largest(x, window, steps):
    """The reference of the kernel, as MAX_POOLING puts it."""
    sizes = x.shape[2:]
    seen = [count > 0 for count in window.counts(sizes, steps, with_padding=False)]
    nothing = ~reduce(np.logical_and.outer, seen)
    values, offsets = window.first_largest(x, steps)
    starts = np.arange(prod(x.shape[:2])).reshape(*x.shape[:2], *(1,) * len(sizes)) * prod(sizes)
    values = np.fmax(np.where(nothing, np.nan, values), np.finfo(np.float32).min)
    with np.errstate(over="ignore"):
        values = values.astype(x.dtype)
    return values, np.where(nothing, 0, offsets + starts)


def mean_of(x, window, steps, counts):
    with np.errstate(all="ignore"):
        total = window.fold(x.astype(np.float32), steps, np.add, 0)
        return (total / reduce(np.multiply.outer, counts).astype(np.float32)).astype(x.dtype)


def test_products():
    for number, window, sizes, steps, layout, dtype in cases():
        rng = np.random.default_rng(number)
        groups, each = int(rng.integers(1, 5)), int(rng.integers(1, depthwise_pool.FEW + 1))
        x = laid_out(whole(rng, (2, groups, *sizes), dtype), layout)
        filters = laid_out(whole(rng, (groups * each, 1, *window.size), dtype), layout)
        bias = whole(rng, (1, groups * each, *(1,) * len(sizes)), dtype)
        output, memory = guarded((2, groups * each, *steps), dtype)
        for turned in (False, True):
            own = np.flip(filters, range(2, filters.ndim)) if turned else filters
            expected = convolved(x, own, bias, window, steps, groups).astype(dtype)
            run = depthwise_pool.products(x, filters, bias, output, window, groups, is_flipped=turned)
            check(run, output, memory, expected)
        run = depthwise_pool.products(x, filters, None, output, window, groups)
        check(run, output, memory, convolved(x, filters, 0, window, steps, groups).astype(dtype))


def test_activations_and_sums_that_are_not_rounded():
    rng = np.random.default_rng(5)
    window = Window.of((3, 3), start_padding=(1, 1), end_padding=(1, 1))
    x, filters = whole(rng, (1, 3, 20, 37), np.float16), whole(rng, (3, 1, 3, 3), np.float16)
    x[0, 1, 5, 5] = np.nan
    bias = np.float16([0.5, 1, 3000.25]).reshape(1, 3, 1, 1)
    sums = convolved(x, filters, bias.astype(np.float32), window, (20, 37), 3)
    output, memory = guarded(sums.shape, np.float32)
    check(depthwise_pool.products(x, filters, bias, output, window, 3), output, memory, sums)
    check(
        depthwise_pool.products(x, filters, bias, output, window, 3, activation=RELU),
        output,
        memory,
        np.fmax(sums, 0),
    )
    run = depthwise_pool.products(
        x, filters, bias, output, window, 3, activation=Activation("LEAKY_RELU", 0.25)
    )
    check(run, output, memory, np.where(sums < 0, sums * 0.25, sums))


def test_means():
    for number, window, sizes, steps, layout, dtype in cases():
        x = laid_out(whole(np.random.default_rng(number), (2, 3, *sizes), dtype), layout)
        output, memory = guarded((2, 3, *steps), dtype)
        for with_padding in (False, True):
            counts = window.counts(sizes, steps, with_padding)
            run = depthwise_pool.mean(x, output, window, counts)
            check(run, output, memory, mean_of(x, window, steps, counts))


@pytest.mark.parametrize("corners", [False, True])
def test_largest_elements_and_where_they_are(corners):
    for number, window, sizes, steps, layout, dtype in cases():
        rng = np.random.default_rng(number)
        x = whole(rng, (2, 3, *sizes), dtype)
        if corners:
            for one in (np.nan, -np.inf, np.inf):
                x[rng.random(x.shape) < 0.3] = one
        values, places = largest(x, window, steps)
        x = laid_out(x, layout)
        output, memory = guarded(values.shape, dtype)
        check(depthwise_pool.maximum(x, output, None, window), output, memory, values)
        for kind in (np.uint32, np.uint64):
            indices, around = guarded(values.shape, kind)
            run = depthwise_pool.maximum(x, output, indices, window)
            check(run, output, memory, values)
            check(run, indices, around, places)


@pytest.mark.parametrize("dtype", TYPES)
@swept("stride", [1, 2, 3])
@swept("width", WIDTHS)
def test_widths(width, stride, dtype):
    window = Window.of((2, 3), (1, stride), (1, 1), (0, 1), (1, 1))
    x = whole(np.random.default_rng(width), (1, 2, 9, width), dtype)
    steps = window.forward(x.shape[2:])
    filters = whole(np.random.default_rng(width), (2, 1, 2, 3), dtype)
    output, memory = guarded((1, 2, *steps), dtype)
    expected = convolved(x, filters, 0, window, steps, 2).astype(dtype)
    check(depthwise_pool.products(x, filters, None, output, window, 2), output, memory, expected)
    check(depthwise_pool.maximum(x, output, None, window), output, memory, largest(x, window, steps)[0])
    counts = window.counts(x.shape[2:], steps, with_padding=False)
    check(depthwise_pool.mean(x, output, window, counts), output, memory, mean_of(x, window, steps, counts))


# How rows are seen: a stride that is not that of columns, and dilations of rows and columns.
ROWS = [(None, 1, 1), (3, 1, 1), (None, 2, 1)]


@pytest.mark.parametrize(("channels", "each"), [(2, 2), (16, 1)])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [3, 5])
def test_small_filters(size, stride, channels, each):
    """Images of all widths up to two vectors and more, with little and with more padding than a window can see; and
    where memory ends. Sixteen channels are blocks of those whose planes are transposed."""
    features = channels * each
    for width in (*range(1, 36), 112, 225):
        for padding, rows in product((0, size // 2, size), ROWS if width == 17 else ROWS[:1]):
            window = Window.of(
                (size, size), (rows[0] or stride, stride), rows[1:], (padding,) * 2, (padding,) * 2
            )
            sizes = (2 * size, width)
            steps = window.forward(sizes)
            if min(steps) < 1:
                continue
            rng = np.random.default_rng(width)
            count = channels * prod(sizes)
            x = np.full(count + 2, np.nan, np.float32)
            x[1:-1] = whole(rng, count, np.float32)
            seen = x[1:-1].reshape(1, channels, *sizes)
            filters = whole(rng, (features, 1, size, size), np.float32)
            bias = whole(rng, (1, features, 1, 1), np.float32)
            output, memory = guarded((1, features, *steps), np.float32)
            sums = convolved(seen, filters, bias, window, steps, channels)
            check(
                depthwise_pool.products(seen, filters, bias, output, window, channels), output, memory, sums
            )
            run = depthwise_pool.products(
                seen, filters, bias, output, window, channels, activation=Activation("LEAKY_RELU", 0.5)
            )
            check(run, output, memory, np.where(sums < 0, sums / 2, sums))
            apart = np.full((1, channels, sizes[0], width + 3), np.nan, np.float32)[..., :width]
            apart[...] = seen
            run = depthwise_pool.products(apart, filters, bias, output, window, channels, activation=RELU)
            check(run, output, memory, np.maximum(sums, 0))


PLANES = (
    (1, 1),
    (2, 3),
    (7, 7),
    (4, 16),
    (9, 15),
    (14, 14),
    (3, 33),
    (5, 112),
    (40, 10),
    (90, 90),
    (3, 127),
    (2, 4096),
)


@pytest.mark.parametrize("each", [1, 2])
@pytest.mark.parametrize("size", [3, 5])
def test_planes_whose_rows_lie_together(size, each):
    """Enough of them for vectors that run on over the ends of rows, of images as wide as what is seen of them: nothing
    is seen of the row before, of the plane before, or where memory ends; NaN and infinity stay where they belong."""
    rng, channels, around = np.random.default_rng(size), 16 // each, size // 2
    for height, width in PLANES:
        for above, below in product((0, around, size), repeat=2):
            window = Window.of((size, size), start_padding=(above, around), end_padding=(below, around))
            steps = window.forward((height, width))
            if min(steps) < 1:
                continue
            count = channels * height * width
            x = np.full(count + 2, np.nan, np.float32)
            x[1:-1] = whole(rng, count, np.float32)
            x[1 + rng.integers(0, count, 2)] = np.nan, np.inf
            seen = x[1:-1].reshape(1, channels, height, width)
            filters = whole(rng, (channels * each, 1, size, size), np.float32)
            filters[3, 0, 0, 0], filters[5, 0, -1, -1] = np.inf, np.nan
            bias = whole(rng, (1, channels * each, 1, 1), np.float32)
            memory = np.full(channels * each * prod(steps) + 2 * GUARD, 77, np.float32)
            output = memory[GUARD:-GUARD].reshape(1, channels * each, *steps)
            with np.errstate(all="ignore"):
                sums = convolved(seen, filters, bias, window, steps, channels)
                leaky, relu = np.where(sums < 0, sums / 2, sums), np.where(sums > 0, sums, 0)
            run = depthwise_pool.products(seen, filters, bias, output, window, channels)
            check(run, output, memory, sums)
            run = depthwise_pool.products(
                seen, filters, bias, output, window, channels, activation=Activation("LEAKY_RELU", 0.5)
            )
            check(run, output, memory, leaky)
            run = depthwise_pool.products(seen, filters, bias, output, window, channels, activation=RELU)
            check(run, output, memory, relu)


def small_pools(size, stride):
    """Windows over images of all widths up to two vectors and more; steps, and numbers for the images."""
    for width in (*range(1, 36), 112, 225):
        for padding, rows in product((0, 1, size), ROWS if width == 17 else ROWS[:1]):
            window = Window.of(
                (size, size), (rows[0] or stride, stride), rows[1:], (padding,) * 2, (padding,) * 2
            )
            sizes = (2 * size + 1, width)
            steps = window.forward(sizes)
            if min(steps) >= 1:
                yield window, sizes, steps, np.random.default_rng(width)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 3])
def test_small_maxima(size, stride):
    """With NaN, which any number exceeds, and -infinity, which exceeds it too."""
    for window, sizes, steps, rng in small_pools(size, stride):
        x = np.full(2 * prod(sizes) + 2, 99, np.float32)
        values = rng.choice(np.array([np.nan, -np.inf, -3, 2, 5], np.float32), 2 * prod(sizes))
        x[1:-1] = np.where(rng.random(values.size) < 0.7, rng.choice(values[:2], values.size), values)
        seen = x[1:-1].reshape(1, 2, *sizes)
        output, memory = guarded((1, 2, *steps), np.float32)
        check(
            depthwise_pool.maximum(seen, output, None, window),
            output,
            memory,
            largest(seen, window, steps)[0],
        )


@pytest.mark.parametrize(("size", "stride"), [(2, 1), (3, 1), (3, 2)])
def test_signs_of_zeros_in_rows_of_one_element(size, stride):
    """No element is found by the innermost stride, which may be any, so the sign of a maximum does not depend on it."""
    window = Window.of((size, size), (stride,) * 2, (1, 1), (0, 0), (0, 0))
    x = np.random.default_rng(size).choice(np.float32([0.0, -0.0, -1.0]), (1, 40, 2 * size + 1, size))
    (rows, _) = window.forward(x.shape[2:])
    results = []
    for innermost in (4, 8, 0):
        # Beside each row lies another element, so that the output is not contiguous as a whole.
        memory = np.empty((1, 40, rows, 2), np.float32)
        output = np.lib.stride_tricks.as_strided(memory, (1, 40, rows, 1), (*memory.strides[:3], innermost))
        run = depthwise_pool.maximum(x, output, None, window)
        assert run
        run()
        results.append(output.copy())
    assert len({one.tobytes() for one in results}) == 1


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 3])
def test_small_means(size, stride):
    """Sums that are rounded, in the order of the twin; infinities, and memory around the images that is NaN."""
    for window, sizes, steps, rng in small_pools(size, stride):
        x = np.full(2 * prod(sizes) + 2, np.nan, np.float32)
        x[1:-1] = rng.standard_normal(2 * prod(sizes))
        x[1:-1][rng.random(2 * prod(sizes)) < 0.05] = rng.choice(np.array([np.inf, -np.inf, -0.0]))
        seen = x[1:-1].reshape(1, 2, *sizes)
        output, memory = guarded((1, 2, *steps), np.float32)
        for with_padding in (False, True):
            counts = window.counts(sizes, steps, with_padding)
            run = depthwise_pool.mean(seen, output, window, counts)
            check(run, output, memory, mean_of(seen, window, steps, counts))


def test_small_filters_meet_padding():
    """0 times infinity is NaN, in rows and in columns that are not there."""
    window = Window.of((3, 3), start_padding=(1, 1), end_padding=(1, 1))
    output = np.empty((1, 1, 5, 5), np.float32)
    for place in np.ndindex(3, 3):
        filters = np.ones((1, 1, 3, 3), np.float32)
        filters[(0, 0, *place)] = np.inf
        run = depthwise_pool.products(np.ones_like(output), filters, None, output, window, 1)
        assert run
        run()
        y, x = np.indices((5, 5))
        inside = [(at + one >= 1) & (at + one < 6) for at, one in zip((y, x), place)]
        np.testing.assert_array_equal(output[0, 0], np.where(inside[0] & inside[1], np.inf, np.nan))


@pytest.mark.parametrize("size", [(1, 40), (40, 1), (11, 13), (4, 3, 5)])
def test_windows_of_many_elements(size):
    window = Window.of(size, dilations=(2,) * len(size), start_padding=(3,) * len(size))
    sizes = tuple(2 * one + 17 for one in size)
    x = whole(np.random.default_rng(3), (1, 2, *sizes), np.float32)
    steps = window.forward(sizes)
    output, memory = guarded((1, 2, *steps), np.float32)
    check(depthwise_pool.maximum(x, output, None, window), output, memory, largest(x, window, steps)[0])
    counts = window.counts(sizes, steps, with_padding=True)
    check(depthwise_pool.mean(x, output, window, counts), output, memory, mean_of(x, window, steps, counts))


def test_what_there_are_no_loops_for():
    window = Window.of((3, 3))
    x, filters = np.ones((1, 2, 9, 9), np.float32), np.ones((2, 1, 3, 3), np.float32)
    output = np.empty((1, 2, 7, 7), np.float32)
    assert depthwise_pool.products(x, filters, None, output, window, 2)
    assert isinstance(
        depthwise_pool.products(x.astype(np.float64), filters, None, output, window, 2), Declined
    )
    assert isinstance(
        depthwise_pool.products(x, filters.astype(np.float16), None, output, window, 2), Declined
    )
    assert isinstance(
        depthwise_pool.products(x, np.ones((1, 2, 3, 3), np.float32), None, output[:, :1], window, 1),
        Declined,
    )
    assert isinstance(
        depthwise_pool.maximum(x.astype(np.int32), np.empty(output.shape, np.int32), None, window), Declined
    )
    # More elements than the kernel keeps positions of.
    assert isinstance(
        depthwise_pool.maximum(
            np.ones((1, 1, 40, 40), np.float32), output[:, :1, :1, :1], None, Window.of((40, 40))
        ),
        Declined,
    )
    far, x, output = (
        Window.of((2, 2), dilations=(500, 500)),
        np.ones((1, 1, 510, 510)),
        np.zeros((1, 1, 10, 10)),
    )
    x, output, filters = (one.astype(np.float32) for one in (x, output, np.ones((1, 1, 2, 2))))
    assert isinstance(depthwise_pool.products(x, filters, None, output, far, 1), Declined)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("stride", [1, 2])
def test_in_threads(dtype, stride):
    """Results are those of one thread, to the last bit."""
    rng = np.random.default_rng(9)
    window = Window.of((3, 3), (stride, stride), (1, 1), (1, 1), (1, 1))
    x = rng.standard_normal((2, 40, 111, 113), np.float32).astype(dtype)
    filters = rng.standard_normal((40, 1, 3, 3), np.float32).astype(dtype)
    output = np.empty((2, 40, *window.forward((111, 113))), dtype)
    before, results = backend.native.lib.dml_get_threads(), []
    for count in (1, 2, 4):
        backend.native.lib.dml_set_threads(count)
        try:
            depthwise_pool.products(x, filters, None, output, window, 40)()
        finally:
            backend.native.lib.dml_set_threads(before)
        results.append(output.copy())
    for one in results[1:]:
        np.testing.assert_array_equal(one, results[0])


@pytest.mark.parametrize("output_type", [np.uint8, np.int8])
@pytest.mark.parametrize("input_type", [np.uint8, np.int8])
def test_quantized_means(input_type, output_type):
    """To the last bit, with parameters for all channels or for each; some windows see a whole channel, some nothing."""
    whole_planes = [
        (Window.of(sizes), sizes, (1,) * len(sizes)) for sizes in ((7, 7), (8, 8), (9, 15), (3, 5, 2))
    ]
    for number, (window, sizes, steps) in enumerate([*WINDOWS, *whole_planes]):
        rng = np.random.default_rng(number)
        limits, rank = [np.iinfo(kind) for kind in (input_type, output_type)], 2 + len(sizes)
        x = laid_out(rng.integers(-500, 500, (2, 3, *sizes)).astype(input_type), LAYOUTS[number // 2 % 4])
        channels = (1, (1, 3)[number % 2], *(1,) * (rank - 2))
        scales = [(rng.random(channels) * 2).astype(np.float32) for _ in range(2)]
        zeros = [rng.integers(one.min, one.max, channels, one.dtype, endpoint=True) for one in limits]
        if number % 7 == 0:
            zeros[number % 2] = None
        counts = window.counts(sizes, steps, with_padding=number % 3 == 0)
        values = x.astype(np.float64) - (0 if zeros[0] is None else zeros[0].astype(np.float64))
        total = window.fold(values, steps, np.add, 0)
        with np.errstate(all="ignore"):
            mean = total * scales[0].astype(np.float64) / reduce(np.multiply.outer, counts)
            expected = quantize(mean, scales[1], zeros[1], np.dtype(output_type))
        output, memory = guarded(expected.shape, output_type)
        run = depthwise_pool.quantized_mean(x, output, window, counts, scales, zeros)
        check(run, output, memory, expected)


def test_quantized_means_that_there_is_no_loop_for():
    x, output = np.ones((1, 2, 4, 4), np.uint8), np.empty((1, 2, 2, 2), np.uint8)
    scale, zero = np.ones((1, 1, 1, 1), np.float32), np.ones((1, 1, 1, 1), np.uint8)
    window = Window.of((3, 3))
    counts = window.counts((4, 4), (2, 2), False)

    def pool(x, output, scale, zero):
        return depthwise_pool.quantized_mean(x, output, window, counts, [scale, scale], [zero, zero])

    assert pool(x, output, scale, zero)
    assert isinstance(pool(x, output, scale.astype(np.float16), zero), Declined)
    assert isinstance(pool(x, output, scale, zero.astype(np.int8)), Declined)
    assert isinstance(pool(x.astype(np.int16), output, scale, zero), Declined)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_outputs_that_share_memory_with_the_input(dtype):
    """All of it is read before they are written."""
    x = whole(np.random.default_rng(3), (2, 3, 9, 9), dtype)
    window, before = Window.of((3, 3)), x.copy()
    output = x[:, :, 1:8, 2:]
    run = depthwise_pool.maximum(x, output, None, window)
    assert run
    run()
    np.testing.assert_array_equal(output, largest(before, window, (7, 7))[0])


def test_bytes_that_lie_as_far_apart_as_floats():
    """They are not taken for these."""
    window = Window.of((3, 3))
    memory = np.arange(5 * 80, dtype=np.uint8).reshape(1, 1, 5, 80)
    x, output = memory[..., ::4], np.empty((1, 1, 3, 72), np.uint8)[..., ::4]
    counts = window.counts(x.shape[2:], (3, 18), False)
    scale = np.ones((1, 1, 1, 1), np.float32)
    run = depthwise_pool.quantized_mean(x, output, window, counts, [scale, scale], [None, None])
    assert run
    run()
    mean = window.fold(x.astype(np.float64), (3, 18), np.add, 0) / 9
    np.testing.assert_array_equal(output, quantize(mean, scale, None, np.dtype(np.uint8)))


@pytest.mark.parametrize("dtype", TYPES)
def test_gradients_are_put_back(dtype):
    """Several at one place are added up in FLOAT64; what has an index of another channel is lost."""
    rng = np.random.default_rng(4)
    for number, layout in enumerate(LAYOUTS * 3):
        sizes, steps = ([int(one) for one in rng.integers(1, 9, rank)] for rank in [1 + number % 3] * 2)
        if number == 5:
            sizes[-1] = 600
        count = prod(sizes)
        gradients = laid_out(whole(rng, (2, 3, *steps), dtype), layout)
        places = rng.integers(0, count, (2, 3, *steps))
        starts = np.arange(6).reshape(2, 3, *(1,) * len(sizes)) * count
        expected = np.zeros(6 * count)
        np.add.at(expected, (places + starts).reshape(-1), gradients.reshape(-1).astype(np.float64))
        indices = places + starts
        if number == 0:
            indices = np.append(indices.reshape(6, -1), np.full((6, 1), 6 * count), 1)
            gradients = np.append(gradients.reshape(2, 3, -1), np.ones((2, 3, 1), dtype), -1)
        for kind in ("together", "channels last"):
            output = laid_out(np.full((2, 3, *sizes), 7, dtype), kind)
            run = depthwise_pool.put_back(
                gradients, np.ascontiguousarray(indices), np.empty(expected.size), output
            )
            assert run
            run()
            np.testing.assert_array_equal(output, expected.reshape(output.shape))
