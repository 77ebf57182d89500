"""Whole networks, compared with ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")
from benchmarks import exported_models
from benchmarks.architectures import NETWORKS
from benchmarks.translations import onnx_model

import directml_py as dml

from .onnx_runtime import session_of

# Of the largest element, for each node in a row: sums of other orders differ by that much.
PER_NODE = 1e-6


def compared(model, inputs, **arguments):
    data = model if isinstance(model, bytes) else model.SerializeToString()
    session = session_of(data)
    expected = dict(zip((item.name for item in session.get_outputs()), session.run(None, inputs)))
    made = dml.onnx.load(data, inputs={name: array.shape for name, array in inputs.items()}, **arguments)
    found = made.run(inputs)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name].dtype == values.dtype
        tolerance = PER_NODE * len(made.graph.nodes) * abs(values).max()
        np.testing.assert_allclose(found[name], values, rtol=0, atol=tolerance, err_msg=name)
    return made


@pytest.mark.parametrize("name", ["SqueezeNet", "MobileNet-v2", "super-resolution"])
def test_image_networks(name):
    network = NETWORKS[name]()
    compared(onnx_model(network), {"image": network.image()})


@pytest.mark.slow
def test_style_transfer():
    network = NETWORKS["style transfer"]()
    compared(onnx_model(network), {"image": network.image()})


def test_resnet_fuses_activations():
    image = np.random.default_rng(1).random((1, 3, 64, 64), np.float32)
    made = compared(exported_models.resnet50(), {"image": image})
    kinds = [node.desc.name for node in made.graph.nodes]
    assert kinds.count("CONVOLUTION") == kinds.count("BATCH_NORMALIZATION") == 53
    # Every RELU runs with the normalization or the addition before it.
    assert "ACTIVATION_RELU" not in kinds
    assert kinds.count("ELEMENT_WISE_ADD1") == 16


@pytest.mark.parametrize("level", [None, dml.DML_FEATURE_LEVEL_5_0])
def test_bert_encoder(level):
    random = np.random.default_rng(2)
    tokens, mask = random.integers(0, 100, (2, 12)), np.ones((2, 12), np.int64)
    mask[1, 7:] = 0
    made = compared(exported_models.bert(), {"tokens": tokens, "mask": mask}, feature_level=level)
    # The host computes what sizes are computed with.
    assert {step.kind for step in made.steps if step.folded} >= {"Shape", "Range", "Concat"}


def test_gpt2_step():
    random = np.random.default_rng(3)
    inputs = {"tokens": random.integers(0, 100, (1, 3))}
    for layer in range(2):
        for name in ("key", "value"):
            inputs[f"{name}_{layer}"] = random.standard_normal((1, 4, 5, 16), np.float32)
    compared(exported_models.gpt2(), inputs)
