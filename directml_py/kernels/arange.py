"""Arithmetic sequences, like ``np.arange``."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .backend import backend
from .decisions import ABSENT, Declined, take
from .fill import fill
from .native_arrays import Array, Run, address

FLOAT64 = np.dtype(np.float64)


def sequence(start: Any, delta: Any, output: Array) -> Run:
    """The call that stores ``start + i * delta`` in ``output``, where ``i`` is an element's number in coordinate order.

    ``start`` and ``delta`` have the type of ``output``. Integers wrap; for floats the product and the sum are each
    rounded to the type, or to FLOAT32 if that is FLOAT16.
    """
    if backend.native is None:
        Declined("arange", ABSENT)
        return fill(partial(numpy_elements, start, delta), output)
    take("arange")
    call = partial(native_elements, start, delta)
    if output.flags.c_contiguous and output.flags.aligned:
        return partial(call, output, 0)

    def elements(first: int, count: int) -> Array:
        values = np.empty(count, output.dtype)
        call(values, first)
        return values

    return fill(elements, output)


def native_elements(start: Any, delta: Any, output: Array, first: int) -> None:
    """The native kernel: elements from number ``first`` on, in a contiguous ``output``."""
    is_float = output.dtype.kind == "f"
    wide = FLOAT64 if is_float else np.dtype(np.int64)
    # Only as many low bits as the output has matter.
    bits = [int(value.astype(wide).view(np.uint64)) for value in (start, delta)]
    backend.native.lib.dml_arange(address(output), output.itemsize, is_float, first, output.size, *bits)


def numpy_elements(start: Any, delta: Any, first: int, count: int) -> Array:
    """The reference. Integers, which wrap, are computed as unsigned integers of the same width."""
    if start.dtype.kind == "f":
        kind = np.result_type(start.dtype, np.float32)
        start, delta = start.astype(kind), delta.astype(kind)
    else:
        kind = np.dtype(f"u{start.dtype.itemsize}")
        start, delta = start.view(kind), delta.view(kind)
    numbers = np.arange(first, first + count, dtype=np.int64).astype(kind)
    numbers *= delta
    numbers += start
    return numbers
