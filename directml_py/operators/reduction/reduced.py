"""REDUCE, ARGMIN and ARGMAX."""

from __future__ import annotations

from ...api.enums import DML_AXIS_DIRECTION_DECREASING, DML_REDUCE_FUNCTION_LOG_SUM_EXP
from ...descs.values import OperatorDesc
from ...kernels.binding import Array, Run
from ...kernels.fold import fold
from ..operator import Inputs, Kernel, Operator, Outputs, Shapes, operator

PREFIX = "DML_REDUCE_FUNCTION_"


class _Reduction(Operator):
    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes = desc.InputTensor.sizes
        return {"OutputTensor": tuple(1 if axis in desc.Axes else size for axis, size in enumerate(sizes))}


def reduction_kernel(function: str, desc: OperatorDesc, decreasing: bool = False, scratch: int = 0) -> Kernel:
    """``function`` is the last part of a DML_REDUCE_FUNCTION; ``decreasing`` asks for the last of equal elements."""
    axes = tuple(sorted(set(desc.Axes)))

    def bind(inputs: Inputs, outputs: Outputs, memory: Array) -> Run:
        own = memory if scratch else None
        return fold(function, inputs[0], outputs[0], axes, decreasing=decreasing, scratch=own)

    return Kernel(bind, scratch)


@operator("REDUCE")
class Reduce(_Reduction):
    """Twelve functions over any number of axes (ns-directml-dml_reduce_operator_desc).

    The page reduces "one or more dimensions", but programs also name none: each element is then reduced alone. The
    page says nothing of an axis named twice; since the number of reduced elements is the product of the sizes of the
    named axes, a repeated axis would count more elements than there are, and is refused.
    """

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """LOG_SUM_EXP keeps the shifted exponentials, in FLOAT64, until they are added."""
        scratch = (
            8 * desc.InputTensor.element_count if desc.Function == DML_REDUCE_FUNCTION_LOG_SUM_EXP else 0
        )
        return reduction_kernel(desc.Function.name.removeprefix(PREFIX), desc, scratch=scratch)


@operator("ARGMIN")
class ArgMin(_Reduction):
    """The index of the smallest element within the reduced axes (ns-directml-dml_argmin_operator_desc)."""

    function = "ARGMIN"

    def kernel(self, desc: OperatorDesc) -> Kernel:
        return reduction_kernel(self.function, desc, desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING)


@operator("ARGMAX")
class ArgMax(ArgMin):
    """The index of the largest element within the reduced axes (ns-directml-dml_argmax_operator_desc)."""

    function = "ARGMAX"
