"""Deserialization of operator descs from a model's JSON, field by field as in the catalog."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from ..abi.schema import FieldSchema, OperatorSchema, StructSchema
from ..api.enums import DML_TENSOR_FLAG_NONE, DML_TENSOR_TYPE_BUFFER
from ..api.schema_data import STRUCTS
from ..descs.data_types import data_type_of
from ..descs.decode import MAX_DEPTH
from ..descs.operator_desc import OperatorDesc, Record, Scalar
from ..descs.tensor import TensorDesc
from ..descs.tensor_size import minimum_size
from ..operators import SCHEMAS
from . import json_values as values
from .json_values import Parse, field, members, optional
from .model_files import ModelError

PREFIX = "DML_OPERATOR_"


def operator_desc(value: Any) -> OperatorDesc:
    """The desc in an object with ``Type`` (or ``type``) and ``Desc`` (or ``desc``), or with the fields inline."""
    return _operator(value, depth=0)


def desc_members(value: Any) -> Mapping[str, Any]:
    """The fields of the desc that ``operator_desc`` reads from the same object."""
    mapping = members(value)
    fields = next((mapping[name] for name in ("Desc", "desc") if name in mapping), mapping)
    if not isinstance(fields, dict):
        raise ModelError("Expected a valid JSON object.")
    return fields


def _operator(value: Any, depth: int) -> OperatorDesc:
    mapping = members(value)
    kind = next((mapping[name] for name in ("Type", "type") if name in mapping), None)
    if "Type" not in mapping and "type" not in mapping:
        raise ModelError("Expected a member 'Type' with the operator type.")
    if not isinstance(kind, str):
        raise ModelError("The member 'Type' must be a string.")
    schema = SCHEMAS.get(kind.removeprefix(PREFIX))
    if schema is None:
        raise ModelError("Unknown operator type.")
    if depth > MAX_DEPTH:
        raise ModelError(f"Operators are nested more than {MAX_DEPTH} deep.")
    return _fields(schema, desc_members(value), depth)


def _fields(schema: OperatorSchema, fields: Mapping[str, Any], depth: int) -> OperatorDesc:
    parsed: dict[str, Any] = {}
    for entry in schema.struct.fields:
        if entry.is_tensor and depth:
            # The operator that an activation is fused into supplies the tensors.
            parsed[entry.name] = () if entry.kind == "array" else None
            continue
        parse = _scalar(entry, fields) if entry.kind == "union" else _parser(entry, depth)
        if entry.optional:
            parsed[entry.name] = optional(fields, entry.name, parse, None)
        else:
            parsed[entry.name] = field(fields, entry.name, parse)
    for entry in schema.struct.fields:
        if entry.counted_by and not (entry.is_tensor and depth):
            _check_count(entry, parsed)
    return OperatorDesc(schema, tuple(parsed.values()))


def _check_count(entry: FieldSchema, parsed: Mapping[str, Any]) -> None:
    # DxDispatch trusts the count and reads out of bounds.
    length, count = len(parsed[entry.name]), parsed[entry.counted_by]
    if length != count:
        raise ModelError(
            f"Error parsing field '{entry.name}': it has {length} elements; {entry.counted_by} is {count}."
        )


def _parser(entry: FieldSchema, depth: int) -> Parse[Any]:
    if entry.kind == "array":
        return values.array(_element(entry, depth))
    return _element(entry, depth)


_NUMBERS: dict[str, Parse[Any]] = {
    "UINT": values.uint32,
    "UINT64": values.uint64,
    "INT": values.int32,
    "FLOAT": values.float32,
    "BOOL": values.boolean,
}


def _element(entry: FieldSchema, depth: int) -> Parse[Any]:
    if entry.is_tensor:
        return tensor_desc
    if entry.type == "DML_OPERATOR_DESC":
        return lambda value: _operator(value, depth + 1)
    if entry.type in _NUMBERS:
        return _NUMBERS[entry.type]
    if entry.type in STRUCTS:
        return lambda value: _record(STRUCTS[entry.type], value)
    return values.flags(entry.type) if entry.kind == "flags" else values.enumerator(entry.type)


def _record(schema: StructSchema, value: Any) -> Record:
    mapping = members(value)
    parts = (field(mapping, entry.name, _NUMBERS[entry.type]) for entry in schema.fields)
    return Record(schema, tuple(parts))


def _scalar(entry: FieldSchema, fields: Mapping[str, Any]) -> Parse[Scalar]:
    """A parser of DML_SCALAR_UNION: a number of the type that another field names, or ``{Member: number}``."""
    data_type = field(fields, entry.governed_by, values.data_type)
    known = data_type_of(data_type)

    def parse(value: Any) -> Scalar:
        if type(value) not in (dict, int, float):
            raise ModelError("Expected a non-null JSON object or number.")
        if known.bits < 8:
            raise ModelError("Data type not supported for DML_SCALAR_UNION.")
        code = known.code
        if isinstance(value, dict):
            if known.name == "FLOAT16":
                # The union has no FLOAT16 member: the number is the bit pattern.
                code = "H"
            value = field(value, union_member(code), _element_parser(code))
        return Scalar(data_type, _pack(code, _element_parser(code)(value)))

    return parse


def union_member(code: str) -> str:
    """The member of DML_SCALAR_UNION with the ``struct`` format ``code``."""
    size, is_float = struct.calcsize(f"={code}"), code in "fd"
    kind = "Float" if is_float else "Int" if code.islower() else "UInt"
    return f"{kind}{8 * size}"


def _element_parser(code: str) -> Parse[Any]:
    if code in "efd":
        return {"e": values.float16, "f": values.float32, "d": values.number}[code]
    return values.integer(8 * struct.calcsize(f"={code}"), signed=code.islower())


def _pack(code: str, number: float) -> bytes:
    return struct.pack(f"={code}", number).ljust(8, b"\0")


def tensor_desc(value: Any) -> TensorDesc:
    """A DML_TENSOR_DESC: the fields of DML_BUFFER_TENSOR_DESC, or ``{Type, Desc}``."""
    mapping = members(value)
    kind = optional(mapping, "Type", values.enumerator("DML_TENSOR_TYPE"), DML_TENSOR_TYPE_BUFFER)
    if kind != DML_TENSOR_TYPE_BUFFER:
        raise ModelError("Cannot determine size of invalid tensor desc.")
    mapping = members(mapping.get("Desc", mapping))
    numbers: Parse[tuple[int, ...]] = values.array(values.uint32)
    absent: tuple[int, ...] = ()
    sizes = field(mapping, "Sizes", numbers)
    strides = optional(mapping, "Strides", numbers, absent) or None
    count = optional(mapping, "DimensionCount", values.uint32, len(sizes))
    data_type = field(mapping, "DataType", values.data_type)
    flags = optional(mapping, "Flags", values.flags("DML_TENSOR_FLAGS"), DML_TENSOR_FLAG_NONE)
    total = optional(mapping, "TotalTensorSizeInBytes", values.uint64, 0)
    alignment = optional(mapping, "GuaranteedBaseOffsetAlignment", values.uint32, 0)
    for name, elements in (("Sizes", sizes), ("Strides", strides)):
        if elements is not None and len(elements) < count:
            raise ModelError(
                f"Error parsing field '{name}': it has {len(elements)} elements; DimensionCount is {count}."
            )
    sizes, strides = sizes[:count], None if strides is None else strides[:count]
    return TensorDesc(
        data_type, sizes, strides, flags, total or minimum_size(data_type, sizes, strides), alignment
    )
