"""Builds DML_GRAPH_DESC and its nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

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

Edge: TypeAlias = "DML_INPUT_GRAPH_EDGE_DESC | DML_OUTPUT_GRAPH_EDGE_DESC | DML_INTERMEDIATE_GRAPH_EDGE_DESC"

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
    input_count: int, output_count: int, nodes: list[DML_GRAPH_NODE_DESC], edges: Iterable[Edge]
) -> DML_GRAPH_DESC:
    """A DML_GRAPH_DESC with each edge in the list of its type, in the order given."""
    lists: dict[str, Any] = {name: [] for name, _ in LISTS.values()}
    for edge in edges:
        name, kind = LISTS[type(edge)]
        lists[name].append(DML_GRAPH_EDGE_DESC(kind, edge))
    return DML_GRAPH_DESC(InputCount=input_count, OutputCount=output_count, Nodes=nodes, **lists)
