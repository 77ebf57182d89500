"""Leading sizes of 1, where an operator's tensors differ in rank."""

from __future__ import annotations

from ...descs.tensor import TensorDesc
from ..operator import Sizes


def led(sizes: Sizes, tensor: TensorDesc | None) -> Sizes:
    """``sizes`` padded with leading ones to the rank of ``tensor``, or stripped of leading ones down to it."""
    count = len(sizes) if tensor is None else tensor.dimension_count
    if count >= len(sizes):
        return (*(1,) * (count - len(sizes)), *sizes)
    return sizes[-count:] if set(sizes[:-count]) == {1} else sizes
