"""Reorders: copies between the layouts of tensors and those that a kernel takes.

The order in which a kernel adds up depends on the layout that it reads. So that results do not depend on the layouts
of tensors, which graphs choose, a kernel takes only layouts that it adds up in the order in which it adds up packed
tensors; the others are reordered before and after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from .launch import launch_in_order
from .move import move
from .native_arrays import Array, Run, apart, readable

CACHE_LINE = 64

Bind = Callable[[Sequence[Any], Sequence[Any], Array], Run]


class Reorders:
    """The reorders around one call of a kernel, whose memory they own."""

    def __init__(self) -> None:
        self.before: list[tuple[Array, Array]] = []
        self.after: list[tuple[Array, Array]] = []

    def read(self, x: Array, is_taken: bool, axes: Sequence[int] | None = None) -> Array:
        """``x``, if its layout is taken, or a copy that is packed with its dimensions in the order of ``axes``."""
        if is_taken and readable(x):
            return with_packed_strides(x)
        copy = packed_like(x, axes)
        self.before.append((copy, x))
        return copy

    def write(
        self,
        output: Array,
        is_taken: bool,
        inputs: Sequence[Array | None],
        axes: Sequence[int] | None = None,
        in_place_of: Array | None = None,
    ) -> Array:
        """``output``, if its layout is taken and it is apart from ``inputs``, or the same elements as ``in_place_of``;
        or memory that is copied to it."""
        is_apart = apart(output, [x for x in inputs if x is not None])
        is_apart = is_apart and (
            in_place_of is None or is_same(in_place_of, output) or apart(output, [in_place_of])
        )
        if is_taken and is_apart and readable(output):
            return with_packed_strides(output)
        copy = packed_like(output, axes)
        self.after.append((output, copy))
        return copy

    def around(self, run: Run) -> Run:
        """``run`` between its reorders."""
        before, after = ([move(pairs)] if pairs else [] for pairs in (self.before, self.after))
        return launch_in_order([*before, run, *after])


def over_packed(bind: Bind) -> Bind:
    """The ``bind`` of a kernel that takes packed tensors only, for tensors of any layout."""

    def bind_reordered(inputs: Sequence[Any], outputs: Sequence[Any], scratch: Array) -> Run:
        reorders = Reorders()
        read = [None if x is None else reorders.read(x, lie_together(x)) for x in inputs]
        written = [None if one is None else reorders.write(one, lie_together(one), read) for one in outputs]
        return reorders.around(bind(read, written, scratch))

    return bind_reordered


def packed_like(x: Array, axes: Sequence[int] | None = None) -> Array:
    """Memory for an array like ``x``, packed with the dimensions in the order of ``axes``, the innermost one last."""
    memory = np.empty(x.nbytes + CACHE_LINE, np.uint8)
    start = -memory.__array_interface__["data"][0] % CACHE_LINE
    order = range(x.ndim) if axes is None else axes
    copy = memory[start : start + x.nbytes].view(x.dtype).reshape([x.shape[axis] for axis in order])
    return copy if axes is None else copy.transpose(np.argsort(axes))


def with_packed_strides(x: Array) -> Array:
    """A packed array with the strides of one: those of dimensions of size 1 may be any."""
    return x.reshape(-1).reshape(x.shape) if x.flags.c_contiguous else x


def is_same(x: Array, output: Array) -> bool:
    """Whether both are the same elements."""
    addresses = [array.__array_interface__["data"][0] for array in (x, output)]
    is_alike = (x.shape, x.strides, x.dtype) == (output.shape, output.strides, output.dtype)
    return is_alike and addresses[0] == addresses[1]


def lie_together(array: Array, first: int = 0) -> bool:
    """Whether the dimensions from ``first`` on are C-contiguous."""
    part: Any = array[(0,) * first]
    return bool(part.flags.c_contiguous)


def packed_strides(x: Array) -> list[int]:
    """The strides that a packed array like ``x`` has."""
    return [x.itemsize * prod(x.shape[axis + 1 :]) for axis in range(x.ndim)]


def joined_stride(x: Array, axes: Sequence[int]) -> int | None:
    """The stride of some dimensions as one, with its elements in the same order; None if they do not lie like that."""
    stride = x.strides[axes[-1]] if axes else 0
    expected = stride
    for axis in reversed(axes):
        if x.strides[axis] != expected:
            return None
        expected *= x.shape[axis]
    return stride


def packed(x: Array) -> Array:
    """``x``, or a packed copy of it: NumPy adds up in the order of memory."""
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)
