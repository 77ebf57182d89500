"""Regions of interest, and col2im."""

from __future__ import annotations

import math

import numpy as np

from ..api.enums import DML_INTERPOLATION_MODE_LINEAR, DML_REDUCE_FUNCTION_AVERAGE, DML_REDUCE_FUNCTION_MAX
from ..api.structs import DML_SIZE_2D
from ..graph import Expression
from .errors import Refusal
from .movement import sliced
from .node import OnnxNode
from .translators import Results, operator

FUNCTIONS = {"avg": DML_REDUCE_FUNCTION_AVERAGE, "max": DML_REDUCE_FUNCTION_MAX}


@operator("RoiAlign")
def roi_align(node: OnnxNode) -> Results:
    scale = node.get("spatial_scale", 1.0)
    count = node.get("sampling_ratio", 0)
    height, width = node.get("output_height", 1), node.get("output_width", 1)
    function = node.choice("mode", "avg", FUNCTIONS)
    if function == DML_REDUCE_FUNCTION_MAX and not node.as_provider:
        reason = "is max; ROI_ALIGN1 takes the maximum of interpolated values, ONNX that of weighted elements"
        raise Refusal(reason, "attribute mode")
    mode = node.get(
        "coordinate_transformation_mode", "output_half_pixel" if node.version < 16 else "half_pixel"
    )
    regions = node.shape(1)[0]
    return node.graph.roi_align1(
        node.tensor(0),
        regions_of(node, mode, scale),
        node.cast(node.tensor(2, (1, 1, 1, regions)), np.uint32),
        reduction_function=function,
        interpolation_mode=DML_INTERPOLATION_MODE_LINEAR,
        spatial_scale_x=scale,
        spatial_scale_y=scale,
        input_pixel_offset=0.5 if mode == "half_pixel" else 0.0,
        output_pixel_offset=-0.5,
        out_of_bounds_input_value=0.0,
        minimum_samples_per_output=count or 1,
        maximum_samples_per_output=count or 2**32 - 1,
        align_regions_to_corners=False,
        output_sizes=(regions, node.shape(0)[1], height, width),
    )


def regions_of(node: OnnxNode, mode: str, scale: float) -> Expression:
    """The regions, which without half pixels have at least the size of an element."""
    regions = node.tensor(1, (1, 1, *node.shape(1)))
    if mode == "half_pixel":
        return regions
    starts, ends = (sliced(node, regions, 3, offset, 2) for offset in (0, 2))
    least = node.graph.identity(starts, scale_bias=(1.0, 1 / scale))
    return node.graph.join([starts, node.graph.max(ends, least)], axis=3)


@operator("MaxRoiPool")
def roi_pool(node: OnnxNode) -> Results:
    height, width = node.get("pooled_shape")
    return node.graph.roi_pooling(
        node.tensor(0),
        node.tensor(1, (1, 1, *node.shape(1))),
        spatial_scale=node.get("spatial_scale", 1.0),
        pooled_size=DML_SIZE_2D(width, height),
    )


@operator("Col2Im")
def columns_to_image(node: OnnxNode) -> Results:
    image, block = node.numbers(1, "image_shape"), node.numbers(2, "block_shape")
    assert image is not None
    assert block is not None
    count = len(image)
    pads = node.get("pads", [0] * (2 * count))
    batch, stacked, _ = node.shape()
    return node.graph.fold(
        node.tensor(),
        window_sizes=block,
        strides=node.get("strides", [1] * count),
        dilations=node.get("dilations", [1] * count),
        start_padding=pads[:count],
        end_padding=pads[count:],
        output_sizes=(batch, stacked // math.prod(block), *image),
    )
