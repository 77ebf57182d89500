"""Arrays as arguments of native kernels: addresses, alignment and overlaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .backend import backend

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
Run = Callable[[], None]


def address(array: Array) -> int:
    # NumPy describes the whole array to tell its address, which takes three times as long.
    if array.flags.c_contiguous:
        ffi = backend.native.ffi
        return int(ffi.cast("uintptr_t", ffi.from_buffer(array)))
    data: int = array.__array_interface__["data"][0]
    return data


def readable(*arrays: Array) -> bool:
    """Whether C can read the elements as numbers: aligned, in native byte order."""
    return all(array.dtype.isnative and array.flags.aligned for array in arrays)


def apart(output: Array, inputs: Sequence[Array]) -> bool:
    """Whether writing ``output`` leaves ``inputs`` intact."""
    return not any(np.may_share_memory(array, output) for array in inputs)


def type_name(array: Array) -> str:
    """The data type's DirectML name, such as ``FLOAT32``."""
    name: str = array.dtype.name
    return name.upper()
