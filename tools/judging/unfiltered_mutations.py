"""Unfiltered mutations of one field: most invalidate a desc, some do not, without a prediction of which."""

from __future__ import annotations

import math
from typing import Any

from directml_py.abi.schema import FieldSchema
from directml_py.api.enums import DML_TENSOR_DATA_TYPE
from directml_py.api.schema_data import STRUCTS
from directml_py.descs.build import build_operator_desc
from directml_py.descs.operator_desc import OperatorDesc, Record, Scalar
from directml_py.descs.tensor import TensorDesc
from directml_py.descs.types_by_name import enum_class
from directml_py.operators import SCHEMAS
from directml_py.testing.decision_source import DecisionSource

UINT_MAX = 0xFFFFFFFF
NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 16, 100, 1 << 31, UINT_MAX - 1, UINT_MAX)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-8, 1.2e-7, 1e30, -1e30, math.nan, math.inf, -math.inf)
# The data types of level 6_2.
TYPES = tuple(DML_TENSOR_DATA_TYPE(number) for number in range(12))
ACTIVATIONS = tuple(name for name in SCHEMAS if name.startswith("ACTIVATION_") or name == "ELEMENT_WISE_CLIP")
# A null tensor in a fused desc of two tensors makes Microsoft's library read address 0.
TWO_TENSORS = ("PARAMETERIZED_RELU", "_GRAD")


def mutated(source: DecisionSource, desc: OperatorDesc) -> tuple[OperatorDesc, str]:
    """``desc`` with one field mutated, and the field's name."""
    counts = {entry.counted_by for entry in desc.struct.fields}
    entry = source.choice([field for field in desc.struct.fields if field.name not in counts])
    value = _value(source, entry, getattr(desc, entry.name), desc)
    fields = {**dict(desc), entry.name: value}
    if entry.counted_by and value is not None:
        # Arrays with the same count field change together: in memory they share the count.
        for other in desc.struct.fields:
            if other.counted_by == entry.counted_by and other is not entry:
                fields[other.name] = _of_length(fields[other.name], len(value))
    return build_operator_desc(desc.schema, fields), entry.name


def _of_length(array: Any, length: int) -> Any:
    if not array:
        return array
    return (*array, *[array[-1]] * length)[:length]


def _value(source: DecisionSource, entry: FieldSchema, value: Any, desc: OperatorDesc) -> Any:
    if entry.kind == "array":
        return _array(source, entry, value, desc)
    if entry.is_tensor:
        return _tensor_or_none(source, entry, value, desc)
    if entry.type == "DML_OPERATOR_DESC":
        return _activation(source) if source.chance(85) else None
    if entry.type in STRUCTS and entry.kind == "pointer":
        return _struct(source, entry, value)
    return _plain(source, entry, value)


def _plain(source: DecisionSource, entry: FieldSchema, value: Any) -> Any:
    if entry.kind == "union":
        return Scalar(value.data_type, bytes(source.integer(0, 255) for _ in range(8)))
    if isinstance(value, Record):
        return _record(source, value)
    if entry.kind == "bool":
        return not value
    if entry.type in ("FLOAT", "DOUBLE"):
        return source.choice(FLOATS)
    if entry.kind in ("enum", "flags"):
        numbers = [int(member) for member in enum_class(entry.type)]
        number = source.choice((*numbers, -1, max(numbers) + 1, 99))
        return number & UINT_MAX if entry.kind == "flags" and number < 0 else number
    if entry.type == "INT":
        return source.choice((*range(-5, 6), value + 1, value - 1, -(1 << 31), (1 << 31) - 1))
    if entry.type == "UINT":
        return source.choice((*NUMBERS, min(value + 1, UINT_MAX), max(value - 1, 0)))
    return value


def _record(source: DecisionSource, value: Record) -> Record:
    struct = value.struct
    position = source.integer(0, len(struct.fields) - 1)
    fields = [item for _, item in value]
    fields[position] = _plain(source, struct.fields[position], fields[position])
    return Record(struct, tuple(fields))


def _struct(source: DecisionSource, entry: FieldSchema, value: Any) -> Any:
    if value is not None and source.chance(30):
        return None
    struct = STRUCTS[entry.type]
    names = [field.type for field in struct.fields]
    return Record(
        struct,
        tuple(source.choice(FLOATS) if name == "FLOAT" else source.choice(NUMBERS) for name in names),
    )


