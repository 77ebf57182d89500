"""Matrix products over NumPy's BLAS, and convolutions as matrix products by im2col, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from .native_arrays import Array
from .windows import Sizes, Window

# The size of an im2col block: large enough for BLAS, small enough for the processor's cache.
BLOCK_BYTES = 1 << 22
# An unrolled element is written once; a product is written, read and added.
PRODUCTS_COST = 3
# Integers up to here are exact in FLOAT32 and in FLOAT64.
EXACT_FLOAT32, EXACT = 1 << 24, 1 << 53


def count_of(sizes: Sizes) -> int:
    return reduce(mul, sizes, 1)


def matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """Products of the matrices in the last two dimensions; the leading dimensions broadcast.

    Floats are computed in their common type, at least FLOAT32, in ``out`` if that has the type. Integers are exact
    modulo 2**64, as INT64 (UINT64 if either operand is).
    """
    if _are_floats(a, b):
        kind = np.result_type(a, b, np.float32)
        return _matmul(a, b, kind, out if out is not None and out.dtype == kind else None)
    whole = np.dtype(np.uint64 if np.uint64 in (a.dtype, b.dtype) else np.int64)
    largest = a.shape[-1] * _peak(a) * _peak(b)
    if largest <= EXACT:
        return _matmul(a, b, exact_float(largest)).astype(whole)
    # NumPy's own loop, which is slow and wraps.
    return _matmul(a, b, whole)


def _matmul(a: Array, b: Array, kind: np.dtype[Any], out: Array | None = None) -> Array:
    product: Array = np.matmul(a.astype(kind, copy=False), b.astype(kind, copy=False), out=out)
    return product


def _working_type(x: Array, weights: Array, count: int) -> np.dtype[Any]:
    """The type in which a convolution sums ``count`` products: for integers, a BLAS float type in which all sums are
    exact, in any order."""
    if _are_floats(x, weights):
        return np.result_type(x, weights, np.float32)
    return exact_float(count * _peak(x) * _peak(weights))


def exact_float(largest: int) -> np.dtype[Any]:
    """A float type that represents all integers up to ``largest`` (at most 2**53) in magnitude."""
    return np.dtype(np.float32 if largest <= EXACT_FLOAT32 else np.float64)


def _peak(array: Array) -> int:
    """The largest magnitude among the integers."""
    return max(-int(array.min()), int(array.max()))


def _results(sizes: Sizes, kind: np.dtype[Any], out: Array | None) -> Array:
    """Memory for the sums: ``out``, if it can hold them."""
    if out is not None and out.dtype == kind and out.flags.c_contiguous:
        return out.reshape(sizes)
    return np.empty(sizes, kind)


def _finished(result: Array, x: Array, weights: Array) -> Array:
    return result if _are_floats(x, weights) else result.astype(np.int64)


def _are_floats(a: Array, b: Array) -> bool:
    return a.dtype.kind == "f" and b.dtype.kind == "f"


def convolve(
    x: Array, weights: Array, window: Window, output_sizes: Sizes, groups: int = 1, out: Array | None = None
) -> Array:
    """Cross-correlation of ``x`` with ``weights``: {N, C, ...} and {M, C / groups, ...} give {N, M, *output_sizes}.

    The filter is not flipped, and output padding is left to the caller. Floats are returned in their common type, at
    least FLOAT32; integers of up to 16 bits, exact, as INT64. The result is in ``out`` if that is contiguous and has
    the type.
    """
    channels, outputs = x.shape[1] // groups, weights.shape[0] // groups
    kind = _working_type(x, weights, channels * count_of(window.size))
    rows = np.ascontiguousarray(weights, kind).reshape(groups, outputs, -1)
    result = _results((x.shape[0], groups, outputs, *output_sizes), kind, out)
    # With few outputs, it is cheaper to move the products than to unroll the input. Zero padding is then not
    # multiplied, which shows if the filter is not finite.
    moves = PRODUCTS_COST * outputs * count_of(x.shape[2:]) < channels * count_of(output_sizes)
    moves = moves and bool(np.isfinite(rows).all())
    for image, target in zip(x, result):
        grouped = image.reshape(groups, channels, *image.shape[1:])
        if moves:
            target.fill(0)
            taps = rows.reshape(groups, outputs, channels, -1).swapaxes(2, 3).reshape(groups, -1, channels)
            _add_products(grouped, taps, window, target, forward=True)
        else:
            _unroll(grouped, rows, window, output_sizes, target.reshape(groups, outputs, -1))
    return _finished(result, x, weights).reshape(x.shape[0], groups * outputs, *output_sizes)


def convolve_back(
    x: Array, weights: Array, window: Window, sizes: Sizes, groups: int = 1, out: Array | None = None
) -> Array:
    """The transpose of ``convolve``: {N, C, ...} and {C, M / groups, ...} give {N, M, *sizes}.

    Each element of ``x`` is a window position, over whose elements its products are added. Elements that no window
    covers are 0. ``out`` as in ``convolve``.
    """
    channels, outputs = x.shape[1] // groups, weights.shape[1]
    kind = _working_type(x, weights, channels * count_of(window.size))
    rows = weights.reshape(groups, channels, -1).swapaxes(1, 2).astype(kind, copy=False)
    result = _results((x.shape[0], groups, outputs, *sizes), kind, out)
    result.fill(0)
    for image, target in zip(x, result):
        grouped = image.reshape(groups, channels, *image.shape[1:])
        _add_products(grouped, rows, window, target, forward=False)
    return _finished(result, x, weights).reshape(x.shape[0], groups * outputs, *sizes)


def _unroll(x: Array, rows: Array, window: Window, output_sizes: Sizes, target: Array) -> None:
    """im2col: {G, M, C * window} times the columns of x {G, C, ...}, into {G, M, columns}."""
    groups, channels, depth = rows.shape[0], x.shape[1], rows.shape[2]
    padded = window.padded(x, output_sizes, rows.dtype)
    if depth == channels and padded.shape[2:] == output_sizes:
        np.matmul(rows, padded.reshape(groups, channels, -1), out=target)
        return
    dimensions = len(output_sizes)
    order = (0, 1, *range(2 + dimensions, 2 + 2 * dimensions), *range(2, 2 + dimensions))
    view = window.view(padded, output_sizes).transpose(order)
    limit = min(target.shape[2], max(1, BLOCK_BYTES // (depth * rows.itemsize)))
    together = min(groups, max(1, BLOCK_BYTES // (limit * depth * rows.itemsize)))
    buffer = np.empty(together * depth * limit, rows.dtype)
    for group in range(0, groups, together):
        group_slice = slice(group, group + together)
        for start, ranges in blocks(output_sizes, limit):
            every = (group_slice, *(slice(None),) * (1 + dimensions))
            taps = view[every + tuple(slice(part.start, part.stop) for part in ranges)]
            unrolled = buffer[: taps.size].reshape(taps.shape)
            np.copyto(unrolled, taps)
            columns = unrolled.reshape(taps.shape[0], depth, -1)
            np.matmul(
                rows[group_slice], columns, out=target[group_slice, :, start : start + columns.shape[2]]
            )


def _add_products(x: Array, rows: Array, window: Window, target: Array, forward: bool) -> None:
    """col2im: {G, M * window, C} times x {G, C, ...}, each product added to its element of the target {G, M, ...}.

    Forward, x is the input and the target the output; backward it is the other way round.
    """
    whole = [range(size) for size in target.shape[2:]]
    for ranges, products in _products(x, rows, window):
        for tap in np.ndindex(*window.size):
            parts = zip(ranges, whole) if forward else zip(whole, ranges)
            hits = [
                window.hits(axis, number, elements, windows)
                for axis, (number, (elements, windows)) in enumerate(zip(tap, parts))
            ]
            met = [hit for hit in hits if hit is not None]
            if len(met) == len(hits):
                elements, windows = (tuple(slices) for slices in zip(*met))
                source, destination = (elements, windows) if forward else (windows, elements)
                every = (slice(None), slice(None))
                target[every + destination] += products[every + tap + source]


def _products(x: Array, rows: Array, window: Window) -> Iterator[tuple[tuple[range, ...], Array]]:
    """{G, M * window, C} times x {G, C, ...}: blocks of the product as {G, M, *window, ...}, each with its slices of
    x."""
    groups, depth, channels = rows.shape
    flat = x.astype(rows.dtype, copy=False).reshape(groups, channels, -1)
    limit = max(1, BLOCK_BYTES // (groups * depth * rows.itemsize))
    for start, ranges in blocks(x.shape[2:], limit):
        lengths = [len(part) for part in ranges]
        products = np.matmul(rows, flat[:, :, start : start + count_of(tuple(lengths))])
        yield ranges, products.reshape(groups, -1, *window.size, *lengths)


def blocks(sizes: Sizes, limit: int) -> Iterator[tuple[int, tuple[range, ...]]]:
    """Divide an array of ``sizes`` into runs of at most ``limit`` elements, in memory order.

    Yields the offset and the slices of each: a single element in the leading dimensions, a range in the next, and all
    of the rest.
    """
    inner = [count_of(sizes[axis + 1 :]) for axis in range(len(sizes))]
    axis = next(index for index, count in enumerate(inner) if count <= limit)
    length = limit // inner[axis]
    whole = [range(size) for size in sizes[axis + 1 :]]
    for outer in np.ndindex(*sizes[:axis]):
        start = sum(index * count for index, count in zip(outer, inner))
        before = [range(index, index + 1) for index in outer]
        for first in range(0, sizes[axis], length):
            last = min(first + length, sizes[axis])
            yield start + first * inner[axis], (*before, range(first, last), *whole)
