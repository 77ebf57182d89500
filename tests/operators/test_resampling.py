"""Resampling: agreement with ONNX's Resize, nearest elements, odd scales, edges, integers, gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.kernels.cache_blocks import BLOCK
from directml_py.kernels.interpolation import Stretched
from directml_py.operators import kernel_of, operator_of
from directml_py.operators.operator import computing_kernel

from .helpers import DECREASING, INCREASING, generator, padded_strides, tensor, tensor_of
from .records.onnx_node import run

NEAREST, LINEAR = dml.DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR, dml.DML_INTERPOLATION_MODE_LINEAR
HALF_PIXELS, CORNERS = (0.5, -0.5), (0.0, 0.0)
INF, NAN = math.inf, math.nan
LARGEST = float(np.finfo(np.float32).max)


def attributes(scales, offsets=HALF_PIXELS, mode=LINEAR, direction=None, antialiased=None):
    """Those of the oldest operator that has them; ``offsets`` are of all dimensions, or one pair for each."""
    pairs = [offsets] * len(scales) if isinstance(offsets[0], float) else offsets
    values = {"InterpolationMode": mode, "Scales": list(scales)}
    values["InputPixelOffsets"], values["OutputPixelOffsets"] = map(list, zip(*pairs))
    if direction is not None or antialiased is not None:
        values["RoundingDirection"] = INCREASING if direction is None else direction
    if antialiased is not None:
        values["Antialiased"] = antialiased
    return values


def resample_desc(x, sizes, *choices, strides=None, **named):
    values = attributes(*choices, **named)
    version = 1 + ("RoundingDirection" in values) + ("Antialiased" in values)
    struct = getattr(dml, f"DML_RESAMPLE{version}_OPERATOR_DESC")
    output = tensor(x.dtype.name.upper(), sizes)
    return struct(InputTensor=tensor_of(x, strides), OutputTensor=output, **values)


def resample(x, sizes, *choices, **named):
    return dml.evaluate(resample_desc(x, sizes, *choices, **named), [x])[0]


def row(x, count, scale, *choices, **named):
    """One dimension."""
    x = np.asarray(x, np.float32) if isinstance(x, list) else x
    return resample(x, [count], [scale], *choices, **named)


def gradient(g, sizes, *choices, **named):
    values = attributes(*choices, **named)
    version = "1" if "RoundingDirection" in values else ""
    struct = getattr(dml, f"DML_RESAMPLE_GRAD{version}_OPERATOR_DESC")
    output = tensor(g.dtype.name.upper(), sizes)
    desc = struct(InputGradientTensor=tensor_of(g), OutputGradientTensor=output, **values)
    return dml.evaluate(desc, [g])[0]


# ONNX's modes as ONNX Runtime passes them; sizes for which all scales are exact.
TRANSFORMATIONS = {
    "half_pixel": HALF_PIXELS,
    "asymmetric": CORNERS,
    "align_corners": CORNERS,
    "tf_half_pixel_for_nn": (0.0, -0.5),
}
ROUNDINGS = {
    "floor": (DECREASING, 0.0),
    "ceil": (INCREASING, 0.0),
    "round_prefer_floor": (INCREASING, 0.5),
    "round_prefer_ceil": (DECREASING, -0.5),
}
SIZES = [((4, 6), (8, 9)), ((8, 4), (4, 2)), ((6, 5), (3, 10)), ((3, 3), (5, 9)), ((5, 9), (3, 3))]


def scales_of(transformation, before, after):
    less = 1 if transformation == "align_corners" else 0
    return [(new - less) / (old - less) for old, new in zip(before, after)]


def resize(x, after, **modes):
    """ONNX's Resize of the last two dimensions, as ONNX Runtime computes it."""
    sizes = np.array([1, 1, *after], np.int64)
    return run("Resize", [x[None, None], None, None, sizes], **modes)[0][0, 0]


@pytest.mark.operator("RESAMPLE2")
@swept("nearest_mode", ROUNDINGS)
@swept("transformation", TRANSFORMATIONS)
@swept("before, after", SIZES)
def test_nearest_as_in_onnx(before, after, transformation, nearest_mode):
    x = np.arange(math.prod(before), dtype=np.float32).reshape(before)
    direction, more = ROUNDINGS[nearest_mode]
    into, out = TRANSFORMATIONS[transformation]
    scales = scales_of(transformation, before, after)
    result = resample(x, after, scales, (into + more, out), NEAREST, direction)
    modes = {"coordinate_transformation_mode": transformation, "nearest_mode": nearest_mode}
    np.testing.assert_array_equal(result, resize(x, after, mode="nearest", **modes))


