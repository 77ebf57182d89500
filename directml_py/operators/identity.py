"""ELEMENT_WISE_IDENTITY."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..descs.tensor import type_name
from ..descs.values import OperatorDesc
from ..validation.report import Report
from .operator import (
    Inputs,
    Kernel,
    Move,
    Operator,
    Outputs,
    as_float,
    moving_kernel,
    operator,
    own_rule,
)

SCALE_BIAS_TYPE = own_rule(
    "ELEMENT_WISE_IDENTITY", "scale-bias-type", "ScaleBias is not given for 64-bit data types"
)


@operator("ELEMENT_WISE_IDENTITY")
class Identity(Operator):
    """A copy, scaled and biased on request (ns-directml-dml_element_wise_identity_operator_desc).

    The page is silent on which types ScaleBias takes; DirectML's developers exclude the 64-bit ones. Integers are
    scaled in FLOAT64 and rounded toward zero, as Direct3D converts float to integer; NaN becomes 0 and what is
    out of range the nearest value.
    """

    def constrain(self, desc: OperatorDesc, report: Report) -> None:
        if desc.ScaleBias is not None and desc.InputTensor.element_bits == 64:
            name = type_name(desc.InputTensor.data_type)
            report.add(SCALE_BIAS_TYPE, "ScaleBias", f"is given for {name}; 64-bit types take none")

    def moves(self, desc: OperatorDesc) -> Sequence[Move] | None:
        return [Move(0, (), 0, ())] if desc.ScaleBias is None else None

    def kernel(self, desc: OperatorDesc) -> Kernel:
        moves = self.moves(desc)
        if moves is not None:
            return moving_kernel(moves)
        scale, bias = np.float32(desc.ScaleBias.Scale), np.float32(desc.ScaleBias.Bias)
        dtype = desc.OutputTensor.dtype
        if dtype.kind == "f":

            def scale_float(inputs: Inputs, outputs: Outputs) -> None:
                with np.errstate(all="ignore"):
                    np.copyto(outputs[0], as_float(inputs[0]) * scale + bias, casting="same_kind")

            return scale_float
        limits = np.iinfo(dtype)

        def scale_integer(inputs: Inputs, outputs: Outputs) -> None:
            with np.errstate(all="ignore"):
                scaled = np.trunc(inputs[0].astype(np.float64) * scale + bias)
            np.nan_to_num(scaled, copy=False, nan=0.0, posinf=np.inf, neginf=-np.inf)
            np.copyto(outputs[0], np.clip(scaled, limits.min, limits.max), casting="unsafe")

        return scale_integer
