"""Random small graphs, and the verdicts of both sides.

Their tensors have few distinct sizes, so that edges can connect them, in several layouts. Graph inputs feed several
nodes, and constants have too little or too much data. No node is a pure identity: the library's handling of those is
known only for graph inputs (``dml/compiler/shared_inputs.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import directml_py as dml
from directml_py.abi.rules import Diagnostic, Severity
from directml_py.api.structs import (
    DML_GRAPH_DESC,
    DML_INPUT_GRAPH_EDGE_DESC,
    DML_INTERMEDIATE_GRAPH_EDGE_DESC,
    DML_OUTPUT_GRAPH_EDGE_DESC,
)
from directml_py.descs.decode import decode_operator_desc
from directml_py.graph.to_desc import constant_node, graph_desc, operator_node
from directml_py.hardware.real_directml import Library, Verdict
from directml_py.testing.decision_source import RandomSource

NAME = "CompileGraph"
FLOAT32, FLOAT16 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_FLOAT16
SIZES = ([1, 1, 1, 6], [1, 1, 2, 3], [1, 1, 1, 5], [1, 1, 1, 12], [1, 1, 1, 4], [1, 1, 3, 2], [1, 1, 1, 3])
GAPS: dict[tuple[int, ...], list[int]] = {(1, 1, 1, 3): [6, 6, 6, 2], (1, 1, 2, 3): [6, 6, 1, 2]}
KINDS = ("scale", "relu", "add", "join", "split", "gather")


class GraphOfDescs(NamedTuple):
    """Typed operator descs, the sizes of constants, whose nodes follow, and the edges between them."""

    descs: list[Any]
    constants: list[int]
    edges: list[Any]
    input_count: int
    output_count: int

    @property
    def name(self) -> str:
        return NAME

    def __repr__(self) -> str:
        counts = f"{self.input_count} inputs, {self.output_count} outputs"
        nodes = ", ".join(repr(decode_operator_desc(desc)[0]) for desc in self.descs)
        constants = f"; constants of {self.constants} bytes" if self.constants else ""
        return f"graph of {nodes}{constants}; {counts}; {', '.join(map(repr, self.edges))}"

    def connected(self, operators: Sequence[Any]) -> DML_GRAPH_DESC:
        nodes = [operator_node(operator, b"") for operator in operators]
        nodes += [constant_node(bytes(size), b"") for size in self.constants]
        return graph_desc(self.input_count, self.output_count, nodes, self.edges)

    def theirs(self, library: Library) -> Verdict:
        return library.validate_graph(self.descs, self.connected)

    def ours(self, level: int) -> tuple[int, list[Diagnostic]]:
        """Our HRESULT, and errors; S_OK and none for a graph that compiles."""
        device = device_at(level)
        try:
            device.CompileGraph(self.connected([device.CreateOperator(desc) for desc in self.descs]))
        except dml.DMLError as error:
            errors = [found for found in error.diagnostics if found.severity is Severity.ERROR]
            return error.hresult, errors
        return dml.S_OK, []


@cache
def device_at(level: int) -> Any:
    return dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=level)


def graph(source: RandomSource) -> GraphOfDescs:
    """A mostly valid graph: an edge or an output may be missing or of the wrong size, and a node out of order."""
    descs = [_node(source) for _ in range(source.integer(1, 4))]
    nodes = [decode_operator_desc(desc)[0] for desc in descs]
    sizes = [[slot.tensor.total_size for slot in node.outputs] for node in nodes]
    values = [(node, output) for node, outputs in enumerate(sizes) for output in range(len(outputs))]
    used: set[tuple[int, int]] = set()
    inputs, between, input_count = [], [], 0
    constants: list[int] = []
    outputs: list[Any] = []
    for index, node in enumerate(nodes):
        for input_index, slot in enumerate(node.inputs):
            fitting = [
                value
                for value in values
                if value[0] < index
                and (sizes[value[0]][value[1]] == slot.tensor.total_size or source.chance(3))
            ]
            if source.chance(1):
                fitting = values
            if fitting and source.chance(60):
                value = source.choice(fitting)
                used.add(value)
                between.append(DML_INTERMEDIATE_GRAPH_EDGE_DESC(*value, index, input_index))
            elif source.chance(15):
                size = slot.tensor.total_size
                if not constants or source.chance(80):
                    constants.append(source.choice((size, size, max(1, size - 4), 1, size + 4, 3 * size)))
                node_index = len(nodes) + source.integer(0, len(constants) - 1)
                between.append(DML_INTERMEDIATE_GRAPH_EDGE_DESC(node_index, 0, index, input_index))
            elif source.chance(98):
                position = source.integer(0, input_count)
                input_count = max(input_count, position + 1)
                inputs.append(DML_INPUT_GRAPH_EDGE_DESC(position, index, input_index))
    for value in values:
        if (value not in used and source.chance(97)) or source.chance(20):
            outputs.append(DML_OUTPUT_GRAPH_EDGE_DESC(*value, len(outputs)))
    if source.chance(50):
        inputs.reverse()
    edges = [*inputs, *outputs, *between]
    return GraphOfDescs(
        descs, constants, edges, input_count + source.chance(5), len(outputs) + source.chance(10)
    )


def _node(source: RandomSource) -> Any:
    """One operator that both sides accept."""
    kind, type = source.choice(KINDS), FLOAT32 if source.chance(85) else FLOAT16
    sizes = source.choice(SIZES)
    whole = dml.tensor_desc(type, [1, 2, *sizes[2:]])

    def tensor(is_output: bool = False) -> Any:
        strides = GAPS.get(tuple(sizes)) if source.chance(20) else None
        if not is_output and source.chance(5):
            strides = [0] * len(sizes)
        return dml.tensor_desc(type, sizes, strides)

    if kind == "join":
        return dml.DML_JOIN_OPERATOR_DESC(InputTensors=[tensor(), tensor()], OutputTensor=whole, Axis=1)
    if kind == "split":
        parts = [tensor(True), tensor(True)]
        return dml.DML_SPLIT_OPERATOR_DESC(InputTensor=whole, OutputTensors=parts, Axis=1)
    if kind == "add":
        return dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(tensor(), tensor(), tensor(True))
    if kind == "gather":
        # Without index dimensions, where the first size of the output is any.
        axis = source.integer(0, 3)
        rest = sizes[1:]
        gathered = [*rest[:axis], source.integer(1, 4), *rest[axis:]]
        indices = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, [1] * 4)
        output = dml.tensor_desc(type, [source.choice((1, 1, 2, 5)), *rest])
        return dml.DML_GATHER_OPERATOR_DESC(dml.tensor_desc(type, gathered), indices, output, axis, 0)
    if kind == "relu":
        return dml.DML_ACTIVATION_RELU_OPERATOR_DESC(tensor(), tensor(True))
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(), tensor(True), dml.DML_SCALE_BIAS(2, 1))
