"""Moves: copies between memory layouts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from .backend import backend
from .launch import NativeRun
from .native_arrays import Array, Run, address

MAX_RANK = 8
ITEM_SIZES = (1, 2, 4, 8)


def move(pairs: Sequence[tuple[Array, Array]]) -> Run:
    """Bind pairs of an output view and an input view with the same sizes and data type, and give the call that copies.

    Inputs may be broadcast. An input and an output are either apart in memory or the very same elements.
    """
    pairs = tuple(pairs)
    native = backend.native
    if native is None or any(out.ndim > MAX_RANK or out.itemsize not in ITEM_SIZES for out, _ in pairs):
        return partial(move_all, pairs)
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
    """The twin of the native loop."""
    for output, x in pairs:
        np.copyto(output, x)
