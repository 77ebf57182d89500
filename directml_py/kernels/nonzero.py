"""Where elements are that are not zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .backend import backend
from .launch import NativeRun
from .native_arrays import Array, address

MAX_RANK = 8


def nonzero(x: Array, coordinates: Array) -> Callable[[], int]:
    """Bind the search for elements of ``x`` that are not zero, and give the call that does it.

    The call stores the last coordinates of each, as many as the UINT32 ``coordinates`` have columns, in their order,
    and zeros in the rows behind them; it gives how many there are. The other coordinates are those of dimensions of
    size 1. Zeros of both signs are zero.
    """
    native = backend.native
    if native is None or x.ndim > MAX_RANK:
        return lambda: nonzero_whole(x, coordinates)
    bits = 8 * x.itemsize
    task = native.ffi.new(
        "dml_nonzero *",
        {
            "x": address(x),
            "coordinates": address(coordinates),
            "item": x.itemsize,
            "size": coordinates.shape[0],
            "row_step": coordinates.strides[0],
            "column_step": coordinates.strides[1],
            "mask": 2 ** (bits - 1) - 1 if x.dtype.kind == "f" else 2**bits - 1,
            "rank": x.ndim,
            "width": coordinates.shape[1],
            "sizes": x.shape,
            "strides": x.strides,
        },
    )
    run: Any = NativeRun("dml_nonzero_run", task, keepalive=(x, coordinates))
    search: Callable[[], int] = run
    return search


def nonzero_whole(x: Array, coordinates: Array) -> int:
    """The twin of the native loop."""
    width = coordinates.shape[1]
    found = np.unravel_index(np.flatnonzero(x != 0), x.shape[x.ndim - width :])
    count = len(found[0])
    for column, numbers in zip(coordinates.T, found):
        column[:count] = numbers
    coordinates[count:] = 0
    return count
