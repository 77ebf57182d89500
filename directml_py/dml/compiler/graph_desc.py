"""DML_GRAPH_DESC, decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from ...abi.interface import IUnknown
from ...api.enums import (
    DML_GRAPH_EDGE_TYPE,
    DML_GRAPH_EDGE_TYPE_INPUT,
    DML_GRAPH_EDGE_TYPE_INTERMEDIATE,
    DML_GRAPH_EDGE_TYPE_OUTPUT,
    DML_GRAPH_NODE_TYPE_CONSTANT,
)
from ...descs.decode import decode_struct
from ...descs.operator_desc import OperatorDesc, Record, TensorSlot
from ...descs.tensor import TensorDesc
from ...late import lazy
from ...validation.decode_rules import check_faults
from ...validation.report import Report
from .graph_rules import EDGE_TYPE


class Value(NamedTuple):
    """One output of a node."""

    node: int
    output: int


class Port(NamedTuple):
    """One input of a node."""

    node: int
    input: int


class GraphInput(NamedTuple):
    position: int


class Edge(NamedTuple):
    """A connection; ``path`` locates it in the desc. ``target`` is a graph output's index or a port."""

    path: str
    source: Value | GraphInput
    target: Port | int


@dataclass(frozen=True)
class GraphDescNode:
    """An operator, or constant data; ``name`` is the desc's name for it."""

    index: int
    name: str
    desc: OperatorDesc | None
    data: bytes | None = None

    @lazy
    def inputs(self) -> tuple[TensorSlot, ...]:
        return self.desc.inputs if self.desc is not None else ()

    @lazy
    def outputs(self) -> tuple[TensorSlot, ...]:
        """The output tensors; a constant has one, whose tensor desc comes from its consumers."""
        return self.desc.outputs if self.desc is not None else (TensorSlot("Data", "Data", None),)

    @property
    def title(self) -> str:
        kind = self.desc.schema.type_name if self.desc is not None else "a constant"
        return f"{kind} {self.name!r}" if self.name else kind


@dataclass(frozen=True)
class GraphDesc:
    """A decoded DML_GRAPH_DESC. Nodes that could not be read are None."""

    input_count: int
    output_count: int
    nodes: tuple[GraphDescNode | None, ...]
    input_edges: tuple[Edge, ...]
    output_edges: tuple[Edge, ...]
    intermediate_edges: tuple[Edge, ...]

    @property
    def edges(self) -> tuple[Edge, ...]:
        return (*self.input_edges, *self.output_edges, *self.intermediate_edges)

    @lazy
    def writers(self) -> Mapping[int, Sequence[Value]]:
        """The values connected to each graph output, in the order of the edges; unconnected outputs are left out."""
        writers: dict[int, list[Value]] = {}
        for edge in self.output_edges:
            assert isinstance(edge.source, Value)
            assert isinstance(edge.target, int)
            writers.setdefault(edge.target, []).append(edge.source)
        return writers

    def node(self, index: int) -> GraphDescNode:
        """The node at ``index`` of a valid desc."""
        node = self.nodes[index]
        assert node is not None
        return node

    def input_tensor(self, port: Port) -> TensorDesc:
        tensor = self.node(port.node).inputs[port.input].tensor
        assert tensor is not None
        return tensor

    def output_tensor(self, value: Value) -> TensorDesc | None:
        """None for a constant."""
        return self.node(value.node).outputs[value.output].tensor


# From an object that a node names as its operator, and its path, the operator's desc; None after reporting another.
ReadOperator: TypeAlias = Callable[[IUnknown, str, Report], OperatorDesc | None]


def read_graph_desc(read_operator: ReadOperator, value: Any, report: Report) -> GraphDesc | None:
    """Decode the graph that ``value`` is or points to, reporting unreadable parts; a ``GraphDesc`` is returned
    unchanged."""
    if isinstance(value, GraphDesc):
        return value
    record, faults = decode_struct(value, "DML_GRAPH_DESC")
    check_faults(faults, report)
    if not isinstance(record, Record):
        return None
    nodes = tuple(
        _node(read_operator, index, entry, report) if isinstance(entry, Record) else None
        for index, entry in enumerate(record.Nodes or ())
    )
    return GraphDesc(
        record.InputCount,
        record.OutputCount,
        nodes,
        _edges(record.InputEdges, "InputEdges", DML_GRAPH_EDGE_TYPE_INPUT, report),
        _edges(record.OutputEdges, "OutputEdges", DML_GRAPH_EDGE_TYPE_OUTPUT, report),
        _edges(
            record.IntermediateEdges,
            "IntermediateEdges",
            DML_GRAPH_EDGE_TYPE_INTERMEDIATE,
            report,
        ),
    )


def _node(read_operator: ReadOperator, index: int, entry: Record, report: Report) -> GraphDescNode | None:
    inner = entry.Desc
    if inner is None:
        return None
    if entry.Type == DML_GRAPH_NODE_TYPE_CONSTANT:
        return None if inner.Data is None else GraphDescNode(index, inner.Name or "", None, inner.Data)
    operator: IUnknown | None = inner.Operator
    if operator is None:
        return None
    desc = read_operator(operator, f"Nodes[{index}].Operator", report)
    return None if desc is None else GraphDescNode(index, inner.Name or "", desc)


def _edges(
    records: tuple[Record | None, ...] | None, name: str, kind: DML_GRAPH_EDGE_TYPE, report: Report
) -> tuple[Edge, ...]:
    edges = []
    for index, entry in enumerate(records or ()):
        path = f"{name}[{index}]"
        if entry is None or entry.Desc is None:
            continue
        if entry.Type != kind:
            report.add(EDGE_TYPE, f"{path}.Type", f"is {entry.Type.name}; edges in {name} are {kind.name}")
            continue
        edges.append(_edge(path, kind, entry.Desc))
    return tuple(edges)


def _edge(path: str, kind: DML_GRAPH_EDGE_TYPE, desc: Record) -> Edge:
    if kind == DML_GRAPH_EDGE_TYPE_INPUT:
        return Edge(path, GraphInput(desc.GraphInputIndex), Port(desc.ToNodeIndex, desc.ToNodeInputIndex))
    source = Value(desc.FromNodeIndex, desc.FromNodeOutputIndex)
    if kind == DML_GRAPH_EDGE_TYPE_OUTPUT:
        return Edge(path, source, desc.GraphOutputIndex)
    return Edge(path, source, Port(desc.ToNodeIndex, desc.ToNodeInputIndex))
