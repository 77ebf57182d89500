"""Initial values of resources: lists, constants, sequences, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..api.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_DATA_TYPE_UNKNOWN
from ..descs.data_types import DataType, data_type_of
from . import json_values as values
from .json_values import Parse, field, members
from .model_files import ModelError, read_file, read_npy, source_path

UNKNOWN = DML_TENSOR_DATA_TYPE_UNKNOWN
IMAGES = (".jpg", ".png")
TYPE_REQUIRED = "Field 'initialValuesDataType' is required."
# The types of mixed lists in DxDispatch: without packed types and FLOAT16.
MIXED = {kind for kind in DML_TENSOR_DATA_TYPE if data_type_of(kind).bits >= 8} - {
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_FLOAT16
}


def element(data_type: int) -> tuple[DataType, Parse[float]]:
    """The type, and a parser for one element. Raises ``ModelError`` for types that buffers cannot have."""
    element_type = data_type_of(data_type)
    if element_type.bits < 8:
        raise ModelError("Invalid tensor data type.")
    if element_type.kind == "F":
        return element_type, {2: values.float16, 4: values.float32, 8: values.number}[
            element_type.dtype.itemsize
        ]
    return element_type, values.integer(element_type.bits, signed=element_type.kind == "I")


def initial_values(
    data_type: DML_TENSOR_DATA_TYPE, value: Any, folder: Path
) -> tuple[Callable[[], bytes], int, DML_TENSOR_DATA_TYPE]:
    """A function that makes the bytes, their count and type: lazy, since a generator may describe a huge buffer."""
    if isinstance(value, list):
        content = _mixed(value) if data_type == UNKNOWN else _list(data_type, value)
        return (lambda: content), len(content), data_type
    if not isinstance(value, dict):
        raise ModelError("Field 'initialValues' must be an array of numbers, an object, or deferred.")
    if "value" in value:
        if "valueStart" in value or "sourcePath" in value:
            raise ModelError(
                "The 'initialValuesDataType' may contain a value, valueStart, or sourcePath, "
                "but they are mutually exclusive."
            )
        return _repeated(data_type, value, _constant)
    if "valueStart" in value:
        return _repeated(data_type, value, _sequence)
    if "sourcePath" in value:
        content, data_type = _file(data_type, value, folder)
        return (lambda: content), len(content), data_type
    raise ModelError("Error parsing 'initialValues' object: unknown generator type.")


def _list(data_type: int, value: list[Any]) -> bytes:
    element_type, parse = element(data_type)
    return np.array(values.array(parse)(value), element_type.dtype).tobytes()


def _mixed(value: list[Any]) -> bytes:
    elements = []
    for item in value:
        item_members = members(item)
        data_type = field(item_members, "type", values.data_type)
        if data_type not in MIXED:
            raise ModelError("Data type not supported.")
        element_type, parse = element(data_type)
        elements.append(np.array(field(item_members, "value", parse), element_type.dtype).tobytes())
    return b"".join(elements)


Generator = Callable[[DataType, Parse[float], Mapping[str, Any], int], Callable[[], bytes]]


def _repeated(
    data_type: DML_TENSOR_DATA_TYPE, value: Mapping[str, Any], generator: Generator
) -> tuple[Callable[[], bytes], int, DML_TENSOR_DATA_TYPE]:
    if data_type == UNKNOWN:
        raise ModelError(TYPE_REQUIRED)
    count = field(value, "valueCount", values.uint32)
    element_type, parse = element(data_type)
    return generator(element_type, parse, value, count), count * element_type.dtype.itemsize, data_type


def _constant(
    element_type: DataType, parse: Parse[float], value: Mapping[str, Any], count: int
) -> Callable[[], bytes]:
    number = np.array(field(value, "value", parse), element_type.dtype).tobytes()
    return lambda: number * count


def _sequence(
    element_type: DataType, parse: Parse[float], value: Mapping[str, Any], count: int
) -> Callable[[], bytes]:
    start, delta = (field(value, name, parse) for name in ("valueStart", "valueDelta"))

    def make() -> bytes:
        terms = np.full(count, delta, element_type.dtype)
        terms[:1] = start
        # Sequential sums, each rounded to the element type; integers wrap.
        with np.errstate(over="ignore", invalid="ignore"):
            return np.add.accumulate(terms, dtype=element_type.dtype).tobytes()

    return make


def _file(
    data_type: DML_TENSOR_DATA_TYPE, value: Mapping[str, Any], folder: Path
) -> tuple[bytes, DML_TENSOR_DATA_TYPE]:
    path = source_path(folder, field(value, "sourcePath", values.text))
    suffix = path.suffix.lower()
    if suffix in IMAGES:
        raise ModelError(f"'{path}': images can be read on Windows only.")
    content = read_file(path)
    if suffix == ".npy":
        content, file_type = read_npy(content)
        if data_type not in (UNKNOWN, file_type):
            raise ModelError(f"Data type from file '{path}' does not match field 'initialValuesDataType'.")
        data_type = file_type
    if data_type == UNKNOWN:
        raise ModelError(TYPE_REQUIRED)
    return content, data_type
