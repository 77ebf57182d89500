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


FLOAT64 = np.dtype(np.float64)


def sequence(start: Any, delta: Any, output: Array) -> Run:
    """The call that stores ``start + i * delta`` in ``output``, where ``i`` is an element's number in coordinate order.

    ``start`` and ``delta`` have the type of ``output``. Integers wrap; for floats the product and the sum are each
    rounded to the type, or to FLOAT32 if that is FLOAT16.
    """
    if backend.native is None:
        Declined("arange", ABSENT)
        return fill(partial(numpy_elements, start, delta), output)
    take("arange")
    call = partial(native_elements, word_of(start), word_of(delta))
    if output.flags.c_contiguous and output.flags.aligned:
        return partial(run_over, call(output, 0), output)

    def elements(first: int, count: int) -> Array:
        values = np.empty(count, output.dtype)
        call(values, first)()
        return values

    return fill(elements, output)


def word_of(value: Any) -> int:
    """A start or a step as the native kernel has it; only as many low bits as the output has matter."""
    wide = FLOAT64 if value.dtype.kind == "f" else np.dtype(np.int64)
    return int(value.astype(wide).view(np.uint64))


def native_elements(start: int, delta: int, output: Array, first: int) -> Run:
    """The native kernel: stores elements from number ``first`` on in a contiguous ``output``, which must live on."""
    numbers = output.itemsize, output.dtype.kind == "f", first, output.size, start, delta
    return partial(backend.native.lib.dml_arange, address(output), *numbers)


def run_over(call: Run, memory: Array) -> None:
    """``call``, which refers to ``memory`` by its address alone."""
    call()


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
