"""Warnings of a debug device about graphs that still compile."""

from __future__ import annotations

import numpy as np

import directml_py as dml
from directml_py.dml.compiler import graph_rules  # noqa: F401  (declared when the first graph is compiled)

from ..dml.graphs import FLOAT32, graph
from ..operators.helpers import tensor
from .hazard import hazard

S = [2, 2]


def identity(bench, source, target, scale=2.0):
    """An identity with a scale, so that it is not elided."""
    bias = dml.DML_SCALE_BIAS(scale, 0)
    return bench.dml.CreateOperator(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(source, target, bias))


def packed(*sizes, **rest):
    return dml.tensor_desc(FLOAT32, sizes, **rest)


@hazard("DML-Graph-graph-output-shared", "graph output 0", "2 nodes", path="OutputEdges")
def two_nodes_for_one_output(bench, wrong):
    nodes = [identity(bench, packed(*S), packed(*S)) for _ in range(2)]
    outputs = [(0, 0, 0), (1, 0, 0 if wrong else 1)]
    bench.dml.CompileGraph(graph(nodes, [(0, 0, 0), (0, 1, 0)], outputs))


@hazard("DML-Graph-constant-size", "has elements of 16 bytes", path="Nodes[0].DataSize", ways=(12, 1))
def a_constant_that_is_too_short(bench, wrong):
    """Microsoft's library compiles it, and copies 16 bytes out of its upload buffer of so many."""
    data = np.zeros(wrong or 16, np.uint8)
    nodes = [data, identity(bench, packed(*S), packed(*S))]
    bench.dml.CompileGraph(graph(nodes, [], [(1, 0, 0)], [(0, 0, 1, 0)]))


@hazard("DML-Graph-padding", "DML_OPERATOR_ELEMENT_WISE_IDENTITY", path="Nodes[1].InputTensor")
def a_consumer_that_reads_between_the_rows(bench, wrong):
    """Rows of two with a stride of three: as one row of five, the third element is padding; as columns it is unread."""
    rows = packed(2, 2, strides=[3, 1])
    seen = packed(1, 5) if wrong else packed(2, 2, strides=[1, 3])
    sizes = (1, 5) if wrong else (2, 2)
    nodes = [identity(bench, packed(2, 2), rows), identity(bench, seen, packed(*sizes))]
    bench.dml.CompileGraph(graph(nodes, [(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 0)]))


@hazard("DML-Graph-padding", path="Nodes[1].InputTensor")
def a_consumer_that_reads_what_rounding_up_added(bench, wrong):
    """Three halves take 6 bytes of 8."""
    half = lambda count: dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT16, [1, count])  # noqa: E731
    count = 4 if wrong else 3
    nodes = [identity(bench, half(3), half(3)), identity(bench, half(count), half(count))]
    bench.dml.CompileGraph(graph(nodes, [(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 0)]))


@hazard("DML-GATHER-index-range", "6 at {1}", path="Nodes[1].IndicesTensor")
def an_index_that_a_node_computed(bench, wrong):
    """The indices are computed by another node, so they are checked at execution time."""
    indices = tensor("INT32", [2])
    doubled = dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(indices, indices, indices)
    gather = dml.DML_GATHER_OPERATOR_DESC(packed(4), indices, packed(2), 0, 1)
    nodes = [bench.dml.CreateOperator(doubled), bench.dml.CreateOperator(gather)]
    edges = [(0, 0, 0), (0, 0, 1), (1, 1, 0)]
    op = bench.keep(bench.dml.CompileGraph(graph(nodes, edges, [(1, 0, 0)], [(0, 0, 1, 1)])))
    bench.initialize(op)
    given = bench.buffer(8, data=np.array([0, 3 if wrong else 1], np.int32))
    bench.dispatch(op, [given, bench.holding(1, 2, 3, 4)], [bench.buffer(8)])
    bench.execute()
