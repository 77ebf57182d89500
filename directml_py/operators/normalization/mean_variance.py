"""Mean-variance normalization: instance and layer normalization, by the choice of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels import softmax_norm
from ...kernels.decisions import Declined
from ...kernels.native_arrays import Array, Run
from ...validation.report import Report
from ..attributes import activated
from ..numeric_warnings import report_elements
from ..operator import Broadcast, Compute, Inputs, Outputs, Shapes, operator, operator_rule
from .axis_normalization import InRows, doubles, inspect_statistic, kept, mean

# MEAN_VARIANCE_NORMALIZATION takes { N, C, H, W } tensors only.
SPATIAL, WITH_CHANNELS = (2, 3), (1, 2, 3)
VERSIONS = ("MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
SINGLE = {
    name: operator_rule(
        name,
        "single-elements",
        f"A single element that {name} normalizes is above -Epsilon",
        debug=True,
        library=True,
    )
    for name in VERSIONS
}


class Choices(NamedTuple):
    """The attributes, common to all versions."""

    axes: Sequence[int]
    uses_mean: bool
    uses_variance: bool

    @classmethod
    def of(cls, desc: OperatorDesc) -> Choices:
        names = desc.struct.index
        # Duplicate axes count once.
        fixed = WITH_CHANNELS if "Axes" not in names and desc.CrossChannel else SPATIAL
        axes = tuple(dict.fromkeys(desc.Axes)) if "Axes" in names else fixed
        if "UseMean" in names:
            return cls(axes, bool(desc.UseMean), bool(desc.UseVariance))
        return cls(axes, True, bool(desc.NormalizeVariance))

    def are_of_single_elements(self, desc: OperatorDesc) -> bool:
        """Whether each element has a mean and a variance of its own."""
        single = all(desc.InputTensor.sizes[axis] == 1 for axis in self.axes)
        return single and self.uses_mean and self.uses_variance


@operator(*VERSIONS)
class MeanVarianceNormalization(InRows):
    """``FusedActivation(Scale * (Input - Mean) / sqrt(Variance + Epsilon) + Bias)``
    (ns-directml-dml_mean_variance_normalization_operator_desc,
    ns-directml-dml_mean_variance_normalization1_operator_desc,
    ns-directml-dml_mean_variance_normalization2_operator_desc).

    The page says nothing of UseMean and UseVariance. If one is FALSE, its part of the formula is omitted, as for
    NormalizeVariance on the pages of the older versions. Without the mean, the variance is taken about 0, the mean of
    squares: ONNX Runtime implements SimplifiedLayerNormalization (RMS normalization) with UseMean FALSE.

    The behaviour of Microsoft's library for the older versions holds for all: mean and variance of FLOAT16 tensors are
    rounded to FLOAT16, where a variance may overflow; and the variance of a single element, which should be 0, is the
    element itself, so that the result is NaN where that is below -Epsilon.
    """

    is_leaky = True

    def axes(self, desc: OperatorDesc) -> Sequence[int]:
        return Choices.of(desc).axes

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes = desc.InputTensor.sizes
        return {"ScaleTensor": Broadcast(sizes), "BiasTensor": Broadcast(sizes), "OutputTensor": sizes}

    def compute(self, desc: OperatorDesc) -> Compute:
        choices = Choices.of(desc)
        axes, uses_mean, uses_variance = choices
        epsilon, activation = desc.Epsilon, activated(desc.FusedActivation)
        of_single = choices.are_of_single_elements(desc)

        def normalized(x: Array, scale: Array | None, bias: Array | None) -> Array:
            values = doubles(x)
            if uses_mean:
                values -= kept(mean(values, axes), desc.InputTensor)
            if uses_variance:
                variance = doubles(x) if of_single else mean(np.square(values), axes)
                values /= np.sqrt(kept(variance, desc.InputTensor) + epsilon)
            if scale is not None:
                values *= scale
            if bias is not None:
                values += bias
            return activation(values)

        return normalized

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        """Reports results that are NaN since a single element is its own variance, and variances beyond FLOAT16."""
        choices, x = Choices.of(desc), doubles(inputs[0])
        if choices.are_of_single_elements(desc):
            is_lost = (x < 0) & (x + desc.Epsilon <= 0)
            one, several = (
                f"{words} normalized alone, at most -Epsilon" for words in ("element", "elements")
            )
            report_elements(report, SINGLE[desc.name], "InputTensor", is_lost, one, several)
        elif choices.uses_variance:
            with np.errstate(all="ignore"):
                centered = x - mean(x, choices.axes) if choices.uses_mean else x
                inspect_statistic(desc, mean(np.square(centered), choices.axes), report)

    def native(self, desc: OperatorDesc, inputs: Inputs, outputs: Outputs, *, relu: bool) -> Run | Declined:
        choices = Choices.of(desc)
        if choices.are_of_single_elements(desc):
            return Declined("softmax_norm", "each mean is of a single element")
        axes, uses_mean, uses_variance = choices
        (x, scale, bias), (output,) = inputs, outputs
        fused = desc.FusedActivation
        return softmax_norm.mean_variance(
            x,
            scale,
            bias,
            output,
            axes,
            desc.Epsilon,
            uses_mean=uses_mean,
            uses_variance=uses_variance,
            relu=relu,
            slope=fused.Alpha if fused is not None and fused.name == "ACTIVATION_LEAKY_RELU" else None,
        )
