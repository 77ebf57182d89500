"""Formats decoded descs as text, in the documents' style."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..abi.schema import FieldSchema
from .types_by_name import member_name

if TYPE_CHECKING:
    from .operator_desc import OperatorDesc, Record


_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def in_words(name: str, joint: str) -> str:
    """The words of a name joined with ``joint``: ``index_dimensions`` for IndexDimensions, ``upsample_2d`` for
    UPSAMPLE_2D."""
    return _WORD.sub(joint, name).lower()


def braces(values: Any) -> str:
    """``{1,2,3}``, the documents' notation of sizes."""
    return "{" + ",".join(str(value) for value in values) + "}"


def format_record(record: Record) -> str:
    """``DML_JOIN_OPERATOR_DESC(InputTensors=[FLOAT32 {1,1,2,3}], OutputTensor=…, Axis=3)``; counts are omitted."""
    counts = {entry.counted_by for entry in record.struct.fields if entry.counted_by}
    parts = [
        f"{member_name(entry, value)}={format_value(entry, value)}"
        for entry, (_, value) in zip(record.struct.fields, record)
        if entry.name not in counts
    ]
    return f"{record.struct.name}({', '.join(parts)})"


def summary(desc: OperatorDesc) -> str:
    """``JOIN FLOAT32 {1,2}, FLOAT32 {1,3} -> FLOAT32 {1,5}``: the operator and its tensors."""
    inputs, outputs = (
        ", ".join(str(slot.tensor) for slot in slots if slot.tensor is not None)
        for slots in (desc.inputs, desc.outputs)
    )
    return " ".join(part for part in (desc.name, inputs, f"-> {outputs}" if outputs else "") if part)


def format_value(entry: FieldSchema, value: Any) -> str:
    if isinstance(value, tuple) and entry.kind == "array":
        if all(isinstance(item, (int, float)) for item in value):
            return braces(value)
        return "[" + ", ".join(repr(item) for item in value) + "]"
    if isinstance(value, Enum):
        return value.name or str(value.value)
    if entry.kind == "bytes" and isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if entry.kind == "address" and isinstance(value, int):
        return f"0x{value:X}"
    return repr(value)
