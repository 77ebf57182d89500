"""Derivation of descs that break one rule of an operator, from a valid desc and the catalog's facts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from ..abi.schema import FieldSchema
from ..api.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAG_OWNED_BY_DML
from ..api.schema_data import STRUCTS
from ..descs.build import RANGES, build_operator_desc
from ..descs.data_types import DATA_TYPES
from ..descs.operator_desc import OperatorDesc, Record, TensorSlot
from ..descs.tensor import TensorDesc
from ..descs.types_by_name import enum_class
from ..operators import SCHEMAS, check, operator_of
from ..validation.fact_expressions import names_in, test_of
from ..validation.facts import Fact, facts_of
from ..validation.operator_rules import PROPERTIES, rules_of
from ..validation.support_tables import applies, same_of, support_at
from .desc_changes import Change, change, change_tensor, reshaped, resized, retyped

UINT_MAX = 0xFFFFFFFF
NUMBERS = (0, 1, 2, 3, 4, 7, 9, 100, UINT_MAX)
# Rules that no single change breaks alone: tensors that must agree would have to change together.
TOGETHER = frozenset({"DML-VALUE_SCALE_2D-channel-count"})


def derived_rules(operator: str, enforced: bool = False) -> list[str]:
    """The rules of an operator that descs can be derived for: those of its tables, its facts and its sizes; with
    ``enforced``, without documentation-only rules, which CreateOperator does not check."""
    schema = SCHEMAS[operator]
    names = [name for name, rule in rules_of(schema).items() if not (enforced and rule.page_only)]
    if operator_of(operator).has_sizes:
        names.append("sizes")
    if operator_of(operator).advises_sizes and not enforced:
        names.append("page-sizes")
    return [rule for rule in (f"DML-{operator}-{name}" for name in names) if rule not in TOGETHER]


def derived_change(desc: OperatorDesc, rule: str, level: int) -> Change | None:
    """A change to the valid ``desc`` that breaks only ``rule`` at ``level``; None if none was found.

    The path is that of the changed field; for tables and sizes it is that of the changed tensor.
    """
    name = rule.removeprefix(f"DML-{desc.name}-")
    trees = [fact.tree for fact in facts_of(desc.schema) if fact.name == name]
    comparisons = [test_of(tree, desc.schema) for tree in trees if isinstance(tree, ast.Compare)]
    is_comparison = bool(trees) and len(comparisons) == len(trees)
    for changed, path in candidates(desc, name, level):
        # Most candidates break no comparison, which is seen faster than all that they break.
        if not counts_agree(changed) or (is_comparison and all(holds(changed) for holds in comparisons)):
            continue
        diagnostics = check(changed, level)[1].diagnostics
        if diagnostics and {diagnostic.rule for diagnostic in diagnostics} == {rule}:
            expected = diagnostics[0].path if path is None else path
            return Change(changed, rule, expected)
    return None


def counts_agree(desc: OperatorDesc) -> bool:
    """Whether all arrays agree with their count fields, as in memory."""
    return all(
        len(getattr(desc, entry.name)) == getattr(desc, entry.counted_by)
        for entry in desc.struct.fields
        if entry.counted_by and getattr(desc, entry.name) is not None
    )


def candidates(desc: OperatorDesc, name: str, level: int) -> Iterator[tuple[OperatorDesc, str | None]]:
    """Changed descs that may break the rule that ends with ``name``, with the path that it must report."""
    fact = next((candidate for candidate in facts_of(desc.schema) if candidate.name == name), None)
    if fact is not None:
        yield from _fact_candidates(desc, fact)
    elif name in ("sizes", "page-sizes"):
        yield from _sizes_candidates(desc)
    elif name == "data-type":
        yield from _type_candidates(desc, level)
    elif name == "dimension-count":
        yield from _rank_candidates(desc)
    else:
        properties = {suffix: key for key, (_, suffix) in PROPERTIES.items()}
        yield from _same_candidates(desc, properties[name])


def slots(desc: OperatorDesc) -> list[tuple[TensorSlot, TensorDesc]]:
    return [(slot, slot.tensor) for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]


def _fact_candidates(desc: OperatorDesc, fact: Fact) -> Iterator[tuple[OperatorDesc, str | None]]:
    fields = desc.struct.fields
    names = names_in(desc.schema, fact.tree)
    if fact.condition is not None and fact.statement:
        # A conditional statement may need its condition made true first.
        names |= names_in(desc.schema, fact.condition)
    entries = [entry for entry in fields if entry.name in names]
    counts = {entry.counted_by for entry in fields}
    for entry in entries:
        if entry.name in counts:
            yield from _counted_candidates(desc, entry.name)
    entries = [entry for entry in entries if entry.name not in counts]
    subjects = {re.split(r"[.\[]", field)[0] for field in fact.fields}
    for entry in entries:
        for value, path in _values(desc, entry, fact):
            yield change(desc, **{entry.name: value}), path if entry.name in subjects else None
            if isinstance(value, TensorDesc):
                # Tensors that must have the same sizes change together.
                yield _with_sizes(desc, alike(desc, entry.name, "Sizes"), value.sizes), None


def _counted_candidates(desc: OperatorDesc, count: str) -> Iterator[tuple[OperatorDesc, str | None]]:
    """All arrays with a common count, one element shorter, one longer, or empty: in memory they share the count."""
    arrays = {
        field.name: getattr(desc, field.name) or ()
        for field in desc.struct.fields
        if field.counted_by == count
    }
    yield change(desc, **{name: value[:-1] for name, value in arrays.items()}), None
    if all(arrays.values()):
        for extra in (1, 2, 5):
            yield change(desc, **{name: value + value[-1:] * extra for name, value in arrays.items()}), None
    yield change(desc, **dict.fromkeys(arrays, ())), None


def _values(desc: OperatorDesc, entry: FieldSchema, fact: Fact) -> Iterator[tuple[Any, str | None]]:
    """Other values for a field, with the path that the rule must report where that is certain."""
    value = getattr(desc, entry.name)
    if fact.statement == "not_owned" and isinstance(value, TensorDesc):
        yield value.replace(flags=DML_TENSOR_FLAG_OWNED_BY_DML), f"{entry.name}.Flags"
    if fact.statement == "required" and value is not None:
        yield None, entry.name
    if entry.is_tensor and entry.kind != "array":
        yield from _tensor_values(desc, entry, value)
    elif entry.is_tensor:
        yield from _array_values(value)
    elif entry.kind == "enum":
        members = enum_class(entry.type).__members__.values()
        yield from ((member, None) for member in members if member != value)
    elif entry.kind == "integer":
        low, high = RANGES[entry.type]
        near = (value + 1, value - 1)
        yield from ((number, entry.name) for number in (*near, *NUMBERS) if low <= number <= high)
    elif entry.kind == "bool":
        yield not value, None
    elif entry.kind == "float":
        yield from ((number, entry.name) for number in (0.0, -1.0, 1.0, 1e30, float("nan")))
    elif entry.kind == "array":
        yield from _list_values(entry, value or ())
    elif entry.type == "DML_OPERATOR_DESC":
        yield None, None
        for other in ("ACTIVATION_RELU", "ELEMENT_WISE_ADD"):
            yield build_operator_desc(SCHEMAS[other], {}), None
    elif entry.type in STRUCTS:
        yield None, None
        yield (
            Record(
                STRUCTS[entry.type],
                tuple(1.0 if one.kind == "float" else 1 for one in STRUCTS[entry.type].fields),
            ),
            None,
        )


def _tensor_values(
    desc: OperatorDesc, entry: FieldSchema, value: TensorDesc | None
) -> Iterator[tuple[Any, str | None]]:
    if value is None:
        like = slots(desc)[0][1]
        yield like.replace(flags=type(like.flags)(0)), None
        return
    if entry.optional:
        yield None, None
    for dimension in range(value.dimension_count):
        size = value.sizes[dimension]
        for other in (size + 1, size - 1, 1, 2, 3, 5):
            if other > 0 and other != size:
                yield resized(value, dimension, other), None
    yield reshaped(value, (1, *value.sizes)), None
    if value.dimension_count > 1 and value.sizes[0] == 1:
        yield reshaped(value, value.sizes[1:]), None
    for data_type in DATA_TYPES:
        if data_type != value.data_type:
            yield retyped(value, DML_TENSOR_DATA_TYPE(data_type)), None


def _array_values(value: Any) -> Iterator[tuple[Any, str | None]]:
    yield (), None
    if value:
        yield value[:-1], None
        yield (*value, value[-1]), None
        for index, tensor in enumerate(value):
            for data_type in DATA_TYPES:
                other = retyped(tensor, DML_TENSOR_DATA_TYPE(data_type))
                yield (*value[:index], other, *value[index + 1 :]), None


def _list_values(entry: FieldSchema, value: tuple[Any, ...]) -> Iterator[tuple[Any, str | None]]:
    """Arrays with one element changed, removed or duplicated."""
    if entry.type == "DML_OPERATOR_DESC":
        for other in ("ELEMENT_WISE_ADD", "ACTIVATION_SOFTMAX"):
            yield (*value[:-1], build_operator_desc(SCHEMAS[other], {})), None
    elif value:
        yield (*value, value[0]), None
        yield (*value[:-1], value[0]), None
        for index in range(len(value)):
            for number in (*NUMBERS, value[index] + 1, value[index] - 1):
                if (entry.type == "INT" and number <= 0x7FFFFFFF) or number >= 0 or entry.type == "FLOAT":
                    yield (*value[:index], number, *value[index + 1 :]), None
    yield (), None
    yield value[:-1], None
    another = {"FLOAT": (1.0,), "DML_OPERATOR_DESC": value[:1]}.get(entry.type, (1,))
    yield (*value, *another), None


def _sizes_candidates(desc: OperatorDesc) -> Iterator[tuple[OperatorDesc, str | None]]:
    shapes = operator_of(desc.name).shapes(desc)
    # Outputs first: no other sizes are inferred from them.
    for slot, tensor in reversed(slots(desc)):
        if slot.field not in shapes:
            continue
        # With several outputs their sum counts: SPLIT's determine the input's sizes.
        path = f"{slot.path}.Sizes" if slot in desc.outputs and slot.path == slot.field else None
        for dimension in reversed(range(tensor.dimension_count)):
            for size in (
                tensor.sizes[dimension] + 1,
                tensor.sizes[dimension] + 2,
                tensor.sizes[dimension] - 1,
            ):
                if size:
                    changed = resized(tensor, dimension, size)
                    yield change_tensor(desc, slot, changed), path
                    yield _with_sizes(desc, alike(desc, slot.field, "Sizes"), changed.sizes), None


def _with_sizes(desc: OperatorDesc, fields: set[str], sizes: tuple[int, ...]) -> OperatorDesc:
    """``desc`` with new sizes for all tensors of these fields."""
    for slot, tensor in slots(desc):
        if slot.field in fields:
            desc = change_tensor(desc, slot, reshaped(tensor, sizes))
    return desc


def alike(desc: OperatorDesc, field: str, name: str) -> set[str]:
    """The fields that share the property ``name`` (DataType) with ``field``, directly or transitively."""
    fields = {field}
    while True:
        more = {
            one
            for entry in same_of(desc.schema)
            if name in entry.properties and fields & set(entry.fields) and applies(entry, desc)
            for one in entry.fields
        }
        if more <= fields:
            return fields
        fields |= more


def _type_candidates(desc: OperatorDesc, level: int) -> Iterator[tuple[OperatorDesc, str | None]]:
    """A type that the level supports but the operator does not, for a tensor and those that share its type."""
    table = support_at(desc, level)
    if table is None:
        return
    for slot, _ in slots(desc):
        group = alike(desc, slot.field, "DataType")
        for data_type, known in DATA_TYPES.items():
            supported = any(data_type in table.tensors[name].types for name in group & set(table.tensors))
            if supported or known.level > level:
                continue
            changed = desc
            for other, tensor in slots(desc):
                if other.field in group:
                    changed = change_tensor(changed, other, retyped(tensor, DML_TENSOR_DATA_TYPE(data_type)))
            names = desc.struct.index
            for attribute in ("ScaleBias", "FusedActivation"):
                if attribute in names:
                    changed = change(changed, **{attribute: None})
            kinds = [one.name for one in desc.struct.fields if one.type == "DML_TENSOR_DATA_TYPE"]
            yield changed, None
            yield change(changed, **dict.fromkeys(kinds, DML_TENSOR_DATA_TYPE(data_type))), None


def _rank_candidates(desc: OperatorDesc) -> Iterator[tuple[OperatorDesc, str | None]]:
    """Leading ones added to one or all tensors, or removed."""
    every = {slot.field for slot, _ in slots(desc)}
    for fields in (every, *({field} for field in sorted(every))):
        for added in range(1, 9):
            changed = desc
            for slot, tensor in slots(desc):
                if slot.field in fields:
                    changed = change_tensor(changed, slot, reshaped(tensor, (1,) * added + tensor.sizes))
            yield changed, None
            yield change(changed, **dict(_longer(desc, added))), None
        changed = desc
        for slot, tensor in slots(desc):
            if slot.field in fields and tensor.dimension_count > 1 and tensor.sizes[0] == 1:
                changed = change_tensor(changed, slot, reshaped(tensor, tensor.sizes[1:]))
        yield changed, None
        yield change(changed, **dict(_shorter(desc))), None


def _longer(desc: OperatorDesc, added: int) -> Iterator[tuple[str, Any]]:
    """Attributes for tensors with ``added`` more leading dimensions of size 1, without other effects."""
    for entry in desc.struct.fields:
        value = getattr(desc, entry.name)
        if entry.name == "Axis":
            yield "Axis", value + added
        elif entry.name == "Axes":
            yield "Axes", tuple(axis + added for axis in value)
        elif entry.kind == "array" and entry.type in ("UINT", "INT", "FLOAT") and value:
            nothing = 0 if re.search("Padding|Offset", entry.name) else 1
            yield entry.name, (float(nothing) if entry.type == "FLOAT" else nothing,) * added + value


def _shorter(desc: OperatorDesc) -> Iterator[tuple[str, Any]]:
    for entry in desc.struct.fields:
        value = getattr(desc, entry.name)
        if entry.name == "Axis":
            yield "Axis", max(0, value - 1)
        elif entry.name == "Axes":
            yield "Axes", tuple(axis - 1 for axis in value if axis)
        elif entry.kind == "array" and entry.type in ("UINT", "INT", "FLOAT") and value:
            yield entry.name, value[1:]


def _same_candidates(desc: OperatorDesc, name: str) -> Iterator[tuple[OperatorDesc, str | None]]:
    """One tensor changed to differ from those that it must agree with."""
    for slot, tensor in reversed(slots(desc)):
        group = alike(desc, slot.field, name)
        if len(group) == 1:
            continue
        # The others of a group are compared with its first tensor.
        is_first = next(one for one, _ in slots(desc) if one.field in group) == slot
        path = None if is_first else f"{slot.path}.{name}"
        if name == "DataType":
            for data_type in DATA_TYPES:
                yield change_tensor(desc, slot, retyped(tensor, DML_TENSOR_DATA_TYPE(data_type))), path
        elif name == "DimensionCount":
            yield change_tensor(desc, slot, reshaped(tensor, (1, *tensor.sizes))), path
            if tensor.dimension_count > 1 and tensor.sizes[0] == 1:
                yield change_tensor(desc, slot, reshaped(tensor, tensor.sizes[1:])), path
        else:
            for dimension in range(tensor.dimension_count):
                yield change_tensor(desc, slot, resized(tensor, dimension, tensor.sizes[dimension] + 1)), path
