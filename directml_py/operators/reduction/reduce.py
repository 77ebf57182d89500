"""REDUCE, ARGMIN and ARGMAX."""

from __future__ import annotations

import numpy as np

from ...api.enums import (
    DML_AXIS_DIRECTION_DECREASING,
    DML_REDUCE_FUNCTION_ARGMAX,
    DML_REDUCE_FUNCTION_ARGMIN,
    DML_REDUCE_FUNCTION_L2,
    DML_REDUCE_FUNCTION_LOG_SUM_EXP,
)
from ...descs.operator_desc import OperatorDesc
from ...kernels.native_arrays import Array, Run
from ...kernels.reduce import fold, in_range
from ...validation.report import Report
from ..numeric_warnings import begins_with_nan, report_elements
from ..operator import Inputs, Kernel, Operator, Outputs, Shapes, operator, operator_rule

PREFIX = "DML_REDUCE_FUNCTION_"
_RANGE = operator_rule(
    "REDUCE",
    "sum-range",
    "The sums under the root of L2 and the logarithm of LOG_SUM_EXP are in the range of FLOAT32",
    debug=True,
    library=True,
)

_NAN = {
    name: operator_rule(
        name,
        "nan",
        f"No group of elements that {name} returns an index into begins with NaN",
        debug=True,
        library=True,
    )
    for name in ("ARGMAX", "ARGMIN", "REDUCE")
}


class _Reduction(Operator):
    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes = desc.InputTensor.sizes
        return {"OutputTensor": tuple(1 if axis in desc.Axes else size for axis, size in enumerate(sizes))}


def reduction_kernel(function: str, desc: OperatorDesc, decreasing: bool = False, scratch: int = 0) -> Kernel:
    """``function`` is the suffix of a DML_REDUCE_FUNCTION; ``decreasing`` selects the last of equal elements."""
    axes = tuple(sorted(set(desc.Axes)))

    def bind(inputs: Inputs, outputs: Outputs, memory: Array) -> Run:
        scratch_memory = memory if scratch else None
        return fold(function, inputs[0], outputs[0], axes, decreasing=decreasing, scratch=scratch_memory)

    return Kernel(bind, scratch)


@operator("REDUCE")
class Reduce(_Reduction):
    """Reduction with one of twelve functions over any axes (ns-directml-dml_reduce_operator_desc).

    The page reduces "one or more dimensions", but programs also pass no axes: each element is then reduced by itself.
    Nor does the page mention duplicate axes, which would count more elements than there are: they count once.
    """

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """LOG_SUM_EXP needs scratch for the exponentials in FLOAT64."""
        scratch = (
            8 * desc.InputTensor.element_count if desc.Function == DML_REDUCE_FUNCTION_LOG_SUM_EXP else 0
        )
        return reduction_kernel(desc.Function.name.removeprefix(PREFIX), desc, scratch=scratch)

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        """Reports sums that overflow though their root or logarithm would not, and indices of NaN."""
        if desc.Function in (DML_REDUCE_FUNCTION_ARGMIN, DML_REDUCE_FUNCTION_ARGMAX):
            inspect_order(desc, inputs[0], report)
            return
        axes, x = tuple(set(desc.Axes)), inputs[0].astype(np.float64)
        with np.errstate(all="ignore"):
            if desc.Function == DML_REDUCE_FUNCTION_L2:
                total = np.square(x).sum(axes, keepdims=True)
                is_lost = np.isfinite(total) & (in_range(total) != total)
            elif desc.Function == DML_REDUCE_FUNCTION_LOG_SUM_EXP:
                largest = x.max(axes, keepdims=True)
                value = largest + np.log(np.exp(x - largest).sum(axes, keepdims=True))
                is_lost = np.isfinite(value) & ~np.isfinite(np.log(in_range(np.exp(value))))
            else:
                return
        one, several = (f"{words} whose sum is out of the range of FLOAT32" for words in ("group", "groups"))
        report_elements(report, _RANGE, "InputTensor", is_lost, one, several)


def inspect_order(desc: OperatorDesc, x: Array, report: Report) -> None:
    if x.dtype.kind == "f":
        one, several = "group that begins with NaN", "groups that begin with NaN"
        report_elements(report, _NAN[desc.name], "InputTensor", begins_with_nan(x, desc.Axes), one, several)


@operator("ARGMIN")
class ArgMin(_Reduction):
    """The index of the smallest element within the reduced axes (ns-directml-dml_argmin_operator_desc)."""

    function = "ARGMIN"

    def kernel(self, desc: OperatorDesc) -> Kernel:
        return reduction_kernel(self.function, desc, desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING)

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        inspect_order(desc, inputs[0], report)


@operator("ARGMAX")
class ArgMax(ArgMin):
    """The index of the largest element within the reduced axes (ns-directml-dml_argmax_operator_desc)."""

    function = "ARGMAX"
