"""Operators that ONNX tried and withdrew, of which models of operator set 7 are left."""

from __future__ import annotations

from .element_wise import like_input
from .errors import Refusal
from .node import OnnxNode
from .translators import Results, Rows, operator, outputs

outputs("Affine", "ImageScaler", "ParametricSoftplus", "ScaledTanh")(like_input)


@operator("Affine")
def affine(node: OnnxNode) -> Results:
    return node.graph.identity(node.tensor(), scale_bias=(node.get("alpha", 1.0), node.get("beta", 0.0)))


@operator("Crop")
def crop(node: OnnxNode) -> Results:
    """An image without its border; ``scale`` is the height and the width of what is left."""
    left, top = node.get("border", [0, 0])[:2]
    sizes = node.output_shape()
    return node.graph.slice(node.tensor(), offsets=(0, 0, top, left), sizes=sizes, strides=[1] * 4)


@outputs("Crop")
def cropped(node: OnnxNode) -> Rows:
    shape = _image(node)
    left, top, right, bottom = node.get("border", [0, 0, 0, 0])
    height, width = node.get("scale") or (shape[2] - top - bottom, shape[3] - left - right)
    if min(left, top) < 0 or not (0 < height <= shape[2] - top and 0 < width <= shape[3] - left):
        raise Refusal(f"leaves {height} x {width} of an image of {shape[2]} x {shape[3]}", "attribute border")
    return [(node.input().dtype, (*shape[:2], height, width))]


@operator("ImageScaler")
def image_scaler(node: OnnxNode) -> Results:
    """A scale for the image, and a bias for each channel."""
    channels = _image(node)[1]
    bias = node.get("bias", [0.0] * channels)
    if len(bias) != channels:
        raise Refusal(f"has {len(bias)} numbers; the image has {channels} channels", "attribute bias")
    return node.graph.value_scale_2d(node.tensor(), scale=node.get("scale", 1.0), bias=bias)


def _image(node: OnnxNode) -> tuple[int, ...]:
    shape = node.shape()
    if len(shape) != 4:
        raise Refusal(f"has sizes {list(shape)}; an image has 4 dimensions", "input 0")
    return shape
