"""Rules from the support tables: what an operator takes at a feature level."""

from __future__ import annotations

from ..abi.schema import OperatorSchema, Same, Support, TensorSupport
from ..api.enums import DML_TENSOR_DATA_TYPE
from ..api.schema_data import OPERATORS
from ..descs.format import braces
from ..descs.tensor import TensorDesc, type_name
from ..descs.values import OperatorDesc, TensorSlot
from .report import Report
from .rule import RULES, Rule, rule
from .tensors import MAX_DIMENSIONS, level_name

OPERATOR_LEVEL = rule(
    "DML-Operator-feature-level",
    "The device's feature level has the operator",
    "dml-feature-level-history",
)


PROPERTIES = {
    "DataType": ("data_type", "same-data-type"),
    "DimensionCount": ("dimension_count", "same-dimension-count"),
    "Sizes": ("sizes", "same-sizes"),
}


def table_rules(schema: OperatorSchema) -> dict[str, str]:
    """The rules that the tables of one operator's page make: the end of the identifier, and the text."""
    found = {}
    if schema.support:
        found["data-type"] = "Each tensor has a data type of the support table"
        # A table that takes all that a tensor may have says no more than the tensor's own rule.
        tensors = [tensor for table in schema.support for tensor in table.tensors.values()]
        if any(len(tensor.dimensions) < MAX_DIMENSIONS for tensor in tensors):
            found["dimension-count"] = "Each tensor has a dimension count of the support table"
    for entry in schema.same:
        for name in entry.properties:
            found[PROPERTIES[name][1]] = f"{', '.join(entry.fields)} have the same {name}"
    return found


for _schema in OPERATORS.values():
    for _name, _text in table_rules(_schema).items():
        rule(f"DML-{_schema.name}-{_name}", _text, f"ns-directml-dml_{_schema.name.lower()}_operator_desc")


def operator_rule(operator: str, name: str) -> Rule:
    """The rule ``DML-OPERATOR-name``, from the tables of that operator's page."""
    return RULES[f"DML-{operator}-{name}"]


def applies(entry: Support | Same, desc: OperatorDesc) -> bool:
    return not entry.when or all(getattr(desc, name) in values for name, values in entry.when.items())


def support_at(desc: OperatorDesc, level: int) -> Support | None:
    """The newest support table that ``level`` has for the desc's attributes."""
    newest = None
    for entry in desc.schema.support:
        if (newest.level if newest else 0) < entry.level <= level and applies(entry, desc):
            newest = entry
    return newest


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
        operator_rule(desc.name, "dimension-count"),
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
        operator_rule(desc.name, "data-type"),
        f"{slot.path}.DataType",
        f"is {type_name(tensor.data_type)}; {desc.schema.type_name} supports {names} "
        f"at {level_name(level)}{hint}",
    )


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
            operator_rule(desc.name, suffix),
            f"{slot.path}.{name}",
            f"is {show(name, found)}; it must be the same as {reference.path}'s, which is {show(name, expected)}",
        )


def show(name: str, value: object) -> str:
    if name == "Sizes":
        return braces(value)
    return type_name(value) if name == "DataType" else str(value)  # type: ignore[arg-type]
