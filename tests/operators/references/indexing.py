"""GATHER."""

from __future__ import annotations

from typing import Any

import numpy as np

from .onnx_node import plain, run
from .row import ANY, Row, Values


def gather(desc: Any, x: Any, indices: Any) -> Any:
    """Leading dimensions of size 1 come and go, which moves no element."""
    own = indices.shape[indices.ndim - desc.IndexDimensions :]
    indices = indices.astype(np.int64).reshape(own)
    (result,) = run("Gather", [plain(desc.inputs[0], x), indices], axis=desc.Axis)
    return result.reshape(desc.OutputTensor.sizes)


def within_axis(desc: Any) -> dict[str, Values]:
    size = desc.InputTensor.sizes[desc.Axis]
    return {"InputTensor": ANY, "IndicesTensor": Values(-size, size - 1, limited=True)}


ROWS = {"GATHER": Row(gather, within_axis, samples=72)}
