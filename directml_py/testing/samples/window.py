"""Recipes for valid descs: window."""

from __future__ import annotations

from ...api.enums import DML_CONVOLUTION_DIRECTION_BACKWARD
from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe
from ..window_samples import SlidingWindow, roomy, sliding

POOLS = ("AVERAGE_POOLING", "LP_POOLING", "MAX_POOLING")


def filtered(sliding_window: SlidingWindow, make: DescGenerator, backward: bool = False) -> Fields:
    """A filter and the tensor it slides over: the input, or for a backward convolution the output.

    Leading sizes are batches, groups, and the channels per group in the filter's first and second dimension, which are
    those of the output and the input of a forward convolution.
    """
    batches, groups, first, second = sliding_window.leading
    shape = (first, sliding_window.output_sizes) if backward else (second, sliding_window.sizes)
    return {
        "InputTensor": [batches, groups * shape[0], *shape[1]],
        "FilterTensor": [groups * first, second, *sliding_window.window.size],
        "GroupCount": groups,
        **sliding_window.attributes(make),
    }


@recipe("CONVOLUTION")
def convolution(make: DescGenerator) -> Fields:
    direction = make.enumerator("Direction")
    backward = direction == DML_CONVOLUTION_DIRECTION_BACKWARD
    sliding_window = sliding(make, "InputTensor", leading=4, padded_away=not backward)
    padding = [make.source.integer(0, int(roomy(make))) for _ in sliding_window.sizes]
    fields = {**filtered(sliding_window, make, backward), "Direction": direction, "OutputPadding": padding}
    if make.source.chance(30):
        # Fewer steps than fit, or more elements than the steps need.
        batches, groups, first, second = sliding_window.leading
        sizes = unreached(make, sliding_window) if backward else fewer_outputs(sliding_window)
        channels = groups * (second if backward else first)
        fields["OutputTensor"] = [batches, channels, *map(sum, zip(sizes, padding))]
    return {**fields, "present": make.some("BiasTensor")}


def unreached(make: DescGenerator, sliding_window: SlidingWindow) -> list[int]:
    """Spatial sizes, possibly with extra elements that the window does not reach."""
    return [size + make.source.integer(0, 2 * roomy(make)) for size in sliding_window.sizes]


def fewer_outputs(sliding_window: SlidingWindow) -> list[int]:
    """Output sizes with one step less, where that leaves no more uncovered elements than dilations may."""
    window, output_sizes = sliding_window.window, sliding_window.output_sizes
    terms = zip(
        output_sizes, window.unseen(sliding_window.sizes, output_sizes), window.strides, window.dilations
    )
    return [max(1, count - (unseen + stride < dilation)) for count, unseen, stride, dilation in terms]


@recipe("CONVOLUTION_INTEGER")
def convolution_integer(make: DescGenerator) -> Fields:
    zero_points = ("InputZeroPointTensor", "FilterZeroPointTensor")
    sliding_window = sliding(make, "InputTensor", leading=4)
    fields = filtered(sliding_window, make)
    if make.source.chance(30):
        batches, groups, features, _ = sliding_window.leading
        fields["OutputTensor"] = [batches, groups * features, *fewer_outputs(sliding_window)]
    return {**fields, "present": make.some(*zero_points), "any_rank": zero_points}


@recipe(*POOLS, "AVERAGE_POOLING1", "LP_POOLING1", "MAX_POOLING1", "MAX_POOLING2")
def pool(make: DescGenerator) -> Fields:
    sliding_window = sliding(make, "InputTensor")
    fields = {
        "InputTensor": [*sliding_window.leading, *sliding_window.sizes],
        **sliding_window.attributes(make),
    }
    if make.source.chance(30):
        fields["OutputTensor"] = [*sliding_window.leading, *more_outputs(make, sliding_window)]
    return {
        **fields,
        "P": make.source.choice((1, 1, 2, 2, 3, 4, 5, 40)),
        "present": make.some("OutputIndicesTensor"),
    }


def more_outputs(make: DescGenerator, sliding_window: SlidingWindow) -> list[int]:
    """Output sizes rounded up, or as they would be without dilations."""
    window, output_sizes = sliding_window.window, sliding_window.output_sizes
    undilated = window._replace(dilations=(1,) * len(output_sizes)).forward(sliding_window.sizes)
    chosen = []
    for size, count, unseen, most in zip(
        sliding_window.sizes, output_sizes, window.unseen(sliding_window.sizes, output_sizes), undilated
    ):
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
