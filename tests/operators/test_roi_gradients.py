"""Gradients of regions of interest: derivatives of ROI_ALIGN1, also at their discontinuities."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.kernels.roi import patches
from directml_py.operators import kernel_of

from .dispatch import FILL, Dispatch
from .helpers import LAYOUTS, generator, tensor_of
from .test_roi import LINEAR, MOST, NAN, NEAREST, align_desc, line, points, sampling

BOTH = pytest.mark.parametrize("reduction", ["AVERAGE", "MAX"])


def gradients(x, incoming, regions, *, batches=None, layout="packed", **fields):
    """ROI_ALIGN_GRAD's results for image and regions, after checking that nothing around them is written."""
    regions, incoming = np.asarray(regions, x.dtype), np.asarray(incoming, x.dtype)
    batches = np.zeros(len(regions), np.uint32) if batches is None else batches
    strided = LAYOUTS[layout]
    of_image, of_regions = (tensor_of(one, strided(one.shape)) for one in (x, regions))
    desc = dml.DML_ROI_ALIGN_GRAD_OPERATOR_DESC(
        InputTensor=of_image,
        InputGradientTensor=tensor_of(incoming, strided(incoming.shape)),
        ROITensor=of_regions,
        BatchIndicesTensor=tensor_of(batches),
        OutputGradientTensor=of_image,
        OutputROIGradientTensor=of_regions,
        **sampling(**fields),
    )
    outputs = Dispatch(desc, [x, incoming, regions, batches]).outputs
    assert all((memory.outside == FILL).all() for memory in outputs)
    return tuple(memory.array for memory in outputs)


@pytest.mark.parametrize("to_corners", [False, True], ids=["apart", "corners"])
@pytest.mark.parametrize("samples", [1, 3])
@BOTH
def test_slopes(reduction, samples, to_corners):
    """The derivatives of the regions' elements by each element of the image."""
    rng = generator("slopes", reduction, samples, to_corners)
    fields = {
        "function": reduction,
        "samples": samples,
        "to_corners": to_corners,
        "scale": (2.0, 0.75),
        "input_offset": 0.5,
    }
    batches = np.array([1, 0, 1], np.uint32)
    x = rng.uniform(-4, 4, (2, 2, 5, 6)).astype(np.float32)
    # Partly outside, and inverted.
    regions = np.array([[0.41, 0.77, 2.3, 5.1], [-0.2, 0.3, 3.3, 7.4], [2.6, 4.2, 0.37, 1.1]], np.float32)
    weights = rng.uniform(0.5, 2, (3, 2, 2, 3)).astype(np.float32)
    desc, _ = dml.decode_operator_desc(align_desc(x, regions, (2, 3), batches, **fields))
    # In FLOAT64, for accurate finite differences.
    result = np.empty(weights.shape)

    def total(image):
        kernel_of(desc).bind([image, regions, batches], [result], np.empty(0, np.uint8))()
        return float((result * weights).sum())

    of_image, _ = gradients(x, weights, regions, batches=batches, **fields)
    for _ in range(8):
        step = (rng.integers(-4, 5, x.shape) * 2.0**-12).astype(np.float32)
        change = total(x + step) - total(x - step)
        assert 2 * (of_image * step).sum() == pytest.approx(change, rel=0.01, abs=1e-4)


# A SpatialScale of 0.5 for X and of 0.375 for Y, and three samples along each axis.
SCALED = {"scale": (0.5, 0.375), "output_offset": -0.25, "samples": 3}


@pytest.mark.parametrize("mode", [NEAREST, LINEAR], ids=["nearest", "linear"])
def test_regions_as_microsofts_library_has_them(mode):
    """Its result for the nearest element; by hand, x is 7/16 and y 43/64 on average, where the slopes are
    21/64 * -2 + 43/64 * 4.5 along X and 9/16 * -7 + 7/16 * -0.5 along Y. With a scale the derivative would differ."""
    x = np.array([[[[3.5, 1.5], [-3.5, 1], [1.5, -2.5]]]], np.float32)
    _, found = gradients(x, [[[[2.5]]]], [[1.5, 2, 0, 1.5]], mode=mode, **SCALED)
    assert found.tolist() == [[11.8359375, -31.171875, 0, 0]]


