"""Fills: elements that are made out of their numbers, a block at a time."""

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
    """Give the call that stores elements in ``output``, numbered in the order of its coordinates.

    ``elements(first, count)`` makes those from number ``first`` on, in one dimension; they are rounded when they are
    stored, and integers wrap.
    """
    output = merged(output)
    steps, left = [], BLOCK
    for size in reversed(output.shape):
        steps.append(min(size, left))
        left //= steps[-1]
    grid = Grid(output.shape, reversed(steps))
    return partial(share, partial(fill_blocks, elements, output, grid), grid.count)


def fill_blocks(elements: Elements, output: Array, grid: Grid, numbers: Iterator[int]) -> None:
    """Fill the blocks of these numbers; the elements of each follow one another."""
    with np.errstate(all="ignore"):
        for number in numbers:
            place = grid.slices_at(number)
            part = output[place]
            first = 0
            for size, along in zip(output.shape, place):
                first = first * size + along.start
            half.store(part, elements(first, part.size).reshape(part.shape))


def merged(array: Array) -> Array:
    """A view with as few dimensions as may be, its elements in the same order."""
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
