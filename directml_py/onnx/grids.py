"""GridSample and CropAndResize: images sampled at positions that another tensor has.

DirectML has no operator for them (ONNX Runtime's provider has a shader). Here they are arithmetic on positions, and a
gather for each of the elements that a result is interpolated from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from itertools import product
from typing import NamedTuple

import numpy as np

from ..api.enums import DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN
from ..graph import Expression, Graph
from .errors import Refusal
from .movement import sliced
from .node import OnnxNode
from .translators import MICROSOFT, Results, Rows, operator, outputs

MODES = {
    "nearest": "nearest",
    "linear": "linear",
    "bilinear": "linear",
    "cubic": "cubic",
    "bicubic": "cubic",
}
CROPS = {word: MODES[word] for word in ("bilinear", "nearest")}
PADDINGS = {word: word for word in ("zeros", "border", "reflection")}
# The weights of four neighbours, as polynomials of the distance to the second one, from the constant term on: Keys'
# convolution with his parameter at -0.75.
CUBIC = (
    (0.0, -0.75, 1.5, -0.75),
    (1.0, 0.0, -2.25, 1.25),
    (0.0, 0.75, 1.5, -1.25),
    (0.0, 0.0, -0.75, 0.75),
)


class Tap(NamedTuple):
    """One of the elements along an axis that a result depends on, for all results.

    ``offset`` is its distance from the image's first element, ``weight`` its share (None: all), ``is_inside`` where it
    is not zero because of padding (None: everywhere).
    """

    offset: Expression
    weight: Expression | None
    is_inside: Expression | None


@operator("GridSample")
def grid_sample(node: OnnxNode) -> Results:
    shape, grid = node.shape(0), node.shape(1)
    dims, count = shape[2:], math.prod(grid[1:-1])
    padding = node.choice("padding_mode", "zeros", PADDINGS)
    mode = node.choice("mode", "linear" if node.version >= 20 else "bilinear", MODES)
    positions = node.cast(node.tensor(1, (shape[0], count, len(dims))), np.float32)
    axes = []
    for axis, length in enumerate(dims):
        # The last of a position's coordinates is that of the first axis.
        part = sliced(node, positions, 2, len(dims) - 1 - axis, 1)
        part = node.graph.reinterpret(part, sizes=(shape[0], 1, count))
        line = Line(node, length, math.prod(dims[axis + 1 :]), bool(node.get("align_corners", 0)), padding)
        axes.append(line.taps(part, mode))
    image = node.moved(0, (*shape[:2], math.prod(dims)))
    total = _interpolated(node, image, axes, mode)
    return node.graph.reinterpret(total, sizes=(*shape[:2], *grid[1:-1]))


@outputs("CropAndResize", domain=MICROSOFT)
def crops(node: OnnxNode) -> Rows:
    sizes = [int(size) for size in node.known(3, "crop_size").reshape(-1)]
    if len(node.shape()) != 4 or len(sizes) != 2 or min(sizes) < 1:
        raise Refusal(f"is {sizes} for images of {list(node.shape())}", "input crop_size")
    return [(node.input().dtype, (node.shape(1)[0], node.shape()[1], *sizes))]


@operator("CropAndResize", domain=MICROSOFT)
def crop_and_resize(node: OnnxNode) -> Results:
    """Boxes of images, whose corners are centres of elements; outside of the image all is one number."""
    graph, mode = node.graph, node.choice("mode", "bilinear", CROPS)
    (_, channels, *dims), counts = (
        node.shape(),
        [int(size) for size in node.known(3, "crop_size").reshape(-1)],
    )
    boxes, wide = node.shape(1)[0], (node.shape(1)[0], 1, *counts)
    flat = (boxes, 1, math.prod(counts))
    corners = node.cast(node.tensor(1), np.float32)
    axes, inside = [], []
    for axis, (length, count) in enumerate(zip(dims, counts)):
        # A single element is in the middle.
        shares = np.linspace(0, 1, count) if count > 1 else np.full(1, 0.5)
        along = (boxes, count)
        parts = [
            graph.multiply(
                node.spread(sliced(node, corners, 1, axis + side, 1), (boxes, 1), along),
                node.spread(node.constant(share, np.float32), (count,), along),
            )
            for side, share in ((0, 1 - shares), (2, shares))
        ]
        sizes = (boxes, 1, count, 1) if axis == 0 else (boxes, 1, 1, count)
        position = graph.identity(graph.add(*parts), scale_bias=(length - 1.0, 0.0))
        position = graph.reinterpret(node.packed(node.spread(position, sizes, wide)), sizes=flat)
        inside.append(equal(graph, position, graph.clip(position, min=0.0, max=length - 1.0)))
        line = Line(node, length, math.prod(dims[axis + 1 :]), True, "border")
        if mode == "nearest":
            # Halves are rounded up.
            axes.append([line.tap(graph.floor(graph.identity(position, scale_bias=(1.0, 0.5))))])
        else:
            axes.append(line.near(position, mode))
    chosen = node.tensor(2, (1, 1, boxes))
    images = graph.gather(
        node.tensor(0, (1, node.shape()[0], channels * math.prod(dims))), chosen, axis=1, index_dimensions=1
    )
    image = graph.reinterpret(images, sizes=(boxes, channels, math.prod(dims)))
    total = _interpolated(node, image, axes, mode)
    outside = node.scalar(node.get("extrapolation_value", 0.0), total)
    is_inside = node.spread(graph.logical_and(*inside), flat, total.desc.sizes)
    return graph.reinterpret(graph.if_(is_inside, total, outside), sizes=(boxes, channels, *counts))


def _interpolated(node: OnnxNode, image: Expression, axes: Sequence[Sequence[Tap]], mode: str) -> Expression:
    """The sums of elements of ``image``, of sizes (images, channels, elements), near the places of ``axes``."""
    results = [_gathered(node, image, taps, mode) for taps in product(*axes)]
    total = reduce(node.graph.add, results)
    return total if mode == "nearest" else node.cast(total, node.input().dtype)


def _gathered(node: OnnxNode, image: Expression, taps: Sequence[Tap], mode: str) -> Expression:
    """The elements of all images and channels at ``taps``, one for each axis, times their weights."""
    narrow = taps[0].offset.desc.sizes
    wide = (*image.desc.sizes[:2], narrow[2])
    graph = node.graph

    def spread(x: Expression) -> Expression:
        return node.spread(x, narrow, wide)

    offset = reduce(graph.add, [tap.offset for tap in taps])
    found = graph.gather_elements(image, spread(offset), axis=2)
    inside = [tap.is_inside for tap in taps if tap.is_inside is not None]
    weights = [tap.weight for tap in taps if tap.weight is not None]
    if mode != "nearest":
        found = node.cast(found, np.float32)
    if inside:
        found = graph.if_(spread(reduce(graph.logical_and, inside)), found, node.scalar(0, found))
    return graph.multiply(found, spread(reduce(graph.multiply, weights))) if weights else found


class Line(NamedTuple):
    """An axis of the images with ``length`` elements, ``stride`` elements apart."""

    node: OnnxNode
    length: int
    stride: int
    # Whether -1 and 1 are the centres of the first and the last element, not the ends of the axis.
    is_aligned: bool
    padding: str

    @property
    def ends(self) -> tuple[float, float]:
        return (0.0, self.length - 1.0) if self.is_aligned else (-0.5, self.length - 0.5)

    def taps(self, coordinate: Expression, mode: str) -> list[Tap]:
        """The elements near a coordinate between -1 and 1."""
        graph, (first, last) = self.node.graph, self.ends
        position = graph.identity(coordinate, scale_bias=(1.0, 1.0))
        return self.near(graph.identity(position, scale_bias=((last - first) / 2, first)), mode)

    def near(self, position: Expression, mode: str) -> list[Tap]:
        """The elements near a place, which is counted in elements."""
        graph, (first, last) = self.node.graph, self.ends
        if mode == "nearest":
            return [self.tap(graph.round(position, rounding_mode=DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN))]
        if mode == "cubic" and self.padding == "border":
            # Outside of the image all positions are that of the border, not only those of neighbours.
            same = equal(graph, position, graph.clip(position, min=first, max=last))
            position = graph.if_(same, position, graph.clip(position, min=0.0, max=self.length - 1.0))
        before = graph.floor(position)
        distance = graph.subtract(position, before)
        if mode == "linear":
            shares = [graph.identity(distance, scale_bias=(-1.0, 1.0)), distance]
            return [self.tap(self._moved(before, index), share) for index, share in enumerate(shares)]
        return [
            self.tap(self._moved(before, index - 1), self._polynomial(distance, factors))
            for index, factors in enumerate(CUBIC)
        ]

    def _moved(self, position: Expression, by: int) -> Expression:
        return self.node.graph.identity(position, scale_bias=(1.0, float(by))) if by else position

    def _polynomial(self, x: Expression, factors: Sequence[float]) -> Expression:
        graph, (constant, *others, highest) = self.node.graph, factors
        result = graph.identity(x, scale_bias=(highest, others.pop()))
        for factor in (*others[::-1], constant):
            result = graph.multiply(result, x)
            if factor:
                result = graph.identity(result, scale_bias=(1.0, factor))
        return result

    def tap(self, position: Expression, weight: Expression | None = None) -> Tap:
        """The element at a whole-numbered place, which padding leads back into the axis."""
        node, graph, is_inside = self.node, self.node.graph, None
        if self.padding == "reflection":
            position = self._reflected(position)
        clipped = graph.clip(position, min=0.0, max=self.length - 1.0)
        if self.padding == "zeros":
            is_inside = equal(graph, position, clipped)
        offset = node.cast(clipped, np.int32)
        if self.stride > 1:
            offset = graph.multiply(offset, node.scalar(self.stride, offset))
        return Tap(offset, weight, is_inside)

    def _reflected(self, position: Expression) -> Expression:
        """``position`` mirrored at the ends until it is between them."""
        graph, (first, last) = self.node.graph, self.ends
        span = last - first
        if not span:
            return position
        moved = graph.identity(position, scale_bias=(1.0, -first))
        wrapped = graph.modulus_floor(moved, self.node.scalar(2 * span, moved))
        distance = graph.abs(graph.identity(wrapped, scale_bias=(1.0, -span)))
        return graph.identity(distance, scale_bias=(-1.0, last))


def equal(graph: Graph, a: Expression, b: Expression) -> Expression:
    return graph.logical_equals(a, b, output_data_type=np.uint8)
