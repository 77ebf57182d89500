"""The first few elements of rows, in order, and where they are."""

from __future__ import annotations

from .backend import backend
from .launch import NativeRun
from .native_arrays import Array, Run, address

MAX_RANK = 9


def top(x: Array, values: Array, indices: Array, axis: int, *, decreasing: bool) -> Run | None:
    """The call that stores the first elements along ``axis``, as many as the outputs have, and their indices.

    Of equal elements the first comes first; NaN comes last. None if there is no native loop for these tensors: there is
    one for few elements of rows that lie together in memory, and its twin is the operator's own function.
    """
    native = backend.native
    if native is None:
        return None
    kind = getattr(native.lib, f"DML_TOP_K_{x.dtype.name.upper()}", None)
    count = values.shape[axis]
    together = x.strides[axis] == x.itemsize or x.shape[axis] == 1
    known = (
        kind is not None and x.dtype.isnative and indices.dtype.kind in "iu" and indices.itemsize in (4, 8)
    )
    if not known or not together or count > native.lib.DML_TOP_K_MOST or x.ndim > MAX_RANK:
        return None
    rows = [each for each in range(x.ndim) if each != axis and x.shape[each] > 1]
    task = native.ffi.new(
        "dml_top_k *",
        {
            "x": address(x),
            "values": address(values),
            "indices": address(indices),
            "length": x.shape[axis],
            "count": count,
            "value_step": values.strides[axis],
            "index_step": indices.strides[axis],
            "rank": len(rows),
            "type": kind,
            "decreasing": decreasing,
            "index_item": indices.itemsize,
            "sizes": [x.shape[each] for each in rows],
            "x_strides": [x.strides[each] for each in rows],
            "value_strides": [values.strides[each] for each in rows],
            "index_strides": [indices.strides[each] for each in rows],
        },
    )
    return NativeRun("dml_top_k_run", task, keepalive=(x, values, indices))
