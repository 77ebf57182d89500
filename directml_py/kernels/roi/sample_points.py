"""Regions of images: where each step of what they are brought to reads the image, along one axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..native_arrays import Array

Position = Callable[[Array], Array]
# Indices and weights.
Tap = tuple[Array, Array]
Taps = Sequence[Tap]


class SamplePoints(NamedTuple):
    """Where an image is read along one axis, an entry after another.

    ``weight`` is that of the element behind ``low``, whose own is the rest of 1. An entry stands for ``times`` samples,
    and lies at ``share`` of the way from the region's first corner to its second.
    """

    low: Array
    weight: Array
    is_inside: Array
    times: Array
    share: Array

    def at(self, entries: Array) -> SamplePoints:
        return SamplePoints(*(field[entries] for field in self))

    def taps(self) -> Taps:
        """The elements that have a weight, and the weights."""
        own = [(self.low, 1 - self.weight)]
        return [*own, (self.low + (self.weight > 0), self.weight)] if self.weight.any() else own

    def ends(self) -> tuple[Tap, Tap]:
        """The elements before and behind each place; they have no weight for a place that is an element itself."""
        between = (self.weight > 0).astype(np.int64)
        return (self.low, between), (self.low + between, between)


class BinSamples(NamedTuple):
    """The places of all steps of some regions along one axis; ``counts`` says how many each step has."""

    counts: Array
    points: SamplePoints


class Grid(NamedTuple):
    """How regions of an image of ``size`` elements are sampled along one axis, for ``steps`` elements of the output.

    Samples lie evenly in a region, at least ``least`` and at most ``most`` of them for a step.
    """

    size: int
    steps: int
    scale: float
    least: int
    most: int
    input_offset: float
    output_offset: float
    to_corners: bool
    is_linear: bool

    def samples(self, corners: Array) -> tuple[Array, Array, Array]:
        """The first corners and the extents of regions, and how many samples each of their steps has.

        Up to here numbers are rounded to FLOAT32, as programs and other implementations do: else what is a whole
        number to them would be a little more, and take one sample more.
        """
        scaled = corners * np.float32(self.scale)
        extents = scaled[:, 1] - scaled[:, 0]
        # Also of a region whose corners are exchanged, as Microsoft's library does.
        wanted = np.ceil(np.abs(extents) / np.float32(self.steps)).astype(np.float64)
        # The order makes the least of NaN.
        count = np.fmin(np.fmax(wanted, max(1, self.least)), self.most)
        return scaled[:, :1].astype(np.float64), extents[:, None].astype(np.float64), count.astype(np.int64)

    def steps_of(self, corners: Array, ends_alone: bool = False, slopes: bool = False) -> BinSamples:
        """Where the regions with two ``corners`` each, of FLOAT32, are sampled.

        Samples between the same two elements share an entry, so that there are not many more entries than elements,
        however many samples. It lies at their mean: for sums, linear interpolation comes to the same there. Or there
        are two entries, for the first and the last sample, ``ends_alone``: the largest is one of them. For ``slopes``,
        samples on an element have entries of their own.
        """
        start, extent, count = self.samples(corners)
        total = count[:, None] * self.steps
        offset, divisor = np.full(total.shape, self.output_offset), total
        if self.to_corners:
            # Microsoft's library adds the offset all the same, so that the last sample is beyond the corner.
            divisor = np.maximum(total - 1, 1)
        start = start - self.input_offset

        def position(number: Array, row: Array | slice = slice(None)) -> Array:
            places: Array = start[row] + (number - offset[row]) * extent[row] / divisor[row]
            return places

        edges = numbers_before(position, self.bounds(slopes), total, extent < 0)
        firsts = np.sort(np.concatenate([np.arange(self.steps) * count[:, None], edges], axis=1), axis=1)
        lengths = np.diff(firsts, axis=1, append=total)
        region, entry = np.nonzero(lengths)
        first, times = firsts[region, entry], lengths[region, entry]
        step = region * self.steps + first // count[region]
        last = first + (times - 1)
        if ends_alone:
            # Of the nearest elements both would be the same one.
            entries = 1 + ((times > 1) & self.is_linear)
            numbers = np.repeat(first, entries)
            numbers[np.cumsum(entries) - 1] = np.where(entries > 1, last, first)
            region, step, times = (np.repeat(array, entries) for array in (region, step, times))
            middle = position(numbers[:, None], region)[:, 0]
        else:
            numbers = (first + last) / 2
            middle = (position(first[:, None], region)[:, 0] + position(last[:, None], region)[:, 0]) / 2
        share = (numbers - offset[region, 0]) / divisor[region, 0]
        counts = np.bincount(step, minlength=len(corners) * self.steps).reshape(-1, self.steps)
        return BinSamples(counts, SamplePoints(*self.elements(middle), times, share))

    def bounds(self, slopes: bool) -> Array:
        """Positions between which nothing but the distance from an element changes, in ascending order.

        What is half way between two elements belongs to the second of them.
        """
        inner = np.arange(self.size, dtype=np.float64)
        if not self.is_linear:
            inner = inner[:-1] + 0.5
        elif slopes:
            inner = np.stack([inner, np.nextafter(inner, np.inf)], axis=1).ravel()
        return np.concatenate([[self.ends[0]], inner, [np.nextafter(self.ends[1], np.inf)]])

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last position inside.

        As in ONNX, what lies at most one element outside is inside, and takes the element at the edge; but in
        Microsoft's library not where regions are aligned to corners.
        """
        return (0.0, float(self.size - 1)) if self.to_corners else (-1.0, float(self.size))

    def elements(self, position: Array) -> tuple[Array, Array, Array]:
        """The element before each position, the weight of the one behind it, and whether the position is inside."""
        is_inside = (position >= self.ends[0]) & (position <= self.ends[1])
        # What is outside, or NaN, still needs an element that there is.
        position = np.where(is_inside, position, 0.0)
        if not self.is_linear:
            position = np.floor(position + 0.5)
        position = np.clip(position, 0, self.size - 1)
        low = np.floor(position)
        return low.astype(np.int64), position - low, is_inside


