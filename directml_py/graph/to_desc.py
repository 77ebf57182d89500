"""DML_GRAPH_DESC and its nodes, built from parts or from a graph, in memory or as CompileGraph decodes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from ..api.enums import (
    DML_GRAPH_EDGE_TYPE_INPUT,
    DML_GRAPH_EDGE_TYPE_INTERMEDIATE,
    DML_GRAPH_EDGE_TYPE_OUTPUT,
    DML_GRAPH_NODE_TYPE_CONSTANT,
    DML_GRAPH_NODE_TYPE_OPERATOR,
)
from ..api.structs import (
    DML_CONSTANT_DATA_GRAPH_NODE_DESC,
    DML_GRAPH_DESC,
    DML_GRAPH_EDGE_DESC,
    DML_GRAPH_NODE_DESC,
    DML_INPUT_GRAPH_EDGE_DESC,
    DML_INTERMEDIATE_GRAPH_EDGE_DESC,
    DML_OPERATOR_GRAPH_NODE_DESC,
    DML_OUTPUT_GRAPH_EDGE_DESC,
)
from ..dml import IDMLOperator
from ..dml.compiler.graph_desc import Edge, GraphDesc, GraphDescNode, GraphInput, Port, Value
from .nodes import ConstantNode, FromInput, FromNode, GraphContent, Node


class Described(NamedTuple):
    """``desc``, and the index in the graph of each of its nodes."""

    desc: DML_GRAPH_DESC
    nodes: list[int]


class DecodedGraph(NamedTuple):
    """What CompileGraph would read in a desc, and the index in the graph of each of its nodes."""

    desc: GraphDesc
    nodes: list[int]


def live_nodes(graph: GraphContent) -> list[int]:
    """The nodes that the outputs depend on."""
    needed = {value.source.node for value in graph.outputs.values() if isinstance(value.source, FromNode)}
    for index in reversed(range(len(graph.nodes))):
        if index in needed:
            sources = graph.nodes[index].inputs
            needed |= {source.node for source in sources if isinstance(source, FromNode)}
    return sorted(needed)


def decoded(graph: GraphContent, input_count: int = 0) -> DecodedGraph:
    """The graph's desc as CompileGraph decodes it, with at least ``input_count`` inputs. Raises ``ValueError`` as
    ``Graph.desc`` does."""
    if not graph.outputs:
        raise ValueError("the graph has no outputs; give them to compile() or assign them to graph.outputs")
    nodes = live_nodes(graph)
    check_outputs(graph, nodes)
    position_of = {index: position for position, index in enumerate(nodes)}
    inputs, outputs, between = list[Edge](), list[Edge](), list[Edge]()
    for index in nodes:
        for position, source in enumerate(graph.nodes[index].inputs):
            port = Port(position_of[index], position)
            if isinstance(source, FromInput):
                inputs.append(Edge(f"InputEdges[{len(inputs)}]", GraphInput(source.position), port))
            elif source is not None:
                value = Value(position_of[source.node], source.output)
                between.append(Edge(f"IntermediateEdges[{len(between)}]", value, port))
    for position, expression in enumerate(graph.outputs.values()):
        source = expression.source
        assert isinstance(source, FromNode)
        value = Value(position_of[source.node], source.output)
        outputs.append(Edge(f"OutputEdges[{position}]", value, position))
    parts = tuple(_decoded_node(position, graph.nodes[index]) for index, position in position_of.items())
    edges = tuple(inputs), tuple(outputs), tuple(between)
    least_count = max(graph.inputs, default=-1) + 1
    desc = GraphDesc(max(least_count, input_count), len(graph.outputs), parts, *edges)
    return DecodedGraph(desc, nodes)


def describe(graph: GraphContent) -> Described:
    """The graph's desc. Raises ``ValueError`` as ``Graph.desc`` does."""
    desc, nodes = decoded(graph)
    parts = [_node(graph.nodes[index]) for index in nodes]
    return Described(graph_desc(desc.input_count, desc.output_count, parts, edges_of(graph, desc)), nodes)


