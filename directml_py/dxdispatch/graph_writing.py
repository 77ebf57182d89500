"""Serialization of graphs to FlatBuffers: the inverse of ``graph_reading``."""

from __future__ import annotations

from typing import Any

from ..abi.schema import FieldSchema
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from . import flatbuffer_layout
from .flatbuffer_writer import Number, Numbers, Part, StructValue, TableValue, flatbuffer
from .serialized_graph import GraphNode, SerializedGraph


def write_graph(graph: SerializedGraph) -> bytes:
    """The FlatBuffer of a graph.

    The format has no GuaranteedBaseOffsetAlignment, which is left out; constants in files imply OWNED_BY_DML.
    """
    return flatbuffer(TableValue([[_node(node) for node in graph.nodes], graph.inputs, graph.outputs]))


def _node(node: GraphNode) -> TableValue:
    content: Part
    if node.desc is not None:
        kind, content = flatbuffer_layout.OPERATOR_NODE, _operator(node.desc)
    elif node.constant:
        kind = flatbuffer_layout.CONSTANT_NODE
        content = TableValue([Number("B", flatbuffer_layout.CONSTANT_BY_NAME), TableValue([node.constant])])
    else:
        kind = flatbuffer_layout.CONSTANT_NODE
        content = TableValue([Number("B", flatbuffer_layout.CONSTANT_BYTES), TableValue([node.data])])
    return TableValue([Number("B", kind), content, node.name, node.inputs, node.outputs])


def _operator(desc: OperatorDesc) -> TableValue:
    return TableValue(
        [
            desc.schema.type_name,
            [_tensor(slot.tensor) for slot in desc.inputs if slot.tensor is not None],
            [_tensor(slot.tensor) for slot in desc.outputs if slot.tensor is not None],
            _attributes(desc),
        ]
    )


def _tensor(tensor: TensorDesc) -> TableValue:
    return TableValue(
        [
            getattr(tensor.data_type, "name", str(tensor.data_type)),
            Numbers("I", tensor.sizes),
            None if tensor.strides is None else Numbers("I", tensor.strides),
            Number("Q", tensor.total_size),
        ]
    )


def _attributes(desc: OperatorDesc) -> list[TableValue]:
    return [
        _attribute(entry, value) for entry, (_, value) in zip(desc.struct.fields, desc) if not entry.is_tensor
    ]


def _attribute(entry: FieldSchema, value: Any) -> TableValue:
    kind = Number("B", flatbuffer_layout.kind_of(entry))
    if value is None:
        return TableValue([None, kind, None])
    return TableValue([entry.name, kind, _value(flatbuffer_layout.kind_of(entry), value)])


def _value(kind: int, value: Any) -> Part:
    if kind in flatbuffer_layout.NUMBERS:
        return StructValue(flatbuffer_layout.NUMBERS[kind], (value,))
    if kind in flatbuffer_layout.ARRAYS:
        return TableValue([Numbers(flatbuffer_layout.ARRAYS[kind], value)])
    if kind in flatbuffer_layout.STRUCTS:
        return StructValue(flatbuffer_layout.STRUCTS[kind], tuple(number for _, number in value))
    if kind == flatbuffer_layout.SCALAR:
        return TableValue([Number("B", flatbuffer_layout.SCALAR_BYTES), StructValue("8B", tuple(value.raw))])
    if kind == flatbuffer_layout.ACTIVATION:
        return _activation(value)
    return TableValue([[_activation(activation) for activation in value]])


def _activation(desc: OperatorDesc) -> TableValue:
    return TableValue([desc.schema.type_name, _attributes(desc)])
