"""Regions of interest: sample coordinates, out-of-bounds samples, and unusual regions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.kernels.roi import patches

from .dispatch import FILL, Dispatch
from .helpers import FLOATS, LAYOUTS, function, generator, numpy_type, tensor, tensor_of
from .records.onnx_node import run

NEAREST, LINEAR = dml.DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR, dml.DML_INTERPOLATION_MODE_LINEAR
BOTH = pytest.mark.parametrize("mode", [NEAREST, LINEAR], ids=["nearest", "linear"])
MOST = 2**32 - 1
NAN, INFINITY = np.nan, np.inf


def sampling(**fields):
    """The attributes of ROI_ALIGN1 and ROI_ALIGN_GRAD; by default for samples that are elements."""
    samples = fields.pop("samples", 1)
    least, most = samples if isinstance(samples, tuple) else (samples, samples)
    scale = fields.pop("scale", 1.0)
    x, y = scale if isinstance(scale, tuple) else (scale, scale)
    return {
        "ReductionFunction": function(fields.pop("function", "AVERAGE")),
        "InterpolationMode": fields.pop("mode", LINEAR),
        "SpatialScaleX": x,
        "SpatialScaleY": y,
        "InputPixelOffset": fields.pop("input_offset", 0.0),
        "OutputPixelOffset": fields.pop("output_offset", -0.5),
        "MinimumSamplesPerOutput": least,
        "MaximumSamplesPerOutput": most,
        "AlignRegionsToCorners": fields.pop("to_corners", False),
        **fields,
    }


def align_desc(x, regions, steps, batches, *, outside=0.0, layout="packed", **fields):
    strided = LAYOUTS[layout]
    output = (len(regions), x.shape[1], *steps)
    return dml.DML_ROI_ALIGN1_OPERATOR_DESC(
        InputTensor=tensor_of(x, strided(x.shape)),
        ROITensor=tensor_of(regions, strided(regions.shape)),
        BatchIndicesTensor=tensor_of(batches),
        OutputTensor=tensor(x.dtype.name.upper(), output, strided(output)),
        OutOfBoundsInputValue=outside,
        **sampling(**fields),
    )


def align(x, regions, steps=(1, 1), *, batches=None, **fields):
    """ROI_ALIGN1's result, after checking that nothing around the output is written."""
    regions = np.asarray(regions, x.dtype)
    batches = np.zeros(len(regions), np.uint32) if batches is None else batches
    (memory,) = Dispatch(align_desc(x, regions, steps, batches, **fields), [x, regions, batches]).outputs
    assert (memory.outside == FILL).all()
    return memory.array


def line(*values, name="FLOAT32"):
    """An image of one row."""
    return np.array([[[values]]], numpy_type(name))


def points(*places):
    """Point regions in a row."""
    return [[place, 0, place, 0] for place in places]


# Programs' attributes: an offset of 0 is ONNX's ``output_half_pixel``.
@pytest.mark.parametrize("ratio", [0, 1, 2, 3])
@pytest.mark.parametrize("offset", [0.5, 0.0])
def test_onnx_runtime_gives_the_same_means(ratio, offset):
    """The sizes of its regions are 1 at least, with an offset of 0 where it makes smaller ones larger."""
    rng = generator("RoiAlign", ratio, offset)
    x = rng.uniform(-4, 4, (2, 3, 7, 9)).astype(np.float32)
    corners = rng.uniform(-5, 10, (12, 2))
    regions = np.concatenate([corners, corners + rng.uniform(2.1, 9, (12, 2))], axis=1).astype(np.float32)
    batches = rng.integers(0, 2, 12, np.uint32)
    attributes = {
        "output_height": 3,
        "output_width": 2,
        "sampling_ratio": ratio,
        "spatial_scale": 0.5,
        "coordinate_transformation_mode": "half_pixel" if offset else "output_half_pixel",
    }
    (wanted,) = run("RoiAlign", [x, regions, batches.astype(np.int64)], opset=16, **attributes)
    samples = (ratio, ratio) if ratio else (1, MOST)
    found = align(x, regions, (3, 2), batches=batches, scale=0.5, samples=samples, input_offset=offset)
    assert np.count_nonzero(wanted == 0) < wanted.size / 2
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reduction", ["AVERAGE", "MAX"])
def test_points_as_directml_has_been_recorded(reduction):
    """ONNX Runtime's tests have these results of DirectML: an empty region is a point, and does not become larger."""
    x = np.arange(75, dtype=np.float32).reshape(1, 3, 5, 5)
    regions = [[7, 5, 7, 5], [-15] * 4, [-10, 21, -10, 21], [13, 8, 13, 8], [-14, 19, -14, 19]]
    found = align(x, regions, (3, 4), function=reduction, samples=2, scale=1 / 16)
    for result, first in zip(found, [2, 0, 6.5625, 3.3125, 5.9375]):
        for channel, value in enumerate(result):
            np.testing.assert_array_equal(value, np.full((3, 4), first + 25 * channel))


