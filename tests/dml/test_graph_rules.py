"""Every rule of graphs, violated by itself."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.abi.rules import RULES, Rule
from directml_py.dml.compiler import graph_rules as declared

from .graphs import FLOAT32, Graphs, edges, graph, node
from .helpers import Bench, tensor

S = [2, 2]


def chain(g, **changes):
    """Two consecutive scalings: a valid graph."""
    description = {
        "nodes": [g.scale(S), g.scale(S)],
        "inputs": [(0, 0, 0)],
        "outputs": [(1, 0, 0)],
        "between": [(0, 0, 1, 0)],
    }
    description.update(changes)
    return graph(**description)


def wrong_edge_type(g):
    desc = chain(g)
    desc.InputEdges = edges(
        dml.DML_GRAPH_EDGE_TYPE_INTERMEDIATE, dml.DML_INTERMEDIATE_GRAPH_EDGE_DESC, [(0, 0, 0, 0)]
    )
    return desc


def fused_gather_absent(g):
    """ScaleBias is not a tensor; an absent tensor needs an operator with an optional one."""
    gemm = g.operator(
        dml.DML_GEMM_OPERATOR_DESC(
            ATensor=dml.tensor_desc(FLOAT32, [1, 1, 2, 2]),
            BTensor=dml.tensor_desc(FLOAT32, [1, 1, 2, 2]),
            OutputTensor=dml.tensor_desc(FLOAT32, [1, 1, 2, 2]),
            Alpha=1.0,
        )
    )
    return graph([gemm], [(0, 0, 0), (1, 0, 1), (2, 0, 2)], [(0, 0, 0)])


def owned(g, flag=True):
    flags = dml.DML_TENSOR_FLAG_OWNED_BY_DML if flag else dml.DML_TENSOR_FLAG_NONE
    return g.scale(S, flags=flags)


VIOLATIONS = {
    "DML-Graph-edge-type": (wrong_edge_type, "InputEdges[0].Type"),
    "DML-Graph-nodes": (lambda g: graph([], [], [], input_count=1, output_count=0), "NodeCount"),
    "DML-Graph-index": (lambda g: chain(g, between=[(0, 0, 1, 1)]), "IntermediateEdges[0].ToNodeInputIndex"),
    "DML-Graph-input-fed-twice": (
        lambda g: chain(g, inputs=[(0, 0, 0), (1, 0, 0)]),
        "Nodes[0].InputTensor",
    ),
    "DML-Graph-absent-tensor": (fused_gather_absent, "Nodes[0].CTensor"),
    "DML-Graph-input-unconnected": (lambda g: chain(g, inputs=[], input_count=1), "Nodes[0].InputTensor"),
    "DML-Graph-node-unconnected": (
        lambda g: graph([g.scale(S), g.scale(S)], [(0, 0, 0), (1, 1, 0)], [(0, 0, 0)]),
        "Nodes[1]",
    ),
    "DML-Graph-shared-input": (
        lambda g: graph([g.scale([5]), g.scale([2, 3])], [(0, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 0, 1)]),
        "Nodes[1].InputTensor",
    ),
    "DML-Graph-copied-size": (
        lambda g: graph(
            [g.identity([2, 3]), g.identity([5])], [(0, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 0, 1)]
        ),
        "Nodes[1].OutputTensor.TotalTensorSizeInBytes",
    ),
    # Where no output leads out of the graph, one of a node is unconnected too, or there is a cycle.
    "DML-Graph-graph-output-unconnected": (
        lambda g: graph(
            [g.join([S, S], [4, 2], 0), g.split([4, 2], [S, S], 0)],
            [],
            [],
            [(0, 0, 1, 0), (1, 0, 0, 0), (1, 1, 0, 1)],
            output_count=1,
        ),
        "OutputEdges",
    ),
    "DML-Graph-output-count": (lambda g: chain(g, output_count=(1 << 16) + 2), "OutputCount"),
    "DML-Graph-input-count": (lambda g: chain(g, input_count=(1 << 16) + 2), "InputCount"),
    "DML-Graph-cycle": (
        lambda g: graph(
            [g.join([S, S], [4, 2], 0), g.split([4, 2], [S, S], 0)],
            [(0, 0, 0)],
            [(1, 1, 0)],
            [(0, 0, 1, 0), (1, 0, 0, 1)],
        ),
        "IntermediateEdges",
    ),
    "DML-Graph-total-size": (
        lambda g: chain(g, nodes=[g.scale(S), g.scale([2, 3])]),
        "Nodes[1].InputTensor.TotalTensorSizeInBytes",
    ),
    "DML-Graph-constant-empty": (
        lambda g: graph([np.zeros(0, np.float32), g.scale(S)], [], [(1, 0, 0)], [(0, 0, 1, 0)]),
        "Nodes[0].DataSize",
    ),
    "DML-Graph-constant-element": (
        lambda g: graph([np.zeros(1, np.int16), g.scale([1])], [], [(1, 0, 0)], [(0, 0, 1, 0)]),
        "Nodes[0].DataSize",
    ),
    "DML-Graph-constant-feature-level": (
        lambda g: graph([np.zeros(4, np.float32), g.scale(S)], [], [(1, 0, 0)], [(0, 0, 1, 0)]),
        "Nodes[0].Type",
    ),
    "DML-Graph-constant-output": (
        lambda g: graph([np.zeros(4, np.float32), g.scale(S)], [(0, 1, 0)], [(1, 0, 0), (0, 0, 1)]),
        "OutputEdges[1].FromNodeIndex",
    ),
    "DML-Graph-owned-source": (
        lambda g: chain(g, nodes=[g.scale(S), owned(g)]),
        "Nodes[1].InputTensor.Flags",
    ),
    "DML-Graph-owned-alike": (
        lambda g: graph([owned(g), g.scale(S)], [(0, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 0, 1)]),
        "Nodes[1].InputTensor.Flags",
    ),
}


# Rules that debug and strict devices check for valid graphs; see tests/hazards and tests/rules/page_only_cases.py.
WARNINGS = {
    "DML-Graph-constant-size",
    "DML-Graph-graph-output-shared",
    "DML-Graph-padding",
    "DML-Graph-output-unconnected",
}


@pytest.mark.parametrize("rule", VIOLATIONS)
def test_broken_alone(rule):
    level = dml.DML_FEATURE_LEVEL_6_1 if rule.endswith("feature-level") else dml.DML_FEATURE_LEVEL_6_4
    g = Graphs(level)
    make, path = VIOLATIONS[rule]
    with pytest.raises(dml.DMLError) as caught:
        g.device.CompileGraph(make(g))
    unexpected = rule == "DML-Graph-constant-element"
    assert caught.value.hresult == (dml.E_UNEXPECTED if unexpected else dml.E_INVALIDARG)
    found = [(entry.rule, entry.path) for entry in caught.value.diagnostics]
    if rule == "DML-Graph-nodes":
        assert found == [(rule, "NodeCount"), (rule, "OutputCount")]
    else:
        assert found == [(rule, path)]


def test_every_rule_is_broken_above():
    here = {entry.id for entry in vars(declared).values() if isinstance(entry, Rule)} - WARNINGS
    assert here == set(VIOLATIONS)
    assert here <= set(RULES)


@pytest.mark.kind_device
def test_the_chain_itself_is_right():
    g = Graphs()
    assert g.device.CompileGraph(chain(g)).GetBindingProperties().RequiredDescriptorCount


@pytest.mark.parametrize(
    "rule", ["DML-Graph-input-count", "DML-Graph-output-count", "DML-Graph-constant-feature-level"]
)
def test_as_far_as_rules_allow(rule):
    """One input or output fewer, and one level higher, than where the rule is violated."""
    g = Graphs(dml.DML_FEATURE_LEVEL_6_2)
    desc = VIOLATIONS[rule][0](g)
    desc.InputCount -= rule == "DML-Graph-input-count"
    desc.OutputCount -= rule == "DML-Graph-output-count"
    assert g.device.CompileGraph(desc)


def test_all_problems_at_once():
    g = Graphs()
    desc = chain(g, nodes=[g.scale(S), g.scale([2, 3])], outputs=[], output_count=3)
    with pytest.raises(dml.DMLError) as caught:
        g.device.CompileGraph(desc)
    assert sorted(entry.rule for entry in caught.value.diagnostics) == [
        "DML-Graph-graph-output-unconnected",
        "DML-Graph-node-unconnected",
        "DML-Graph-total-size",
    ]


@pytest.mark.kind_device
@pytest.mark.parametrize("used", [0, 1])
def test_an_output_of_a_node_that_nobody_uses(used):
    """Some output of each node is connected; values of the others are dropped. A strict device requires all of them."""
    g = Graphs()
    desc = graph([g.split([4, 2], [S, S], 0), g.scale(S)], [(0, 0, 0)], [(1, 0, 0)], [(0, used, 1, 0)])
    (result,) = g.run(g.device.CompileGraph(desc), np.arange(8, dtype=np.float32).reshape(4, 2))
    assert result.tolist() == (np.arange(8).reshape(2, 2, 2)[used] * 2 + 1).tolist()


SIZES = {5: ([5],), 6: ([2, 3],), 7: ([7],)}


def shared(g, kinds, order=None, position=0):
    """Nodes on one graph input: a scaling (``x``) or an identity (``c``), each with an element count."""
    nodes = [(g.scale if kind == "x" else g.identity)(*SIZES[size]) for kind, size in kinds]
    order = range(len(nodes)) if order is None else order
    inputs = [(position, index, 0) for index in order]
    return graph(nodes, inputs, [(index, 0, index) for index in range(len(nodes))])


@pytest.mark.parametrize(
    ("kinds", "order", "path"),
    [
        # The first edge says how large the input is, whatever is the first node.
        ("x6 x5", None, None),
        ("x5 x6", None, "Nodes[1].InputTensor"),
        ("x5 x6", (1, 0), None),
        ("x6 x5", (1, 0), "Nodes[0].InputTensor"),
        ("x7 x5 x6", None, None),
        ("x5 x7 x6", None, "Nodes[1].InputTensor Nodes[2].InputTensor"),
        ("c5 x6", None, "Nodes[1].InputTensor"),
        ("c6 x5", None, None),
        ("x5 c6", None, None),
        ("x6 c5", None, "Nodes[1].OutputTensor.TotalTensorSizeInBytes"),
        ("c5 x6", (1, 0), "Nodes[0].OutputTensor.TotalTensorSizeInBytes"),
        ("x6 c7 x6", None, None),
        ("c7 x5 c6", None, None),
        # If there is nothing but copies, their size is that of the first of their nodes, whatever is the first edge.
        ("c5 c6", None, None),
        ("c6 c5", None, "Nodes[1].OutputTensor.TotalTensorSizeInBytes"),
        ("c5 c6", (1, 0), None),
        ("c6 c5", (1, 0), "Nodes[1].OutputTensor.TotalTensorSizeInBytes"),
        ("c5 c7 c6", None, None),
        ("c6 c7 c5", None, "Nodes[2].OutputTensor.TotalTensorSizeInBytes"),
    ],
)
def test_tensors_of_one_graph_input(kinds, order, path):
    g = Graphs()
    desc = shared(g, [(kind[0], int(kind[1])) for kind in kinds.split()], order)
    if path is None:
        assert g.device.CompileGraph(desc)
        return
    with pytest.raises(dml.DMLError) as caught:
        g.device.CompileGraph(desc)
    assert caught.value.hresult == dml.E_INVALIDARG
    assert [found.path for found in caught.value.diagnostics] == path.split()


def test_total_sizes_and_strides_of_one_graph_input():
    """For the first tensor TotalTensorSizeInBytes counts, for the others the size implied by sizes and strides."""
    g = Graphs()

    def compiled(first, second):
        nodes = [g.scale(*first[:1], **first[1]), g.scale(*second[:1], **second[1])]
        return g.device.CompileGraph(graph(nodes, [(0, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 0, 1)]))

    assert compiled(([5], {"total_size": 24}), ([6], {}))
    assert compiled(([5], {}), ([6], {"strides": [0], "total_size": 40}))
    for first, second in [(([6], {"strides": [0]}), ([2], {})), (([2], {}), ([2], {"strides": [2]}))]:
        with pytest.raises(dml.DMLError, match="DML-Graph-shared-input"):
            compiled(first, second)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_outputs_that_nothing_writes(position):
    """Some output is connected; nothing is bound to the others, but the count includes them."""
    g = Graphs()
    desc = chain(g, outputs=[(1, 0, position)], output_count=3)
    compiled = g.device.CompileGraph(desc)
    assert [slot.tensor is not None for slot in compiled.outputs] == [at == position for at in range(3)]
    results = g.run(compiled, np.arange(4, dtype=np.float32).reshape(2, 2))
    assert [result is None for result in results] == [at != position for at in range(3)]
    assert results[position].tolist() == [[3, 7], [11, 15]]


@pytest.mark.parametrize(
    ("nodes", "edge", "path", "message"),
    [
        (["first", None], [], "Nodes[1].InputTensor", "of DML_OPERATOR_ELEMENT_WISE_IDENTITY is connected"),
        ([None, "last"], [], "Nodes[1].InputTensor", "ELEMENT_WISE_IDENTITY 'last' is connected"),
        (
            [None, None, "weights"],
            [(2, 1, 1, 0)],
            "IntermediateEdges[0].FromNodeOutputIndex",
            "a constant 'weights' has 1 output",
        ),
    ],
)
def test_nodes_are_named_as_the_program_names_them(nodes, edge, path, message):
    g = Graphs()
    contents = [g.scale(S), g.scale(S), np.zeros(4, np.float32)]
    desc = chain(g, between=edge)
    desc.NodeCount, desc.Nodes = len(nodes), [node(content, name) for content, name in zip(contents, nodes)]
    with pytest.raises(dml.DMLError) as caught:
        g.device.CompileGraph(desc)
    found = {entry.path: entry.message for entry in caught.value.diagnostics}
    assert message in found[path]


@pytest.mark.parametrize("alignments", [(16, 64), (64, 16), (64, 64)])
def test_a_graph_input_is_aligned_for_all_that_read_it(alignments):
    g = Graphs()
    nodes = [g.scale(S, alignment=alignment) for alignment in alignments]
    compiled = g.device.CompileGraph(graph(nodes, [(0, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 0, 1)]))
    assert compiled.inputs[0].tensor.alignment == 64


def test_operators_of_another_device():
    g, other = Graphs(), Graphs()
    with pytest.raises(dml.DMLError) as caught:
        g.device.CompileGraph(graph([other.scale(S)], [(0, 0, 0)], [(0, 0, 0)]))
    assert [entry.rule for entry in caught.value.diagnostics] == ["DML-Object-device"]
    assert caught.value.diagnostics[0].path == "Nodes[0].Operator"


def test_an_object_that_is_no_operator():
    g = Graphs()
    desc = graph([g.scale(S)], [(0, 0, 0)], [(0, 0, 0)])
    desc.Nodes = [node(g.device.CompileOperator(g.scale(S)))]
    with pytest.raises(dml.DMLError) as caught:
        g.device.CompileGraph(desc)
    assert [(entry.rule, entry.path) for entry in caught.value.diagnostics] == [
        ("DML-Desc-interface", "Nodes[0].Operator")
    ]


def test_null_and_garbage():
    g = Graphs()
    for value in (None, 0, 12345678):
        with pytest.raises(dml.DMLError):
            g.device.CompileGraph(value)
    with pytest.raises(TypeError):
        g.device.CompileGraph("graph")
    desc = chain(g)
    desc.NodeCount = 0xFFFFFFFF
    with pytest.raises(dml.DMLError) as caught:
        g.device.CompileGraph(desc)
    assert caught.value.diagnostics[0].path == "Nodes"


def test_no_graphs_below_2_1():
    assert not hasattr(Graphs(dml.DML_FEATURE_LEVEL_2_0).device, "CompileGraph")


def test_every_node_that_cannot_be_compiled_is_named():
    g, other = Graphs(), Graphs()
    compiled = g.device.CompileOperator(g.scale(S))
    desc = chain(g, nodes=[compiled, g.scale(S), other.scale(S)])
    with pytest.raises(dml.DMLError) as caught:
        g.device.CompileGraph(desc)
    assert [found.path for found in caught.value.diagnostics] == ["Nodes[0].Operator", "Nodes[2].Operator"]
    for text in ("IDMLCompiledOperator", "belongs to another DirectML device"):
        assert text in str(caught.value)


@pytest.mark.kind_device
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([2, 3, 5, 7, 11], [2, 3, 5, 7]),
        ([2, 3, 5, 7], [2, 3, 5, 7]),
        ([2, 3], [2, 3, 0, 0]),
        ([2], [2, 0, 0, 0]),
    ],
)
def test_constants_of_any_size(data, expected):
    """Microsoft's library compares no DataSize: it copies the tensor's bytes out of an upload buffer of that size."""
    bench = Bench(feature_level=dml.DML_FEATURE_LEVEL_6_4)
    constant = np.array(data, np.float32)
    four = tensor(4)
    scaling = bench.dml.CreateOperator(
        dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(four, four, dml.DML_SCALE_BIAS(2, 0))
    )
    op = bench.dml.CompileGraph(graph([constant, scaling], [], [(1, 0, 0)], [(0, 0, 1, 0)]))
    target = bench.buffer(16)
    bench.initialize(op)
    bench.dispatch(op, [], [target])
    bench.execute()
    assert bench.read(target).tolist() == [2 * value for value in expected]
    assert not bench.removed


def test_constants_share_as_graph_inputs_do():
    """As in Microsoft's library the first edge gives the size: 8 bytes of which another node takes 16."""
    device = Graphs(dml.DML_FEATURE_LEVEL_6_4)
    nodes = [np.zeros(4, np.float32), device.scale([2]), device.scale([4])]
    outputs = [(1, 0, 0), (2, 0, 1)]
    larger_first = [(0, 0, 2, 0), (0, 0, 1, 0)]
    device.device.CompileGraph(graph(nodes, [], outputs, larger_first))
    with pytest.raises(dml.DMLError) as caught:
        device.device.CompileGraph(graph(nodes, [], outputs, larger_first[::-1]))
    assert [(found.rule, found.path) for found in caught.value.diagnostics] == [
        ("DML-Graph-shared-input", "Nodes[2].InputTensor")
    ]
