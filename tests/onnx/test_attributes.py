"""Nodes that attributes or inputs make special, and whose results are meant where providers differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
import onnx

import directml_py as dml
from directml_py.onnx.errors import OnnxError
from directml_py.onnx.semantics import DIFFERENCES

from . import test_microsoft
from .drawn_nodes import DrawnNode, longs
from .onnx_runtime import results_if_accepted

pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")
PAGE = Path(__file__).parents[2] / "docs" / "onnx.md"


INDICES = np.int64([[[[5, 7], [13, 15]]]])
STEPS = np.float16([0, -3, 2.9, 3.1, 1000, -1000, 65504, np.inf])
TWO, WORDS, BYTE = np.array(2, np.float32), np.array(256, np.int16), np.array(3, np.uint8)
INTEGERS = np.array([[-5, -4], [9, 9], [100, -100]])
RECTANGLES = np.float32([[0, 0, 9, 9], [1.5, 2, 4, 3], [5, 5, 5, 5]])
FEATURES, IMAGES = np.float32(np.sin(np.arange(100).reshape(1, 1, 10, 10))), np.zeros(3, np.int64)
UNSORTED = np.float32([[[3, 1], [3, 1]], [[2, 1], [2, 0]]])
# Nodes that attributes or inputs make special.
SPECIAL = {
    "a scalar transposed": DrawnNode("Transpose", 9, [np.array(2, np.int16)]),
    "padding along axes": DrawnNode(
        "Pad", 19, [np.ones((2, 0), np.float32), longs([0, 2, 0, 1]), np.array(1.5, np.float32), longs([0, -1])],
        [1, 2, 3],
    ),
    "16 bits": DrawnNode("QuantizeLinear", 23, [STEPS, TWO, WORDS], [1, 2]),
    "16 bits of constants": DrawnNode("QuantizeLinear", 25, [STEPS, TWO, WORDS], [0, 1, 2]),
    "16 bits, by half": DrawnNode(
        "QuantizeLinear", 23, [np.float32([7e4, -66046, 5]), TWO.astype(np.float16), WORDS], [2],
    ),
    "8 bits, by a single": DrawnNode(
        "QuantizeLinear", 23, [np.float16([5.004, 9]), TWO + np.float32(1e-4), BYTE], [1, 2],
    ),
    "logarithms of integers": DrawnNode("ReduceLogSumExp", 13, [INTEGERS], (), {"axes": [1]}),
    "logarithms of constants": DrawnNode("ReduceLogSumExp", 13, [INTEGERS], [0], {"axes": [0]}),
    "a large exponent": DrawnNode("ReduceLogSumExp", 18, [np.float32([[100, 99], [-200, -np.inf]]), longs([1])], [1]),
    "no finite exponent": DrawnNode("ReduceLogSumExp", 13, [np.float32([[-np.inf], [np.inf]])], (), {"axes": [1]}),
    "unsorted": DrawnNode("Unique", 11, [UNSORTED], [0], {"sorted": 0}, 4),
    "unsorted columns": DrawnNode("Unique", 11, [UNSORTED], [0], {"sorted": 0, "axis": -1}, 4),
    "unsorted rows, alone": DrawnNode("Unique", 11, [UNSORTED], [0], {"sorted": 0, "axis": 1}),
    "sorted rows": DrawnNode("Unique", 11, [UNSORTED], [0], {"axis": 1}, 4),
    "no part of the regions": DrawnNode(
        "RoiAlign", 16, [FEATURES, RECTANGLES, IMAGES], (),
        {"coordinate_transformation_mode": "output_half_pixel", "spatial_scale": 0.0, "sampling_ratio": 2},
    ),
    "regions without samples": DrawnNode(
        "RoiAlign", 16, [FEATURES, RECTANGLES, IMAGES], [1], {"mode": "max", "output_height": 2, "output_width": 3},
    ),
    "time counted from the end": DrawnNode(
        "ReverseSequence", 10, [FEATURES[0, 0, :3], longs([2, 10, 1])], (), {"time_axis": -1, "batch_axis": 0},
    ),
    "times that the host knows": DrawnNode(
        "ReverseSequence", 10, [FEATURES[0, 0, :3], longs([2, 10, 1])], [0, 1], {"time_axis": -1, "batch_axis": -2},
    ),
    "training that drops nothing": DrawnNode(
        "Dropout", 13, [FEATURES, np.array(0, np.float32), np.array(True)], [1, 2], {}, 2,
    ),
    "mask of the past": DrawnNode("Dropout", 10, [TWO.reshape(1)], [0], {}, 2),
    "a softcap below 0": DrawnNode(
        "Attention", 24, [FEATURES, FEATURES[:, :, ::-1], FEATURES[:, :, :, ::-1]], (),
        {"softcap": -1.0, "softmax_precision": 0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
def test_special_nodes(name):
    draw = SPECIAL[name]
    expected = results_if_accepted(draw.model(), draw.feeds)
    assert expected is not None
    for own, want in zip(loaded(draw).run(draw.feeds).values(), expected, strict=True):
        assert (own.dtype, own.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(own, want, rtol=1e-6, atol=1e-6)


def test_a_smaller_output_is_cut():
    """Indices refer to the output that could have been pooled, {4, 6}: 5 and 7 are (0, 5) and (1, 1)."""
    x, attributes = np.float32([[[[5, 6], [7, 8]]]]), {"kernel_shape": [2, 3], "strides": [2, 3]}
    draw = DrawnNode("MaxUnpool", 11, [x, INDICES, longs([1, 1, 5, 5])], [2], attributes)
    expected = np.zeros((1, 1, 5, 5), np.float32)
    expected[0, 0, [1, 2, 2], [1, 1, 3]] = 6, 7, 8
    np.testing.assert_array_equal(loaded(draw).run(draw.feeds)["out0"], expected)


# What ONNX's cases leave out: ONNX Runtime rounds floats, and keeps the lowest bits of all.
FOUR_BITS = {
    "int4": ([-9, -8.5, -0.5, 0.5, 2.5, 7, 8, 100], [7, 7, -1, 1, 3, 7, -8, 4]),
    "uint4": ([-9, -8.5, -0.5, 0.5, 2.5, 15, 16, 100], [7, 7, 15, 1, 3, 15, 0, 4]),
}


@pytest.mark.parametrize("kind", FOUR_BITS)
def test_integers_of_4_bits(kind):
    """Cast from floats, back, and transposed between both."""
    given, expected = FOUR_BITS[kind]
    number = onnx.TensorProto.DataType.Value(kind.upper())
    text = f"""<ir_version: 10, opset_import: ["": 23]> g (float[2, 4] x) => (float[4, 2] y, int32[2, 4] z) {{
        small = Cast<to = {number}>(x)
        turned = Transpose(small)
        y = Cast<to = 1>(turned)
        z = Cast<to = 6>(small)
    }}"""
    model, x = onnx.parser.parse_model(text), np.float32(given).reshape(2, 4)
    results = dml.onnx.load(model).run(x=x)
    np.testing.assert_array_equal(results["y"].T.reshape(-1), expected)
    np.testing.assert_array_equal(results["z"].reshape(-1), expected)
    for own, want in zip(results.values(), results_if_accepted(model, {"x": x}), strict=True):
        np.testing.assert_array_equal(own, want)


def loaded(draw, **settings):
    return dml.onnx.load(draw.model(), **settings)


SMALL = np.float32([[3, 4], [3e-6, 4e-6]])
LINE = np.float32([[[[0, 1, 0, 0]]]])
SQUARE = np.float32([[[[1, 2], [3, 4]]]])
# For each operator whose results differ: a node, ONNX's result, and the provider's.
DIFFERING = {
    # min(max(x, 1), -1), and max(min(x, -1), 1).
    "Clip": (DrawnNode("Clip", 13, [np.float32([-2, 0, 3]), np.float32(1), np.float32(-1)], [1, 2]), [-1] * 3, [1] * 3),
    # The mean is -2.92480, and -2.92383 or -2.92578 in FLOAT16.
    "InstanceNormalization": (
        DrawnNode(
            "InstanceNormalization", 13,
            [np.float16([[[-3.03125, -2.818359375]]]), np.float16([3.044921875]), np.float16([0.418701171875])],
        ),
        [-2.625, 3.462890625],
        [-2.59765625, 3.490234375],
    ),
    # The norms are 5 and 5e-6; the roots of 25 + 1e-5 and of 2.5e-11 + 1e-5.
    "LpNormalization": (
        DrawnNode("LpNormalization", 22, [SMALL], (), {"axis": 1}),
        [0.6, 0.8, 0.6, 0.8],
        [0.6, 0.8, 3e-6 / 1e-5**0.5, 4e-6 / 1e-5**0.5],
    ),
    # The deviations are 1 and 1e-6; the roots of 1 + 1e-5 and of 1e-12 + 1e-5.
    "MeanVarianceNormalization": (
        DrawnNode("MeanVarianceNormalization", 13, [np.float32([[1, 3], [1e-6, 3e-6]])], (), {"axes": [1]}),
        [-1, 1, -1, 1],
        [-1 / 1.00001**0.5, 1 / 1.00001**0.5, -1e-6 / 1e-5**0.5, 1e-6 / 1e-5**0.5],
    ),
    # exp(100) is beyond FLOAT32.
    "ReduceLogSumExp": (
        DrawnNode("ReduceLogSumExp", 13, [np.float32([100, 100])], (), {"axes": [0]}), [100 + np.log(2)], [np.inf],
    ),
    # A half: ONNX's triangle has the shares 1 3 3 1 of four elements; RESAMPLE3 interpolates between two.
    "Resize": (
        DrawnNode("Resize", 18, [LINE, None, np.float32([1, 1, 1, 0.5])], [2], {"mode": "linear", "antialias": 1}),
        [3 / 8, 1 / 8],
        [1 / 2, 0],
    ),
    # One sample between four elements, the largest of which has a share of a quarter.
    "RoiAlign": (
        DrawnNode(
            "RoiAlign", 16, [SQUARE, np.float32([[0.5, 0.5, 1.5, 1.5]]), np.int64([0])], (),
            {"mode": "max", "sampling_ratio": 1},
        ),
        [1],
        [2.5],
    ),
}  # fmt: skip


def test_every_difference_is_tested():
    assert DIFFERENCES.keys() == DIFFERING.keys() | test_microsoft.DIFFERING.keys()


@pytest.mark.parametrize("kind", DIFFERING)
def test_semantics(kind):
    """Each row of the table differs, and the default is ONNX's."""
    draw, onnx_result, provider_result = DIFFERING[kind]
    for settings in ({}, {"semantics": "onnx"}):
        found = loaded(draw, **settings).run(draw.feeds)["out0"]
        np.testing.assert_allclose(found.reshape(-1), onnx_result, rtol=2e-6)
    found = loaded(draw, semantics="directml").run(draw.feeds)["out0"]
    np.testing.assert_allclose(found.reshape(-1), provider_result, rtol=1e-5)


