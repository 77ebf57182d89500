"""Compilation, initialization and binding of a model's dispatchables."""

from __future__ import annotations

from collections.abc import Sequence

from ..api.enums import DML_BINDING_TYPE_BUFFER, DML_BINDING_TYPE_BUFFER_ARRAY
from ..api.structs import (
    DML_BINDING_DESC,
    DML_BUFFER_ARRAY_BINDING,
    DML_BUFFER_BINDING,
    DML_GRAPH_DESC,
    DML_INPUT_GRAPH_EDGE_DESC,
    DML_OUTPUT_GRAPH_EDGE_DESC,
)
from ..d3d12 import ID3D12Resource
from ..descs.operator_desc import TensorSlot
from ..dml import IDMLBindingTable, IDMLCompiledOperator, IDMLDevice1, IDMLOperator
from ..graph import CompiledGraph
from ..graph.to_desc import EdgeDesc, graph_desc, operator_node
from .graph_reading import read_graph
from .model import Bindings, BindingSource, GraphDispatchable, OperatorDispatchable
from .model_buffers import ModelBuffers, product, upload
from .model_files import ModelError, constant_path, read_file


class Point:
    """A bind point: ``count`` tensors bound by one name. ``in_graph`` is False where the graph has no such tensor."""

    def __init__(self, name: str, count: int = 1, in_graph: bool = True) -> None:
        self.name = name
        self.count = count
        self.in_graph = in_graph


def _points(slots: Sequence[TensorSlot], as_graph: bool) -> list[Point]:
    points: dict[str, Point] = {}
    for slot in slots:
        if slot.field in points:
            points[slot.field].count += 1
        else:
            points[slot.field] = Point(slot.field, in_graph=not as_graph or slot.tensor is not None)
    return list(points.values())


class Compiled:
    """A created dispatchable: ``initialize`` initializes it, ``bind`` returns a binding table for a dispatch."""

    inputs: Sequence[Point]
    outputs: Sequence[Point]

    def __init__(self, name: str, memory: ModelBuffers) -> None:
        self.name = name
        self.memory = memory
        self.session = memory.session
        self.operator: IDMLCompiledOperator
        self.persistent: ID3D12Resource | None = None
        self.temporary: ID3D12Resource | None = None

    def compile(self) -> str | None:
        """Compile if necessary; returns the message to log."""
        raise NotImplementedError

    def initial_inputs(self) -> list[DML_BUFFER_BINDING]:
        raise NotImplementedError

    def initialize(self) -> None:
        session, size = self.session, self.operator.persistent_size
        initializer = session.dml.CreateOperatorInitializer([self.operator])
        array = DML_BUFFER_ARRAY_BINDING(Bindings=self.initial_inputs())
        self.persistent = session.buffer(size) if size else None
        table = session.table(
            initializer,
            [DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER_ARRAY, array)],
            None if self.persistent is None else [self.persistent],
            session.temporary(initializer),
        )
        session.dml.removal.check()
        session.record(initializer, table)
        session.execute()
        session.dml.removal.check()

    def bind(self, bindings: Bindings) -> IDMLBindingTable:
        """A binding table with ``bindings``. Raises ``ModelError`` and ``DMLError`` for those that do not fit."""
        session = self.session
        inputs = [_desc(buffer) for buffer in self.buffers(self.inputs, bindings)]
        outputs = [_desc(buffer) for buffer in self.buffers(self.outputs, bindings)]
        self.temporary = session.temporary(self.operator)
        table = session.table(self.operator, inputs, outputs, self.temporary, self.persistent)
        session.dml.removal.check()
        return table

    def buffers(self, points: Sequence[Point], bindings: Bindings) -> list[DML_BUFFER_BINDING]:
        """The buffer binding of each tensor; empty for tensors without an entry in ``bindings``."""
        buffers = []
        for point in points:
            sources = bindings.get(point.name)
            if sources is None:
                buffers += [DML_BUFFER_BINDING() for _ in range(point.count if point.in_graph else 0)]
                continue
            if len(sources) != point.count:
                raise ModelError(
                    f"Bind point '{point.name}' requires {point.count} resources, but {len(sources)} were bound."
                )
            buffers += [self._buffer(point.name, source) for source in sources]
        return buffers

    def _buffer(self, point: str, source: BindingSource) -> DML_BUFFER_BINDING:
        buffer = self.memory.buffers.get(source.name)
        if buffer is None:
            raise ModelError(
                f"Resource '{source.name}' is deferred; DML operators only support buffer bindings"
            )
        offset = product(source.element_offset, self.memory.element_size(source))
        size = self.bound_size(point, source, offset)
        if offset > size:
            raise ModelError(
                f"Buffer size ({size} bytes) is too small for offset {offset} bytes for binding point '{point}'"
            )
        return DML_BUFFER_BINDING(buffer, offset, size - offset)

    def bound_size(self, point: str, source: BindingSource, offset: int) -> int:
        """The end of a binding, in bytes from the start of its resource."""
        return self.memory.resources[source.name].size


