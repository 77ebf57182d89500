"""JOIN and SPLIT."""

from __future__ import annotations

from typing import Any

import numpy as np

from .columns import fold, unfold
from .onnx_node import onnx, plain, run
from .row import ANY, DYADIC, Row


def split(desc: Any, x: Any) -> Any:
    x = plain(desc.inputs[0], x)
    sizes = np.array([tensor.sizes[desc.Axis] for tensor in desc.OutputTensors], np.int64)
    return run("Split", [x, sizes], [x.dtype.name] * len(sizes), axis=desc.Axis)


ROWS = {
    "FOLD": Row(fold, DYADIC._replace(infinite=True), samples=96),
    "JOIN": Row(onnx("Concat", attributes=lambda desc: {"axis": desc.Axis}), ANY, samples=72),
    "SPLIT": Row(split, ANY, samples=72),
    "UNFOLD": Row(unfold, ANY, samples=96),
}
