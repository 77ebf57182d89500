"""The header of untrusted ``.npy`` files: type and shape of the array."""

from __future__ import annotations

import math
from typing import Any, BinaryIO, NamedTuple

import numpy as np


class NpyHeader(NamedTuple):
    """``size`` is that of all elements, in bytes."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(file: BinaryIO) -> NpyHeader:
    """The header, with the file positioned behind it. Raises ``ValueError`` for anything but a header of version 1.0 or
    2.0 of an array of numbers; nothing is allocated for the array."""
    try:
        version = np.lib.format.read_magic(file)
        reader: Any = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        header = None if reader is None else NpyHeader(*reader(file))
    except OSError:
        raise
    except Exception as error:
        # NumPy takes the header to Python's tokenizer and parser, whose errors are of many kinds.
        raise ValueError(f"its header is invalid: {error}") from None
    if header is None:
        raise ValueError(f"version {version[0]}.{version[1]} is not supported")
    if header.dtype.hasobject:
        raise ValueError(f"elements of type {header.dtype} are not supported")
    if any(dimension < 0 for dimension in header.shape):
        raise ValueError(f"its shape is {header.shape}")
    return header
