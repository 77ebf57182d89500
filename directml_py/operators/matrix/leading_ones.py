"""Leading sizes of 1, which one tensor of an operator has and another lacks."""

from __future__ import annotations

from ...descs.tensor import TensorDesc
from ..operator import Sizes


def led(sizes: Sizes, tensor: TensorDesc | None) -> Sizes:
    """``sizes`` behind as many leading ones as ``tensor`` has dimensions more, or without leading ones it lacks."""
    count = len(sizes) if tensor is None else tensor.dimension_count
    if count >= len(sizes):
        return (*(1,) * (count - len(sizes)), *sizes)
    return sizes[-count:] if set(sizes[:-count]) == {1} else sizes
