"""Element-wise maps, a cache block at a time, so that a chain of functions passes over memory once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from .. import half
from ..backend import backend
from ..cache_blocks import BLOCK, Grid, Slices, block_sizes, joined
from ..move import move
from ..native_arrays import Array, Run
from ..reorder import packed
from ..threads import share
from .lower import mapped

Function = Callable[..., Any]
Arrays = Sequence["Array | None"]


def map_elements(function: Function, inputs: Arrays, outputs: Arrays) -> Run:
    """``map_blocks``, in the native kernel if ``function`` can be traced.

    ``function`` must be pure and element-wise.
    """
    return mapped(function, inputs, outputs) or map_blocks(function, inputs, outputs)


def map_blocks(function: Function, inputs: Arrays, outputs: Arrays) -> Run:
    """Bind arrays of equal sizes, and return the call that stores ``function`` of the inputs' elements in the outputs.

    ``function`` takes an array for each input, None for an absent one, and returns an array, or a tuple with one for
    each output; it must not modify its arguments. FLOAT16 arrives as FLOAT32; results are rounded once, when they are
    stored. Inputs may be smaller if they broadcast. An input and an output must be either disjoint in memory or
    identical.
    """
    sizes = next(output.shape for output in outputs if output is not None)
    inputs = [None if x is None else np.broadcast_to(x, sizes) for x in inputs]
    if backend.is_plain or prod(sizes) <= BLOCK:
        return partial(map_whole, function, inputs, outputs)
    return Blocks(function, inputs, outputs)


def map_whole(function: Function, inputs: Arrays, outputs: Arrays) -> None:
    """The reference: all elements at once."""
    with np.errstate(all="ignore"):
        store(outputs, function(*[None if x is None else half.widened(x) for x in inputs]))


def map_packed(function: Function, inputs: Arrays, outputs: Arrays) -> None:
    """``map_whole`` of a function that adds up, in an order that depends on the layout of its arguments."""
    map_whole(function, [None if x is None else packed(x) for x in inputs], outputs)


def store(outputs: Arrays, results: Any) -> None:
    for output, values in zip(outputs, results if isinstance(results, tuple) else (results,)):
        if output is not None:
            half.store(output, values)


class Blocks:
    """A bound map, run in blocks."""

    def __init__(self, function: Function, inputs: Arrays, outputs: Arrays) -> None:
        views = joined([array for array in (*outputs, *inputs) if array is not None])
        self.grid = Grid(views[0].shape, block_sizes(views, views[0].ndim - 1))
        self.function = function
        left = iter(views)
        self.outputs = [None if array is None else next(left) for array in outputs]
        self.inputs = [None if array is None else next(left) for array in inputs]
        self.is_direct = gives(function, self.inputs, self.outputs)

    def __call__(self) -> None:
        share(self.run, self.grid.count)

    def run(self, numbers: Iterator[int]) -> None:
        inputs = [None if x is None else Packed(x) for x in self.inputs]
        with np.errstate(all="ignore"):
            for number in numbers:
                block = self.grid.slices_at(number)
                outputs = [None if output is None else output[block] for output in self.outputs]
                arguments = [None if x is None else x.part(block) for x in inputs]
                if self.is_direct:
                    self.function(*arguments, out=outputs[0])
                else:
                    store(outputs, self.function(*arguments))


class Packed:
    """An input whose blocks are made contiguous, and converted from FLOAT16 to FLOAT32."""

    def __init__(self, x: Array) -> None:
        self.x = x
        self.is_half = x.dtype == np.float16
        self.moving = [axis for axis, stride in enumerate(x.strides) if stride]
        self.memory: Array | None = None
        self.last: Any = None
        self.values = x

    def part(self, block: Slices) -> Array:
        part: Array = self.x[block]
        if not self.is_half and (part.flags.c_contiguous or not self.moving):
            return part
        # A broadcast input often has the same block again.
        here = part.shape, [block[axis] for axis in self.moving]
        if here != self.last:
            if self.memory is None:
                self.memory = np.empty(BLOCK, np.float32 if self.is_half else part.dtype)
            self.values = self.memory[: part.size].reshape(part.shape)
            if self.is_half:
                half.widen(part, self.values)
            else:
                move([(self.values, part)])()
            self.last = here
        return self.values


def gives(function: Function, inputs: Arrays, outputs: Arrays) -> bool:
    """Whether a ufunc returns results of the output's type, so that it can write them straight into the output."""
    if not isinstance(function, np.ufunc) or len(outputs) != 1 or outputs[0] is None:
        return False
    samples = [np.ones(1, np.float32 if x.dtype == np.float16 else x.dtype) for x in inputs if x is not None]
    with np.errstate(all="ignore"):
        return bool(function(*samples).dtype == outputs[0].dtype)
