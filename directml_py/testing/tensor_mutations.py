"""Changes to one tensor that break one of the rules which every operator's tensors have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..abi.schema import Same
from ..api.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_DATA_TYPE_UNKNOWN
from ..descs.sizes import ELEMENT_BITS
from ..descs.tensor import TensorDesc
from ..descs.values import OperatorDesc, TensorSlot
from ..validation.support import applies, support_at
from ..validation.tensors import NEEDED_LEVEL
from .changes import Change, change, change_tensor, reshaped, resized, retyped
from .source import Source
from .valid import OWNED

UINT_MAX = 0xFFFFFFFF
# Numbers that are no data type of an element; 0 is DML_TENSOR_DATA_TYPE_UNKNOWN.
NO_DATA_TYPES = (DML_TENSOR_DATA_TYPE_UNKNOWN, 14, -1, 1000)


def tensor_of(slot: TensorSlot) -> TensorDesc:
    assert slot.tensor is not None
    return slot.tensor


def any_slot(source: Source, desc: OperatorDesc) -> tuple[TensorSlot, TensorDesc]:
    slot = source.choice((*desc.inputs, *desc.outputs))
    return slot, tensor_of(slot)


def same_slots(desc: OperatorDesc, slot: TensorSlot, name: str) -> list[TensorSlot]:
    """The slots that must have the same ``name`` (DataType) as ``slot``, itself included, in desc order."""

    def binds(entry: Same) -> bool:
        return name in entry.properties and slot.field in entry.fields and applies(entry, desc)

    fields = {field for entry in desc.schema.same if binds(entry) for field in entry.fields} | {slot.field}
    slots = [other for other in (*desc.inputs, *desc.outputs) if other.field in fields]
    return slots if len(fields) > 1 else [slot]


def size_zero(source: Source, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_slot(source, desc)
    dimension = source.integer(0, tensor.dimension_count - 1)
    changed = change_tensor(desc, slot, resized(tensor, dimension, 0))
    return Change(changed, "DML-BufferTensor-size-zero", f"{slot.path}.Sizes[{dimension}]")


def dimension_count(source: Source, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_slot(source, desc)
    sizes = () if source.chance(50) else (1,) * source.integer(9, 64)
    changed = change_tensor(desc, slot, reshaped(tensor, sizes))
    return Change(changed, "DML-BufferTensor-dimension-count", f"{slot.path}.DimensionCount")


def total_size(source: Source, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_slot(source, desc)
    total = source.integer(0, tensor.minimum_size - 1)
    changed = change_tensor(desc, slot, replace(tensor, total_size=total))
    return Change(changed, "DML-BufferTensor-total-size", f"{slot.path}.TotalTensorSizeInBytes")


def total_size_multiple(source: Source, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_slot(source, desc)
    changed = change_tensor(desc, slot, replace(tensor, total_size=tensor.total_size + source.integer(1, 3)))
    return Change(changed, "DML-BufferTensor-total-size-multiple", f"{slot.path}.TotalTensorSizeInBytes")


def alignment(source: Source, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_slot(source, desc)
    small = (1, 2, 4)[: (tensor.element_bits // 8).bit_length() - 1]
    changed = change_tensor(desc, slot, replace(tensor, alignment=source.choice((3, 12, 255, 65537, *small))))
    return Change(changed, "DML-BufferTensor-alignment", f"{slot.path}.GuaranteedBaseOffsetAlignment")


def element_limit(source: Source, desc: OperatorDesc, level: int) -> Change | None:
    slot, tensor = any_slot(source, desc)
    long = [dimension for dimension, size in enumerate(tensor.sizes) if size > 1]
    if not long:
        return None
    packed = list(reshaped(tensor, tensor.sizes).effective_strides)
    packed[source.choice(long)] = UINT_MAX
    changed = change_tensor(desc, slot, replace(tensor, strides=tuple(packed), total_size=-1))
    return Change(changed, "DML-BufferTensor-element-limit", f"{slot.path}.Sizes")


def output_overlap(source: Source, desc: OperatorDesc, level: int) -> Change | None:
    slot = source.choice(desc.outputs)
    tensor = tensor_of(slot)
    if tensor.element_count == 1:
        return None
    # With stride 1 everywhere, a step along one dimension is a step along another: that takes two of them.
    stride = int(sum(size > 1 for size in tensor.sizes) > 1 and source.chance(50))
    changed = change_tensor(desc, slot, replace(tensor, strides=(stride,) * tensor.dimension_count))
    return Change(changed, "DML-BufferTensor-output-overlap", f"{slot.path}.Strides")


def owned_output(source: Source, desc: OperatorDesc, level: int) -> Change:
    slot = source.choice(desc.outputs)
    changed = change_tensor(desc, slot, replace(tensor_of(slot), flags=OWNED))
    return Change(changed, "DML-TensorFlags-owned-output", f"{slot.path}.Flags")


def unknown_flags(source: Source, desc: OperatorDesc, level: int) -> Change:
    slot, tensor = any_slot(source, desc)
    flags = type(OWNED)(int(tensor.flags) | 1 << source.integer(1, 31))
    changed = change_tensor(desc, slot, replace(tensor, flags=flags))
    return Change(changed, "DML-Desc-flags", f"{slot.path}.Flags")


def _retype_all(desc: OperatorDesc, slots: list[TensorSlot], data_type: int) -> OperatorDesc:
    for slot in slots:
        desc = change_tensor(desc, slot, retyped(tensor_of(slot), data_type))
    return desc


def unknown_data_type(source: Source, desc: OperatorDesc, level: int) -> Change:
    """Of one tensor and all that must have its type."""
    slots = same_slots(desc, any_slot(source, desc)[0], "DataType")
    changed = _retype_all(desc, slots, source.choice(NO_DATA_TYPES))
    return Change(changed, "DML-BufferTensor-data-type", f"{slots[0].path}.DataType")


def unsupported_data_type(source: Source, desc: OperatorDesc, level: int) -> Change | None:
    """A type that the level has, but not the operator, for one tensor and all that must have its type."""
    slots = same_slots(desc, any_slot(source, desc)[0], "DataType")
    table = support_at(desc, level)
    assert table is not None
    supported = {kind for slot in slots for kind in table.tensors[slot.field].types}
    types = [
        DML_TENSOR_DATA_TYPE(kind)
        for kind in ELEMENT_BITS
        if kind not in supported and NEEDED_LEVEL.get(kind, 0) <= level
    ]
    if not types:
        return None
    changed = _retype_all(desc, slots, source.choice(types))
    if desc.name == "ELEMENT_WISE_IDENTITY":
        changed = change(changed, ScaleBias=None)
    return Change(changed, f"DML-{desc.name}-data-type", f"{slots[0].path}.DataType")


def other_data_type(source: Source, desc: OperatorDesc, level: int) -> Change | None:
    """One tensor of a supported type that differs from the first's."""
    slots = same_slots(desc, any_slot(source, desc)[0], "DataType")
    table = support_at(desc, level)
    if len(slots) == 1 or table is None:
        return None
    slot = source.choice(slots[1:])
    own = tensor_of(slot).data_type
    types = [DML_TENSOR_DATA_TYPE(kind) for kind in table.tensors[slot.field].types if kind != own]
    if not types:
        return None
    changed = change_tensor(desc, slot, retyped(tensor_of(slot), source.choice(types)))
    return Change(changed, f"DML-{desc.name}-same-data-type", f"{slot.path}.DataType")


