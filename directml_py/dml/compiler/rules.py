"""The rules of graphs (ns-directml-dml_graph_desc and its neighbours)."""

from __future__ import annotations

from ...validation.rule import rule

GRAPH = "ns-directml-dml_graph_desc"

EDGE_TYPE = rule("DML-Graph-edge-type", "Each list of edges holds edges of its own type", GRAPH)
EMPTY = rule("DML-Graph-nodes", "A graph has at least one node and at least one output", GRAPH)
INDEX = rule(
    "DML-Graph-index",
    "An edge names nodes, their inputs and outputs, and graph inputs and outputs that exist",
    "ns-directml-dml_graph_edge_desc",
)
FED_TWICE = rule("DML-Graph-input-fed-twice", "No input of a node is fed by two edges", GRAPH)
ABSENT = rule(
    "DML-Graph-absent-tensor", "No edge leads to or from a tensor that the operator's desc leaves out", GRAPH
)
UNFED = rule(
    "DML-Graph-input-unconnected", "Every input tensor that a node's operator has is connected", GRAPH
)
UNUSED = rule(
    "DML-Graph-output-unconnected", "Every output tensor that a node's operator has is connected", GRAPH
)
OUTPUT_ONCE = rule("DML-Graph-graph-output-once", "Every graph output is connected exactly once", GRAPH)
CYCLE = rule("DML-Graph-cycle", "The graph has no cycle", GRAPH)
TOTAL_SIZE = rule(
    "DML-Graph-total-size",
    "Connected tensors have the same TotalTensorSizeInBytes, whatever their types, sizes and strides",
    GRAPH,
)
CONSTANT_SIZE = rule(
    "DML-Graph-constant-size",
    "DataSize of a constant is the TotalTensorSizeInBytes of the inputs that it is connected to",
    "ns-directml-dml_constant_data_graph_node_desc",
)
CONSTANT_LEVEL = rule(
    "DML-Graph-constant-feature-level",
    "Constant nodes need DML_FEATURE_LEVEL_6_2",
    "dml-feature-level-history",
)
CONSTANT_OUTPUT = rule(
    "DML-Graph-constant-output",
    "A constant feeds nodes, not graph outputs",
    "ns-directml-dml_constant_data_graph_node_desc",
)
OWNED_SOURCE = rule(
    "DML-Graph-owned-source", "An input flagged OWNED_BY_DML is connected to a graph input", GRAPH
)
OWNED_ALIKE = rule(
    "DML-Graph-owned-alike",
    "All inputs connected to one graph input have the flag OWNED_BY_DML, or none has",
    GRAPH,
)
