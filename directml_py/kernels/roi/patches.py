"""Patches: the sample points of output elements, at which images are read and gradients are added."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..elementwise.functions import quieted
from ..native_arrays import Array
from .sample_points import BinSamples, SamplePoints, Taps

# The number of elements processed at once.
BLOCK = 1 << 17


class Patch(NamedTuple):
    """Elements of the output, numbered ``outputs`` by region, row and column, and their sample points.

    An output's points are consecutive, from ``starts`` on; ``owners`` gives the output that each point belongs to, from
    0 on, and ``regions`` its region. Points are in row order.
    """

    outputs: slice
    starts: Array
    owners: Array
    regions: Array
    rows: SamplePoints
    columns: SamplePoints

    @property
    def is_inside(self) -> Array:
        return self.rows.is_inside & self.columns.is_inside

    @property
    def times(self) -> Array:
        """The number of samples that each point stands for."""
        return self.rows.times.astype(np.float64) * self.columns.times

    @property
    def counts(self) -> Array:
        """The number of samples of each output."""
        counts: Array = np.add.reduceat(self.times, self.starts)
        return counts

    def read(self, image: Array, batches: Array, outside: float) -> Array:
        """The value at each point, by channel, of a channels-last image; in FLOAT64.

        ``batches`` are those of the regions.
        """
        return self.sum_of(image, batches, self.rows.taps(), self.columns.taps(), outside)

    def slopes(self, image: Array, batches: Array) -> tuple[Array, Array]:
        """The slopes of linear interpolation along rows and along columns at each point, by channel.

        They are 0 on an element, where the slopes of both sides meet, and outside.
        """
        over_rows, over_columns = self.rows.interpolated(), self.columns.interpolated()
        (above, below), (left, right) = over_rows.ends(), over_columns.ends()
        rows, columns = over_rows.taps(), over_columns.taps()
        return (
            self.sum_of(image, batches, [below], columns) - self.sum_of(image, batches, [above], columns),
            self.sum_of(image, batches, rows, [right]) - self.sum_of(image, batches, rows, [left]),
        )

    def sum_of(self, image: Array, batches: Array, rows: Taps, columns: Taps, outside: float = 0) -> Array:
        """Elements times the weights of their rows and columns, if nonzero: 0 times infinity would be NaN."""
        batch = batches[self.regions]
        total: Array | None = None
        for row, column, weight in crossed(rows, columns):
            values = image[batch, row, column] * weight[:, None]
            values[weight == 0] = 0
            total = values if total is None else np.add(total, values, out=total)
        assert total is not None
        total[~self.is_inside] = outside
        return total

    def add(self, total: Array, batches: Array, gradients: Array) -> None:
        """Add the gradients of points, by channel, to those of the elements that they read: ``total``, channels last.

        Gradients for batches that do not exist are dropped.
        """
        batch = batches[self.regions]
        number, height, width, channels = total.shape
        flat, channel = total.reshape(-1), np.arange(channels)
        for row, column, weight in crossed(self.rows.taps(), self.columns.taps()):
            used = self.is_inside & (weight > 0) & (batch < number)
            element = (batch[used].astype(np.int64) * height + row[used]) * width + column[used]
            added = gradients[used] * weight[used, None]
            np.add.at(flat, (element[:, None] * channels + channel).reshape(-1), added.reshape(-1))

    def maximum(self, values: Array) -> Array:
        """The maximum of each output; as in Direct3D, a number is larger than NaN."""
        largest: Array = np.fmax.reduceat(quieted(values), self.starts, axis=0)
        return largest

    def mean(self, values: Array) -> Array:
        """The mean of the samples of each output."""
        total: Array = np.add.reduceat(values * self.times[:, None], self.starts, axis=0)
        return total / self.counts[:, None]

    def spread(self, gradients: Array) -> Array:
        """Each point's share of the gradients of means."""
        parts = self.times / self.counts[self.owners]
        return gradients[self.owners] * parts[:, None]

    def chosen(self, gradients: Array, values: Array) -> Array:
        """Each point's share of the gradients of maxima: all or nothing.

        Of points with equal values the first in row order is the maximum.
        """
        best = self.maximum(values)[self.owners]
        numbers = np.arange(len(values))[:, None]
        is_best = (values == best) | np.isnan(best)
        first = np.minimum.reduceat(np.where(is_best, numbers, len(values)), self.starts, axis=0)
        return np.where(numbers == first[self.owners], gradients[self.owners], 0)


def crossed(rows: Taps, columns: Taps) -> Iterator[tuple[Array, Array, Array]]:
    """The elements at which rows and columns meet, and the products of their weights."""
    for row, height in rows:
        for column, width in columns:
            yield row, column, height * width


def parts_of(regions: int, numbers: int) -> Iterator[slice]:
    """All regions, in parts that take little memory; each region takes about ``numbers`` numbers."""
    count = max(1, BLOCK // numbers)
    for first in range(0, regions, count):
        yield slice(first, first + count)


def patches(
    regions: int, samples_of: Callable[[slice], tuple[BinSamples, BinSamples]], numbers: int, channels: int
) -> Iterator[Patch]:
    """All elements of the output in patches, each of so few points that they take little memory.

    ``samples_of`` returns the samples of some of the regions along rows and columns; each takes some ``numbers``
    numbers.
    """
    for part in parts_of(regions, numbers):
        rows, columns = samples_of(part)
        first = part.start
        before = first * rows.counts.shape[1] * columns.counts.shape[1]
        for patch in patches_of(rows, columns, max(1, BLOCK // channels)):
            outputs = slice(before + patch.outputs.start, before + patch.outputs.stop)
            yield patch._replace(outputs=outputs, regions=first + patch.regions)


def patches_of(rows: BinSamples, columns: BinSamples, most: int) -> Iterator[Patch]:
    """Patches of at most ``most`` points, or of a single output element that has more."""
    sizes = (rows.counts[:, :, None] * columns.counts[:, None, :]).reshape(-1)
    shape = (*rows.counts.shape, columns.counts.shape[1])
    ends = np.cumsum(sizes)
    first_row, first_column = (
        np.cumsum(axis.counts).reshape(axis.counts.shape) - axis.counts for axis in (rows, columns)
    )
    begin = 0
    while begin < len(sizes):
        before = ends[begin] - sizes[begin]
        end = max(begin + 1, int(np.searchsorted(ends, before + most, side="right")))
        region, row, column = np.unravel_index(np.arange(begin, end), shape)
        starts = ends[begin:end] - sizes[begin:end] - before
        owners = np.repeat(np.arange(end - begin), sizes[begin:end])
        within = np.arange(len(owners)) - starts[owners]
        y, x = np.divmod(within, columns.counts[region, column][owners])
        yield Patch(
            slice(begin, end),
            starts,
            owners,
            region[owners],
            rows.points.at(first_row[region, row][owners] + y),
            columns.points.at(first_column[region, column][owners] + x),
        )
        begin = end
