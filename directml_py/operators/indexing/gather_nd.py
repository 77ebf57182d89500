"""GATHER_ND and SCATTER_ND: slices of a tensor addressed by index tuples."""

from __future__ import annotations

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.gather_scatter_nd import Coordinates
from ...kernels.linear_index import gather_linear
from ...kernels.native_arrays import Array
from ...validation.report import Report
from ..operator import Compute, Inputs, Kernel, Shapes, Sizes, computing_kernel, operator, operator_rule
from .base import IndexedOperator, Reads, Writes, check_range, duplicates_rule, range_rule

NAMES = ("GATHER_ND", "GATHER_ND1", "SCATTER_ND")
LEADING_ONES = {
    name: operator_rule(
        name,
        "leading-ones",
        "InputTensor's sizes before the last InputDimensionCount are 1, and IndicesTensor's before the last "
        "IndicesDimensionCount",
    )
    for name in NAMES
}
# Microsoft's library takes the batch sizes from IndicesTensor, whatever those of InputTensor.
BATCH_SIZES = operator_rule(
    "GATHER_ND1",
    "batch-sizes",
    "InputTensor and IndicesTensor have the same batch dimensions",
    page_only=True,
)
NO_ZERO_STRIDES = operator_rule(
    "SCATTER_ND", "indices-strides", "IndicesTensor is not broadcast by strides of 0", library=True
)
INDEX_RANGE = {name: range_rule(name, "its dimension") for name in NAMES}
DUPLICATE_INDICES = duplicates_rule("SCATTER_ND")


def last(sizes: Sizes, count: int) -> Sizes:
    return sizes[len(sizes) - count :]


def with_leading_ones(sizes: Sizes, rank: int) -> Sizes:
    """``sizes`` right-aligned among ``rank`` dimensions."""
    return (1,) * (rank - len(sizes)) + sizes


class TuplesOfIndices(IndexedOperator):
    """Base of both; the last size of IndicesTensor is the length of an index tuple."""

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
        """The count of leading batch dimensions, common to all tensors."""
        return 0

    def dimensions(self, desc: OperatorDesc) -> Sizes:
        return last(desc.InputTensor.sizes, desc.InputDimensionCount)

    def index_sizes(self, desc: OperatorDesc) -> Sizes:
        return last(desc.IndicesTensor.sizes, desc.IndicesDimensionCount)

    def coordinate_sizes(self, desc: OperatorDesc) -> Sizes:
        return self.index_sizes(desc)[:-1]

    def coordinates(self, desc: OperatorDesc, indices: Array) -> Coordinates:
        tuples = indices.reshape(self.index_sizes(desc))
        batch_coordinates: list[Array | None] = [None] * self.batches(desc)
        return batch_coordinates + [tuples[..., number] for number in range(desc.IndicesTensor.sizes[-1])]

    def named_sizes(self, desc: OperatorDesc) -> Sizes:
        """The sizes of the indexed slices: those of the index tuples, then those of the input's dimensions without one.

        The pages' formula takes as many of the input's last dimensions as a tuple has coordinates. The example beside
        it ({3,4,5,6,7} and {1,2,3} give {1,2,6,7}) and those with values drop that many leading ones, which decides.
        """
        named = self.batches(desc) + desc.IndicesTensor.sizes[-1]
        sizes = self.coordinate_sizes(desc) + self.dimensions(desc)[named:]
        return with_leading_ones(sizes, self.rank(desc))

    def rank(self, desc: OperatorDesc) -> int:
        """The rank of the tensor of slices."""
        count: int = desc.InputTensor.dimension_count
        return count

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        indices, sizes = inputs[1], self.dimensions(desc)[self.batches(desc) :]
        for number in range(indices.shape[-1]):
            check_range(INDEX_RANGE[desc.name], indices[..., number], sizes[number], report, [number])


@operator("GATHER_ND")
class GatherND(TuplesOfIndices, Reads):
    """A gather of slices by index tuples (ns-directml-dml_gather_nd_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"OutputTensor": self.named_sizes(desc)}


@operator("GATHER_ND1")
class GatherND1(GatherND):
    """GATHER_ND with batch dimensions (ns-directml-dml_gather_nd1_operator_desc).

    Batches that InputTensor lacks read its last one.
    """

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

    def lacks_batches(self, desc: OperatorDesc) -> bool:
        counts = self.index_sizes(desc)[: self.batches(desc)]
        return any(count > size for count, size in zip(counts, self.dimensions(desc)))

    def compute(self, desc: OperatorDesc) -> Compute:
        if not self.lacks_batches(desc):
            return super().compute(desc)
        sizes, counts = self.dimensions(desc), self.index_sizes(desc)[: self.batches(desc)]
        batches = np.ix_(*(np.minimum(np.arange(count), size - 1) for count, size in zip(counts, sizes)))

        def read(x: Array, indices: Array) -> Array:
            picked = gather_linear(x.reshape(sizes)[batches], self.coordinates(desc, indices))
            return np.reshape(picked, desc.OutputTensor.sizes)

        return read

    def kernel(self, desc: OperatorDesc) -> Kernel:
        return computing_kernel(self.compute(desc)) if self.lacks_batches(desc) else super().kernel(desc)


@operator("SCATTER_ND")
class ScatterND(TuplesOfIndices, Writes):
    """A copy in which slices are replaced: the inverse of GATHER_ND (ns-directml-dml_scatter_nd_operator_desc)."""

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        super().attributes(desc, report)
        indices = desc.IndicesTensor
        for dimension, (size, stride) in enumerate(zip(indices.sizes, indices.effective_strides)):
            if size > 1 and stride == 0:
                text = (
                    f"is 0, but size {dimension} is {size}; the indices of this operator cannot be broadcast"
                )
                report.add(NO_ZERO_STRIDES, f"IndicesTensor.Strides[{dimension}]", text)

    def rank(self, desc: OperatorDesc) -> int:
        """Updates may have any number of dimensions."""
        tensor = desc.UpdatesTensor or desc.InputTensor
        return int(tensor.dimension_count)

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"UpdatesTensor": self.named_sizes(desc)}

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        super().inspect(desc, inputs, report)
        self.check_duplicates(DUPLICATE_INDICES, desc, inputs[1], report)
