"""Sample points of regions of interest along one axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..native_arrays import Array

# The last position before the image that is out of bounds.
OUTSIDE = -1.0
Position = Callable[[Array], Array]
# Indices and weights.
Tap = tuple[Array, Array]
Taps = Sequence[Tap]


class SamplePoints(NamedTuple):
    """Sample points along one axis of an image.

    ``weight`` is that of the element after ``low``, whose own weight is 1 minus that. A point stands for ``times``
    samples. It lies at ``fraction`` of the way from the element ``base`` to the next, whatever is read there.
    """

    low: Array
    weight: Array
    is_inside: Array
    times: Array
    base: Array
    fraction: Array

    def at(self, entries: Array) -> SamplePoints:
        return SamplePoints(*(field[entries] for field in self))

    def taps(self) -> Taps:
        """The elements with nonzero weight, and their weights."""
        first = [(self.low, 1 - self.weight)]
        return [*first, (self.low + (self.weight > 0), self.weight)] if self.weight.any() else first

    def interpolated(self) -> SamplePoints:
        """The same points, for linear interpolation."""
        return self._replace(low=self.base, weight=self.fraction)

    def ends(self) -> tuple[Tap, Tap]:
        """The elements before and after each point, with weights 0 for a point that lies on an element."""
        between = (self.weight > 0).astype(np.int64)
        return (self.low, between), (self.low + between, between)


class BinSamples(NamedTuple):
    """The sample points of all bins of some regions along one axis; ``counts`` is their number in each bin."""

    counts: Array
    points: SamplePoints


class Grid(NamedTuple):
    """The sampling grid of regions of an image of ``size`` elements along one axis, for ``output_size`` elements of the
    output.

    Samples are evenly spaced in a region, at least ``least`` and at most ``most`` of them per bin.
    """

    size: int
    output_size: int
    scale: float
    least: int
    most: int
    input_offset: float
    output_offset: float
    to_corners: bool
    is_linear: bool

    def samples(self, corners: Array) -> tuple[Array, Array, Array]:
        """The first corners and extents of regions, and the number of samples in each of their bins.

        Up to here numbers are rounded to FLOAT32, as programs and other implementations do: otherwise a number that is
        whole to them could be slightly larger, and take one more sample.
        """
        scaled = corners * np.float32(self.scale)
        extents = scaled[:, 1] - scaled[:, 0]
        # Also for a region with exchanged corners, as in Microsoft's library.
        wanted = np.ceil(np.abs(extents) / np.float32(self.output_size)).astype(np.float64)
        # In this order NaN becomes the minimum.
        count = np.fmin(np.fmax(wanted, max(1, self.least)), self.most)
        return scaled[:, :1].astype(np.float64), extents[:, None].astype(np.float64), count.astype(np.int64)

    def bin_samples(self, corners: Array, ends_alone: bool = False, slopes: bool = False) -> BinSamples:
        """The sample points of regions with two FLOAT32 ``corners`` each.

        Samples between the same two elements are merged into one point, so that there are not many more points than
        elements, however many samples there are. The point lies at their mean: for sums, linear interpolation gives the
        same there. With ``ends_alone`` there are two points instead, for the first and the last sample: the maximum is
        one of them. For ``slopes``, which are those of linear interpolation in either mode, samples on an element have
        points of their own, and a maximum is the first of the samples that read the same element.
        """
        start, extent, count = self.samples(corners)
        total = count[:, None] * self.output_size
        offset, divisor = np.full(total.shape, self.output_offset), total
        if self.to_corners:
            # Microsoft's library still adds the offset, so that the last sample is beyond the corner.
            divisor = np.maximum(total - 1, 1)
        start = start - self.input_offset

        def position(number: Array, row: Array | slice = slice(None)) -> Array:
            coordinates: Array = start[row] + (number - offset[row]) * extent[row] / divisor[row]
            return coordinates

        edges = numbers_before(position, self.bounds(slopes), total, extent < 0)
        firsts = np.sort(
            np.concatenate([np.arange(self.output_size) * count[:, None], edges], axis=1), axis=1
        )
        lengths = np.diff(firsts, axis=1, append=total)
        region, entry = np.nonzero(lengths)
        first, times = firsts[region, entry], lengths[region, entry]
        bin_index = region * self.output_size + first // count[region]
        last = first + (times - 1)
        if ends_alone:
            # With nearest-neighbour sampling both would be the same.
            entries = 1 + ((times > 1) & self.is_linear)
            numbers = np.repeat(first, entries)
            numbers[np.cumsum(entries) - 1] = np.where(entries > 1, last, first)
            region, bin_index, times = (np.repeat(array, entries) for array in (region, bin_index, times))
            middle = position(numbers[:, None], region)[:, 0]
        else:
            middle = (position(first[:, None], region)[:, 0] + position(last[:, None], region)[:, 0]) / 2
        read = self.elements(middle, self.is_linear)
        counts = np.bincount(bin_index, minlength=len(corners) * self.output_size).reshape(
            -1, self.output_size
        )
        return BinSamples(counts, SamplePoints(*read, times, *self.elements(middle, True)[:2]))

    def bounds(self, slopes: bool) -> Array:
        """Positions between which nothing changes but the distance from an element, in ascending order.

        A position halfway between two elements belongs to the second.
        """
        whole = np.arange(self.size, dtype=np.float64)
        inner = [whole if self.is_linear else whole[:-1] + 0.5]
        if slopes:
            inner += [whole, np.nextafter(whole, np.inf)]
        return np.concatenate(
            [[self.ends[0]], np.unique(np.concatenate(inner)), [np.nextafter(self.ends[1], np.inf)]]
        )

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last position inside.

        As in ONNX, positions up to one element outside count as inside, and take the edge element. Microsoft's library
        differs at -1 itself, which is outside, and where regions are aligned to corners.
        """
        if self.to_corners:
            return 0.0, float(self.size - 1)
        return float(np.nextafter(OUTSIDE, 0.0)), float(self.size)

    def elements(self, position: Array, is_linear: bool) -> tuple[Array, Array, Array]:
        """The element before each position, the weight of the one after it, and whether the position is inside."""
        is_inside = (position >= self.ends[0]) & (position <= self.ends[1])
        # Positions outside, or NaN, still need a valid element.
        position = np.where(is_inside, position, 0.0)
        if not is_linear:
            position = np.floor(position + 0.5)
        position = np.clip(position, 0, self.size - 1)
        low = np.floor(position)
        return low.astype(np.int64), position - low, is_inside


