"""Reductions: REDUCE's twelve functions, of which two are ARGMIN and ARGMAX."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import reduce_numpy
from .backend import backend
from .binding import Array, Run, address, bound
from .reduce_numpy import Axes

FUNCTIONS = frozenset({*reduce_numpy.REDUCTIONS, "LOG_SUM_EXP", "ARGMIN", "ARGMAX"})


def reduction(
    function: str,
    x: Array,
    output: Array,
    axes: Axes,
    *,
    decreasing: bool = False,
    scratch: Array | None = None,
) -> Run:
    """The call that reduces ``axes`` of ``x`` into ``output``, which has the sizes of ``x`` but 1 for ``axes``.

    ``function`` is the last part of a ``DML_REDUCE_FUNCTION``. Indices of ARGMIN and ARGMAX are those of the first of
    equal elements, or of the last if ``decreasing``. ``scratch``: bytes for LOG_SUM_EXP, eight for each element of
    ``x``; the native loops need none, and without it NumPy's take their own.
    """
    if function not in FUNCTIONS:
        raise ValueError(f"no such function: {function!r}")
    found = None if backend.native is None else native_reduction(function, x, output, axes, decreasing)
    return found or reduce_numpy.reduction(function, x, output, axes, decreasing, scratch)


def native_reduction(function: str, x: Array, output: Array, axes: Axes, decreasing: bool) -> Run | None:
    """The same in native loops; None if there are none for these tensors."""
    ffi, lib = backend.native.ffi, backend.native.lib
    types = native_type(lib, x.dtype), native_type(lib, output.dtype)
    expected = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    # NumPy reads all before it writes; the loops write a block when it is done.
    if None in types or output.shape != expected or np.may_share_memory(x, output):
        return None
    name = f"{function}_LAST" if decreasing and function in ("ARGMIN", "ARGMAX") else function
    task = ffi.new("dml_reduce *")
    known = lib.dml_reduce_prepare(
        task,
        getattr(lib, f"DML_REDUCE_{name}"),
        *types,
        x.ndim,
        x.shape,
        x.strides,
        output.strides,
        sum(1 << axis for axis in set(axes)),
        address(x),
        address(output),
    )
    if not known:
        return None
    return bound(lib.dml_reduce_run, task, memory=(x, output))


def native_type(lib: Any, dtype: np.dtype[Any]) -> Any:
    """The loops' name of a type; None if they have none."""
    return getattr(lib, f"DML_REDUCE_{dtype.name.upper()}", None) if dtype.isnative else None