def test_other_semantics():
    with pytest.raises(ValueError, match="semantics is 'cuda'; it must be one of 'onnx', 'directml'"):
        loaded(DIFFERING["Clip"][0], semantics="cuda")


USUAL = {
    # What exporters write: PyTorch's and TensorFlow's.
    "doubled": ("nearest", "asymmetric", "floor", 2.0),
    "interpolated": ("linear", "half_pixel", None, 2.0),
    "of PyTorch": ("linear", "pytorch_half_pixel", None, 0.6),
    "aligned": ("linear", "align_corners", None, 1.7),
    "symmetric": ("linear", "half_pixel_symmetric", None, 0.7),
    "rounded": ("nearest", "half_pixel", "round_prefer_floor", 1.5),
}


@pytest.mark.parametrize("name", USUAL)
def test_resizing_that_is_one_operator(name):
    mode, word, rounding, scale = USUAL[name]
    attributes = {"mode": mode, "coordinate_transformation_mode": word}
    attributes |= {"nearest_mode": rounding} if rounding else {}
    scales = np.float32([1, 1, scale, scale])
    draw = DrawnNode("Resize", 19, [np.float32(np.ones((1, 2, 7, 9))), None, scales], [2], attributes)
    (node,) = loaded(draw).graph.nodes
    assert "RESAMPLE2 FLOAT32 {1,2,7,9}" in repr(node.operator)


