"""Rules from the support tables: the ranks and types that an operator supports at a feature level."""

from __future__ import annotations

from collections.abc import Sequence

from ..abi.rules import rule
from ..abi.schema import OperatorSchema
from ..api.enums import DML_FEATURE_LEVEL, DML_TENSOR_DATA_TYPE
from ..descs.data_types import data_type_of, type_name
from ..descs.format import braces
from ..descs.operator_desc import OperatorDesc, TensorSlot
from ..descs.tensor import TensorDesc
from .operator_rules import PROPERTIES, rules_of
from .report import Report
from .support_tables import Same, TensorSupport, applies, same_of, support_at, support_of
from .tensor_rules import level_name

HIGHEST_FEATURE_LEVEL = max(DML_FEATURE_LEVEL)

LEVEL = rule(
    "DML-CreateDevice-feature-level",
    "A feature level is one of DML_FEATURE_LEVEL",
    "nf-directml-dmlcreatedevice1",
)
OPERATOR_LEVEL = rule(
    "DML-Operator-feature-level",
    "The device's feature level supports the operator",
    "dml-feature-level-history",
)


def check_level(schema: OperatorSchema, level: int, report: Report) -> None:
    if schema.level > level:
        report.add(
            OPERATOR_LEVEL,
            "Type",
            f"is {schema.type_name}, which needs {level_name(schema.level)}; this is {level_name(level)}",
        )


def check_support(desc: OperatorDesc, slots: list[TensorSlot], level: int, report: Report) -> None:
    """Check dimension counts and data types of ``slots`` against the table of ``level``, or the operator's first."""
    # Later checks rely on valid ranks, even if the level does not have the operator.
    level = max(level, desc.schema.level)
    table = support_at(desc, level)
    if table is None:
        return
    for slot in slots:
        supported = table.tensors.get(slot.field)
        if supported is not None and slot.tensor is not None:
            check_dimensions(desc, slot.path, slot.tensor, supported, level, report)
            check_types(desc, slot, slot.tensor, supported, level, report)


def check_dimensions(
    desc: OperatorDesc, path: str, tensor: TensorDesc, supported: TensorSupport, level: int, report: Report
) -> None:
    if tensor.dimension_count in supported.dimensions:
        return
    first, last = supported.dimensions[0], supported.dimensions[-1]
    counts = str(first) if first == last else f"{first} to {last}"
    report.add(
        rules_of(desc.schema)["dimension-count"],
        f"{path}.DimensionCount",
        f"is {tensor.dimension_count}; {desc.schema.type_name} supports {counts} at {level_name(level)}",
    )


def check_types(
    desc: OperatorDesc,
    slot: TensorSlot,
    tensor: TensorDesc,
    supported: TensorSupport,
    level: int,
    report: Report,
) -> None:
    # The tensor's own rule reports types that are unknown, or unknown at the level.
    data_type = data_type_of(tensor.data_type)
    if tensor.data_type in supported.types or not data_type.bits or data_type.level > level:
        return
    names = ", ".join(type_name(DML_TENSOR_DATA_TYPE(value)) for value in supported.types)
    later = sorted(
        entry.level
        for entry in support_of(desc.schema)
        if entry.level > level
        and applies(entry, desc)
        and slot.field in entry.tensors
        and tensor.data_type in entry.tensors[slot.field].types
    )
    hint = f" ({type_name(tensor.data_type)} needs {level_name(later[0])})" if later else ""
    report.add(
        rules_of(desc.schema)["data-type"],
        f"{slot.path}.DataType",
        f"is {type_name(tensor.data_type)}; {desc.schema.type_name} supports {names} "
        f"at {level_name(level)}{hint}",
    )


def check_same(desc: OperatorDesc, slots: list[TensorSlot], report: Report) -> None:
    """Check the tensors that must agree by the catalog."""
    entries = [entry for entry in same_of(desc.schema) if applies(entry, desc)]
    for entry in entries:
        present = [slot for slot in slots if slot.field in entry.fields and slot.tensor is not None]
        for name in entry.properties if len(present) > 1 else ():
            attribute = PROPERTIES[name][0]
            first = getattr(present[0].tensor, attribute)
            for slot in present[1:]:
                if getattr(slot.tensor, attribute) != first:
                    report_difference(desc, present[0], slot, name, entries, report)


def report_difference(
    desc: OperatorDesc,
    reference: TensorSlot,
    slot: TensorSlot,
    name: str,
    entries: Sequence[Same],
    report: Report,
) -> None:
    """Report that ``slot`` differs from ``reference`` in a property that they must share, unless another rule does."""
    assert slot.tensor is not None
    assert reference.tensor is not None
    attribute, suffix = PROPERTIES[name]
    actual, expected = getattr(slot.tensor, attribute), getattr(reference.tensor, attribute)
    # An unknown data type violates a rule of its tensor.
    if name == "DataType" and not (slot.tensor.element_bits and reference.tensor.element_bits):
        return
    # If dimension counts that must agree differ, so do the sizes.
    if name == "Sizes" and slot.tensor.dimension_count != reference.tensor.dimension_count:
        both = {slot.field, reference.field}
        if any("DimensionCount" in entry.properties and both <= set(entry.fields) for entry in entries):
            return
    report.add(
        rules_of(desc.schema)[suffix],
        f"{slot.path}.{name}",
        f"is {show(name, actual)}; it must be the same as {reference.path}'s, which is {show(name, expected)}",
    )


def show(name: str, value: object) -> str:
    if name == "Sizes":
        return braces(value)
    return type_name(value) if name == "DataType" else str(value)  # type: ignore[arg-type]
