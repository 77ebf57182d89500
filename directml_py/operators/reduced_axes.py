"""The rules that REDUCE, ARGMIN and ARGMAX share: which axes, and which output sizes follow."""

from __future__ import annotations

from collections.abc import Sequence

from ..api.enums import DML_TENSOR_DATA_TYPE_UINT32
from ..descs.format import braces
from ..descs.values import OperatorDesc
from ..kernels.binding import Array, Run
from ..kernels.reduce import reduction
from ..validation.report import Report
from .operator import Inputs, Kernel, Outputs, Shape, Shapes, own_rule, required


class AxesRules:
    """One operator's set of these rules.

    The pages reduce "one or more dimensions", so we refuse AxisCount 0. They say nothing of an axis named twice;
    since the number of reduced elements is the product of the sizes of the named axes, a repeated axis would
    count more elements than there are, and we refuse it too.
    """

    def __init__(self, operator: str) -> None:
        self.axis_count = own_rule(operator, "axis-count", "At least one axis is reduced")
        self.axes = own_rule(operator, "axes", "Every axis is less than InputTensor.DimensionCount")
        self.unique = own_rule(operator, "axes-unique", "No axis is named twice")
        self.sizes = own_rule(
            operator, "output-sizes", "The output's sizes are the input's, with 1 for every reduced axis"
        )


def reduced_sizes(sizes: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(1 if axis in axes else size for axis, size in enumerate(sizes))


def infer_reduction(desc: OperatorDesc, output_data_type: int | None) -> Shapes:
    """``output_data_type`` serves where the output need not have the input's data type; left out it is UINT32."""
    if output_data_type is None:
        own = required(desc, "OutputTensor", "DataType")
        output_data_type = DML_TENSOR_DATA_TYPE_UINT32 if own is None else own
    sizes = reduced_sizes(desc.InputTensor.sizes, desc.Axes)
    return {"OutputTensor": Shape(output_data_type, sizes)}


def reduction_kernel(function: str, desc: OperatorDesc, decreasing: bool = False) -> Kernel:
    """``function`` is the last part of a DML_REDUCE_FUNCTION; ``decreasing`` asks for the last of equal elements."""
    axes = tuple(sorted(desc.Axes))

    def bind(inputs: Inputs, outputs: Outputs, scratch: Array | None = None) -> Run:
        return reduction(function, inputs[0], outputs[0], axes, decreasing=decreasing, scratch=scratch)

    return bind


def check_reduction(desc: OperatorDesc, rules: AxesRules, report: Report) -> None:
    x, output, axes = desc.InputTensor, desc.OutputTensor, desc.Axes
    if not axes:
        report.add(rules.axis_count, "AxisCount", "is 0; at least one axis must be reduced")
        return
    in_range = True
    for index, axis in enumerate(axes):
        if axis >= x.dimension_count:
            in_range = False
            report.add(
                rules.axes,
                f"Axes[{index}]",
                f"is {axis}; it must be less than InputTensor.DimensionCount, which is {x.dimension_count}",
            )
        elif axis in axes[:index]:
            report.add(
                rules.unique, f"Axes[{index}]", f"is {axis}, which Axes[{axes.index(axis)}] names already"
            )
    if not in_range or output.dimension_count != x.dimension_count:
        return
    expected = reduced_sizes(x.sizes, axes)
    if output.sizes != expected:
        report.add(
            rules.sizes,
            "OutputTensor.Sizes",
            f"is {braces(output.sizes)}; for InputTensor {braces(x.sizes)} and Axes {braces(axes)} "
            f"it must be {braces(expected)}",
        )
