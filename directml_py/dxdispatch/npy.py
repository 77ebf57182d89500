"""Reading and writing ``.npy`` files as buffer contents."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ..api.enums import DML_TENSOR_DATA_TYPE
from ..descs.data_types import data_type_for
from ..npy_header import read_header
from .model_error import ModelError


def read_npy(data: bytes) -> tuple[bytes, DML_TENSOR_DATA_TYPE]:
    """The bytes of the elements, in native byte order, and their type.

    Raises ``ModelError`` for what is not a C-order array of numbers. The size is checked against the file's before
    anything is allocated.
    """
    file = io.BytesIO(data)
    try:
        header = read_header(file)
    except ValueError as error:
        raise ModelError(f"NumPy array: {error}.") from None
    dtype = header.dtype
    data_type = None if dtype.subdtype else data_type_for(dtype)
    if data_type is None:
        raise ModelError(f"NumPy array elements of type {dtype} are not supported.")
    if header.is_fortran:
        raise ModelError("Fortran stride order unsupported.")
    size, content = header.size, memoryview(data)[file.tell() :]
    if size > len(content):
        raise ModelError(f"NumPy array has {len(content)} bytes of data; its shape needs {size}.")
    elements = np.frombuffer(content[:size], dtype)
    return elements.astype(dtype.newbyteorder("="), copy=False).tobytes(), DML_TENSOR_DATA_TYPE(data_type)


def write_npy(array: np.ndarray[Any, Any]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
    return file.getvalue()
