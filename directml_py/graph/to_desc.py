"""Converts a graph to a DML_GRAPH_DESC."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..api.structs import (
    DML_GRAPH_DESC,
    DML_GRAPH_NODE_DESC,
    DML_INPUT_GRAPH_EDGE_DESC,
    DML_INTERMEDIATE_GRAPH_EDGE_DESC,
    DML_OUTPUT_GRAPH_EDGE_DESC,
)
from .desc_parts import Edge, constant_node, graph_desc, operator_node
from .nodes import ConstantNode, FromInput, FromNode, Node

if TYPE_CHECKING:
    from .graph import Graph


class Described(NamedTuple):
    """``desc``, and the index in the graph of each of its nodes."""

    desc: DML_GRAPH_DESC
    nodes: list[int]


def live_nodes(graph: Graph) -> list[int]:
    """The nodes that the outputs depend on."""
    needed = {value.source.node for value in graph.outputs.values() if isinstance(value.source, FromNode)}
    for index in reversed(range(len(graph.nodes))):
        if index in needed:
            sources = graph.nodes[index].inputs
            needed |= {source.node for source in sources if isinstance(source, FromNode)}
    return sorted(needed)


def describe(graph: Graph) -> Described:
    """The graph's desc. Raises ``ValueError`` as ``Graph.desc`` does."""
    if not graph.outputs:
        raise ValueError("the graph has no outputs; give them to compile() or assign them to graph.outputs")
    nodes = live_nodes(graph)
    check_outputs(graph, nodes)
    parts = [_node(graph.nodes[index]) for index in nodes]
    desc = graph_desc(max(graph.inputs, default=-1) + 1, len(graph.outputs), parts, edges_of(graph, nodes))
    return Described(desc, nodes)


def edges_of(graph: Graph, nodes: list[int]) -> list[Edge]:
    """The edges, whose node indices are places in ``nodes``."""
    position_of = {index: position for position, index in enumerate(nodes)}
    edges: list[Edge] = []
    for index in nodes:
        for position, source in enumerate(graph.nodes[index].inputs):
            if isinstance(source, FromInput):
                edges.append(DML_INPUT_GRAPH_EDGE_DESC(source.position, position_of[index], position))
            elif source is not None:
                ends = position_of[source.node], source.output, position_of[index], position
                edges.append(DML_INTERMEDIATE_GRAPH_EDGE_DESC(*ends))
    for position, (name, value) in enumerate(graph.outputs.items()):
        source = value.source
        assert isinstance(source, FromNode)
        edges.append(
            DML_OUTPUT_GRAPH_EDGE_DESC(position_of[source.node], source.output, position, name.encode())
        )
    return edges


def check_outputs(graph: Graph, nodes: list[int]) -> None:
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


def _node(node: Node) -> DML_GRAPH_NODE_DESC:
    name = node.name.encode()
    return (
        constant_node(node.data, name)
        if isinstance(node, ConstantNode)
        else operator_node(node.operator, name)
    )
