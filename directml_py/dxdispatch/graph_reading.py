"""Deserialization of graphs from FlatBuffers: operators follow the catalog, edges are matched by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..abi.counted_structs import MAX_ELEMENTS
from ..abi.schema import FieldSchema, OperatorSchema
from ..api.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML
from ..api.schema_data import STRUCTS
from ..descs.decode import MAX_DEPTH, MAX_DIMENSIONS
from ..descs.operator_desc import OperatorDesc, Record, Scalar
from ..descs.tensor import TensorDesc
from ..descs.types_by_name import enum_class
from ..operators import SCHEMAS
from . import flatbuffer_layout
from .flatbuffer_reader import FlatbufferBytes, TableReader
from .model_files import ModelError
from .serialized_graph import GraphNode, SerializedGraph


def read_graph(data: bytes) -> SerializedGraph:
    """The graph in a FlatBuffer. Raises ``ModelError`` naming the node if the graph is malformed."""
    root = FlatbufferBytes(data).root()
    owned: set[str] = set()
    nodes = []
    for index, table in enumerate(root.tables(flatbuffer_layout.ROOT_NODES)):
        try:
            node = _node(table, owned)
        except ModelError as error:
            raise ModelError(f"graph node at index {index}: {error}") from None
        nodes.append(node)
        if node.constant:
            owned.update(node.outputs)
    return SerializedGraph(
        tuple(nodes),
        root.strings(flatbuffer_layout.ROOT_INPUTS),
        root.strings(flatbuffer_layout.ROOT_OUTPUTS),
    )


def _node(table: TableReader, owned: set[str]) -> GraphNode:
    name = table.string(flatbuffer_layout.NODE_NAME)
    if not name:
        raise ModelError("it has no name")
    inputs, outputs = (
        table.strings(flatbuffer_layout.NODE_INPUTS),
        table.strings(flatbuffer_layout.NODE_OUTPUTS),
    )
    kind, content = table.number(flatbuffer_layout.NODE_KIND, "B"), table.table(flatbuffer_layout.NODE_DESC)
    if content is None or kind not in (flatbuffer_layout.OPERATOR_NODE, flatbuffer_layout.CONSTANT_NODE):
        raise ModelError(f"'{name}' is neither an operator nor a constant")
    if kind == flatbuffer_layout.OPERATOR_NODE:
        return GraphNode(name, inputs, outputs, _operator(content, inputs, outputs, owned))
    detail = content.table(flatbuffer_layout.CONSTANT_DATA)
    if detail is None or len(outputs) != 1:
        raise ModelError(f"the constant '{name}' has no data, or does not have exactly one output")
    if content.number(flatbuffer_layout.CONSTANT_KIND, "B") == flatbuffer_layout.CONSTANT_BY_NAME:
        file = detail.string(0)
        if not file:
            raise ModelError(f"the constant '{name}' does not name its data")
        return GraphNode(name, inputs, outputs, constant=file)
    data = detail.bytes(0)
    if not data:
        raise ModelError(f"the constant '{name}' has no data")
    return GraphNode(name, inputs, outputs, data=data)


def _schema(table: TableReader) -> OperatorSchema:
    name = table.string(flatbuffer_layout.OPERATOR_TYPE)
    schema = SCHEMAS.get(name.removeprefix(flatbuffer_layout.OPERATOR_PREFIX))
    if schema is None or not name.startswith(flatbuffer_layout.OPERATOR_PREFIX):
        raise ModelError(f"'{name}' is not an operator type")
    return schema


class _Tensors:
    """The tensors of an operator, consumed in the order of its fields."""

    def __init__(self, tables: list[TableReader], edges: tuple[str, ...], role: str, owned: set[str]) -> None:
        self.tables = iter(tables)
        self.remaining = len(tables)
        self.edges: Iterator[str] = iter(edges)
        self.role = role
        self.owned = owned

    def field(self, entry: FieldSchema) -> Any:
        if entry.kind == "array":
            return tuple(self._tensor(self._edge(entry.name)) for _ in range(self.remaining))
        edge = self._edge(entry.name)
        if not edge and not entry.optional:
            raise ModelError(f"{entry.name} is required, but its {self.role} has no name")
        return self._tensor(edge) if edge else None

    def _edge(self, name: str) -> str:
        edge = next(self.edges, None)
        if edge is None:
            raise ModelError(f"{name} has no name among the {self.role}s")
        return edge

    def _tensor(self, edge: str) -> TensorDesc:
        table = next(self.tables, None)
        if table is None:
            raise ModelError(f"there are fewer {self.role} tensors than names")
        self.remaining -= 1
        return _tensor(table, edge in self.owned)

    def end(self) -> None:
        if self.remaining or next(self.edges, None) is not None:
            raise ModelError(f"there are more {self.role} tensors or names than the operator has")


def _tensor(table: TableReader, is_owned: bool) -> TensorDesc:
    name = table.string(flatbuffer_layout.TENSOR_TYPE)
    data_type = DML_TENSOR_DATA_TYPE.__members__.get(name)
    if data_type is None:
        raise ModelError(f"'{name}' is not a DML_TENSOR_DATA_TYPE")
    sizes = table.numbers(flatbuffer_layout.TENSOR_SIZES, "I") or ()
    strides = table.numbers(flatbuffer_layout.TENSOR_STRIDES, "I")
    if len(sizes) > MAX_DIMENSIONS or (strides is not None and len(strides) != len(sizes)):
        raise ModelError("a tensor has too many sizes, or unequal counts of sizes and strides")
    flags = DML_TENSOR_FLAG_OWNED_BY_DML if is_owned else DML_TENSOR_FLAG_NONE
    return TensorDesc(data_type, sizes, strides, flags, table.number(flatbuffer_layout.TENSOR_TOTAL, "Q"))


def _operator(
    table: TableReader, inputs: tuple[str, ...], outputs: tuple[str, ...], owned: set[str]
) -> OperatorDesc:
    tensors = {
        "input": _Tensors(table.tables(flatbuffer_layout.OPERATOR_INPUTS), inputs, "input", owned),
        "output": _Tensors(table.tables(flatbuffer_layout.OPERATOR_OUTPUTS), outputs, "output", set()),
    }
    desc = _fields(_schema(table), table.tables(flatbuffer_layout.OPERATOR_ATTRIBUTES), tensors, 0)
    for role_tensors in tensors.values():
        role_tensors.end()
    return desc


def _fields(
    schema: OperatorSchema, tables: list[TableReader], tensors: dict[str, _Tensors], depth: int
) -> OperatorDesc:
    """The desc whose attributes are ``tables``; a fused activation has no ``tensors``."""
    attributes = iter(tables)
    values: dict[str, Any] = {}
    for entry in schema.struct.fields:
        if entry.is_tensor:
            empty = () if entry.kind == "array" else None
            values[entry.name] = tensors[entry.role].field(entry) if tensors else empty
            continue
        table = next(attributes, None)
        if table is None:
            raise ModelError(f"{entry.name} is not among the attributes")
        try:
            values[entry.name] = _attribute(entry, table, values, depth)
        except ModelError as error:
            raise ModelError(f"{entry.name}: {error}") from None
    for entry in schema.struct.fields:
        if entry.counted_by and tensors and len(values[entry.name]) != values[entry.counted_by]:
            length, count = len(values[entry.name]), values[entry.counted_by]
            raise ModelError(f"{entry.name} has {length} elements; {entry.counted_by} is {count}")
    return OperatorDesc(schema, tuple(values.values()))


def _attribute(entry: FieldSchema, table: TableReader, values: dict[str, Any], depth: int) -> Any:
    kind, position = (
        table.number(flatbuffer_layout.ATTRIBUTE_KIND, "B"),
        table.target(flatbuffer_layout.ATTRIBUTE_VALUE),
    )
    expected = flatbuffer_layout.kind_of(entry)
    if kind != expected:
        raise ModelError(f"its value is of kind {kind}; {entry.type} is of kind {expected}")
    if position is None:
        if entry.optional:
            return None
        raise ModelError("it has no value")
    buffer = table.buffer
    if kind in flatbuffer_layout.NUMBERS:
        number = buffer.number(flatbuffer_layout.NUMBERS[kind], position)
        return _plain(entry, number)
    if kind in flatbuffer_layout.ARRAYS:
        numbers = TableReader(buffer, position).numbers(0, flatbuffer_layout.ARRAYS[kind]) or ()
        if len(numbers) > MAX_ELEMENTS:
            raise ModelError(f"it has {len(numbers)} elements")
        return numbers
    if kind in flatbuffer_layout.STRUCTS:
        codes = flatbuffer_layout.STRUCTS[kind]
        components = tuple(buffer.number(code, position + 4 * index) for index, code in enumerate(codes))
        return Record(STRUCTS[entry.type], components)
    if kind == flatbuffer_layout.SCALAR:
        return _scalar(values.get(entry.governed_by, 0), TableReader(buffer, position))
    if depth >= MAX_DEPTH:
        raise ModelError(f"operators are nested more than {MAX_DEPTH} deep")
    if kind == flatbuffer_layout.ACTIVATION:
        return _activation(TableReader(buffer, position), depth + 1)
    return tuple(_activation(activation, depth + 1) for activation in TableReader(buffer, position).tables(0))


def _activation(table: TableReader, depth: int) -> OperatorDesc:
    return _fields(_schema(table), table.tables(flatbuffer_layout.ACTIVATION_ATTRIBUTES), {}, depth)


def _plain(entry: FieldSchema, number: Any) -> Any:
    if entry.kind == "bool":
        return bool(number)
    if entry.kind == "enum":
        return enum_class(entry.type)._value2member_map_.get(number, number)
    return number


def _scalar(data_type: int, table: TableReader) -> Scalar:
    position = table.target(flatbuffer_layout.SCALAR_DATA)
    if position is None or table.number(flatbuffer_layout.SCALAR_KIND, "B") != flatbuffer_layout.SCALAR_BYTES:
        raise ModelError("it is not an array of bytes")
    table.buffer.take(position, 8)
    return Scalar(data_type, table.buffer.data[position : position + 8])
