"""Lossless JSON serialization of tensors and operator descs, driven by their schemas."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ..abi.schema import FieldSchema, OperatorSchema, StructSchema
from ..api.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAG_NONE, DML_TENSOR_FLAGS
from ..api.schema_data import OPERATORS, STRUCTS
from ..text.json_reading import Item
from .build import RANGES
from .data_types import PREFIX, type_name
from .operator_desc import OperatorDesc, Record, Scalar
from .tensor import TensorDesc
from .types_by_name import enum_class

SCHEMAS = {schema.name: schema for schema in OPERATORS.values()}
UINT64_MAX = (1 << 64) - 1
LARGEST = {"FLOAT": float(np.finfo(np.float32).max), "DOUBLE": sys.float_info.max}


def write_tensor(tensor: TensorDesc) -> dict[str, Any]:
    """A tensor as JSON; defaults are omitted."""
    members: dict[str, Any] = {"DataType": type_name(tensor.data_type), "Sizes": list(tensor.sizes)}
    if tensor.strides is not None:
        members["Strides"] = list(tensor.strides)
    if tensor.flags:
        members["Flags"] = _flag_names(DML_TENSOR_FLAGS, int(tensor.flags))
    if tensor.total_size != tensor.minimum_size:
        members["TotalTensorSizeInBytes"] = tensor.total_size
    if tensor.alignment:
        members["GuaranteedBaseOffsetAlignment"] = tensor.alignment
    return members


def read_tensor(item: Item) -> TensorDesc:
    optional = {"Strides", "Flags", "TotalTensorSizeInBytes", "GuaranteedBaseOffsetAlignment"}
    members = item.fields({"DataType", "Sizes"}, optional)
    name = members["DataType"].text()
    if PREFIX + name not in DML_TENSOR_DATA_TYPE.__members__:
        raise members["DataType"].error(f"is {name!r}, which is not a data type")
    sizes = tuple(size.integer() for size in members["Sizes"])
    strides = tuple(stride.integer() for stride in members["Strides"]) if "Strides" in members else None
    if strides is not None and len(strides) != len(sizes):
        raise members["Strides"].error(f"has {len(strides)} elements; Sizes has {len(sizes)}")
    total, alignment = members.get("TotalTensorSizeInBytes"), members.get("GuaranteedBaseOffsetAlignment")
    return TensorDesc(
        DML_TENSOR_DATA_TYPE[PREFIX + name],
        sizes,
        strides,
        _read_flags(DML_TENSOR_FLAGS, members["Flags"]) if "Flags" in members else DML_TENSOR_FLAG_NONE,
        -1 if total is None else total.integer(0, UINT64_MAX),
        0 if alignment is None else alignment.integer(),
    )


def write_record(record: Record) -> dict[str, Any]:
    """A record as JSON; counts, which follow from their arrays, and absent fields are omitted."""
    counts = _counts(record.struct)
    return {
        entry.name: _write(entry, value)
        for entry, (_, value) in zip(record.struct.fields, record)
        if value is not None and entry.name not in counts
    }


def read_operator(schema: OperatorSchema, item: Item, in_operator: bool = False) -> OperatorDesc:
    """``in_operator``: a fused activation, which has no tensors of its own."""
    return OperatorDesc(schema, _read_fields(schema.struct, item, in_operator))


def _counts(struct: StructSchema) -> dict[str, str]:
    return {entry.counted_by: entry.name for entry in struct.fields if entry.counted_by}


def _read_fields(struct: StructSchema, item: Item, in_operator: bool) -> tuple[Any, ...]:
    counts = _counts(struct)
    optional = {entry.name for entry in struct.fields if entry.optional or (in_operator and entry.is_tensor)}
    names = {entry.name for entry in struct.fields} - set(counts)
    members = item.fields(names - optional, optional)
    values: dict[str, Any] = {}
    for entry in struct.fields:
        if entry.name not in counts:
            values[entry.name] = _read(entry, members[entry.name], values) if entry.name in members else None
    for entry in struct.fields:
        if not entry.counted_by or values[entry.name] is None:
            continue
        length = len(values[entry.name])
        if values.setdefault(entry.counted_by, length) != length:
            raise members[entry.name].error(
                f"has {length} elements; {counts[entry.counted_by]} has {values[entry.counted_by]}"
            )
    for count in counts:
        values.setdefault(count, 0)
    return tuple(values[entry.name] for entry in struct.fields)


def _write(entry: FieldSchema, value: Any) -> Any:
    if isinstance(value, TensorDesc):
        return write_tensor(value)
    if isinstance(value, OperatorDesc):
        return {"operator": value.name, "desc": write_record(value)}
    if isinstance(value, Record):
        return write_record(value)
    if isinstance(value, Scalar):
        return value.raw.hex()
    if isinstance(value, tuple):
        return [_write(entry, element) for element in value]
    if entry.kind == "flags":
        return _flag_names(enum_class(entry.type), int(value))
    if isinstance(value, float):
        # json writes the shortest text that reads back as the same number.
        return (
            value if math.isfinite(value) else {"nan": "NaN", "inf": "Infinity"}.get(str(value), "-Infinity")
        )
    return getattr(value, "name", value)


def _read(entry: FieldSchema, item: Item, values: dict[str, Any]) -> Any:
    if entry.kind == "array":
        return tuple(_element(entry.type, element) for element in item)
    if entry.kind == "flags":
        return _read_flags(enum_class(entry.type), item)
    if entry.kind == "union":
        return _scalar(values.get(entry.governed_by, 0), item)
    return _element(entry.type, item)


def _element(type_name: str, item: Item) -> Any:
    if type_name == "DML_TENSOR_DESC":
        return read_tensor(item)
    if type_name == "DML_OPERATOR_DESC":
        members = item.fields({"operator", "desc"})
        return read_operator(operator_schema(members["operator"]), members["desc"], in_operator=True)
    if type_name in STRUCTS:
        return Record(STRUCTS[type_name], _read_fields(STRUCTS[type_name], item, False))
    if type_name in RANGES:
        return item.integer(*RANGES[type_name])
    if type_name == "BOOL":
        return item.boolean()
    if type_name in LARGEST:
        return item.number(LARGEST[type_name])
    member = enum_class(type_name).__members__.get(item.text())
    if member is None:
        raise item.error(f"is {item.value!r}, which is not a {type_name}")
    return member


def operator_schema(item: Item) -> OperatorSchema:
    schema = SCHEMAS.get(item.text())
    if schema is None:
        raise item.error(f"is {item.value!r}; there is no operator DML_OPERATOR_{item.value}")
    return schema


def _scalar(data_type: int, item: Item) -> Scalar:
    try:
        raw = bytes.fromhex(item.text())
    except ValueError:
        raw = b""
    if len(raw) != 8:
        raise item.error(f"must be 8 bytes in hexadecimal, not {item.value!r}")
    return Scalar(data_type, raw)


def _flag_names(kind: Any, value: int) -> list[str]:
    return [name for name, member in kind.__members__.items() if member and value & member]


def _read_flags(kind: Any, item: Item) -> Any:
    combined = kind(0)
    for flag in item:
        member = kind.__members__.get(flag.text())
        if member is None:
            raise flag.error(f"is {flag.value!r}, which is not a {kind.__name__}")
        combined |= member
    return combined
