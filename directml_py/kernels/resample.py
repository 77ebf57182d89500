"""Resampling of images in the native kernel: weighted sums along rows and columns, their norms and maxima."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .backend import backend
from .csr import Plan, Taps
from .decisions import ABSENT, Declined
from .launch import NativeRun
from .native_arrays import Array, Run, address, type_name
from .reorder import Reorders, lie_together

FLOATS = (np.dtype(np.float32), np.dtype(np.float16))
# The fields of an axis of a task, and the keepalives of its pointers.
Axis = tuple[dict[str, Any], object]


def unsupported(x: Array, output: Array) -> str | None:
    """Why the native kernel does not take these arrays, in whatever layout: it takes FLOAT32 or FLOAT16, with rows that
    are not too long."""
    if backend.native is None:
        return ABSENT
    if x.dtype not in FLOATS:
        return f"{type_name(x)} has no native kernel"
    if x.dtype != output.dtype:
        return f"the output is {type_name(output)}, the input {type_name(x)}"
    longest, columns = backend.native.lib.DML_RESAMPLE_COLUMNS, max(x.shape[-1], output.shape[-1])
    return f"rows of {columns} elements are longer than {longest}" if columns > longest else None


def resampled(plan: Plan, x: Array, output: Array, order: int = 0) -> Run | Declined:
    """The call that stores the result of a plan for two of up to four dimensions of ``x``.

    With an ``order``, the result is a norm of that order of the elements that the plan names; the plan has no weights.
    """
    if len(plan) > 2:
        return Declined("resample", "more than two dimensions are resampled")
    if plan and min(plan) < x.ndim - 2:
        # The resampled dimensions last, as in NCHW.
        axes_in_order = sorted(range(x.ndim), key=lambda axis: (axis in plan, axis))
        x, output = x.transpose(axes_in_order), output.transpose(axes_in_order)
        plan = {axes_in_order.index(axis): parts for axis, parts in plan.items()}
    reason = unsupported(x, output)
    if reason is not None:
        return Declined("resample", reason)
    if x.ndim > (most := backend.native.lib.DML_RESAMPLE_DIMENSIONS):
        return Declined("resample", f"{x.ndim} dimensions are more than {most}")
    if order > backend.native.lib.DML_RESAMPLE_ORDER:
        return Declined("resample", f"norms of order {order} have no native kernel")
    missing = backend.native.lib.DML_RESAMPLE_DIMENSIONS - x.ndim
    reorders = Reorders()
    x = reorders.read(x, lie_together(x, x.ndim - 1))
    output = reorders.write(output, lie_together(output, output.ndim - 1), [x])
    x, output = (array.reshape((1,) * missing + array.shape) for array in (x, output))
    axes = []
    for axis in (2, 3):
        parts = plan.get(axis - missing, (Taps.one_each(np.arange(x.shape[axis]), x.shape[axis]),))
        if not isinstance(parts, tuple) or len(parts) > 1:
            return Declined("resample", "the filter has too many taps to be held at once")
        axes.append(axis_of(parts[0], output.shape[axis]))
    task, memory = task_of("NORM" if order else "SUM", x, output, axes)
    task.order = order
    return reorders.around(NativeRun("dml_resample_run", task, keepalive=memory))


def task_of(function: str, x: Array, output: Array, axes: Sequence[Axis]) -> tuple[Any, object]:
    """A task, and the keepalives of its pointers."""
    task = backend.native.ffi.new(
        "dml_resample *",
        {
            "is_half": x.dtype == np.float16,
            "function": getattr(backend.native.lib, f"DML_RESAMPLE_{function}"),
            "regions": output.shape[0],
            "channels": output.shape[1],
            "plane_bytes": x.itemsize * x.shape[2] * x.shape[3],
            "x_strides": x.strides,
            "output_strides": output.strides,
            "x": address(x),
            "output": address(output),
            "rows": axes[0][0],
            "columns": axes[1][0],
        },
    )
    return task, (x, output, [keepalive for _, keepalive in axes])


def axis_of(taps: Taps, output_size: int) -> Axis:
    """The same taps for all regions, and their keepalives."""
    weights = np.ones(len(taps.indices)) if taps.weights is None else taps.weights
    arrays = [
        np.ascontiguousarray(taps.starts, np.int64),
        np.ascontiguousarray(taps.indices, np.int64),
        np.ascontiguousarray(weights, np.float64),
    ]
    names = ("starts", "indices", "weights")
    return {**dict(zip(names, map(address, arrays))), "output_size": output_size}, arrays
