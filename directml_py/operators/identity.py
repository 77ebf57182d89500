"""ELEMENT_WISE_IDENTITY."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..descs.tensor import type_name
from ..descs.values import OperatorDesc
from ..kernels.binding import Array, Run
from ..validation.report import Report
from .operator import Inputs, Kernel, Move, Operator, Outputs, as_float, moving_kernel, operator, own_rule

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
        scaled = scaled_floats if dtype.kind == "f" else scaled_integers

        def bind(inputs: Inputs, outputs: Outputs) -> Run:
            return partial(scaled, inputs[0], outputs[0], scale, bias)

        return bind


def scaled_floats(x: Array, output: Array, scale: np.float32, bias: np.float32) -> None:
    with np.errstate(all="ignore"):
        np.copyto(output, as_float(x) * scale + bias, casting="same_kind")


def scaled_integers(x: Array, output: Array, scale: np.float32, bias: np.float32) -> None:
    limits = np.iinfo(output.dtype)
    with np.errstate(all="ignore"):
        found = np.trunc(x.astype(np.float64) * scale + bias)
    np.nan_to_num(found, copy=False, nan=0.0, posinf=np.inf, neginf=-np.inf)
    np.copyto(output, np.clip(found, limits.min, limits.max), casting="unsafe")
