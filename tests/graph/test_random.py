"""Compiled graphs give the results of their nodes one by one, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import monotonic

import numpy as np
import pytest
from toolchain import later

import directml_py as dml
from directml_py.graph.nodes import FromNode
from directml_py.kernels.backend import backend, set_thread_count, thread_count
from directml_py.operators import SCHEMAS
from directml_py.session import Session

from .any_graph import differing, evaluate, program_of, same_bits, shrunk
from .drawing import drawn
from .random_graphs import random_graph, random_inputs

ROOT = Path(__file__).resolve().parents[2]
THREADS = (1, 2, 7)
GRAPHS, BATCH = 200, 20
# Nodes that are recorded one by one take several times as long as those that are evaluated.
RECORDED = 8
COUNTED = 100
IN_NUMPY = 12
SLOW_SECONDS = 300
HIGHEST = max(dml.DML_FEATURE_LEVEL)


def new_device():
    return dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=HIGHEST)


@pytest.fixture(scope="module")
def bench():
    return new_device()


@pytest.fixture(autouse=True)
def threads():
    before = thread_count()
    yield
    set_thread_count(before)


def outputs_that_differ(made, device, threads=THREADS):
    """The outputs of the compiled graph that differ from those of its nodes, with any number of threads, with
    the last one in place of inputs where they may be."""
    memory = made.run_one_by_one(evaluate)
    compiled = made.compile(device)
    wrong = []
    for count in threads:
        set_thread_count(count)
        in_place = made.in_place() if count == threads[-1] else None
        wrong += differing(made, made.run(device, compiled, in_place), memory)
        if compiled.persistent_size:
            # It was initialized with the inputs that it owns, and is so only once.
            compiled = made.compile(device)
    return wrong


def check(seed, device):
    """Raises ``AssertionError`` with a program that shows the difference."""
    made = drawn(seed)
    if outputs_that_differ(made, device):
        small = shrunk(made, lambda smaller: bool(outputs_that_differ(smaller, device)))
        raise AssertionError(f"graph {seed}; this differs:\n{program_of(small)}")


def check_recorded(seed, device):
    """Every node by itself: evaluated, and as a dispatch that is recorded."""

    def recorded(desc, arrays):
        return Session(device).evaluate(device.CompileOperator(device.CreateOperator(desc)), arrays)

    made = drawn(seed)
    one, other = (made.run_one_by_one(execute) for execute in (evaluate, recorded))
    for value in made.outputs:
        tensor, desc = made.tensor(value), made.nodes[value.node].desc
        if desc.name != "NONZERO_COORDINATES":
            same = same_bits(tensor.load(one[value]), tensor.load(other[value]))
            assert same, f"graph {seed}, output {value.output} of {desc}"


@pytest.mark.parametrize("first", [0, *later(*range(BATCH, GRAPHS, BATCH))])
def test_graphs_against_their_nodes(bench, first):
    for seed in range(first, first + BATCH):
        check(seed, bench)


def test_nodes_that_are_recorded(bench):
    for seed in range(RECORDED):
        check_recorded(seed, bench)


@pytest.mark.slow
@pytest.mark.kind_device
def test_graphs_in_numpy():
    """Without native kernels, in a process of its own: which kernels run is decided once."""
    program = (
        f"import sys; sys.path[:] = {sys.path!r}; from tests.graph.test_random import *; in_numpy({IN_NUMPY})"
    )
    variables = {**os.environ, "DIRECTML_PY_KERNELS": "numpy"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def in_numpy(count):
    assert backend.native is None
    device = new_device()
    for seed in range(count):
        check(seed, device)


@pytest.mark.slow
def test_as_many_graphs_as_there_is_time_for(bench):
    end, seed = monotonic() + SLOW_SECONDS, GRAPHS
    while monotonic() < end:
        check(seed, bench)
        if seed % 10 == 0:
            check_recorded(seed, bench)
        seed += 1


def test_the_graphs_are_what_they_should_be(bench):
    """Nearly all operators in these few already, and everything that the compiler does with them."""
    kinds, seen, longest = Counter(), Counter(), 0
    for seed in range(COUNTED):
        made = drawn(seed)
        descs = [node.desc for node in made.nodes if node.desc is not None]
        kinds.update(desc.name for desc in descs)
        longest = max(longest, len(made.nodes))
        sources = Counter(source for node in made.nodes for source in node.sources if source is not None)
        seen["constant"] += len(descs) < len(made.nodes)
        seen["read twice"] += any(count > 1 for count in sources.values())
        seen["output and read"] += any(value in sources for value in made.kept)
        seen["owned"] += any(tensor.is_owned_by_dml for tensor, _ in made.inputs)
        seen["strided output"] += any(
            desc.outputs[0].tensor.strides for desc in descs if desc.outputs[0].tensor
        )
        seen["fused activation"] += any(dict(desc).get("FusedActivation") is not None for desc in descs)
        seen["cast"] += any(desc.name == "CAST" for desc in descs)
        seen["read as other sizes"] += any(
            made.tensor(source).sizes != slot.tensor.sizes
            for node in made.nodes
            if node.desc is not None
            for slot, source in zip(node.desc.inputs, node.sources)
            if isinstance(source, FromNode) and made.nodes[source.node].desc is not None
        )
        if seed % 2 == 0:
            plan = made.compile(bench).program.plan
            seen["folded"] += any(step.folded for step in plan.steps)
            seen["prepacked"] += bool(plan.packed.inputs)
            seen["in place"] += bool(made.in_place())
            seen["fused"] += any(step.fused is not None for step in plan.steps)
            post_ops = [one for step in plan.steps for one in step.post_ops]
            for kind in ("Fused", "Normalized"):
                seen[f"post-op {kind}"] += any(type(one).__name__ == kind for one in post_ops)
    assert len(kinds) > 0.85 * len(SCHEMAS), set(SCHEMAS) - set(kinds)
    assert longest in range(50, 80)
    if backend.native is None:
        # Without native kernels nothing is fused or prepacked.
        assert not any(
            seen.pop(kind) for kind in ("post-op Fused", "post-op Normalized", "prepacked", "fused")
        )
    else:
        for rare in ("post-op Fused", "post-op Normalized", "prepacked"):
            assert seen.pop(rare), rare
    assert all(count >= COUNTED // 16 for count in seen.values()), seen


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
