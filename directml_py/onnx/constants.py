"""Constants of a model: the location of their bytes, and the graph inputs that they become."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.external_data_helper import ExternalDataInfo, uses_external_data

from .errors import OnnxError
from .values import Array


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


def array_of(tensor: Any, file: str, folder: Path | None) -> Array:
    """The contents of a TensorProto; external data is memory-mapped. Raises ``OnnxError``."""
    if not uses_external_data(tensor):
        try:
            return np.asarray(numpy_helper.to_array(tensor))
        except (ValueError, TypeError, KeyError, NotImplementedError) as error:
            raise OnnxError(f"its data is damaged ({error})", file, f"initializer {tensor.name!r}") from None
    where = f"initializer {tensor.name!r}"
    info = ExternalDataInfo(tensor)
    assert folder is not None
    path = Path(info.location)
    if path.is_absolute() or ".." in path.parts:
        raise OnnxError(f"its data is in {info.location!r}, outside the folder of the model", file, where)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    shape = tuple(tensor.dims)
    if dtype.name in ("int4", "uint4", "float4_e2m1fn", "int2", "uint2"):
        raise OnnxError(f"elements of type {dtype.name} in external data are not supported", file, where)
    try:
        return np.memmap(folder / path, dtype, "r", int(info.offset or 0), shape or (1,)).reshape(shape)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OnnxError(f"cannot read its data from {info.location!r}: {reason}", file, where) from None
