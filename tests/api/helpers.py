"""What several tests of structs use."""

from __future__ import annotations

import ctypes
import gc

from directml_py.abi.interface import IUnknown
from directml_py.api.enums import (
    DML_TENSOR_DATA_TYPE_FLOAT32,
    DML_TENSOR_TYPE_BUFFER,
)
from directml_py.api.structs import (
    DML_BUFFER_TENSOR_DESC,
)

FLOAT32 = DML_TENSOR_DATA_TYPE_FLOAT32
BUFFER = DML_TENSOR_TYPE_BUFFER


def churn():
    """Free all unreferenced memory, and overwrite it."""
    gc.collect()
    for size in (8, 16, 24, 32, 48, 64, 96, 128):
        blocks = [(ctypes.c_uint8 * size)(*([0xEE] * size)) for _ in range(200)]
        del blocks
    gc.collect()


def buffer_of(tensor):
    return ctypes.cast(tensor.Desc, ctypes.POINTER(DML_BUFFER_TENSOR_DESC)).contents


def sizes_of(tensor):
    buffer = buffer_of(tensor)
    return buffer.Sizes[: buffer.DimensionCount]


class Thing(IUnknown):
    """An object with a handle."""


class MirroredTensorDesc(ctypes.Structure):
    """What another package would declare for DML_TENSOR_DESC."""

    _fields_ = (("Kind", ctypes.c_int), ("Pointer", ctypes.c_void_p))