def test_exactly_one_element_before_the_first_is_outside():
    """As in Microsoft's library: the samples along X are at -4, -3, -2 and -1."""
    column = np.array([-4, -2, 2, 1, 0], np.float32).reshape(1, 1, 5, 1)
    fields = {"samples": 2, "scale": (2.0, 0.375), "input_offset": 0.5, "mode": NEAREST}
    found = align(column, [[-2, 0.5, 0, 4]], (1, 2), outside=0.5, **fields)
    assert found.ravel().tolist() == [0.5, 0.5]


SQUARE = np.array([[[[1, 2], [3, 4]]]], np.float32)


@pytest.mark.parametrize(
    ("region", "wanted"),
    [
        ([0, 0, 1, 1], [[1, 1.5, 2], [2, 2.5, 3], [3, 3.5, 4]]),
        ([1, 0, 0, 1], [[2, 1.5, 1], [3, 2.5, 2], [4, 3.5, 3]]),
        ([0, 0, 1, 1], [[1], [3]]),
        ([0, 0, 4, 1], [[1, 9, 9], [3, 9, 9]]),
        ([-4, 0, 1, 0], [[9, 2]]),
        # Samples up to one element outside are in bounds if corners are not aligned.
        ([-0.5, 0, 1.5, 0], [[9, 1.5, 9]]),
    ],
)
def test_corners_as_tensorflow_has_them(region, wanted):
    """CropAndResize: samples from corner to corner, with an offset of 0."""
    steps = np.shape(wanted)
    found = align(SQUARE, [region], steps, outside=9.0, to_corners=True, output_offset=0.0)
    np.testing.assert_array_equal(found[0, 0], wanted)


def test_corners_as_microsofts_library_has_them():
    """Its results over columns 0 to 7, of which rows beyond are -7: samples keep the corners' distance, moved by the
    offset, so that the second of two rows, at 10, is outside."""
    x = np.broadcast_to(np.arange(8, dtype=np.float32), (1, 1, 8, 8)).copy()
    fields = {"samples": (1, 2), "to_corners": True, "input_offset": 0.5, "outside": -7.0}
    for mode in (NEAREST, LINEAR):
        means = align(x, [[0, 0, 7, 7]], (1, 4), mode=mode, **fields)
        assert means.ravel().tolist() == [-3.25, -2.25, -1.25, -0.25]
        largest = align(x, [[0, 0, 7, 7]], (1, 4), mode=mode, function="MAX", **fields)
        assert largest.ravel().tolist() == [1, 3, 5, 7]


@BOTH
def test_bounds(mode):
    """Less than one element before the first is the first, and up to one after the last is the last."""
    x = line(10, 20, 30)
    before, beyond = np.nextafter(np.float32([-1, 3]), np.float32([0, 4]))
    regions = points(before, -0.75, 3, 2.5, -1, beyond, -1.5, 4)
    found = align(x, regions, mode=mode, outside=-7.0)
    assert found.ravel().tolist() == [10, 10, 30, 30, -7, -7, -7, -7]
    # Along rows too: one coordinate is enough.
    rows = [[y, x, y, x] for x, y, _, _ in regions]
    found = align(x.transpose(0, 1, 3, 2).copy(), rows, mode=mode, outside=-7.0)
    assert found.ravel().tolist() == [10, 10, 30, 30, -7, -7, -7, -7]


