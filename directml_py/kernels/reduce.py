"""Reductions: REDUCE's twelve functions, including ARGMIN and ARGMAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from .backend import backend
from .decisions import ABSENT, OVERLAPPING, Declined
from .elementwise.functions import quieted
from .launch import NativeRun
from .native_arrays import Array, Run, address, apart, readable, type_name
from .reorder import Reorders, joined_stride, lie_together, packed_strides

Axes = tuple[int, ...]


def fold(
    function: str,
    x: Array,
    output: Array,
    axes: Axes,
    *,
    decreasing: bool = False,
    scratch: Array | None = None,
) -> Run:
    """The call that reduces ``axes`` of ``x`` into ``output``, which has the sizes of ``x`` but 1 along ``axes``.

    ``function`` is the suffix of a ``DML_REDUCE_FUNCTION``. ARGMIN and ARGMAX return the first of equal elements, or
    the last if ``decreasing``. ``scratch``: memory for LOG_SUM_EXP, eight bytes per element of ``x``; the native kernel
    needs none, and without it the NumPy kernel allocates its own.

    The sums under the root of L2 and the logarithm of LOG_SUM_EXP have the precision of FLOAT64 but the range of
    FLOAT32: they overflow as they do in Microsoft's library.
    """
    if function not in FUNCTIONS:
        raise ValueError(f"no such function: {function!r}")
    reorders = Reorders()
    if function not in SELECTIONS and x.dtype.kind == "f":
        task = laid_task(function, x, output, axes)
        if task is not None:
            return NativeRun("dml_reduce_run", task, keepalive=(x, output))
        x = reorders.read(x, lie_together(x))
        output = reorders.write(output, lie_together(output), [x])
    else:
        output = reorders.write(output, True, [x])
    run = native_fold(function, x, output, axes, decreasing) or numpy_fold(
        function, x, output, axes, decreasing, scratch
    )
    return reorders.around(run)


def native_fold(function: str, x: Array, output: Array, axes: Axes, decreasing: bool) -> Run | Declined:
    """The native kernel of ``fold``."""
    if backend.native is None:
        return Declined("reduce", ABSENT)
    lib = backend.native.lib
    types = native_type(lib, x.dtype), native_type(lib, output.dtype)
    expected = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    if None in types:
        return Declined("reduce", f"{type_name(x if types[0] is None else output)} has no native kernel")
    if output.shape != expected:
        return Declined("reduce", f"the output has the sizes {output.shape}, not {expected}")
    # NumPy reads all inputs before it writes; the native kernel writes each block when it is done.
    if np.may_share_memory(x, output):
        return Declined("reduce", OVERLAPPING)
    name = f"{function}_LAST" if decreasing and function in ("ARGMIN", "ARGMAX") else function
    task = prepared_task(name, x, x.strides, output, axes)
    if task is None:
        reason = (
            f"{function} of {x.ndim} dimensions of {type_name(x)} to {type_name(output)} has no native kernel"
        )
        return Declined("reduce", reason)
    return NativeRun("dml_reduce_run", task, keepalive=(x, output))


def prepared_task(name: str, x: Array, strides: Sequence[int], output: Array, axes: Axes) -> Any:
    """The task of a function over ``x``, as if it had these ``strides``; None if there is no kernel."""
    ffi, lib = backend.native.ffi, backend.native.lib
    task = ffi.new("dml_reduce *")
    known = lib.dml_reduce_prepare(
        task,
        getattr(lib, f"DML_FUNCTION_{name}"),
        native_type(lib, x.dtype),
        native_type(lib, output.dtype),
        x.ndim,
        x.shape,
        strides,
        output.strides,
        sum(1 << axis for axis in set(axes)),
        address(x),
        address(output),
    )
    return task if known else None


def laid_task(function: str, x: Array, output: Array, axes: Axes) -> Any:
    """The task over rows that lie side by side, as the planes of neighbouring channels, or whose lines have gaps
    between them; None if rows lie otherwise, or would be added up in another order than packed ones."""
    if backend.native is None or not readable(x, output) or not apart(output, [x]) or x.dtype != output.dtype:
        return None
    kept = [axis for axis, size in enumerate(x.shape) if axis not in axes and size > 1]
    reduced = [axis for axis, size in enumerate(x.shape) if axis in axes and size > 1]
    if x.flags.c_contiguous or not kept or not reduced or kept[-1] > reduced[0]:
        return None
    rows, row = two_dimensions(x, output, kept), two_dimensions(x, x, reduced)
    task = prepared_task(function, x, packed_strides(x), output, axes)
    if None in (rows, row, task) or not backend.native.lib.dml_reduce_lay(task, rows, row):
        return None
    return task


def two_dimensions(x: Array, output: Array, axes: Sequence[int]) -> list[tuple[int, int, int]] | None:
    """Dimensions as two, the inner one first: sizes, strides of ``output`` and of ``x``; None if more are left."""
    first = len(axes) - 1
    while first > 0 and None not in (
        joined_stride(x, axes[first - 1 :]),
        joined_stride(output, axes[first - 1 :]),
    ):
        first -= 1
    dimensions = []
    for part in (axes[first:], axes[:first]):
        strides = joined_stride(output, part), joined_stride(x, part)
        if strides[0] is None or strides[1] is None:
            return None
        dimensions.append((prod(x.shape[axis] for axis in part), strides[0], strides[1]))
    return dimensions


# NumPy makes the name of a type anew whenever it is asked for it.
@cache
def native_type(lib: Any, dtype: np.dtype[Any]) -> Any:
    """The native kernel's number of a type; None if it has none."""
    return getattr(lib, f"DML_TYPE_{dtype.name.upper()}", None) if dtype.isnative else None


