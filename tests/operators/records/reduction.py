"""REDUCE, ARGMIN and ARGMAX, CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import directml_py as dml

from .onnx_node import run
from .record import EXACT, Record, Ulps, Values

ONNX_NAMES = {
    "AVERAGE": "ReduceMean",
    "L1": "ReduceL1",
    "L2": "ReduceL2",
    "LOG_SUM": "ReduceLogSum",
    "LOG_SUM_EXP": "ReduceLogSumExp",
    "MAX": "ReduceMax",
    "MIN": "ReduceMin",
    "MULTIPLY": "ReduceProd",
    "SUM": "ReduceSum",
    "SUM_SQUARE": "ReduceSumSquare",
}
# ONNX Runtime's reductions of integers saturate or round in places.
OF_INTEGERS: dict[str, Callable[[list[int]], int]] = {
    "L1": lambda row: sum(map(abs, row)),
    "MAX": max,
    "MIN": min,
    "MULTIPLY": math.prod,
    "SUM": sum,
    "SUM_SQUARE": lambda row: sum(one * one for one in row),
}


def rows(desc: Any, x: Any) -> Any:
    """The reduced axes as the last of two dimensions, in increasing order whatever the order they are named in."""
    axes = sorted(desc.Axes)
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    return x.transpose(kept + axes).reshape(-1, math.prod(x.shape[axis] for axis in axes))


def arg(desc: Any, x: Any, name: str, last: bool) -> Any:
    """UINT64 is compared as INT64 minus 2^63, for which ONNX Runtime has a kernel, in the same order."""
    flat = rows(desc, x)
    if x.dtype == object:
        offset = 1 << 63 if desc.InputTensor.dtype == np.uint64 else 0
        flat = (flat - offset).astype(np.int64)
    node = {"ARGMAX": "ArgMax", "ARGMIN": "ArgMin"}[name]
    (indices,) = run(node, [flat], ["int64"], axis=-1, keepdims=0, select_last_index=int(last))
    return indices.reshape(desc.OutputTensor.sizes)


def reduce(desc: Any, x: Any) -> Any:
    name = desc.Function.name.removeprefix("DML_REDUCE_FUNCTION_")
    if name.startswith("ARG"):
        return arg(desc, x, name, last=False)
    if x.dtype == object:
        results = [OF_INTEGERS[name](row) for row in rows(desc, x).tolist()]
        return np.array(results, object).reshape(desc.OutputTensor.sizes)
    (result,) = run(ONNX_NAMES[name], [x, np.array(desc.Axes, np.int64)], keepdims=1)
    return result


TIED = Values(-1, 1, step=0.25)
# Few distinct values for ARGMIN and ARGMAX, so that there are ties; positive values for logarithms; factors near 1.
DOMAINS = {"ARGMIN": TIED, "ARGMAX": TIED, "LOG_SUM": Values(0.5, 4), "MULTIPLY": Values(0.95, 1.05)}


def values(desc: Any) -> Values:
    return DOMAINS.get(desc.Function.name.removeprefix("DML_REDUCE_FUNCTION_"), Values())


def arg_operator(desc: Any, x: Any) -> Any:
    return arg(desc, x, desc.name, desc.AxisDirection == dml.DML_AXIS_DIRECTION_DECREASING)


def cumulative_sum(desc: Any, x: Any) -> Any:
    """Integers are summed as INT64, of which wrapped sums are the low bits."""
    if x.dtype == object:
        x = np.array([one & (1 << 64) - 1 for one in x.ravel()], np.uint64).view(np.int64).reshape(x.shape)
    (result,) = run(
        "CumSum",
        [x, np.array(desc.Axis, np.int64)],
        exclusive=int(desc.HasExclusiveSum),
        reverse=int(desc.AxisDirection == dml.DML_AXIS_DIRECTION_DECREASING),
    )
    return result


def cumulative_product(desc: Any, x: Any) -> Any:
    rows = np.moveaxis(x, desc.Axis, -1)
    result = np.empty(rows.shape, x.dtype)
    for place in np.ndindex(rows.shape[:-1]):
        order = range(rows.shape[-1])
        tally = 1 if x.dtype == object else np.float32(1)
        for index in order if desc.AxisDirection == dml.DML_AXIS_DIRECTION_INCREASING else reversed(order):
            following = type(tally)(tally * type(tally)(rows[(*place, index)]))
            result[(*place, index)] = tally if desc.HasExclusiveProduct else following
            tally = following
    return np.moveaxis(result, -1, desc.Axis)


def of_reduction(desc: Any) -> Ulps:
    """MULTIPLY of FLOAT32 rounds every product; in FLOAT64 all others, and FLOAT16, are rounded once."""
    function = desc.Function.name.removeprefix("DML_REDUCE_FUNCTION_")
    if function in ("MAX", "MIN"):
        return EXACT
    if function == "MULTIPLY":
        return {"float32": math.prod(desc.InputTensor.sizes[axis] for axis in desc.Axes), "float16": 1}
    return {"float32": 2 if function == "L2" else 1, "float16": 1}


RECORDS = {
    # Exact, and so large that a sum that was rounded to FLOAT16 on the way would show.
    "CUMULATIVE_SUMMATION": Record(cumulative_sum, Values(-32, 128, step=0.125, infinite=True), samples=96),
    "CUMULATIVE_PRODUCT": Record(cumulative_product, Values(-2, 2, infinite=True), samples=96),
    # Twelve functions, most of them of integers too.
    "REDUCE": Record(reduce, values, samples=240, ulps=of_reduction, either_zero=True),
    "ARGMIN": Record(arg_operator, TIED, samples=72),
    "ARGMAX": Record(arg_operator, TIED, samples=72),
}
