"""JOIN."""

from __future__ import annotations

from collections.abc import Sequence

from ..descs.values import OperatorDesc
from ..validation.report import Report
from .axes import check_axis, check_parts, places_along, resized
from .operator import Kernel, Move, Operator, Shape, Shapes, moving_kernel, operator, own_rule

INPUT_COUNT = own_rule("JOIN", "input-count", "InputCount is greater than 0")
AXIS = own_rule("JOIN", "axis", "Axis is less than OutputTensor.DimensionCount")
OFF_AXIS = own_rule("JOIN", "sizes-off-axis", "Every size off Axis equals the output's")
SUM = own_rule("JOIN", "sizes-on-axis", "The input sizes along Axis add up to the output's")


@operator("JOIN")
class Join(Operator):
    """Concatenation along one axis (ns-directml-dml_join_operator_desc)."""

    def constrain(self, desc: OperatorDesc, report: Report) -> None:
        (output,) = desc.outputs
        if not desc.inputs:
            report.add(INPUT_COUNT, "InputCount", "is 0; at least one tensor must be joined")
            return
        assert output.tensor is not None
        if check_axis(desc.Axis, output.tensor, "OutputTensor", AXIS, report):
            check_parts(output, desc.inputs, desc.Axis, OFF_AXIS, SUM, report)

    def infer(self, desc: OperatorDesc) -> Shapes:
        parts = [tensor.sizes for tensor in desc.InputTensors]
        total = sum(sizes[desc.Axis] for sizes in parts if desc.Axis < len(sizes))
        sizes = resized(parts[0], desc.Axis, total)
        return {"OutputTensor": Shape(desc.InputTensors[0].data_type, sizes)}

    def moves(self, desc: OperatorDesc) -> Sequence[Move]:
        places = places_along(desc.Axis, [tensor.sizes[desc.Axis] for tensor in desc.InputTensors])
        return [Move(index, (), 0, place) for index, place in enumerate(places)]

    def kernel(self, desc: OperatorDesc) -> Kernel:
        return moving_kernel(self.moves(desc))
