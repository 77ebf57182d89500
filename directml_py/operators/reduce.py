"""REDUCE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..api.enums import DML_REDUCE_FUNCTION
from ..descs.values import OperatorDesc
from ..validation.report import Report
from .arg import arg_kernel
from .operator import Array, Inputs, Kernel, Operator, Outputs, Shapes, operator
from .reduced_axes import AxesRules, check_reduction, infer_reduction

RULES = AxesRules("REDUCE")
Axes = tuple[int, ...]
Reduction = Callable[[Array, Axes], Any]


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type that sums are kept in.

    FLOAT32 sums are kept in FLOAT64, which is at least as exact as a pairwise sum in any order of the axes.
    FLOAT16 is computed in FLOAT32. Integers wrap in their own type.
    """
    if dtype == np.float16:
        return np.dtype(np.float32)
    return np.dtype(np.float64) if dtype.kind == "f" else dtype


def add(x: Array, axes: Axes, square: bool = False, absolute: bool = False) -> Array:
    kind = accumulator(x.dtype)
    if kind == np.float32:
        # NumPy sums pairwise along contiguous memory alone, so the reduced axes go last.
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


# MAX and MIN pass over NaN: Direct3D's min and max return the other operand if one is NaN.
REDUCTIONS: dict[int, Reduction] = {
    DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_AVERAGE: average,
    DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_L1: lambda x, axes: add(x, axes, absolute=True),
    DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_L2: lambda x, axes: np.sqrt(add(x, axes, square=True)),
    DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_LOG_SUM: lambda x, axes: np.log(add(x, axes)),
    DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_MAX: lambda x, axes: np.fmax.reduce(x, axis=axes, keepdims=True),
    DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_MIN: lambda x, axes: np.fmin.reduce(x, axis=axes, keepdims=True),
    DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_MULTIPLY: multiply,
    DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_SUM: add,
    DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_SUM_SQUARE: lambda x, axes: add(x, axes, square=True),
}
LOG_SUM_EXP = DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_LOG_SUM_EXP
ARGMAX = DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_ARGMAX
ARGMIN = DML_REDUCE_FUNCTION.DML_REDUCE_FUNCTION_ARGMIN


@operator("REDUCE")
class Reduce(Operator):
    """Twelve functions over one or more axes (ns-directml-dml_reduce_operator_desc)."""

    def constrain(self, desc: OperatorDesc, report: Report) -> None:
        check_reduction(desc, RULES, report)

    def infer(self, desc: OperatorDesc, *, output_data_type: int | None = None) -> Shapes:
        """``output_data_type``: that of indices; UINT32 if left out."""
        return infer_reduction(desc, output_data_type)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        if desc.Function in (ARGMAX, ARGMIN):
            return arg_kernel(desc, largest=desc.Function == ARGMAX, decreasing=False)
        axes = tuple(sorted(desc.Axes))
        if desc.Function == LOG_SUM_EXP:
            return log_sum_exp_kernel(axes)
        reduction = REDUCTIONS[desc.Function]

        def reduce(inputs: Inputs, outputs: Outputs) -> None:
            with np.errstate(all="ignore"):
                np.copyto(outputs[0], reduction(inputs[0], axes), casting="same_kind")

        return reduce

    def scratch(self, desc: OperatorDesc) -> int:
        """LOG_SUM_EXP keeps the shifted exponentials, in FLOAT64, until they are added."""
        return 8 * desc.InputTensor.element_count if desc.Function == LOG_SUM_EXP else 0


def log_sum_exp_kernel(axes: Axes) -> Kernel:
    """log(sum(exp(x))) with the largest element taken out first, so that nothing overflows or vanishes."""

    def log_sum_exp(inputs: Inputs, outputs: Outputs, scratch: Array) -> None:
        x = inputs[0]
        shifted = scratch[: 8 * x.size].view(np.float64).reshape(x.shape)
        with np.errstate(all="ignore"):
            shift = np.max(x, axis=axes, keepdims=True).astype(np.float64)
            # An infinite maximum must not be subtracted from itself; NaN stays and spoils the result, as it should.
            shift[np.isinf(shift)] = 0
            np.subtract(x, shift, out=shifted)
            np.exp(shifted, out=shifted)
            total = np.add.reduce(shifted, axis=axes, keepdims=True)
            np.copyto(outputs[0], np.log(total) + shift, casting="same_kind")

    return log_sum_exp
