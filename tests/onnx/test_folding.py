"""What the host computes although not all inputs are known, or not as ONNX's reference evaluator takes them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
import onnx

import directml_py as dml

from .models import parsed


@pytest.mark.parametrize(
    ("pads", "expected"),
    [
        ([-2, 0, 0, 0], np.empty((0, 3))),
        ([-1, 0, -1, 0], np.empty((0, 3))),
        ([0, -1, 0, -2], np.empty((2, 0))),
        ([-2, 1, 1, 0], np.full((1, 4), 7)),
        ([-2, 0, 3, 0], np.full((3, 3), 7)),
        # More than all elements: what is left of the padding.
        ([-3, 0, 2, 0], np.full((1, 3), 7)),
        ([-1, 0, 1, 0], [[3, 4, 5], [7, 7, 7]]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.int64])
def test_padding_that_removes_all_elements(pads, expected, dtype):
    """As ONNX Runtime has it."""
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    text = "f (float[2,3] x, int64[4] p, float v) => (float[a,b] y) { y = Pad(x, p, v) }"
    made = parsed(text, check=False)
    for item in (made.graph.input[0], made.graph.input[2], made.graph.output[0]):
        item.type.tensor_type.elem_type = kind
    loaded = dml.onnx.load(made, inputs={"p": np.array(pads), "v": np.array(7, dtype)})
    x = np.arange(6, dtype=dtype).reshape(2, 3)
    found = loaded.run(x=x)["y"]
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.asarray(expected, dtype))


def test_nothing_is_repeated():
    text = 'f (float[2,3] x) => (float[a,b] y) <int64[4] p = {-2,0,1,0}> { y = Pad<mode = "edge">(x, p) }'
    with pytest.raises(
        dml.onnx.OnnxError, match=r"\(Pad\): input pads: leaves no elements for the mode 'edge'"
    ):
        dml.onnx.load(parsed(text, check=False))


@pytest.mark.parametrize("sizes", [(), (1,)])
def test_limits_of_boxes_are_scalars_or_lists(sizes):
    """Two boxes that overlap by 0.8, and one alone; scores in the order 1, 0, 2."""
    text = "f (float[1] x) => (int64[n,3] y) { y = NonMaxSuppression(boxes, scores, most, overlap, least) }"
    made = parsed(text, check=False)
    arrays = {
        "boxes": np.float32([[[0, 0, 1, 1], [0, 0.1, 1, 1], [2, 2, 3, 3]]]),
        "scores": np.float32([[[0.8, 0.9, 0.3]]]),
        "most": np.full(sizes, 3, np.int64),
        "overlap": np.full(sizes, 0.5, np.float32),
        "least": np.full(sizes, 0.1, np.float32),
    }
    made.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in arrays.items())
    np.testing.assert_array_equal(dml.onnx.load(made).run(x=np.float32([0]))["y"], [[0, 0, 1], [0, 0, 2]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("opset", [23, 24])
def test_attention_with_a_mask_that_is_an_input(opset, dtype):
    random = np.random.default_rng(0)
    sizes = {"q": (1, 2, 4, 8), "k": (1, 2, 6, 8), "v": (1, 2, 6, 8), "m": (4, 6)}
    given = {name: random.standard_normal(size).astype(dtype) for name, size in sizes.items()}
    text = "f (float[1,2,4,8] q, float[1,2,6,8] k, float[1,2,6,8] v, float[4,6] m) => (float[1,2,4,8] y) {"
    made = parsed(text + " y = Attention(q, k, v, m) }", opset, check=False)
    for item in (*made.graph.input, *made.graph.output):
        item.type.tensor_type.elem_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    q, k, v, m = (array.astype(np.float64) for array in given.values())
    scores = np.exp(q @ k.swapaxes(-1, -2) / np.sqrt(8) + m)
    expected = scores / scores.sum(-1, keepdims=True) @ v
    found = dml.onnx.load(made).run(given)["y"]
    np.testing.assert_allclose(found, expected, atol=4e-3 if dtype == np.float16 else 1e-5)
