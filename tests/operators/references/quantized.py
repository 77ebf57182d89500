"""References of operators over quantized tensors: the pages' formulas, in FLOAT64."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..values import as_stored
from .row import Row, Values


class PowersOfTwo(Values):
    """Scales by which nothing is rounded, so that halves are halves."""

    def draw(self, rng: np.random.Generator, tensor: Any) -> Any:
        return as_stored(tensor, np.exp2(rng.integers(-2, 3, tensor.sizes)).astype(tensor.dtype))


def quantized_add(desc: Any, *inputs: Any) -> Any:
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = (
        0.0 if one is None else one.astype(np.float64) for one in inputs
    )
    a_value = (a - np.ravel(a_zero)[0]) * np.ravel(a_scale)[0]
    b_value = (b - np.ravel(b_zero)[0]) * np.ravel(b_scale)[0]
    limits = np.iinfo(desc.OutputTensor.dtype)
    rounded = np.rint((a_value + b_value) / np.ravel(scale)[0]) + np.ravel(zero)[0]
    return np.clip(rounded, limits.min, limits.max).astype(np.int64)


SCALES = ("AScaleTensor", "BScaleTensor", "OutputScaleTensor")
ROWS = {"ELEMENT_WISE_QUANTIZED_LINEAR_ADD": Row(quantized_add, dict.fromkeys(SCALES, PowersOfTwo()))}