def numpy_fold(
    function: str, x: Array, output: Array, axes: Axes, decreasing: bool = False, scratch: Array | None = None
) -> Run:
    """The reference."""
    if function in ("ARGMIN", "ARGMAX"):
        return arg_fold(x, output, axes, largest=function == "ARGMAX", decreasing=decreasing)
    if function == "LOG_SUM_EXP":
        return log_sum_exp(x, output, axes, scratch)
    reduced = REDUCTIONS[function]

    def run() -> None:
        with np.errstate(all="ignore"):
            np.copyto(output, reduced(x, axes), casting="same_kind")

    return run


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The accumulator type of sums.

    FLOAT32 sums are accumulated in FLOAT64, which is at least as exact as a pairwise sum in any order of the axes.
    FLOAT16 is computed in FLOAT32. Integers wrap in their own type.
    """
    if dtype == np.float16:
        return np.dtype(np.float32)
    return np.dtype(np.float64) if dtype.kind == "f" else dtype


def add(x: Array, axes: Axes, square: bool = False, absolute: bool = False) -> Array:
    kind = accumulator(x.dtype)
    if kind == np.float32:
        # NumPy sums pairwise only along contiguous memory, so the reduced axes go last.
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        sizes = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
        rows = (
            x.transpose((*kept, *axes)).astype(kind, order="C").reshape(([x.shape[a] for a in kept]) + [-1])
        )
        rows = prepared(rows, square, absolute)
        return np.asarray(np.add.reduce(rows, axis=-1)).reshape(sizes)
    if square or absolute:
        x = prepared(x.astype(kind), square, absolute)
    return np.asarray(np.add.reduce(x, axis=axes, dtype=kind, keepdims=True))


def prepared(x: Array, square: bool, absolute: bool) -> Array:
    if square:
        return np.asarray(np.square(x, out=x))
    return np.asarray(np.absolute(x, out=x)) if absolute else x


def average(x: Array, axes: Axes) -> Array:
    count = int(np.prod([x.shape[axis] for axis in axes]))
    return np.asarray(add(x, axes) / accumulator(x.dtype).type(count))


def multiply(x: Array, axes: Axes) -> Array:
    kind = np.dtype(np.float32) if x.dtype == np.float16 else x.dtype
    return np.asarray(np.multiply.reduce(x, axis=axes, dtype=kind, keepdims=True))


def in_range(total: Array) -> Array:
    """A sum accumulated in FLOAT64, with what is out of the range of FLOAT32 converted as FLOAT32 does."""
    narrow = total.astype(np.float32)
    return np.where((narrow == 0) | np.isinf(narrow), narrow, total)


# MAX and MIN ignore NaN: Direct3D's min and max return the other operand if one is NaN.
REDUCTIONS: dict[str, Callable[[Array, Axes], Any]] = {
    "AVERAGE": average,
    "L1": lambda x, axes: add(x, axes, absolute=True),
    "L2": lambda x, axes: np.sqrt(in_range(add(x, axes, square=True))),
    "LOG_SUM": lambda x, axes: np.log(add(x, axes)),
    "MAX": lambda x, axes: np.fmax.reduce(quieted(x), axis=axes, keepdims=True),
    "MIN": lambda x, axes: np.fmin.reduce(quieted(x), axis=axes, keepdims=True),
    "MULTIPLY": multiply,
    "SUM": add,
    "SUM_SQUARE": lambda x, axes: add(x, axes, square=True),
}


FUNCTIONS = frozenset({*REDUCTIONS, "LOG_SUM_EXP", "ARGMIN", "ARGMAX"})
# Those whose results do not depend on the order in which elements are read; MAX and MIN give either of two zeros.
SELECTIONS = frozenset({"ARGMIN", "ARGMAX"})


def log_sum_exp(x: Array, output: Array, axes: Axes, scratch: Array | None) -> Run:
    """log(sum(exp(x))), whose sum is that of FLOAT32: infinite or 0 where it is out of range."""

    def run() -> None:
        memory = np.empty(8 * x.size, np.uint8) if scratch is None else scratch
        parts = memory[: 8 * x.size].view(np.float64).reshape(x.shape)
        with np.errstate(all="ignore"):
            np.exp(x, out=parts, dtype=np.float64)
            total = np.add.reduce(parts, axis=axes, keepdims=True)
            np.copyto(output, np.log(in_range(total)), casting="same_kind")

    return run


def arg_fold(x: Array, output: Array, axes: Axes, largest: bool, decreasing: bool) -> Run:
    """The index of the largest (or smallest) element, counted over the reduced axes in increasing dimension order.

    Of equal elements the first counts, or the last if ``decreasing``. NaN is ignored, as in MAX and MIN, unless it
    comes first: no comparison with it is true, so that nothing replaces it.
    """
    reduced = sorted(axes)
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    order = (*kept, *reduced)
    kept_sizes = [x.shape[axis] for axis in kept]
    # Along a broadcast axis all elements are equal: one is read, and the result is the first or last index.
    repeated = [axis in reduced and not x.strides[axis] for axis in range(x.ndim)]
    unrepeated = x[tuple(slice(0, 1) if is_repeated else slice(None) for is_repeated in repeated)]

    def run() -> None:
        rows = unrepeated.transpose(order).reshape((*kept_sizes, -1))
        indices = first_index(rows[..., ::-1] if decreasing else rows, largest)
        if decreasing:
            indices = rows.shape[-1] - 1 - indices
        if any(repeated):
            coordinates = np.unravel_index(indices, [unrepeated.shape[axis] for axis in reduced])
            whole_coordinates = [
                coordinate + (x.shape[axis] - 1 if repeated[axis] and decreasing else 0)
                for axis, coordinate in zip(reduced, coordinates)
            ]
            indices = np.asarray(np.ravel_multi_index(whole_coordinates, [x.shape[axis] for axis in reduced]))
        np.copyto(output, unless_nan_begins(rows, indices).reshape(output.shape), casting="unsafe")

    return run


def first_index(rows: Array, largest: bool) -> Array:
    """The index of the first largest (or smallest) element along the last axis; NaN is ignored."""
    if rows.dtype.kind == "f" and np.isnan(rows).any():
        # Not fmax, which does not ignore signaling NaNs.
        numbers = np.where(np.isnan(rows), rows.dtype.type(-np.inf if largest else np.inf), rows)
        best = (np.max if largest else np.min)(numbers, axis=-1, keepdims=True)
        return np.asarray((rows == best).argmax(axis=-1))
    return np.asarray(rows.argmax(axis=-1) if largest else rows.argmin(axis=-1))


def unless_nan_begins(rows: Array, indices: Array) -> Array:
    """``indices`` along the last axis, but 0 where the first element is NaN."""
    return np.where(np.isnan(rows[..., 0]), 0, indices) if rows.dtype.kind == "f" else indices
