"""ELEMENT_WISE_IDENTITY."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..descs.values import OperatorDesc
from ..kernels.binding import Array
from .operator import Compute, Move, Operator, operator


@operator("ELEMENT_WISE_IDENTITY")
class Identity(Operator):
    """A copy, scaled and biased on request (ns-directml-dml_element_wise_identity_operator_desc).

    The page is silent on which types ScaleBias takes; DirectML's developers exclude the 64-bit ones. Integers are
    scaled in FLOAT64 and rounded toward zero, as Direct3D converts float to integer; NaN becomes 0 and what is
    out of range the nearest value.
    """

    def moves(self, desc: OperatorDesc) -> Sequence[Move] | None:
        return [Move(0, (), 0, ())] if desc.ScaleBias is None else None

    def compute(self, desc: OperatorDesc) -> Compute:
        scale, bias = np.float32(desc.ScaleBias.Scale), np.float32(desc.ScaleBias.Bias)

        def scaled(x: Array) -> Array:
            if x.dtype.kind == "f":
                return np.asarray(x * scale + bias)
            limits = np.iinfo(x.dtype)
            values = np.trunc(x.astype(np.float64) * scale + bias)
            np.nan_to_num(values, copy=False, nan=0.0, posinf=np.inf, neginf=-np.inf)
            return np.asarray(np.clip(values, limits.min, limits.max))

        return scaled
