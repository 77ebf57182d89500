"""Parts of a tensor, each of which a tuple of indices names."""

from __future__ import annotations

from ...descs.values import OperatorDesc
from ...kernels.binding import Array
from ...kernels.places import Coordinates
from ...validation.report import Report
from ..operator import Inputs, Shapes, Sizes, operator, own_rule
from .places import Places, Reads, Writes, check_range, duplicates_rule, range_rule

NAMES = ("GATHER_ND", "GATHER_ND1", "SCATTER_ND")
LEADING_ONES = {
    name: own_rule(
        name,
        "leading-ones",
        "InputTensor's sizes before the last InputDimensionCount are 1, and IndicesTensor's before the last "
        "IndicesDimensionCount",
    )
    for name in NAMES
}
BATCH_SIZES = own_rule(
    "GATHER_ND1", "batch-sizes", "InputTensor and IndicesTensor have the same batch dimensions"
)
INDEX_RANGE = {name: range_rule(name, "its dimension") for name in NAMES}
DUPLICATE_INDICES = duplicates_rule("SCATTER_ND")


def last(sizes: Sizes, count: int) -> Sizes:
    return sizes[len(sizes) - count :]


def with_leading_ones(sizes: Sizes, rank: int) -> Sizes:
    """``sizes`` right-aligned among ``rank`` dimensions."""
    return (1,) * (rank - len(sizes)) + sizes


class TuplesOfIndices(Places):
    """The last dimension of IndicesTensor counts the coordinates of a tuple."""

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

    def batches(self, desc: OperatorDesc) -> int:
        """How many of the first dimensions are common to all tensors."""
        return 0

    def dimensions(self, desc: OperatorDesc) -> Sizes:
        return last(desc.InputTensor.sizes, desc.InputDimensionCount)

    def index_sizes(self, desc: OperatorDesc) -> Sizes:
        return last(desc.IndicesTensor.sizes, desc.IndicesDimensionCount)

    def place_sizes(self, desc: OperatorDesc) -> Sizes:
        return self.index_sizes(desc)[:-1]

    def coordinates(self, desc: OperatorDesc, indices: Array) -> Coordinates:
        tuples = indices.reshape(self.index_sizes(desc))
        own: list[Array | None] = [None] * self.batches(desc)
        return own + [tuples[..., number] for number in range(desc.IndicesTensor.sizes[-1])]

    def named_sizes(self, desc: OperatorDesc) -> Sizes:
        """The sizes of what tuples name: those of the places, then those of the input that no coordinate is for.

        The pages' formula takes as many of the input's last dimensions as a tuple has coordinates. The example beside
        it ({3,4,5,6,7} and {1,2,3} give {1,2,6,7}) and those with values leave out that many of the first, and decide.
        """
        named = self.batches(desc) + desc.IndicesTensor.sizes[-1]
        sizes = self.place_sizes(desc) + self.dimensions(desc)[named:]
        return with_leading_ones(sizes, desc.InputTensor.dimension_count)

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        indices, sizes = inputs[1], self.dimensions(desc)[self.batches(desc) :]
        for number in range(indices.shape[-1]):
            check_range(INDEX_RANGE[desc.name], indices[..., number], sizes[number], report, [number])


@operator("GATHER_ND")
class GatherND(TuplesOfIndices, Reads):
    """Parts of a tensor, picked by tuples of indices (ns-directml-dml_gather_nd_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"OutputTensor": self.named_sizes(desc)}


@operator("GATHER_ND1")
class GatherND1(GatherND):
    """GATHER_ND, batch by batch (ns-directml-dml_gather_nd1_operator_desc)."""

    def batches(self, desc: OperatorDesc) -> int:
        count: int = desc.BatchDimensionCount
        return count

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        super().attributes(desc, report)
        x, indices = self.dimensions(desc), self.index_sizes(desc)
        for batch in range(desc.BatchDimensionCount):
            if indices[batch] != x[batch]:
                dimension = desc.IndicesTensor.dimension_count - len(indices) + batch
                report.add(
                    BATCH_SIZES,
                    f"IndicesTensor.Sizes[{dimension}]",
                    f"is {indices[batch]}; batch dimension {batch} of InputTensor has {x[batch]}",
                )


@operator("SCATTER_ND")
class ScatterND(TuplesOfIndices, Writes):
    """A copy in which parts are replaced: GATHER_ND backwards (ns-directml-dml_scatter_nd_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"UpdatesTensor": self.named_sizes(desc)}

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        super().inspect(desc, inputs, report)
        self.check_duplicates(DUPLICATE_INDICES, desc, inputs[1], report)
