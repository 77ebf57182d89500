"""Identity of views: whether two tensors over the same memory are the same array."""

from __future__ import annotations

from ...descs.tensor import TensorDesc


def same_view(one: TensorDesc, other: TensorDesc) -> bool:
    """Whether two tensors have the same elements at the same offsets."""
    return (one.data_type, one.sizes, one.layout) == (other.data_type, other.sizes, other.layout)
