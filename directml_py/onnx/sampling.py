"""Regions of interest, and col2im."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from itertools import product
from typing import NamedTuple

import numpy as np

from ..api.enums import DML_INTERPOLATION_MODE_LINEAR, DML_REDUCE_FUNCTION_AVERAGE, DML_REDUCE_FUNCTION_MAX
from ..api.structs import DML_SIZE_2D
from ..graph import Expression
from .grids import equal
from .movement import sliced
from .node import OnnxNode
from .translators import Results, operator
from .values import Array

FUNCTIONS = {"avg": DML_REDUCE_FUNCTION_AVERAGE, "max": DML_REDUCE_FUNCTION_MAX}


@operator("RoiAlign")
def roi_align(node: OnnxNode) -> Results:
    scale = node.get("spatial_scale", 1.0)
    count = node.get("sampling_ratio", 0)
    height, width = node.get("output_height", 1), node.get("output_width", 1)
    function = node.choice("mode", "avg", FUNCTIONS)
    if function == DML_REDUCE_FUNCTION_MAX and not node.as_provider:
        return weighted_maximum(node)
    mode, regions = coordinates_of(node), node.shape(1)[0]
    if mode == "half_pixel" or scale:
        boxes = regions_of(node, mode, scale)
    else:
        # A scale of 0 leaves the first element of each region.
        scale, boxes = (
            1.0,
            node.constant(np.tile([[[[0, 0, 1, 1]]]], (1, 1, regions, 1)), node.input(1).dtype),
        )
    return node.graph.roi_align1(
        node.tensor(0),
        boxes,
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


def coordinates_of(node: OnnxNode) -> str:
    """The name of RoiAlign's coordinates."""
    default = "output_half_pixel" if node.version < 16 else "half_pixel"
    return str(node.get("coordinate_transformation_mode", default))


def regions_of(node: OnnxNode, mode: str, scale: float) -> Expression:
    """The regions, which without half pixels have at least the size of an element."""
    regions = node.tensor(1, (1, 1, *node.shape(1)))
    if mode == "half_pixel":
        return regions
    starts, ends = (sliced(node, regions, 3, offset, 2) for offset in (0, 2))
    least = node.graph.identity(starts, scale_bias=(1.0, 1 / scale))
    # Rounded, the size of an element may be more than one, of which a result would have two samples.
    rounding = node.graph.identity(node.graph.abs(least), scale_bias=(2**-22, 0.0))
    least = node.graph.subtract(least, rounding)
    return node.graph.join([starts, node.graph.max(ends, least)], axis=3)


class SampledAxis(NamedTuple):
    """Where the regions are sampled along an axis: the two neighbours of each place, {regions, places}.

    Each result has ``samples`` places one after the other, and some of them may be the same.
    """

    offsets: list[Expression]
    weights: list[Expression]
    is_inside: Expression
    samples: int


def weighted_maximum(node: OnnxNode) -> Results:
    """The largest of all neighbours of a result's samples, each times its weight.

    ROI_ALIGN1 takes the maximum of interpolated values.
    """
    graph, (batch, channels, height, width) = node.graph, node.shape(0)
    count, dtype = node.shape(1)[0], node.input().dtype
    results = node.get("output_height", 1), node.get("output_width", 1)
    rows, columns = _sampled(node, 1, height, results[0]), _sampled(node, 0, width, results[1])
    shape = count, results[0] * rows.samples, results[1] * columns.samples
    flat, wide = (count, 1, shape[1] * shape[2]), (count, channels, shape[1] * shape[2])

    def combined(join: Callable[..., Expression], row: Expression, column: Expression) -> Expression:
        """For each row and column, and all channels."""
        of_row = node.spread(row, (*shape[:2], 1), shape)
        of_column = node.spread(column, (count, 1, shape[2]), shape)
        both = graph.reinterpret(join(of_row, of_column), sizes=flat)
        return node.spread(both, flat, wide)

    images = node.tensor(0, (batch, channels, height * width))
    which = node.cast(node.tensor(2, (1, 1, count)), np.uint32)
    images = graph.gather(node.cast(images, np.float32), which, axis=0, index_dimensions=1)
    shares = [
        graph.multiply(
            graph.gather_elements(
                images,
                combined(graph.add, graph.multiply(row, node.scalar(width, row)), column),
                axis=2,
            ),
            combined(graph.multiply, *weights),
        )
        for (row, column), weights in zip(
            product(rows.offsets, columns.offsets), product(rows.weights, columns.weights)
        )
    ]
    largest = reduce(graph.max, shares)
    is_inside = combined(graph.logical_and, rows.is_inside, columns.is_inside)
    largest = graph.if_(is_inside, largest, node.scalar(0, largest))
    sizes = (count, channels, results[0], rows.samples, results[1], columns.samples)
    y = graph.reduce(
        graph.reinterpret(largest, sizes=sizes),
        function=DML_REDUCE_FUNCTION_MAX,
        axes=[3, 5],
        output_data_type=np.float32,
    )
    return node.cast(graph.reinterpret(y, sizes=(count, channels, *results)), dtype)


