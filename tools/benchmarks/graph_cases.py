"""Compiled graphs: the overhead of a node, and the cost of a JOIN and a SPLIT between nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import directml_py as dml

from .interleaved_timing import interleaved
from .runs import OURS, Row
from .timing_samples import FLOAT32, device, scale_desc

NODES = 50
TINY = [1, 4]
WIDE = [64, 16384]


def rows() -> Iterator[Row]:
    yield tiny_nodes()
    yield from moved_data()


def graph_desc(
    operators: Sequence[Any],
    inputs: Sequence[tuple[int, int, int]],
    outputs: Sequence[tuple[int, int, int]],
    between: Sequence[tuple[int, int, int, int]],
) -> dml.DML_GRAPH_DESC:
    def edges(kind: int, struct: Any, numbers: Sequence[tuple[int, ...]]) -> list[dml.DML_GRAPH_EDGE_DESC]:
        return [dml.DML_GRAPH_EDGE_DESC(kind, struct(*entry)) for entry in numbers]

    nodes = [
        dml.DML_GRAPH_NODE_DESC(
            dml.DML_GRAPH_NODE_TYPE_OPERATOR, dml.DML_OPERATOR_GRAPH_NODE_DESC(Operator=operator)
        )
        for operator in operators
    ]
    return dml.DML_GRAPH_DESC(
        InputCount=len(inputs),
        OutputCount=len(outputs),
        Nodes=nodes,
        InputEdges=edges(dml.DML_GRAPH_EDGE_TYPE_INPUT, dml.DML_INPUT_GRAPH_EDGE_DESC, inputs),
        OutputEdges=edges(dml.DML_GRAPH_EDGE_TYPE_OUTPUT, dml.DML_OUTPUT_GRAPH_EDGE_DESC, outputs),
        IntermediateEdges=edges(
            dml.DML_GRAPH_EDGE_TYPE_INTERMEDIATE, dml.DML_INTERMEDIATE_GRAPH_EDGE_DESC, between
        ),
    )


def chain(count: int, sizes: Sequence[int]) -> Any:
    dml_device = device()
    operators = [dml_device.CreateOperator(scale_desc(sizes)) for _ in range(count)]
    between = [(index, 0, index + 1, 0) for index in range(count - 1)]
    return dml_device.CompileGraph(graph_desc(operators, [(0, 0, 0)], [(count - 1, 0, 0)], between))


def bound(compiled: Any) -> Callable[[], None]:
    """A call that runs a compiled graph with buffers of its own."""
    inputs = [np.zeros(slot.tensor.total_size, np.uint8) for slot in compiled.inputs]
    outputs = [np.zeros(slot.tensor.total_size, np.uint8) for slot in compiled.outputs]
    run: Callable[[], None] = compiled.program.bind(
        inputs, outputs, np.zeros(compiled.temporary_size, np.uint8)
    )
    return run


def tiny_nodes() -> Row:
    dml_device = device()
    single = dml_device.CompileOperator(dml_device.CreateOperator(scale_desc(TINY)))
    kernel = bound(single)

    def kernels() -> None:
        for _ in range(NODES):
            kernel()

    times = interleaved({OURS: bound(chain(NODES, TINY)), "their kernels alone": kernels})
    return Row(f"graphs {NODES} tiny nodes", times)


def moved_data() -> Iterator[Row]:
    """SPLIT into two nodes and JOIN of their outputs, compared with the two nodes and explicit copies."""
    dml_device = device()
    half = [WIDE[0], WIDE[1] // 2]
    part, whole = dml.tensor_desc(FLOAT32, half), dml.tensor_desc(FLOAT32, WIDE)
    split = dml_device.CreateOperator(dml.DML_SPLIT_OPERATOR_DESC(whole, OutputTensors=[part, part], Axis=1))
    join = dml_device.CreateOperator(
        dml.DML_JOIN_OPERATOR_DESC(InputTensors=[part, part], OutputTensor=whole, Axis=1)
    )
    node = dml_device.CreateOperator(scale_desc(half))
    graph = bound(
        dml_device.CompileGraph(
            graph_desc(
                [split, node, node, join],
                [(0, 0, 0)],
                [(3, 0, 0)],
                [(0, 0, 1, 0), (0, 1, 2, 0), (1, 0, 3, 0), (2, 0, 3, 1)],
            )
        )
    )
    calls = [bound(dml_device.CompileOperator(operator)) for operator in (split, node, node, join)]

    def one_by_one() -> None:
        for call in calls:
            call()

    def nodes_alone() -> None:
        calls[1]()
        calls[2]()

    times = interleaved({OURS: graph, "one by one": one_by_one, "the two nodes alone": nodes_alone})
    yield Row("graphs SPLIT, two nodes, JOIN: a graph", times)
