"""GridSample: images sampled at positions that another tensor has.

DirectML has no operator for it (ONNX Runtime's provider has a shader). Here it is arithmetic on positions, and a gather
for each of the elements that a result is interpolated from.
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
from .movement import sliced
from .node import OnnxNode
from .translators import Results, operator

MODES = {
    "nearest": "nearest",
    "linear": "linear",
    "bilinear": "linear",
    "cubic": "cubic",
    "bicubic": "cubic",
}
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
    mode = node.choice("mode", "linear" if node.version >= 20 else "bilinear", MODES)
    positions = node.cast(node.tensor(1, (shape[0], count, len(dims))), np.float32)
    axes = []
    for axis, length in enumerate(dims):
        # The last of a position's coordinates is that of the first axis.
        part = sliced(node, positions, 2, len(dims) - 1 - axis, 1)
        part = node.graph.reinterpret(part, sizes=(shape[0], 1, count))
        line = Line(node, length, math.prod(dims[axis + 1 :]))
        axes.append(line.taps(part, mode))
    wide = (*shape[:2], count)
    results = [_gathered(node, taps, wide, math.prod(dims), mode) for taps in product(*axes)]
    total = reduce(node.graph.add, results)
    if mode != "nearest":
        total = node.cast(total, node.input().dtype)
    return node.graph.reinterpret(total, sizes=(*shape[:2], *grid[1:-1]))


def _gathered(node: OnnxNode, taps: Sequence[Tap], wide: Sequence[int], count: int, mode: str) -> Expression:
    """The elements of all images and channels at ``taps``, one for each axis, times their weights."""
    graph, narrow = node.graph, (wide[0], 1, wide[2])

    def spread(own: Expression) -> Expression:
        return node.spread(own, narrow, wide)

    image = node.moved(0, (*wide[:2], count))
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
    """An axis of the images with ``length`` elements, ``step`` elements apart."""

    node: OnnxNode
    length: int
    step: int

    @property
    def is_aligned(self) -> bool:
        """Whether -1 and 1 are the centres of the first and the last element, not the ends of the axis."""
        return bool(self.node.get("align_corners", 0))

    @property
    def padding(self) -> str:
        return str(self.node.choice("padding_mode", "zeros", PADDINGS))

    @property
    def ends(self) -> tuple[float, float]:
        return (0.0, self.length - 1.0) if self.is_aligned else (-0.5, self.length - 0.5)

    def taps(self, coordinate: Expression, mode: str) -> list[Tap]:
        """The elements near a coordinate between -1 and 1."""
        graph, (first, last) = self.node.graph, self.ends
        place = graph.identity(coordinate, scale_bias=(1.0, 1.0))
        place = graph.identity(place, scale_bias=((last - first) / 2, first))
        if mode == "nearest":
            return [self.tap(graph.round(place, rounding_mode=DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN))]
        if mode == "cubic" and self.padding == "border":
            # Outside of the image all positions are that of the border, not only those of neighbours.
            same = equal(graph, place, graph.clip(place, min=first, max=last))
            place = graph.if_(same, place, graph.clip(place, min=0.0, max=self.length - 1.0))
        before = graph.floor(place)
        distance = graph.subtract(place, before)
        if mode == "linear":
            shares = [graph.identity(distance, scale_bias=(-1.0, 1.0)), distance]
            return [self.tap(self._moved(before, index), share) for index, share in enumerate(shares)]
        return [
            self.tap(self._moved(before, index - 1), self._polynomial(distance, factors))
            for index, factors in enumerate(CUBIC)
        ]

    def _moved(self, place: Expression, by: int) -> Expression:
        return self.node.graph.identity(place, scale_bias=(1.0, float(by))) if by else place

    def _polynomial(self, x: Expression, factors: Sequence[float]) -> Expression:
        graph, (constant, *others, highest) = self.node.graph, factors
        result = graph.identity(x, scale_bias=(highest, others.pop()))
        for factor in (*others[::-1], constant):
            result = graph.multiply(result, x)
            if factor:
                result = graph.identity(result, scale_bias=(1.0, factor))
        return result

    def tap(self, place: Expression, weight: Expression | None = None) -> Tap:
        """The element at a whole-numbered place, which padding leads back into the axis."""
        node, graph, is_inside = self.node, self.node.graph, None
        if self.padding == "reflection":
            place = self._reflected(place)
        clipped = graph.clip(place, min=0.0, max=self.length - 1.0)
        if self.padding == "zeros":
            is_inside = equal(graph, place, clipped)
        offset = node.cast(clipped, np.int32)
        if self.step > 1:
            offset = graph.multiply(offset, node.scalar(self.step, offset))
        return Tap(offset, weight, is_inside)

    def _reflected(self, place: Expression) -> Expression:
        """``place`` mirrored at the ends until it is between them."""
        graph, (first, last) = self.node.graph, self.ends
        span = last - first
        if not span:
            return place
        moved = graph.identity(place, scale_bias=(1.0, -first))
        turned = graph.modulus_floor(moved, self.node.scalar(2 * span, moved))
        distance = graph.abs(graph.identity(turned, scale_bias=(1.0, -span)))
        return graph.identity(distance, scale_bias=(-1.0, last))


def equal(graph: Graph, a: Expression, b: Expression) -> Expression:
    return graph.logical_equals(a, b, output_data_type=np.uint8)
