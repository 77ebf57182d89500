"""What attributes mean: elements, sizes, fused activations (the page dml-fused-activations)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..descs.data_types import data_type_of
from ..descs.operator_desc import OperatorDesc, Scalar
from ..descs.tensor import TensorDesc
from ..kernels.elementwise import functions
from ..kernels.native_arrays import Array
from ..late import loading
from .operator import Advisory, ElementWise, Sizes, operator_of, post_op_of

if TYPE_CHECKING:
    from ..kernels.post_ops import Activation


def element(value: float | Scalar, dtype: np.dtype[Any]) -> Array:
    """A FLOAT or a DML_SCALAR_UNION as a 0-d array of ``dtype``.

    A FLOAT is cast: toward zero and saturated for integers, to the nearest for FLOAT16.
    """
    if isinstance(value, Scalar):
        # A Python float would not preserve a NaN's payload.
        stored = data_type_of(value.data_type).dtype
        return np.frombuffer(value.raw, stored, 1).reshape(()).astype(dtype)
    with np.errstate(over="ignore"):
        return np.asarray(functions.cast(np.asarray(value, np.float32), dtype))


def resized(sizes: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    """``sizes`` with ``size`` along ``axis``."""
    return (*sizes[:axis], size, *sizes[axis + 1 :])


def any_output_sizes(sizes: Sizes) -> Advisory:
    """Microsoft's library checks only batches and channels: further windows are empty, and there may be fewer."""
    return Advisory(sizes, (*sizes[:2], *(None for _ in sizes[2:])))


def activated(desc: OperatorDesc | None) -> Callable[[Array], Array]:
    """The function of a fused activation's desc, whose tensors are null; the identity without a desc.

    It takes the operator's unrounded result and returns the array to be stored, possibly the same one and possibly of
    a wider type.
    """
    return functions.identity if desc is None else operator_of(desc.name).compute(desc)


def activation_of(desc: OperatorDesc | None) -> Activation | None:
    """A fused activation as kernels have it in registers; None if they have nothing of the kind."""
    with loading:
        from ..kernels.post_ops import IDENTITY, Activation

    role = IDENTITY if desc is None else post_op_of(desc)
    return role if isinstance(role, Activation) else None


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
