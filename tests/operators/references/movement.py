"""JOIN and SPLIT, and the rows of the family."""

from __future__ import annotations

from typing import Any

import numpy as np

from .fold_unfold import fold, unfold
from .onnx_node import onnx, plain, run
from .rearranged import (
    depth_to_space,
    padding,
    reverse_subsequences,
    slice1,
    slice_,
    slice_grad,
    space_to_depth,
    tile,
    value_scale_2d,
)
from .row import ANY, DYADIC, Row


def split(desc: Any, x: Any) -> Any:
    x = plain(desc.inputs[0], x)
    sizes = np.array([tensor.sizes[desc.Axis] for tensor in desc.OutputTensors], np.int64)
    return run("Split", [x, sizes], [x.dtype.name] * len(sizes), axis=desc.Axis)


ROWS = {
    "DEPTH_TO_SPACE": Row(depth_to_space, ANY),
    "DEPTH_TO_SPACE1": Row(depth_to_space, ANY, samples=48),
    "FOLD": Row(fold, DYADIC._replace(infinite=True), samples=96),
    "JOIN": Row(onnx("Concat", attributes=lambda desc: {"axis": desc.Axis}), ANY, samples=72),
    "PADDING": Row(padding, ANY, samples=144),
    "PADDING1": Row(padding, ANY, samples=144),
    "REVERSE_SUBSEQUENCES": Row(reverse_subsequences, ANY, samples=96),
    "SLICE": Row(slice_, ANY, samples=48),
    "SLICE1": Row(slice1, ANY, samples=96),
    "SLICE_GRAD": Row(slice_grad, ANY, samples=96),
    "SPACE_TO_DEPTH": Row(space_to_depth, ANY),
    "SPACE_TO_DEPTH1": Row(space_to_depth, ANY, samples=48),
    "SPLIT": Row(split, ANY, samples=72),
    "TILE": Row(tile, ANY, samples=48),
    "UNFOLD": Row(unfold, ANY, samples=96),
    "VALUE_SCALE_2D": Row(value_scale_2d, ANY),
}
