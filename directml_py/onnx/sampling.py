"""Resampling of images, regions of interest, and col2im."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..api.enums import (
    DML_AXIS_DIRECTION_DECREASING,
    DML_AXIS_DIRECTION_INCREASING,
    DML_INTERPOLATION_MODE_LINEAR,
    DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR,
    DML_REDUCE_FUNCTION_AVERAGE,
)
from ..api.structs import DML_SIZE_2D
from ..graph import Expression
from .errors import Refusal
from .node import OnnxNode
from .translators import Results, operator
from .values import Sizes

INTERPOLATIONS = {
    "nearest": DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR,
    "linear": DML_INTERPOLATION_MODE_LINEAR,
    "bilinear": DML_INTERPOLATION_MODE_LINEAR,
}
# The offsets added to coordinates of the input, and of the output.
OFFSETS = {
    "asymmetric": (0.0, 0.0),
    "half_pixel": (0.5, -0.5),
    "pytorch_half_pixel": (0.5, -0.5),
    "tf_half_pixel_for_nn": (0.0, -0.5),
    "align_corners": (0.0, 0.0),
    "half_pixel_symmetric": (0.5, -0.5),
}
# The rounding of coordinates between two elements, and the offset added to the input's coordinates for it.
ROUNDING = {
    "round_prefer_floor": (DML_AXIS_DIRECTION_INCREASING, 0.5),
    "round_prefer_ceil": (DML_AXIS_DIRECTION_DECREASING, -0.5),
    "floor": (DML_AXIS_DIRECTION_DECREASING, 0.0),
    "ceil": (DML_AXIS_DIRECTION_INCREASING, 0.0),
}


@operator("Resize")
def resize(node: OnnxNode) -> Results:
    """Inputs are X and scales in opset 10, and X, roi, scales and sizes from opset 11 on."""
    shape = node.shape()
    if node.version < 11:
        scales = [float(scale) for scale in node.known(1, "scales")]
        sizes = tuple(math.floor(size * scale) for size, scale in zip(shape, scales))
        rounding = DML_AXIS_DIRECTION_DECREASING
        return resampled(node, sizes, scales, [(0.0, 0.0)] * len(shape), rounding)
    axes = [axis % len(shape) for axis in node.get("axes", range(len(shape)))]
    sizes, scales = _target(node, axes)
    mode = node.get("coordinate_transformation_mode", "half_pixel")
    if mode not in OFFSETS:
        raise Refusal(
            f"is {mode!r}, which RESAMPLE does not have", "attribute coordinate_transformation_mode"
        )
    offsets = [OFFSETS[mode]] * len(shape)
    for axis, (old, new) in enumerate(zip(shape, sizes)):
        if mode == "align_corners":
            exact = scales[axis] * old
            scales[axis] = (exact - 1) / (old - 1) if old > 1 and new > 1 else 1.0
        elif mode == "pytorch_half_pixel" and new == 1:
            offsets[axis] = (0.0, 0.0)
        elif mode == "half_pixel_symmetric":
            # The output is centred: the rounding of its size is shared by both sides.
            centre = old / 2 * (1 - new / (scales[axis] * old))
            offsets[axis] = (0.5 - centre, -0.5)
    word = node.get("nearest_mode", "round_prefer_floor")
    direction = DML_AXIS_DIRECTION_DECREASING
    if node.get("mode", "nearest") == "nearest":
        if word not in ROUNDING:
            raise Refusal(f"is {word!r}", "attribute nearest_mode")
        direction, more = ROUNDING[word]
        offsets = [(first + more, second) for first, second in offsets]
    return resampled(node, sizes, scales, offsets, direction)


def _target(node: OnnxNode, axes: Sequence[int]) -> tuple[Sizes, list[float]]:
    """The output's sizes, and the scales."""
    shape = node.shape()
    sizes, scales = list(shape), [1.0] * len(shape)
    if node.has(2) and node.input(2).size:
        for axis, scale in zip(axes, node.known(2, "scales").reshape(-1)):
            scales[axis] = float(scale)
            sizes[axis] = math.floor(shape[axis] * float(scale))
        return tuple(sizes), scales
    wanted = [int(size) for size in node.known(3, "sizes").reshape(-1)]
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    ratios = [size / shape[axis] for axis, size in zip(axes, wanted)]
    if policy != "stretch":
        ratio = (min if policy == "not_larger" else max)(ratios)
        ratios = [ratio] * len(axes)
        wanted = [math.floor(shape[axis] * ratio + 0.5) for axis in axes]
    for axis, size, ratio in zip(axes, wanted, ratios):
        sizes[axis], scales[axis] = size, ratio
    return tuple(sizes), scales


@operator("Upsample")
def upsample(node: OnnxNode) -> Results:
    scales = [float(scale) for scale in (node.get("scales") or node.known(1, "scales"))]
    sizes = tuple(math.floor(size * scale) for size, scale in zip(node.shape(), scales))
    return resampled(node, sizes, scales, [(0.0, 0.0)] * len(scales), DML_AXIS_DIRECTION_DECREASING)


def resampled(
    node: OnnxNode,
    sizes: Sizes,
    scales: Sequence[float],
    offsets: Sequence[tuple[float, float]],
    direction: int,
) -> Expression:
    """RESAMPLE2; unchanged leading dimensions are merged, as it takes only four."""
    shape = node.shape()
    if node.get("antialias", 0) and any(new < old for old, new in zip(shape, sizes)):
        raise Refusal("is 1; the filter of RESAMPLE3 is not that of ONNX", "attribute antialias")
    mode = node.choice("mode", "nearest", INTERPOLATIONS)
    node.only("exclude_outside", 0, "DirectML's RESAMPLE clamps at the edges")
    surplus = max(0, len(shape) - 4)
    if shape[:surplus] != sizes[:surplus] or any(
        own != new for own, new in zip(shape[: surplus + 1], sizes[: surplus + 1]) if surplus
    ):
        raise Refusal(f"sizes {list(shape)} become {list(sizes)}; RESAMPLE has four dimensions")

    def merged(values: Sequence[Any], joined: Any) -> list[Any]:
        return [joined, *values[surplus + 1 :]] if surplus else list(values)

    settings: dict[str, Any] = {
        "interpolation_mode": mode,
        "rounding_direction": direction,
        "scales": merged(scales, 1.0),
        "input_pixel_offsets": merged([first for first, _ in offsets], 0.5),
        "output_pixel_offsets": merged([second for _, second in offsets], -0.5),
        "output_sizes": merged(sizes, math.prod(sizes[: surplus + 1])),
    }
    x = node.tensor(sizes=merged(shape, math.prod(shape[: surplus + 1])))
    return node.graph.resample2(x, **settings)


@operator("RoiAlign")
def roi_align(node: OnnxNode) -> Results:
    scale = node.get("spatial_scale", 1.0)
    count = node.get("sampling_ratio", 0)
    height, width = node.get("output_height", 1), node.get("output_width", 1)
    node.only(
        "mode", "avg", "ROI_ALIGN1 takes the maximum of interpolated values, ONNX that of weighted elements"
    )
    mode = node.get(
        "coordinate_transformation_mode", "output_half_pixel" if node.version < 16 else "half_pixel"
    )
    regions = node.shape(1)[0]
    return node.graph.roi_align1(
        node.tensor(0),
        node.tensor(1, (1, 1, *node.shape(1))),
        node.cast(node.tensor(2, (1, 1, 1, regions)), np.uint32),
        reduction_function=DML_REDUCE_FUNCTION_AVERAGE,
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
