"""Base of the normalizations, which compute on whole rows along some axes, and LP_NORMALIZATION."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...descs.tensor import TensorDesc
from ...kernels.decisions import Declined
from ...kernels.elementwise.map import map_elements
from ...kernels.half import as_halves
from ...kernels.native_arrays import Array, Run
from ...kernels.rowwise import map_rows
from ...validation.report import Report
from ..numeric_warnings import report_elements
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, operator, operator_rule

# The operators whose divisor comes from a statistic stored in FLOAT16.
RANGES = {
    name: operator_rule(
        name, "half-range", f"No FLOAT16 square of {name} is out of range", debug=True, library=True
    )
    for name in (
        "BATCH_NORMALIZATION_TRAINING",
        "LP_NORMALIZATION",
        "MEAN_VARIANCE_NORMALIZATION",
        "MEAN_VARIANCE_NORMALIZATION1",
        "MEAN_VARIANCE_NORMALIZATION2",
    )
}


class InRows(Operator):
    """An operator whose ``compute`` depends, for each element, only on the elements along ``axes``.

    All computation is in FLOAT64, whatever the tensors' type, except that statistics of FLOAT16 tensors are rounded
    (see ``kept``); a native kernel may round the difference from a given mean, and its factor, to FLOAT32.
    """

    # Whether ``native`` takes LEAKY_RELU too.
    is_leaky = False

    def axes(self, desc: OperatorDesc) -> Sequence[int]:
        raise NotImplementedError

    def kernel(self, desc: OperatorDesc) -> Kernel:
        compute, axes = self.compute(desc), self.axes(desc)

        fused = desc.FusedActivation if "FusedActivation" in desc.struct.index else None
        relu = fused is not None and fused.name == "ACTIVATION_RELU"
        name = "ACTIVATION_IDENTITY" if fused is None else fused.name
        is_leaky = self.is_leaky and name == "ACTIVATION_LEAKY_RELU"
        is_fusible = relu or is_leaky or name == "ACTIVATION_IDENTITY"

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            run = (
                self.native(desc, inputs, outputs, relu=relu)
                if is_fusible
                else Declined("softmax_norm", f"{name} is applied before the result is rounded")
            )
            if run:
                return run
            # Without axes, the function is element-wise.
            return (
                map_rows(compute, inputs, outputs, axes) if axes else map_elements(compute, inputs, outputs)
            )

        return Kernel(bind)

    def native(self, desc: OperatorDesc, inputs: Inputs, outputs: Outputs, *, relu: bool) -> Run | Declined:
        """A native kernel for the operator without its fused activation, or with RELU."""
        return Declined("softmax_norm", f"{desc.name} has no native kernel")


def doubles(x: Array) -> Array:
    """A copy in FLOAT64."""
    return x.astype(np.float64)


def mean(x: Array, axes: Sequence[int]) -> Array:
    return np.asarray(x.mean(tuple(axes), keepdims=True))


def kept(statistic: Array, tensor: TensorDesc) -> Array:
    """A mean, variance or norm as it is stored: rounded to FLOAT16, where it may overflow, for a FLOAT16 tensor, as in
    Microsoft's library."""
    return as_halves(statistic) if tensor.dtype == np.float16 else statistic


def inspect_statistic(desc: OperatorDesc, statistic: Array, report: Report) -> None:
    """Report statistics that overflow only in FLOAT16: every quotient by them is 0."""
    is_lost = np.isfinite(statistic) & np.isinf(kept(statistic, desc.InputTensor))
    one, several = (f"{words} of elements too large to be squared" for words in ("group", "groups"))
    report_elements(report, RANGES[desc.name], "InputTensor", is_lost, one, several)


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
