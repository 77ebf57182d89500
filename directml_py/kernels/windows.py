"""Sliding windows over the spatial dimensions of a tensor: sizes, views and reductions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .native_arrays import Array

if TYPE_CHECKING:
    import numpy.typing as npt

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

    def reach(self, output_sizes: Sequence[int]) -> Sizes:
        """The distance from the first element of the first window to the last element of the last, inclusive."""
        terms = zip(output_sizes, self.strides, self.extents)
        return tuple((count - 1) * stride + extent for count, stride, extent in terms)

    def forward(self, sizes: Sequence[int]) -> Sizes:
        """The number of whole windows that fit, plus the output padding; below 1 if not even one fits."""
        terms = zip(sizes, self.paddings, self.extents, self.strides, self.output_padding)
        return tuple(
            (size + padding - extent) // stride + 1 + more for size, padding, extent, stride, more in terms
        )

    def backward(self, output_sizes: Sequence[int]) -> Sizes:
        """The smallest sizes in which this many windows fit, plus the output padding."""
        terms = zip(self.reach(output_sizes), self.paddings, self.output_padding)
        return tuple(reach - padding + more for reach, padding, more in terms)

    def unseen(self, sizes: Sequence[int], output_sizes: Sequence[int]) -> Sizes:
        """The number of elements, padding included, after the last window; negative if that reaches beyond them."""
        return tuple(
            size + padding - reach
            for size, padding, reach in zip(sizes, self.paddings, self.reach(output_sizes))
        )

    def without_output_padding(self, sizes: Sequence[int]) -> Sizes:
        """Output sizes without their padding."""
        return tuple(size - more for size, more in zip(sizes, self.output_padding))

    def hits(self, axis: int, tap: int, elements: range, windows: range) -> tuple[slice, slice] | None:
        """The slices at which element ``tap`` of the window meets ``elements`` along ``axis``.

        Two slices: of ``elements``, and of ``windows``; None if they do not meet.
        """
        stride = self.strides[axis]
        first = tap * self.dilations[axis] - self.start_padding[axis] - elements.start
        low = max(windows.start, -(first // stride))
        high = min(windows.stop, (len(elements) - 1 - first) // stride + 1)
        if low >= high:
            return None
        met = slice(first + low * stride, first + (high - 1) * stride + 1, stride)
        return met, slice(low - windows.start, high - windows.start)

    def padded(self, array: Array, output_sizes: Sizes, dtype: Any = None, value: Any = 0) -> Array:
        """As much of ``array`` as this many windows cover, surrounded by ``value``; copied only if necessary.

        A last window that reaches beyond the end padding covers more of it.
        """
        before = len(array.shape) - len(self.size)
        kind = np.dtype(array.dtype if dtype is None else dtype)
        sizes, reach = array.shape[before:], self.reach(output_sizes)
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

    def view(self, padded: Array, output_sizes: Sizes) -> Array:
        """All windows over the result of ``padded``: leading dimensions, output sizes, then the sizes of the window.
        Read-only."""
        before = len(padded.shape) - len(self.size)
        leading, inner = padded.strides[:before], padded.strides[before:]
        return np.lib.stride_tricks.as_strided(
            padded,
            (*padded.shape[:before], *output_sizes, *self.size),
            (
                *leading,
                *(distance * stride for distance, stride in zip(inner, self.strides)),
                *(distance * dilation for distance, dilation in zip(inner, self.dilations)),
            ),
            writeable=False,
        )

    def fold(self, array: Array, output_sizes: Sizes, function: np.ufunc, initial: Any) -> Array:
        """The reduction by ``function`` of the elements of ``array`` in each window, without padding.

        One dimension is reduced after the other, so ``function`` must be commutative and associative. Windows that
        cover only padding get ``initial``, which is an identity of the function.
        """
        for axis, count in enumerate(output_sizes):
            array = self._fold_axis(array, axis, count, function, initial)
        return array

    def _fold_axis(self, array: Array, axis: int, count: int, function: np.ufunc, initial: Any) -> Array:
        dimension = len(array.shape) - len(self.size) + axis
        result = np.full(
            (*array.shape[:dimension], count, *array.shape[dimension + 1 :]), initial, array.dtype
        )
        source, target = np.moveaxis(array, dimension, 0), np.moveaxis(result, dimension, 0)
        for elements, windows in self._meetings(axis, array.shape[dimension], count):
            if isinstance(windows, int):
                function.reduce(source[elements], axis=0, out=target[windows])
            else:
                function(target[windows], source[elements], out=target[windows])
        return result

    def _meetings(self, axis: int, size: int, count: int) -> Iterator[tuple[slice, slice | int]]:
        """The pairs of ``size`` elements along ``axis`` and ``count`` windows that meet, each once.

        Either elements and as many windows, each of which covers the element at its index, or all elements that one
        window covers: whichever takes fewer iterations.
        """
        if count > self.size[axis]:
            for tap in range(self.size[axis]):
                hits = self.hits(axis, tap, range(size), range(count))
                if hits is not None:
                    yield hits
            return
        for window in range(count):
            elements = self.covered(axis, window, size)
            if elements is not None:
                yield elements, window

    def covered(self, axis: int, window: int, size: int) -> slice | None:
        """The slice of ``size`` elements along ``axis`` that a window covers; None if it covers only padding."""
        dilation = self.dilations[axis]
        first = window * self.strides[axis] - self.start_padding[axis]
        start, stop = (first if first >= 0 else first % dilation), first + self.extents[axis]
        return slice(start, stop, dilation) if start < min(stop, size) else None

    def first_largest(self, array: Array, output_sizes: Sizes) -> tuple[Array, npt.NDArray[np.int64]]:
        """The largest element in each window and, of equal ones, the offset of the first in the spatial block.

        NaN is returned only if a window has nothing else. Windows that cover only padding have the offset -1 and an
        undefined value.
        """
        sizes = array.shape[len(array.shape) - len(self.size) :]
        offsets = np.broadcast_to(np.int64(0), array.shape)
        weight = 1
        # The innermost dimension first: of equal elements the first row has the first.
        for axis in reversed(range(len(sizes))):
            array, offsets = self._first_largest(array, offsets, axis, output_sizes[axis], weight)
            weight *= sizes[axis]
        return array, offsets

    def _first_largest(
        self, array: Array, offsets: npt.NDArray[np.int64], axis: int, count: int, weight: int
    ) -> tuple[Array, npt.NDArray[np.int64]]:
        dimension = len(array.shape) - len(self.size) + axis
        size, may_be_nan = array.shape[dimension], array.dtype.kind == "f"
        shape = (*array.shape[:dimension], count, *array.shape[dimension + 1 :])
        best, best_offsets = np.zeros(shape, array.dtype), np.full(shape, -1, np.int64)
        source, sources = np.moveaxis(array, dimension, -1), np.moveaxis(offsets, dimension, -1)
        target, targets = np.moveaxis(best, dimension, -1), np.moveaxis(best_offsets, dimension, -1)
        for tap in range(self.size[axis]):
            hits = self.hits(axis, tap, range(size), range(count))
            if hits is None:
                continue
            elements, windows = hits
            old, old_offsets = target[..., windows], targets[..., windows]
            new, new_offsets = source[..., elements], sources[..., elements]
            better = (new > old) | (old_offsets < 0)
            if may_be_nan:
                better |= np.isnan(old) & ~np.isnan(new)
            better &= new_offsets >= 0
            np.copyto(old, new, where=better)
            np.copyto(old_offsets, new_offsets + np.arange(size)[elements] * weight, where=better)
        return best, best_offsets

    def counts(self, sizes: Sizes, output_sizes: Sizes, with_padding: bool) -> list[npt.NDArray[np.int64]]:
        """For each dimension, the number of elements that each window covers: of the array, or of its padding too."""
        result = []
        for axis, (size, count) in enumerate(zip(sizes, output_sizes)):
            start, end = (self.start_padding[axis], self.end_padding[axis]) if with_padding else (0, 0)
            # Element ``tap`` of a window lies at ``begin + tap * dilation``, from -start to size + end - 1.
            begin = np.arange(count) * self.strides[axis] - self.start_padding[axis]
            first = np.maximum(0, -((begin + start) // self.dilations[axis]))
            behind = np.minimum(self.size[axis], (size + end - 1 - begin) // self.dilations[axis] + 1)
            result.append(np.maximum(0, behind - first))
        return result
