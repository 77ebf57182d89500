"""Recipes for valid descs: window."""

from __future__ import annotations

from ...api.enums import DML_CONVOLUTION_DIRECTION_BACKWARD
from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe
from ..window_samples import SlidingWindow, roomy, sliding

POOLS = ("AVERAGE_POOLING", "LP_POOLING", "MAX_POOLING")


def filtered(slide: SlidingWindow, make: DescGenerator, backward: bool = False) -> Fields:
    """A filter and the tensor it slides over: the input, or for a backward convolution the output.

    Leading sizes are batches, groups, and the channels per group in the filter's first and second dimension, which are
    those of the output and the input of a forward convolution.
    """
    batches, groups, first, second = slide.leading
    shape = (first, slide.output_sizes) if backward else (second, slide.sizes)
    return {
        "InputTensor": [batches, groups * shape[0], *shape[1]],
        "FilterTensor": [groups * first, second, *slide.window.size],
        "GroupCount": groups,
        **slide.attributes(make),
    }


@recipe("CONVOLUTION")
def convolution(make: DescGenerator) -> Fields:
    direction = make.enumerator("Direction")
    backward = direction == DML_CONVOLUTION_DIRECTION_BACKWARD
    slide = sliding(make, "InputTensor", leading=4, padded_away=not backward)
    padding = [make.source.integer(0, int(roomy(make))) for _ in slide.sizes]
    fields = {**filtered(slide, make, backward), "Direction": direction, "OutputPadding": padding}
    if make.source.chance(30):
        # Fewer steps than fit, or more elements than the steps need.
        batches, groups, first, second = slide.leading
        sizes = unreached(make, slide) if backward else fewer_outputs(slide)
        channels = groups * (second if backward else first)
        fields["OutputTensor"] = [batches, channels, *map(sum, zip(sizes, padding))]
    return {**fields, "present": make.some("BiasTensor")}


def unreached(make: DescGenerator, slide: SlidingWindow) -> list[int]:
    """Spatial sizes, possibly with extra elements that the window does not reach."""
    return [size + make.source.integer(0, 2 * roomy(make)) for size in slide.sizes]


def fewer_outputs(slide: SlidingWindow) -> list[int]:
    """Output sizes with one step less, where that leaves no more uncovered elements than dilations may."""
    window, steps = slide.window, slide.output_sizes
    terms = zip(steps, window.unseen(slide.sizes, steps), window.strides, window.dilations)
    return [max(1, count - (unseen + stride < dilation)) for count, unseen, stride, dilation in terms]


@recipe("CONVOLUTION_INTEGER")
def convolution_integer(make: DescGenerator) -> Fields:
    zero_points = ("InputZeroPointTensor", "FilterZeroPointTensor")
    slide = sliding(make, "InputTensor", leading=4)
    fields = filtered(slide, make)
    if make.source.chance(30):
        batches, groups, features, _ = slide.leading
        fields["OutputTensor"] = [batches, groups * features, *fewer_outputs(slide)]
    return {**fields, "present": make.some(*zero_points), "any_rank": zero_points}


@recipe(*POOLS, "AVERAGE_POOLING1", "LP_POOLING1", "MAX_POOLING1", "MAX_POOLING2")
def pool(make: DescGenerator) -> Fields:
    slide = sliding(make, "InputTensor")
    fields = {"InputTensor": [*slide.leading, *slide.sizes], **slide.attributes(make)}
    if make.source.chance(30):
        fields["OutputTensor"] = [*slide.leading, *more_outputs(make, slide)]
    return {
        **fields,
        "P": make.source.choice((1, 1, 2, 2, 3, 4, 5, 40)),
        "present": make.some("OutputIndicesTensor"),
    }


def more_outputs(make: DescGenerator, slide: SlidingWindow) -> list[int]:
    """Output sizes rounded up, or as they would be without dilations."""
    window, steps = slide.window, slide.output_sizes
    undilated = window._replace(dilations=(1,) * len(steps)).forward(slide.sizes)
    chosen = []
    for size, count, unseen, most in zip(slide.sizes, steps, window.unseen(slide.sizes, steps), undilated):
        bound = size + 2 if roomy(make) else size
        chosen.append(make.source.integer(count, max(count, min(bound, max(most, count + (unseen > 0))))))
    return chosen


@recipe("MAX_UNPOOLING")
def max_unpooling(make: DescGenerator) -> Fields:
    sizes = make.shape(make.rank("InputTensor"), 9)
    unpooled = [*sizes[:2], *(size * make.source.integer(1, 3) for size in sizes[2:])]
    # The output's sizes are independent of the input's.
    return {"InputTensor": sizes, "OutputTensor": make.shape(4) if make.source.chance(20) else unpooled}


@recipe("ROI_POOLING")
def roi_pooling(make: DescGenerator) -> Fields:
    # A region has five numbers.
    *image, regions, width, height = make.shape(7, 5)
    return {"InputTensor": image, "ROITensor": [1, 1, regions, 5], "PooledSize": (width, height)}


@recipe("ROI_ALIGN", "ROI_ALIGN1")
def roi_align(make: DescGenerator) -> Fields:
    image, aligned, fields = aligned_regions(make)
    return {"InputTensor": image, "OutputTensor": aligned, **fields}


def aligned_regions(make: DescGenerator) -> tuple[list[int], list[int], Fields]:
    """The sizes of an image and of its aligned regions, and the attributes of the alignment."""
    # A region has four numbers.
    *image, regions, width, height = make.shape(7, 4)
    choice, least = make.source.choice, make.source.integer(1, 3)
    fields = {
        "ROITensor": make.led("ROITensor", regions, 4),
        "BatchIndicesTensor": make.led("BatchIndicesTensor", regions),
        # A scale of 0 occurs for TensorFlow's images of one element; the largest number of samples is ONNX Runtime's.
        **{f"SpatialScale{axis}": choice((1.0, 0.5, 0.375, 2.0, 0.0)) for axis in "XY"},
        "InputPixelOffset": choice((0.5, 0.0, 0.25)),
        "OutputPixelOffset": choice((-0.5, 0.0, -0.25)),
        "OutOfBoundsInputValue": choice((0.0, 0.5, 3.0)),
        "MinimumSamplesPerOutput": least,
        "MaximumSamplesPerOutput": choice((make.source.integer(least, 4), 0xFFFFFFFF)),
    }
    return image, [regions, image[1], height, width], fields
