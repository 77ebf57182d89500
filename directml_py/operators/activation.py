"""Activation functions. Each output has the sizes of its input, by the catalog's tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..descs.operator_desc import OperatorDesc
from ..kernels import softmax_norm
from ..kernels.elementwise import activations, functions
from ..kernels.half import as_halves
from ..kernels.native_arrays import Array, Run
from ..kernels.post_ops import IDENTITY, RELU, Activation
from ..kernels.rowwise import map_rows
from ..validation.report import Report
from .numeric_warnings import begins_with_nan, report_elements
from .operator import Compute, ElementWise, Inputs, Kernel, Move, Operator, Outputs, operator, operator_rule

# Each function takes the input tensors and then the desc's FLOATs, in desc order.
FUNCTIONS: dict[str, Callable[..., Array]] = {
    "ACTIVATION_CELU": activations.celu,
    "ACTIVATION_ELU": activations.elu,
    "ACTIVATION_GELU": activations.gelu,
    "ACTIVATION_HARD_SIGMOID": activations.hard_sigmoid,
    "ACTIVATION_HARD_SWISH": activations.hard_swish,
    "ACTIVATION_LEAKY_RELU": activations.leaky_relu,
    "ACTIVATION_LINEAR": activations.linear,
    "ACTIVATION_PARAMETERIZED_RELU": activations.parameterized_relu,
    "ACTIVATION_PARAMETRIC_SOFTPLUS": activations.parametric_softplus,
    "ACTIVATION_RELU": activations.relu,
    "ACTIVATION_RELU_GRAD": activations.relu_gradient,
    "ACTIVATION_SCALED_ELU": activations.scaled_elu,
    "ACTIVATION_SCALED_TANH": activations.scaled_tanh,
    "ACTIVATION_SHRINK": activations.shrink,
    "ACTIVATION_SIGMOID": activations.sigmoid,
    "ACTIVATION_SOFTPLUS": activations.softplus,
    "ACTIVATION_SOFTSIGN": activations.softsign,
    "ACTIVATION_SWISH": activations.swish,
    "ACTIVATION_TANH": activations.tanh,
    "ACTIVATION_THRESHOLDED_RELU": activations.thresholded_relu,
}
# Each function takes the input and the axes that it normalizes over.
ALONG_AXES: dict[str, Callable[..., Array]] = {
    "ACTIVATION_HARDMAX": activations.hardmax,
    "ACTIVATION_LOG_SOFTMAX": activations.log_softmax,
    "ACTIVATION_SOFTMAX": activations.softmax,
    "ACTIVATION_HARDMAX1": activations.hardmax,
    "ACTIVATION_LOG_SOFTMAX1": activations.log_softmax,
    "ACTIVATION_SOFTMAX1": activations.softmax,
}
# The functions with a native kernel, and whether that is the log-softmax.
SOFTMAX = {"ACTIVATION_SOFTMAX": False, "ACTIVATION_LOG_SOFTMAX": True}


def name_of(desc: OperatorDesc) -> str:
    """The operator's name without its version number."""
    return desc.name.rstrip("1")


@operator(*FUNCTIONS)
class OfEachElement(ElementWise):
    """Element-wise activations; each has a page of its own."""

    def compute(self, desc: OperatorDesc) -> Compute:
        function = FUNCTIONS[desc.name]
        attributes = [getattr(desc, entry.name) for entry in desc.struct.fields if entry.type == "FLOAT"]
        return lambda *arrays: function(*arrays, *attributes)

    def as_post_op(self, desc: OperatorDesc) -> Activation | None:
        if desc.name == "ACTIVATION_LEAKY_RELU":
            return Activation("LEAKY_RELU", slope=desc.Alpha)
        return RELU if desc.name == "ACTIVATION_RELU" else None


NAN = {
    name: operator_rule(name, "nan", f"No row of {name} {says} NaN", debug=True, library=True)
    for older, says in (("LOG_SOFTMAX", "mixes numbers and"), ("HARDMAX", "begins with"))
    for name in (f"ACTIVATION_{older}", f"ACTIVATION_{older}1")
}
RANGES = {
    name: operator_rule(
        name, "half-range", f"No FLOAT16 sum of {name} is out of range", debug=True, library=True
    )
    for name in ALONG_AXES
    if name.rstrip("1") in SOFTMAX
}


@operator(*ALONG_AXES)
class AlongAxes(Operator):
    """SOFTMAX, LOG_SOFTMAX and HARDMAX, along Axes or along the last one
    (ns-directml-dml_activation_softmax1_operator_desc).

    Without Axes the input is a batch of rows, { 1, 1, BatchCount, Width }: the same as Axes { DimensionCount - 1 }.
    The rank comes from the array, since a fused activation's desc has no tensors. For FLOAT16 the sum of the
    exponentials is stored in FLOAT16, as in Microsoft's library.
    """

    def compute(self, desc: OperatorDesc) -> Compute:
        function, axes = ALONG_AXES[desc.name], self.axes(desc)
        if desc.InputTensor is not None and desc.InputTensor.dtype == np.float16 and name_of(desc) in SOFTMAX:
            return lambda x: function(x, axes, halves=True)
        return lambda x: function(x, axes)

    def axes(self, desc: OperatorDesc) -> tuple[int, ...]:
        """The axes without duplicates."""
        return tuple(dict.fromkeys(desc.Axes)) if "Axes" in desc.struct.index else (-1,)

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        """LOG_SOFTMAX gives positive logarithms for numbers in a row with NaN, and a FLOAT16 sum may overflow."""
        x, name = inputs[0], name_of(desc)
        axes = tuple(axis % x.ndim for axis in self.axes(desc))
        if name == "ACTIVATION_HARDMAX":
            one, several = "row that begins with NaN", "rows that begin with NaN"
            report_elements(report, NAN[desc.name], "InputTensor", begins_with_nan(x, axes), one, several)
        if name == "ACTIVATION_LOG_SOFTMAX":
            is_nan = np.isnan(x)
            is_lost = is_nan.any(axes, keepdims=True) & ~is_nan.all(axes, keepdims=True)
            one, several = (f"{words} of NaN and numbers" for words in ("row", "rows"))
            report_elements(report, NAN[desc.name], "InputTensor", is_lost, one, several)
        if name in SOFTMAX and x.dtype == np.float16:
            with np.errstate(all="ignore"):
                wide = x.astype(np.float64)
                total = np.exp(wide - wide.max(axes, keepdims=True)).sum(axes, keepdims=True)
                is_lost = np.isfinite(total) & np.isinf(as_halves(total))
            one, several = (f"{words} whose sum of exponentials is infinite" for words in ("row", "rows"))
            report_elements(report, RANGES[desc.name], "InputTensor", is_lost, one, several)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        compute, name = self.compute(desc), name_of(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            (x,), (output,) = inputs, outputs
            axes = [axis % x.ndim for axis in self.axes(desc)]
            run = softmax_norm.softmax(x, output, axes, SOFTMAX[name]) if name in SOFTMAX else None
            return run or map_rows(compute, inputs, outputs, axes)

        return Kernel(bind)


@operator("ACTIVATION_IDENTITY")
class ActivationIdentity(Operator):
    """A copy (ns-directml-dml_activation_identity_operator_desc)."""

    def moves(self, desc: OperatorDesc) -> Sequence[Move]:
        return [Move(0, (), 0, ())]

    def compute(self, desc: OperatorDesc) -> Compute:
        """Used by operators that fuse it."""
        return functions.identity

    def as_post_op(self, desc: OperatorDesc) -> Activation:
        return IDENTITY
