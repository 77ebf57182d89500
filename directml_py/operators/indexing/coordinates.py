"""Operators that read or write at positions which another tensor holds, or find positions."""

from __future__ import annotations

from math import prod

from ...descs.sizes import unsigned_number
from ...descs.values import OperatorDesc
from ...validation.report import Report
from ..axes import resized
from ..operator import Operator, Shapes, Sizes, operator, own_rule

LEADING_ONES = {
    name: own_rule(
        name,
        "leading-ones",
        "InputTensor's sizes before the last InputDimensionCount are 1, and IndicesTensor's before the last "
        "IndicesDimensionCount",
    )
    for name in ("GATHER_ND", "GATHER_ND1", "SCATTER_ND")
}
BATCH_SIZES = own_rule(
    "GATHER_ND1", "batch-sizes", "InputTensor and IndicesTensor have the same batch dimensions"
)


def with_leading_ones(sizes: Sizes, rank: int) -> Sizes:
    """``sizes`` right-aligned among ``rank`` dimensions."""
    return (1,) * (rank - len(sizes)) + sizes


@operator("GATHER_ELEMENTS")
class GatherElements(Operator):
    """One element per index, from its own place off the axis (ns-directml-dml_gather_elements_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"IndicesTensor": indices_along(desc)}


@operator("SCATTER")
class Scatter(Operator):
    """A copy in which one element per index is replaced: GATHER_ELEMENTS backwards
    (ns-directml-dml_scatter_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"IndicesTensor": indices_along(desc)}


def indices_along(desc: OperatorDesc) -> Sizes:
    """The sizes of IndicesTensor: any along Axis, those of InputTensor elsewhere."""
    return resized(desc.InputTensor.sizes, desc.Axis, desc.IndicesTensor.sizes[desc.Axis])


def meaningful(desc: OperatorDesc) -> tuple[Sizes, Sizes]:
    """The last InputDimensionCount sizes of InputTensor and the last IndicesDimensionCount sizes of IndicesTensor."""
    x, indices = desc.InputTensor.sizes, desc.IndicesTensor.sizes
    return x[len(x) - desc.InputDimensionCount :], indices[len(indices) - desc.IndicesDimensionCount :]


def picked_sizes(desc: OperatorDesc, batches: int = 0) -> Sizes:
    """The sizes of what tuples of indices pick: those of the indices but their last, which counts the coordinates of a
    tuple, then those of the input that no coordinate names.

    The pages' formula takes as many of the input's last dimensions as a tuple has coordinates. The example beside it
    ({3,4,5,6,7} and {1,2,3} give {1,2,6,7}) and those with values leave out that many of the first, and decide. The
    first ``batches`` dimensions are common to all.
    """
    x, indices = meaningful(desc)
    return with_leading_ones(indices[:-1] + x[batches + indices[-1] :], desc.InputTensor.dimension_count)


class TuplesOfIndices(Operator):
    """What GATHER_ND and its relations have in common."""

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        for field, count in (
            ("InputTensor", desc.InputDimensionCount),
            ("IndicesTensor", desc.IndicesDimensionCount),
        ):
            sizes = getattr(desc, field).sizes
            for dimension, size in enumerate(sizes[: len(sizes) - count]):
                if size != 1:
                    report.add(
                        LEADING_ONES[desc.name],
                        f"{field}.Sizes[{dimension}]",
                        f"is {size}; it is not among the last {count} dimensions and must be 1",
                    )


@operator("GATHER_ND")
class GatherND(TuplesOfIndices):
    """Parts of a tensor, picked by tuples of indices (ns-directml-dml_gather_nd_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"OutputTensor": picked_sizes(desc)}


@operator("GATHER_ND1")
class GatherND1(TuplesOfIndices):
    """GATHER_ND, batch by batch (ns-directml-dml_gather_nd1_operator_desc)."""

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        super().attributes(desc, report)
        x, indices = meaningful(desc)
        for batch in range(desc.BatchDimensionCount):
            if indices[batch] != x[batch]:
                dimension = desc.IndicesTensor.dimension_count - len(indices) + batch
                report.add(
                    BATCH_SIZES,
                    f"IndicesTensor.Sizes[{dimension}]",
                    f"is {indices[batch]}; batch dimension {batch} of InputTensor has {x[batch]}",
                )

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"OutputTensor": picked_sizes(desc, desc.BatchDimensionCount)}


@operator("SCATTER_ND")
class ScatterND(TuplesOfIndices):
    """A copy in which parts are replaced: GATHER_ND backwards (ns-directml-dml_scatter_nd_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"UpdatesTensor": picked_sizes(desc)}


@operator("ONE_HOT")
class OneHot(Operator):
    """One value at an index and another everywhere else, along an axis (ns-directml-dml_one_hot_operator_desc)."""

    def shapes(self, desc: OperatorDesc, *, output_length: int | None = None) -> Shapes:
        """``output_length``: the output's size along Axis."""
        axis = desc.Axis
        if output_length is None:
            length = desc.OutputTensor.sizes[axis]
        else:
            length = unsigned_number(output_length, "output_length")
        return {"OutputTensor": resized(desc.IndicesTensor.sizes, axis, length)}


@operator("NONZERO_COORDINATES")
class NonzeroCoordinates(Operator):
    """Where a tensor is not zero, and how often (ns-directml-dml_nonzero_coordinates_operator_desc).

    Coordinates may leave out leading dimensions of size 1. The outputs have a rank of their own, as in DirectMLX's
    NonZeroCoordinates; the page's {1,1,M,N} is what the ranks of feature level 3_0 leave.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes, count, coordinates = (
            desc.InputTensor.sizes,
            desc.OutputCountTensor,
            desc.OutputCoordinatesTensor,
        )
        rank = len(sizes)
        own = rank if coordinates is None else coordinates.sizes[-1]
        leading_ones = next((index for index, size in enumerate(sizes) if size > 1), rank)
        width = min(max(own, rank - leading_ones), rank)
        return {
            "OutputCountTensor": with_leading_ones((1,), 1 if count is None else count.dimension_count),
            "OutputCoordinatesTensor": with_leading_ones(
                (prod(sizes), width), 2 if coordinates is None else coordinates.dimension_count
            ),
        }
