"""Networks with random weights as ONNX models, in the operators that exporters write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .sessions import onnx

OPSET = 17


class Builder:
    """Nodes and weights of a model; methods return the names of values."""

    def __init__(self, seed: int = 5) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.random = np.random.default_rng(seed)

    def input(self, name: str, sizes: list[int | str], dtype: Any = np.float32) -> str:
        element = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.inputs.append(onnx.helper.make_tensor_value_info(name, element, sizes))
        return name

    def output(self, name: str) -> None:
        self.outputs.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        return self.add_all(1, kind, *inputs, **attributes)[0]

    def add_all(self, outputs: int, kind: str, *inputs: str, **attributes: Any) -> list[str]:
        names = [f"{kind.lower()}_{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(onnx.helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def constant(self, array: Any, dtype: Any = np.float32) -> str:
        name = f"constant_{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(np.array(array, dtype), name))
        return name

    def weight(self, *sizes: int, scale: float | None = None) -> str:
        deviation = 1 / np.sqrt(np.prod(sizes[1:]) or 1) if scale is None else scale
        return self.constant(self.random.standard_normal(sizes) * deviation)

    def linear(self, x: str, before: int, after: int) -> str:
        return self.add(
            "Add", self.add("MatMul", x, self.weight(before, after)), self.weight(after, scale=0.1)
        )

    def layer_norm(self, x: str, width: int) -> str:
        mean = self.add("ReduceMean", x, axes=[-1])
        centred = self.add("Sub", x, mean)
        variance = self.add("ReduceMean", self.add("Pow", centred, self.constant(2.0)), axes=[-1])
        root = self.add("Sqrt", self.add("Add", variance, self.constant(1e-5)))
        scaled = self.add("Mul", self.add("Div", centred, root), self.constant(np.ones(width)))
        return self.add("Add", scaled, self.constant(np.zeros(width)))

    def gelu(self, x: str) -> str:
        erf = self.add("Erf", self.add("Div", x, self.constant(np.sqrt(2))))
        product = self.add("Mul", x, self.add("Add", erf, self.constant(1.0)))
        return self.add("Mul", product, self.constant(0.5))

    def heads(self, x: str, count: int, width: int) -> str:
        """[batch, sequence, hidden] as [batch, heads, sequence, width], with sizes taken from the value itself."""
        sizes = self.add("Shape", x)
        first, second = (
            self.add(
                "Unsqueeze",
                self.add("Gather", sizes, self.constant(axis, np.int64)),
                self.constant([0], np.int64),
            )
            for axis in (0, 1)
        )
        wanted = self.add("Concat", first, second, self.constant([count, width], np.int64), axis=0)
        return self.add("Transpose", self.add("Reshape", x, wanted), perm=[0, 2, 1, 3])

    def joined(self, x: str, hidden: int) -> str:
        back = self.add("Transpose", x, perm=[0, 2, 1, 3])
        return self.add("Reshape", back, self.constant([0, 0, hidden], np.int64))

    def attended(self, query: str, key: str, value: str, mask: Callable[[str], str], width: int) -> str:
        scores = self.add("MatMul", query, self.add("Transpose", key, perm=[0, 1, 3, 2]))
        scaled = self.add("Div", scores, self.constant(np.sqrt(width)))
        return self.add("MatMul", self.add("Softmax", mask(scaled), axis=-1), value)

    def model(self) -> Any:
        graph = onnx.helper.make_graph(self.nodes, "network", self.inputs, self.outputs, self.weights)
        return onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=8
        )


def bert(layers: int = 2, hidden: int = 64, heads: int = 4, vocabulary: int = 100) -> Any:
    """A BERT encoder over tokens and a mask of which of them count, with symbolic sizes."""
    net = Builder()
    tokens = net.input("tokens", ["batch", "sequence"], np.int64)
    mask = net.input("mask", ["batch", "sequence"], np.int64)
    size = net.add("Gather", net.add("Shape", tokens), net.constant(1, np.int64))
    positions = net.add("Range", net.constant(0, np.int64), size, net.constant(1, np.int64))
    x = net.add(
        "Add",
        net.add("Gather", net.weight(vocabulary, hidden, scale=1.0), tokens),
        net.add("Gather", net.weight(512, hidden, scale=1.0), positions),
    )
    x = net.layer_norm(x, hidden)
    wide = net.add(
        "Cast", net.add("Unsqueeze", mask, net.constant([1, 2], np.int64)), to=onnx.TensorProto.FLOAT
    )
    barred = net.add("Mul", net.add("Sub", net.constant(1.0), wide), net.constant(-10000.0))
    for _ in range(layers):
        query, key, value = (
            net.heads(net.linear(x, hidden, hidden), heads, hidden // heads) for _ in range(3)
        )
        y = net.attended(query, key, value, lambda scores: net.add("Add", scores, barred), hidden // heads)
        x = net.layer_norm(net.add("Add", x, net.linear(net.joined(y, hidden), hidden, hidden)), hidden)
        wider = net.gelu(net.linear(x, hidden, 4 * hidden))
        x = net.layer_norm(net.add("Add", x, net.linear(wider, 4 * hidden, hidden)), hidden)
    net.output(x)
    return net.model()


def gpt2(layers: int = 2, hidden: int = 64, heads: int = 4, vocabulary: int = 100) -> Any:
    """A step of GPT-2: new tokens, and keys and values of the past, to which theirs are added."""
    net = Builder()
    width = hidden // heads
    tokens = net.input("tokens", ["batch", "step"], np.int64)
    pasts = [
        [net.input(f"{name}_{layer}", ["batch", heads, "past", width]) for name in ("key", "value")]
        for layer in range(layers)
    ]
    before = net.add("Gather", net.add("Shape", pasts[0][0]), net.constant(2, np.int64))
    after = net.add("Add", before, net.add("Gather", net.add("Shape", tokens), net.constant(1, np.int64)))
    positions = net.add("Range", before, after, net.constant(1, np.int64))
    words = net.weight(vocabulary, hidden, scale=1.0)
    x = net.add(
        "Add",
        net.add("Gather", words, tokens),
        net.add("Gather", net.weight(512, hidden, scale=1.0), positions),
    )
    # A key is seen from its own place on.
    row = net.add("Range", net.constant(0, np.int64), after, net.constant(1, np.int64))
    is_attended = net.add("LessOrEqual", row, net.add("Unsqueeze", positions, net.constant([1], np.int64)))

    def causal(scores: str) -> str:
        return net.add("Where", is_attended, scores, net.constant(-1e4))

    for past in pasts:
        three = net.add_all(
            3,
            "Split",
            net.linear(net.layer_norm(x, hidden), hidden, 3 * hidden),
            net.constant([hidden] * 3, np.int64),
            axis=2,
        )
        query, key, value = (net.heads(part, heads, width) for part in three)
        key, value = (net.add("Concat", old, new, axis=2) for old, new in zip(past, (key, value)))
        y = net.joined(net.attended(query, key, value, causal, width), hidden)
        x = net.add("Add", x, net.linear(y, hidden, hidden))
        wider = net.linear(net.layer_norm(x, hidden), hidden, 4 * hidden)
        cubic = net.add("Mul", net.add("Pow", wider, net.constant(3.0)), net.constant(0.044715))
        inner = net.add("Mul", net.add("Add", wider, cubic), net.constant(np.sqrt(2 / np.pi)))
        curve = net.add("Add", net.add("Tanh", inner), net.constant(1.0))
        gelu = net.add("Mul", net.add("Mul", wider, net.constant(0.5)), curve)
        x = net.add("Add", x, net.linear(gelu, 4 * hidden, hidden))
        net.output(key)
        net.output(value)
    logits = net.add("MatMul", net.layer_norm(x, hidden), net.add("Transpose", words, perm=[1, 0]))
    net.output(logits)
    return net.model()


def resnet50(size: int = 64) -> Any:
    """ResNet-50 over images of ``size`` pixels, with its batch normalizations."""
    net = Builder()

    def block(x: str, before: int, after: int, window: int, stride: int, is_last: bool = False) -> str:
        y = net.add(
            "Conv",
            x,
            net.weight(after, before, window, window),
            strides=[stride] * 2,
            pads=[window // 2] * 4,
            kernel_shape=[window] * 2,
        )
        statistics = [
            net.constant(values)
            for values in (np.ones(after), np.zeros(after), np.zeros(after), np.ones(after))
        ]
        y = net.add("BatchNormalization", y, *statistics)
        return y if is_last else net.add("Relu", y)

    x = block(net.input("image", [1, 3, size, size]), 3, 64, 7, 2)
    x, before = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 64
    for narrow, count, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for index in range(count):
            stride = 1 if index else first
            y = block(x, before, narrow, 1, 1)
            y = block(y, narrow, narrow, 3, stride)
            y = block(y, narrow, 4 * narrow, 1, 1, True)
            side = x if index else block(x, before, 4 * narrow, 1, stride, True)
            x, before = net.add("Relu", net.add("Add", y, side)), 4 * narrow
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    net.output(net.add("Gemm", x, net.weight(1000, before), net.weight(1000, scale=0.1), transB=1))
    return net.model()
