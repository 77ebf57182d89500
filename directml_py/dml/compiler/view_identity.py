"""Identity of views: whether two tensors over the same memory are the same array."""

from __future__ import annotations

from ...descs.tensor import TensorDesc


def same_view(one: TensorDesc, other: TensorDesc) -> bool:
    """Whether two tensors have the same elements at the same offsets."""
    if one.data_type != other.data_type or one.sizes != other.sizes:
        return False
    strides = zip(one.sizes, one.effective_strides, other.effective_strides)
    return all(size == 1 or own == theirs for size, own, theirs in strides)
