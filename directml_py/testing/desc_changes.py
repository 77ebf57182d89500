"""Modified copies of descs and tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..descs.build import field_value
from ..descs.operator_desc import OperatorDesc, TensorSlot
from ..descs.tensor import TensorDesc


class Change(NamedTuple):
    """A changed desc, the rule that it breaks, and the (first) path that is reported."""

    desc: OperatorDesc
    rule: str
    path: str


def change(desc: OperatorDesc, **fields: Any) -> OperatorDesc:
    """``desc`` with new values for these fields; counts follow their arrays unless given."""
    values, built = {**dict(desc), **fields}, dict(desc)
    for entry in desc.struct.fields:
        # The value of a union follows from the field that governs it.
        if entry.name in fields or entry.kind == "union":
            built[entry.name] = field_value(entry, values[entry.name], entry.name, values)
    for entry in desc.struct.fields:
        if entry.counted_by and entry.counted_by not in fields and built[entry.name] is not None:
            built[entry.counted_by] = len(built[entry.name])
    return OperatorDesc(desc.schema, tuple(built.values()))


def change_tensor(desc: OperatorDesc, slot: TensorSlot, tensor: TensorDesc) -> OperatorDesc:
    """``desc`` with another tensor in ``slot``."""
    value = getattr(desc, slot.field)
    if not isinstance(value, tuple):
        return change(desc, **{slot.field: tensor})
    position = int(slot.path[len(slot.field) + 1 : -1])
    return change(desc, **{slot.field: (*value[:position], tensor, *value[position + 1 :])})


def with_packed_tensors(desc: OperatorDesc) -> OperatorDesc:
    """``desc`` with packed tensors: no strides, no flags, minimal total sizes."""
    for slot in (*desc.inputs, *desc.outputs):
        if slot.tensor is not None:
            flags = type(slot.tensor.flags)(0)
            tensor = slot.tensor.replace(strides=None, total_size=-1, alignment=0, flags=flags)
            desc = change_tensor(desc, slot, tensor)
    return desc


def retyped(tensor: TensorDesc, data_type: int) -> TensorDesc:
    """``tensor`` with another data type, minimal total size and no alignment."""
    return tensor.replace(data_type=data_type, total_size=-1, alignment=0)


def reshaped(tensor: TensorDesc, sizes: tuple[int, ...]) -> TensorDesc:
    """``tensor`` with other sizes, packed."""
    return tensor.replace(sizes=sizes, strides=None, total_size=-1)


def resized(tensor: TensorDesc, dimension: int, size: int) -> TensorDesc:
    """``tensor`` with another size in one dimension, packed."""
    return reshaped(tensor, (*tensor.sizes[:dimension], size, *tensor.sizes[dimension + 1 :]))
