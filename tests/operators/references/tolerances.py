"""How far a float may be from its reference, in units in the last place, by operator and data type of the output.

As in WebNN's tests, whose figures are those of graphics hardware; these are much smaller. Integers must be equal, and
so must floats of operators that move, compare or round once, down to the sign of zero.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

Tolerance = dict[str, int]

EXACT: Tolerance = {"float64": 0, "float32": 0, "float16": 0}
FUNCTION: Tolerance = {"float32": 2, "float16": 1}
COARSE_FUNCTION: Tolerance = {"float32": 4, "float16": 1}


def of_reduction(desc: Any) -> Tolerance:
    """MULTIPLY of FLOAT32 rounds every product; in FLOAT64 all others, and FLOAT16, are rounded once."""
    function = desc.Function.name.removeprefix("DML_REDUCE_FUNCTION_")
    if function in ("MAX", "MIN"):
        return EXACT
    if function == "MULTIPLY":
        return {"float32": prod(desc.InputTensor.sizes[axis] for axis in desc.Axes), "float16": 1}
    return {"float32": 2 if function == "L2" else 1, "float16": 1}


COARSE = (
    "ACTIVATION_GELU",
    "ELEMENT_WISE_CONSTANT_POW",
    "ELEMENT_WISE_ERF",
    "ELEMENT_WISE_POW",
    "ELEMENT_WISE_TAN",
)
FUNCTIONS = (
    "ACTIVATION_CELU",
    "ACTIVATION_ELU",
    "ACTIVATION_HARD_SIGMOID",
    "ACTIVATION_HARD_SWISH",
    "ACTIVATION_LINEAR",
    "ACTIVATION_LOG_SOFTMAX",
    "ACTIVATION_LOG_SOFTMAX1",
    "ACTIVATION_PARAMETRIC_SOFTPLUS",
    "ACTIVATION_SCALED_ELU",
    "ACTIVATION_SCALED_TANH",
    "ACTIVATION_SIGMOID",
    "ACTIVATION_SOFTMAX",
    "ACTIVATION_SOFTMAX1",
    "ACTIVATION_SOFTPLUS",
    "ACTIVATION_SOFTSIGN",
    "ACTIVATION_SWISH",
    "ACTIVATION_TANH",
    "ELEMENT_WISE_ACOS",
    "ELEMENT_WISE_ACOSH",
    "ELEMENT_WISE_ASIN",
    "ELEMENT_WISE_ASINH",
    "ELEMENT_WISE_ATAN",
    "ELEMENT_WISE_ATANH",
    "ELEMENT_WISE_ATAN_YX",
    "ELEMENT_WISE_COS",
    "ELEMENT_WISE_COSH",
    "ELEMENT_WISE_EXP",
    "ELEMENT_WISE_LOG",
    "ELEMENT_WISE_SIN",
    "ELEMENT_WISE_SINH",
    "ELEMENT_WISE_TANH",
)
TOLERANCES: dict[str, Tolerance | Callable[[Any], Tolerance]] = {
    **dict.fromkeys(COARSE, COARSE_FUNCTION),
    **dict.fromkeys(FUNCTIONS, FUNCTION),
    # Products of FLOAT16 are kept in FLOAT32, in which they are rounded before they are rounded once more.
    "CUMULATIVE_PRODUCT": {"float32": 0, "float16": 1},
    "REDUCE": of_reduction,
}

# A maximum of zeros may be either, and the sign of a sum of zeros depends on where it begins.
EITHER_ZERO = (
    "ACTIVATION_RELU",
    "AVERAGE_POOLING",
    "AVERAGE_POOLING1",
    "CONVOLUTION",
    "ELEMENT_WISE_ADD1",
    "ELEMENT_WISE_CLIP",
    "ELEMENT_WISE_CLIP1",
    "ELEMENT_WISE_MAX",
    "ELEMENT_WISE_MIN",
    "ELEMENT_WISE_THRESHOLD",
    "GEMM",
    "MAX_POOLING",
    "MAX_POOLING1",
    "MAX_POOLING2",
    "REDUCE",
)


def tolerance(desc: Any, dtype: Any) -> int:
    """Units in the last place; what is fused into the operator adds its own."""
    entry = TOLERANCES.get(desc.name, EXACT)
    own = (entry(desc) if callable(entry) else entry).get(dtype.name, 0)
    fused = getattr(desc, "FusedActivation", None) if "FusedActivation" in desc.struct.index else None
    return own if fused is None else own + tolerance(fused, dtype)


def zeros_have_signs(desc: Any, dtype: Any) -> bool:
    return desc.name not in EITHER_ZERO and tolerance(desc, dtype) == 0
