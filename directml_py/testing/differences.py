"""Structural comparison of decoded descs, field by field under the C names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

from ..api.enums import DML_TENSOR_FLAGS
from ..descs.data_types import type_name
from ..descs.format import braces
from ..descs.operator_desc import OperatorDesc, Record
from ..descs.tensor import TensorDesc

ABSENT = "absent"
_TOKEN = re.compile(r"\w+")


class DescDifference(NamedTuple):
    """A path (``InputTensors[1].Sizes[2]``) and both values there, as text."""

    path: str
    left: str
    right: str


def tensor_fields(tensor: TensorDesc) -> dict[str, Any]:
    """The fields of the DML_BUFFER_TENSOR_DESC, under their C names."""
    return {
        "DataType": type_name(tensor.data_type),
        "Flags": DML_TENSOR_FLAGS(tensor.flags).name or f"0x{int(tensor.flags):X}",
        "DimensionCount": tensor.dimension_count,
        "Sizes": tensor.sizes,
        "Strides": tensor.strides,
        "TotalTensorSizeInBytes": tensor.total_size,
        "GuaranteedBaseOffsetAlignment": tensor.alignment,
    }


def fields(value: Any) -> dict[str, Any] | None:
    """The fields of a desc or tensor by name; None for a leaf."""
    if isinstance(value, OperatorDesc):
        return {"Type": value.schema.type_name, **dict(value)}
    if isinstance(value, Record):
        return dict(value)
    return tensor_fields(value) if isinstance(value, TensorDesc) else None


def value_at(desc: Any, path: str) -> Any:
    """The value at ``path`` in a decoded desc; None if there is none."""
    for token in _TOKEN.findall(path):
        if isinstance(desc, tuple):
            desc = desc[int(token)] if token.isdecimal() and int(token) < len(desc) else None
        else:
            desc = (fields(desc) or {}).get(token)
    return desc


def show(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return value
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return braces(show(item) for item in value)
    if isinstance(value, Enum):
        return value.name or str(value.value)
    return value.hex() if isinstance(value, bytes) else repr(value)


def differences(left: Any, right: Any, path: str = "") -> Iterator[DescDifference]:
    """All leaves in which two decoded descs differ; floats are compared by ``repr``, so that NaN equals NaN."""
    left_fields, right_fields = fields(left), fields(right)
    if left_fields is not None and right_fields is not None:
        if _kind(left) != _kind(right):
            yield DescDifference(f"{path}.Type" if path else "Type", _kind(left), _kind(right))
            return
        for name, value in left_fields.items():
            yield from differences(value, right_fields[name], f"{path}.{name}" if path else name)
    elif _is_array(left) and _is_array(right) and (_has_structs(left + right) or len(left) == len(right)):
        for index in range(max(len(left), len(right))):
            where = f"{path}[{index}]"
            if index < min(len(left), len(right)):
                yield from differences(left[index], right[index], where)
            else:
                yield DescDifference(
                    where, *(show(x[index]) if index < len(x) else ABSENT for x in (left, right))
                )
    elif show(left) != show(right):
        yield DescDifference(path, show(left), show(right))


def _kind(value: Any) -> str:
    if isinstance(value, OperatorDesc):
        return value.schema.type_name
    return value.struct.name if isinstance(value, Record) else "DML_TENSOR_TYPE_BUFFER"


def _is_array(value: Any) -> bool:
    return isinstance(value, tuple) and not hasattr(value, "_fields")


def _has_structs(items: tuple[Any, ...]) -> bool:
    return any(item is None or fields(item) is not None for item in items)