def _sampled(node: OnnxNode, column: int, length: int, results: int) -> SampledAxis:
    """The samples along an axis of ``length`` elements, of which ``column`` of the regions has the start."""
    graph, scale = node.graph, node.get("spatial_scale", 1.0)
    is_half = coordinates_of(node) == "half_pixel"
    regions = node.cast(node.tensor(1), np.float32)
    start, end = (
        graph.identity(sliced(node, regions, 1, position, 1), scale_bias=(scale, -0.5 if is_half else 0.0))
        for position in (column, column + 2)
    )
    extent = graph.subtract(end, start)
    extent = extent if is_half else graph.max(extent, node.scalar(1, extent))
    share = graph.divide(extent, node.scalar(results, extent))
    counts = _sample_counts(node, column, results)
    most = max(1, int(counts.max(initial=0)))
    sizes = (node.shape(1)[0], results * most)
    # Places beyond the samples of a region are those of its last one; a region without samples has none inside.
    sample = np.minimum(np.arange(most), np.maximum(counts, 1)[:, None] - 1) + 0.5
    node.check_room(*sizes)

    def constant(array: Array) -> Expression:
        return node.spread(node.constant(array, np.float32), array.shape, sizes)

    whole, part = (node.spread(x, (sizes[0], 1), sizes) for x in (start, share))
    first = graph.multiply(part, constant(np.repeat(np.arange(results), most)[None]))
    within = graph.divide(
        graph.multiply(part, constant(np.tile(sample, (1, results)))),
        constant(np.maximum(counts, 1)[:, None]),
    )
    position = graph.add(graph.add(whole, first), within)
    is_inside = equal(graph, position, graph.clip(position, min=-1.0, max=float(length)))
    if not counts.all():
        has_samples = node.constant((counts > 0)[:, None], np.uint8)
        is_inside = graph.logical_and(is_inside, node.spread(has_samples, (len(counts), 1), sizes))
    position = graph.clip(position, min=0.0, max=length - 1.0)
    before = graph.floor(position)
    after = graph.clip(graph.identity(before, scale_bias=(1.0, 1.0)), min=0.0, max=length - 1.0)
    distance = graph.subtract(position, before)
    weights = [graph.identity(distance, scale_bias=(-1.0, 1.0)), distance]
    return SampledAxis([node.cast(x, np.int32) for x in (before, after)], weights, is_inside, most)


def _sample_counts(node: OnnxNode, column: int, results: int) -> Array:
    """How many samples of an axis each region has for a result: by default one for each element or part of one."""
    ratio = node.get("sampling_ratio", 0)
    if ratio > 0:
        return np.full(1, ratio)
    regions = node.known(1, "rois").astype(np.float32) * np.float32(node.get("spatial_scale", 1.0))
    extents = regions[:, column + 2] - regions[:, column]
    extents = extents if coordinates_of(node) == "half_pixel" else np.maximum(extents, 1)
    counts: Array = np.maximum(np.ceil(extents / np.float32(results)), 0).astype(np.int64)
    return counts


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
