"""GATHER."""

from __future__ import annotations

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.gather import gather
from ...kernels.linear_index import is_inside, take
from ...kernels.native_arrays import Array, Run
from ...validation.report import Report
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, Sizes, operator, own_rule
from .base import check_range, range_rule

LEADING_ONES = own_rule(
    "GATHER", "indices-leading-ones", "The sizes of IndicesTensor before the last IndexDimensions are 1"
)
# Microsoft's library does not check this.
CROPPED_ONES = own_rule(
    "GATHER",
    "cropped-ones",
    "The leading sizes of InputTensor that OutputTensor drops are 1",
    page_only=True,
)
INDEX_RANGE = range_rule("GATHER", "the axis")


def cropped_dimensions(desc: OperatorDesc) -> int:
    """The count of leading input dimensions that the output drops, of which only coordinate 0 is read."""
    count: int = desc.IndexDimensions
    return max(0, count - 1)


def index_sizes(desc: OperatorDesc) -> Sizes:
    """The sizes of the last IndexDimensions dimensions of the indices."""
    sizes: Sizes = desc.IndicesTensor.sizes
    return sizes[len(sizes) - desc.IndexDimensions :]


@operator("GATHER")
class Gather(Operator):
    """A gather along one axis, NumPy's ``take`` (ns-directml-dml_gather_operator_desc).

    IndexDimensions may equal the indices' DimensionCount: the page's text excludes it, its examples 1 and 3 do it. The
    output has the input's sizes with those of the indices in place of Axis; to make room for these, as many leading
    dimensions of the input are cropped, as in DirectMLX. (In the page's example 3, {3,2} and {1,2}, nothing can be
    cropped before Axis 0; Microsoft's library overruns its heap.)

    The page leaves indices beyond the axis undefined. In Microsoft's library they run into the next row; reads beyond
    the tensor give 0, as in Direct3D.
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
        for dimension, size in enumerate(x.sizes[: cropped_dimensions(desc)]):
            if size != 1:
                text = f"is {size}; with IndexDimensions {desc.IndexDimensions} it is cropped and must be 1"
                report.add(CROPPED_ONES, f"InputTensor.Sizes[{dimension}]", text)

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes, axis = desc.InputTensor.sizes, desc.Axis
        if desc.IndexDimensions == 0:
            return {"OutputTensor": (1, *sizes[:axis], *sizes[axis + 1 :])}
        return {
            "OutputTensor": (*sizes[cropped_dimensions(desc) : axis], *index_sizes(desc), *sizes[axis + 1 :])
        }

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        check_range(INDEX_RANGE, inputs[1], desc.InputTensor.sizes[desc.Axis], report)

    def compute(self, desc: OperatorDesc) -> Compute:
        first = (0,) * cropped_dimensions(desc)
        axis, sizes = desc.Axis - len(first), index_sizes(desc)

        def gather(x: Array, indices: Array) -> Array:
            x = x[first]
            return np.reshape(take(x, indices.reshape(sizes), axis), desc.OutputTensor.sizes)

        return gather

    def kernel(self, desc: OperatorDesc) -> Kernel:
        first = (0,) * cropped_dimensions(desc)
        axis, sizes = desc.Axis - len(first), index_sizes(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            x, indices, output = inputs[0][first], inputs[1].reshape(sizes), outputs[0]
            # The dropped dimensions have size 1, so that these are views.
            within = gather(x, indices, output, axis)

            def run() -> None:
                if is_inside(indices, x.shape[axis]):
                    within()
                else:
                    np.copyto(output, np.reshape(take(x, indices, axis), output.shape))

            return run

        return Kernel(bind)
