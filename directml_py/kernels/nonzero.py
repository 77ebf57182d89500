"""Coordinates of nonzero elements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .backend import backend
from .decisions import ABSENT, Declined
from .launch import NativeRun
from .native_arrays import Array, address


def nonzero(x: Array, coordinates: Array) -> Callable[[], int]:
    """Bind the search for nonzero elements of ``x``, and return the call that runs it.

    The call stores the last coordinates of each, as many as the UINT32 ``coordinates`` has columns, in coordinate
    order, and zeros in the remaining rows; it returns the count of nonzero elements. The omitted coordinates are those
    of dimensions of size 1. Zeros of either sign are zero.
    """
    return native_nonzero(x, coordinates) or partial(nonzero_whole, x, coordinates)


def native_nonzero(x: Array, coordinates: Array) -> Callable[[], int] | Declined:
    """The native kernel of ``nonzero``."""
    native = backend.native
    if native is None:
        return Declined("nonzero", ABSENT)
    if x.ndim > (most := backend.native.lib.DML_MAX_DIMENSIONS):
        return Declined("nonzero", f"{x.ndim} dimensions are more than {most}")
    bits = 8 * x.itemsize
    task = native.ffi.new(
        "dml_nonzero *",
        {
            "x": address(x),
            "coordinates": address(coordinates),
            "item": x.itemsize,
            "size": coordinates.shape[0],
            "row_stride": coordinates.strides[0],
            "column_stride": coordinates.strides[1],
            "mask": 2 ** (bits - 1) - 1 if x.dtype.kind == "f" else 2**bits - 1,
            "rank": x.ndim,
            "width": coordinates.shape[1],
            "sizes": x.shape,
            "strides": x.strides,
        },
    )
    return NativeRun("dml_nonzero_run", task, keepalive=(x, coordinates))


def nonzero_whole(x: Array, coordinates: Array) -> int:
    """The reference."""
    width = coordinates.shape[1]
    found = np.unravel_index(np.flatnonzero(x != 0), x.shape[x.ndim - width :])
    count = len(found[0])
    for column, numbers in zip(coordinates.T, found):
        column[:count] = numbers
    coordinates[count:] = 0
    return count
