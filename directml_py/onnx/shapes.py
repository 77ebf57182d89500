"""Operators that leave elements unchanged, and only change sizes or the element type."""

from __future__ import annotations

import math

import numpy as np
import onnx

from ..graph import Expression
from .element_wise import common_shape
from .errors import Refusal
from .node import OnnxNode
from .quantized import FOUR_BITS, from_four_bits, to_four_bits
from .translators import Results, Rows, operator, outputs
from .values import OnnxValue, Sizes, data_type, known


def renamed(node: OnnxNode, shape: Sizes) -> OnnxValue:
    """The first input with other sizes."""
    source = node.input()
    if math.prod(shape) != source.size:
        raise Refusal(f"has sizes {list(source.shape)}, which cannot become {list(shape)}", "input 0")
    array = None if source.array is None else source.array.reshape(shape)
    return OnnxValue(source.name, source.dtype, shape, array, source.expression, source.inputs)


@outputs("Squeeze")
def squeezed(node: OnnxNode) -> Rows:
    """Without the axes, which may be negative in every version; ONNX Runtime takes an empty list of them as none."""
    shape, axes = node.shape(), node.numbers(1, "axes")
    if axes:
        dropped = {axis % len(shape) for axis in axes if -len(shape) <= axis < len(shape)}
        kept = [size for axis, size in enumerate(shape) if axis not in dropped]
    else:
        kept = [size for size in shape if size != 1]
    return [(node.input().dtype, tuple(kept))]


@operator("Flatten", "Squeeze", "Unsqueeze", "Identity", "Reshape")
def other_sizes(node: OnnxNode) -> Results:
    """The sizes follow by shape inference, once the axes or the shape are known."""
    if node.kind in ("Reshape", "Squeeze", "Unsqueeze"):
        node.numbers(1, "shape" if node.kind == "Reshape" else "axes")
    if node.kind == "Identity" and (node.input().items is not None or node.input().is_nothing):
        return node.input()
    return renamed(node, node.output_shape())


@operator("Dropout")
def dropout(node: OnnxNode) -> Results:
    """The identity, with a mask of ones: only training drops elements, unless it drops none.

    Before operator set 12 ONNX Runtime's mask is of zeros, and before 10 it has the type of the input.
    """
    is_training = node.has(2) and bool(node.known(2, "training_mode").reshape(-1)[0])
    if is_training and (not node.has(1) or node.known(1, "ratio").reshape(-1)[0]):
        raise Refusal("is true; DirectML has no operator that drops elements", "input training_mode")
    if not node.wants(1):
        return [node.input(), None]
    dtype = np.dtype(np.bool_) if node.version >= 10 else node.input().dtype
    node.constants.budget.take_bytes(node.input().size * dtype.itemsize)
    return [node.input(), known("mask", np.full(node.shape(), node.version >= 12, dtype))]


@operator("Cast")
def cast(node: OnnxNode) -> Results:
    return cast_to(node, np.dtype(onnx.helper.tensor_dtype_to_np_dtype(node.get("to"))))


@operator("CastLike")
def cast_like(node: OnnxNode) -> Results:
    return cast_to(node, node.input(1).dtype)


def cast_to(node: OnnxNode, dtype: np.dtype[np.generic]) -> Expression | OnnxValue:
    """A cast to a boolean is true for anything but 0; other conversions are CAST's."""
    source = node.input()
    if source.dtype == dtype:
        return source
    x = node.tensor()
    if source.dtype.name in FOUR_BITS:
        x = from_four_bits(node, x)
    if dtype.name in FOUR_BITS:
        return to_four_bits(node, x, dtype)
    if dtype != np.bool_:
        return node.cast(x, dtype)
    zero = node.scalar(0, x)
    return node.graph.logical_not(node.graph.logical_equals(x, zero, output_data_type=np.uint8))


@operator("Expand")
def expand(node: OnnxNode) -> Results:
    wanted = node.numbers(1, "shape")
    assert wanted is not None
    target = OnnxValue("shape", np.dtype(np.bool_), tuple(wanted)) if 0 not in wanted else None
    shape = node.output_shape() if target is None else common_shape(node.input(), target)
    if shape == node.shape():
        return node.input()
    return node.packed(node.broadcast(0, shape))


@operator("BitCast")
def bit_cast(node: OnnxNode) -> Results:
    """The same bytes as elements of another type of the same size."""
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(node.get("to")))
    if dtype == np.bool_ or node.input().dtype == np.bool_:
        raise Refusal("DirectML has no booleans", "attribute to")
    return node.graph.reinterpret(node.tensor(), data_type(dtype))


# Operators whose outputs have sizes that follow from the content of these inputs.
COUNTED = {
    "ConstantOfShape": ("input",),
    "MelWeightMatrix": (
        "num_mel_bins",
        "dft_length",
        "sample_rate",
        "lower_edge_hertz",
        "upper_edge_hertz",
    ),
    "NonMaxSuppression": (
        "boxes",
        "scores",
        "max_output_boxes_per_class",
        "iou_threshold",
        "score_threshold",
    ),
    "NonZero": ("X",),
    "Range": ("start", "limit", "delta"),
    "Unique": ("X",),
}


@operator(*COUNTED)
def counted(node: OnnxNode) -> Results:
    """What the host computes, once all inputs are known."""
    for index, name in enumerate(COUNTED[node.kind]):
        if node.has(index):
            node.known(index, name)
    raise Refusal("ONNX's reference evaluator cannot compute it")
