"""Lp normalization."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.native_arrays import Array
from ...validation.report import Report
from ..operator import Compute, Inputs, operator
from .axis_normalization import InRows, doubles, inspect_statistic, kept


@operator("LP_NORMALIZATION")
class LpNormalization(InRows):
    """``Input / sqrt(norm^2 + Epsilon)`` with the norm of order P along Axis
    (ns-directml-dml_lp_normalization_operator_desc).

    The page prints no formula; this is what Microsoft's library computes. Unless the norm is small, it is close to
    ONNX's LpNormalization, for which ONNX Runtime sets Epsilon to 0.00001. For FLOAT16 the sum under the norm's root is
    rounded to FLOAT16.
    """

    def axes(self, desc: OperatorDesc) -> Sequence[int]:
        return (desc.Axis,)

    def compute(self, desc: OperatorDesc) -> Compute:
        order, epsilon = desc.P, desc.Epsilon

        def normalized(x: Array) -> Array:
            values = doubles(x)
            total = kept(self.total(desc, values), desc.InputTensor)
            squared = np.square(total) if order == 1 else total
            values /= np.sqrt(squared + epsilon)
            return values

        return normalized

    def total(self, desc: OperatorDesc, values: Array) -> Array:
        """The norm, if P is 1, else its square."""
        parts = np.abs(values) if desc.P == 1 else np.square(values)
        return np.asarray(parts.sum(desc.Axis, keepdims=True))

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        inspect_statistic(desc, self.total(desc, doubles(inputs[0])), report)
