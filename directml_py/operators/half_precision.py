"""FLOAT16 arithmetic, which DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION allows.

Every step is rounded, and sums are accumulated sequentially, so that large ones stop growing: 2048 + 1 is
2048. The page (ne-directml-dml_execution_flags) allows it and says no more; what a device does lies between this and
FLOAT32. It is done where it is simple: element-wise functions, activations, REDUCE and GEMM, the cases that programs
meet. The rest is computed in FLOAT32, which the flag allows as well.

Microsoft's library accumulates only running sums in FLOAT16, whatever the device, and all other sums in FLOAT32:
``allowed_kernel_of`` is for devices that do no more than that, ``half_kernel_of`` for one that computes in FLOAT16.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy as np

from ..api.enums import (
    DML_REDUCE_FUNCTION,
    DML_REDUCE_FUNCTION_AVERAGE,
    DML_REDUCE_FUNCTION_L1,
    DML_REDUCE_FUNCTION_L2,
    DML_REDUCE_FUNCTION_LOG_SUM,
    DML_REDUCE_FUNCTION_MULTIPLY,
    DML_REDUCE_FUNCTION_SUM,
    DML_REDUCE_FUNCTION_SUM_SQUARE,
    DML_TENSOR_DATA_TYPE_FLOAT16,
)
from ..descs.operator_desc import OperatorDesc
from ..kernels.elementwise.map import store
from ..kernels.native_arrays import Array, Run
from .operator import Compute, Inputs, Kernel, Outputs, operator_of
from .validate import kernel_of


class Halves(np.ndarray[Any, Any]):
    """An array whose arithmetic rounds to FLOAT16, whatever type a reference kernel has converted it to."""

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        arrays = [np.asarray(x).view(np.ndarray) if isinstance(x, Halves) else x for x in inputs]
        if ufunc is np.matmul:
            return halves(_product(*arrays))
        if method == "reduce" and ufunc in (np.add, np.multiply):
            axis, keep = options.get("axis", 0), bool(options.get("keepdims"))
            return halves(sequential_reduce(ufunc, arrays[0], axis, keep))
        options.pop("dtype", None)
        result = getattr(ufunc, method)(*arrays, **options)
        if out is not None:
            np.copyto(out[0].view(np.ndarray), halves(result).view(np.ndarray), casting="unsafe")
            return out[0]
        return tuple(map(halves, result)) if isinstance(result, tuple) else halves(result)


def halves(values: Any) -> Any:
    """Floats as ``Halves``; other types unchanged."""
    values = np.asarray(values)
    return values.astype(np.float16).view(Halves) if values.dtype.kind == "f" else values


def sequential_reduce(ufunc: np.ufunc, values: Array, axis: Any, keep: bool) -> Array:
    """The sum or product along ``axis`` (all axes if None), in sequence, rounded at each step."""
    axes = range(values.ndim) if axis is None else np.atleast_1d(axis) % values.ndim
    moved = np.moveaxis(values, list(axes), range(-len(axes), 0))
    flat = moved.reshape(*moved.shape[: values.ndim - len(axes)], -1).astype(np.float16)
    partial_results = ufunc.accumulate(flat, axis=-1)
    result: Array = partial_results[..., -1]
    return np.expand_dims(result, tuple(map(int, axes))) if keep else result


def _product(a: Array, b: Array) -> Array:
    """Matrix products with every multiplication and addition rounded."""
    a, b = a.astype(np.float16), b.astype(np.float16)
    total: Array = a[..., :, :1] * b[..., :1, :]
    for depth in range(1, a.shape[-1]):
        total = total + a[..., :, depth : depth + 1] * b[..., depth : depth + 1, :]
    return total


CUMULATIVE = ("CUMULATIVE_SUMMATION", "CUMULATIVE_PRODUCT")
REDUCTIONS: dict[DML_REDUCE_FUNCTION, Callable[[Any, tuple[int, ...]], Any]] = {
    DML_REDUCE_FUNCTION_AVERAGE: lambda x, axes: _sum(x, axes) / prod(x.shape[axis] for axis in axes),
    DML_REDUCE_FUNCTION_L1: lambda x, axes: _sum(np.abs(x), axes),
    DML_REDUCE_FUNCTION_L2: lambda x, axes: np.sqrt(_sum(x * x, axes)),
    DML_REDUCE_FUNCTION_LOG_SUM: lambda x, axes: np.log(_sum(x, axes)),
    DML_REDUCE_FUNCTION_MULTIPLY: lambda x, axes: np.multiply.reduce(x, axis=axes, keepdims=True),
    DML_REDUCE_FUNCTION_SUM: lambda x, axes: _sum(x, axes),
    DML_REDUCE_FUNCTION_SUM_SQUARE: lambda x, axes: _sum(x * x, axes),
}


def _sum(x: Any, axes: tuple[int, ...]) -> Any:
    return np.add.reduce(x, axis=axes, keepdims=True)


def allowed_kernel_of(desc: OperatorDesc) -> Kernel:
    """The operator's kernel under the flag, on any device."""
    return half_kernel_of(desc) if desc.name in CUMULATIVE else kernel_of(desc)


@lru_cache(maxsize=1024)
def half_kernel_of(desc: OperatorDesc) -> Kernel:
    """The operator's kernel where FLOAT16 may be computed in FLOAT16; the usual one if none of its tensors is."""
    compute = _compute_of(desc) if _has_halves(desc) else None
    if compute is None:
        return kernel_of(desc)

    def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        return partial(_run, compute, inputs, outputs)

    return Kernel(bind)


def _compute_of(desc: OperatorDesc) -> Compute | None:
    operator = operator_of(desc.name)
    if desc.name == "REDUCE":
        function = REDUCTIONS.get(desc.Function)
        axes = tuple(set(desc.Axes))
        return None if function is None or not axes else lambda x: function(x, axes)
    names = ("GEMM", *CUMULATIVE)
    is_simple = desc.name in names or desc.name.startswith(("ACTIVATION_", "ELEMENT_WISE_"))
    return operator.compute(desc) if is_simple and operator.moves(desc) is None else None


def _has_halves(desc: OperatorDesc) -> bool:
    return any(
        slot.tensor is not None and slot.tensor.data_type == DML_TENSOR_DATA_TYPE_FLOAT16
        for slot in desc.inputs
    )


def _run(compute: Compute, inputs: Inputs, outputs: Outputs) -> None:
    arrays = [x.view(Halves) if x is not None and x.dtype == np.float16 else x for x in inputs]
    with np.errstate(all="ignore"):
        results = compute(*arrays)
        plain = results if isinstance(results, tuple) else (results,)
        store(outputs, tuple(None if x is None else np.asarray(x) for x in plain))
