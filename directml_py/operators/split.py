"""SPLIT."""

from __future__ import annotations

from collections.abc import Sequence

from ..descs.sizes import unsigned_numbers
from ..descs.values import OperatorDesc
from ..validation.report import Report
from .axes import check_axis, check_parts, places_along, resized
from .operator import Kernel, Move, Operator, Shape, Shapes, moving_kernel, operator, own_rule

OUTPUT_COUNT = own_rule("SPLIT", "output-count", "OutputCount is greater than 0")
AXIS = own_rule("SPLIT", "axis", "Axis is less than InputTensor.DimensionCount")
OFF_AXIS = own_rule("SPLIT", "sizes-off-axis", "Every size off Axis equals the input's")
SUM = own_rule("SPLIT", "sizes-on-axis", "The output sizes along Axis add up to the input's")


@operator("SPLIT")
class Split(Operator):
    """The inverse of JOIN (ns-directml-dml_split_operator_desc)."""

    def constrain(self, desc: OperatorDesc, report: Report) -> None:
        (whole,) = desc.inputs
        if not desc.outputs:
            report.add(OUTPUT_COUNT, "OutputCount", "is 0; there must be at least one output")
            return
        assert whole.tensor is not None
        if check_axis(desc.Axis, whole.tensor, "InputTensor", AXIS, report):
            check_parts(whole, desc.outputs, desc.Axis, OFF_AXIS, SUM, report)

    def infer(self, desc: OperatorDesc, *, sizes: Sequence[int]) -> Shapes:
        """``sizes``: those of the outputs along Axis."""
        x, along = desc.InputTensor, unsigned_numbers(sizes, "sizes")
        parts = tuple(Shape(x.data_type, resized(x.sizes, desc.Axis, size)) for size in along)
        return {"OutputTensors": parts}

    def moves(self, desc: OperatorDesc) -> Sequence[Move]:
        places = places_along(desc.Axis, [tensor.sizes[desc.Axis] for tensor in desc.OutputTensors])
        return [Move(0, place, index, ()) for index, place in enumerate(places)]

    def kernel(self, desc: OperatorDesc) -> Kernel:
        return moving_kernel(self.moves(desc))
