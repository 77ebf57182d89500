"""Models as ONNX Runtime's optimizer, quantizers and converters write them, beside ONNX Runtime on the same file."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")
from onnx import helper

import directml_py as dml

from .networks import NETWORKS
from .onnx_runtime import session_of
from .onnx_runtime_tools import LEVELS, TOOLS, made_by

# A tool for each network, and a network for each tool.
SAMPLE = [
    ("mobile_net", "extended"), ("mobile_net", "QDQ, extended"), ("res_net", "QOperator, by channel"),
    ("u_net", "QOperator, unsigned"), ("lstm_tagger", "dynamic, unsigned"), ("gru", "extended"),
    ("bert", "bert"), ("bert", "QDQ, signed, by channel"), ("gpt", "gpt2"), ("gpt", "dynamic, by channel"),
    ("gpt", "basic"), ("detector", "float16, inputs and outputs kept"), ("detector", "QDQ, unsigned"),
    ("perceptron", "QOperator, signed"), ("super_resolution", "float16"),
]  # fmt: skip
# Of the largest value. A half may be rounded either way, which the layers behind it make more of.
TOLERANCES = {"QDQ": 5e-2, "QOperator": 5e-2, "float16": 1e-2}
TYPICAL = 1e-2
# Operators without which a case would compare what other tests compare already.
CONTAINED = {
    ("mobile_net", "extended"): {"FusedConv"},
    ("mobile_net", "QDQ, extended"): {"QGemm", "QLinearAdd", "QLinearConv", "QLinearSoftmax"},
    ("u_net", "QOperator, unsigned"): {"QLinearConcat", "QLinearLeakyRelu", "QLinearSigmoid"},
    ("lstm_tagger", "dynamic, unsigned"): {"DynamicQuantizeLSTM"},
    ("gru", "extended"): {"GRU"},
    ("bert", "bert"): {"Attention", "BiasGelu", "SkipLayerNormalization"},
    ("gpt", "gpt2"): {"FastGelu"},
}


def compare(name, tool, folder):
    if tool.startswith(("bert", "gpt2")):
        pytest.importorskip("sympy", reason="ONNX Runtime's transformers optimizer needs the package sympy")
    network = NETWORKS[name]()
    model = made_by(tool, network, folder)
    assert CONTAINED.get((name, tool), set()) <= {node.op_type for node in model.graph.node}
    types = {
        item.name: helper.tensor_dtype_to_np_dtype(item.type.tensor_type.elem_type)
        for item in model.graph.input
    }
    given = {key: array.astype(types[key]) for key, array in network.inputs.items() if key in types}
    # The file's own operators, not those that the session would make of them.
    session = session_of(model, graph_optimization_level=LEVELS.ORT_DISABLE_ALL)
    expected = session.run(None, given)
    found = dml.onnx.load(model).run(given)
    tolerance = next((own for word, own in TOLERANCES.items() if word in tool), 1e-4)
    for item, values in zip(session.get_outputs(), expected):
        own = found[item.name]
        assert (own.dtype, own.shape) == (values.dtype, values.shape), item.name
        largest = max(abs(values.astype(float)).max(), 1e-30)
        differences = abs(own.astype(float) - values.astype(float)) / largest
        assert differences.max() <= tolerance, item.name
        assert differences.mean() <= min(TYPICAL, tolerance), item.name


@pytest.mark.parametrize(("name", "tool"), SAMPLE)
def test_sample(name, tool, tmp_path):
    compare(name, tool, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", NETWORKS)
def test_all_tools_on_all_networks(name, tool, tmp_path):
    compare(name, tool, tmp_path)
