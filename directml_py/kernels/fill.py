"""Fills, a block at a time: elements computed from their numbers, and sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from . import half
from .backend import backend
from .cache_blocks import BLOCK, Grid
from .decisions import ABSENT, Declined, take
from .launch import NativeRun
from .native_arrays import Array, Run, address
from .threads import share

Elements = Callable[[int, int], Array]


def fill(elements: Elements, output: Array) -> Run:
    """The call that stores elements in ``output``, numbered in coordinate order.

    ``elements(first, count)`` returns those from number ``first`` on, as a 1-D array; they are rounded when stored, and
    integers wrap.
    """
    output = merged(output)
    lengths, left = [], BLOCK
    for size in reversed(output.shape):
        lengths.append(min(size, left))
        left //= lengths[-1]
    grid = Grid(output.shape, reversed(lengths))
    return partial(share, partial(fill_blocks, elements, output, grid), grid.count)


def fill_blocks(elements: Elements, output: Array, grid: Grid, numbers: Iterator[int]) -> None:
    """Fill the blocks with these numbers; the elements of each block are consecutive."""
    with np.errstate(all="ignore"):
        for number in numbers:
            block = grid.slices_at(number)
            part = output[block]
            first = 0
            for size, along in zip(output.shape, block):
                first = first * size + along.start
            half.store(part, elements(first, part.size).reshape(part.shape))


def merged(array: Array) -> Array:
    """A view with as few dimensions as possible, with its elements in the same order."""
    sizes, strides = [1], [array.itemsize]
    for size, stride in zip(array.shape, array.strides):
        if size == 1:
            continue
        if sizes[-1] == 1 or strides[-1] == stride * size:
            sizes[-1] *= size
        else:
            sizes.append(size)
            strides.append(0)
        strides[-1] = stride
    return np.lib.stride_tricks.as_strided(array, sizes, strides)


def sequence(start: Any, delta: Any, output: Array) -> Run:
    """The call that stores ``start + i * delta`` in ``output``, where ``i`` is an element's number in coordinate order.

    ``start`` and ``delta`` have the type of ``output``. Integers wrap; for floats the product and the sum are each
    rounded to the type, or to FLOAT32 if that is FLOAT16.
    """
    if backend.native is None:
        Declined("fill", ABSENT)
        return fill(partial(numpy_elements, start, delta), output)
    if output.dtype.kind == "f":
        ends = {"float_start": float(start), "float_delta": float(delta)}
    else:
        ends = {"start": int(start) % 2**64, "delta": int(delta) % 2**64}
    kind = f"{'FLOAT' if output.dtype.kind == 'f' else 'INTEGER'}{8 * output.itemsize}"
    if output.flags.c_contiguous and output.flags.aligned:
        return native_fill(kind, output, **ends)
    take("fill")

    def elements(first: int, count: int) -> Array:
        values = np.empty(count, output.dtype)
        native_fill(kind, values, first=first, **ends)()
        return values

    return fill(elements, output)


def native_fill(kind: str, output: Array, **fields: Any) -> NativeRun:
    """The native kernel, over a contiguous ``output``; ``fields`` are others of its task."""
    native = backend.native
    task = native.ffi.new("dml_fill *", {"elements": address(output), "count": output.size, **fields})
    task.kind = getattr(native.lib, f"DML_FILL_{kind}")
    return NativeRun("dml_fill_run", task, keepalive=output)


def numpy_elements(start: Any, delta: Any, first: int, count: int) -> Array:
    """The reference. Integers, which wrap, are computed as unsigned integers of the same width."""
    if start.dtype.kind == "f":
        kind = np.result_type(start.dtype, np.float32)
        start, delta = start.astype(kind), delta.astype(kind)
    else:
        kind = np.dtype(f"u{start.dtype.itemsize}")
        start, delta = start.view(kind), delta.view(kind)
    numbers = np.arange(first, first + count, dtype=np.int64).astype(kind)
    numbers *= delta
    numbers += start
    return numbers
