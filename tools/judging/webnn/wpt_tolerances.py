"""How far a result may be from the expected one: the tolerances that web-platform-tests gives WebNN's operators.

Those of several operators are added up, as there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from directml_py.testing.ulps import ulps_apart

from .cases import Call, WebnnCase

Shape = tuple[int, ...]
Counted = Callable[[Call, Shape], int]


class Tolerance(NamedTuple):
    """ULP of the element, for integers their difference; or an absolute error if ``is_absolute``."""

    value: float
    is_absolute: bool = False


# Of FLOAT32 and of FLOAT16, in ULP. Operators without an entry are exact.
ULPS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("add", "mul", "prelu", "sqrt", "sub", "max", "cast"), (1, 1)),
    **dict.fromkeys(("div", "linear", "hardSigmoid", "reciprocal"), (2, 2)),
    "batchNormalization": (6, 6),
    "dequantizeLinear": (1, 1),
    "elu": (18, 18),
    "exp": (32, 1),
    "gelu": (18, 18),
    "gru": (6, 6),
    "gruCell": (3, 3),
    "hardSwish": (4, 4),
    "instanceNormalization": (840, 8400),
    "layerNormalization": (14, 14),
    "leakyRelu": (1, 2),
    "lstm": (3, 3),
    "lstmCell": (1, 1),
    "pow": (32, 2),
    "sigmoid": (34, 10),
    "softplus": (18, 18),
    "softsign": (3, 3),
}
ABSOLUTE: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("cos", "erf", "sin", "tan", "tanh"), (1 / 1024, 1 / 512)),
    "log": (1 / 1024, 1 / 1024),
}
# By how many elements are reduced.
REDUCED: dict[str, Callable[[int], int]] = {
    "reduceL1": lambda count: count,
    "reduceL2": lambda count: 2 * count + 1,
    "reduceLogSum": lambda count: count + 18,
    "reduceLogSumExp": lambda count: 2 * count + 18,
    "reduceMean": lambda count: count + 2,
    "reduceProduct": lambda count: count,
    "reduceSum": lambda count: count,
    "reduceSumSquare": lambda count: 2 * count,
}


def tolerance(case: WebnnCase, shapes: dict[str, Shape], data_type: str) -> Tolerance:
    """That of a case whose operands have ``shapes``, for a result of a type."""
    column = data_type == "float16"
    names = [call.name for call in case.calls]
    if data_type not in ("float32", "float16"):
        return Tolerance(int("quantizeLinear" in names or _is_linear(case)))
    if len(names) == 1 and names[0] in ABSOLUTE:
        return Tolerance(ABSOLUTE[names[0]][column], is_absolute=True)
    return Tolerance(sum(_ulps(call, shapes, column) for call in case.calls))


def _is_linear(case: WebnnCase) -> bool:
    return any(call.options.get("mode") == "linear" for call in case.calls)


def _ulps(call: Call, shapes: dict[str, Shape], column: bool) -> int:
    name, options = call.name, call.options
    shape = shapes.get(call.arguments[0], ()) if isinstance(call.arguments[0], str) else ()
    if name in ULPS:
        return ULPS[name][column]
    if name in REDUCED:
        axes = options.get("axes", range(len(shape)))
        return REDUCED[name](math.prod(shape[axis] for axis in axes))
    if name == "softmax":
        axis = call.arguments[1] if len(call.arguments) > 1 else 1
        return int(shape[axis]) * 3 + 3
    if name == "cumulativeSum":
        return int(shape[call.arguments[1]]) - 1
    if name == "matmul":
        return 2 * int(shape[-1])
    if name == "gemm":
        scales = [options.get(one, 1) != 1 for one in ("alpha", "beta")]
        return int(2 * shape[0 if options.get("aTranspose") else 1] + sum(scales) + ("c" in options))
    if name in ("conv2d", "convTranspose2d"):
        return _of_convolution(call, shapes)
    if name in ("averagePool2d", "l2Pool2d"):
        image = shape[1:3] if options.get("layout") == "nhwc" else shape[2:4]
        return int(math.prod(options.get("windowDimensions", image))) + 2
    if name == "resample2d":
        return (84, 10)[column] if options.get("mode") == "linear" else 0
    return 0


def _of_convolution(call: Call, shapes: dict[str, Shape]) -> int:
    """Two operations for each product of a window, and one for a bias."""
    is_transposed = call.name == "convTranspose2d"
    layout = call.options.get("filterLayout", "iohw" if is_transposed else "oihw")
    sizes = dict(zip(layout, shapes[call.arguments[1]]))
    channels = sizes["i"] // (call.options.get("groups", 1) if is_transposed else 1)
    return 2 * int(channels * sizes["h"] * sizes["w"]) + ("bias" in call.options)


def is_within(
    found: npt.NDArray[Any], expected: npt.NDArray[Any], allowed: Tolerance
) -> npt.NDArray[np.bool_]:
    """Where a result is as near to the expected one as is allowed. NaN is NaN alone."""
    if found.dtype.kind != "f":
        apart = np.abs(found.astype(object) - expected.astype(object))
        return np.asarray(apart <= int(allowed.value), bool)
    if not allowed.is_absolute:
        return np.asarray(ulps_apart(found, expected) <= np.uint64(allowed.value), bool)
    with np.errstate(invalid="ignore"):
        apart = np.abs(found.astype(np.float64) - expected.astype(np.float64))
        is_same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        return np.asarray(is_same | (apart <= allowed.value), bool)
