"""Constants of a model: the location of their bytes, and the graph inputs that they become."""

from __future__ import annotations

import math
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.external_data_helper import ExternalDataInfo, uses_external_data

from .errors import OnnxError, Refusal
from .values import Array

# Types of which several elements share a byte.
SUBBYTE = ("int4", "uint4", "float4_e2m1fn", "int2", "uint2")


class Constants:
    """The constants that a graph reads, by the index of their graph input; most are OWNED_BY_DML."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.arrays: list[Array | None] = []
        self._names: set[str] = set()

    def add(self, name: str, array: Array) -> int:
        """The index of a new graph input for ``array``."""
        self.arrays.append(array)
        return self.first + len(self.arrays) - 1

    def name(self, wanted: str) -> str:
        """``wanted``, or ``wanted`` with a number appended if it is taken."""
        name, number = wanted, 0
        while name in self._names:
            number += 1
            name = f"{wanted}_{number}"
        self._names.add(name)
        return name

    def reserve(self, name: str) -> None:
        self._names.add(name)


def check_is_whole(model: Any, file: str) -> None:
    """Raises ``OnnxError`` for a model not loaded from a file that has external data."""
    for tensor in model.graph.initializer:
        if uses_external_data(tensor):
            location = ExternalDataInfo(tensor).location
            where = f"initializer {tensor.name!r}"
            raise OnnxError(f"its data is in {location!r}, beside a file; load the file", file, where)


def array_of(tensor: Any, file: str, folder: Path | None, raw: memoryview | None = None) -> Array:
    """The content of a TensorProto, whose ``raw_data`` may be elsewhere; external data is mapped, not read.

    Raises ``OnnxError``.
    """
    where = f"initializer {tensor.name!r}"
    sizes = tuple(tensor.dims)
    if sizes and min(sizes) < 0:
        raise OnnxError(f"has sizes {list(sizes)}", file, where)
    try:
        if uses_external_data(tensor):
            assert folder is not None
            return _mapped(tensor, folder)
        if raw is None and sys.byteorder == "little" and tensor.HasField("raw_data"):
            raw = memoryview(tensor.raw_data)
        if raw is not None:
            return _viewed(tensor, raw)
        return np.asarray(numpy_helper.to_array(tensor))
    except Refusal as error:
        raise OnnxError(error.reason, file, where) from None
    except (ValueError, TypeError, KeyError, NotImplementedError) as error:
        raise OnnxError(f"its data is damaged ({error})", file, where) from None


def _mapped(tensor: Any, folder: Path) -> Array:
    """External data in memory of the file. Raises ``Refusal``, and ``ValueError`` for numbers that are none."""
    info = ExternalDataInfo(tensor)
    path = Path(info.location)
    if not info.location:
        raise Refusal("its data is in a file that is not named")
    if path.is_absolute() or ".." in path.parts:
        raise Refusal(f"its data is in {info.location!r}, outside the folder of the model")
    dtype, shape = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)), tuple(tensor.dims)
    if dtype.name in SUBBYTE:
        raise Refusal(f"elements of type {dtype.name} in external data are not supported")
    needed, start = dtype.itemsize * math.prod(shape), int(info.offset or 0)
    if info.length is not None and int(info.length) != needed:
        raise Refusal(f"its data has {info.length} bytes; its sizes need {needed}")
    try:
        there = (folder / path).stat().st_size
        if needed and there < start + needed:
            raise Refusal(
                f"{info.location!r} has {there} bytes; its data is from {start} to {start + needed}"
            )
        return np.memmap(folder / path, dtype, "r", start, shape) if needed else np.empty(shape, dtype)
    except OSError as error:
        raise Refusal(f"cannot read its data from {info.location!r}: {error.strerror or error}") from None


@cache
def _element(kind: int) -> tuple[np.dtype[Any], bool]:
    """The type of an element, and whether it has less than a byte. Raises ``KeyError`` for unknown types."""
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind))
    return dtype, dtype.name in SUBBYTE


def _viewed(tensor: Any, raw: memoryview) -> Array:
    """The elements in ``raw``; those of less than a byte are unpacked. Raises as ``to_array`` does."""
    dtype, is_subbyte = _element(tensor.data_type)
    if is_subbyte:
        whole = onnx.TensorProto()
        whole.CopyFrom(tensor)
        whole.raw_data = bytes(raw)
        return np.asarray(numpy_helper.to_array(whole))
    return np.frombuffer(raw, dtype).reshape(tuple(tensor.dims))
