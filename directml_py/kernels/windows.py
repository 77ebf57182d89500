"""Sliding windows over the spatial dimensions of a tensor: sizes, views and reductions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .native_arrays import Array

Sizes = tuple[int, ...]


class Window(NamedTuple):
    """A window over the last dimensions of an array; all values are in elements, one per dimension.

    Its ``size`` elements lie ``dilations`` apart. It moves in steps of ``strides`` elements over an array that
    ``start_padding`` and ``end_padding`` surround. Forward convolution and all pools go from the sizes of the array to
    the count of steps; backward convolution goes the other way. ``output_padding`` is added to the result.
    """

    size: Sizes
    strides: Sizes
    dilations: Sizes
    start_padding: Sizes
    end_padding: Sizes
    output_padding: Sizes

    @classmethod
    def of(
        cls,
        size: Sequence[int],
        strides: Sequence[int] = (),
        dilations: Sequence[int] = (),
        start_padding: Sequence[int] = (),
        end_padding: Sequence[int] = (),
        output_padding: Sequence[int] = (),
    ) -> Window:
        """Omitted strides and dilations are 1, omitted paddings 0."""
        ones, zeros = (1,) * len(size), (0,) * len(size)
        return cls(
            tuple(size),
            tuple(strides) or ones,
            tuple(dilations) or ones,
            tuple(start_padding) or zeros,
            tuple(end_padding) or zeros,
            tuple(output_padding) or zeros,
        )

    @property
    def extents(self) -> Sizes:
        """The distance from the first to the last element of the window, inclusive, with dilations."""
        return tuple(1 + (size - 1) * dilation for size, dilation in zip(self.size, self.dilations))

    @property
    def paddings(self) -> Sizes:
        return tuple(start + end for start, end in zip(self.start_padding, self.end_padding))

    def reach(self, steps: Sequence[int]) -> Sizes:
        """The distance from the first element of the first step to the last element of the last, inclusive."""
        terms = zip(steps, self.strides, self.extents)
        return tuple((count - 1) * stride + extent for count, stride, extent in terms)

    def forward(self, sizes: Sequence[int]) -> Sizes:
        """The number of whole steps that fit, plus the output padding; below 1 if not even one fits."""
        terms = zip(sizes, self.paddings, self.extents, self.strides, self.output_padding)
        return tuple(
            (size + padding - extent) // stride + 1 + more for size, padding, extent, stride, more in terms
        )

    def backward(self, steps: Sequence[int]) -> Sizes:
        """The smallest sizes in which this many steps fit, plus the output padding."""
        terms = zip(self.reach(steps), self.paddings, self.output_padding)
        return tuple(reach - padding + more for reach, padding, more in terms)

    def unseen(self, sizes: Sequence[int], steps: Sequence[int]) -> Sizes:
        """The number of elements, padding included, after the last step; negative if that reaches beyond them."""
        return tuple(
            size + padding - reach for size, padding, reach in zip(sizes, self.paddings, self.reach(steps))
        )

    def without_output_padding(self, sizes: Sequence[int]) -> Sizes:
        """Output sizes without their padding."""
        return tuple(size - more for size, more in zip(sizes, self.output_padding))

    def hits(self, axis: int, tap: int, elements: range, steps: range) -> tuple[slice, slice] | None:
        """The slices at which element ``tap`` of the window meets ``elements`` along ``axis``.

        Two slices: of ``elements``, and of ``steps``; None if they do not meet.
        """
        stride = self.strides[axis]
        first = tap * self.dilations[axis] - self.start_padding[axis] - elements.start
        low = max(steps.start, -(first // stride))
        high = min(steps.stop, (len(elements) - 1 - first) // stride + 1)
        if low >= high:
            return None
        met = slice(first + low * stride, first + (high - 1) * stride + 1, stride)
        return met, slice(low - steps.start, high - steps.start)

    def padded(self, array: Array, steps: Sizes, dtype: Any = None, value: Any = 0) -> Array:
        """As much of ``array`` as this many steps cover, surrounded by ``value``; copied only if necessary.

        A last step that reaches beyond the end padding covers more of it.
        """
        before = len(array.shape) - len(self.size)
        kind = np.dtype(array.dtype if dtype is None else dtype)
        sizes, reach = array.shape[before:], self.reach(steps)
        if not any(self.start_padding) and all(far <= size for far, size in zip(reach, sizes)):
            return array.astype(kind, copy=False)
        result = np.full((*array.shape[:before], *reach), value, kind)
        target: list[Any] = [...]
        source: list[Any] = [...]
        for start, size, far in zip(self.start_padding, sizes, reach):
            count = max(0, min(size, far - start))
            target.append(slice(start, start + count))
            source.append(slice(count))
        result[tuple(target)] = array[tuple(source)]
        return result

    def view(self, padded: Array, steps: Sizes) -> Array:
        """The window of each step over the result of ``padded``: leading dimensions, then steps, then the window.
        Read-only."""
        before = len(padded.shape) - len(self.size)
        leading, inner = padded.strides[:before], padded.strides[before:]
        return np.lib.stride_tricks.as_strided(
            padded,
            (*padded.shape[:before], *steps, *self.size),
            (
                *leading,
                *(step * stride for step, stride in zip(inner, self.strides)),
                *(step * dilation for step, dilation in zip(inner, self.dilations)),
            ),
            writeable=False,
        )

    def fold(self, array: Array, steps: Sizes, function: np.ufunc, initial: Any) -> Array:
        """The reduction by ``function`` of the elements of ``array`` in each window, without padding.

        One dimension is reduced after the other, so ``function`` must be commutative and associative. Windows that
        cover only padding get ``initial``, which is an identity of the function.
        """
        for axis, count in enumerate(steps):
            array = self._fold_axis(array, axis, count, function, initial)
        return array

    def _fold_axis(self, array: Array, axis: int, count: int, function: np.ufunc, initial: Any) -> Array:
        place = len(array.shape) - len(self.size) + axis
        result = np.full((*array.shape[:place], count, *array.shape[place + 1 :]), initial, array.dtype)
        source, target = np.moveaxis(array, place, 0), np.moveaxis(result, place, 0)
        for elements, steps in self._meetings(axis, array.shape[place], count):
            if isinstance(steps, int):
                function.reduce(source[elements], axis=0, out=target[steps])
            else:
                function(target[steps], source[elements], out=target[steps])
        return result

    def _meetings(self, axis: int, size: int, count: int) -> Iterator[tuple[slice, slice | int]]:
        """The pairs of ``size`` elements along ``axis`` and ``count`` steps that meet, each once.

        Either elements and as many steps, each of which covers the element at its index, or all elements that one step
        covers: whichever takes fewer iterations.
        """
        if count > self.size[axis]:
            for tap in range(self.size[axis]):
                places = self.hits(axis, tap, range(size), range(count))
                if places is not None:
                    yield places
            return
        for step in range(count):
            elements = self.seen(axis, step, size)
            if elements is not None:
                yield elements, step

    def seen(self, axis: int, step: int, size: int) -> slice | None:
        """The slice of ``size`` elements along ``axis`` that a step covers; None if it covers only padding."""
        dilation = self.dilations[axis]
        first = step * self.strides[axis] - self.start_padding[axis]
        start, stop = (first if first >= 0 else first % dilation), first + self.extents[axis]
        return slice(start, stop, dilation) if start < min(stop, size) else None

    def first_largest(self, array: Array, steps: Sizes) -> tuple[Array, npt.NDArray[np.int64]]:
        """The largest element in each window and, of equal ones, the offset of the first in the spatial block.

        NaN is returned only if a window has nothing else. Windows that cover only padding have the offset -1 and an
        undefined value.
        """
        sizes = array.shape[len(array.shape) - len(self.size) :]
        offsets = np.broadcast_to(np.int64(0), array.shape)
        weight = 1
        # The innermost dimension first: of equal elements the first row has the first.
        for axis in reversed(range(len(sizes))):
            array, offsets = self._first_largest(array, offsets, axis, steps[axis], weight)
            weight *= sizes[axis]
        return array, offsets

    def _first_largest(
        self, array: Array, offsets: npt.NDArray[np.int64], axis: int, count: int, weight: int
    ) -> tuple[Array, npt.NDArray[np.int64]]:
        place = len(array.shape) - len(self.size) + axis
        size, may_be_nan = array.shape[place], array.dtype.kind == "f"
        shape = (*array.shape[:place], count, *array.shape[place + 1 :])
        best, best_offsets = np.zeros(shape, array.dtype), np.full(shape, -1, np.int64)
        source, sources = np.moveaxis(array, place, -1), np.moveaxis(offsets, place, -1)
        target, targets = np.moveaxis(best, place, -1), np.moveaxis(best_offsets, place, -1)
        for tap in range(self.size[axis]):
            places = self.hits(axis, tap, range(size), range(count))
            if places is None:
                continue
            elements, steps = places
            old, old_offsets = target[..., steps], targets[..., steps]
            new, new_offsets = source[..., elements], sources[..., elements]
            better = (new > old) | (old_offsets < 0)
            if may_be_nan:
                better |= np.isnan(old) & ~np.isnan(new)
            better &= new_offsets >= 0
            np.copyto(old, new, where=better)
            np.copyto(old_offsets, new_offsets + np.arange(size)[elements] * weight, where=better)
        return best, best_offsets

    def counts(self, sizes: Sizes, steps: Sizes, with_padding: bool) -> list[npt.NDArray[np.int64]]:
        """For each dimension, the number of elements that each step covers: of the array, or of its padding too."""
        result = []
        for axis, (size, count) in enumerate(zip(sizes, steps)):
            start, end = (self.start_padding[axis], self.end_padding[axis]) if with_padding else (0, 0)
            # Element ``tap`` of a step lies at ``place + tap * dilation``, which must be from -start to size + end - 1.
            place = np.arange(count) * self.strides[axis] - self.start_padding[axis]
            first = np.maximum(0, -((place + start) // self.dilations[axis]))
            behind = np.minimum(self.size[axis], (size + end - 1 - place) // self.dilations[axis] + 1)
            result.append(np.maximum(0, behind - first))
        return result
