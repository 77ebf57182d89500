"""Reading and writing ``.npy`` files as buffer contents."""

from __future__ import annotations

import io
import math
import tokenize
from typing import Any

import numpy as np

from ..api.enums import DML_TENSOR_DATA_TYPE
from ..descs.data_types import data_type_for
from .model_error import ModelError


def read_npy(data: bytes) -> tuple[bytes, DML_TENSOR_DATA_TYPE]:
    """The bytes of the elements, in native byte order, and their type.

    Raises ``ModelError`` for what is not a C-order array of numbers. The size is checked against the file's before
    anything is allocated.
    """
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        header: Any = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if header is None:
            raise ModelError(f"NumPy array version {version[0]}.{version[1]} is not supported.")
        shape, is_fortran, dtype = header(file)
    except (
        ValueError,
        EOFError,
        SyntaxError,
        TypeError,
        RecursionError,
        MemoryError,
        tokenize.TokenError,
    ) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"NumPy array header is invalid: {error}") from None
    data_type = None if dtype.hasobject or dtype.subdtype else data_type_for(dtype)
    if data_type is None:
        raise ModelError(f"NumPy array elements of type {dtype} are not supported.")
    if is_fortran:
        raise ModelError("Fortran stride order unsupported.")
    size, content = math.prod(shape) * dtype.itemsize, memoryview(data)[file.tell() :]
    if any(dimension < 0 for dimension in shape) or size > len(content):
        raise ModelError(f"NumPy array has {len(content)} bytes of data; its shape needs {size}.")
    elements = np.frombuffer(content[:size], dtype)
    return elements.astype(dtype.newbyteorder("="), copy=False).tobytes(), DML_TENSOR_DATA_TYPE(data_type)


def write_npy(array: np.ndarray[Any, Any]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
    return file.getvalue()
