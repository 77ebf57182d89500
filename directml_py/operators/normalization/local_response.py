"""Local response normalization (LRN) and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels import softmax_norm
from ...kernels.decisions import Declined
from ...kernels.native_arrays import Array, Run
from ..operator import Compute, Inputs, Outputs, operator
from .axis_normalization import InRows, doubles

CHANNEL, SPATIAL = (1,), (2, 3)


class LocalWindow(NamedTuple):
    """The neighbourhood of each element: the counts of elements before and after it along every axis."""

    axes: Sequence[int]
    before: int
    behind: int

    @classmethod
    def of(cls, desc: OperatorDesc) -> LocalWindow:
        """With CrossChannel the sum is over channels only, as ONNX Runtime and TensorFlow require, which have no other
        form; without it the sum is over a square within one channel.

        The gradient's page says so too, though it swaps the two in its description of LocalSize. The older page seems
        to describe a cube across channels. Where LocalSize is even, the extra element comes after, as in ONNX's LRN.
        """
        return cls(
            CHANNEL if desc.CrossChannel else SPATIAL,
            before=(desc.LocalSize - 1) // 2,
            behind=desc.LocalSize // 2,
        )

    def sums(self, values: Array) -> Array:
        """The sum over each element's neighbourhood, clipped to the tensor."""
        for axis in self.axes:
            total = np.zeros_like(values)
            source, target = np.moveaxis(values, axis, 0), np.moveaxis(total, axis, 0)
            last = len(source) - 1
            for offset in range(-min(self.before, last), min(self.behind, last) + 1):
                first, end = max(0, -offset), len(source) - max(0, offset)
                target[first:end] += source[first + offset : end + offset]
            values = total
        return values


class LocalResponse(InRows):
    """Alpha is divided by LocalSize, not by the count of elements, even at borders and for a square neighbourhood,
    where Caffe divides by LocalSize squared. The page's formula has one divisor for both."""

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

    def native(self, desc: OperatorDesc, inputs: Inputs, outputs: Outputs, *, relu: bool) -> Run | Declined:
        (x,), (output,), region = inputs, outputs, LocalWindow.of(desc)
        if region.axes != CHANNEL:
            return Declined("softmax_norm", "neighbourhoods are squares within a channel")
        if not desc.Beta:
            return Declined("softmax_norm", "Beta is 0, and the power of 0 by 0 is NaN in native kernels")
        share = desc.Alpha / desc.LocalSize
        options = {"share": share, "bias": desc.Bias, "exponent": desc.Beta}
        return softmax_norm.response(x, output, region.before, region.behind, **options)


@operator("LOCAL_RESPONSE_NORMALIZATION_GRAD")
class LocalResponseNormalizationGrad(LocalResponse):
    """The gradient of LRN (ns-directml-dml_local_response_normalization_grad_operator_desc), for which the page prints
    no formula.

    An element contributes to the numerator of its own result, and to the denominators of all elements whose
    neighbourhoods contain it. Microsoft's library takes those in its own neighbourhood instead, which differs where
    LocalSize is even.
    """

    def compute(self, desc: OperatorDesc) -> Compute:
        region, factor = LocalWindow.of(desc), desc.Alpha / desc.LocalSize
        bias, beta = desc.Bias, desc.Beta

        def gradients(x: Array, gradient: Array) -> Array:
            values = doubles(x)
            base = bias + factor * region.sums(np.square(values))
            through_numerator = gradient * np.power(base, -beta)
            through_others = region.sums(through_numerator * values / base)
            through_others *= 2 * beta * factor * values
            return np.asarray(through_numerator - through_others)

        return gradients