@pytest.mark.operator("RESAMPLE1")
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int8])
@swept("transformation", ["half_pixel", "asymmetric", "align_corners"])
@swept("before, after", SIZES)
def test_linear_as_in_onnx(before, after, transformation, dtype):
    """Means of integers are truncated."""
    x = generator("linear", 1).integers(0, 100, before).astype(dtype)
    scales = scales_of(transformation, before, after)
    result = resample(x, after, scales, TRANSFORMATIONS[transformation])
    expected = resize(x, after, mode="linear", coordinate_transformation_mode=transformation)
    # Results that are whole except for FLOAT32's thirds may be truncated to either side.
    np.testing.assert_allclose(result, expected, rtol=2e-6, atol=0 if dtype == np.float32 else 1)


@pytest.mark.operator("RESAMPLE3")
@pytest.mark.parametrize(("before", "after"), [((16, 20), (4, 5)), ((12, 32), (5, 3)), ((40, 9), (3, 2))])
def test_antialiased_as_in_onnx(before, after):
    x = generator("antialiased", 1).normal(size=before).astype(np.float32)
    result = resample(x, after, scales_of("half_pixel", before, after), antialiased=True)
    expected = resize(x, after, mode="linear", antialias=1)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.operator("RESAMPLE3")
@pytest.mark.parametrize(("scale", "mode"), [(0.5, LINEAR), (0.75, LINEAR), (3.0, LINEAR), (0.25, NEAREST)])
def test_antialiased_where_the_page_does_not_want_it(scale, mode):
    x = generator("plain", 1).normal(size=24).astype(np.float32)
    count = int(24 * scale)
    plain, antialiased = (row(x, count, scale, mode=mode, antialiased=one) for one in (False, True))
    np.testing.assert_array_equal(plain, antialiased)


@pytest.mark.operator("RESAMPLE3")
def test_a_filter_by_hand():
    """By 1 / 4 the place of the first result is 1.5: eight elements at 0.5, 1.5, 2.5 and 3.5 on either side are worth
    7, 5, 3 and 1, of which those at -1 and -2 are the first one again."""
    x = [1, 0, 0, 0, 0, 0, 0, 2]
    assert row(x, 2, 0.25, antialiased=True).tolist() == [(5 + 3 + 1) / 32, 2 * (5 + 3 + 1) / 32]


@pytest.mark.operator("RESAMPLE3")
def test_a_filter_does_not_read_where_it_ends():
    """At 1 / 4, elements at distance four have weight 0 and must not be read: 0 * infinity is NaN."""
    x = [INF, 1, 1, 1, 1, 1, 1, 1, INF]
    assert row(x, 3, 0.25, CORNERS, antialiased=True).tolist() == [INF, 1, INF]


@pytest.mark.operator("RESAMPLE3")
def test_filters_in_parts():
    size, count, width = 3000, 900, 300.0
    places = np.linspace(-1000, 4000, count)
    parts = list(Stretched(places, size, width))
    assert len(parts) > 1
    result = np.concatenate([part.applied(np.arange(size) ** 2.0, 0) for part in parts])
    # All elements in the filter's support, with clamped ends.
    around = np.arange(-1700, 4700)
    weights = np.maximum(0, 1 - np.abs(around - np.clip(places, -width, size - 1 + width)[:, None]) / width)
    expected = weights @ np.clip(around, 0, size - 1) ** 2.0 / weights.sum(1)
    np.testing.assert_allclose(result, expected, rtol=1e-9)


@pytest.mark.operator("RESAMPLE3")
@pytest.mark.parametrize("scale", [1.2e-7, 1e-6])
def test_a_filter_wider_than_all(scale):
    """The clamped ends dominate: the elements between them have almost no weight."""
    result = row([4, NAN, INF, 8], 1, scale, (0.0, 0.0), antialiased=True)
    assert np.isnan(result).all()
    (mean,) = row([4, 100, -100, 8], 1, scale, (0.0, 0.0), antialiased=True)
    assert mean == pytest.approx(6, abs=1e-4)


