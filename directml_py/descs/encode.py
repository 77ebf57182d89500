"""Encodes values as structs that own everything they point to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..abi.schema import FieldSchema
from ..abi.structure import Structure
from ..api.enums import DML_TENSOR_FLAG_NONE, DML_TENSOR_TYPE_BUFFER
from ..api.structs import DML_BUFFER_TENSOR_DESC, DML_SCALAR_UNION, DML_TENSOR_DESC
from ..text.plural import counted_words
from .data_types import DataTypeLike, data_type_number
from .operator_desc import OperatorDesc, Record, Scalar
from .tensor import TensorDesc
from .tensor_size import minimum_size, unsigned_numbers
from .types_by_name import ctypes_class, member_name


def tensor_desc(
    data_type: DataTypeLike,
    sizes: Sequence[int],
    strides: Sequence[int] | None = None,
    *,
    flags: int = DML_TENSOR_FLAG_NONE,
    total_size: int | None = None,
    alignment: int = 0,
) -> DML_TENSOR_DESC:
    """A DML_TENSOR_DESC that owns its DML_BUFFER_TENSOR_DESC.

    ``data_type`` may be a NumPy type, such as ``np.float32``. ``sizes`` and ``strides`` are in elements (None: packed),
    ``total_size`` and ``alignment`` in bytes; ``total_size=None`` means DMLCalcBufferTensorSize's result. Raises
    ``TypeError`` for values that are not integers and ``ValueError`` for numbers out of range or if ``sizes`` and
    ``strides`` differ in length; nothing else is checked here.
    """
    number = data_type_number(data_type, "data_type")
    checked_sizes = unsigned_numbers(sizes, "sizes")
    checked_strides = None if strides is None else unsigned_numbers(strides, "strides")
    if checked_strides is not None and len(checked_strides) != len(checked_sizes):
        raise ValueError(
            f"strides has {counted_words(len(checked_strides), 'element')} and sizes "
            f"{len(checked_sizes)}; they must agree"
        )
    if total_size is None:
        total_size = minimum_size(number, checked_sizes, checked_strides)
    buffer = DML_BUFFER_TENSOR_DESC(
        number, flags, len(checked_sizes), checked_sizes, checked_strides, total_size, alignment
    )
    return DML_TENSOR_DESC(DML_TENSOR_TYPE_BUFFER, buffer)


def encode_tensor(tensor: TensorDesc) -> DML_TENSOR_DESC:
    return tensor_desc(
        tensor.data_type,
        tensor.sizes,
        tensor.strides,
        flags=tensor.flags,
        total_size=tensor.total_size,
        alignment=tensor.alignment,
    )


def encode(record: Record) -> Structure:
    """The ctypes struct that decodes to ``record``: a typed operator desc for an ``OperatorDesc``."""
    values = {
        member_name(entry, value): _field(entry, value)
        for entry, (_, value) in zip(record.struct.fields, record)
    }
    struct: Structure = ctypes_class(record.struct.name)(**values)
    return struct


def _field(entry: FieldSchema, value: Any) -> Any:
    if isinstance(value, TensorDesc):
        return encode_tensor(value)
    if isinstance(value, Scalar):
        return DML_SCALAR_UNION.from_buffer_copy(value.raw)
    if isinstance(value, OperatorDesc):
        inner = encode(value)
        return ctypes_class("DML_OPERATOR_DESC")(value.schema.value, inner)
    if isinstance(value, Record):
        return encode(value)
    if entry.kind == "union" and isinstance(value, bytes):
        return ctypes_class(entry.type).from_buffer_copy(value)
    if isinstance(value, tuple):
        return [_field(entry, item) for item in value]
    return value
