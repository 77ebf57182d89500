"""The native kernel of resampled images: against sums of taps in NumPy, in all layouts."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels import interpolation, resample
from directml_py.kernels.backend import backend
from directml_py.kernels.csr import Taps, apply
from directml_py.kernels.decisions import Declined
from directml_py.kernels.interpolation import Stretched, nearest
from directml_py.kernels.roi.patches import patches
from directml_py.kernels.roi.pooling import average_regions, largest_of_regions
from directml_py.kernels.roi.sample_points import Grid, windows_of
from directml_py.kernels.windows import Window

pytestmark = pytest.mark.skipif(backend.native is None, reason="no native kernels")
TYPES = [np.float32, np.float16]
GUARD = 3


def numbers(shape, dtype, seed=1):
    """Eighths, so that sums with weights that are powers of two are exact."""
    return (np.random.default_rng(seed).integers(-64, 65, shape) / 8).astype(dtype)


def linear(places, size):
    return interpolation.linear(places, np.floor(places), size)


def check(x, plan, output, memory):
    with np.errstate(all="ignore"):
        expected = np.asarray(apply(plan, x.astype(np.float32))).astype(x.dtype)
    run = resample.resampled(plan, x, output)
    assert run
    for _ in range(2):
        output[...] = 5
        run()
        np.testing.assert_array_equal(output, expected)
        # A zero keeps its sign.
        numeric = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(output[numeric]), np.signbit(expected[numeric]))
        assert (memory[..., :GUARD] == 7).all()
        assert (memory[..., -GUARD:] == 7).all()


def guarded(shape, dtype):
    memory = np.full((*shape[:-1], shape[-1] + 2 * GUARD), 7, dtype)
    return memory[..., GUARD:-GUARD], memory


@pytest.mark.parametrize("dtype", TYPES)
@swept("size", [1, 2, 3, 7, 8, 9, 17, 33, 200])
@swept("scale", [0.125, 0.25, 0.5, 1, 2, 4, 16])
def test_sizes_and_scales(size, scale, dtype):
    count = max(1, round(size * scale))
    along = linear((np.arange(count) + 0.5) / scale - 0.5, size)
    rows = linear(np.arange(11) / 2 - 1.25, 6)
    x = numbers((2, 3, 6, size), dtype)
    x[0, 0, 2] = -0.0
    for plan in ({3: (along,)}, {2: (rows,)}, {2: (rows,), 3: (along,)}):
        shape = (2, 3, 11 if 2 in plan else 6, count if 3 in plan else size)
        check(x, plan, *guarded(shape, dtype))


@pytest.mark.parametrize("dtype", TYPES)
def test_layouts(dtype):
    x = numbers((4, 3, 10, 12), dtype)
    plan = {2: (linear(np.arange(20) / 2, 10),), 3: (linear(np.arange(24) / 2, 12),)}
    for view in (
        x[:, :, ::-1, ::-1],
        x.transpose(1, 0, 2, 3),
        x[:, ::2],
        np.broadcast_to(x[:1, :, :1], x.shape),
    ):
        check(view, plan, *guarded((*view.shape[:2], 20, 24), dtype))
    turned = x.transpose(0, 2, 3, 1).copy().transpose(0, 3, 1, 2)
    output = np.full((4, 20, 24, 3), 7, dtype).transpose(0, 3, 1, 2)
    check(turned, plan, output, np.full((1, 2 * GUARD), 7))
    for axes in ((0, 2, 3, 1), (3, 0, 1, 2), (2, 1, 3, 0)):
        own = {axes.index(axis): taps for axis, taps in plan.items()}
        sizes = [(4, 3, 20, 24)[axis] for axis in axes]
        check(x.transpose(axes).copy(), own, *guarded(tuple(sizes), dtype))
    for rank in (1, 2, 3):
        part = x[(0,) * (4 - rank)]
        own = {axis - 4 + rank: taps for axis, taps in plan.items() if axis >= 4 - rank}
        sizes = [*part.shape[:-2], 20, 24][-rank:]
        check(part, own, *guarded(tuple(sizes), dtype))


@pytest.mark.parametrize("dtype", TYPES)
def test_nothing_is_read_that_has_no_weight(dtype):
    """Infinities and NaN stay where they are."""
    x = numbers((1, 2, 9, 40), dtype)
    x[0, 0, 4, ::7], x[0, 1, :, 5], x[0, 1, 3, 6] = np.inf, np.nan, -np.inf
    rows, columns = linear(np.arange(18) / 2, 9), linear(np.arange(80) / 2, 40)
    check(x, {2: (rows,), 3: (columns,)}, *guarded((1, 2, 18, 80), dtype))
    uneven = Taps.of(
        np.array([0, 0, 0, 2, 3]), np.array([1, 2, 3, 39, 0]), np.array([1, 0.5, 0.5, 2, 1]), 4, 40
    )
    check(x, {3: (uneven,)}, *guarded((1, 2, 9, 4), dtype))
    check(x, {2: (nearest(np.array([8, 0, 4]), 9),), 3: (columns,)}, *guarded((1, 2, 3, 80), dtype))


@pytest.mark.slow
def test_more_taps_than_there_is_room_for():
    x = numbers((1, 1, 2000, 3000), np.float32)
    for width in (2.0, 700.0):
        plan = {}
        for axis, size in ((2, 2000), (3, 3000)):
            (plan[axis],) = [tuple(Stretched(np.linspace(0, size, 40), size, width))]
        if any(len(parts) > 1 for parts in plan.values()):
            assert isinstance(resample.resampled(plan, x, np.empty((1, 1, 40, 40), np.float32)), Declined)
            continue
        output = np.empty((1, 1, 40, 40), np.float32)
        run = resample.resampled(plan, x, output)
        assert run
        run()
        np.testing.assert_array_max_ulp(output, apply(plan, x).astype(np.float32), 1)


def test_what_there_is_no_loop_for():
    most = backend.native.lib.DML_RESAMPLE_COLUMNS
    plan = {3: (nearest(np.arange(4), 6),)}
    x, output = np.ones((1, 1, 5, 6), np.float32), np.empty((1, 1, 5, 4), np.float32)
    assert resample.resampled(plan, x, output)
    assert isinstance(resample.resampled(plan, x.astype(np.int8), output.astype(np.int8)), Declined)
    assert isinstance(resample.resampled(dict.fromkeys((1, 2, 3), plan[3]), x, output), Declined)
    assert isinstance(resample.resampled({4: plan[3]}, x[None], output[None]), Declined)
    wide = np.ones((1, most + 1), np.float32)
    assert isinstance(resample.resampled({}, wide, np.empty_like(wide)), Declined)
    assert resample.resampled({}, wide[:, 1:], np.empty((1, most), np.float32))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("is_linear", [True, False])
def test_regions(is_linear, dtype):
    rng = np.random.default_rng(3)
    for number in range(40):
        batches, channels, height, width, regions = (int(one) for one in rng.integers(1, 14, 5))
        steps = [int(one) for one in rng.integers(1, 20, 2)]
        x = numbers((batches, channels, height, width), dtype, number)
        corners = (rng.standard_normal((regions, 2, 2)) * 9).astype(np.float32)
        corners[0, 0, 0] = [1.5, np.nan][number % 2]
        grids = [
            Grid(size, count, 0.5, 1 + number % 3, 9, 0.5, -0.5, number % 4 == 0, is_linear)
            for size, count in zip((height, width), steps)
        ]
        owners, outside = rng.integers(0, batches, regions), [0.0, -2.5, np.inf][number % 3]

        def sampled(part, corners=corners, grids=grids):
            return grids[0].bin_samples(corners[part, :, 1]), grids[1].bin_samples(corners[part, :, 0])

        points = np.empty((regions * steps[0] * steps[1], channels))
        with np.errstate(all="ignore"):
            for patch in patches(regions, sampled, height + width, channels):
                image = x.astype(np.float64).transpose(0, 2, 3, 1)
                points[patch.outputs] = patch.mean(patch.read(image, owners, outside))
        expected = points.reshape(regions, *steps, channels).transpose(0, 3, 1, 2).astype(dtype)
        output, memory = guarded(expected.shape, dtype)
        average_regions(x, owners, *sampled(slice(None)), output, outside)
        np.testing.assert_array_max_ulp(output, expected, 1)
        assert (memory[..., :GUARD] == 7).all()
        assert (memory[..., -GUARD:] == 7).all()


def test_in_threads():
    """Results are those of one thread, to the last bit."""
    x = np.random.default_rng(5).standard_normal((2, 9, 130, 70), np.float32)
    plan = {2: (linear(np.linspace(-1, 131, 401), 130),), 3: (linear(np.linspace(0, 70, 333), 70),)}
    before, results = backend.native.lib.dml_get_threads(), []
    for count in (1, 2, 4):
        backend.native.lib.dml_set_threads(count)
        try:
            results.append(np.empty((2, 9, 401, 333), np.float32))
            run = resample.resampled(plan, x, results[-1])
            assert run
            run()
        finally:
            backend.native.lib.dml_set_threads(before)
    for one in results[1:]:
        np.testing.assert_array_equal(one, results[0])


@pytest.mark.parametrize("dtype", TYPES)
def test_norms(dtype):
    """Of windows of all kinds, in all layouts; squares of large numbers are beyond FLOAT32."""
    rng = np.random.default_rng(2)
    for number in range(60):
        size, strides, dilations = rng.integers(1, 5, (3, 2)).tolist()
        window = Window.of(size, strides, dilations, *rng.integers(0, 3, (2, 2)).tolist())
        sizes = tuple(rng.integers(1, 40, 2).tolist())
        steps = window.forward(sizes)
        if min(steps) < 1:
            continue
        x = numbers((2, 3, *sizes), dtype, number)
        if number % 4 == 0:
            x *= dtype(1e30 if dtype == np.float32 else 500)
        x = x[:, :, ::-1] if number % 3 else x[..., ::-1]
        plan = {2 + axis: (Taps.under(window, axis, range(sizes[axis]), steps[axis]),) for axis in (0, 1)}
        for order in range(1, backend.native.lib.DML_RESAMPLE_ORDER + 1):
            powers = np.abs(x.astype(np.float64)) ** order
            total = window.view(window.padded(powers, steps), steps).sum((-2, -1))
            output, memory = guarded((2, 3, *steps), dtype)
            run = resample.resampled(plan, x, output, order)
            assert run
            run()
            with np.errstate(over="ignore"):
                expected = (total ** (1 / order)).astype(dtype)
            np.testing.assert_array_max_ulp(output, expected, 0 if order < 3 else 1)
            assert (memory[..., :GUARD] == 7).all()
            assert (memory[..., -GUARD:] == 7).all()


def test_norms_that_there_is_no_loop_for():
    plan, x = {3: (nearest(np.arange(4), 6),)}, np.ones((1, 1, 5, 6), np.float32)
    output, most = np.empty((1, 1, 5, 4), np.float32), backend.native.lib.DML_RESAMPLE_ORDER
    assert resample.resampled(plan, x, output, most)
    assert isinstance(resample.resampled(plan, x, output, most + 1), Declined)


@pytest.mark.parametrize("dtype", TYPES)
def test_largest_of_regions(dtype):
    """Element by element; a number is larger than NaN, and the largest of nothing is 0."""
    rng = np.random.default_rng(6)
    for number in range(40):
        batches, channels, regions = (int(one) for one in rng.integers(1, 6, 3))
        height, width = (int(one) for one in rng.integers(1, (20, 300 if number % 4 == 0 else 20)))
        steps = [int(one) for one in rng.integers(1, 20, 2)]
        x = numbers((batches, channels, height, width), dtype, number) - dtype(9)
        x[rng.random(x.shape) < 0.3] = np.nan
        x[rng.random(x.shape) < 0.1] = -np.inf
        corners = np.sort(rng.uniform(-3, (height, width), (regions, 2, 2)).astype(np.float32), 1)
        corners[0, 1] *= 3
        rows, columns = (
            windows_of(corners[..., 0], height, steps[0]),
            windows_of(corners[..., 1], width, steps[1]),
        )
        owners = rng.integers(0, batches, regions)
        expected = np.zeros((regions, channels, *steps), dtype)
        bounds = [np.split(one.points.low, np.cumsum(one.counts)) for one in (rows, columns)]
        inside = [np.split(one.points.is_inside, np.cumsum(one.counts)) for one in (rows, columns)]
        for region, row, column in np.ndindex(regions, *steps):
            y, across = region * steps[0] + row, region * steps[1] + column
            if inside[0][y].all() and inside[1][across].all():
                part = x[owners[region]][:, bounds[0][y]][:, :, bounds[1][across]]
                expected[region, :, row, column] = np.fmax.reduce(part, axis=(1, 2))
        output, memory = guarded(expected.shape, dtype)
        largest_of_regions(x, owners, rows, columns, output)
        np.testing.assert_array_equal(output, expected)
        assert (memory[..., :GUARD] == 7).all()
        assert (memory[..., -GUARD:] == 7).all()
