"""Graph descriptions for the tests, and running them on arrays."""

from __future__ import annotations

import numpy as np

import directml_py as dml
from directml_py.session import Session

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


class Graphs:
    """A device with shorthands for its operators and for DML_GRAPH_DESCs of them."""

    def __init__(self, level=dml.DML_FEATURE_LEVEL_6_4):
        self.d3d12 = dml.D3D12CreateDevice()
        self.device = dml.DMLCreateDevice(self.d3d12, feature_level=level)

    def scale(self, sizes, scale=2.0, bias=1.0, **kwargs):
        """An identity that computes, so that the compiler cannot fold it."""
        x = dml.tensor_desc(FLOAT32, sizes, **kwargs)
        y = dml.tensor_desc(FLOAT32, sizes)
        return self.operator(
            dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, y, dml.DML_SCALE_BIAS(scale, bias))
        )

    def running(self, sizes, axis=1):
        """Cumulative sums: a node that computes and is not fused."""
        desc = dml.tensor_desc(FLOAT32, sizes)
        return self.operator(
            dml.DML_CUMULATIVE_SUMMATION_OPERATOR_DESC(desc, desc, axis, dml.DML_AXIS_DIRECTION_INCREASING)
        )

    def identity(self, sizes, in_strides=None, out_strides=None):
        x = dml.tensor_desc(FLOAT32, sizes, in_strides)
        return self.operator(
            dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, dml.tensor_desc(FLOAT32, sizes, out_strides))
        )

    def join(self, parts, whole, axis):
        descs = [dml.tensor_desc(FLOAT32, part) for part in parts]
        return self.operator(
            dml.DML_JOIN_OPERATOR_DESC(
                InputTensors=descs, OutputTensor=dml.tensor_desc(FLOAT32, whole), Axis=axis
            )
        )

    def split(self, whole, parts, axis):
        descs = [dml.tensor_desc(FLOAT32, part) for part in parts]
        return self.operator(
            dml.DML_SPLIT_OPERATOR_DESC(dml.tensor_desc(FLOAT32, whole), OutputTensors=descs, Axis=axis)
        )

    def sum(self, sizes, axis):
        out = [1 if index == axis else size for index, size in enumerate(sizes)]
        return self.operator(
            dml.DML_REDUCE_OPERATOR_DESC(
                dml.DML_REDUCE_FUNCTION_SUM,
                dml.tensor_desc(FLOAT32, sizes),
                dml.tensor_desc(FLOAT32, out),
                Axes=[axis],
            )
        )

    def operator(self, desc):
        return self.device.CreateOperator(desc)

    def compile(self, *arguments, **kwargs):
        return self.device.CompileGraph(graph(*arguments, **kwargs))

    def run(self, compiled, *arrays):
        return Session(self.device).evaluate(compiled, arrays)


def node(content, name=None):
    if isinstance(content, np.ndarray):
        desc = dml.DML_CONSTANT_DATA_GRAPH_NODE_DESC(Data=content, Name=name)
        return dml.DML_GRAPH_NODE_DESC(dml.DML_GRAPH_NODE_TYPE_CONSTANT, desc)
    desc = dml.DML_OPERATOR_GRAPH_NODE_DESC(Operator=content, Name=name)
    return dml.DML_GRAPH_NODE_DESC(dml.DML_GRAPH_NODE_TYPE_OPERATOR, desc)


def edges(kind, struct, numbers):
    return [dml.DML_GRAPH_EDGE_DESC(kind, struct(*entry)) for entry in numbers]


def graph(nodes, inputs, outputs, between=(), input_count=None, output_count=None):
    """``inputs``: (graph input, node, input); ``outputs``: (node, output, graph output); ``between``: (node, output,
    node, input). The counts are the highest indices named, plus one."""
    if input_count is None:
        input_count = 1 + max((entry[0] for entry in inputs), default=-1)
    if output_count is None:
        output_count = 1 + max((entry[2] for entry in outputs), default=-1)
    return dml.DML_GRAPH_DESC(
        InputCount=input_count,
        OutputCount=output_count,
        Nodes=[node(content) for content in nodes],
        InputEdges=edges(dml.DML_GRAPH_EDGE_TYPE_INPUT, dml.DML_INPUT_GRAPH_EDGE_DESC, inputs),
        OutputEdges=edges(dml.DML_GRAPH_EDGE_TYPE_OUTPUT, dml.DML_OUTPUT_GRAPH_EDGE_DESC, outputs),
        IntermediateEdges=edges(
            dml.DML_GRAPH_EDGE_TYPE_INTERMEDIATE, dml.DML_INTERMEDIATE_GRAPH_EDGE_DESC, between
        ),
    )
