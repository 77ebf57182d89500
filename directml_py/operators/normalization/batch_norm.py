"""Batch normalization for inference and training, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...descs.tensor import TensorDesc
from ...kernels import softmax_norm
from ...kernels.decisions import Declined
from ...kernels.native_arrays import Array, Run
from ...kernels.post_ops import IDENTITY, RELU, Normalization
from ...validation.report import Report
from ..attributes import activated, activation_of
from ..operator import Broadcast, Compute, Inputs, Outputs, Shapes, operator
from .axis_normalization import InRows, doubles, inspect_statistic, kept, mean


@operator("BATCH_NORMALIZATION")
class BatchNormalization(InRows):
    """``FusedActivation(Scale * (Input - Mean) / sqrt(Variance + Epsilon) + Bias)``
    (ns-directml-dml_batch_normalization_operator_desc).

    Spatial concerns sizes only: each of the four tensors is broadcast independently, whatever its value.
    """

    def axes(self, desc: OperatorDesc) -> Sequence[int]:
        return ()

    def shapes(self, desc: OperatorDesc) -> Shapes:
        whole = Broadcast(desc.InputTensor.sizes)
        return dict.fromkeys(("MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor"), whole)

    def compute(self, desc: OperatorDesc) -> Compute:
        epsilon, activation = desc.Epsilon, activated(desc.FusedActivation)

        def normalized(x: Array, mean: Array, variance: Array, scale: Array, bias: Array) -> Array:
            normal = (doubles(x) - mean) / np.sqrt(doubles(variance) + epsilon)
            return activation(normal * scale + bias)

        return normalized

    def as_post_op(self, desc: OperatorDesc) -> Normalization | None:
        """Of FLOAT32, with one number for each channel of several elements, or one for all."""
        _, channels, *spatial = desc.InputTensor.sizes
        alike = {(1, size, *(1,) * len(spatial)) for size in (1, channels)}
        tensors = (desc.MeanTensor, desc.VarianceTensor, desc.ScaleTensor, desc.BiasTensor)
        activation, dtype = activation_of(desc.FusedActivation), desc.OutputTensor.dtype
        is_known = activation in (IDENTITY, RELU) and dtype == np.float32
        if not is_known or prod(spatial) == 1 or any(tensor.sizes not in alike for tensor in tensors):
            return None
        return Normalization(desc.Epsilon, relu=activation == RELU)

    def native(self, desc: OperatorDesc, inputs: Inputs, outputs: Outputs, *, relu: bool) -> Run | Declined:
        (x, mean, variance, scale, bias), (output,) = inputs, outputs
        return softmax_norm.batch_norm(x, mean, variance, scale, bias, output, desc.Epsilon, relu=relu)


def summed_axes(statistics: TensorDesc) -> Sequence[int]:
    """The axes along which ``statistics`` has size 1."""
    return tuple(axis for axis, size in enumerate(statistics.sizes) if size == 1)


@operator("BATCH_NORMALIZATION_TRAINING")
class BatchNormalizationTraining(InRows):
    """``FusedActivation(Scale * (Input - Mean) / sqrt(Variance + Epsilon) + Bias + FusedAdd)``, with the mean and the
    variance of the input over all dimensions in which ScaleTensor has size 1
    (ns-directml-dml_batch_normalization_training_operator_desc).

    The variance output is the population variance used in the division: TensorFlow, which needs the sample variance,
    applies the correction itself.
    """

    def axes(self, desc: OperatorDesc) -> Sequence[int]:
        return summed_axes(desc.ScaleTensor)

    def shapes(self, desc: OperatorDesc) -> Shapes:
        """All statistics have the sizes of the scale."""
        return {"ScaleTensor": Broadcast(desc.InputTensor.sizes)}

    def compute(self, desc: OperatorDesc) -> Compute:
        axes, epsilon, activation = self.axes(desc), desc.Epsilon, activated(desc.FusedActivation)

        def normalized(
            x: Array, scale: Array, bias: Array, fused_add: Array | None
        ) -> tuple[Array, Array, Array]:
            values = doubles(x)
            average = kept(mean(values, axes), desc.InputTensor)
            values -= average
            variance = kept(mean(np.square(values), axes), desc.InputTensor)
            values /= np.sqrt(variance + epsilon)
            values *= scale
            values += bias
            if fused_add is not None:
                values += fused_add
            return activation(values), average, variance

        return normalized

    def native(self, desc: OperatorDesc, inputs: Inputs, outputs: Outputs, *, relu: bool) -> Run | Declined:
        (x, scale, bias, fused_add), (output, *statistics) = inputs, outputs
        if fused_add is not None:
            return Declined("softmax_norm", "FusedAddTensor is added before the result is rounded")
        return softmax_norm.mean_variance(
            x,
            scale,
            bias,
            output,
            self.axes(desc),
            desc.Epsilon,
            uses_mean=True,
            uses_variance=True,
            relu=relu,
            statistics=statistics,
        )

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        with np.errstate(all="ignore"):
            inspect_statistic(desc, doubles(inputs[0]).var(tuple(self.axes(desc)), keepdims=True), report)


class Gradients(InRows):
    """Gradients with respect to input, scale and bias; the latter two are summed over all dimensions in which
    MeanTensor has size 1."""

    # Whether mean and variance depend on the input.
    is_through_statistics = False

    def axes(self, desc: OperatorDesc) -> Sequence[int]:
        return summed_axes(desc.MeanTensor)

    def shapes(self, desc: OperatorDesc) -> Shapes:
        """All statistics have the sizes of the mean."""
        return {"MeanTensor": Broadcast(desc.InputTensor.sizes)}

    def centered(self, gradient: Array, normalized: Array, axes: Sequence[int]) -> Array:
        """The gradient with respect to ``normalized``, minus the contribution through the statistics."""
        raise NotImplementedError

    def compute(self, desc: OperatorDesc) -> Compute:
        axes, epsilon = self.axes(desc), desc.Epsilon

        def gradients(
            x: Array, gradient: Array, average: Array, variance: Array, scale: Array
        ) -> tuple[Array, Array, Array]:
            values, incoming = doubles(x), doubles(gradient)
            deviation = np.sqrt(doubles(variance) + epsilon)
            values -= average
            values /= deviation
            of_input = self.centered(incoming, values, axes) * (scale / deviation)
            values *= incoming
            return of_input, values.sum(axes, keepdims=True), incoming.sum(axes, keepdims=True)

        return gradients

    def native(self, desc: OperatorDesc, inputs: Inputs, outputs: Outputs, *, relu: bool) -> Run | Declined:
        x, gradient, average, variance, scale = inputs
        return softmax_norm.gradient(
            x,
            gradient,
            average,
            variance,
            scale,
            outputs,
            self.axes(desc),
            desc.Epsilon,
            is_through_statistics=self.is_through_statistics,
        )


@operator("BATCH_NORMALIZATION_GRAD")
class BatchNormalizationGrad(Gradients):
    """Gradients of BATCH_NORMALIZATION, whose mean and variance do not depend on the input
    (ns-directml-dml_batch_normalization_grad_operator_desc)."""

    def centered(self, gradient: Array, normalized: Array, axes: Sequence[int]) -> Array:
        return gradient


@operator("BATCH_NORMALIZATION_TRAINING_GRAD")
class BatchNormalizationTrainingGrad(Gradients):
    """Gradients of BATCH_NORMALIZATION_TRAINING, whose mean and variance are those of the input
    (ns-directml-dml_batch_normalization_training_grad_operator_desc).

    All gradients take both from MeanTensor and VarianceTensor, as in Microsoft's library. For the input's gradient the
    page centers InputTensor by its own mean, which is the same if MeanTensor is correct.
    """

    is_through_statistics = True

    def centered(self, gradient: Array, normalized: Array, axes: Sequence[int]) -> Array:
        through = normalized * mean(gradient * normalized, axes)
        return np.asarray(gradient - mean(gradient, axes) - through)