def numbers_before(position: Position, bounds: Array, total: Array, falls: Array) -> Array:
    """For each region, how many of the samples 0 to ``total``, exclusive, lie before each bound.

    Before means below, or, for the regions whose position ``falls``, not below. Dividing by the distance of samples
    would be off by one now and then, and fail where that is 0; this is a binary search instead.
    """
    low = np.zeros((len(total), len(bounds)), np.int64)
    high = np.broadcast_to(total, low.shape)
    for _ in range(int(total.max()).bit_length()):
        middle = low + (high - low) // 2
        is_before = ((position(middle) < bounds) != falls) & (low < high)
        low, high = np.where(is_before, middle + 1, low), np.where(is_before, high, middle)
    return low


def windows_of(corners: Array, size: int, output_size: int) -> BinSamples:
    """The elements between two ``corners``, inclusive, of each region, divided among bins, which may overlap.

    Corners are FLOAT32, and rounded to the nearest integer, ties to even. A bin outside the image has one point, which
    is not inside; so has a bin of a region with a NaN corner.
    """
    wide = corners.astype(np.float64)
    limit = float(1 << 32)
    rounded = np.rint(np.clip(wide, -limit, limit))
    # Infinitely far away; as in ONNX Runtime, a region has at least one element.
    rounded[np.isnan(wide).any(axis=1)] = limit
    first, last = rounded.astype(np.int64)[:, :, None].transpose(1, 0, 2)
    extent = np.maximum(last - first + 1, 1)
    number = np.arange(output_size)
    begin = np.clip(first + number * extent // output_size, 0, size)
    end = np.clip(first - (-(number + 1) * extent // output_size), 0, size)
    is_inside = begin < end
    counts = np.maximum(end - begin, 1)
    owners = np.repeat(np.arange(counts.size), counts.reshape(-1))
    within = np.arange(len(owners)) - (np.cumsum(counts) - counts.reshape(-1))[owners]
    low = np.minimum(begin.reshape(-1)[owners] + within, size - 1)
    nothing = np.zeros(len(owners))
    points = SamplePoints(low, nothing, is_inside.reshape(-1)[owners], nothing + 1, low, nothing)
    return BinSamples(counts, points)
