"""What attributes mean: elements, sizes, fused activations (the page dml-fused-activations)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..descs.data_types import data_type_of
from ..descs.operator_desc import OperatorDesc, Scalar
from ..descs.tensor import TensorDesc
from ..kernels.elementwise import functions
from ..kernels.elementwise.activations import identity
from ..kernels.native_arrays import Array
from .operator import ElementWise, Sizes, operator_of


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


def activated(desc: OperatorDesc | None) -> Callable[[Array], Array]:
    """The function of a fused activation's desc, whose tensors are null; the identity without a desc.

    It takes the operator's unrounded result and returns the array to be stored, possibly the same one and possibly of
    a wider type.
    """
    return identity if desc is None else operator_of(desc.name).compute(desc)


def is_of_elements(desc: OperatorDesc | None) -> bool:
    """Whether the activation is element-wise; None counts as such."""
    return (
        desc is None or desc.name == "ACTIVATION_IDENTITY" or isinstance(operator_of(desc.name), ElementWise)
    )


def led(sizes: Sizes, tensor: TensorDesc | None) -> Sizes:
    """``sizes`` padded with leading ones to the rank of ``tensor``, or stripped of leading ones down to it."""
    count = len(sizes) if tensor is None else tensor.dimension_count
    if count >= len(sizes):
        return (*(1,) * (count - len(sizes)), *sizes)
    return sizes[-count:] if set(sizes[:-count]) == {1} else sizes
