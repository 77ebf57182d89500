"""A serialized graph as a value, and its conversion to a ``Graph``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..abi.hresult import DMLError
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from ..dml import IDMLDevice
from ..graph import Expression, Graph
from ..graph.nodes import FromNode, Source
from ..graph.to_desc import live_nodes
from .model_files import ModelError


@dataclass(frozen=True)
class GraphNode:
    """An operator (``desc``), a constant in a file (``constant`` is its name) or an inline constant (``data``).

    ``inputs`` and ``outputs`` name the edges of its tensors in desc order; "" stands for absent optional ones.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    desc: OperatorDesc | None = None
    constant: str = ""
    data: bytes = b""


@dataclass(frozen=True)
class SerializedGraph:
    """The contents of a ``dmlSerializedGraph`` FlatBuffer: ``inputs`` and ``outputs`` are names of edges.

    Nodes are in topological order.
    """

    nodes: tuple[GraphNode, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def constants(self) -> tuple[GraphNode, ...]:
        """The constants in files that are read, in order of occurrence: graph inputs after the real ones."""
        makers = {edge: node for node in self.nodes if node.constant for edge in node.outputs}
        met = {
            makers[edge].name: makers[edge] for node in self.nodes for edge in node.inputs if edge in makers
        }
        return tuple(met.values())

    @property
    def bind_points(self) -> tuple[str, ...]:
        """The names of bind points: those of the graph inputs, then those of the nodes of constants in files."""
        return (*self.inputs, *(node.name for node in self.constants))

    def readers(self) -> dict[str, TensorDesc]:
        """For each edge, the first tensor that reads it."""
        tensors: dict[str, TensorDesc] = {}
        for node in self.nodes:
            for slot, edge in zip(node.desc.inputs if node.desc else (), node.inputs):
                if slot.tensor is not None:
                    tensors.setdefault(edge, slot.tensor)
        return tensors

    def to_graph(self, device: IDMLDevice | None = None) -> Graph:
        """The graph for ``device`` (None creates one); constants in files are its last inputs.

        Raises ``ModelError`` naming the node for what the device rejects, and for a node that no output depends on.
        """
        graph = Graph(device)
        self.add_to(graph)
        return graph

    def add_to(self, graph: Graph, prefix: str = "") -> None:
        """Add the nodes to ``graph``, with inputs and outputs after its own, whose names begin with ``prefix``.

        Raises as ``to_graph`` does.
        """
        _Maker(self, graph, prefix).make()


class _Maker:
    def __init__(self, content: SerializedGraph, graph: Graph, prefix: str) -> None:
        self.content = content
        self.graph = graph
        self.prefix = prefix
        self.readers = content.readers()
        self.sources: dict[str, Source] = {}

    def make(self) -> None:
        content, graph = self.content, self.graph
        first_input, first_node = max(graph.inputs, default=-1) + 1, len(graph.nodes)
        edges = dict(zip(content.bind_points, content.inputs))
        edges.update((node.name, node.outputs[0]) for node in content.constants)
        if len(edges) != len(content.bind_points):
            raise ModelError("two inputs of the graph have the same name")
        for index, (name, edge) in enumerate(edges.items()):
            if edge not in self.readers:
                continue
            try:
                self.sources[edge] = graph.input_tensor(
                    first_input + index, self.readers[edge], name=self.prefix + name
                ).source
            except (DMLError, ValueError) as error:
                raise ModelError(f"graph input '{name}': {error}") from None
        for node in content.nodes:
            if not node.constant:
                self._node(node)
        missing = [name for name in content.outputs if not isinstance(self.sources.get(name), FromNode)]
        if missing:
            raise ModelError(f"no node computes the graph output '{missing[0]}'")
        outputs = {self.prefix + name: self._expression(name) for name in content.outputs}
        if len(outputs) != len(content.outputs):
            raise ModelError("two outputs of the graph have the same name")
        try:
            graph.outputs = {**graph.outputs, **outputs}
        except ValueError as error:
            raise ModelError(str(error)) from None
        alive = set(live_nodes(graph))
        for index in range(first_node, len(graph.nodes)):
            if index not in alive:
                raise ModelError(f"no output depends on the node '{graph.nodes[index].name}'")

    def _node(self, node: GraphNode) -> None:
        try:
            if node.desc is None:
                tensor = self.readers.get(node.outputs[0])
                results: list[Expression | None] = [
                    self.graph.constant(_constant(node.data, tensor), name=node.name)
                ]
            else:
                sources = tuple(self._source(node, edge) for edge in node.inputs)
                results = self.graph.add_operator(node.desc, sources, node.name)
        except (DMLError, TypeError, ValueError) as error:
            raise ModelError(f"graph node '{node.name}': {error}") from None
        for edge, value in zip(node.outputs, results):
            if edge and value is not None:
                if edge in self.sources:
                    raise ModelError(f"graph node '{node.name}': '{edge}' is also the name of another edge")
                self.sources[edge] = value.source

    def _source(self, node: GraphNode, edge: str) -> Source | None:
        if edge and edge not in self.sources:
            raise ModelError(f"no graph input and no earlier node produces '{edge}'")
        return self.sources[edge] if edge else None

    def _expression(self, edge: str) -> Expression:
        source = self.sources[edge]
        assert isinstance(source, FromNode)
        tensor = self.graph.nodes[source.node].outputs[source.output]
        assert tensor is not None
        return Expression(self.graph, source, tensor)


def _constant(data: bytes, tensor: TensorDesc | None) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    """The bytes as elements of the tensor that reads them where the sizes agree, else as bytes."""
    if (
        tensor is not None
        and tensor.is_packed
        and tensor.element_bits >= 8
        and len(data) == tensor.element_count * tensor.dtype.itemsize
    ):
        return np.frombuffer(data, tensor.dtype).reshape(tensor.sizes)
    return np.frombuffer(data, np.uint8)
