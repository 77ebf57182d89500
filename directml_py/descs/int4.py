"""4-bit elements: two per byte, the lower index in the low half."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


def offsets(sizes: Sequence[int], strides: Sequence[int]) -> npt.NDArray[np.int64]:
    """The offset, in elements, of every element of a tensor."""
    offset = np.zeros(tuple(sizes), np.int64)
    for dimension, (size, stride) in enumerate(zip(sizes, strides)):
        along = np.arange(size, dtype=np.int64) * stride
        offset += along.reshape((-1,) + (1,) * (len(sizes) - dimension - 1))
    return offset


def unpacked(memory: Bytes, places: npt.NDArray[np.int64], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The elements at offsets ``places``, one byte each, as uint8 or, sign-extended, int8."""
    halves: Bytes
    shifts = ((places & 1) << 2).astype(np.uint8)
    halves = np.bitwise_and(memory[places >> 1] >> shifts, np.uint8(15))
    return halves if dtype.kind == "u" else np.subtract((halves ^ np.uint8(8)).view(np.int8), np.int8(8))


def pack(memory: Bytes, places: npt.NDArray[np.int64], values: npt.NDArray[Any]) -> None:
    """Write the low halves of ``values`` to offsets ``places``; the other halves of the bytes are unchanged."""
    halves = values.astype(np.uint8) & np.uint8(15)
    for half in (0, 1):
        mine = (places & 1) == half
        at = places[mine] >> 1
        kept = memory[at] & np.uint8(0xF0 if half == 0 else 0x0F)
        memory[at] = kept | (halves[mine] << np.uint8(4 * half))
