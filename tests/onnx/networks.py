"""Ten small networks with random weights, as those that ONNX Runtime's tools are used on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

ELEMENTS = {
    "float32": onnx.TensorProto.FLOAT,
    "int64": onnx.TensorProto.INT64,
    "int32": onnx.TensorProto.INT32,
}


class Network(NamedTuple):
    """A model, with contents of its inputs."""

    model: onnx.ModelProto
    inputs: dict


class Builder:
    """Adds nodes one after the other; each call gives the name of its output."""

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs = [], [], {}

    def input(self, name, array):
        self.inputs[name] = np.asarray(array)
        return name

    def weight(self, *sizes, scale=None):
        scale = 1 / np.sqrt(np.prod(sizes[1:]) or 1) if scale is None else scale
        return self.constant((self.random.standard_normal(sizes) * scale).astype(np.float32))

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *numbers):
        return self.constant(np.array(numbers, np.int64))

    def number(self, value):
        return self.constant(np.array(value, np.float32))

    def __call__(self, kind, *inputs, outputs=1, **attributes):
        names = [f"t{len(self.nodes)}_{index}" for index in range(outputs)]
        node = helper.make_node(kind, inputs, names, f"n{len(self.nodes)}", **attributes)
        self.nodes.append(node)
        return names[0] if outputs == 1 else names

    def conv(self, x, channels, to, size=3, stride=1, group=1, act="Relu", norm=False):
        pads = [size // 2] * 4
        given = [self.weight(to, channels // group, size, size)]
        if not norm:
            given.append(self.weight(to, scale=0.1))
        y = self("Conv", x, *given, pads=pads, strides=[stride] * 2, group=group)
        if norm:
            spread = (1 + 0.2 * self.random.random((4, to))).astype(np.float32)
            y = self("BatchNormalization", y, *map(self.constant, spread))
        return self(act, y) if act else y

    def linear(self, x, count, to):
        return self("Add", self("MatMul", x, self.weight(count, to)), self.weight(to, scale=0.1))

    def layer_norm(self, x, width):
        """As exporters of older operator sets write it."""
        centred = self("Sub", x, self("ReduceMean", x, axes=[-1]))
        variance = self("ReduceMean", self("Pow", centred, self.number(2)), axes=[-1])
        normal = self("Div", centred, self("Sqrt", self("Add", variance, self.number(1e-5))))
        scaled = self("Mul", normal, self.weight(width, scale=1.0))
        return self("Add", scaled, self.weight(width, scale=0.1))

    def gelu(self, x):
        curve = self("Add", self("Erf", self("Div", x, self.number(2**0.5))), self.number(1))
        return self("Mul", self("Mul", x, curve), self.number(0.5))

    def fast_gelu(self, x):
        cube = self("Mul", self("Pow", x, self.number(3)), self.number(0.044715))
        inner = self("Mul", self("Add", x, cube), self.number((2 / np.pi) ** 0.5))
        return self("Mul", self("Mul", x, self.number(0.5)), self("Add", self("Tanh", inner), self.number(1)))

    def heads(self, x, batch, length, heads, size, order=(0, 2, 1, 3)):
        split = self("Reshape", x, self.ints(batch, length, heads, size))
        return self("Transpose", split, perm=list(order))

    def network(self, *outputs, opset=13):
        given = [
            helper.make_tensor_value_info(name, ELEMENTS[array.dtype.name], array.shape)
            for name, array in self.inputs.items()
        ]
        wanted = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self.nodes, "network", given, wanted, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        return Network(onnx.shape_inference.infer_shapes(model, strict_mode=True), self.inputs)


def _image(b, *sizes):
    return b.input("x", b.random.random(sizes, np.float32))


def mobile_net():
    """Depthwise convolutions with batch normalization and Relu6, and a hard swish."""
    b = Builder(1)
    x = b.conv(_image(b, 1, 3, 16, 16), 3, 8, stride=2, norm=True, act=None)
    x = b("Clip", x, b.number(0), b.number(6))
    y = b.conv(x, 8, 16, size=1, norm=True)
    y = b.conv(y, 16, 16, group=16, norm=True, act="HardSigmoid")
    y = b.conv(y, 16, 8, size=1, norm=True, act=None)
    x = b("Add", x, y)
    x = b("Flatten", b("GlobalAveragePool", x))
    return b.network(b("Softmax", b("Gemm", x, b.weight(10, 8), b.weight(10), transB=1), axis=-1))


def res_net():
    """Residual blocks, where a sum is before an activation."""
    b = Builder(2)
    x = b.conv(_image(b, 2, 3, 16, 16), 3, 8, size=7, stride=2)
    x = b("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = b.conv(b.conv(x, 8, 8, norm=True), 8, 8, act=None, norm=True)
    x = b("Relu", b("Add", y, x))
    y = b.conv(b.conv(x, 8, 16, stride=2), 16, 16, act=None)
    x = b("Relu", b("Add", b.conv(x, 8, 16, size=1, stride=2, act=None), y))
    x = b("AveragePool", x, kernel_shape=[2, 2])
    x = b("Reshape", x, b.ints(2, -1))
    return b.network(b("Gemm", x, b.weight(16, 5), b.weight(5)))


def u_net():
    """Transposed convolutions, and activations with a slope."""
    b = Builder(3)
    x = b.conv(_image(b, 1, 2, 16, 16), 2, 8, act="LeakyRelu")
    y = b("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = b.conv(b.conv(y, 8, 16), 16, 16, act="LeakyRelu")
    y = b("ConvTranspose", y, b.weight(16, 8, 2, 2), b.weight(8), strides=[2, 2])
    y = b.conv(b("Concat", x, y, axis=1), 16, 8)
    return b.network(b("Sigmoid", b.conv(y, 8, 1, size=1, act=None)))


def lstm_tagger():
    """Embedded words through an LSTM in both directions."""
    b = Builder(4)
    words = b.input("words", b.random.integers(0, 20, (6, 1)))
    x = b("Gather", b.weight(20, 8, scale=1.0), words)
    y, _, _ = b(
        "LSTM", x, b.weight(2, 48, 8), b.weight(2, 48, 12), b.weight(2, 96, scale=0.1),
        outputs=3, hidden_size=12, direction="bidirectional",
    )  # fmt: skip
    y = b("Reshape", b("Transpose", y, perm=[0, 2, 1, 3]), b.ints(6, 1, 24))
    return b.network(b("LogSoftmax", b.linear(y, 24, 5), axis=-1))


def gru():
    b = Builder(5)
    x = _image(b, 7, 2, 6)
    _, last = b("GRU", x, b.weight(1, 24, 6), b.weight(1, 24, 8), b.weight(1, 48), outputs=2, hidden_size=8)
    x = b("Squeeze", last, b.ints(0))
    return b.network(b("Sigmoid", b("Gemm", x, b.weight(8, 3), b.weight(3))))


def bert():
    """Two layers of an encoder over embedded words, positions and segments, with a mask of the words."""
    b = Builder(6)
    batch, length, heads, size = 2, 8, 4, 8
    width = heads * size
    words, segments = (b.input(name, b.random.integers(0, most, (batch, length)))
                       for name, most in (("input_ids", 30), ("token_type_ids", 2)))  # fmt: skip
    mask = b.input("attention_mask", np.array([[1] * length, [1] * 5 + [0] * 3]))
    x = b("Gather", b.weight(30, width, scale=1.0), words)
    x = b("Add", x, b("Gather", b.weight(2, width, scale=1.0), segments))
    x = b(
        "Add",
        x,
        b("Gather", b.weight(length, width, scale=1.0), b.constant(np.arange(length).reshape(1, length))),
    )
    x = b.layer_norm(x, width)
    wide = b("Unsqueeze", b("Unsqueeze", mask, b.ints(1)), b.ints(2))
    wide = b("Cast", wide, to=onnx.TensorProto.FLOAT)
    bias = b("Mul", b("Sub", b.number(1), wide), b.number(-10000))
    for _ in range(2):
        q, k, v = (b.heads(b.linear(x, width, width), batch, length, heads, size, order)
                   for order in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))  # fmt: skip
        scores = b("Add", b("Div", b("MatMul", q, k), b.number(size**0.5)), bias)
        y = b("Transpose", b("MatMul", b("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        y = b.linear(b("Reshape", y, b.ints(batch, length, width)), width, width)
        x = b.layer_norm(b("Add", y, x), width)
        y = b.linear(b.gelu(b.linear(x, width, 2 * width)), 2 * width, width)
        x = b.layer_norm(b("Add", y, x), width)
    return b.network(x)


def gpt():
    """A layer of a decoder, for tokens behind cached keys and values."""
    b = Builder(7)
    length, past, heads, size = 3, 4, 2, 8
    width = heads * size
    x = b(
        "Gather", b.weight(30, width, scale=1.0), b.input("input_ids", b.random.integers(0, 30, (1, length)))
    )
    cached = [b.input(name, b.random.random((1, heads, past, size), np.float32))
              for name in ("past_key", "past_value")]  # fmt: skip
    y = b("LayerNormalization", x, b.weight(width), b.weight(width), epsilon=1e-5)
    parts = b("Split", b.linear(y, width, 3 * width), b.ints(width, width, width), outputs=3, axis=2)
    q, k, v = (b.heads(part, 1, length, heads, size) for part in parts)
    k, v = (b("Concat", old, new, axis=2) for old, new in zip(cached, (k, v)))
    scores = b("MatMul", q, b("Transpose", k, perm=[0, 1, 3, 2]))
    scores = b("Mul", scores, b.number(size**-0.5))
    later = np.triu(np.full((length, past + length), -1e4, np.float32), past + 1)
    scores = b("Softmax", b("Add", scores, b.constant(later)), axis=-1)
    y = b("Reshape", b("Transpose", b("MatMul", scores, v), perm=[0, 2, 1, 3]), b.ints(1, length, width))
    x = b("Add", x, b.linear(y, width, width))
    y = b("LayerNormalization", x, b.weight(width), b.weight(width), epsilon=1e-5)
    x = b("Add", x, b.linear(b.fast_gelu(b.linear(y, width, 32)), 32, width))
    return b.network(b("MatMul", x, b.weight(width, 30)), k, v, opset=17)


def detector():
    """Two scales of features, one resized to the other, and boxes from both."""
    b = Builder(8)
    fine = b.conv(_image(b, 1, 3, 16, 16), 3, 8, stride=2)
    coarse = b.conv(fine, 8, 8, stride=2, act="Sigmoid")
    up = b("Resize", coarse, "", b.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest",
           coordinate_transformation_mode="asymmetric", nearest_mode="floor")  # fmt: skip
    fine = b.conv(b("Concat", fine, up, axis=1), 16, 8)
    rows = []
    for x, count in ((fine, 64), (coarse, 16)):
        y = b("Reshape", b.conv(x, 8, 6, size=1, act=None), b.ints(1, 6, count))
        rows.append(b("Transpose", y, perm=[0, 2, 1]))
    boxes, scores = b("Split", b("Concat", *rows, axis=1), b.ints(4, 2), outputs=2, axis=2)
    return b.network(b("Mul", b("Exp", boxes), b.number(4)), b("Sigmoid", scores))


def perceptron():
    b = Builder(9)
    x = _image(b, 4, 12)
    for count, to, act in ((12, 16, "Relu"), (16, 16, "Tanh"), (16, 8, "LeakyRelu")):
        x = b(act, b("Gemm", x, b.weight(count, to), b.weight(to)))
    return b.network(b.linear(x, 8, 3))


def super_resolution():
    b = Builder(10)
    x = _image(b, 1, 1, 12, 12)
    y = b.conv(b.conv(x, 1, 8, size=5), 8, 8, act="Tanh")
    y = b("DepthToSpace", b.conv(y, 8, 4, act=None), blocksize=2, mode="CRD")
    up = b("Resize", x, "", b.constant(np.array([1, 1, 2, 2], np.float32)), mode="linear")
    return b.network(b("Clip", b("Add", y, up), b.number(0), b.number(1)))


NETWORKS = {
    make.__name__: make
    for make in (
        mobile_net, res_net, u_net, lstm_tagger, gru, bert, gpt, detector, perceptron, super_resolution,
    )
}  # fmt: skip