def _activation(source: DecisionSource) -> OperatorDesc:
    names = [name for name in ACTIVATIONS if not name.endswith(TWO_TENSORS)]
    schema = SCHEMAS[source.choice(names)]
    values: dict[str, Any] = {}
    for entry in schema.struct.fields:
        if entry.type == "FLOAT":
            values[entry.name] = source.choice(FLOATS)
        elif entry.name == "Axes":
            values[entry.name] = [source.integer(0, 4) for _ in range(source.integer(0, 2))]
        elif entry.kind == "enum":
            values[entry.name] = source.integer(0, 1)
    return build_operator_desc(schema, values)


def _array(source: DecisionSource, entry: FieldSchema, value: Any, desc: OperatorDesc) -> Any:
    elements = list(value or ())
    kind = source.integer(0, 9)
    if kind == 0 or not elements:
        fresh: Any = desc.inputs[0].tensor if entry.is_tensor else None
        if entry.type == "DML_OPERATOR_DESC":
            fresh = _activation(source)
        filled = fresh if fresh is not None else (1.0 if entry.type == "FLOAT" else source.integer(0, 3))
        return [*elements, elements[-1] if elements else filled]
    if kind == 1:
        return elements[:-1]
    if kind == 2 and len(elements) > 1:
        source_index, target_index = (
            source.integer(0, len(elements) - 1),
            source.integer(0, len(elements) - 1),
        )
        elements[source_index] = elements[target_index]
        return elements
    position = source.integer(0, len(elements) - 1)
    single = entry._replace(kind=_kind_of(entry), counted_by="")
    elements[position] = (
        _tensor(source, elements[position])
        if entry.is_tensor
        else _value(source, single, elements[position], desc)
    )
    return elements


def _kind_of(entry: FieldSchema) -> Any:
    if entry.type == "FLOAT":
        return "float"
    return "integer" if entry.type in ("UINT", "INT") else "pointer"


def _tensor_or_none(
    source: DecisionSource, entry: FieldSchema, value: TensorDesc | None, desc: OperatorDesc
) -> Any:
    if value is None:
        present = [slot.tensor for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]
        return _resized(source, source.choice(present)) if source.chance(50) else source.choice(present)
    return None if source.chance(5) else _tensor(source, value)


def _tensor(source: DecisionSource, tensor: TensorDesc) -> TensorDesc:
    kind = source.integer(0, 11)
    if kind <= 4:
        return _resized(source, tensor)
    if kind == 5:
        sizes = (1, *tensor.sizes) if source.chance(50) else tensor.sizes[1:]
        return tensor.replace(sizes=sizes, strides=None, total_size=-1)
    if kind <= 7:
        return tensor.replace(data_type=source.choice(TYPES), total_size=-1)
    if kind == 8:
        return _restrided(source, tensor)
    if kind == 9:
        total = max(0, tensor.total_size + source.choice((-8, -4, -1, 1, 2, 3, 4, 100)))
        return tensor.replace(total_size=source.choice((total, total, total, 0, 1 << 32, 1 << 34)))
    if kind == 10:
        return tensor.replace(alignment=source.choice((0, 1, 2, 3, 4, 8, 12, 16, 24, 32, 64, 256, 1 << 31)))
    return tensor.replace(flags=type(tensor.flags)(source.choice((0, 1, 1, 2, 3))))


def _resized(source: DecisionSource, tensor: TensorDesc) -> TensorDesc:
    if not tensor.sizes:
        return tensor
    dimension = source.integer(0, len(tensor.sizes) - 1)
    size = tensor.sizes[dimension]
    size = source.choice(
        (0, 1, 1, 2, 3, max(size - 1, 0), size - 1 if size > 1 else 2, size + 1, size + 1, size * 2)
    )
    sizes = (*tensor.sizes[:dimension], size, *tensor.sizes[dimension + 1 :])
    return tensor.replace(sizes=sizes, strides=None, total_size=-1)


def _restrided(source: DecisionSource, tensor: TensorDesc) -> TensorDesc:
    strides = list(tensor.effective_strides)
    if strides:
        position = source.integer(0, len(strides) - 1)
        value = strides[position]
        strides[position] = source.choice(
            (0, 1, 2, max(value - 1, 0), value + 1, value * 2, 1 << 20, UINT_MAX)
        )
        strides[position] = min(strides[position], UINT_MAX)
    return tensor.replace(strides=tuple(strides), total_size=-1)