def test_the_largest_sample_alone_pulls_at_its_region():
    """Samples at 0.25, 0.75, 1.25 and 1.75: for the nearest element, the second and the third are the largest, and the
    second is the first of these. Its slopes along Y are 7 and 8, those of the third 8 and 2."""
    x = np.array([[[[0, 9, 3], [7, 17, 5]]]], np.float32)
    region, fields = [[0, 0.25, 2, 0.25]], {"samples": (4, 4), "function": "MAX", "mode": NEAREST}
    _, found = gradients(x, [[[[3]]]], region, **fields)
    along_x, along_y = 0.75 * 9 + 0.25 * 10, 0.25 * 7 + 0.75 * 8
    assert found.tolist() == [[3 * 3 * along_x, 2 * 3 * along_y, 0, 0]]
    _, found = gradients(x, [[[[3]]]], region, **{**fields, "mode": LINEAR})
    # 8.6875 at 0.75, and 9.3125 at 1.25.
    along_x, along_y = 0.75 * -6 + 0.25 * -12, 0.75 * 8 + 0.25 * 2
    assert found.tolist() == [[3 * 3 * along_x, 2 * 3 * along_y, 0, 0]]


def test_regions_by_the_pages_formula():
    """Each element's coordinates count, not where in its region it is."""
    x = np.random.default_rng(0).integers(-8, 8, (1, 1, 4, 5)).astype(np.float32)
    incoming = np.random.default_rng(1).integers(1, 5, (1, 1, 2, 3)).astype(np.float32)
    region = [[0.25, 0.375, 3.25, 2.375]]
    _, found = gradients(x, incoming, region)
    wanted = np.zeros(4)
    for (row, column), weight in np.ndenumerate(incoming[0, 0]):
        y, x_ = 0.375 + row + 0.5, 0.25 + column + 0.5
        above, left = int(y), int(x_)
        (top_left, top_right), (bottom_left, bottom_right) = x[0, 0, above : above + 2, left : left + 2]
        down, right = y - above, x_ - left
        along_y = weight * ((1 - right) * (bottom_left - top_left) + right * (bottom_right - top_right))
        along_x = weight * ((1 - down) * (top_right - top_left) + down * (bottom_right - bottom_left))
        wanted += [along_x * (5 - column), along_y * (4 - row), along_x * column, along_y * row]
    np.testing.assert_allclose(found[0], wanted, rtol=1e-6)


def test_on_an_element_there_is_no_slope():
    """As in the page's formula, whose floor and ceiling are the same there."""
    for mode in (NEAREST, LINEAR):
        _, found = gradients(line(1, 4, 2), np.ones((3, 1, 1, 1)), points(1, 0.5, 1.5), mode=mode)
        assert found.tolist() == [[0, 0, 0, 0], [3 * 3, 0, 0, 0], [3 * -2, 0, 0, 0]]
        # One of three samples is on the element: the slopes are 3, 0 and -2.
        _, found = gradients(line(1, 4, 2), np.ones((1, 1, 1, 1)), [[0.25, 0, 1.75, 0]], samples=3, mode=mode)
        np.testing.assert_allclose(found, [[3 * (3 - 2) / 3, 0, 0, 0]], rtol=1e-6)


def test_at_the_edge_there_is_no_slope():
    _, found = gradients(line(1, 4, 2), np.ones((5, 1, 1, 1)), points(-0.5, 2.5, -1.5, 3.5, 2))
    assert not found.any()


def test_an_even_image_has_no_slope():
    """Not even a rounding residue."""
    x = np.full((1, 2, 5, 7), 0.1, np.float32)
    _, found = gradients(x, np.ones((1, 2, 3, 3)), [[0.3, 0.4, 5.3, 3.3]], samples=7)
    assert not found.any()


def test_of_equal_samples_the_first_is_the_largest():
    """Row by row, whatever the loops of the page; what rounding makes of equal values does not matter."""
    x = np.zeros((1, 1, 3, 3), np.float32)
    x[0, 0, 0, 2] = x[0, 0, 2, 0] = 7
    region = [[-0.5, -0.5, 2.5, 2.5]]
    fields = {"function": "MAX", "samples": 3}
    for mode in (NEAREST, LINEAR):
        found, _ = gradients(x, [[[[5]]]], region, mode=mode, **fields)
        assert np.argwhere(found).tolist() == [[0, 0, 0, 2]]
        assert found.max() == 5
    # In FLOAT64 the second of these samples is a little larger than the first, at 0.15.
    found, _ = gradients(np.full_like(x, 0.1), [[[[6]]]], [[0, 0, 1.5, 0]], function="MAX", samples=5)
    np.testing.assert_allclose(found[0, 0], [[5.1, 0.9, 0], [0, 0, 0], [0, 0, 0]], rtol=1e-6)


