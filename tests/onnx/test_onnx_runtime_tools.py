"""Models as ONNX Runtime's optimizer, quantizers and converters write them, beside ONNX Runtime on the same file."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")
from onnx import helper

import directml_py as dml

from .networks import NETWORKS
from .node_by_node import different, fixed_names, results_of_node, values_of
from .onnx_runtime_tools import LEVELS, TOOLS, made_by

# A tool for each network, and a network for each kind of tool.
SAMPLE = [
    ("mobile_net", "extended"), ("mobile_net", "QDQ, extended"), ("mobile_net", "QDQ, 4 bits"),
    ("res_net", "QOperator, by channel"), ("res_net", "QDQ, 16 bits, extended"), ("u_net", "QOperator, unsigned"),
    ("u_net", "QDQ, 4 bits, unsigned"), ("lstm_tagger", "dynamic, unsigned"), ("lstm_tagger", "4 bits, Gather"),
    ("gru", "extended"), ("bert", "bert"), ("bert", "bert, dynamic, extended"), ("bert", "QOperator, signed"),
    ("bert", "4 bits"), ("gpt", "gpt2"), ("gpt", "dynamic, by channel"), ("gpt", "basic"),
    ("gpt", "4 bits, QDQ, extended"), ("gpt", "4 bits, float16"), ("detector", "float16, inputs and outputs kept"),
    ("detector", "QDQ, unsigned"), ("perceptron", "QOperator, signed"), ("perceptron", "2 bits"),
    ("perceptron", "8 bits"), ("perceptron", "FP4"), ("gpt", "NF4"), ("super_resolution", "float16"),
]  # fmt: skip
# Operators without which a case would compare what other tests compare already.
CONTAINED = {
    ("mobile_net", "extended"): {"FusedConv"},
    ("mobile_net", "QDQ, extended"): {"QGemm", "QLinearAdd", "QLinearConv", "QLinearSoftmax"},
    ("u_net", "QOperator, unsigned"): {"QLinearConcat", "QLinearLeakyRelu", "QLinearSigmoid"},
    ("lstm_tagger", "dynamic, unsigned"): {"DynamicQuantizeLSTM"},
    ("lstm_tagger", "4 bits, Gather"): {"GatherBlockQuantized", "MatMulNBits"},
    ("gru", "extended"): {"GRU"},
    ("bert", "bert"): {"Attention", "BiasGelu", "SkipLayerNormalization"},
    ("bert", "bert, dynamic, extended"): {"QAttention", "DynamicQuantizeMatMul"},
    ("bert", "QOperator, signed"): {"QLinearMul", "QLinearMatMul"},
    ("bert", "4 bits"): {"MatMulNBits"},
    ("gpt", "gpt2"): {"FastGelu"},
    ("gpt", "4 bits, QDQ, extended"): {"MatMulNBits"},
    ("perceptron", "FP4"): {"MatMulBnb4"},
}
# Of a node's floats, relative to the largest: one unit of 16-bit floats, and sums in another order.
HALVES, SUMS = 1e-3, 1e-5
# How many of a node's integers may be off by one. All others are those of ONNX Runtime, which adds up rounded powers in
# its Softmax, and multiplies by reciprocals in the others, so that a half becomes the other neighbour.
SHARES = {"QLinearAdd": 0.05, "QLinearAveragePool": 0.05, "QLinearSoftmax": 0.4}
# Of a whole model's results: a half in one layer is a unit in the next one, of a scale that may be large.
TOLERANCES = {"QDQ": 5e-2, "QOperator": 5e-2, "float16": 1e-2}


def models_of(name, tool, folder):
    """What a tool makes of a network, with contents of its inputs."""
    network = NETWORKS[name]()
    model = made_by(tool, network, folder)
    assert CONTAINED.get((name, tool), set()) <= {node.op_type for node in model.graph.node}
    types = {
        item.name: helper.tensor_dtype_to_np_dtype(item.type.tensor_type.elem_type)
        for item in model.graph.input
    }
    return model, {key: array.astype(types[key]) for key, array in network.inputs.items() if key in types}


def compare(name, tool, folder):
    """Each node for the inputs that ONNX Runtime has for it, and then the whole model."""
    model, given = models_of(name, tool, folder)
    # The file's own operators, not those that the session would make of them.
    values = values_of(model, given, graph_optimization_level=LEVELS.ORT_DISABLE_ALL)
    fixed = fixed_names(model)
    for node in model.graph.node:
        for output, own in results_of_node(model, node, values, fixed).items():
            tolerance = HALVES if "float16" in tool else SUMS
            wrong = different(own, values[output], tolerance, SHARES.get(node.op_type, 0))
            assert not wrong, f"{node.op_type} {node.name}: {wrong}"
    found = dml.onnx.load(model).run(given)
    tolerance = next((own for word, own in TOLERANCES.items() if word in tool), 1e-4)
    for item in model.graph.output:
        assert not different(found[item.name], values[item.name], tolerance), item.name


@pytest.mark.parametrize(("name", "tool"), SAMPLE)
def test_sample(name, tool, tmp_path):
    compare(name, tool, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", NETWORKS)
def test_all_tools_on_all_networks(name, tool, tmp_path):
    compare(name, tool, tmp_path)
