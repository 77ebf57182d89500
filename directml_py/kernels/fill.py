"""Fills: elements computed from their numbers, a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from . import half
from .cache_blocks import BLOCK, Grid
from .native_arrays import Array, Run
from .threads import share

Elements = Callable[[int, int], Array]


def fill(elements: Elements, output: Array) -> Run:
    """The call that stores elements in ``output``, numbered in coordinate order.

    ``elements(first, count)`` returns those from number ``first`` on, as a 1-D array; they are rounded when stored, and
    integers wrap.
    """
    output = merged(output)
    steps, left = [], BLOCK
    for size in reversed(output.shape):
        steps.append(min(size, left))
        left //= steps[-1]
    grid = Grid(output.shape, reversed(steps))
    return partial(share, partial(fill_blocks, elements, output, grid), grid.count)


def fill_blocks(elements: Elements, output: Array, grid: Grid, numbers: Iterator[int]) -> None:
    """Fill the blocks with these numbers; the elements of each block are consecutive."""
    with np.errstate(all="ignore"):
        for number in numbers:
            place = grid.slices_at(number)
            part = output[place]
            first = 0
            for size, along in zip(output.shape, place):
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
