"""Operators that ONNX tried and withdrew; expected values by hand, from the documents of operator set 7."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")

import directml_py as dml

from .models import parsed

IMAGE = np.arange(24, dtype=np.float32).reshape(1, 3, 2, 4)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("Affine<alpha = 2.0, beta = 0.5>(x)", 2 * IMAGE + 0.5),
        ("Affine(x)", IMAGE),
        ("Crop<border = [1, 0, 2, 1]>(x)", IMAGE[:, :, 0:1, 1:2]),
        ("Crop<border = [1, 1, 0, 0], scale = [1, 2]>(x)", IMAGE[:, :, 1:2, 1:3]),
        (
            "ImageScaler<scale = 0.5, bias = [1.0, -1.0, 2.0]>(x)",
            0.5 * IMAGE + np.float32([1, -1, 2]).reshape(1, 3, 1, 1),
        ),
        ("ImageScaler(x)", IMAGE),
        ("ScaledTanh<alpha = 2.0, beta = 0.5>(x)", 2 * np.tanh(0.5 * IMAGE)),
    ],
)
def test_values(call, expected):
    model = parsed(f"f (float[1,3,2,4] x) => (float[n,c,h,w] y) {{ y = {call} }}", 7, check=False)
    y = dml.onnx.load(model).run(x=IMAGE)["y"]
    np.testing.assert_allclose(y, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("Crop<border = [2, 0, 2, 0]>(x)", "attribute border: leaves 2 x 0 of an image of 2 x 4"),
        ("ImageScaler<bias = [1.0]>(x)", "attribute bias: has 1 numbers; the image has 3 channels"),
    ],
)
def test_what_does_not_fit_the_image_is_refused(call, text):
    model = parsed(f"f (float[1,3,2,4] x) => (float[n,c,h,w] y) {{ y = {call} }}", 7, check=False)
    with pytest.raises(dml.onnx.OnnxError, match=text):
        dml.onnx.load(model)
