"""Scans along an axis: cumulative sums and products."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...api.enums import DML_AXIS_DIRECTION_DECREASING
from ...descs.operator_desc import OperatorDesc
from ...kernels.native_arrays import Array, Run
from ...kernels.scan import kept_type, scan
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, operator


class Cumulative(Operator):
    """A scan with ``function``; the field named ``exclusive`` says whether each result excludes its own element.

    Exclusive scans begin with the identity. Integers wrap; floats are accumulated sequentially, with each result
    rounded to FLOAT32, for FLOAT16 too unless half-precision computation is allowed.
    """

    function: ClassVar[Any]
    exclusive: ClassVar[str]

    def compute(self, desc: OperatorDesc) -> Compute:
        function, exclusive = self.function, getattr(desc, self.exclusive)
        kept = kept_type(desc.InputTensor.dtype)
        decreasing = desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING

        def cumulated(x: Array) -> Array:
            along = np.moveaxis(np.flip(x, desc.Axis) if decreasing else x, desc.Axis, 0)
            if exclusive:
                before = np.empty_like(along)
                before[:1], before[1:] = function.identity, along[:-1]
                along = before
            results = np.moveaxis(function.accumulate(along, axis=0, dtype=kept), 0, desc.Axis)
            return np.flip(results, desc.Axis) if decreasing else results

        return cumulated

    def kernel(self, desc: OperatorDesc) -> Kernel:
        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return scan(
                self.function,
                inputs[0],
                outputs[0],
                desc.Axis,
                exclusive=getattr(desc, self.exclusive),
                decreasing=desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING,
            )

        return Kernel(bind)


@operator("CUMULATIVE_SUMMATION")
class CumulativeSummation(Cumulative):
    """Cumulative sums (ns-directml-dml_cumulative_summation_operator_desc)."""

    function, exclusive = np.add, "HasExclusiveSum"


@operator("CUMULATIVE_PRODUCT")
class CumulativeProduct(Cumulative):
    """Cumulative products (ns-directml-dml_cumulative_product_operator_desc)."""

    function, exclusive = np.multiply, "HasExclusiveProduct"
