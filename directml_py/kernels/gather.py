"""Gather along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .backend import backend
from .decisions import ABSENT, Declined
from .launch import NativeRun
from .native_arrays import Array, Run, address, type_name

INDEX_TYPES = {np.dtype(name.lower()): f"DML_INDEX_{name}" for name in ("UINT32", "INT32", "UINT64", "INT64")}


def gather(x: Array, indices: Array, output: Array, axis: int) -> Run:
    """Bind ``output[lead, index, trail] = x[lead, indices[index], trail]`` and return the call that runs it.

    The sizes of ``output`` are those of ``x`` with the sizes of ``indices`` in place of ``axis``; sizes of 1 may be
    missing or added anywhere. Indices are read, and clamped, at each call.
    """
    return native_gather(x, indices, output, axis) or partial(reference_gather, x, indices, output, axis)


def native_gather(x: Array, indices: Array, output: Array, axis: int) -> NativeRun | Declined:
    """The native kernel of ``gather``."""
    native = backend.native
    if native is None:
        return Declined("gather", ABSENT)
    if indices.dtype not in INDEX_TYPES:
        return Declined("gather", f"indices of {type_name(indices)} have no native kernel")
    sizes = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    task = native.ffi.new("dml_gather *")
    if not native.lib.dml_gather_prepare(
        task,
        x.itemsize,
        x.ndim,
        x.shape,
        x.strides,
        axis,
        indices.ndim,
        indices.shape,
        indices.strides,
        getattr(native.lib, INDEX_TYPES[indices.dtype]),
        spread_strides(sizes, output),
        address(x),
        address(indices),
        address(output),
    ):
        return Declined("gather", "it takes 1 to 8 dimensions, of elements of 1, 2, 4 or 8 bytes")
    return NativeRun("dml_gather_run", task, keepalive=(x, indices, output))


def reference_gather(x: Array, indices: Array, output: Array, axis: int) -> None:
    """The reference."""
    # Unlike np.take, indexing does not copy a strided or broadcast input first.
    index: tuple[Any, ...] = (*(slice(None),) * axis, safe_indices(indices, x.shape[axis] - 1))
    np.copyto(output, x[index].reshape(output.shape))


def safe_indices(indices: Array, last: int) -> Array:
    """Indices clamped to [0, last], after counting negative ones from the end."""
    if indices.dtype.kind == "i":
        # An axis may be longer than INT32 reaches; clamped before the shift, INT64's lowest value cannot wrap.
        clamped = np.clip(indices.astype(np.int64), -last - 1, last)
        return np.where(clamped < 0, clamped + (last + 1), clamped)
    return np.minimum(indices, min(last, np.iinfo(indices.dtype).max)).astype(np.intp)


def spread_strides(sizes: Sequence[int], array: Array) -> list[int]:
    """The strides of ``array`` for ``sizes``, which equal its own apart from sizes of 1. Reshaping never copies
    here."""
    strides = iter([stride for size, stride in zip(array.shape, array.strides) if size != 1])
    return [0 if size == 1 else next(strides) for size in sizes]
