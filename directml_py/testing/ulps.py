"""Distances of floats in units in the last place (ULP), for comparisons with a real library and for the tests of
operators alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# The distance between NaN and a number.
NOWHERE_NEAR = 2**64 - 1
_EQUAL, _NOWHERE = np.uint64(0), np.uint64(NOWHERE_NEAR)


def ulps_apart(one: Array, other: Array) -> Array:
    """The elementwise distance in ULP of two arrays of one type; both zeros are equal.

    Infinity follows the largest number. NaN is ``NOWHERE_NEAR`` anything but NaN.
    """
    ordinals = [_in_order(array) for array in (one, other)]
    # For FLOAT64 the difference may need the 64th bit.
    distances = (np.maximum(*ordinals) - np.minimum(*ordinals)).view(np.uint64)
    is_nan_one, is_nan_other = np.isnan(one), np.isnan(other)
    return np.where(
        is_nan_one | is_nan_other, np.where(is_nan_one & is_nan_other, _EQUAL, _NOWHERE), distances
    )


def _in_order(array: Array) -> Array:
    """Integers ordered as the floats, with adjacent floats 1 apart; both zeros are 0."""
    bits = array.view(f"i{array.dtype.itemsize}").astype(np.int64)
    largest = (1 << 8 * array.dtype.itemsize - 1) - 1
    return np.where(bits < 0, -(bits & largest), bits)
