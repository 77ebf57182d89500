"""Interpolation taps along one dimension. Beyond both ends, the edge elements repeat."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .cache_blocks import BLOCK
from .csr import Taps
from .native_arrays import Array


def nearest(coordinates: Array, size: int) -> Taps:
    """Taps of the elements at integer coordinates."""
    return Taps.one_each(np.clip(coordinates, 0, size - 1).astype(np.int64), size)


def linear(coordinates: Array, bases: Array, size: int) -> Taps:
    """Linear interpolation between the element at each coordinate's base and the next one."""
    first, second = np.clip(bases, 0, size - 1), np.clip(bases + 1, 0, size - 1)
    with np.errstate(invalid="ignore"):
        share = coordinates - bases
    # A single element is its own mean: 0 times an infinite neighbour would be NaN.
    first = np.where(share == 1, second, first)
    share[first == second] = 0
    alone = share == 0
    if alone.all():
        return nearest(first, size)
    second = np.where(alone, first, second)
    share[alone] = 0.5
    indices = np.stack([first, second], 1).astype(np.int64).reshape(-1)
    weights = np.stack([1 - share, share], 1).reshape(-1)
    return Taps(np.arange(0, len(indices) + 1, 2), indices, weights, size)


class Stretched:
    """A stretched (antialiasing) filter: weighted means of all elements within ``width`` of each coordinate, with
    weights that decrease with distance.

    An iterable of taps for consecutive parts of the coordinates, each part as large as a few blocks of memory, or
    ``size``.
    """

    def __init__(self, coordinates: Array, size: int, width: float) -> None:
        self.coordinates, self.size, self.width = np.clip(coordinates, -width, size - 1 + width), size, width
        each = int(min(size, 2 * width + 1)) + 2
        self.block = max(1, max(8 * BLOCK, size) // each)

    def __iter__(self) -> Iterator[Taps]:
        for start in range(0, len(self.coordinates), self.block):
            yield self.taps(self.coordinates[start : start + self.block])

    def taps(self, coordinates: Array) -> Taps:
        count, last = len(coordinates), self.size - 1
        first = np.clip(np.floor(coordinates - self.width), 0, last).astype(np.int64)
        lengths = np.clip(np.ceil(coordinates + self.width), first, last).astype(np.int64) - first + 1
        begins = np.cumsum(lengths) - lengths
        results_of_taps = np.repeat(np.arange(count), lengths)
        inner = np.arange(len(results_of_taps)) - np.repeat(begins - first, lengths)
        # The weights beyond an end are added to the edge element's.
        results = np.concatenate([results_of_taps, np.arange(count), np.arange(count)])
        indices = np.concatenate([inner, np.zeros(count, np.int64), np.full(count, last)])
        weights = np.concatenate(
            [
                1 - np.abs(inner - coordinates[results_of_taps]) / self.width,
                self.up_to(-1 - coordinates),
                self.up_to(coordinates - last - 1),
            ]
        )
        weighted = weights > 0
        results, indices, weights = results[weighted], indices[weighted], weights[weighted]
        return Taps.of(
            results, indices, weights / np.bincount(results, weights, count)[results], count, self.size
        )

    def up_to(self, distances: Array) -> Array:
        """The total weight of the elements at these distances and before; distances decrease by 1, and are negative
        before the coordinate."""
        part = distances % 1
        both_sides = self.beyond(part) + self.beyond(1 - part)
        behind = both_sides - self.beyond(np.abs(distances + 1))
        return np.where(distances <= 0, self.beyond(np.abs(distances)), behind)

    def beyond(self, distances: Array) -> Array:
        """The total weight of the elements at these distances and beyond; distances increase by 1."""
        count = np.maximum(np.ceil(self.width - distances), 0)
        worth: Array = count * (1 - distances / self.width) - count * (count - 1) / (2 * self.width)
        return worth
