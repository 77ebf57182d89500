"""Normalization with a norm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...descs.values import OperatorDesc
from ...kernels.binding import Array
from ..operator import Compute, operator
from .rows import InRows, doubles


@operator("LP_NORMALIZATION")
class LpNormalization(InRows):
    """``Input / max(norm, Epsilon)`` with the norm of order P along Axis
    (ns-directml-dml_lp_normalization_operator_desc).

    The page prints no formula. Epsilon is the least divisor, as in PyTorch, which describes it in the same words: so
    the result is that of ONNX's LpNormalization, for which ONNX Runtime sets 0.00001, wherever the norm is not tiny. In
    a sum with the norm or its square it would be off.
    """

    def axes(self, desc: OperatorDesc) -> Sequence[int]:
        return (desc.Axis,)

    def compute(self, desc: OperatorDesc) -> Compute:
        axis, order, epsilon = desc.Axis, desc.P, desc.Epsilon

        def normalized(x: Array) -> Array:
            values = doubles(x)
            parts = np.abs(values) if order == 1 else np.square(values)
            norm = parts.sum(axis, keepdims=True)
            if order == 2:
                np.sqrt(norm, out=norm)
            # What is NaN stays so.
            values /= np.maximum(norm, epsilon)
            return values

        return normalized
