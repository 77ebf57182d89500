"""The rules of graphs (ns-directml-dml_graph_desc and related pages)."""

from __future__ import annotations

from ...abi.rules import LIBRARY, THIS_PACKAGE, Severity, rule

GRAPH = "ns-directml-dml_graph_desc"

EDGE_TYPE = rule("DML-Graph-edge-type", "Each list of edges holds edges of its own type", GRAPH)
# No page forbids an empty graph; but it has nothing to compile, and no binding could be described.
EMPTY = rule("DML-Graph-nodes", "A graph has at least one node and at least one output", THIS_PACKAGE)
# The page allows unconnected graph inputs and outputs, and gives no limit.
INPUT_COUNT = rule(
    "DML-Graph-input-count", "A graph has at most 65536 inputs that feed nothing", THIS_PACKAGE
)
OUTPUT_COUNT = rule(
    "DML-Graph-output-count", "A graph has at most 65536 outputs that nothing writes", THIS_PACKAGE
)
INDEX = rule(
    "DML-Graph-index",
    "An edge refers only to existing nodes, inputs and outputs of nodes, and graph inputs and outputs",
    "ns-directml-dml_graph_edge_desc",
)
FED_TWICE = rule("DML-Graph-input-fed-twice", "No input of a node is fed by two edges", GRAPH)
ABSENT = rule(
    "DML-Graph-absent-tensor", "No edge leads to or from a tensor that the operator's desc omits", GRAPH
)
UNFED = rule(
    "DML-Graph-input-unconnected", "Every input tensor that a node's operator has is connected", GRAPH
)
UNUSED = rule(
    "DML-Graph-output-unconnected",
    "Every output tensor that a node's operator has is connected",
    GRAPH,
    Severity.WARNING,
)
NODE_UNUSED = rule("DML-Graph-node-unconnected", "At least one output of every node is connected", LIBRARY)
# The page lets a graph output be connected to any number of nodes. An unconnected one has no binding.
OUTPUT_UNFED = rule("DML-Graph-graph-output-unconnected", "At least one graph output is connected", LIBRARY)
# Several nodes write their tensors to the same memory, from its first byte, and no page gives an order.
OUTPUT_SHARED = rule(
    "DML-Graph-graph-output-shared",
    "A graph output is written by one node: several write the same bytes in any order",
    GRAPH,
    Severity.WARNING,
    debug=True,
)
# No page states it, though the page requires equal total sizes of the tensors that an intermediate edge connects.
SHARED_INPUT = rule(
    "DML-Graph-shared-input",
    "Tensors fed by one graph input or constant take no more bytes than TotalTensorSizeInBytes of the first of them",
    LIBRARY,
)
COPIED = rule(
    "DML-Graph-copied-size",
    "Identities that copy a graph input to an output are at least as large as the first tensor that the input feeds",
    LIBRARY,
)
CYCLE = rule("DML-Graph-cycle", "The graph has no cycle", GRAPH)
TOTAL_SIZE = rule(
    "DML-Graph-total-size",
    "Connected tensors have the same TotalTensorSizeInBytes, whatever their types, sizes and strides",
    GRAPH,
)
PADDING = rule(
    "DML-Graph-padding",
    "A node reads only elements that its source node writes, not the bytes between them",
    GRAPH,
    Severity.WARNING,
    debug=True,
)
# DML_CONSTANT_DATA_GRAPH_NODE_DESC has no page. Microsoft's library takes any size but 0, which crashes it. ONNX
# Runtime passes only the bytes of the elements, which may be fewer than TotalTensorSizeInBytes.
CONSTANT_EMPTY = rule("DML-Graph-constant-empty", "DataSize of a constant is at least 1", THIS_PACKAGE)
# The library, which passes single elements to its shaders by value, then fails with E_UNEXPECTED.
CONSTANT_ELEMENT = rule(
    "DML-Graph-constant-element",
    "DataSize of a constant that feeds a tensor of a single stored element is at least the size of that",
    LIBRARY,
)
# The library copies the tensor's bytes from an upload buffer of DataSize bytes, and so reads beyond its end. Here these
# bytes are 0. Bytes behind the tensor's are not read.
CONSTANT_SIZE = rule(
    "DML-Graph-constant-size",
    "DataSize of a constant suffices for the elements of each input that it feeds",
    THIS_PACKAGE,
    debug=True,
)
CONSTANT_LEVEL = rule(
    "DML-Graph-constant-feature-level",
    "Constant nodes need DML_FEATURE_LEVEL_6_2",
    "dml-feature-level-history",
)
# A constant has bytes but no tensor desc, so that an output of it would have no layout.
CONSTANT_OUTPUT = rule("DML-Graph-constant-output", "A constant feeds nodes, not graph outputs", THIS_PACKAGE)
OWNED_SOURCE = rule(
    "DML-Graph-owned-source", "An input flagged OWNED_BY_DML is connected to a graph input", GRAPH
)
OWNED_ALIKE = rule(
    "DML-Graph-owned-alike",
    "All inputs connected to one graph input have the flag OWNED_BY_DML, or none does",
    GRAPH,
)
