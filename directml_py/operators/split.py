"""SPLIT."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from ..descs.values import OperatorDesc
from ..validation.report import Report
from .axes import check_axis, check_parts
from .operator import Inputs, Kernel, Operator, Outputs, operator, own_rule

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

    def kernel(self, desc: OperatorDesc) -> Kernel:
        ends = list(accumulate(tensor.sizes[desc.Axis] for tensor in desc.OutputTensors))
        before = (slice(None),) * desc.Axis
        places = [(*before, slice(start, end)) for start, end in zip([0, *ends], ends)]

        def split(inputs: Inputs, outputs: Outputs) -> None:
            for place, part in zip(places, outputs):
                np.copyto(part, inputs[0][place])

        return split
