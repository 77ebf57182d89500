"""Strided copies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from .backend import backend
from .decisions import ABSENT, Declined
from .launch import NativeRun
from .native_arrays import Array, Run, address

ITEM_SIZES = (1, 2, 4, 8)


def move(pairs: Sequence[tuple[Array, Array]]) -> Run:
    """Bind pairs of an output view and an input view of the same sizes and data type, and return the call that copies.

    Inputs may be broadcast. An input and an output must be either disjoint in memory or identical.
    """
    pairs = tuple(pairs)
    return native_move(pairs) or partial(move_all, pairs)


def native_move(pairs: Sequence[tuple[Array, Array]]) -> Run | Declined:
    """The native kernel of ``move``."""
    native = backend.native
    if native is None:
        return Declined("move", ABSENT)
    for output, _ in pairs:
        if output.ndim > (most := backend.native.lib.DML_MAX_DIMENSIONS):
            return Declined("move", f"{output.ndim} dimensions are more than {most}")
        if output.itemsize not in ITEM_SIZES:
            return Declined("move", f"elements of {output.itemsize} bytes have no native kernel")
    tasks = native.ffi.new("dml_move[]", len(pairs))
    for index, (output, x) in enumerate(pairs):
        native.lib.dml_move_prepare(
            tasks + index,
            output.itemsize,
            output.ndim,
            output.shape,
            output.strides,
            x.strides,
            address(output),
            address(x),
        )
    return NativeRun("dml_move_run", tasks, len(pairs), keepalive=pairs)


def move_all(pairs: Sequence[tuple[Array, Array]]) -> None:
    """The reference."""
    for output, x in pairs:
        np.copyto(output, x)
