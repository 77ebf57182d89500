"""GATHER."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..descs.format import braces
from ..descs.values import OperatorDesc
from ..kernels.binding import Run
from ..kernels.gather import gather
from ..validation.report import Report
from ..validation.rule import Severity, rule
from .axes import check_axis
from .operator import Inputs, Kernel, Operator, Outputs, Shape, Shapes, operator, own_rule

AXIS = own_rule("GATHER", "axis", "Axis is less than InputTensor.DimensionCount")
INDEX_DIMENSIONS = own_rule(
    "GATHER", "index-dimensions", "IndexDimensions is at most IndicesTensor.DimensionCount"
)
LEADING_ONES = own_rule(
    "GATHER", "indices-leading-ones", "The sizes of IndicesTensor before the last IndexDimensions are 1"
)
RANK = own_rule(
    "GATHER",
    "output-rank",
    "The output's dimensions, without leading ones, fit in OutputTensor.DimensionCount",
)
OUTPUT_SIZES = own_rule(
    "GATHER", "output-sizes", "The output's sizes are the input's, with the index sizes in place of Axis"
)

INDEX_RANGE = rule(
    "DML-GATHER-index-range",
    "Every index is within the axis, counted from its end if negative",
    "ns-directml-dml_gather_operator_desc",
    Severity.WARNING,
    debug=True,
)


def gathered_sizes(
    sizes: Sequence[int], index_sizes: Sequence[int], axis: int, rank: int
) -> tuple[int, ...] | None:
    """The output's sizes for ``rank`` dimensions; None if they do not fit.

    ``index_sizes`` are the last IndexDimensions sizes of the indices. The sizes are right-aligned: missing ones
    are put in front, and of what would overflow, leading ones are cropped. The page's text crops those of the
    input alone; its example 3 ({3,2} and {1,2} give {3,2}, not {3,1,2}) crops a leading one of the indices as
    well, so we crop the input's first and then the indices'.
    """
    leading, trailing = list(sizes[:axis]), sizes[axis + 1 :]
    index_sizes = list(index_sizes)
    excess = len(leading) + len(index_sizes) + len(trailing) - rank
    for part in (leading, index_sizes):
        while excess > 0 and part and part[0] == 1:
            del part[0]
            excess -= 1
    if excess > 0:
        return None
    return (1,) * -excess + (*leading, *index_sizes, *trailing)


@operator("GATHER")
class Gather(Operator):
    """Elements picked along one axis by an index tensor (ns-directml-dml_gather_operator_desc).

    IndexDimensions may equal the indices' DimensionCount: the page's text excludes it, its examples 1 and 3 do it.
    """

    def constrain(self, desc: OperatorDesc, report: Report) -> None:
        x, indices, output = desc.InputTensor, desc.IndicesTensor, desc.OutputTensor
        good = check_axis(desc.Axis, x, "InputTensor", AXIS, report)
        ignored = indices.dimension_count - desc.IndexDimensions
        if ignored < 0:
            report.add(
                INDEX_DIMENSIONS,
                "IndexDimensions",
                f"is {desc.IndexDimensions}; IndicesTensor has only {indices.dimension_count} dimensions",
            )
            return
        for dimension, size in enumerate(indices.sizes[:ignored]):
            if size != 1:
                report.add(
                    LEADING_ONES,
                    f"IndicesTensor.Sizes[{dimension}]",
                    f"is {size}; with IndexDimensions {desc.IndexDimensions} it is not an index dimension "
                    "and must be 1",
                )
        if not good:
            return
        expected = gathered_sizes(x.sizes, indices.sizes[ignored:], desc.Axis, output.dimension_count)
        if expected is None:
            report.add(
                RANK,
                "OutputTensor.DimensionCount",
                f"is {output.dimension_count}; InputTensor {braces(x.sizes)} without Axis {desc.Axis} and the "
                f"indices {braces(indices.sizes[ignored:])} need more dimensions than that",
            )
        elif output.sizes != expected:
            report.add(
                OUTPUT_SIZES,
                "OutputTensor.Sizes",
                f"is {braces(output.sizes)}; for InputTensor {braces(x.sizes)}, Axis {desc.Axis} and the indices "
                f"{braces(indices.sizes[ignored:])} it must be {braces(expected)}",
            )

    def infer(self, desc: OperatorDesc) -> Shapes:
        x, indices = desc.InputTensor, desc.IndicesTensor
        ignored = max(0, indices.dimension_count - desc.IndexDimensions)
        sizes = gathered_sizes(x.sizes, indices.sizes[ignored:], desc.Axis, x.dimension_count)
        return {"OutputTensor": Shape(x.data_type, x.sizes if sizes is None else sizes)}

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        size = desc.InputTensor.sizes[desc.Axis]
        indices = inputs[1]
        lowest = -size if indices.dtype.kind == "i" else 0
        wrong = (indices < lowest) | (indices >= size)
        count = int(np.count_nonzero(wrong))
        if count:
            first = np.argwhere(wrong)[0]
            report.add(
                INDEX_RANGE,
                "IndicesTensor",
                f"has {count} indices outside [{lowest}, {size - 1}]; the first is {indices[tuple(first)]} at "
                f"{braces(first)}",
            )

    def kernel(self, desc: OperatorDesc) -> Kernel:
        axis = desc.Axis
        index_sizes = desc.IndicesTensor.sizes[desc.IndicesTensor.dimension_count - desc.IndexDimensions :]

        def bind(inputs: Inputs, outputs: Outputs) -> Run:
            x, indices = inputs
            # The dimensions that are dropped have size 1, so that this is a view.
            return gather(x, indices.reshape(index_sizes), outputs[0], axis)

        return bind
