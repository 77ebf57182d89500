"""Builds operator descs from plain Python values, without encoding them in memory."""

from __future__ import annotations

import struct as _struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from ..abi.arguments import integer
from ..abi.schema import FieldSchema, OperatorSchema, StructSchema
from ..abi.structure import Structure
from ..api.schema_data import STRUCTS
from .data_types import data_type_number, data_type_of
from .decode import decode_operator_desc, decode_struct
from .operator_desc import OperatorDesc, Record, Scalar
from .tensor import TensorDesc
from .types_by_name import enum_class

RecordT = TypeVar("RecordT", bound=Record)
RANGES = {
    "UINT": (0, (1 << 32) - 1),
    "INT": (-(1 << 31), (1 << 31) - 1),
}


def build_operator_desc(
    schema: OperatorSchema, values: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> OperatorDesc:
    """The desc of ``values`` by C name: tensors as TensorDesc, structs as tuples or structs, enumerators as numbers.

    Counts follow from their arrays; omitted fields are null or, for numbers, 0. Raises ``TypeError`` and ``ValueError``
    that name the field (by ``names``) for values that its C type cannot hold; nothing else is checked.
    """
    return OperatorDesc(schema, _fields(schema.struct, values, names or {}))


def with_outputs(
    desc: OperatorDesc, outputs: Mapping[str, TensorDesc | Sequence[TensorDesc]]
) -> OperatorDesc:
    """``desc`` with these output tensors by C name; counts follow from their arrays."""
    values = dict(desc)
    for entry in desc.struct.tensors:
        if entry.name in outputs:
            output = outputs[entry.name]
            values[entry.name] = output if isinstance(output, TensorDesc) else tuple(output)
            if not isinstance(output, TensorDesc):
                values[entry.counted_by] = len(output)
    return OperatorDesc(desc.schema, tuple(values.values()))


def replaced(record: RecordT, changes: Mapping[str, Any]) -> RecordT:
    """``record`` with ``changes``; raises as ``Record.replace`` does."""
    struct = record.struct
    counts = {entry.counted_by for entry in struct.fields if entry.counted_by}
    for name in changes:
        if name not in struct.index:
            raise TypeError(f"{struct.name} has no field {name}")
        if name in counts:
            raise TypeError(f"{struct.name}.{name} follows from its array")
    values = {**dict(record), **changes}
    names = {name: f"{struct.name}.{name}" for name in struct.index}
    built = dict(zip(struct.index, _fields(struct, values, names)))
    for entry in struct.fields:
        array = built[entry.name]
        if entry.counted_by and array is not None and len(array) != built[entry.counted_by]:
            raise ValueError(
                f"{names[entry.name]} has {len(array)} elements; {entry.counted_by} is {built[entry.counted_by]} "
                "because of another array"
            )
    fields = tuple(built.values())
    result = (
        OperatorDesc(record.schema, fields) if isinstance(record, OperatorDesc) else Record(struct, fields)
    )
    return cast(RecordT, result)


def _fields(struct: StructSchema, values: Mapping[str, Any], names: Mapping[str, str]) -> tuple[Any, ...]:
    built = {
        entry.name: field_value(entry, values.get(entry.name), names.get(entry.name, entry.name), values)
        for entry in struct.fields
    }
    for entry in struct.fields:
        if entry.counted_by and built[entry.name] is not None:
            built[entry.counted_by] = len(built[entry.name])
    return tuple(built.values())


def field_value(entry: FieldSchema, value: Any, name: str, values: Mapping[str, Any]) -> Any:
    """The value of a field as a record stores it."""
    if value is None and entry.kind in ("pointer", "array", "string"):
        return () if entry.kind == "array" and not entry.optional else None
    if entry.kind == "array":
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise TypeError(f"{name} must be a sequence, not {type(value).__name__}")
        elements = tuple(value)
        low, high = RANGES.get(entry.type, (0, -1))
        if all(type(element) is int and low <= element <= high for element in elements):
            return elements
        return tuple(_element(entry, element, f"{name}[{index}]") for index, element in enumerate(elements))
    if entry.kind == "union":
        data_type = values.get(entry.governed_by)
        return _scalar(
            value, name, 0 if data_type is None else data_type_number(data_type, entry.governed_by)
        )
    return _element(entry, value, name)


def _element(entry: FieldSchema, value: Any, name: str) -> Any:
    if entry.is_tensor:
        if value is not None and not isinstance(value, TensorDesc):
            raise TypeError(f"{name} must be a TensorDesc, not {type(value).__name__}")
        return value
    if entry.type == "DML_OPERATOR_DESC":
        return _operator(value, name)
    if entry.type in STRUCTS:
        return _record(entry.type, value, name)
    if entry.type in RANGES:
        low, high = RANGES[entry.type]
        number = 0 if value is None else integer(value, name)
        if not low <= number <= high:
            kind = "an unsigned" if low == 0 else "a signed"
            raise ValueError(
                f"{name} must be {kind} {high.bit_length() + (low < 0)}-bit number, not {number}"
            )
        return number
    if entry.type in ("FLOAT", "DOUBLE"):
        return _float(value, name, entry.type)
    if entry.type == "BOOL":
        return bool(value)
    if entry.type == "DML_TENSOR_DATA_TYPE" and value is not None:
        value = data_type_number(value, name)
    number = 0 if value is None else integer(value, name)
    kind = enum_class(entry.type)
    return kind(number) if entry.kind == "flags" else kind._value2member_map_.get(number, number)


def _float(value: Any, name: str, kind: str) -> float:
    if isinstance(value, (str, bytes)) or (value is not None and not hasattr(value, "__float__")):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    number = 0.0 if value is None else float(value)
    if kind == "DOUBLE":
        return number
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def _record(type_name: str, value: Any, name: str) -> Record:
    struct = STRUCTS[type_name]
    if isinstance(value, Record) and value.struct is struct:
        return value
    if isinstance(value, Structure):
        record, faults = decode_struct(value, type_name, name)
        if record is None or faults:
            raise ValueError("; ".join(map(str, faults)))
        return record  # type: ignore[no-any-return]
    if not isinstance(value, (tuple, list)) or len(value) != len(struct.fields):
        names = ", ".join(entry.name for entry in struct.fields)
        raise TypeError(f"{name} must be a {type_name} or a tuple ({names}), not {value!r}")
    fields = {entry.name: element for entry, element in zip(struct.fields, value)}
    return Record(struct, _fields(struct, fields, {key: f"{name}.{key}" for key in fields}))


def _operator(value: Any, name: str) -> OperatorDesc:
    desc, faults = decode_operator_desc(value, name, nested=True)
    if faults:
        raise ValueError("; ".join(f"{name}: {fault}" for fault in faults))
    assert isinstance(desc, OperatorDesc)
    return desc


def _scalar(value: Any, name: str, data_type: int) -> Scalar:
    """A DML_SCALAR_UNION from a number, its 8 bytes, or a struct; integers wrap to the data type as in C."""
    entry = data_type_of(data_type)
    if isinstance(value, Scalar):
        return Scalar(data_type, value.raw)
    if isinstance(value, bytes) and len(value) == 8:
        return Scalar(data_type, value)
    if hasattr(value, "Bytes"):
        return Scalar(data_type, bytes(value))
    if not entry.bits:
        return Scalar(data_type, bytes(8))
    if entry.kind == "F":
        with np.errstate(over="ignore"):
            number = np.asarray(_float(value, name, "DOUBLE"), entry.dtype)
        return Scalar(data_type, number.tobytes().ljust(8, b"\0"))
    whole = 0 if value is None else integer(value, name)
    width = entry.dtype.itemsize * 8
    return Scalar(data_type, _struct.pack("=Q", whole & (1 << width) - 1))