@pytest.mark.operator("UPSAMPLE_2D")
def test_upsample_2d():
    """With half-pixel centers, source pixels coincide with results, and nothing is averaged."""
    x = np.array([[1, 2], [3, 4]], np.float32).reshape(1, 1, 1, 2, 2).repeat(2, 2)
    desc = dml.DML_UPSAMPLE_2D_OPERATOR_DESC(
        InputTensor=tensor_of(x),
        OutputTensor=tensor("FLOAT32", (1, 1, 2, 2, 6)),
        ScaleSize=dml.DML_SIZE_2D(Width=3, Height=1),
        InterpolationMode=LINEAR,
    )
    wide = resize(x[0, 0, 0], (2, 6), mode="linear", coordinate_transformation_mode="half_pixel")
    np.testing.assert_allclose(dml.evaluate(desc, [x])[0], np.broadcast_to(wide, (1, 1, 2, 2, 6)), rtol=1e-6)


@pytest.mark.operator("RESAMPLE")
def test_of_two_that_are_equally_near():
    """The second, as WebNN's tests of downsampling met it in DirectML."""
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    desc = dml.DML_RESAMPLE_OPERATOR_DESC(
        InputTensor=tensor_of(x),
        OutputTensor=tensor("FLOAT32", (2, 3)),
        InterpolationMode=NEAREST,
        Scales=[0.5, 0.5],
    )
    assert dml.evaluate(desc, [x])[0].tolist() == [[7, 9, 11], [19, 21, 23]]


@pytest.mark.operator("RESAMPLE1")
def test_half_a_pixel_more_rounds_down():
    """ONNX Runtime's and TensorFlow's way to round down; whole coordinates are kept."""
    assert row([0, 1, 2], 6, 2.0, (0.5, 0.0), NEAREST).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.operator("RESAMPLE2")
@pytest.mark.parametrize(("direction", "expected"), [(INCREASING, [0, 1, 1, 2]), (DECREASING, [0, 0, 1, 1])])
def test_directions(direction, expected):
    """Fractions always round one way, whole coordinates are kept."""
    assert row([0, 1, 2], 4, 2.0, (0.0, 0.0), NEAREST, direction).tolist() == expected


@pytest.mark.operator("RESAMPLE2")
def test_quotients_are_of_scales_in_float32():
    x = list(range(12))
    assert row(x, 12, 1.1, CORNERS, NEAREST, DECREASING)[11] == 10


@pytest.mark.operator("RESAMPLE2")
def test_large_quotients_keep_their_halves():
    """Coordinates -0.5 and 0.5, which are rounded down."""
    assert row([0, 1], 2, 1.0, (2.0**23, 0.5 - 2.0**23), NEAREST, DECREASING).tolist() == [0, 0]


# The scale, the offsets, and the source coordinate of each of three results in a row of 0, 1, 2, 3.
ODD = [
    (INF, (-2.0, 0.0), [2, 2, 2]),
    (LARGEST, (-1.0, -0.5), [1, 1, 1]),
    (1.0, (NAN, 0.0), [0, 0, 0]),
    (1.0, (0.0, INF), [0, 0, 0]),
    (INF, (-1.0, INF), [1, 1, 1]),
    (1.2e-7, (0.0, 0.0), [0, 3, 3]),
]
BEYOND = [(1.0, (-INF, 0.0), [3, 3, 3]), (1.0, (-1e30, 0.0), [3, 3, 3])]


@pytest.mark.operator("RESAMPLE3")
@pytest.mark.parametrize(
    ("scale", "offsets", "expected", "mode"),
    [(*one, mode) for one in ODD for mode in (LINEAR, NEAREST)] + [(*one, NEAREST) for one in BEYOND],
)
def test_odd_scales_and_offsets(scale, offsets, expected, mode):
    """NaN coordinates are 0; those outside are clamped."""
    x = [0, 1, 2, 3]
    for named in ({}, {"direction": DECREASING}, {"direction": INCREASING, "antialiased": False}):
        assert row(x, 3, scale, offsets, mode, **named).tolist() == expected
    assert np.isfinite(row(x, 3, scale, offsets, mode, antialiased=True)).all()
    for direction in (None, DECREASING):
        result = gradient(np.ones(3, np.float32), [4], [scale], offsets[::-1], mode, direction)
        assert result.tolist() == np.bincount(expected, minlength=4).tolist()


