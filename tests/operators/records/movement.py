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
from .record import ANY, DYADIC, Record


def split(desc: Any, x: Any) -> Any:
    x = plain(desc.inputs[0], x)
    sizes = np.array([tensor.sizes[desc.Axis] for tensor in desc.OutputTensors], np.int64)
    return run("Split", [x, sizes], [x.dtype.name] * len(sizes), axis=desc.Axis)


RECORDS = {
    "DEPTH_TO_SPACE": Record(depth_to_space, ANY),
    "DEPTH_TO_SPACE1": Record(depth_to_space, ANY, samples=48),
    "FOLD": Record(fold, DYADIC._replace(infinite=True), samples=96),
    "JOIN": Record(onnx("Concat", attributes=lambda desc: {"axis": desc.Axis}), ANY, samples=72),
    "PADDING": Record(padding, ANY, samples=144),
    "PADDING1": Record(padding, ANY, samples=144),
    "REVERSE_SUBSEQUENCES": Record(reverse_subsequences, ANY, samples=96),
    "SLICE": Record(slice_, ANY, samples=48),
    "SLICE1": Record(slice1, ANY, samples=96),
    "SLICE_GRAD": Record(slice_grad, ANY, samples=96),
    "SPACE_TO_DEPTH": Record(space_to_depth, ANY),
    "SPACE_TO_DEPTH1": Record(space_to_depth, ANY, samples=48),
    "SPLIT": Record(split, ANY, samples=72),
    "TILE": Record(tile, ANY, samples=48),
    "UNFOLD": Record(unfold, ANY, samples=96),
    "VALUE_SCALE_2D": Record(value_scale_2d, ANY),
}
