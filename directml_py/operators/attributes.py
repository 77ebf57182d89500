"""Conversions of operator attributes to elements and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..descs.data_types import data_type_of
from ..descs.operator_desc import Scalar
from ..kernels.elementwise import functions
from ..kernels.native_arrays import Array


def element(value: float | Scalar, dtype: np.dtype[Any]) -> Array:
    """A FLOAT or a DML_SCALAR_UNION as a 0-d array of ``dtype``.

    A FLOAT is cast: toward zero and saturated for integers, to the nearest for FLOAT16.
    """
    if isinstance(value, Scalar):
        # A Python float would not preserve a NaN's payload.
        own = data_type_of(value.data_type).dtype
        return np.frombuffer(value.raw, own, 1).reshape(()).astype(dtype)
    with np.errstate(over="ignore"):
        return np.asarray(functions.cast(np.asarray(value, np.float32), dtype))


def resized(sizes: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    """``sizes`` with ``size`` along ``axis``."""
    return (*sizes[:axis], size, *sizes[axis + 1 :])
