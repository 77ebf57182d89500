"""Row-wise maps: functions that need all elements along some axes at once, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from . import half
from .backend import backend
from .cache_blocks import BLOCK, Grid, Slices
from .elementwise.map import map_whole, store
from .native_arrays import Array, Run
from .reorder import Reorders, lie_together
from .threads import share

Function = Callable[..., Any]
Arrays = Sequence["Array | None"]
# The elements of one or two cache lines.
LINE = 16


def map_rows(function: Function, inputs: Arrays, outputs: Arrays, axes: Sequence[int]) -> Run:
    """Bind arrays, and return the call that stores ``function`` of the inputs in the outputs.

    All arrays have equally many dimensions, in which sizes are equal or 1, and one of them has the largest size
    everywhere; along ``axes`` outputs may have any sizes.

    ``function`` takes an array for each input, None for an absent one, and returns an array, or a tuple with one for
    each output; it must not modify its arguments. It receives the whole extent of the dimensions ``axes`` and any part
    of the others, and its results must not depend on anything else. FLOAT16 arrives as FLOAT32; results are rounded
    once, when they are stored. An output may lie in place of an input. Results are the same in whatever layout: the
    function receives blocks of packed inputs.
    """
    arrays = [array for array in (*inputs, *outputs) if array is not None]
    sizes = tuple(map(max, zip(*(array.shape for array in arrays))))
    grid = Grid(sizes, row_lengths(sizes, axes))
    reorders = Reorders()
    inputs = [None if x is None else reorders.read(x, lie_together(x)) for x in inputs]
    outputs = [None if one is None else reorders.write(one, True, inputs) for one in outputs]
    if backend.is_plain or grid.count == 1:
        run: Run = partial(map_whole, function, inputs, outputs)
    else:
        run = partial(share, partial(run_rows, function, inputs, outputs, grid), grid.count)
    return reorders.around(run)


def row_lengths(sizes: Sequence[int], axes: Sequence[int]) -> list[int]:
    """The sizes of a block: as many whole rows as fit, at least one, preferring those adjacent in packed memory.

    Where rows are closer together than their own elements, a block holds as many as share a cache line.
    """
    lengths = [size if axis in axes else 1 for axis, size in enumerate(sizes)]
    innermost = max((axis for axis in axes if sizes[axis] > 1), default=-1)
    kept = [axis for axis, size in enumerate(sizes) if axis not in axes and size > 1]
    for position, axis in enumerate(reversed(kept)):
        least = LINE if position == 0 and axis > innermost >= 0 else 1
        lengths[axis] = min(sizes[axis], max(least, BLOCK // prod(lengths)))
    return lengths


def run_rows(function: Function, inputs: Arrays, outputs: Arrays, grid: Grid, numbers: Iterator[int]) -> None:
    with np.errstate(all="ignore"):
        for number in numbers:
            block = grid.slices_at(number)
            parts = [None if x is None else half.widened(part(x, block)) for x in inputs]
            targets = [None if output is None else part(output, block) for output in outputs]
            store(targets, function(*parts))


def part(array: Array, block: Slices) -> Array:
    """The part of ``array`` at ``slices_at``; along broadcast dimensions it is the same everywhere."""
    return array[tuple(slice(None) if size == 1 else index for size, index in zip(array.shape, block))]
