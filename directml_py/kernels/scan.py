"""Scans: running sums and products along one axis."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from . import half
from .backend import backend
from .cache_blocks import BLOCK, Grid, block_sizes, joined
from .decisions import ABSENT, Declined
from .launch import NativeRun
from .native_arrays import Array, Run, address, type_name
from .reorder import Reorders
from .threads import share


def scan(
    function: np.ufunc,
    x: Array,
    output: Array,
    axis: int,
    *,
    exclusive: bool = False,
    decreasing: bool = False,
) -> Run:
    """Bind ``output[i] = function(x[0], x[1], ... x[i])`` along ``axis``, and return the call that runs it.

    ``function`` is a ufunc with an identity, such as ``add``. ``exclusive`` leaves out ``x[i]`` itself; the first
    result is then the identity. ``decreasing`` goes from the last element to the first. FLOAT16 is accumulated in
    FLOAT32; integers wrap. Floats are accumulated sequentially, and each result is rounded. ``output`` may be identical
    to ``x``.
    """
    if decreasing:
        x, output = np.flip(x, axis), np.flip(output, axis)
    x, output = np.moveaxis(x, axis, 0), np.moveaxis(output, axis, 0)
    return native_scan(function, x, output, exclusive) or numpy_scan(function, x, output, exclusive)


def native_scan(function: np.ufunc, x: Array, output: Array, exclusive: bool) -> Run | Declined:
    """The native kernel, along the first axis."""
    reason = unsupported(function, x, output)
    if reason is not None:
        return Declined("scan", reason)
    ffi, lib = backend.native.ffi, backend.native.lib
    reorders = Reorders()
    x = reorders.read(x, is_taken=True)
    output = reorders.write(output, True, [], in_place_of=x)
    kind = f"FLOAT{8 * x.itemsize}" if x.dtype.kind == "f" else str(8 * x.itemsize)
    task = ffi.new(
        "dml_scan *",
        {
            "x": address(x),
            "output": address(output),
            "length": x.shape[0],
            "x_axis_stride": x.strides[0],
            "output_axis_stride": output.strides[0],
            "rank": x.ndim - 1,
            "type": getattr(lib, f"DML_SCAN_{kind}"),
            "function": getattr(lib, f"DML_SCAN_{function.__name__.upper()}"),
            "exclusive": exclusive,
            "sizes": x.shape[1:],
            "x_strides": x.strides[1:],
            "output_strides": output.strides[1:],
        },
    )
    return reorders.around(NativeRun("dml_scan_run", task, keepalive=(x, output)))


def unsupported(function: np.ufunc, x: Array, output: Array) -> str | None:
    """Why the native kernel does not take these arrays."""
    if backend.native is None:
        return ABSENT
    if function not in (np.add, np.multiply):
        return f"it has only sums and products, not {function.__name__}"
    if x.dtype.kind not in "fiu":
        return f"{type_name(x)} has no native kernel"
    if x.dtype != output.dtype:
        return f"the output is {type_name(output)}, the input {type_name(x)}"
    most = backend.native.lib.DML_MAX_DIMENSIONS + 1
    return f"{x.ndim} dimensions are more than {most}" if x.ndim > most else None


def numpy_scan(function: np.ufunc, x: Array, output: Array, exclusive: bool) -> Run:
    """Blocked NumPy, along the first axis, or the reference for few elements."""
    if backend.is_plain or x.size <= BLOCK:
        return partial(scan_whole, function, x, output, exclusive)
    return Tiles(function, x, output, exclusive)


def scan_whole(function: np.ufunc, x: Array, output: Array, exclusive: bool) -> None:
    """The reference: all elements at once, along the first axis."""
    results = np.empty((x.shape[0] + 1, *x.shape[1:]), kept_type(x.dtype))
    results[0] = nothing(function, results.dtype, exclusive)
    accumulate(function, x, output, results, exclusive)


def accumulate(function: np.ufunc, x: Array, output: Array, results: Array, exclusive: bool) -> None:
    """Continue from the first of ``results``, which has one more entry than there are elements."""
    with np.errstate(all="ignore"):
        results[1:] = half.widened(x)
        function.accumulate(results, axis=0, out=results)
        half.store(output, results[:-1] if exclusive else results[1:])


def kept_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The accumulator type."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def nothing(function: np.ufunc, dtype: np.dtype[Any], exclusive: bool) -> Any:
    """The identity. -0 is the exact identity of addition, but must not show as a sum.

    Raises ``ValueError`` if the function has none.
    """
    is_float = dtype.kind == "f"
    if function in (np.maximum, np.minimum):
        # Infinity is the same in FLOAT16 and FLOAT32.
        limits = (-np.inf, np.inf) if is_float else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return dtype.type(limits[function is np.minimum])
    if function.identity is None:
        raise ValueError(f"{function.__name__} of no elements has no result")
    minus_zero = function is np.add and is_float and not exclusive
    return dtype.type(-0.0 if minus_zero else function.identity)


class Tiles:
    """A bound scan along the first axis, in blocks that continue each other along it."""

    def __init__(self, function: np.ufunc, x: Array, output: Array, exclusive: bool) -> None:
        self.function, self.exclusive = function, exclusive
        self.output, self.x = joined([output, x], fixed=1)
        self.rows, *lengths = block_sizes([self.output, self.x], 0)
        self.grid = Grid(self.x.shape[1:], lengths)
        # Rows are adjacent if they are adjacent in memory.
        self.across = self.x.ndim > 1 and abs(self.x.strides[0]) > min(map(abs, self.x.strides[1:]))

    def __call__(self) -> None:
        share(self.run, self.grid.count)

    def run(self, numbers: Iterator[int]) -> None:
        for number in numbers:
            block = (slice(None), *self.grid.slices_at(number))
            x, output = self.x[block], self.output[block]
            results = self.memory(x.shape[1:])
            results[0] = nothing(self.function, results.dtype, self.exclusive)
            for begin in range(0, x.shape[0], self.rows):
                part = slice(begin, begin + self.rows)
                kept = results[: x[part].shape[0] + 1]
                accumulate(self.function, x[part], output[part], kept, self.exclusive)
                results[0] = kept[-1]

    def memory(self, sizes: tuple[int, ...]) -> Array:
        dtype = kept_type(self.x.dtype)
        if self.across:
            return np.empty((self.rows + 1, *sizes), dtype)
        return np.moveaxis(np.empty((*sizes, self.rows + 1), dtype), -1, 0)
