"""Calls that break documentation-only rules: Microsoft's library accepts them, and so does a non-strict device."""

from __future__ import annotations

import directml_py as dml

from ..dml.graphs import graph
from ..dml.helpers import binding, identity, join, log_sum_exp, power, span, spans, split, tensor
from .registry import tolerated

KEY = dml.GUID("00112233-4455-6677-8899-aabbccddeeff")
MINIMUM = "DML-CreateDevice-minimum-feature-level-known"
TYPES = dml.DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT


def creating(bench, minimum):
    return lambda: dml.DMLCreateDevice1(bench.d3d12, 0, minimum, profile=bench.dml.profile)


@tolerated(MINIMUM, "minimumFeatureLevel")
def a_minimum_level_between_two(bench, wrong):
    return creating(bench, 0x2200 if wrong else 0x2100)


@tolerated(MINIMUM, "minimumFeatureLevel")
def no_minimum_level(bench, wrong):
    return creating(bench, 0 if wrong else 0x1000)


@tolerated("DML-SetPrivateData-null-size", "dataSize")
def a_size_without_data(bench, wrong):
    thing = bench.dml.CreateOperator(identity())
    return lambda: thing.SetPrivateData(KEY, 4 if wrong else 0, None)


@tolerated("DML-CheckFeatureSupport-exact-size", "featureQueryDataSize")
def the_size_of_another_query(bench, wrong):
    query = dml.DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT(1)
    answer = dml.DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT()
    return lambda: bench.dml.CheckFeatureSupport(TYPES, 16 if wrong else 4, query, 4, answer)


@tolerated("DML-BufferBinding-dwords", "bindings[0].SizeInBytes")
def an_input_of_broken_dwords(bench, wrong):
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(32)
    return lambda: table.BindInputs([binding(buffer, 0, 18 if wrong else 20)])


@tolerated("DML-BufferBinding-dwords", "binding.SizeInBytes")
def a_temporary_of_broken_dwords(bench, wrong):
    table, buffer = bench.table(bench.compile(log_sum_exp())), bench.buffer(1024)
    return lambda: table.BindTemporaryResource(binding(buffer, 0, 1023 if wrong else 1024))


@tolerated("DML-Binding-in-place-unlisted", "outputs[0]")
def a_power_in_place_of_the_exponent(bench, wrong):
    op, buffer, other = bench.compile(power(4)), bench.buffer(16), bench.buffer(16)
    table = bench.table(op, [other, buffer] if wrong else [buffer, other], [buffer])
    return lambda: bench.record(op, table)


@tolerated("DML-Binding-in-place-unlisted", "outputs[0]")
def a_graph_that_transposes_on_the_way(bench, wrong):
    """The first node writes rows, the second reads columns of what it wrote."""
    x = tensor(3, 3)
    y = tensor(3, 3, strides=[9, 9, 1, 3]) if wrong else x
    scaling = dml.DML_SCALE_BIAS(3, 1)
    nodes = [
        bench.dml.CreateOperator(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(one, x, scaling))
        for one in (x, y)
    ]
    op = bench.dml.CompileGraph(graph(nodes, [(0, 0, 0)], [(1, 0, 0)], [(0, 0, 1, 0)]))
    buffer, temporary = bench.buffer(36), bench.temporary(op)
    bench.initialize(op)
    table = bench.table(op, [buffer], [buffer], temporary=temporary)
    return lambda: bench.record(op, table)


@tolerated("DML-Binding-ranges-overlap", "outputs[0]")
def rows_between_those_of_the_input(bench, wrong):
    """Of 8 rows of 16 bytes, every second is read and every other written."""
    x = tensor(4, 4, strides=[32, 32, 8, 1])
    op, buffer = bench.compile(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, x)), bench.buffer(256)
    bench.initialize(op)
    table = bench.table(op, [binding(buffer, 0, 112)], [binding(buffer, 16 if wrong else 128, 112)])
    return lambda: bench.record(op, table)


@tolerated("DML-Binding-ranges-overlap", "outputs[1]")
def columns_between_those_of_another_output(bench, wrong):
    one = tensor(2, 4, strides=[16, 16, 8, 1])
    op = bench.compile(dml.DML_SPLIT_OPERATOR_DESC(tensor(2, 8), OutputTensors=[one, one], Axis=3))
    bench.initialize(op)
    buffer = bench.buffer(128)
    outputs = [binding(buffer, 0, 48), binding(buffer, 16 if wrong else 48, 48)]
    table = bench.table(op, [bench.buffer(64)], outputs)
    return lambda: bench.record(op, table)


@tolerated("DML-Binding-initializer-resource", "outputs[0]")
def the_persistent_resource_beside_an_owned_input(bench, wrong):
    """The ranges are disjoint: at initialization the page looks at resources alone."""
    op, buffer = bench.compile(join(4, owned=[0])), bench.buffer(1024)
    initializer = bench.dml.CreateOperatorInitializer([op])
    outputs = [binding(buffer if wrong else bench.buffer(1024), 512, 256)]
    table = bench.table(initializer, [spans(span(buffer, 0, 16))], outputs)
    return lambda: bench.record(initializer, table)


@tolerated("DML-Graph-output-unconnected", "Nodes[0].OutputTensors[1]")
def an_unconnected_output_of_a_node(bench, wrong):
    node = bench.dml.CreateOperator(split(4, 4))
    outputs = [(0, 0, 0)] if wrong else [(0, 0, 0), (0, 1, 1)]
    return lambda: bench.dml.CompileGraph(graph([node], [(0, 0, 0)], outputs))
