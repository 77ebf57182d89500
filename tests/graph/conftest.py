"""A graph to start from."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.graph import Graph, interleaved_channel

from ..front_ends.conftest import python as python


@pytest.fixture(scope="module")
def device():
    return dml.DMLCreateDevice(dml.D3D12CreateDevice())


@pytest.fixture
def graph(device):
    return Graph(device)


@pytest.fixture
def x(graph):
    """A graph input of FLOAT32 {1,2,6,3}."""
    return graph.input_tensor("x", dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 2, 6, 3])


@pytest.fixture
def branches(graph, x):
    """A graph with a SPLIT, a JOIN, a constant, strides, a reinterpretation and two outputs."""
    first, second, third = graph.split(x, axis=2, sizes=[2, 1, 3], name="parts")
    ones = graph.constant(np.ones((1, 2, 1, 3), np.float32), name="ones")
    graph.tensor_policy = interleaved_channel
    with graph.name_scope("left"):
        joined = graph.join([first, second * 2, ones], axis=2)
    best = graph.argmax(third, axes=[3], axis_direction=dml.DML_AXIS_DIRECTION_DECREASING)
    signed = graph.reinterpret(best, dml.DML_TENSOR_DATA_TYPE_INT32)
    total = graph.reduce(joined, function=dml.DML_REDUCE_FUNCTION_SUM, axes=[2, 3])
    graph.outputs = {"total": total, "best": graph.identity(signed)}
    return graph
