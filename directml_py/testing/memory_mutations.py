"""Mutations of a desc in memory that decoded values cannot express: null pointers, wrong types and counts."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

from ..abi.structure import Structure
from ..api.structs import DML_BUFFER_TENSOR_DESC
from ..descs.encode import encode
from ..descs.operator_desc import OperatorDesc
from .decision_source import DecisionSource


class Broken(NamedTuple):
    """A typed operator desc, the one rule that it breaks, and the (first) path that is reported."""

    desc: Structure
    rule: str
    path: str


def _tensors(struct: Any, desc: OperatorDesc) -> list[tuple[str, Any]]:
    """The DML_TENSOR_DESCs in the memory of ``struct``, with their paths."""
    tensors = []
    for slot in (*desc.inputs, *desc.outputs):
        if slot.tensor is None:
            continue
        pointer = getattr(struct, slot.field)
        position = int(slot.path[len(slot.field) + 1 : -1]) if slot.path != slot.field else 0
        tensors.append((slot.path, pointer[position]))
    return tensors


def null_field(source: DecisionSource, desc: OperatorDesc) -> Broken:
    names = [
        entry.name
        for entry in desc.struct.fields
        if entry.kind in ("pointer", "array") and not entry.optional and getattr(desc, entry.name)
    ]
    name = source.choice(names)
    struct = encode(desc)
    setattr(struct, name, None)
    return Broken(struct, "DML-Desc-null", name)


def huge_count(source: DecisionSource, desc: OperatorDesc) -> Broken | None:
    """A count that is too large. Where it counts several arrays, the first of them is reported first."""
    arrays: dict[str, str] = {}
    for entry in desc.struct.fields:
        if entry.counted_by and getattr(desc, entry.name) is not None:
            arrays.setdefault(entry.counted_by, entry.name)
    if not arrays:
        return None
    count = source.choice(list(arrays))
    struct = encode(desc)
    setattr(struct, count, source.integer(0x10001, 0xFFFFFFFF))
    return Broken(struct, "DML-Desc-count", arrays[count])


def tensor_type(source: DecisionSource, desc: OperatorDesc) -> Broken:
    struct = encode(desc)
    path, tensor = source.choice(_tensors(struct, desc))
    tensor.Type = source.choice((0, 2, -1))
    return Broken(struct, "DML-Desc-type", f"{path}.Type")


def null_buffer(source: DecisionSource, desc: OperatorDesc) -> Broken:
    struct = encode(desc)
    path, tensor = source.choice(_tensors(struct, desc))
    tensor.Desc = None
    return Broken(struct, "DML-Desc-null", f"{path}.Desc")


def null_sizes(source: DecisionSource, desc: OperatorDesc) -> Broken:
    struct = encode(desc)
    path, tensor = source.choice(_tensors(struct, desc))
    ctypes.cast(tensor.Desc, ctypes.POINTER(DML_BUFFER_TENSOR_DESC)).contents.Sizes = None
    return Broken(struct, "DML-Desc-null", f"{path}.Sizes")


def huge_dimension_count(source: DecisionSource, desc: OperatorDesc) -> Broken:
    struct = encode(desc)
    path, tensor = source.choice(_tensors(struct, desc))
    buffer = ctypes.cast(tensor.Desc, ctypes.POINTER(DML_BUFFER_TENSOR_DESC)).contents
    buffer.DimensionCount = source.integer(65, 0xFFFFFFFF)
    return Broken(struct, "DML-Desc-count", f"{path}.DimensionCount")


MEMORY_MUTATIONS: tuple[Callable[[DecisionSource, OperatorDesc], Broken | None], ...] = (
    null_field,
    huge_count,
    tensor_type,
    null_buffer,
    null_sizes,
    huge_dimension_count,
)