def test_half_way_between_two_elements_the_second_is_nearest():
    """As in Microsoft's library."""
    x = line(10, 20, 30, 40)
    places = [0.5, 1.5, 2.5, *np.nextafter(np.float32([0.5, 1.5, 2.5]), np.float32(0))]
    assert align(x, points(*places), mode=NEAREST).ravel().tolist() == [20, 30, 40, 10, 20, 30]


@pytest.mark.parametrize("reduction", ["AVERAGE", "MAX"])
@BOTH
def test_coordinates_that_are_no_numbers(mode, reduction):
    """They are out of bounds, whatever the other coordinate."""
    x = np.ones((2, 2, 3, 3), np.float32)
    regions = [list(corners) for corners in product([NAN, INFINITY, -INFINITY, 3e38, -3e38, 1], repeat=4)]
    regions = [one for one in regions if not np.isfinite(one).all()]
    with np.errstate(all="ignore"):
        found = align(x, regions, (2, 1), mode=mode, function=reduction, outside=5.0, samples=(1, MOST))
    assert ((found >= 1) & (found <= 5)).all()
    broken = np.isnan(regions).any(axis=1)
    assert broken.sum() > 600
    assert (found[broken] == 5).all()


@BOTH
def test_infinity_stays_where_it_is(mode):
    """Elements of weight 0 are not read."""
    x = line(1, INFINITY, 3, NAN)
    found = align(x, points(0, 2, 1, -0.75, 0.75), mode=mode)
    assert found.ravel().tolist() == [1, 3, INFINITY, 1, INFINITY]
    assert np.isnan(align(x, points(3), mode=mode)).all()


def test_values_that_are_no_numbers():
    """A number is larger than NaN; a mean of NaN is NaN."""
    x = line(1, NAN, -2, NAN)
    region = [[0, 0, 4, 0], [1.5, 0, 3, 0]]
    largest = align(x, region, mode=NEAREST, function="MAX", samples=4, input_offset=0.5)
    assert largest.ravel().tolist() == [1, -2]
    assert np.isnan(align(x, points(3), mode=NEAREST, function="MAX")).all()
    assert np.isnan(align(x, region, mode=NEAREST, samples=4)).all()


@pytest.mark.parametrize(("reduction", "wanted"), [("AVERAGE", (10 + 20 + 20 - 3) / 4), ("MAX", 20)])
def test_samples_out_of_bounds_count(reduction, wanted):
    """Of samples at 0, 1, 2 and 3 of two elements the last is out of bounds."""
    fields = {"mode": NEAREST, "function": reduction, "samples": 4, "input_offset": 0.5}
    assert align(line(10, 20), [[0, 0, 4, 0]], outside=-3.0, **fields).item() == wanted
    if reduction == "MAX":
        assert align(line(10, 20), [[0, 0, 4, 0]], outside=25.0, **fields).item() == 25


def test_inverted_regions_are_mirrored():
    x = np.arange(20, dtype=np.float32).reshape(1, 1, 4, 5)
    region = np.array([[0.5, 0.25, 3.5, 2.75]], np.float32)
    whole = align(x, region, (2, 3), samples=2)
    for order, mirrored in (
        ([2, 1, 0, 3], whole[..., ::-1]),
        ([0, 3, 2, 1], whole[..., ::-1, :]),
        ([2, 3, 0, 1], whole[..., ::-1, ::-1]),
    ):
        np.testing.assert_array_equal(align(x, region[:, order], (2, 3), samples=2), mirrored)


@pytest.mark.parametrize(
    ("first", "second", "samples", "elements"),
    [
        # 2.5 elements for one: rounded up
        (0, 2.5, (1, MOST), [0, 1, 2]),
        (0, 2.5, (1, 2), [1, 2]),
        (0, 2.5, (4, MOST), [0, 1, 2, 2]),
        # 3 elements in FLOAT32, a little more than that otherwise, for which there would be 4
        (0.1, 0.4, (1, MOST), [2, 3, 4]),
        # as many the other way round
        (2.5, 0, (1, MOST), [2, 1, 0]),
        (2.5, 0, (1, 2), [2, 1]),
        # a point
        (1, 1, (1, MOST), [1]),
        (1, 1, (1, 1), [1]),
    ],
)
def test_the_number_of_samples(first, second, samples, elements):
    """Powers of ten show which elements are read, and how many times."""
    scale = 10.0 if first == 0.1 else 1.0
    x = line(1, 10, 100, 1000, 10000)
    found = align(x, [[first, 0, second, 0]], mode=NEAREST, samples=samples, scale=scale)
    assert found.item() == np.float32(sum(10**element for element in elements) / len(elements))