@pytest.mark.operator("RESAMPLE1")
def test_elements_without_weight_take_no_part():
    x = [INF, 1, NAN, 3, -INF]
    result = row(x, 9, 2.0, CORNERS)
    np.testing.assert_array_equal(result, [INF, INF, 1, NAN, NAN, NAN, 3, -INF, -INF])


@pytest.mark.operator("RESAMPLE1")
def test_whole_places_move_bits():
    x = np.array([-0.0, 0.0, np.finfo(np.float32).smallest_subnormal, LARGEST], np.float32)
    for mode in (LINEAR, NEAREST):
        result = row(x, 2, 1.0, (-1.0, 0.0), mode)
        np.testing.assert_array_equal(result.view(np.int32), x.view(np.int32)[1:3])


@pytest.mark.operator("RESAMPLE1")
def test_means_of_integers():
    """Toward zero, but whole results stay whole: thirds of one number sum to it."""
    assert row(np.array([-3, 0], np.int8), 4, 2.0).tolist() == [-3, -2, 0, 0]
    assert row(np.array([255, 0], np.uint8), 4, 2.0).tolist() == [255, 191, 63, 0]
    for number in (-128, -7, 100, 127):
        x = np.full((5, 5), number, np.int8)
        assert (resample(x, (15, 7), (3.0, 1.4)) == number).all()
    x = np.full((40, 60), 251, np.uint8)
    assert (resample(x, (7, 9), (7 / 40, 9 / 60), antialiased=True) == 251).all()


@pytest.mark.operator("RESAMPLE1")
@pytest.mark.parametrize("before", [(3, 70, 7, 90), (70, 3, 90, 7)])
@pytest.mark.parametrize("mode", [LINEAR, NEAREST])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_many_blocks(before, mode, dtype):
    """The result does not depend on the number of blocks, broadcasting or gaps."""
    after = tuple(size if size < 10 else size * 2 - 30 for size in before)
    x = generator("blocks", 1).normal(size=before).astype(dtype)
    assert x.size > BLOCK
    scales = [new / old for old, new in zip(before, after)]
    for strides in (None, padded_strides(before)):
        desc = resample_desc(x, after, scales, mode=mode, strides=strides)
        assert_kernel_is_twin(desc, x, after)
    broadcast = np.broadcast_to(x[:, :, :, :1], before)
    assert_kernel_is_twin(resample_desc(x, after, scales, mode=mode), broadcast, after)


def assert_kernel_is_twin(struct, x, after):
    desc, _ = decode_operator_desc(struct)
    results = []
    for kernel in (kernel_of(desc), computing_kernel(operator_of(desc.name).compute(desc))):
        results.append(np.full(after, 7, x.dtype))
        kernel.bind([x], results[-1:], np.empty(kernel.scratch, np.uint8))()
    np.testing.assert_array_equal(*results)


GRADIENTS = [
    ((4, 3), (7, 9), HALF_PIXELS),
    ((7, 9), (4, 3), HALF_PIXELS),
    ((5, 4), (5, 8), CORNERS),
    ((3, 6), (1, 2), (0.25, -1.25)),
]


@pytest.mark.operator("RESAMPLE_GRAD1")
@swept("before, after, offsets", GRADIENTS)
@swept("mode", [LINEAR, NEAREST])
@swept("direction", [None, INCREASING, DECREASING])
def test_gradients_are_transposed(before, after, offsets, mode, direction):
    """Unit images give the transposed matrix column by column; the offsets exchange roles."""
    scales = [new / old for old, new in zip(before, after)]
    choices = (scales, offsets, mode, direction)
    pixels = np.eye(math.prod(before), dtype=np.float32).reshape(-1, *before)
    matrix = np.stack([resample(pixel, after, *choices).reshape(-1) for pixel in pixels]).astype(np.float64)
    g = generator("gradients", 1).integers(-8, 9, after).astype(np.float32)
    expected = (matrix @ g.reshape(-1)).reshape(before)
    found = gradient(g, before, scales, offsets[::-1], mode, direction)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
