"""JOIN."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from ..descs.values import OperatorDesc
from ..validation.report import Report
from .axes import check_axis, check_parts
from .operator import Inputs, Kernel, Operator, Outputs, operator, own_rule

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

    def kernel(self, desc: OperatorDesc) -> Kernel:
        ends = list(accumulate(tensor.sizes[desc.Axis] for tensor in desc.InputTensors))
        before = (slice(None),) * desc.Axis
        places = [(*before, slice(start, end)) for start, end in zip([0, *ends], ends)]

        def join(inputs: Inputs, outputs: Outputs) -> None:
            for place, part in zip(places, inputs):
                np.copyto(outputs[0][place], part)

        return join
