"""TOP_K and TOP_K1."""

from __future__ import annotations

from typing import Any

import numpy as np

import directml_py as dml

from .onnx_node import run
from .record import Record, Values

# After all infinities, which are represented by half of this: no tensor is FLOAT64.
NOT_A_NUMBER = 1e300


def comparable(desc: Any, x: Any, largest: bool) -> Any:
    """Keys that ONNX Runtime orders like the operator: UINT64 as INT64 minus 2^63, and NaN after all numbers."""
    if x.dtype == object:
        return (x - (1 << 63 if desc.InputTensor.dtype == np.uint64 else 0)).astype(np.int64)
    numbers = np.clip(x, -NOT_A_NUMBER / 2, NOT_A_NUMBER / 2)
    return np.where(np.isnan(x), -NOT_A_NUMBER if largest else NOT_A_NUMBER, numbers)


def top_k(desc: Any, x: Any) -> Any:
    """ONNX, too, has the lower index first of equal elements."""
    largest = getattr(desc, "AxisDirection", None) != dml.DML_AXIS_DIRECTION_INCREASING
    keys = comparable(desc, x, largest)
    _, indices = run(
        "TopK",
        [keys, np.array([desc.K], np.int64)],
        [keys.dtype.name, "int64"],
        axis=desc.Axis,
        largest=int(largest),
    )
    return [np.take_along_axis(x, indices, desc.Axis), indices]


# Few different values, so that there are ties, of zeros of either sign, infinities and NaN too.
TIED = Values(-2, 2, step=0.25, special=True)
RECORDS = {"TOP_K": Record(top_k, TIED, samples=96), "TOP_K1": Record(top_k, TIED, samples=144)}
