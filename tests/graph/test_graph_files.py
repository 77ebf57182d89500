"""Graphs in files: serialized, and read again, they are the same graphs."""

from __future__ import annotations

import numpy as np
import pytest
from toolchain import later

import directml_py as dml
from directml_py import dxdispatch
from directml_py.graph import Expression, Graph

from .random_graphs import laid_out, random_graph, random_inputs


@pytest.mark.parametrize("first", [0, 20, *later(40, 60, 80)])
def test_nothing_is_lost(device, tmp_path, first):
    for seed in range(first, first + 20):
        graph = random_graph(seed, device=device)
        # A value has one name in the format, so is one output, and the tensor of its node.
        graph.outputs = {
            name: Expression(graph, source, graph.nodes[source.node].outputs[source.output])
            for source, name in {value.source: name for name, value in graph.outputs.items()}.items()
        }
        inputs = random_inputs(graph, seed)
        dxdispatch.save_graph(tmp_path / "graph.bin", graph, inputs)
        found = dxdispatch.load_graph(tmp_path / "graph.bin", device)
        assert list(found.outputs) == list(graph.outputs)
        # What DirectML owns comes behind the inputs that are bound; each is the tensor of its first reader.
        memory = {one.name: laid_out(one.desc, array) for one, array in zip(graph.inputs.values(), inputs)}
        read = {one.name: one.desc.load(memory[one.name]) for one in found.inputs.values()}
        results = found.compile().run(read)
        for one, other in zip(results.values(), graph.compile().run(inputs), strict=True):
            np.testing.assert_array_equal(one, other)


def test_constants_keep_their_types_and_shapes(tmp_path):
    graph = Graph()
    arrays = [np.zeros((1, 4), np.float32), np.zeros((1, 4), np.int32), np.zeros((4, 1), np.int32)]
    graph.outputs = [graph.identity(graph.constant(array)) for array in arrays]
    dxdispatch.save_graph(tmp_path / "g.bin", graph)
    found = dxdispatch.load_graph(tmp_path / "g.bin")
    tensors = [{node.name: node.outputs[0] for node in one.nodes} for one in (found, graph)]
    assert tensors[0] == tensors[1]


def test_a_missing_file(tmp_path):
    with pytest.raises(dxdispatch.ModelError, match="No such file"):
        dxdispatch.load_graph(tmp_path / "no.bin")


def test_a_device_that_refuses(branches, tmp_path):
    """The desc is valid, but the device too old."""
    dxdispatch.save_graph(tmp_path / "g.bin", branches)
    old = dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=dml.DML_FEATURE_LEVEL_2_1)
    with pytest.raises(dxdispatch.ModelError, match=r"(?s)'argmax0'.*DML_FEATURE_LEVEL_3_0"):
        dxdispatch.load_graph(tmp_path / "g.bin", old)
