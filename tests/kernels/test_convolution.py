"""The native kernel of convolutions against its reference, at block borders, and what lies beside the tensors."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels.backend import backend
from directml_py.kernels.convolution import convolution, scratch_of
from directml_py.kernels.decisions import Declined
from directml_py.kernels.im2col import convolve
from directml_py.kernels.post_ops import IDENTITY, RELU, Activation
from directml_py.kernels.windows import Window

from .window_samples import WINDOWS, sizes_for

pytestmark = pytest.mark.skipif(backend.native is None, reason="no native kernels")
TYPES = [np.float32, np.float16]
ONE = Window.of((1,))
SQUARE = Window.of((3, 3), start_padding=(1, 1), end_padding=(1, 1))


def whole_numbers(shape, dtype=np.float32, seed=2, most=4):
    return np.random.default_rng(seed).integers(-most, most + 1, shape).astype(dtype)


def at_the_end(values):
    """The same numbers where memory ends, between two that must not be read or written."""
    memory = np.full(values.size + 2, np.nan if values.dtype.kind == "f" else 99, values.dtype)
    memory[1:-1] = values.ravel()
    return memory[1:-1].reshape(values.shape)


def check(x, filters, window, *, groups=1, bias=None, steps=None, output=np.float32, **options):
    """All sums are small whole numbers, which any order gives exactly."""
    steps = window.forward(x.shape[2:]) if steps is None else steps
    turned = np.flip(filters, tuple(range(2, filters.ndim))) if options.get("is_flipped") else filters
    wanted = convolve(x, turned, window, steps, groups)
    if bias is not None:
        wanted = wanted + bias
    activation = options.get("activation", IDENTITY)
    if activation == RELU:
        wanted = np.fmax(wanted, 0)
    elif activation.name == "LEAKY_RELU":
        wanted = np.where(wanted < 0, wanted * np.float32(activation.slope), wanted)
    # Planes apart in memory, and what is between them and around.
    memory = np.full((wanted.shape[0], wanted.shape[1], wanted[0, 0].size + 5), 77, output)
    target = memory[:, :, 2:-3].reshape(wanted.shape)
    assert np.shares_memory(target, memory)
    run = convolution(x, filters, bias, target, window, groups, **options)
    assert run
    for _ in range(2):
        target[...] = 55
        run()
        np.testing.assert_array_equal(target, wanted.astype(output))
        assert (memory[:, :, :2] == 77).all()
        assert (memory[:, :, -3:] == 77).all()


@swept("window", WINDOWS)
@swept("groups", [1, 3])
@swept("fewer", [0, 1])
@pytest.mark.parametrize("dtype", TYPES)
def test_windows(window, groups, fewer, dtype):
    """``fewer``: how many steps fewer than fit."""
    x = at_the_end(whole_numbers((2, 2 * groups, *sizes_for(window)), dtype))
    filters = at_the_end(whole_numbers((3 * groups, 2, *window.size), dtype, 3))
    steps = tuple(max(1, count - fewer) for count in window.forward(sizes_for(window)))
    bias = whole_numbers((1, 3 * groups, *[1] * len(steps)), dtype, 4)
    for output in {np.float32, dtype}:
        check(x, filters, window, groups=groups, steps=steps, output=output)
        check(x, filters, window, groups=groups, steps=steps, output=output, bias=bias, is_flipped=True)


@swept("pixels", [1, 3, 4, 5, 8, 15, 16, 17, 31, 33, 47, 48, 49, 63, 64, 65, 81, 97, 113, 161])
@pytest.mark.parametrize("dtype", TYPES)
def test_counts_of_pixels(pixels, dtype):
    for filters in (1, 2, 3, 7, 8, 9, 15):
        x = at_the_end(whole_numbers((1, 5, pixels), dtype))
        check(x, at_the_end(whole_numbers((filters, 5, 1), dtype)), ONE, output=dtype)


@swept("pixels", [767, 1536, 1540, 1583, 2309])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.usefixtures("threads")
def test_neighbouring_panels(pixels, dtype):
    """Several are multiplied by some filters at a time, the last one by all."""
    near = Window.of((3,), start_padding=(1,), end_padding=(1,))
    for filters, window in ((5, near), (33, ONE), (67, near), (40, ONE)):
        x = at_the_end(whole_numbers((2, 20, pixels), dtype))
        bias = whole_numbers((1, filters, 1), dtype, seed=5)
        check(
            x, whole_numbers((filters, 20, *window.size), dtype, seed=3), window, bias=bias, activation=RELU
        )


@swept("filters", [23, 24, 25, 127, 129, 256, 512, 513, 520, 1100])
@pytest.mark.usefixtures("threads")
def test_counts_of_filters(filters):
    """Parts of the filters for threads to share, and as many as have room."""
    x = whole_numbers((1, 3, 7, 7))
    check(x, whole_numbers((filters, 3, 3, 3)), SQUARE, bias=whole_numbers((1, filters, 1, 1), seed=5))


@swept("channels", [1, 28, 29, 57, 113, 256, 257, 600])
@pytest.mark.parametrize("dtype", TYPES)
def test_slices_of_channels(channels, dtype):
    for window in (ONE, Window.of((3,), start_padding=(1,), end_padding=(1,)), Window.of((9,))):
        x, filters = (
            whole_numbers((count, channels, size), dtype, most=1)
            for count, size in ((2, 50), (9, *window.size))
        )
        check(x, filters, window, bias=np.ones((1, 9, 1), dtype))


@swept("channels", [1023, 1025, 4095, 4097, 9000])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.usefixtures("threads")
def test_a_single_pixel(channels, dtype):
    """Filters are read from end to end, as many taps as have room."""
    x, filters = (whole_numbers((count, channels, 1), dtype, count, 1) for count in (2, 17))
    bias = whole_numbers((1, 17, 1), dtype, seed=5)
    check(at_the_end(x), at_the_end(filters), ONE, bias=bias, activation=RELU)
    check(x[:, ::-1][:, : channels // 2], filters[:, : channels // 2], ONE)


@pytest.mark.parametrize("taps", [1023, 1025, 2048, 2049, 4097])
@pytest.mark.parametrize("dtype", TYPES)
def test_a_single_pixel_of_long_windows(taps, dtype):
    x, filters = (whole_numbers((count, 5, taps), dtype, count, 1) for count in (2, 3))
    check(x, filters, Window.of((taps,)))
    check(x, filters, Window.of((taps,)), is_flipped=True)


@swept("channels", [30, 250, 1100])
@swept("pixels", [17, 18, 20, 36, 65, 68, 98])
@pytest.mark.parametrize("dtype", TYPES)
def test_pixels_that_fill_no_vector(channels, pixels, dtype):
    x, filters = (
        whole_numbers((2, channels, pixels), dtype, most=1),
        whole_numbers((9, channels, 1), dtype, 3, 1),
    )
    check(at_the_end(x), at_the_end(filters), ONE, bias=whole_numbers((1, 9, 1), dtype, 4))


@pytest.mark.parametrize("outputs", [31, 32, 40, 96])
@pytest.mark.usefixtures("threads")
def test_pixels_as_they_lie_in_the_input(outputs):
    """Two axes that are one, such with a gap between rows or pixels, and planes apart or repeated."""
    base, filters = whole_numbers((2, 40, 44, 62)), whole_numbers((outputs, 24, 1, 1), seed=3)
    for x in (
        base[:, :24],
        base[:, ::-1][:, 3:27],
        base[:, :24, :, 3:],
        base[:, :24, ::2],
        base[:, :24, ::-1],
        base[:, :24, :, ::2],
        base[:, :24].swapaxes(2, 3),
        base[:1, :24, :1].repeat(30, 2)[..., :1],
        np.broadcast_to(base[:, :1], (2, 24, 44, 62)),
    ):
        check(x, filters, Window.of((1, 1)), activation=RELU)


@pytest.mark.parametrize("outputs", [150, 700])
@pytest.mark.usefixtures("threads")
def test_parts_of_groups_of_images(outputs):
    """Each unit has a part of the filters, a group, an image and some of its pixels."""
    x, filters = whole_numbers((3, 4, 14, 14)), whole_numbers((2 * outputs, 2, 3, 3), seed=3)
    check(x, filters, SQUARE, groups=2, bias=whole_numbers((1, 2 * outputs, 1, 1), seed=4))


@pytest.mark.parametrize("size", [(255,), (257,), (31, 33), (32, 32), (33, 32), (47, 45)])
@pytest.mark.parametrize("is_flipped", [False, True])
def test_slices_of_windows(size, is_flipped):
    window = Window.of(size, start_padding=(3,) * len(size), end_padding=(3,) * len(size))
    x = whole_numbers((1, 3, *(each + 1 for each in size)), most=1)
    check(x, whole_numbers((5, 3, *size), seed=4, most=1), window, is_flipped=is_flipped)


@swept("size", [(40, 30), (19, 21), (3, 100), (100, 3), (1, 1)])
@swept("stride", [1, 2, 3])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.usefixtures("threads")
def test_images(size, stride, dtype):
    for dilation, padding in ((1, 1), (2, 0), (2, 5)):
        window = Window.of((3, 2), (stride,) * 2, (dilation,) * 2, (padding,) * 2, (padding,) * 2)
        if min(window.forward(size)) >= 1:
            check(at_the_end(whole_numbers((2, 4, *size), dtype)), whole_numbers((6, 4, 3, 2), dtype), window)


@pytest.mark.parametrize("dtype", TYPES)
def test_layouts_of_the_input(dtype):
    base = whole_numbers((4, 6, 20, 22), dtype)
    filters = whole_numbers((4, 6, 3, 3), dtype)
    for x in (
        base[::2, :, ::2, ::2],
        base[::-1, ::-1, ::-1, ::-1],
        base.transpose(0, 1, 3, 2),
        np.ascontiguousarray(base.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
        np.broadcast_to(base[:1, :1], base.shape),
        np.broadcast_to(base[:, :, :1], base.shape),
        np.broadcast_to(base[..., :1], base.shape),
    ):
        check(x, filters, SQUARE)
        check(x, filters[:, :, :1, :1].copy(), Window.of((1, 1)))


def test_layouts_of_filters_and_bias():
    x = whole_numbers((1, 6, 9, 9))
    apart = whole_numbers((9, 8, 3, 3))[::-2, :6]
    for bias in (whole_numbers((1, 10, 1, 1))[:, ::-2], np.broadcast_to(np.float32(3), (1, 5, 1, 1))):
        check(x, apart, SQUARE, bias=bias)
    # Elements of a filter that do not lie together are reordered.
    check(x, apart[..., ::-1], SQUARE)


def test_outputs_whose_planes_do_not_lie_together():
    """They are reordered, which leaves what is between them as it is."""
    x, filters = whole_numbers((2, 6, 9, 9)), whole_numbers((5, 6, 3, 3))
    memory = np.full((2, 9, 9, 10), 77, np.float32)
    output = memory[..., ::2].transpose(0, 3, 1, 2)
    convolution(x, filters, None, output, SQUARE, 1)()
    np.testing.assert_array_equal(output, convolve(x, filters, SQUARE, (9, 9)))
    assert (memory[..., 1::2] == 77).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_activations(dtype):
    x = whole_numbers((1, 2, 9, 9), dtype)
    x[0, :, 4, 4] = np.nan
    x[0, :, 8, 8] = np.inf
    filters = whole_numbers((4, 2, 3, 3), dtype)
    with np.errstate(invalid="ignore"):
        for activation in (RELU, Activation("LEAKY_RELU", 0.3)):
            check(x, filters, SQUARE, bias=np.ones((1, 4, 1, 1), dtype), activation=activation)


@pytest.mark.parametrize("dtype", TYPES)
def test_padding_is_multiplied(dtype):
    """0 times infinity is NaN."""
    window = Window.of((3,), start_padding=(1,), end_padding=(1,))
    filters, output = np.array([[[np.inf, 1, 1]]], dtype), np.empty((1, 1, 3), np.float32)
    run = convolution(np.ones((1, 1, 3), dtype), filters, None, output, window, 1)
    assert run
    run()
    np.testing.assert_array_equal(output, [[[np.nan, np.inf, np.inf]]])


def transformed(x, filters, window, groups=1, **options):
    """The results of Winograd's method, in memory with other bytes between and around the planes."""
    steps = window.forward(x.shape[2:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("directml_py.kernels.convolution.LEAST_PIXELS", 1)
        patch.setattr("directml_py.kernels.convolution.MOST_BYTES", 1 << 30)
        patch.setattr("directml_py.kernels.convolution.MOST_LANES", 16)
        size = scratch_of(filters.shape, (len(x), len(filters), *steps), window, groups)
    assert size == 64 * filters.shape[0] * filters.shape[1]
    scratch = np.full(size, 255, np.uint8)
    memory = np.full((len(x), len(filters), prod(steps) + 5), 77, np.float32)
    output = memory[:, :, 2:-3].reshape(len(x), len(filters), *steps)
    assert np.shares_memory(output, memory)
    bias = options.pop("bias", None)
    run = convolution(x, filters, bias, output, window, groups, scratch=scratch, **options)
    assert run
    run()
    assert not np.isnan(scratch.view(np.float32)).any() or not np.isfinite(filters).all()
    assert (memory[:, :, :2] == 77).all()
    assert (memory[:, :, -3:] == 77).all()
    return output


@pytest.mark.slow
@swept("padding", [0, 1, 2, 5])
@swept("image", [(13, 13), (21, 20), (40, 41), (5, 290), (301, 4), (64, 34)])
@pytest.mark.usefixtures("threads")
def test_transformed_filters(image, padding):
    """Whole numbers give whole numbers of quarters, which are exact."""
    window = Window.of((3, 3), start_padding=(padding, 1), end_padding=(1, padding))
    for channels, outputs, groups in ((16, 16, 1), (19, 45, 1), (40, 34, 2)):
        x = at_the_end(whole_numbers((2, channels, *image)))
        filters = at_the_end(whole_numbers((outputs, channels // groups, 3, 3), seed=3))
        expected = convolve(x, filters, window, window.forward(image), groups)
        np.testing.assert_array_equal(transformed(x, filters, window, groups), expected)
        bias = whole_numbers((1, outputs, 1, 1), seed=4)
        turned = transformed(
            x, np.ascontiguousarray(filters[..., ::-1, ::-1]), window, groups, bias=bias, is_flipped=True
        )
        np.testing.assert_array_equal(turned, expected + bias)
        found = transformed(x, filters, window, groups, activation=Activation("LEAKY_RELU", 0.5))
        np.testing.assert_array_equal(found, np.where(expected < 0, expected / 2, expected))


@pytest.mark.parametrize(
    ("channels", "image"), [(128, (21, 20)), (300, (9, 33)), (512, (7, 7)), (512, (40, 9))]
)
def test_as_many_channels_as_can_be_transformed(channels, image):
    x, filters = whole_numbers((1, channels, *image)), whole_numbers((128, channels, 3, 3), seed=3)
    np.testing.assert_array_equal(transformed(x, filters, SQUARE), convolve(x, filters, SQUARE, image))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
def test_what_is_no_number_reaches_only_those_that_see_it(value):
    x, filters = whole_numbers((1, 16, 24, 24)), whole_numbers((16, 16, 3, 3), seed=3)
    with np.errstate(invalid="ignore", over="ignore"):
        for changed, place in ((x, (0, 3, 11, 12)), (filters, (5, 2, 1, 0))):
            before, changed[place] = changed[place], value
            expected = np.empty((1, 16, 24, 24), np.float32)
            run = convolution(x, filters, None, expected, SQUARE, 1)
            assert run
            run()
            np.testing.assert_array_equal(transformed(x, filters, SQUARE), expected)
            np.testing.assert_array_equal(
                transformed(x, filters, SQUARE, activation=RELU), np.fmax(expected, 0)
            )
            assert 9 <= (~np.isfinite(expected)).sum() < expected.size / 4 or value == 3e38
            changed[place] = before


@pytest.mark.parametrize("channels", [16, 64, 128, 512])
def test_transformed_filters_are_nearly_as_exact(channels):
    """Of normal numbers, the largest error is at most three times that of sums of products one by one."""
    rng = np.random.default_rng(channels)
    x, filters = (
        rng.standard_normal(one).astype(np.float32) for one in ((1, channels, 30, 30), (32, channels, 3, 3))
    )
    exact = convolve(x.astype(np.float64), filters.astype(np.float64), SQUARE, (30, 30))
    plain = np.empty((1, 32, 30, 30), np.float32)
    run = convolution(x, filters, None, plain, SQUARE, 1)
    assert run
    run()
    assert abs(transformed(x, filters, SQUARE) - exact).max() < 3 * abs(plain - exact).max()


def test_what_is_not_transformed():
    """Few channels, outputs or pixels; too many channels, bytes, or windows for the pixels; other windows."""
    enough = ((16, 16, 3, 3), (1, 16, 20, 20), Window.of((3, 3)), 1)
    assert scratch_of(*enough) == 64 * 16 * 16
    for place, other in (
        (0, (16, 15, 3, 3)),
        (0, (15, 16, 3, 3)),
        (0, (16, 513, 3, 3)),
        (0, (1100, 128, 3, 3)),
        (1, (1, 16, 15, 13)),
        (1, (1, 16, 1, 999)),
        (2, Window.of((3, 3), (1, 2))),
        (2, Window.of((3, 3), dilations=(2, 1))),
        (2, Window.of((3, 2))),
        (2, Window.of((3, 3, 3))),
        (3, 2),
    ):
        assert scratch_of(*enough[:place], other, *enough[place + 1 :]) == 0, other


@pytest.mark.parametrize(("channels", "size"), [(200, 13), (64, 22)])
def test_results_do_not_depend_on_threads(set_threads, channels, size):
    """With filters as they are, and transformed ones."""
    rng = np.random.default_rng(1)
    x, filters = (
        rng.standard_normal(shape).astype(np.float32)
        for shape in ((1, channels, size, size), (300, channels, 3, 3))
    )
    results = []
    for count in (1, 2, 3, 8):
        set_threads(count)
        output = np.empty((1, 300, size, size), np.float32)
        scratch = np.empty(scratch_of(filters.shape, output.shape, SQUARE, 1), np.uint8)
        run = convolution(x, filters, None, output, SQUARE, 1, scratch=scratch)
        assert run
        run()
        results.append(output)
    assert (scratch.size > 0) == (channels == 64)
    assert all(np.array_equal(results[0], one) for one in results)
    exact = convolve(x.astype(np.float64), filters.astype(np.float64), SQUARE, (size, size))
    assert abs(results[0] - exact).max() < 9 * channels * 2.0**-24 * 8


def test_halves_are_rounded_once():
    """Sums of 4096 halves, which FLOAT16 could not keep on the way."""
    x = np.ones((1, 4096, 3), np.float16)
    x[0, ::2] = 2.0**-10
    output = np.empty((1, 1, 3), np.float16)
    run = convolution(x, np.ones((1, 4096, 1), np.float16), None, output, ONE, 1)
    assert run
    run()
    assert (output == 2050).all()


def test_what_there_is_no_loop_for():
    x = filters = output = np.ones((1, 1, 4, 4), np.float32)
    one = Window.of((4, 4))
    small = output[..., :1, :1]
    assert convolution(x, filters, None, small, one, 1)
    assert isinstance(convolution(x.astype(np.float64), filters, None, small, one, 1), Declined)
    assert isinstance(convolution(x, filters.astype(np.float16), None, small, one, 1), Declined)
    padded = Window.of((4, 4), output_padding=(1, 1))
    assert isinstance(convolution(x, filters, None, output[..., :2, :2].copy(), padded, 1), Declined)
