"""Inference of an operator's output tensors: types and sizes from its inputs and attributes, layouts by a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..abi.schema import FieldSchema, OperatorSchema
from ..api.enums import DML_TENSOR_DATA_TYPE_UINT32
from ..descs.data_types import DataTypeLike, data_type_number, data_type_of
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor_size import packed_strides
from ..operators import check_inputs, operator_of
from ..operators.operator import Advisory, Broadcast
from ..validation.operator_rules import PROPERTIES
from ..validation.report import Report
from ..validation.support_tables import applies, same_of, support_at

# A data type and sizes for each tensor of an output field.
OutputShapes = Mapping[str, Sequence[tuple[int, tuple[int, ...]]]]


def inferred(
    desc: OperatorDesc, level: int, choices: Mapping[str, Any], output_data_type: DataTypeLike | None
) -> OutputShapes:
    """``output_shapes``, computed once for layers of a network that are alike."""
    if choices or not isinstance(output_data_type, int | None):
        return output_shapes(desc, level, choices, output_data_type)
    return _inferred(desc, level, output_data_type)


@lru_cache(maxsize=1024)
def _inferred(desc: OperatorDesc, level: int, output_data_type: int | None) -> OutputShapes:
    return output_shapes(desc, level, {}, output_data_type)


def output_shapes(
    desc: OperatorDesc, level: int, choices: Mapping[str, Any], output_data_type: DataTypeLike | None
) -> OutputShapes:
    """Data type and sizes of the outputs by field, without those that cannot be inferred.

    Raises ``DMLError`` with all violations by inputs and attributes, ``ValueError`` if the data type of an output is
    ambiguous.
    """
    report = Report()
    sound = check_inputs(desc, level, report, complete=False)
    report.raise_errors(f"{desc.schema.type_name} cannot take this:")
    assert sound
    shapes = dict(operator_of(desc.name).shapes(desc, **choices))
    results: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
    for entry in desc.struct.tensors:
        if entry.role != "output":
            continue
        sizes = shapes.get(entry.name) or shared(desc, entry.name, "Sizes")
        if sizes is None:
            continue
        known = [data_type for shape in results.values() for data_type, _ in shape]
        data_type = _data_type(desc, entry, level, output_data_type, known)
        parts: Sequence[Any] = sizes if entry.kind == "array" else [sizes]
        results[entry.name] = [
            (data_type, tuple(shape.sizes if isinstance(shape, (Broadcast, Advisory)) else shape))
            for shape in parts
        ]
    return results


def shared(desc: OperatorDesc, output: str, name: str) -> Any:
    """The property (``DataType``, ``Sizes``) that ``output`` shares, by the catalog, with an input that is present."""
    for entry in same_of(desc.schema):
        if output not in entry.fields or name not in entry.properties or not applies(entry, desc):
            continue
        for slot in desc.inputs:
            if slot.field in entry.fields and slot.tensor is not None:
                return getattr(slot.tensor, PROPERTIES[name][0])
    return None


def _data_type(
    desc: OperatorDesc,
    entry: FieldSchema,
    level: int,
    chosen: DataTypeLike | None,
    known: Sequence[int],
) -> int:
    """The data type of an output. ``known`` are those of the outputs before it."""
    required = shared(desc, entry.name, "DataType")
    if required is not None:
        return int(required)
    table = support_at(desc, level)
    types = table.tensors[entry.name].types if table is not None and entry.name in table.tensors else ()
    if len(types) == 1:
        return types[0]
    if chosen is not None:
        return data_type_number(chosen, "output_data_type")
    # Indices and counts: UINT32 is their type at the oldest levels.
    if DML_TENSOR_DATA_TYPE_UINT32 in types and all(data_type_of(kind).kind != "F" for kind in types):
        return DML_TENSOR_DATA_TYPE_UINT32
    # The present keys and values of an attention may be of another type than a stacked query: by default they are not.
    if known and known[0] in types:
        return known[0]
    raise ValueError(
        f"the data type of {entry.name} cannot be inferred from the inputs; pass output_data_type=..."
    )


def ambiguous_outputs(schema: OperatorSchema) -> list[str]:
    """The outputs that do not always have the data type of a required input."""
    inputs = {entry.name for entry in schema.struct.tensors if entry.role == "input" and not entry.optional}
    tied = {
        field
        for same in same_of(schema)
        if "DataType" in same.properties and not same.when and inputs & set(same.fields)
        for field in same.fields
    }
    return [
        entry.name for entry in schema.struct.tensors if entry.role == "output" and entry.name not in tied
    ]


class TensorProperties(NamedTuple):
    """``strides`` in elements (None: packed), ``total_size`` (None: the least possible) and ``alignment`` in bytes."""

    strides: Sequence[int] | None = None
    total_size: int | None = None
    alignment: int = 0


# Called with the data type, flags and sizes of an output tensor.
TensorPolicy = Callable[[int, int, Sequence[int]], TensorProperties]


def packed(data_type: int, flags: int, sizes: Sequence[int]) -> TensorProperties:
    """Packed tensors: no strides, no padding."""
    return TensorProperties()


def interleaved_channel(data_type: int, flags: int, sizes: Sequence[int]) -> TensorProperties:
    """Channels-last: NCHW sizes in NHWC memory."""
    if len(sizes) < 3:
        return TensorProperties()
    batch, *spatial, channel = packed_strides([sizes[0], *sizes[2:], sizes[1]])
    return TensorProperties((batch, channel, *spatial))
