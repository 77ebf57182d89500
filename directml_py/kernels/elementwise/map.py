"""Maps: functions of elements, a block at a time, so that a chain of them passes over memory once."""

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
from ..threads import share
from .lower import mapped

Function = Callable[..., Any]
Arrays = Sequence["Array | None"]


def map_elements(function: Function, inputs: Arrays, outputs: Arrays) -> Run:
    """``map_blocks``, in the native kernel where ``function`` can be traced.

    It must be the same for equal inputs, whenever it is called, and of each element by itself.
    """
    return mapped(function, inputs, outputs) or map_blocks(function, inputs, outputs)


def map_blocks(function: Function, inputs: Arrays, outputs: Arrays) -> Run:
    """Bind arrays of equal sizes, and give the call that stores ``function`` of the inputs' elements in the outputs.

    ``function`` takes an array for each input, None for an absent one, and gives an array, or one for each output in a
    tuple; it must not write into what it is given. FLOAT16 arrives as FLOAT32; results are rounded once, when they
    are stored. Inputs may have fewer elements where they broadcast. An input and an output are either apart in memory
    or the very same elements.
    """
    sizes = next(output.shape for output in outputs if output is not None)
    inputs = [None if x is None else np.broadcast_to(x, sizes) for x in inputs]
    if backend.is_plain or prod(sizes) <= BLOCK:
        return partial(map_whole, function, inputs, outputs)
    return Blocks(function, inputs, outputs)


def map_at_once(function: Function, inputs: Arrays, outputs: Arrays) -> Run:
    """The same for a function that looks at all elements of an array."""
    return partial(map_whole, function, inputs, outputs)


def map_whole(function: Function, inputs: Arrays, outputs: Arrays) -> None:
    """The reference: all elements at once."""
    with np.errstate(all="ignore"):
        store(outputs, function(*[None if x is None else half.widened(x) for x in inputs]))


def store(outputs: Arrays, results: Any) -> None:
    for output, values in zip(outputs, results if isinstance(results, tuple) else (results,)):
        if output is not None:
            half.store(output, values)


class Blocks:
    """A map that was bound, in blocks."""

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
                place = self.grid.slices_at(number)
                outputs = [None if output is None else output[place] for output in self.outputs]
                arguments = [None if x is None else x.part(place) for x in inputs]
                if self.is_direct:
                    self.function(*arguments, out=outputs[0])
                else:
                    store(outputs, self.function(*arguments))


class Packed:
    """An input whose parts are brought together in memory where they lie apart, and from FLOAT16 to FLOAT32."""

    def __init__(self, x: Array) -> None:
        self.x = x
        self.is_half = x.dtype == np.float16
        self.moving = [axis for axis, stride in enumerate(x.strides) if stride]
        self.memory: Array | None = None
        self.last: Any = None
        self.values = x

    def part(self, place: Slices) -> Array:
        part: Array = self.x[place]
        if not self.is_half and (part.flags.c_contiguous or not self.moving):
            return part
        # What is broadcast is often the same part again.
        here = part.shape, [place[axis] for axis in self.moving]
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
    """Whether a function of NumPy's own gives results of the output's type, so that it may write them there itself."""
    if not isinstance(function, np.ufunc) or len(outputs) != 1 or outputs[0] is None:
        return False
    samples = [np.ones(1, np.float32 if x.dtype == np.float16 else x.dtype) for x in inputs if x is not None]
    with np.errstate(all="ignore"):
        return bool(function(*samples).dtype == outputs[0].dtype)
