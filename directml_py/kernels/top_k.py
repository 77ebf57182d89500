"""Top k: the first elements of rows in sorted order, with their indices."""

from __future__ import annotations

from .backend import backend
from .decisions import ABSENT, Declined
from .launch import NativeRun
from .native_arrays import Array, Run, address, type_name
from .reorder import Reorders


def top(x: Array, values: Array, indices: Array, axis: int, *, decreasing: bool) -> Run | Declined:
    """The call that stores the first elements along ``axis``, as many as the outputs hold, and their indices.

    Equal elements keep their order; NaN comes last. The native kernel takes few elements of rows; the reference is the
    operator's own function.
    """
    native = backend.native
    if native is None:
        return Declined("top_k", ABSENT)
    kind = getattr(native.lib, f"DML_TYPE_{type_name(x)}", None)
    count = values.shape[axis]
    if kind is None:
        return Declined("top_k", f"{type_name(x)} has no native kernel")
    if indices.dtype.kind not in "iu" or indices.itemsize not in (4, 8):
        return Declined("top_k", f"indices of {type_name(indices)} have no native kernel")
    if count > native.lib.DML_TOP_K_MOST:
        return Declined("top_k", f"{count} elements are more than {native.lib.DML_TOP_K_MOST}")
    if x.ndim > (most := backend.native.lib.DML_MAX_DIMENSIONS + 1):
        return Declined("top_k", f"{x.ndim} dimensions are more than {most}")
    reorders, order = Reorders(), [*(each for each in range(x.ndim) if each != axis), axis]
    x = reorders.read(x, x.strides[axis] == x.itemsize or x.shape[axis] == 1, order)
    values, indices = (reorders.write(output, True, [x]) for output in (values, indices))
    rows = [each for each in range(x.ndim) if each != axis and x.shape[each] > 1]
    task = native.ffi.new(
        "dml_top_k *",
        {
            "x": address(x),
            "values": address(values),
            "indices": address(indices),
            "length": x.shape[axis],
            "count": count,
            "value_axis_stride": values.strides[axis],
            "index_axis_stride": indices.strides[axis],
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
    return reorders.around(NativeRun("dml_top_k_run", task, keepalive=(x, values, indices)))
