"""Recipes for valid descs: training."""

from __future__ import annotations

from ...api.enums import DML_REDUCE_FUNCTION_MAX
from ..desc_generator import DescGenerator, Fields
from ..recipes import plain, recipe
from ..window_samples import sliding
from .sampling import scaled
from .window import aligned_regions


@recipe("AVERAGE_POOLING_GRAD", "MAX_POOLING_GRAD")
def pooling_grad(make: DescGenerator) -> Fields:
    sliding_window = sliding(make, "InputGradientTensor")
    sizes = [*sliding_window.leading, *sliding_window.sizes]
    tensors = {
        "InputGradientTensor": [*sliding_window.leading, *sliding_window.output_sizes],
        "OutputGradientTensor": sizes,
    }
    return {**tensors, "InputTensor": sizes, **sliding_window.attributes(make)}


@recipe("RESAMPLE_GRAD", "RESAMPLE_GRAD1")
def resample_grad(make: DescGenerator) -> Fields:
    return scaled(make, "OutputGradientTensor", "InputGradientTensor")


@recipe("ADAM_OPTIMIZER")
def adam_optimizer(make: DescGenerator) -> Fields:
    rank = 4 if make.level < 0x4000 else make.source.integer(1, 8)
    return {**plain(make), "TrainingStepTensor": [1] * rank, "Beta1": 0.875, "Beta2": 0.96875}


@recipe("LOCAL_RESPONSE_NORMALIZATION_GRAD")
def local_response_normalization_grad(make: DescGenerator) -> Fields:
    return {**plain(make), "LocalSize": make.source.integer(1, 7)}


@recipe("BATCH_NORMALIZATION_GRAD", "BATCH_NORMALIZATION_TRAINING", "BATCH_NORMALIZATION_TRAINING_GRAD")
def batch_normalization(make: DescGenerator) -> Fields:
    fields = plain(make)
    # One number per channel, or any other broadcast.
    sizes, by_channel = fields["InputTensor"], make.source.chance(50)
    each = [
        size if (axis == 1 if by_channel else make.source.chance(50)) else 1
        for axis, size in enumerate(sizes)
    ]
    return {**fields, "ScaleTensor": each, "present": make.some("FusedAddTensor")}


@recipe("ROI_ALIGN_GRAD")
def roi_align_grad(make: DescGenerator) -> Fields:
    function = make.enumerator("ReductionFunction")
    image, aligned, fields = aligned_regions(make)
    optional = ("InputTensor", "OutputGradientTensor", "OutputROIGradientTensor")
    present = {*make.some(*optional), make.source.choice(optional[1:])}
    if function == DML_REDUCE_FUNCTION_MAX or "OutputROIGradientTensor" in present:
        present.add("InputTensor")
    sizes = dict(zip(optional, (image, image, fields["ROITensor"])))
    tensors = {name: sizes[name] for name in optional if name in present}
    types = make.data_types(["InputGradientTensor"], {})
    types["InputTensor"] = types["InputGradientTensor"]
    return {
        "InputGradientTensor": aligned,
        **tensors,
        **fields,
        "ReductionFunction": function,
        "types": types,
    }
