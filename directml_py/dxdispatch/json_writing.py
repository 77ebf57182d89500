"""Serialization of operator descs to a model's JSON: the inverse of ``json_descs``."""

from __future__ import annotations

import math
import sys
from enum import IntEnum, IntFlag
from typing import Any

from ..abi.schema import FieldSchema
from ..descs.data_types import PREFIX, data_type_of, type_name
from ..descs.operator_desc import OperatorDesc, Record, Scalar
from ..descs.tensor import TensorDesc
from ..descs.types_by_name import enum_class
from .json_descs import union_member


def write_operator(desc: OperatorDesc) -> dict[str, Any]:
    """``{"type": …, "desc": …}``. Raises ``ValueError`` naming the field that DxDispatch cannot express."""
    return {"type": desc.schema.type_name, "desc": write_fields(desc)}


def write_fields(record: Record, in_operator: bool = False) -> dict[str, Any]:
    """The present fields by name; a fused activation has no tensors."""
    return {
        entry.name: _write(entry, value)
        for entry, (_, value) in zip(record.struct.fields, record)
        if value is not None and not (in_operator and entry.is_tensor)
    }


def _write(entry: FieldSchema, value: Any) -> Any:
    if isinstance(value, TensorDesc):
        return _tensor(entry.name, value)
    if isinstance(value, OperatorDesc):
        return {"Type": value.schema.type_name, **write_fields(value, in_operator=True)}
    if isinstance(value, Record):
        return write_fields(value)
    if isinstance(value, Scalar):
        return _scalar(value)
    if isinstance(value, tuple):
        return [_write(entry, item) for item in value]
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, IntFlag):
        return flag_names(entry.name, value)
    if entry.kind == "enum":
        return _name(entry.name, entry.type, value)
    return int(value)


def _name(field: str, enum: str, value: int) -> str:
    member = enum_class(enum)._value2member_map_.get(int(value))
    if not isinstance(member, IntEnum):
        raise ValueError(f"{field} is {int(value)}, which is not a {enum}: DxDispatch has no name for it")
    return member.name


def flag_names(field: str, value: IntFlag) -> list[str]:
    kind = type(value)
    names = [name for name, member in kind.__members__.items() if member and value & member]
    if sum(kind.__members__[name] for name in names) != int(value):
        raise ValueError(f"{field} has flags 0x{int(value):X}; DxDispatch has no names for all of them")
    return names


def _float(value: float) -> Any:
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _scalar(scalar: Scalar) -> Any:
    """The number, or a member of the union where JSON cannot express the number."""
    known, value = data_type_of(scalar.data_type), scalar.value
    if value is None or known.bits < 8:
        raise ValueError(
            f"a DML_SCALAR_UNION of {type_name(scalar.data_type)} cannot be expressed in DxDispatch's JSON"
        )
    if math.isfinite(value):
        return value
    if known.code == "e":
        return {union_member("H"): int.from_bytes(scalar.raw[:2], sys.byteorder)}
    return {union_member(known.code): _float(value)}


def _tensor(field: str, tensor: TensorDesc) -> dict[str, Any]:
    written: dict[str, Any] = {
        "DataType": _name(f"{field}.DataType", "DML_TENSOR_DATA_TYPE", tensor.data_type).removeprefix(PREFIX),
        "Sizes": list(tensor.sizes),
    }
    if tensor.strides is not None:
        written["Strides"] = list(tensor.strides)
    if tensor.flags:
        written["Flags"] = flag_names(f"{field}.Flags", tensor.flags)
    if tensor.total_size != tensor.minimum_size:
        if not tensor.total_size:
            raise ValueError(f"{field}.TotalTensorSizeInBytes is 0, which DxDispatch treats as absent")
        written["TotalTensorSizeInBytes"] = tensor.total_size
    if tensor.alignment:
        written["GuaranteedBaseOffsetAlignment"] = tensor.alignment
    return written
