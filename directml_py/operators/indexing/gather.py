"""GATHER."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...descs.format import braces
from ...descs.values import OperatorDesc
from ...kernels.binding import Array, Run
from ...kernels.pick import pick, safe_indices
from ...validation.report import Report
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, Sizes, operator, own_rule
from .places import check_range, range_rule

LEADING_ONES = own_rule(
    "GATHER", "indices-leading-ones", "The sizes of IndicesTensor before the last IndexDimensions are 1"
)
RANK = own_rule(
    "GATHER",
    "output-rank",
    "The output's dimensions, without leading ones, fit in OutputTensor.DimensionCount",
)
INDEX_RANGE = range_rule("GATHER", "the axis")


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


def cropped_dimensions(desc: OperatorDesc) -> int:
    """How many leading dimensions of the input the output has no room for, so that only their coordinate 0 is read.

    The page crops leading ones alone. DirectMLX's Gather crops whatever stands first: of the page's example 3 it makes
    {1,2}, the first row. Real programs pass both, and each element is the same in both: so either will do.
    """
    x, output = desc.InputTensor, desc.OutputTensor
    if output is None:
        return 0
    whole = (*x.sizes[: desc.Axis], *index_sizes(desc), *x.sizes[desc.Axis + 1 :])
    excess = len(whole) - output.dimension_count
    is_cropped = 0 < excess <= desc.Axis and output.sizes == whole[excess:]
    return excess if is_cropped else 0


def index_sizes(desc: OperatorDesc) -> Sizes:
    """The sizes of the last IndexDimensions dimensions of the indices."""
    sizes: Sizes = desc.IndicesTensor.sizes
    return sizes[len(sizes) - desc.IndexDimensions :]


@operator("GATHER")
class Gather(Operator):
    """Elements picked along one axis by an index tensor (ns-directml-dml_gather_operator_desc).

    IndexDimensions may equal the indices' DimensionCount: the page's text excludes it, its examples 1 and 3 do it.
    """

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        x, indices = desc.InputTensor, desc.IndicesTensor
        for dimension, size in enumerate(indices.sizes[: indices.dimension_count - desc.IndexDimensions]):
            if size != 1:
                report.add(
                    LEADING_ONES,
                    f"IndicesTensor.Sizes[{dimension}]",
                    f"is {size}; with IndexDimensions {desc.IndexDimensions} it is not an index dimension "
                    "and must be 1",
                )
        rank = x.dimension_count if desc.OutputTensor is None else desc.OutputTensor.dimension_count
        if gathered_sizes(x.sizes, index_sizes(desc), desc.Axis, rank) is None:
            report.add(
                RANK,
                "OutputTensor.DimensionCount",
                f"is {rank}; InputTensor {braces(x.sizes)} without Axis {desc.Axis} and the indices "
                f"{braces(index_sizes(desc))} need more dimensions than that",
            )

    def shapes(self, desc: OperatorDesc) -> Shapes:
        x = desc.InputTensor
        if cropped_dimensions(desc):
            return {"OutputTensor": desc.OutputTensor.sizes}
        sizes = gathered_sizes(x.sizes, index_sizes(desc), desc.Axis, x.dimension_count)
        assert sizes is not None
        return {"OutputTensor": sizes}

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        check_range(INDEX_RANGE, inputs[1], desc.InputTensor.sizes[desc.Axis], report)

    def compute(self, desc: OperatorDesc) -> Compute:
        first = (0,) * cropped_dimensions(desc)
        axis, sizes = desc.Axis - len(first), index_sizes(desc)

        def gather(x: Array, indices: Array) -> Array:
            x = x[first]
            picked = np.take(x, safe_indices(indices.reshape(sizes), x.shape[axis] - 1), axis)
            return np.reshape(picked, desc.OutputTensor.sizes)

        return gather

    def kernel(self, desc: OperatorDesc) -> Kernel:
        first = (0,) * cropped_dimensions(desc)
        axis, sizes = desc.Axis - len(first), index_sizes(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            x, indices = inputs
            # The dimensions that are dropped have size 1, so that this is a view.
            return pick(x[first], indices.reshape(sizes), outputs[0], axis)

        return Kernel(bind)
