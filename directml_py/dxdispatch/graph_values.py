"""Conversion of this package's graphs to serialized graphs, and the graph to draw for a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..abi.structure import Structure
from ..api.structs import DML_GRAPH_DESC
from ..descs.decode import decode_struct
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from ..dml import IDMLCompiledOperator, IDMLDevice, IDMLDevice1, IDMLOperator
from ..dml.compiled_operator import desc_of_operator
from ..dml.compiler.graph_desc import GraphDesc, GraphInput, Port, Value, read_graph_desc
from ..dml.compiler.graph_program import GraphProgram
from ..graph import CompiledGraph, Graph
from ..graph.to_desc import describe
from ..storage import read_regular
from ..validation.report import Report
from .graph_reading import read_graph
from .json_values import parse_json
from .model import Dispatchable, ForeignDispatchable, OperatorDispatchable, parse_dispatchables
from .model_files import ModelError, read_file
from .serialized_graph import GraphNode, SerializedGraph


class NamedGraph(NamedTuple):
    """A graph with the names of its inputs and outputs."""

    desc: GraphDesc
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def graph_of(work: Any) -> NamedGraph | None:
    """The graph in ``work``: a Graph, a CompiledGraph, a DML_GRAPH_DESC, or the result of CompileGraph.

    None for anything else. Raises ``ValueError`` for a graph without outputs, ``DMLError`` for a DML_GRAPH_DESC that
    CompileGraph rejects.
    """
    if isinstance(work, Graph):
        desc = _read(work.device, describe(work).desc)
        names = {index: graph_input.name for index, graph_input in work.inputs.items()}
        return _named(desc, names, work.outputs)
    if isinstance(work, CompiledGraph):
        program = work.operator.program
        assert isinstance(program, GraphProgram)
        return NamedGraph(program.graph, tuple(work.inputs), tuple(work.outputs))
    if isinstance(work, IDMLCompiledOperator) and isinstance(work.program, GraphProgram):
        return _named(work.program.graph, {}, ())
    if isinstance(work, Structure) and isinstance(work, DML_GRAPH_DESC):
        return _named(_compiled(work), {}, ())
    return None


def _compiled(work: DML_GRAPH_DESC) -> GraphDesc:
    """The graph as CompileGraph reads it, which also validates it."""
    record, faults = decode_struct(work, "DML_GRAPH_DESC")
    nodes = () if record is None else record.Nodes or ()
    operators = [getattr(node.Desc, "Operator", None) for node in nodes if node is not None]
    device = next((operator.device for operator in operators if isinstance(operator, IDMLOperator)), None)
    if not isinstance(device, IDMLDevice1):
        raise ValueError("; ".join(map(str, faults)) or "Nodes has no operator of an IDMLDevice1")
    program = device.CompileGraph(work).program
    assert isinstance(program, GraphProgram)
    return program.graph


def _read(device: IDMLDevice, desc: DML_GRAPH_DESC) -> GraphDesc:
    report = Report()
    graph = read_graph_desc(partial(desc_of_operator, device), desc, report)
    if graph is None or report.errors:
        raise ValueError("; ".join(map(str, report.diagnostics)))
    return graph


def _named(desc: GraphDesc, inputs: dict[int, str], outputs: Sequence[str] | dict[str, Any]) -> NamedGraph:
    return NamedGraph(
        desc,
        tuple(inputs.get(index, f"input{index}") for index in range(desc.input_count)),
        tuple(outputs) or tuple(f"output{index}" for index in range(desc.output_count)),
    )


def graph_of_operator(desc: OperatorDesc, name: str | None = None) -> SerializedGraph:
    """A graph of one node, whose inputs and outputs are named after the fields (``InputTensors[1]``)."""
    inputs = tuple(slot.path if slot.tensor else "" for slot in desc.inputs)
    outputs = tuple(slot.path if slot.tensor else "" for slot in desc.outputs)
    return SerializedGraph(
        (GraphNode(name or desc.name.lower(), inputs, outputs, desc),),
        tuple(filter(None, inputs)),
        tuple(filter(None, outputs)),
    )


def serialized(graph: NamedGraph) -> SerializedGraph:
    """The serialized graph, with its nodes in topological order.

    Raises ``ValueError`` for what the format cannot express: two graph outputs of one value.
    """
    return _Serializer(graph).graph()


class _Serializer:
    def __init__(self, graph: NamedGraph) -> None:
        self.desc, self.inputs, self.outputs = graph
        self.taken = {*self.inputs, *self.outputs}
        self.edges: dict[Value | GraphInput, str] = {
            GraphInput(index): name for index, name in enumerate(self.inputs)
        }
        self.sources: dict[Port, Value | GraphInput] = {}
        self.feeds: dict[int, set[int]] = defaultdict(set)
        for edge in (*self.desc.input_edges, *self.desc.intermediate_edges):
            assert isinstance(edge.target, Port)
            self.sources[edge.target] = edge.source
            if isinstance(edge.source, Value):
                self.feeds[edge.source.node].add(edge.target.node)

    def graph(self) -> SerializedGraph:
        for edge in self.desc.output_edges:
            assert isinstance(edge.source, Value)
            assert isinstance(edge.target, int)
            if edge.source in self.edges:
                first, second = self.edges[edge.source], self.outputs[edge.target]
                raise ValueError(
                    f"the graph outputs '{first}' and '{second}' are one value, "
                    "which has only one name in a serialized graph; insert an identity"
                )
            self.edges[edge.source] = self.outputs[edge.target]
        return SerializedGraph(tuple(map(self._node, self._order())), self.inputs, self.outputs)

    def _order(self) -> list[int]:
        pending = dict.fromkeys(range(len(self.desc.nodes)), 0)
        for targets in self.feeds.values():
            for target in targets:
                pending[target] += 1
        ready = [index for index, count in pending.items() if not count]
        order = []
        while ready:
            index = ready.pop(0)
            order.append(index)
            for target in sorted(self.feeds[index]):
                pending[target] -= 1
                if not pending[target]:
                    ready.append(target)
        if len(order) != len(pending):
            raise ValueError("the graph has a cycle")
        return order

    def _node(self, index: int) -> GraphNode:
        node = self.desc.node(index)
        name = node.name or f"node{index}"
        outputs = tuple(
            self._edge(Value(index, position), f"{name}:{position}")
            if slot.tensor is not None or node.desc is None
            else ""
            for position, slot in enumerate(node.outputs)
        )
        if node.desc is None:
            return GraphNode(name, (), outputs, data=node.data or b"")
        inputs = []
        for position, slot in enumerate(node.inputs):
            source = self.sources.get(Port(index, position))
            if slot.tensor is not None and source is None:
                raise ValueError(f"no edge feeds {slot.path} of Nodes[{index}]")
            inputs.append("" if source is None else self.edges[source])
        return GraphNode(name, tuple(inputs), outputs, node.desc)

    def _edge(self, value: Value, name: str) -> str:
        if value not in self.edges:
            while name in self.taken:
                name += "'"
            self.taken.add(name)
            self.edges[value] = name
        return self.edges[value]


def owned_as_constants(graph: SerializedGraph, prefix: str) -> SerializedGraph:
    """The graph with its owned inputs replaced by constants in files, whose names begin with ``prefix``.

    Raises ``ValueError`` for an input that only some of its readers own.
    """
    readers: dict[str, list[TensorDesc]] = defaultdict(list)
    for node in graph.nodes:
        for slot, edge in zip(node.desc.inputs if node.desc else (), node.inputs):
            if slot.tensor is not None:
                readers[edge].append(slot.tensor)
    owned = [name for name in graph.inputs if any(tensor.is_owned_by_dml for tensor in readers[name])]
    for name in owned:
        if not all(tensor.is_owned_by_dml for tensor in readers[name]):
            raise ValueError(
                f"the graph input '{name}' is OWNED_BY_DML for some of the nodes that read it, not all"
            )
    edges = {name: f"{name}:data" for name in owned}
    constants = tuple(
        GraphNode(name, (), (edges[name],), constant=f"{prefix}.{index}") for index, name in enumerate(owned)
    )
    nodes = tuple(
        GraphNode(
            node.name,
            tuple(edges.get(edge, edge) for edge in node.inputs),
            node.outputs,
            node.desc,
            data=node.data,
        )
        for node in graph.nodes
    )
    return SerializedGraph(
        (*constants, *nodes), tuple(name for name in graph.inputs if name not in edges), graph.outputs
    )


__all__ = ["ModelError", "graph_in"]


def graph_in(path: Path) -> Graph:
    """The graph of a serialized graph, or of all dispatchables of a model.

    With several dispatchables, names of inputs and outputs begin with the dispatchable's (``gemm.ATensor``). Raises
    ``OSError`` for a file that cannot be read, ``ModelError`` for one that is neither and for what cannot be drawn.
    """
    content = read_regular(path)
    # A FlatBuffer begins with an offset below 16 MiB, so with a zero byte that text does not have.
    if b"\0" in content[:4]:
        return read_graph(content).to_graph()
    try:
        top = parse_json(content)
        if not isinstance(top, dict) or "dispatchables" not in top:
            raise ModelError("it has no dispatchables")
    except ModelError as error:
        raise ModelError(f"neither a serialized graph nor a model: {error}") from None
    return graph_of_model(parse_dispatchables(top, path.parent))


def graph_of_model(dispatchables: Mapping[str, Dispatchable]) -> Graph:
    """All dispatchables in one graph. Raises ``ModelError`` for those that are not DirectML's."""
    graph = Graph()
    for name, dispatchable in dispatchables.items():
        _content(dispatchable).add_to(graph, f"{name}." if len(dispatchables) > 1 else "")
    return graph


def _content(dispatchable: Dispatchable) -> SerializedGraph:
    if isinstance(dispatchable, ForeignDispatchable):
        raise ModelError(f"'{dispatchable.name}' cannot be drawn: {dispatchable.needs}")
    if isinstance(dispatchable, OperatorDispatchable):
        return graph_of_operator(dispatchable.desc, dispatchable.name)
    return read_graph(read_file(dispatchable.source))