def test_windows_of_even_size_reach_further_to_the_end():
    """ONNX Runtime refuses them, and the loop of ONNX's reference is over the images instead of the channels."""
    x = np.float32(np.arange(1, 9).reshape(1, 4, 1, 2))
    draw = DrawnNode("LRN", 13, [x], (), {"size": 2, "alpha": 0.5, "beta": 1.0, "bias": 2.0})
    squares = np.concatenate([x, np.zeros_like(x[:, :1])], 1) ** 2
    expected = x / (2 + 0.25 * (squares[:, :-1] + squares[:, 1:]))
    np.testing.assert_allclose(loaded(draw).run(draw.feeds)["out0"], expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["uint8", "int64"])
def test_constants_are_sliced_as_what_is_computed(kind):
    x = np.arange(5).astype(kind)
    bounds = [np.int64([value]) for value in (-9, -(2**63), 0, -1)]
    for constants in ([0, 1, 2, 3, 4], [1, 2, 3, 4]):
        draw = DrawnNode("Slice", 13, [x, *bounds], constants)
        np.testing.assert_array_equal(loaded(draw).run(draw.feeds)["out0"], x[:1])


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (
            DrawnNode(
                "ConvTranspose", 11, [np.float32(np.ones((1, 2, 3))), np.float32(np.ones((2, 6)))], (),
                {"kernel_shape": [2]},
            ),
            r"input W: has sizes \[2, 6\]; it must have 3 of them",
        ),
        (
            DrawnNode("MaxPool", 12, [np.ones((1, 1, 2), np.float32)], (), {"kernel_shape": [4]}),
            r"attribute kernel_shape: is \[4\], larger than the padded input",
        ),
        (
            DrawnNode("AveragePool", 11, [np.ones((1, 1, 2), np.float32)], (), {"kernel_shape": [2], "strides": [0]}),
            r"attribute strides: is \[0\]; the numbers must be positive",
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, DrawnNode) else "",
)  # fmt: skip
def test_windows_that_do_not_fit(draw, text):
    with pytest.raises(OnnxError, match=text):
        loaded(draw)
