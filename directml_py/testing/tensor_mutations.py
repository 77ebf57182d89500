"""Mutations of one tensor that break a rule common to all operators' tensors."""

from __future__ import annotations

from collections.abc import Callable

from ..api.enums import DML_TENSOR_DATA_TYPE_UNKNOWN, DML_TENSOR_FLAG_OWNED_BY_DML
from ..descs.operator_desc import OperatorDesc, TensorSlot
from ..descs.tensor import TensorDesc
from .decision_source import DecisionSource
from .desc_changes import Change, change_tensor, reshaped, resized, retyped
from .invalid_descs import alike

OWNED = DML_TENSOR_FLAG_OWNED_BY_DML

UINT_MAX = 0xFFFFFFFF
# Numbers that are not element types; 0 is DML_TENSOR_DATA_TYPE_UNKNOWN.
NO_DATA_TYPES = (DML_TENSOR_DATA_TYPE_UNKNOWN, 14, -1, 1000)


def tensor_of(slot: TensorSlot) -> TensorDesc:
    assert slot.tensor is not None
    return slot.tensor


def any_slot(source: DecisionSource, desc: OperatorDesc) -> tuple[TensorSlot, TensorDesc]:
    slot = source.choice([each for each in (*desc.inputs, *desc.outputs) if each.tensor is not None])
    return slot, tensor_of(slot)


def any_output(source: DecisionSource, desc: OperatorDesc) -> tuple[TensorSlot, TensorDesc]:
    slot = source.choice([each for each in desc.outputs if each.tensor is not None])
    return slot, tensor_of(slot)


def size_zero(source: DecisionSource, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_slot(source, desc)
    dimension = source.integer(0, tensor.dimension_count - 1)
    changed = change_tensor(desc, slot, resized(tensor, dimension, 0))
    return Change(changed, "DML-BufferTensor-size-zero", f"{slot.path}.Sizes[{dimension}]")


def dimension_count(source: DecisionSource, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_slot(source, desc)
    sizes = () if source.chance(50) else (1,) * source.integer(9, 64)
    changed = change_tensor(desc, slot, reshaped(tensor, sizes))
    return Change(changed, "DML-BufferTensor-dimension-count", f"{slot.path}.DimensionCount")


def total_size(source: DecisionSource, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_slot(source, desc)
    total = source.integer(0, tensor.minimum_size - 1)
    changed = change_tensor(desc, slot, tensor.replace(total_size=total))
    return Change(changed, "DML-BufferTensor-total-size", f"{slot.path}.TotalTensorSizeInBytes")


def alignment(source: DecisionSource, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_slot(source, desc)
    alignment = source.choice((1, 2, 3, 4, 8, 12, 255, 65537))
    changed = change_tensor(desc, slot, tensor.replace(alignment=alignment))
    return Change(changed, "DML-BufferTensor-alignment", f"{slot.path}.GuaranteedBaseOffsetAlignment")


def element_limit(source: DecisionSource, desc: OperatorDesc, level: int) -> Change | None:
    slot, tensor = any_slot(source, desc)
    long = [dimension for dimension, size in enumerate(tensor.sizes) if size > 1]
    if not long:
        return None
    packed = list(reshaped(tensor, tensor.sizes).effective_strides)
    packed[source.choice(long)] = UINT_MAX
    changed = change_tensor(desc, slot, tensor.replace(strides=tuple(packed), total_size=-1))
    return Change(changed, "DML-BufferTensor-element-limit", f"{slot.path}.Sizes")


def output_strides(source: DecisionSource, desc: OperatorDesc, level: int) -> Change | None:
    slot, tensor = any_output(source, desc)
    if tensor.element_count == 1:
        return None
    # Strides of 1 everywhere make elements overlap only with two or more dimensions larger than 1.
    stride = int(sum(size > 1 for size in tensor.sizes) > 1 and source.chance(50))
    changed = change_tensor(desc, slot, tensor.replace(strides=(stride,) * tensor.dimension_count))
    return Change(changed, "DML-BufferTensor-output-strides", f"{slot.path}.Strides")


def owned_output(source: DecisionSource, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_output(source, desc)
    changed = change_tensor(desc, slot, tensor.replace(flags=OWNED))
    return Change(changed, "DML-TensorFlags-owned-output", f"{slot.path}.Flags")


def unknown_flags(source: DecisionSource, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_slot(source, desc)
    flags = type(OWNED)(int(tensor.flags) | 1 << source.integer(1, 31))
    changed = change_tensor(desc, slot, tensor.replace(flags=flags))
    return Change(changed, "DML-Desc-flags", f"{slot.path}.Flags")


def unknown_data_type(source: DecisionSource, desc: OperatorDesc, level: int) -> Change:
    """An unknown data type, of one tensor and all that must have its type."""
    slot, _ = any_slot(source, desc)
    fields = alike(desc, slot.field, "DataType")
    slots = [
        each for each in (*desc.inputs, *desc.outputs) if each.field in fields and each.tensor is not None
    ]
    data_type = source.choice(NO_DATA_TYPES)
    for each in slots:
        desc = change_tensor(desc, each, retyped(tensor_of(each), data_type))
    return Change(desc, "DML-BufferTensor-data-type", f"{slots[0].path}.DataType")


TENSOR_MUTATIONS: tuple[Callable[[DecisionSource, OperatorDesc, int], Change | None], ...] = (
    size_zero,
    dimension_count,
    total_size,
    alignment,
    element_limit,
    output_strides,
    owned_output,
    unknown_flags,
    unknown_data_type,
)