def numbers_before(position: Position, bounds: Array, total: Array, falls: Array) -> Array:
    """How many of the samples 0 to ``total``, exclusive, of each region lie before each bound.

    Before is below, or for the regions whose position ``falls`` not below. Dividing by the distance of samples would
    be wrong by one now and then, and fail where that is 0; this halves the numbers that are left.
    """
    low = np.zeros((len(total), len(bounds)), np.int64)
    high = np.broadcast_to(total, low.shape)
    for _ in range(int(total.max()).bit_length()):
        middle = low + (high - low) // 2
        is_before = ((position(middle) < bounds) != falls) & (low < high)
        low, high = np.where(is_before, middle + 1, low), np.where(is_before, high, middle)
    return low


def windows_of(corners: Array, size: int, steps: int) -> BinSamples:
    """The elements between two ``corners``, inclusive, of each region, shared out among steps, which may overlap.

    They are FLOAT32, and rounded to whole numbers, to even ones half way between two. A step that is outside the image
    has one place, which is not inside; so has one of a region with a corner that is NaN.
    """
    wide = corners.astype(np.float64)
    limit = float(1 << 32)
    rounded = np.rint(np.clip(wide, -limit, limit))
    # Infinitely far away; as in ONNX Runtime, a region has at least one element.
    rounded[np.isnan(wide).any(axis=1)] = limit
    first, last = rounded.astype(np.int64)[:, :, None].transpose(1, 0, 2)
    extent = np.maximum(last - first + 1, 1)
    number = np.arange(steps)
    begin = np.clip(first + number * extent // steps, 0, size)
    end = np.clip(first - (-(number + 1) * extent // steps), 0, size)
    is_inside = begin < end
    counts = np.maximum(end - begin, 1)
    owners = np.repeat(np.arange(counts.size), counts.reshape(-1))
    within = np.arange(len(owners)) - (np.cumsum(counts) - counts.reshape(-1))[owners]
    low = np.minimum(begin.reshape(-1)[owners] + within, size - 1)
    nothing = np.zeros(len(owners))
    return BinSamples(counts, SamplePoints(low, nothing, is_inside.reshape(-1)[owners], nothing + 1, nothing))