@pytest.mark.parametrize("reduction", ["AVERAGE", "MAX"])
def test_many_regions_are_those_few_at_a_time(monkeypatch, reduction):
    rng = generator("many", reduction)
    x = rng.uniform(-4, 4, (3, 2, 5, 4)).astype(np.float32)
    regions = rng.uniform(-1, 6, (30, 4)).astype(np.float32)
    batches = rng.integers(0, 3, 30, np.uint32)
    pooled = np.concatenate([batches[:, np.newaxis], regions], axis=1).astype(np.float32)
    once = (
        align(x, regions, (2, 3), batches=batches, function=reduction, samples=(1, 3)),
        pool(x, pooled, (2, 3)),
    )
    monkeypatch.setattr(patches, "BLOCK", 64)
    again = (
        align(x, regions, (2, 3), batches=batches, function=reduction, samples=(1, 3)),
        pool(x, pooled, (2, 3)),
    )
    for one, other in zip(once, again):
        np.testing.assert_array_equal(one, other)


def test_rows_and_columns_have_their_own():
    """Scales, extents and sample counts: X and Y must not be swapped, as in one line of the page."""
    x = np.arange(40, dtype=np.float32).reshape(1, 1, 5, 8)
    found = align(
        x, [[1, 2, 4, 6]], (2, 1), scale=(2.0, 0.5), samples=(1, MOST), mode=NEAREST, function="MAX"
    )
    # Columns 2.5 to 7.5, six for one, of which the last is nearest to 7; rows 1.5 and 2.5, one for each.
    assert found.ravel().tolist() == [8 * 2 + 7, 8 * 3 + 7]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("data_type", FLOATS)
