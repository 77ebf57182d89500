"""VALUE_SCALE_2D: a scale and a per-channel bias."""

from __future__ import annotations

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.elementwise.functions import scale_bias
from ...kernels.elementwise.map import map_elements
from ...kernels.native_arrays import Array, Run
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, operator


@operator("VALUE_SCALE_2D")
class ValueScale2D(Operator):
    """``Scale * x + Bias`` with a per-channel bias (ns-directml-dml_value_scale_2d_operator_desc)."""

    def compute(self, desc: OperatorDesc) -> Compute:
        bias = channels(desc)
        return lambda x: scale_bias(x, desc.Scale, bias)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        # What all channels share is no operand; zeros of either sign are not the same.
        biases = [channels(desc)] if len({bias.hex() for bias in desc.Bias}) > 1 else []

        def scaled(x: Array, bias: float | Array = desc.Bias[0]) -> Array:
            return scale_bias(x, desc.Scale, bias)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return map_elements(scaled, [inputs[0], *biases], outputs)

        return Kernel(bind)


def channels(desc: OperatorDesc) -> Array:
    """Bias reshaped to broadcast over batch, height and width."""
    return np.array(desc.Bias, np.float32).reshape(1, -1, 1, 1)
