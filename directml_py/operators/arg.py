"""ARGMIN and ARGMAX."""

from __future__ import annotations

from typing import ClassVar

from ..api.enums import DML_AXIS_DIRECTION_DECREASING
from ..descs.values import OperatorDesc
from ..validation.report import Report
from .operator import Kernel, Operator, Shapes, operator
from .reduced_axes import AxesRules, check_reduction, infer_reduction, reduction_kernel


class _Arg(Operator):
    """(ns-directml-dml_argmin_operator_desc, ns-directml-dml_argmax_operator_desc)"""

    rules: ClassVar[AxesRules]

    def constrain(self, desc: OperatorDesc, report: Report) -> None:
        check_reduction(desc, self.rules, report)

    def infer(self, desc: OperatorDesc, *, output_data_type: int | None = None) -> Shapes:
        """``output_data_type``: that of indices; UINT32 if left out."""
        return infer_reduction(desc, output_data_type)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        decreasing = desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING
        return reduction_kernel(self.name, desc, decreasing)


@operator("ARGMIN")
class ArgMin(_Arg):
    """The index of the smallest element within the reduced axes."""

    rules = AxesRules("ARGMIN")


@operator("ARGMAX")
class ArgMax(_Arg):
    """The index of the largest element within the reduced axes."""

    rules = AxesRules("ARGMAX")