def test_what_falls_out_of_bounds_is_lost():
    """For a mean, its share; for a maximum, all of it if that is negative, as out-of-bounds samples are 0."""
    x = line(-3, -2)
    region, fields = [[0, 0, 4, 0]], {"samples": 4, "mode": NEAREST, "input_offset": 0.5}
    found, _ = gradients(x, [[[[8]]]], region, **fields)
    assert found.ravel().tolist() == [2, 4]
    for image, wanted in ((x, [0, 0]), (-x, [8, 0])):
        found, _ = gradients(image, [[[[8]]]], region, function="MAX", **fields)
        assert found.ravel().tolist() == wanted
    for reduction in ("AVERAGE", "MAX"):
        for place in ([9, 0, 9, 0], [NAN, 0, 0, 0]):
            for found in gradients(x, [[[[8]]]], [place], function=reduction):
                assert not found.any()


def test_the_largest_is_no_nan():
    """Unless there is nothing else."""
    fields = {"function": "MAX", "samples": 2, "mode": NEAREST}
    for values, wanted in (([NAN, -5], [0, 3]), ([-5, NAN], [3, 0]), ([NAN, NAN], [3, 0])):
        found, _ = gradients(line(*values), [[[[3]]]], [[-0.5, 0, 1.5, 0]], **fields)
        assert found.ravel().tolist() == wanted

    # Out-of-bounds samples are larger too.
    found, _ = gradients(line(NAN), [[[[3]]]], [[-3, 0, 1, 0]], **fields)
    assert found.ravel().tolist() == [0]


def test_what_has_no_weight_or_no_gradient_gets_none():
    """Infinity neither spreads nor becomes NaN."""
    found, _ = gradients(line(1, 2, 3), [[[[np.inf]]]], points(1))
    assert found.ravel().tolist() == [0, np.inf, 0]
    found = gradients(line(np.inf, 2), np.zeros((1, 1, 1, 1)), points(0.5))
    assert not any(one.any() for one in found)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_batches_that_there_are_not_get_nothing(layout):
    """They are not written, but for the regions' gradients they are clamped, as for reads."""
    x = np.array([[0, 1], [0, 2]], np.float32).reshape(2, 1, 1, 2)
    batches = np.array([1, 2, MOST, 0], np.uint32)
    incoming = np.array([2, 4, 8, 16], np.float32).reshape(4, 1, 1, 1)
    for mode, image in ((LINEAR, [8, 8, 1, 1]), (NEAREST, [0, 16, 0, 2])):
        found = gradients(x, incoming, points(*[0.5] * 4), batches=batches, mode=mode, layout=layout)
        assert found[0].ravel().tolist() == image
        assert found[1].tolist() == [[2 * pull, 0, 0, 0] for pull in (4, 8, 16, 16)]


@BOTH
def test_many_regions_are_those_few_at_a_time(monkeypatch, reduction):
    rng = generator("many", reduction)
    x = rng.uniform(-4, 4, (3, 2, 5, 4)).astype(np.float32)
    regions = rng.uniform(-1, 6, (30, 4)).astype(np.float32)
    incoming = rng.uniform(-4, 4, (30, 2, 2, 3)).astype(np.float32)
    fields = {"batches": rng.integers(0, 3, 30, np.uint32), "function": reduction, "samples": (1, 3)}
    once = gradients(x, incoming, regions, **fields)
    monkeypatch.setattr(patches, "BLOCK", 64)
    for one, other in zip(once, gradients(x, incoming, regions, **fields)):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_as_many_samples_as_there_can_be():
    """The gradient is that of the integral."""
    found, _ = gradients(line(0, 1, 2), [[[[1]]]], [[0, 0, 2, 0]], samples=MOST)
    np.testing.assert_allclose(found.ravel(), [0.25, 0.5, 0.25], rtol=1e-6)
