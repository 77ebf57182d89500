"""What operators make of their attributes: elements and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..descs.data_types import data_type_of
from ..descs.operator_desc import Scalar
from ..kernels.elementwise import functions
from ..kernels.native_arrays import Array


def element(value: float | Scalar, dtype: np.dtype[Any]) -> Array:
    """A FLOAT or a DML_SCALAR_UNION as an element of ``dtype``, without dimensions.

    A FLOAT is cast: toward zero and saturated for integers, to the nearest for FLOAT16.
    """
    if isinstance(value, Scalar):
        # A NaN keeps its bits, which a Python float would not.
        own = data_type_of(value.data_type).dtype
        return np.frombuffer(value.raw, own, 1).reshape(()).astype(dtype)
    with np.errstate(over="ignore"):
        return np.asarray(functions.cast(np.asarray(value, np.float32), dtype))


def resized(sizes: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    """``sizes`` with ``size`` in the dimension ``axis``."""
    return (*sizes[:axis], size, *sizes[axis + 1 :])
