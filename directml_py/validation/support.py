"""Rules from the support tables: what an operator takes at a feature level."""

from __future__ import annotations

from ..api.enums import DML_TENSOR_DATA_TYPE
from ..api.schema import OperatorSchema, Same, Support, TensorSupport
from ..descs.format import braces
from ..descs.tensor import TensorDesc, type_name
from ..descs.values import OperatorDesc, TensorSlot
from .report import Report
from .rule import Rule, rule
from .tensors import level_name

OPERATOR_LEVEL = rule(
    "DML-Operator-feature-level",
    "The device's feature level has the operator",
    "dml-feature-level-history",
)


def operator_rule(operator: str, name: str, text: str) -> Rule:
    """The rule ``DML-OPERATOR-name`` from that operator's page."""
    return Rule(f"DML-{operator}-{name}", text, f"ns-directml-dml_{operator.lower()}_operator_desc")


def applies(entry: Support | Same, desc: OperatorDesc) -> bool:
    return all(getattr(desc, name) in values for name, values in entry.when.items())


def support_at(desc: OperatorDesc, level: int) -> Support | None:
    """The newest support table that ``level`` has for the desc's attributes."""
    found = [entry for entry in desc.schema.support if entry.level <= level and applies(entry, desc)]
    return max(found, key=lambda entry: entry.level, default=None)


def check_level(schema: OperatorSchema, level: int, report: Report) -> None:
    if schema.level > level:
        report.add(
            OPERATOR_LEVEL,
            "Type",
            f"is {schema.type_name}, which needs {level_name(schema.level)}; this is {level_name(level)}",
        )


def check_support(desc: OperatorDesc, slots: list[TensorSlot], level: int, report: Report) -> None:
    """Dimension counts and data types of ``slots`` against the table of ``level``."""
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
        operator_rule(desc.name, "dimension-count", "Each tensor has a dimension count of the support table"),
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
    if tensor.data_type in supported.types or not tensor.element_bits:
        return
    names = ", ".join(type_name(DML_TENSOR_DATA_TYPE(value)) for value in supported.types)
    later = sorted(
        entry.level
        for entry in desc.schema.support
        if entry.level > level
        and applies(entry, desc)
        and slot.field in entry.tensors
        and tensor.data_type in entry.tensors[slot.field].types
    )
    hint = f" ({type_name(tensor.data_type)} needs {level_name(later[0])})" if later else ""
    report.add(
        operator_rule(desc.name, "data-type", "Each tensor has a data type of the support table"),
        f"{slot.path}.DataType",
        f"is {type_name(tensor.data_type)}; {desc.schema.type_name} supports {names} "
        f"at {level_name(level)}{hint}",
    )


PROPERTIES = {
    "DataType": ("data_type", "same-data-type"),
    "DimensionCount": ("dimension_count", "same-dimension-count"),
    "Sizes": ("sizes", "same-sizes"),
}


def check_same(desc: OperatorDesc, slots: list[TensorSlot], report: Report) -> None:
    """Tensors that the catalog says must agree."""
    for entry in desc.schema.same:
        if not applies(entry, desc):
            continue
        present = [slot for slot in slots if slot.field in entry.fields and slot.tensor is not None]
        for name in entry.properties:
            check_property(desc, present, name, "DimensionCount" in entry.properties, report)


def check_property(
    desc: OperatorDesc, present: list[TensorSlot], name: str, ranks_agree: bool, report: Report
) -> None:
    attribute, suffix = PROPERTIES[name]
    if not present:
        return
    reference, *others = present
    expected = getattr(reference.tensor, attribute)
    for slot in others:
        found = getattr(slot.tensor, attribute)
        assert slot.tensor is not None
        assert reference.tensor is not None
        ranks_differ = slot.tensor.dimension_count != reference.tensor.dimension_count
        if found == expected or (name == "Sizes" and ranks_agree and ranks_differ):
            continue
        report.add(
            operator_rule(desc.name, suffix, f"The tensors have the same {name}"),
            f"{slot.path}.{name}",
            f"is {show(name, found)}; it must be the same as {reference.path}'s, which is {show(name, expected)}",
        )


def show(name: str, value: object) -> str:
    if name == "Sizes":
        return braces(value)
    return type_name(value) if name == "DataType" else str(value)  # type: ignore[arg-type]