def edges_of(graph: GraphContent, desc: GraphDesc) -> list[EdgeDesc]:
    """The structs of the edges of the graph's ``desc``."""
    names = [name.encode() for name in graph.outputs]
    return [_edge(edge, names) for edge in desc.edges]


def check_outputs(graph: GraphContent, nodes: list[int]) -> None:
    """Check that every output of ``nodes`` is used. Raises ``ValueError`` that names unused ones."""
    used = {source for index in nodes for source in graph.nodes[index].inputs}
    used |= {value.source for value in graph.outputs.values()}
    unused = [
        f"{graph.nodes[index].name!r} output {output}"
        for index in nodes
        for output, tensor in enumerate(graph.nodes[index].outputs)
        if tensor is not None and FromNode(index, output) not in used
    ]
    if unused:
        raise ValueError(
            f"nothing uses {', '.join(unused)}; DirectML requires every output of a node to be connected, "
            "so make it an output of the graph too"
        )


def _decoded_node(position: int, node: Node) -> GraphDescNode:
    if isinstance(node, ConstantNode):
        return GraphDescNode(position, node.name, None, node.data)
    return GraphDescNode(position, node.name, node.desc)


def _edge(edge: Edge, names: list[bytes]) -> EdgeDesc:
    """The struct of an edge; ``names`` are those of the graph's outputs."""
    source, target = edge.source, edge.target
    if isinstance(source, GraphInput):
        assert isinstance(target, Port)
        return DML_INPUT_GRAPH_EDGE_DESC(source.position, *target)
    if isinstance(target, Port):
        return DML_INTERMEDIATE_GRAPH_EDGE_DESC(*source, *target)
    return DML_OUTPUT_GRAPH_EDGE_DESC(*source, target, names[target])


def _node(node: Node) -> DML_GRAPH_NODE_DESC:
    name = node.name.encode()
    return (
        constant_node(node.data, name)
        if isinstance(node, ConstantNode)
        else operator_node(node.operator, name)
    )


EdgeDesc: TypeAlias = (
    "DML_INPUT_GRAPH_EDGE_DESC | DML_OUTPUT_GRAPH_EDGE_DESC | DML_INTERMEDIATE_GRAPH_EDGE_DESC"
)

LISTS = {
    DML_INPUT_GRAPH_EDGE_DESC: ("InputEdges", DML_GRAPH_EDGE_TYPE_INPUT),
    DML_OUTPUT_GRAPH_EDGE_DESC: ("OutputEdges", DML_GRAPH_EDGE_TYPE_OUTPUT),
    DML_INTERMEDIATE_GRAPH_EDGE_DESC: ("IntermediateEdges", DML_GRAPH_EDGE_TYPE_INTERMEDIATE),
}


def operator_node(operator: IDMLOperator, name: bytes) -> DML_GRAPH_NODE_DESC:
    return DML_GRAPH_NODE_DESC(DML_GRAPH_NODE_TYPE_OPERATOR, DML_OPERATOR_GRAPH_NODE_DESC(operator, name))


def constant_node(data: Any, name: bytes) -> DML_GRAPH_NODE_DESC:
    """``data``: bytes, or an array of them."""
    constant = DML_CONSTANT_DATA_GRAPH_NODE_DESC(Data=data, Name=name)
    return DML_GRAPH_NODE_DESC(DML_GRAPH_NODE_TYPE_CONSTANT, constant)


def graph_desc(
    input_count: int, output_count: int, nodes: list[DML_GRAPH_NODE_DESC], edges: Iterable[EdgeDesc]
) -> DML_GRAPH_DESC:
    """A DML_GRAPH_DESC with each edge in the list of its type, in the order given."""
    lists: dict[str, Any] = {name: [] for name, _ in LISTS.values()}
    for edge in edges:
        name, kind = LISTS[type(edge)]
        lists[name].append(DML_GRAPH_EDGE_DESC(kind, edge))
    return DML_GRAPH_DESC(InputCount=input_count, OutputCount=output_count, Nodes=nodes, **lists)
