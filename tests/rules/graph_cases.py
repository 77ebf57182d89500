"""The violations of the rules of graphs, as cases."""

from __future__ import annotations

import numpy as np

import directml_py as dml

from ..dml.graphs import Graphs, graph
from ..dml.test_graph_rules import VIOLATIONS, S, chain, owned
from .registry import Case, found_by, register


def constant(g):
    """A constant of the right size, at a level that has constants, and connected to a node alone."""
    return graph([np.zeros(4, np.float32), g.scale(S)], [], [(1, 0, 0)], [(0, 0, 1, 0)])


def split_and_scale(g):
    nodes = [g.split([4, 2], [S, S], 0), g.scale(S)]
    return graph(nodes, [(0, 0, 0)], [(1, 0, 0), (0, 1, 1)], [(0, 0, 1, 0)])


# The nearest right graph, where that is not the chain of two.
TWINS = {
    "DML-Graph-constant-empty": constant,
    "DML-Graph-constant-element": constant,
    "DML-Graph-constant-feature-level": constant,
    "DML-Graph-constant-output": constant,
    "DML-Graph-cycle": lambda g: graph(
        [g.join([S, S], [4, 2], 0), g.split([4, 2], [S, S], 0)],
        [(0, 0, 0), (1, 0, 1)],
        [(1, 0, 0), (1, 1, 1)],
        [(0, 0, 1, 0)],
    ),
    "DML-Graph-graph-output-unconnected": split_and_scale,
    "DML-Graph-owned-source": lambda g: chain(g, nodes=[owned(g), g.scale(S)]),
    "DML-Graph-owned-alike": lambda g: graph(
        [owned(g), owned(g)], [(0, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 0, 1)]
    ),
}


def case(rule, make, path):
    level = dml.DML_FEATURE_LEVEL_6_1 if rule.endswith("feature-level") else dml.DML_FEATURE_LEVEL_6_4

    def run(wrong):
        g = Graphs(level if wrong else dml.DML_FEATURE_LEVEL_6_4)
        desc = make(g) if wrong else TWINS.get(rule, chain)(g)
        return found_by(lambda: g.device.CompileGraph(desc))

    # A graph of nothing lacks outputs as well.
    paths = ("NodeCount", "OutputCount") if rule == "DML-Graph-nodes" else (path,)
    hresult = dml.E_UNEXPECTED if rule == "DML-Graph-constant-element" else dml.E_INVALIDARG
    return Case(rule, paths, hresult, rule, run, make, twin=TWINS.get(rule, chain))


for _rule, (_make, _path) in VIOLATIONS.items():
    register(case(_rule, _make, _path))
