"""GATHER_ELEMENTS and SCATTER: one element per index along an axis."""

from __future__ import annotations

from ...descs.operator_desc import OperatorDesc
from ...kernels.gather_scatter_nd import Coordinates
from ...kernels.native_arrays import Array
from ...validation.report import Report
from ..attributes import resized
from ..operator import Inputs, Shapes, Sizes, operator
from .base import IndexedOperator, Reads, Writes, check_range, duplicates_rule, range_rule

INDEX_RANGE = {name: range_rule(name, "the axis") for name in ("GATHER_ELEMENTS", "SCATTER")}
DUPLICATE_INDICES = duplicates_rule("SCATTER")


class AlongAxis(IndexedOperator):
    """IndicesTensor has any size along Axis, and the sizes of InputTensor in all other dimensions."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        axis = desc.Axis
        return {"IndicesTensor": resized(desc.InputTensor.sizes, axis, desc.IndicesTensor.sizes[axis])}

    def dimensions(self, desc: OperatorDesc) -> Sizes:
        sizes: Sizes = desc.InputTensor.sizes
        return sizes

    def coordinates(self, desc: OperatorDesc, indices: Array) -> Coordinates:
        return [indices if dimension == desc.Axis else None for dimension in range(indices.ndim)]

    def coordinate_sizes(self, desc: OperatorDesc) -> Sizes:
        sizes: Sizes = desc.IndicesTensor.sizes
        return sizes

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        check_range(INDEX_RANGE[desc.name], inputs[1], desc.InputTensor.sizes[desc.Axis], report)


@operator("GATHER_ELEMENTS")
class GatherElements(AlongAxis, Reads):
    """NumPy's ``take_along_axis`` (ns-directml-dml_gather_elements_operator_desc)."""


@operator("SCATTER")
class Scatter(AlongAxis, Writes):
    """A copy in which one element per index is replaced: the inverse of GATHER_ELEMENTS
    (ns-directml-dml_scatter_operator_desc)."""

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        super().inspect(desc, inputs, report)
        self.check_duplicates(DUPLICATE_INDICES, desc, inputs[1], report)
