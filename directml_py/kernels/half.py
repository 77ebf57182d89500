"""FLOAT16: computed in FLOAT32, rounded once when stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from .backend import backend
from .decisions import take
from .move import move
from .native_arrays import Array, address


def widen(x: Array, values: Array) -> None:
    """Copy ``x`` to the contiguous ``values``, which are FLOAT32 if ``x`` is FLOAT16."""
    if x.dtype == np.float16 and backend.native is not None:
        if not (x.flags.c_contiguous and x.flags.aligned):
            together = np.empty(x.shape, x.dtype)
            move([(together, x)])()
            x = together
        take("half")
        backend.native.lib.dml_half_widen(address(values), address(x), x.size)
        return
    np.copyto(values, x)


def widened(x: Array) -> Array:
    """The type in which ``x`` is computed."""
    if x.dtype != np.float16:
        return x
    values = np.empty(x.shape, np.float32)
    widen(x, values)
    return values


def as_halves(values: Array) -> Array:
    """FLOAT64 values rounded through FLOAT16, as if stored in a FLOAT16 tensor."""
    with np.errstate(all="ignore"):
        return np.asarray(values.astype(np.float32).astype(np.float16).astype(np.float64))


def store(output: Array, values: Any) -> None:
    """Round ``values``, which may be broadcast, to the type of ``output``; integers wrap."""
    values = np.asarray(values)
    narrows = output.dtype == np.float16 and values.dtype == np.float32
    if narrows and output.shape == values.shape and backend.native is not None:
        together = output.flags.c_contiguous and output.flags.aligned
        halves = output if together else np.empty(output.shape, np.float16)
        values = np.ascontiguousarray(values)
        take("half")
        backend.native.lib.dml_half_narrow(address(halves), address(values), values.size)
        if not together:
            move([(output, halves)])()
        return
    with np.errstate(all="ignore"):
        np.copyto(output, values, casting="unsafe")
