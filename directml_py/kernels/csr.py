"""Separable sparse sums: products with sparse matrices in CSR form, one axis after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .backend import backend
from .cache_blocks import BLOCK, Grid
from .elementwise.map import Function, map_whole
from .gather_scatter_nd import gather
from .launch import launch_in_order
from .move import move
from .native_arrays import Array, Run
from .threads import share
from .windows import Window

# Up to this many taps per result, all results are summed at once, tap by tap.
FEW = 8


class Taps(NamedTuple):
    """A CSR matrix of ``size`` columns: each result is the sum of the elements at its ``indices`` times their
    ``weights`` (None: ones). The taps of a result begin at its entry in ``starts``, which has one more entry, the
    end."""

    starts: Array
    indices: Array
    weights: Array | None
    size: int

    @classmethod
    def of(cls, results: Array, indices: Array, weights: Array | None, count: int, size: int) -> Taps:
        """A matrix from one tap for each entry of the arrays, in any order, with ``count`` results."""
        order = np.argsort(results, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(results, minlength=count))])
        return cls(starts, indices[order], None if weights is None else weights[order], size)

    @classmethod
    def one_each(cls, indices: Array, size: int) -> Taps:
        """A gather: each result is one element."""
        return cls(np.arange(len(indices) + 1), indices, None, size)

    @classmethod
    def under(cls, window: Window, axis: int, elements: range, output_size: int) -> Taps:
        """For each of ``output_size`` window positions, the elements that it covers, of the part ``elements`` along one
        dimension."""
        stride, dilation = window.strides[axis], window.dilations[axis]
        first = np.arange(output_size) * stride - window.start_padding[axis] - elements.start
        low = np.maximum(0, -(first // dilation))
        high = np.minimum(window.size[axis], (len(elements) - 1 - first) // dilation + 1)
        lengths = np.maximum(0, high - low)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        origins = first + (low - starts[:-1]) * dilation
        indices = np.repeat(origins, lengths) + np.arange(starts[-1]) * dilation
        return cls(starts, indices, None, len(elements))

    @property
    def lengths(self) -> Array:
        """The number of taps of each result."""
        return np.diff(self.starts)

    @property
    def is_gather(self) -> bool:
        """Whether each result is one element."""
        return self.weights is None and bool((self.lengths == 1).all())

    @property
    def are_all(self) -> bool:
        """Whether the results are the elements, in order."""
        identity = np.arange(self.size)
        return self.is_gather and np.array_equal(self.indices, identity)

    def transposed(self) -> Taps:
        """The transposed matrix: for each element, the results that it contributes to, with the same weights."""
        count = len(self.starts) - 1
        results = np.repeat(np.arange(count), self.lengths)
        return Taps.of(self.indices, results, self.weights, self.size, count)

    def applied(self, x: Array, axis: int) -> Array:
        """The results along an axis: a gather if each is one element, else sums in FLOAT64."""
        if self.is_gather:
            return np.take(x, self.indices, axis)
        lengths = self.lengths
        if 1 <= lengths.min() == lengths.max() <= FEW:
            return sum_tap_by_tap(x, self.indices, self.weights, int(lengths[0]), axis)
        products = weighted(np.moveaxis(x, axis, -1), self.indices, self.weights, -1)
        result = np.zeros((*products.shape[:-1], len(lengths)))
        nonempty = lengths > 0
        result[..., nonempty] = np.add.reduceat(products, self.starts[:-1][nonempty], axis=-1)
        return np.moveaxis(result, -1, axis)


def sum_tap_by_tap(x: Array, indices: Array, weights: Array | None, count: int, axis: int) -> Array:
    """The sums of results that have ``count`` taps each."""
    total = None
    for tap in range(count):
        every = slice(tap, None, count)
        part = weighted(x, indices[every], None if weights is None else weights[every], axis)
        total = part if total is None else np.add(total, part, out=total)
    assert total is not None
    return total


def weighted(x: Array, indices: Array, weights: Array | None, axis: int) -> Array:
    """Elements along an axis times their weights, in FLOAT64."""
    elements = np.take(x, indices, axis)
    if weights is None:
        return elements.astype(np.float64)
    return elements * weights.reshape(-1, *(1,) * ((x.ndim - 1 - axis) % x.ndim))


# The taps of consecutive parts of the results; anything but a tuple computes them lazily.
Parts = Iterable[Taps]
# By axis, in the order in which they are applied.
Plan = dict[int, Parts]


def apply(plan: Plan, x: Array) -> Array:
    """The sums along all dimensions of a plan."""
    for axis, parts in plan.items():
        results = [taps.applied(x, axis) for taps in parts]
        x = results[0] if len(results) == 1 else np.concatenate(results, axis)
    return x


def gather_indices(plan: Plan) -> dict[int, Array] | None:
    """The indices along each axis, if all results are elements."""
    indices_by_axis = {}
    for axis, parts in plan.items():
        if not isinstance(parts, tuple) or not all(taps.is_gather for taps in parts):
            return None
        indices_by_axis[axis] = np.concatenate([taps.indices for taps in parts])
    return indices_by_axis


def scratch_for(indices_by_axis: Mapping[int, Array], sizes: Iterable[int], itemsize: int) -> int:
    """The bytes of temporary memory that ``gather_along`` needs."""
    return sum(itemsize * prod(between) for between in sizes_between(indices_by_axis, sizes))


def sizes_between(indices_by_axis: Mapping[int, Array], sizes: Iterable[int]) -> Iterator[list[int]]:
    """The sizes after each axis except the last."""
    current = list(sizes)
    for axis, indices in list(indices_by_axis.items())[:-1]:
        current[axis] = len(indices)
        yield list(current)


def gather_along(indices_by_axis: Mapping[int, Array], x: Array, output: Array, scratch: Array) -> Run:
    """Bind gathers along one axis after the other, and return the call that runs them.

    Dimensions are taken in the order of the output's memory, so that what lies together is gathered together.
    """
    if not indices_by_axis:
        return move([(output, x)])
    order = sorted(range(output.ndim), key=lambda axis: (output.shape[axis] == 1, -abs(output.strides[axis])))
    x, output = x.transpose(order), output.transpose(order)
    runs, used = [], 0
    between = sizes_between(indices_by_axis, [x.shape[order.index(axis)] for axis in range(x.ndim)])
    for axis, indices in indices_by_axis.items():
        sizes = next(between, None)
        target = output
        if sizes is not None:
            end = used + x.itemsize * prod(sizes)
            target, used = scratch[used:end].view(x.dtype).reshape([sizes[each] for each in order]), end
        runs.append(take_along(x, indices, target, order.index(axis)))
        x = target
    return launch_in_order(runs)


def take_along(x: Array, indices: Array, output: Array, axis: int) -> Run:
    """A gather, or a copy from strides of 0 where each element is repeated equally often: images magnified by a whole
    number."""
    size = x.shape[axis]
    times, rest = divmod(len(indices), size)
    is_repeated = times > 1 and not rest and np.array_equal(indices, np.arange(len(indices)) // times)
    if not is_repeated or backend.native is None or x.ndim >= backend.native.lib.DML_MAX_DIMENSIONS:
        return gather(x, indices, output, axis)
    target = output.reshape(*x.shape[: axis + 1], times, *x.shape[axis + 1 :])
    return move([(target, np.broadcast_to(np.expand_dims(x, axis + 1), target.shape))])


def map_apart(function: Function, x: Array, output: Array, along: Iterable[int]) -> Run:
    """Bind ``output = function(x)``, where the function must see whole dimensions ``along`` but only parts of the
    others, and return the call that runs it."""
    whole = set(along)
    inner = max(prod(tensor.shape[axis] for axis in whole) for tensor in (x, output))
    left = max(1, BLOCK // inner)
    lengths = [1] * x.ndim
    for axis in reversed(range(x.ndim)):
        if axis not in whole:
            lengths[axis] = min(x.shape[axis], left)
            left //= lengths[axis]
    grid = Grid([1 if axis in whole else size for axis, size in enumerate(x.shape)], lengths)
    if backend.is_plain or grid.count == 1:
        return partial(map_whole, function, [x], [output])

    def run(numbers: Iterator[int]) -> None:
        for number in numbers:
            block: tuple[Any, ...] = tuple(
                slice(None) if axis in whole else part for axis, part in enumerate(grid.slices_at(number))
            )
            map_whole(function, [x[block]], [output[block]])

    return partial(share, run, grid.count)
