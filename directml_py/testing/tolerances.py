"""Error bounds of float functions, in units in the last place (ULP) from the FLOAT32 or FLOAT16 of their formula, in
which each operation is rounded to FLOAT32, as in Microsoft's library.

They have the form of WebNN's conformance tests, but are much tighter than those figures for graphics hardware.
ELEMENT_WISE_* and ACTIVATION_* without an entry copy, compare or do arithmetic alone, so their results have no error.
Where a subnormal logistic function or softplus is multiplied, one ULP of it may be more of the product.
``tools/accuracy.py`` verifies all of them over all magnitudes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Tolerance = dict[str, int]

# The distance between NaN and a number.
NOWHERE_NEAR = 2**64 - 1
_NO_STEP, _NOWHERE = np.uint64(0), np.uint64(NOWHERE_NEAR)

EXACT: Tolerance = {"float64": 0, "float32": 0, "float16": 0}
FUNCTION: Tolerance = {"float32": 2, "float16": 1}
COARSE_FUNCTION: Tolerance = {"float32": 4, "float16": 1}

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
    "ACTIVATION_LOG_SOFTMAX",
    "ACTIVATION_LOG_SOFTMAX1",
    "ACTIVATION_PARAMETRIC_SOFTPLUS",
    "ACTIVATION_SCALED_ELU",
    "ACTIVATION_SCALED_TANH",
    "ACTIVATION_SIGMOID",
    "ACTIVATION_SOFTMAX",
    "ACTIVATION_SOFTMAX1",
    "ACTIVATION_SOFTPLUS",
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
FUNCTION_TOLERANCES: dict[str, Tolerance] = {
    **dict.fromkeys(COARSE, COARSE_FUNCTION),
    **dict.fromkeys(FUNCTIONS, FUNCTION),
}


def ulps_apart(one: Array, other: Array) -> Array:
    """The elementwise distance in ULP of two arrays of one type; both zeros are equal.

    Infinity follows the largest number. NaN is ``NOWHERE_NEAR`` anything but NaN.
    """
    ordinals = [_in_order(array) for array in (one, other)]
    # For FLOAT64 the difference may need the 64th bit.
    steps = (np.maximum(*ordinals) - np.minimum(*ordinals)).view(np.uint64)
    is_nan_one, is_nan_other = np.isnan(one), np.isnan(other)
    return np.where(is_nan_one | is_nan_other, np.where(is_nan_one & is_nan_other, _NO_STEP, _NOWHERE), steps)


def _in_order(array: Array) -> Array:
    """Integers ordered as the floats, with adjacent floats 1 apart; both zeros are 0."""
    bits = array.view(f"i{array.dtype.itemsize}").astype(np.int64)
    largest = (1 << 8 * array.dtype.itemsize - 1) - 1
    return np.where(bits < 0, -(bits & largest), bits)
