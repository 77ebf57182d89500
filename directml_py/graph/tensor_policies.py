"""Tensor policies: the layouts of a graph's output tensors (the page "DirectMLX")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..descs.tensor_size import packed_strides


class TensorProperties(NamedTuple):
    """``strides`` in elements (None: packed), ``total_size`` (None: the least possible) and ``alignment`` in bytes."""

    strides: Sequence[int] | None = None
    total_size: int | None = None
    alignment: int = 0


# Called with the data type, flags and sizes of an output tensor.
TensorPolicy = Callable[[int, int, Sequence[int]], TensorProperties]


def packed(data_type: int, flags: int, sizes: Sequence[int]) -> TensorProperties:
    """Packed tensors: no strides, no padding."""
    return TensorProperties()


def interleaved_channel(data_type: int, flags: int, sizes: Sequence[int]) -> TensorProperties:
    """Channels-last: NCHW sizes in NHWC memory."""
    if len(sizes) < 3:
        return TensorProperties()
    batch, *spatial, channel = packed_strides([sizes[0], *sizes[2:], sizes[1]])
    return TensorProperties((batch, channel, *spatial))
