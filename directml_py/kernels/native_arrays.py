"""Arrays as native kernels take them: their addresses, alignment and overlaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Run = Callable[[], None]


def address(array: Array) -> int:
    data: int = array.__array_interface__["data"][0]
    return data


def readable(*arrays: Array) -> bool:
    """Whether C finds numbers where the elements lie: aligned, in the byte order of the machine."""
    return all(array.dtype.isnative and array.flags.aligned for array in arrays)


def apart(output: Array, inputs: Sequence[Array]) -> bool:
    """Whether nothing of ``inputs`` is lost while ``output`` is written."""
    return not any(np.may_share_memory(array, output) for array in inputs)


def type_name(array: Array) -> str:
    """The data type as DirectML calls it, ``FLOAT32``."""
    name: str = array.dtype.name
    return name.upper()
