"""The benchmark's whole networks: their structure, and equal results of peers."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.architectures import NETWORKS, Network
from benchmarks.translations import DIRECTML, ONNX, directml, onnx_model
from toolchain import need_package


def numbers(network: Network, kind: str, matrices_only: bool) -> int:
    return sum(
        array.size
        for layer in network.layers
        for array in layer.weights
        if layer.kind == kind and (array.ndim == 4 or not matrices_only)
    )


def test_networks_have_as_many_weights_as_published():
    assert numbers(NETWORKS["SqueezeNet"](), "CONVOLUTION", False) == 1_235_496
    # Without the pairs of batch normalizations and the biases of the classifier; and the first block of the sample's
    # model is expanded as the others are, to as many channels as it has.
    assert numbers(NETWORKS["MobileNet-v2"](), "CONVOLUTION", True) == 3_504_872 - 2 * 17_056 - 1000 + 32 * 32
    assert numbers(NETWORKS["super-resolution"](), "CONVOLUTION", False) == 59_657


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("SqueezeNet", (1, 1000, 1, 1)),
        ("MobileNet-v2", (1, 1000, 1, 1)),
        ("MobileNet-v2 exported", (1, 1000, 1, 1)),
        ("super-resolution", (1, 1, 672, 672)),
        ("style transfer", (1, 3, 720, 720)),
    ],
)
def test_results_have_the_sizes_of_the_samples(name, sizes):
    graph, weights = directml(NETWORKS[name]())
    assert graph.outputs["result"].desc.sizes == sizes
    assert all(graph.inputs[index + 1].desc.is_owned_by_dml for index in range(len(weights)))


def test_both_translations_compute_the_same():
    network = every_kind()
    assert {layer.kind for layer in network.layers} == set(DIRECTML) == set(ONNX)
    session = need_package("onnxruntime").InferenceSession(
        onnx_model(network), providers=["CPUExecutionProvider"]
    )
    image = network.image()
    (expected,) = session.run(None, {"image": image})
    graph, weights = directml(network)
    (found,) = graph.compile().run([image, *weights])
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def every_kind() -> Network:
    """A network with every kind of layer."""
    net = Network(1, 3, 14, 15, white=4.0)
    x = net.add("VALUE_SCALE_2D", 0, bias=[-1.0, -2.0, -3.0])
    x = net.add("PADDING", x, padding=2)
    x = net.convolution(x, 6, 3, 2, 1, "RELU")
    x = net.batch_normalization(net.convolution(x, 12, 3, padding=1, groups=6), "RELU")
    x = net.instance_normalization(net.convolution(x, 9, 3, 2, backward=True))
    wide = net.add("SLICE", x, border=1)
    x = net.convolution(wide, 9, 3, padding=1, activation="TANH")
    x = net.add("MULTIPLY", x, weights=[np.linspace(-1, 1, 9, dtype=np.float32)])
    x = net.add("ACTIVATION_LINEAR", net.add("ADD", x, wide), alpha=0.5)
    x = net.add("ADD", x, weights=[np.linspace(1, -1, 9, dtype=np.float32)])
    x = net.join(
        net.add("DEPTH_TO_SPACE1", x, channels=1, block=3),
        net.add("DEPTH_TO_SPACE1", wide, channels=1, block=3),
    )
    x = net.add("MAX_POOLING", net.add("CLIP", x, low=-0.5, high=0.75), window=3, stride=2, padding=1)
    x = net.add("AVERAGE_POOLING", x, window=2, stride=2, padding=0)
    net.add("ACTIVATION_SOFTMAX1", x)
    return net
