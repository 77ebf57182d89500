"""Gradients, an optimizer, and the statistics of training.

Of LOCAL_RESPONSE_NORMALIZATION_GRAD the catalog's tables say all sizes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..descs.sizes import unsigned_numbers
from ..descs.values import OperatorDesc
from .operator import Broadcast, Operator, Shapes, Sizes, operator
from .window.pooling import pool_window, pooled_sizes


def gradient_of_sizes(output_sizes: Sequence[int] | None) -> Shapes:
    """The sizes of a gradient with respect to something that may have had any."""
    if output_sizes is None:
        return {}
    return {"OutputGradientTensor": tuple(unsigned_numbers(output_sizes, "output_sizes"))}


def pooled_gradient(desc: OperatorDesc, sizes: Sizes) -> Shapes:
    """The incoming gradient is that of what a pool makes of ``sizes``.

    The pages say "typically", but a window has no further steps, and the gradients of fewer are those of another pool.
    """
    return {"InputGradientTensor": pooled_sizes(pool_window(desc), sizes, desc.InputGradientTensor.sizes)}


@operator("AVERAGE_POOLING_GRAD")
class AveragePoolingGrad(Operator):
    """What each element added to means (ns-directml-dml_average_pooling_grad_operator_desc)."""

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the outgoing gradient, which several inputs of the pool have in common."""
        if desc.OutputGradientTensor is None:
            return gradient_of_sizes(output_sizes)
        return pooled_gradient(desc, desc.OutputGradientTensor.sizes)


@operator("MAX_POOLING_GRAD")
class MaxPoolingGrad(Operator):
    """Gradients put where the largest elements were (ns-directml-dml_max_pooling_grad_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return pooled_gradient(desc, desc.InputTensor.sizes)


@operator("RESAMPLE_GRAD", "RESAMPLE_GRAD1")
class ResampleGrad(Operator):
    """What each element added to a resampled image (ns-directml-dml_resample_grad_operator_desc,
    ns-directml-dml_resample_grad1_operator_desc).

    As resampling crops images and repeats edges, any sizes may have become any others.
    """

    has_sizes = False

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the outgoing gradient."""
        return gradient_of_sizes(output_sizes)


@operator("ADAM_OPTIMIZER")
class AdamOptimizer(Operator):
    """One step of Adam (ns-directml-dml_adam_optimizer_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"TrainingStepTensor": (1,) * desc.TrainingStepTensor.dimension_count}


@operator("BATCH_NORMALIZATION_GRAD", "BATCH_NORMALIZATION_TRAINING_GRAD")
class BatchNormalizationGrad(Operator):
    """Gradients with respect to the input, scale and bias (ns-directml-dml_batch_normalization_grad_operator_desc,
    ns-directml-dml_batch_normalization_training_grad_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        """All statistics have the sizes of the mean."""
        return {"MeanTensor": Broadcast(desc.InputTensor.sizes)}


@operator("BATCH_NORMALIZATION_TRAINING")
class BatchNormalizationTraining(Operator):
    """Normalization with the mean and the variance of the input itself
    (ns-directml-dml_batch_normalization_training_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        """All statistics have the sizes of the scale."""
        return {"ScaleTensor": Broadcast(desc.InputTensor.sizes)}


@operator("ROI_ALIGN_GRAD")
class RoiAlignGrad(Operator):
    """Gradients with respect to the image and to the regions (ns-directml-dml_roi_align_grad_operator_desc)."""

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the image's gradient, where there is no image."""
        regions = desc.ROITensor.sizes[-2]
        image = desc.OutputGradientTensor if desc.InputTensor is None else desc.InputTensor
        channels = (desc.InputGradientTensor if image is None else image).sizes[1]
        return {
            "ROITensor": (*(1,) * (desc.ROITensor.dimension_count - 2), regions, 4),
            "BatchIndicesTensor": (*(1,) * (desc.BatchIndicesTensor.dimension_count - 1), regions),
            "InputGradientTensor": (regions, channels, *desc.InputGradientTensor.sizes[2:]),
            **gradient_of_sizes(output_sizes),
        }