def _desc(buffer: DML_BUFFER_BINDING) -> DML_BINDING_DESC:
    return DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, buffer) if buffer.Buffer else DML_BINDING_DESC()


class CompiledDesc(Compiled):
    """An operator, compiled by CompileOperator or as a graph of one node."""

    def __init__(self, source: OperatorDispatchable, memory: ModelBuffers) -> None:
        super().__init__(source.name, memory)
        self.source = source
        self.created: IDMLOperator = self.session.dml.CreateOperator(source.desc)
        self.inputs = _points(source.desc.inputs, source.as_graph)
        self.outputs = _points(source.desc.outputs, source.as_graph)

    def compile(self) -> str:
        device = self.session.dml
        if not self.source.as_graph:
            self.operator = device.CompileOperator(self.created, self.source.flags)
            self.operator.SetName(self.name)
            return "Compile Op"
        if not isinstance(device, IDMLDevice1):
            raise ModelError("the device has no IDMLDevice1::CompileGraph")
        self.operator = device.CompileGraph(self._graph(), self.source.flags)
        self.operator.SetName(f"Graph_{self.name}")
        return "Compiling op using IDMLDevice1::CompileGraph"

    def _graph(self) -> DML_GRAPH_DESC:
        desc = self.source.desc
        inputs = [index for index, slot in enumerate(desc.inputs) if slot.tensor is not None]
        outputs = [index for index, slot in enumerate(desc.outputs) if slot.tensor is not None]
        edges: list[EdgeDesc] = [
            *(DML_INPUT_GRAPH_EDGE_DESC(position, 0, index) for position, index in enumerate(inputs)),
            *(DML_OUTPUT_GRAPH_EDGE_DESC(0, index, position) for position, index in enumerate(outputs)),
        ]
        node = operator_node(self.created, self.name.encode("utf-8", "replace"))
        return graph_desc(len(inputs), len(outputs), [node], edges)

    def initial_inputs(self) -> list[DML_BUFFER_BINDING]:
        return self.buffers(self.inputs, self.source.bindings)


class CompiledGraphFile(Compiled):
    """A serialized graph; constants in files are uploaded at compilation."""

    def __init__(self, source: GraphDispatchable, memory: ModelBuffers) -> None:
        super().__init__(source.name, memory)
        self.source = source
        self.constants: dict[str, DML_BUFFER_BINDING] = {}

    def compile(self) -> None:
        content = read_graph(read_file(self.source.source))
        for node in content.constants:
            data = read_file(constant_path(self.source.source, node.constant))
            buffer = upload(self.session, data, -(-len(data) // 4) * 4)
            self.constants[node.name] = DML_BUFFER_BINDING(buffer, 0, buffer.width)
        self.operator = CompiledGraph(content.to_graph(self.session.dml)).operator
        # The compiled graph has no trailing graph inputs that no node reads.
        self.inputs = [Point(name) for name in content.bind_points[: len(self.operator.inputs)]]
        self.outputs = [Point(name) for name in content.outputs]

    def initial_inputs(self) -> list[DML_BUFFER_BINDING]:
        return [self.constants.get(point.name, DML_BUFFER_BINDING()) for point in self.inputs]

    def bound_size(self, point: str, source: BindingSource, offset: int) -> int:
        data = product(self.memory.element_count(source), self.memory.element_size(source))
        size = -(-data // 4) * 4
        if offset + data > size:
            raise ModelError(
                f"Buffer size ({size} bytes) is too small for the data ({data} bytes) at offset {offset} bytes "
                f"for binding point '{point}'"
            )
        return size