def test_as_many_samples_as_there_can_be(data_type, layout):
    """They take no more time or memory than a few; on linear data, the mean is the value in the middle."""
    x = np.broadcast_to(np.arange(4), (1, 2, 3, 4)).astype(numpy_type(data_type))
    mean = align(x, [[0, 0, 3, 2], [1, 0, 2, 2]], (1, 3), samples=MOST // 3, layout=layout)
    np.testing.assert_allclose(mean[0, 0, 0], [0.5, 1.5, 2.5], rtol=1e-3)
    np.testing.assert_allclose(mean[1, 1, 0], [7 / 6, 1.5, 11 / 6], rtol=1e-3)
    largest = align(x, [[0, 0, 3, 2]], (1, 3), samples=MOST // 3, function="MAX", layout=layout)
    np.testing.assert_allclose(largest[0, 0, 0], [1, 2, 3], rtol=1e-3)
    whole = align(x, [[-6e4, -1, 6e4, 2]], samples=(1, MOST), outside=8.0)
    np.testing.assert_allclose(whole[0, :, 0, 0], [8, 8], rtol=1e-3)


@pytest.mark.parametrize("index_type", ["UINT32", "UINT64"])
def test_batches_are_clamped(index_type):
    x = np.array([3, 4], np.float32).reshape(2, 1, 1, 1)
    most = np.iinfo(numpy_type(index_type)).max
    batches = np.array([0, 1, 2, most, most // 2 + 1], numpy_type(index_type))
    assert align(x, points(0, 0, 0, 0, 0), batches=batches).ravel().tolist() == [3, 4, 4, 4, 4]


def test_the_first_version_has_pixels_with_centers():
    """Offsets of half an element, and samples apart from the corners."""
    x, regions, batches = line(1, 2, 4, 8), np.array([[0, 0, 4, 1]], np.float32), np.zeros(1, np.uint32)
    fields = sampling()
    for field in ("InputPixelOffset", "OutputPixelOffset", "AlignRegionsToCorners"):
        del fields[field]
    desc = dml.DML_ROI_ALIGN_OPERATOR_DESC(
        InputTensor=tensor_of(x),
        ROITensor=tensor_of(regions),
        BatchIndicesTensor=tensor_of(batches),
        OutputTensor=tensor("FLOAT32", (1, 1, 1, 4)),
        OutOfBoundsInputValue=0.0,
        **fields,
    )
    assert dml.evaluate(desc, [x, regions, batches])[0].ravel().tolist() == [1, 2, 4, 8]


def pool(x, regions, sizes=(1, 1), scale=1.0, layout="packed"):
    """ROI_POOLING's result, after checking that nothing around the output is written."""
    regions = np.array(regions, x.dtype).reshape(1, 1, -1, 5)
    output = (regions.shape[2], x.shape[1], *sizes)
    strided = LAYOUTS[layout]
    desc = dml.DML_ROI_POOLING_OPERATOR_DESC(
        InputTensor=tensor_of(x, strided(x.shape)),
        ROITensor=tensor_of(regions, strided(regions.shape)),
        OutputTensor=tensor(x.dtype.name.upper(), output, strided(output)),
        SpatialScale=scale,
        PooledSize=dml.DML_SIZE_2D(Width=sizes[1], Height=sizes[0]),
    )
    (memory,) = Dispatch(desc, [x, regions]).outputs
    assert (memory.outside == FILL).all()
    return memory.array


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("data_type", FLOATS)
def test_pooled_regions(data_type, layout):
    """By hand: each from its first to its second corner, divided into overlapping windows."""
    x = -np.arange(1, 13, dtype=numpy_type(data_type)).reshape(1, 1, 3, 4)
    # Three columns for two: 0 and 1, then 1 and 2. Two rows for one.
    found = pool(x, [[0, 0, 1, 2, 2]], (1, 2), layout=layout)
    np.testing.assert_array_equal(found[0, 0], [[-5, -6]])
    # One row for three, and one column: again and again.
    found = pool(x, [[0, 3, 2, 3, 2]], (3, 1), layout=layout)
    np.testing.assert_array_equal(found[0, 0], [[-12], [-12], [-12]])


@swept(
    "corners, scale, wanted",
    [
        # half way between two: away from 0
        ([0.5, 0, 0.5, 0], 1, -1),
        ([2.5, 0, 2.5, 0], 1, -3),
        ([1.5, 0, 1.5, 0], 1, -3),
        # the number below a half is not
        ([np.nextafter(np.float32(0.5), 0), 0] * 2, 1, -1),
        # half way in FLOAT32, otherwise a little less: rounded to what is outside
        ([5, 0, 5, 0], 0.7, 0),
        ([-0.5, 0, -0.5, 0], 1, -1),
        # -0.75 is outside
        ([-0.75, 0, -0.75, 0], 1, 0),
        ([-0.25, 0, -0.25, 0], 1, -1),
        # behind the image, above it, around it
        ([4, 0, 9, 0], 1, 0),
        ([0, -3, 3, -1], 1, 0),
        ([-9, -9, 9, 9], 1, -1),
        # the second corner before the first: one element
        ([2, 0, 0, 0], 1, -3),
        ([-INFINITY, -INFINITY, INFINITY, INFINITY], 1, -1),
        ([3, 0, INFINITY, 3e38], 1, -4),
        ([INFINITY, 0, INFINITY, 0], 1, 0),
        ([NAN, 0, 1, 0], 1, 0),
        ([0, 0, 1, NAN], 1, 0),
    ],
)
def test_corners_of_pooled_regions(corners, scale, wanted):
    x = -np.arange(1, 5, dtype=np.float32).reshape(1, 1, 1, 4)
    assert pool(x, [[0, *corners]], scale=scale).item() == wanted


def test_batches_of_pooled_regions():
    """Truncated and clamped."""
    x = np.array([3, 4, 5], np.float32).reshape(3, 1, 1, 1)
    named = [0, 1, 1.75, 2, 3, 1e30, INFINITY, -0.5, -1, -INFINITY, NAN]
    found = pool(x, [[batch, 0, 0, 0, 0] for batch in named])
    assert found.ravel().tolist() == [3, 4, 4, 5, 5, 5, 5, 3, 3, 3, 3]


def test_pooled_values_that_are_no_numbers():
    x = line(NAN, -INFINITY, NAN, -3)
    found = pool(x, [[0, 0, 0, 1, 0], [0, 2, 0, 3, 0], [0, 2, 0, 2, 0]])
    assert found.ravel().tolist()[:2] == [-INFINITY, -3]
    assert np.isnan(found[2]).all()
