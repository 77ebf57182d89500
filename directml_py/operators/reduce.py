"""REDUCE."""

from __future__ import annotations

from ..api.enums import DML_REDUCE_FUNCTION_LOG_SUM_EXP
from ..descs.values import OperatorDesc
from ..validation.report import Report
from .operator import Kernel, Operator, Shapes, operator
from .reduced_axes import AxesRules, check_reduction, infer_reduction, reduction_kernel

RULES = AxesRules("REDUCE")
PREFIX = "DML_REDUCE_FUNCTION_"
LOG_SUM_EXP = DML_REDUCE_FUNCTION_LOG_SUM_EXP


@operator("REDUCE")
class Reduce(Operator):
    """Twelve functions over one or more axes (ns-directml-dml_reduce_operator_desc)."""

    def constrain(self, desc: OperatorDesc, report: Report) -> None:
        check_reduction(desc, RULES, report)

    def infer(self, desc: OperatorDesc, *, output_data_type: int | None = None) -> Shapes:
        """``output_data_type``: that of indices; UINT32 if left out."""
        return infer_reduction(desc, output_data_type)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        return reduction_kernel(desc.Function.name.removeprefix(PREFIX), desc)

    def scratch(self, desc: OperatorDesc) -> int:
        """LOG_SUM_EXP keeps the shifted exponentials, in FLOAT64, until they are added."""
        return 8 * desc.InputTensor.element_count if desc.Function == LOG_SUM_EXP else 0
