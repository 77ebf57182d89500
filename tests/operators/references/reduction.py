"""REDUCE, ARGMIN and ARGMAX."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import directml_py as dml

from .onnx_node import run
from .row import Row, Values

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
    """UINT64 is compared as INT64, of which ONNX Runtime has a kernel: 2^63 less, in the same order."""
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
# Few different values for ARGMIN and ARGMAX, so that there are ties; what has a logarithm; factors near 1.
DOMAINS = {"ARGMIN": TIED, "ARGMAX": TIED, "LOG_SUM": Values(0.5, 4), "MULTIPLY": Values(0.95, 1.05)}


def values(desc: Any) -> Values:
    return DOMAINS.get(desc.Function.name.removeprefix("DML_REDUCE_FUNCTION_"), Values())


def arg_operator(desc: Any, x: Any) -> Any:
    return arg(desc, x, desc.name, desc.AxisDirection == dml.DML_AXIS_DIRECTION_DECREASING)


ROWS = {
    # Twelve functions, most of them of integers too.
    "REDUCE": Row(reduce, values, samples=240),
    "ARGMIN": Row(arg_operator, TIED, samples=72),
    "ARGMAX": Row(arg_operator, TIED, samples=72),
}