def other_dimension_count(source: Source, desc: OperatorDesc, level: int) -> Change | None:
    """One tensor with a leading 1 more than the first."""
    slots = same_slots(desc, desc.inputs[0], "DimensionCount")
    # With another dimension count GATHER's output would have other sizes as well.
    slot = slots[1] if desc.name == "GATHER" else source.choice(slots[1:])
    tensor = tensor_of(slot)
    table = support_at(desc, level)
    assert table is not None
    if tensor.dimension_count + 1 not in table.tensors[slot.field].dimensions:
        return None
    changed = change_tensor(desc, slot, reshaped(tensor, (1, *tensor.sizes)))
    return Change(changed, f"DML-{desc.name}-same-dimension-count", f"{slot.path}.DimensionCount")


def unsupported_dimension_count(source: Source, desc: OperatorDesc, level: int) -> Change | None:
    """Leading ones for all tensors, beyond what the operator's table has."""
    slots = (*desc.inputs, *desc.outputs)
    table = support_at(desc, level)
    assert table is not None
    most = max(max(entry.dimensions) for entry in table.tensors.values())
    added = most + 1 - tensor_of(slots[0]).dimension_count
    # GATHER would crop leading ones where its index dimensions do not fit.
    if most >= 8 or (desc.name == "GATHER" and desc.IndexDimensions > 1):
        return None
    for slot in slots:
        tensor = tensor_of(slot)
        desc = change_tensor(desc, slot, reshaped(tensor, (1,) * added + tensor.sizes))
    if "Axis" in desc.struct.index:
        desc = change(desc, Axis=desc.Axis + added)
    if "Axes" in desc.struct.index:
        desc = change(desc, Axes=tuple(axis + added for axis in desc.Axes))
    return Change(desc, f"DML-{desc.name}-dimension-count", f"{slots[0].path}.DimensionCount")


TENSOR_MUTATIONS: tuple[Callable[[Source, OperatorDesc, int], Change | None], ...] = (
    size_zero,
    dimension_count,
    total_size,
    total_size_multiple,
    alignment,
    element_limit,
    output_overlap,
    owned_output,
    unknown_flags,
    unknown_data_type,
    unsupported_data_type,
    other_data_type,
    other_dimension_count,
    unsupported_dimension_count,
)
