"""Reads through linear indices of out-of-range coordinates, which run into the next row or beyond the tensor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import starmap
from typing import Any

import numpy as np

from .gather_scatter_nd import (
    Coordinates,
    as_rows,
    gather_rows_nd,
    native_gather,
    native_gather_scatter,
    reference_gather,
    sizes_of,
)
from .launch import NativeRun
from .native_arrays import Array, Run

# Farther than any memory, and small enough to be multiplied.
FAR = 1 << 24


def is_inside(indices: Array, size: int) -> bool:
    """Whether all indices are within a dimension, with negative ones counted from its end."""
    if indices.size == 0:
        return True
    lowest = -size if indices.dtype.kind == "i" else 0
    return int(indices.min()) >= lowest and int(indices.max()) < size


def gather_within(x: Array, indices: Array, output: Array, axis: int, outside: Run) -> Run:
    """``gather``, then ``outside`` if an index was outside ``axis``, with negative ones counted from its end."""
    native = native_gather(x, indices, output, axis)
    if native:
        return unless_outside(native, outside)
    in_bounds = partial(reference_gather, x, indices, output, axis)
    return lambda: in_bounds() if is_inside(indices, x.shape[axis]) else outside()


def gather_nd_within(x: Array, coordinates: Coordinates, output: Array, scratch: Array, outside: Run) -> Run:
    """``gather_nd``, then ``outside`` if a coordinate was outside its dimension, with negative ones counted from its
    end."""
    native = native_gather_scatter("CLAMPED", x, coordinates, output)
    if native:
        return unless_outside(native, outside)
    in_bounds = gather_rows_nd(x, coordinates, output, scratch)
    bounded = [(indices, size) for indices, size in zip(coordinates, x.shape) if indices is not None]
    return lambda: in_bounds() if all(starmap(is_inside, bounded)) else outside()


def unless_outside(native: NativeRun, outside: Run) -> Run:
    """The call of ``native``, then of ``outside`` if it met an index that is outside."""
    return partial(run_unless_outside, native, native.task, outside)


def run_unless_outside(native: NativeRun, task: Any, outside: Run) -> None:
    native()
    if task.outside:
        task.outside = 0
        outside()


def wrapped(indices: Array, size: int) -> Array:
    """Indices after counting negative ones from the end, once, clamped far beyond any memory."""
    if indices.dtype.kind == "u":
        return np.minimum(indices, size + FAR).astype(np.int64)
    wide = np.clip(indices.astype(np.int64), -size - FAR, size + FAR)
    return np.where(wide < 0, wide + size, wide)


def spread(coordinate: Array, stride: int, axis: int, rank: int) -> Array:
    """Linear index contributions along one of ``rank`` dimensions."""
    shape = [1] * rank
    shape[axis] = coordinate.size
    return (coordinate * stride).reshape(shape)


def read(x: Array, addresses: Array) -> Array:
    """The elements at these linear indices from the first element of ``x``; 0 outside the memory of ``x``, as Direct3D
    reads beyond buffers."""
    rows, first = as_rows(x, x.ndim)
    indices = addresses + first
    inside = (indices >= 0) & (indices < len(rows))
    elements: Array = np.where(inside, rows[np.where(inside, indices, 0)], x.dtype.type(0))
    return elements


def strides_of(x: Array) -> list[int]:
    return [stride // x.itemsize for stride in x.strides]


def gather_linear(x: Array, coordinates: Coordinates) -> Array:
    """``gather_scatter_nd.read_whole`` by linear indices: the sum of all coordinates times their strides."""
    sizes, strides = sizes_of(coordinates), strides_of(x)
    trail = x.shape[len(coordinates) :]
    rank = len(sizes) + len(trail)
    addresses = np.zeros((1,) * rank, np.int64)
    for dimension, (indices, size, stride) in enumerate(zip(coordinates, x.shape, strides)):
        if indices is None:
            addresses = addresses + spread(np.arange(sizes[dimension]), stride, dimension, rank)
        else:
            products = wrapped(indices, size) * stride
            addresses = addresses + products.reshape((*products.shape, *(1,) * len(trail)))
    for axis, (size, stride) in enumerate(zip(trail, strides[len(coordinates) :]), len(sizes)):
        addresses = addresses + spread(np.arange(size), stride, axis, rank)
    return read(x, addresses)


def take(x: Array, indices: Array, axis: int, is_batched: bool = False) -> Array:
    """``np.take`` by linear indices. Batched, each ``x[b]`` is indexed by its own ``indices[b]``."""
    strides, size = strides_of(x), x.shape[axis]
    lead = int(is_batched)
    added = indices.ndim - lead - 1
    products = wrapped(indices, size) * strides[axis]
    behind = (1,) * (x.ndim - 1 - axis)
    addresses = products.reshape(
        products.shape[:lead] + (1,) * (axis - lead) + products.shape[lead:] + behind
    )
    others: Sequence[int] = [dimension for dimension in range(x.ndim) if dimension != axis]
    for dimension in others:
        dimension_of_result = dimension if dimension < axis else dimension + added
        addresses = addresses + spread(
            np.arange(x.shape[dimension]), strides[dimension], dimension_of_result, x.ndim + added
        )
    return read(x, addresses)
