"""Normalization with the squares around each element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.native_arrays import Array
from ..operator import Compute, operator
from .axis_normalization import InRows, doubles

CHANNEL, SPATIAL = (1,), (2, 3)


class LocalWindow(NamedTuple):
    """The elements that lie up to so many places before and behind each one, along every one of the axes."""

    axes: Sequence[int]
    before: int
    behind: int

    @classmethod
    def of(cls, desc: OperatorDesc) -> LocalWindow:
        """CrossChannel sums over channels alone, as ONNX Runtime and TensorFlow rely on, who know no other; without it
        a square of one channel is summed.

        So does the page of the gradient say, which describes LocalSize the wrong way round. The older page seems to
        make a cube of it across channels. Where LocalSize is even, the element more lies behind, as in ONNX's LRN.
        """
        return cls(
            CHANNEL if desc.CrossChannel else SPATIAL,
            before=(desc.LocalSize - 1) // 2,
            behind=desc.LocalSize // 2,
        )

    def sums(self, values: Array) -> Array:
        """The sum of each element's region, clipped to the tensor."""
        for axis in self.axes:
            total = np.zeros_like(values)
            source, target = np.moveaxis(values, axis, 0), np.moveaxis(total, axis, 0)
            last = len(source) - 1
            for step in range(-min(self.before, last), min(self.behind, last) + 1):
                first, end = max(0, -step), len(source) - max(0, step)
                target[first:end] += source[first + step : end + step]
            values = total
        return values


class LocalResponse(InRows):
    """Alpha is divided by LocalSize, not by how many elements there are: at borders, too, and in a square, where Caffe
    divides by the square of it. The page's formula has one divisor for both."""

    def axes(self, desc: OperatorDesc) -> Sequence[int]:
        return LocalWindow.of(desc).axes


@operator("LOCAL_RESPONSE_NORMALIZATION")
class LocalResponseNormalization(LocalResponse):
    """``Input / (Bias + Alpha / LocalSize * sum(Input^2))^Beta``
    (ns-directml-dml_local_response_normalization_operator_desc)."""

    def compute(self, desc: OperatorDesc) -> Compute:
        region, factor = LocalWindow.of(desc), desc.Alpha / desc.LocalSize
        bias, beta = desc.Bias, desc.Beta

        def normalized(x: Array) -> Array:
            values = doubles(x)
            values /= np.power(bias + factor * region.sums(np.square(values)), beta)
            return values

        return normalized


@operator("LOCAL_RESPONSE_NORMALIZATION_GRAD")
class LocalResponseNormalizationGrad(LocalResponse):
    """The gradient of that (ns-directml-dml_local_response_normalization_grad_operator_desc), of which the page prints
    no formula.

    An element is in the numerator of its own result, and in the denominators of all in whose regions it lies. In
    Microsoft's library these are those in its own region, which is not the same where LocalSize is even.
    """

    def compute(self, desc: OperatorDesc) -> Compute:
        region, factor = LocalWindow.of(desc), desc.Alpha / desc.LocalSize
        bias, beta = desc.Bias, desc.Beta

        def gradients(x: Array, gradient: Array) -> Array:
            values = doubles(x)
            base = bias + factor * region.sums(np.square(values))
            through_own = gradient * np.power(base, -beta)
            through_others = region.sums(through_own * values / base)
            through_others *= 2 * beta * factor * values
            return np.asarray(through_own - through_others)

        return gradients
