"""Compiled graphs give the same results as their nodes one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from toolchain import later

import directml_py as dml

from .random_graphs import random_graph, random_inputs, run_one_by_one

GRAPHS = 600
BATCH = 50


@pytest.mark.parametrize("first", [0, BATCH, *later(*range(2 * BATCH, GRAPHS, BATCH))])
def test_graphs_against_their_nodes(device, first):
    """Bit-exactly: sums of the small numbers used here do not depend on their order."""
    for seed in range(first, first + BATCH):
        graph = random_graph(seed, device=device)
        inputs = random_inputs(graph, seed)
        found, expected = graph.compile().run(inputs), run_one_by_one(graph, inputs)
        for (name, value), one, other in zip(graph.outputs.items(), found, expected, strict=True):
            np.testing.assert_array_equal(one, other, f"graph {seed}, {name}: {value}")


MOVING = ("ARGMAX", "ARGMIN", "ELEMENT_WISE_IDENTITY", "GATHER", "JOIN", "REDUCE", "SPLIT")


def test_the_graphs_are_what_they_should_be(device):
    """Every operator, every kind of source, views, strides, shared values, nodes that fold; up to 40 nodes."""
    kinds, seen, longest = Counter(), Counter(), 0
    for seed in range(100):
        graph = random_graph(seed, device=device)
        longest = max(longest, len(graph.nodes))
        kinds.update(node.kind for node in graph.nodes)
        sources = Counter(source for node in graph.nodes for source in node.inputs)
        outputs = Counter(value.source for value in graph.outputs.values())
        seen["shared"] += any(count > 1 for count in sources.values())
        seen["output twice"] += any(count > 1 for count in outputs.values())
        seen["output and input"] += any(source in sources for source in outputs)
        seen["owned"] += any(one.desc.is_owned_by_dml for one in graph.inputs.values())
        seen["broadcast"] += any(0 in (one.desc.strides or ()) for one in graph.inputs.values())
        seen["strided"] += any(
            tensor is not None and tensor.strides is not None
            for node in graph.nodes
            for tensor in node.outputs
        )
        seen["folded"] += any(step.folded for step in graph.compile().plan.steps)
    assert set(kinds) == {*MOVING, "CONSTANT"}
    assert longest in range(38, 45)
    assert all(seen[what] >= 5 for what in seen), seen


def test_a_graph_of_many_small_nodes_is_one_dispatch(device):
    """The order of creation need not be the order of the list: later nodes may come first if dependencies allow."""
    graph = random_graph(7, device=device)
    inputs = random_inputs(graph, 7)
    backwards = dict(reversed(graph.outputs.items()))
    expected = graph.compile().run(inputs)
    found = graph.compile(backwards).run(inputs)
    for one, other in zip(reversed(found), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert isinstance(graph.compile().operator, dml.IDMLCompiledOperator)
