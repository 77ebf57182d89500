"""ONNX Runtime's own operators (com.microsoft) and others that its DirectML provider has: small models of one operator.

Expected results are the CPU provider's in FLOAT, also for FLOAT16. For the operators that it lacks they are NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from .judging import cpu_outputs
from .node_models import ProviderCase
from .tensors import Array, named

GROUP = "microsoft"
MICROSOFT = "com.microsoft"
OPSET = 17
BYTES, CHARS = TensorProto.UINT8, TensorProto.INT8
# The last version of ONNX that ONNX Runtime's early operators are in.
EARLY = 9
RANDOM = np.random.default_rng(48)
Reference = Callable[..., Array]


class Op(NamedTuple):
    """One operator on inputs, of which None are left out; ``activation`` is one more operator on its output."""

    operator: str
    inputs: tuple[Array | None, ...]
    attributes: Mapping[str, Any] = MappingProxyType({})
    outputs: int = 1
    domain: str = MICROSOFT
    activation: tuple[str, dict[str, Any]] | None = None
    reference: Reference | None = None
    # The elements of the outputs; None stands for the floating-point type of the inputs.
    kind: int | None = None
    # What is constant in real models: the provider reads it when the session is created.
    constants: tuple[int, ...] = ()
    opset: int = OPSET


def floats(*sizes: int, scale: float = 1.0) -> Array:
    return (RANDOM.standard_normal(sizes) * scale).astype(np.float32)


def positive(*sizes: int) -> Array:
    return (RANDOM.random(sizes) + 0.1).astype(np.float32)


def integers(low: int, high: int, *sizes: int, dtype: Any = np.int32) -> Array:
    return RANDOM.integers(low, high, sizes).astype(dtype)


def scalar(value: float, dtype: Any = np.float32) -> Array:
    return np.array(value, dtype)


def _gelu(x: Array) -> Array:
    erf = np.vectorize(math.erf)
    return np.asarray(x * 0.5 * (1 + erf(x / np.sqrt(2))))


def bias_split_gelu(x: Array, bias: Array) -> Array:
    left, right = np.split(x + bias, 2, axis=-1)
    return np.asarray(left * _gelu(right))


def bias_add(x: Array, bias: Array, skip: Array) -> Array:
    return np.asarray(x + bias + skip)


def group_norm(
    x: Array, gamma: Array, beta: Array, *, groups: int, activation: int, epsilon: float = 1e-5
) -> Array:
    """GroupNorm of channels that come last."""
    count, height, width, channels = x.shape
    parts = x.reshape(count, height, width, groups, channels // groups)
    mean = parts.mean((1, 2, 4), keepdims=True)
    variance = parts.var((1, 2, 4), keepdims=True)
    normal = ((parts - mean) / np.sqrt(variance + epsilon)).reshape(x.shape) * gamma + beta
    return np.asarray(normal / (1 + np.exp(-normal)) if activation else normal)


def nhwc_convolution(x: Array, weights: Array) -> Array:
    """A convolution of images with their channels last, padded so that their sizes stay."""
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), (3, 3), (1, 2)
    )
    return np.asarray(np.einsum("nhwcij,mijc->nhwm", windows, weights))


def _unary() -> dict[str, Op]:
    x, bias = floats(2, 3, 8), floats(8)
    return {
        "Gelu": Op("Gelu", (x,)),
        "QuickGelu": Op("QuickGelu", (x,), {"alpha": 1.5}),
        "QuickGelu default": Op("QuickGelu", (x,)),
        "FastGelu": Op("FastGelu", (x,)),
        "FastGelu bias": Op("FastGelu", (x, bias)),
        "BiasGelu": Op("BiasGelu", (x, bias)),
        "BiasSplitGelu": Op("BiasSplitGelu", (floats(2, 5, 16), floats(16)), reference=bias_split_gelu),
        "BiasAdd": Op("BiasAdd", (floats(2, 5, 320), floats(320), floats(2, 5, 320)), reference=bias_add),
        "ScaledTanh": Op("ScaledTanh", (x,), {"alpha": 2.0, "beta": 0.5}, domain="", opset=EARLY),
        "ParametricSoftplus": Op("ParametricSoftplus", (x,), {"alpha": 2.0, "beta": 0.5}, domain="", opset=EARLY),
        "Affine": Op("Affine", (x,), {"alpha": 2.0, "beta": 0.5}, domain="", opset=EARLY),
        "ImageScaler": Op(
            "ImageScaler", (floats(1, 3, 4, 5),), {"bias": [0.5, 1.0, -1.0], "scale": 2.0}, domain="", opset=EARLY
        ),
        "Crop": Op("Crop", (floats(1, 3, 6, 7),), {"border": [1, 2, 1, 0]}, domain="", opset=EARLY),
        "MaxRoiPool": Op(
            "MaxRoiPool",
            (floats(2, 3, 8, 8), np.array([[0, 0, 0, 3, 4], [1, 2, 2, 7, 7]], np.float32)),
            {"pooled_shape": [2, 3]},
            domain="",
        ),
    }  # fmt: skip


def _products() -> dict[str, Op]:
    nodes = {
        f"FusedMatMul {a}{b}": Op(
            "FusedMatMul",
            (floats(2, 4, 3) if a else floats(2, 3, 4), floats(2, 5, 4) if b else floats(2, 4, 5)),
            {"transA": a, "transB": b, "alpha": 0.5},
        )
        for a in (0, 1)
        for b in (0, 1)
    }  # fmt: skip
    a, b = integers(0, 255, 3, 8, dtype=np.uint8), integers(-64, 64, 8, 5, dtype=np.int8)
    scales = np.abs(floats(5, scale=0.01)) + np.float32(0.001)
    return nodes | {
        "FusedMatMul transBatchA": Op(
            "FusedMatMul", (floats(3, 2, 4), floats(2, 4, 5)), {"transBatchA": 1, "alpha": 1.0}
        ),
        "MatMulIntegerToFloat": Op("MatMulIntegerToFloat", (a, b, scalar(0.02), scalar(0.01))),
        "MatMulIntegerToFloat all": Op(
            "MatMulIntegerToFloat",
            (a, b, scalar(0.02), scales, scalar(128, np.uint8), integers(-9, 9, 5, dtype=np.int8), floats(5)),
        ),
        "DynamicQuantizeMatMul": Op("DynamicQuantizeMatMul", (floats(3, 8), b, scales), kind=TensorProto.FLOAT),
        "DynamicQuantizeMatMul zero point": Op(
            "DynamicQuantizeMatMul", (floats(2, 3, 8), b, scales, integers(-9, 9, 5, dtype=np.int8), floats(5)),
            kind=TensorProto.FLOAT,
        ),
        "MatMulNBits": Op(
            "MatMulNBits", (floats(3, 32), integers(0, 256, 8, 2, 8, dtype=np.uint8), positive(16),
                            integers(0, 256, 8, dtype=np.uint8)),
            {"K": 32, "N": 8, "bits": 4, "block_size": 16}, constants=(1, 2, 3),
        ),
        "MatMulNBits no zero point": Op(
            "MatMulNBits", (floats(3, 32), integers(0, 256, 8, 2, 8, dtype=np.uint8), positive(16)),
            {"K": 32, "N": 8, "bits": 4, "block_size": 16}, constants=(1, 2),
        ),
        "MatMulNBits vector": Op(
            "MatMulNBits", (floats(1, 1, 64), integers(0, 256, 16, 2, 16, dtype=np.uint8), positive(32),
                            integers(0, 256, 16, dtype=np.uint8)),
            {"K": 64, "N": 16, "bits": 4, "block_size": 32}, constants=(1, 2, 3),
        ),
    }  # fmt: skip


def _normalizations() -> dict[str, Op]:
    x, skip, gamma, beta, bias = floats(2, 3, 8), floats(2, 3, 8), floats(8), floats(8), floats(8)
    words = (
        integers(0, 20, 2, 4),
        integers(0, 2, 2, 4),
        floats(20, 8),
        floats(16, 8),
        floats(2, 8),
        gamma,
        beta,
    )
    image = floats(2, 4, 4, 32)
    return {
        "SkipLayerNormalization": Op("SkipLayerNormalization", (x, skip, gamma, beta)),
        "SkipLayerNormalization no beta": Op("SkipLayerNormalization", (x, skip, gamma)),
        "SkipLayerNormalization bias": Op("SkipLayerNormalization", (x, skip, gamma, beta, bias), {"epsilon": 1e-3}),
        "SkipSimplifiedLayerNormalization": Op("SkipSimplifiedLayerNormalization", (x, skip, gamma)),
        "SkipSimplifiedLayerNormalization bias": Op("SkipSimplifiedLayerNormalization", (x, skip, gamma, bias)),
        "SimplifiedLayerNormalization": Op("SimplifiedLayerNormalization", (x, gamma), {"axis": -1}, domain=""),
        "LayerNormalization": Op("LayerNormalization", (x, gamma, beta), {"axis": -1}, domain=""),
        "LayerNormalization two axes": Op(
            "LayerNormalization", (x, floats(3, 8), floats(3, 8)), {"axis": 1}, domain=""
        ),
        "EmbedLayerNormalization": Op("EmbedLayerNormalization", (*words, integers(0, 2, 2, 4)), outputs=2),
        "EmbedLayerNormalization no segments": Op(
            "EmbedLayerNormalization", (words[0], None, words[2], words[3], None, gamma, beta), outputs=2
        ),
        "GroupNorm": Op(
            "GroupNorm", (image, floats(32), floats(32)), {"groups": 4, "activation": 0},
            reference=lambda x, gamma, beta: group_norm(x, gamma, beta, groups=4, activation=0),
        ),
        "GroupNorm SiLU": Op(
            "GroupNorm", (image, floats(32), floats(32)), {"groups": 8, "activation": 1, "epsilon": 1e-3},
            reference=lambda x, gamma, beta: group_norm(x, gamma, beta, groups=8, activation=1, epsilon=1e-3),
        ),
    }  # fmt: skip


def _attention() -> dict[str, Op]:
    x, weights, bias = floats(2, 4, 8), floats(8, 24, scale=0.5), floats(24)
    q, k, v = floats(2, 4, 8), floats(2, 6, 8), floats(2, 6, 8)
    heads = {"num_heads": 2}
    angles = (np.arange(16)[:, None] / 10 ** np.linspace(0, 2, 4)).astype(np.float32)
    cos, sin = np.cos(angles), np.sin(angles)
    grouped = (floats(1, 4, 64), floats(1, 4, 32), floats(1, 4, 32))
    wide = (np.arange(16)[:, None] / 10 ** np.linspace(0, 2, 8)).astype(np.float32)
    lengths = np.array([[3]], np.int32), np.array([4], np.int32)
    return {
        "Attention": Op("Attention", (x, weights, bias), heads),
        "Attention no bias": Op("Attention", (x, weights), heads),
        "Attention scale": Op("Attention", (x, weights, bias), {**heads, "scale": 0.3}),
        "Attention lengths": Op("Attention", (x, weights, bias, np.array([4, 2], np.int32)), heads),
        "Attention mask": Op(
            "Attention", (x, weights, bias, np.array([[1, 1, 1, 1], [1, 1, 1, 0]], np.int32)), heads
        ),
        "Attention mask value": Op(
            "Attention", (x, weights, bias, np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)),
            {**heads, "mask_filter_value": -1000.0},
        ),
        "Attention bias of scores": Op("Attention", (x, weights, bias, None, None, floats(2, 2, 4, 4)), heads),
        "Attention unequal sizes": Op(
            "Attention", (x, floats(8, 28), floats(28)), {**heads, "qkv_hidden_sizes": [8, 8, 12]}
        ),
        "Attention unidirectional": Op("Attention", (x, weights, bias), {**heads, "unidirectional": 1}),
        "Attention past": Op("Attention", (x, weights, bias, None, floats(2, 2, 2, 3, 4)), heads, outputs=2),
        "QAttention": Op(
            "QAttention",
            (integers(0, 255, 2, 4, 8, dtype=np.uint8), integers(-64, 64, 8, 24, dtype=np.int8), bias, scalar(0.02),
             scalar(0.01), np.array([4, 3], np.int32), scalar(128, np.uint8), scalar(0, np.int8)),
            heads,
        ),
        "QAttention no mask": Op(
            "QAttention",
            (integers(0, 255, 2, 4, 8, dtype=np.uint8), integers(-64, 64, 8, 24, dtype=np.int8), bias, scalar(0.02),
             scalar(0.01), None, scalar(120, np.uint8), scalar(3, np.int8)),
            heads,
        ),
        "MultiHeadAttention": Op("MultiHeadAttention", (q, k, v), heads),
        "MultiHeadAttention bias": Op("MultiHeadAttention", (q, k, v, floats(24)), heads),
        "MultiHeadAttention lengths": Op("MultiHeadAttention", (q, k, v, None, np.array([6, 3], np.int32)), heads),
        "MultiHeadAttention mask": Op(
            "MultiHeadAttention", (q, k, v, None, np.array([[1] * 6, [1, 1, 1, 0, 0, 0]], np.int32)), heads
        ),
        "MultiHeadAttention bias of scores": Op(
            "MultiHeadAttention", (q, k, v, None, None, floats(2, 2, 4, 6)), heads
        ),
        "MultiHeadAttention past": Op(
            "MultiHeadAttention",
            (q, floats(2, 4, 8), floats(2, 4, 8), None, None, None, floats(2, 2, 3, 4), floats(2, 2, 3, 4)),
            heads, outputs=3,
        ),
        "MultiHeadAttention unidirectional": Op(
            "MultiHeadAttention", (q, floats(2, 4, 8), floats(2, 4, 8)), {**heads, "unidirectional": 1}
        ),
        "MultiHeadAttention scale": Op("MultiHeadAttention", (q, k, v), {**heads, "scale": 0.25}),
        "MultiHeadAttention value size": Op("MultiHeadAttention", (q, k, floats(2, 6, 12)), heads),
        "GroupQueryAttention": Op(
            "GroupQueryAttention", (*grouped, None, None, *lengths), {"num_heads": 4, "kv_num_heads": 2}, outputs=3,
            constants=(5, 6),
        ),
        "GroupQueryAttention rotary": Op(
            "GroupQueryAttention", (*grouped, None, None, *lengths, np.cos(wide), np.sin(wide)),
            {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}, outputs=3, constants=(5, 6),
        ),
        "GroupQueryAttention one token": Op(
            "GroupQueryAttention",
            (floats(1, 1, 64), floats(1, 1, 32), floats(1, 1, 32), floats(1, 2, 3, 16), floats(1, 2, 3, 16), *lengths),
            {"num_heads": 4, "kv_num_heads": 2}, outputs=3, constants=(5, 6),
        ),
        "RotaryEmbedding": Op(
            "RotaryEmbedding", (floats(2, 3, 16), np.array([[0, 1, 2], [3, 4, 5]], np.int64), cos, sin),
        ),
        "RotaryEmbedding interleaved": Op(
            "RotaryEmbedding", (floats(2, 3, 16), np.array([[0, 1, 2], [3, 4, 5]], np.int64), cos, sin),
            {"interleaved": 1},
        ),
        "RotaryEmbedding one position": Op(
            "RotaryEmbedding", (floats(2, 2, 3, 8), np.array([2], np.int64), cos, sin),
        ),
    }  # fmt: skip


def _quantized() -> dict[str, Op]:
    a, b = integers(0, 255, 2, 3, 4, dtype=np.uint8), integers(0, 255, 3, 4, dtype=np.uint8)
    image = integers(-128, 127, 1, 2, 6, 6, dtype=np.int8)
    # No ratio of scales makes a result lie between two integers: the CPU provider rounds those up in places.
    first = (scalar(0.0211), scalar(100, np.uint8))
    second = (scalar(0.0307), scalar(128, np.uint8))
    signed = (scalar(0.0211), scalar(3, np.int8))
    wide = (scalar(0.0437), scalar(-2, np.int8))
    return {
        "QLinearAdd": Op("QLinearAdd", (a, *first, b, *second, scalar(0.05), scalar(110, np.uint8)), kind=BYTES),
        "QLinearAdd int8": Op("QLinearAdd", (image, *signed, image, *wide, *wide), kind=CHARS),
        "QLinearSigmoid": Op("QLinearSigmoid", (a, *first, scalar(1 / 256), scalar(0, np.uint8)), kind=BYTES),
        "QLinearAveragePool": Op(
            "QLinearAveragePool", (image, *signed, *wide), {"kernel_shape": [2, 2], "strides": [2, 2]}, kind=CHARS
        ),
        "QLinearAveragePool padded": Op(
            "QLinearAveragePool", (image, *signed, *wide), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1],
                                                            "count_include_pad": 1}, kind=CHARS
        ),
        "QLinearGlobalAveragePool": Op("QLinearGlobalAveragePool", (image, *signed, *wide), kind=CHARS),
        "QLinearConcat": Op(
            "QLinearConcat", (scalar(0.05), scalar(110, np.uint8), a, *first, a, *second), {"axis": 1}, kind=BYTES
        ),
        "QuantizeLinear": Op("QuantizeLinear", (floats(3, 4), scalar(0.05), scalar(100, np.uint8)), kind=BYTES),
        "QuantizeLinear per axis": Op(
            "QuantizeLinear", (floats(3, 4), positive(4), integers(0, 255, 4, dtype=np.uint8)), {"axis": 1}, kind=BYTES
        ),
        "DequantizeLinear": Op("DequantizeLinear", (a, *first)),
        "DequantizeLinear per axis": Op(
            "DequantizeLinear", (a, positive(3), integers(0, 255, 3, dtype=np.uint8)), {"axis": 1}
        ),
    }  # fmt: skip


ACTIVATIONS: dict[str, dict[str, Any]] = {
    "Relu": {}, "Sigmoid": {}, "Tanh": {}, "Softplus": {}, "Softsign": {}, "LeakyRelu": {"alpha": 0.1},
    "Elu": {"alpha": 0.7}, "Selu": {}, "HardSigmoid": {"alpha": 0.3, "beta": 0.4}, "ThresholdedRelu": {"alpha": 0.5},
}  # fmt: skip


def _fused() -> dict[str, Op]:
    """Operators and activations that the provider's own optimizer fuses."""
    image, weights = floats(1, 3, 6, 6), floats(4, 3, 3, 3, scale=0.3)
    statistics = (positive(3), floats(3), floats(3), positive(3))
    first: dict[str, tuple[tuple[Array, ...], dict[str, Any]]] = {
        "Conv": ((image, weights, floats(4)), {"pads": [1, 1, 1, 1]}),
        "ConvTranspose": ((image, floats(3, 4, 3, 3, scale=0.3), floats(4)), {"strides": [2, 2]}),
        "BatchNormalization": ((image, *statistics), {}),
        "InstanceNormalization": ((image, positive(3), floats(3)), {}),
        "MeanVarianceNormalization": ((image,), {"axes": [0, 2, 3]}),
        "Gemm": ((floats(3, 5), floats(5, 4), floats(4)), {"alpha": 0.5}),
        "MatMul": ((floats(2, 3, 5), floats(5, 4)), {}),
        "Add": ((floats(2, 3, 4), floats(2, 3, 4)), {}),
        "Sum": ((floats(2, 3, 4), floats(2, 3, 4)), {}),
    }
    nodes = {
        f"{operator} {activation}": Op(
            operator, inputs, attributes, 1, "", (activation, ACTIVATIONS[activation])
        )
        for operator, (inputs, attributes) in first.items()
        for activation in (("Relu", "LeakyRelu") if operator != "Conv" else ACTIVATIONS)
    }
    return nodes | {
        "ConvTransposeWithDynamicPads": Op(
            "ConvTransposeWithDynamicPads",
            (image, floats(3, 4, 3, 3), np.array([1, 1, 1, 1], np.int64)), {"strides": [2, 2]}, constants=(2,),
        ),
        "NhwcConv": Op(
            "NhwcConv", (image.transpose(0, 2, 3, 1).copy(), weights.transpose(0, 2, 3, 1).copy()),
            {"pads": [1, 1, 1, 1]}, reference=nhwc_convolution,
        ),
    }  # fmt: skip


def nodes() -> dict[str, Op]:
    return _unary() | _products() | _normalizations() | _attention() | _quantized() | _fused()


def cases() -> Iterator[ProviderCase]:
    for name, node in nodes().items():
        yield _case(name, node, np.float32, None if node.reference is None else _expected(node))
        # The scales of quantized results are FLOAT.
        if node.kind is None and any(
            array is not None and array.dtype == np.float32 for array in node.inputs
        ):
            expected = _expected(node._replace(inputs=tuple(map(_rounded, node.inputs))))
            half = None if expected is None else [_half(tensor) for tensor in expected]
            yield _case(f"{name}:float16", node, np.float16, half)


def _rounded(array: Array | None) -> Array | None:
    if array is None or array.dtype != np.float32:
        return array
    return array.astype(np.float16).astype(np.float32)


def _half(tensor: TensorProto) -> TensorProto:
    array = numpy_helper.to_array(tensor)
    return named(tensor.name, array.astype(np.float16) if array.dtype == np.float32 else array)


def _expected(node: Op) -> list[TensorProto] | None:
    """The results in FLOAT for inputs that FLOAT16 has; None if the CPU provider lacks the operator."""
    if node.reference is not None:
        return [named("y0", node.reference(*node.inputs).astype(np.float32))]
    case = _case("", node, np.float32, None)
    found = cpu_outputs(case.model, case.inputs)
    return None if isinstance(found, str) else found


def _case(name: str, node: Op, dtype: Any, expected: list[TensorProto] | None) -> ProviderCase:
    arrays = {
        f"x{index}": array.astype(dtype) if array.dtype == np.float32 else array
        for index, array in enumerate(node.inputs)
        if array is not None
    }
    tensors = {label: named(label, array.copy()) for label, array in arrays.items()}
    labels = [f"x{index}" if array is not None else "" for index, array in enumerate(node.inputs)]
    model = _model(node, labels, tensors, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
    fed = [tensor for label, tensor in tensors.items() if int(label[1:]) not in node.constants]
    return ProviderCase(GROUP, name.replace(" ", "_"), model, fed, expected)


def _model(node: Op, labels: list[str], tensors: dict[str, TensorProto], kind: int) -> ModelProto:
    made = [f"y{index}" for index in range(node.outputs)]
    middle = ["h"] if node.activation else made
    operators = [helper.make_node(node.operator, labels, middle, domain=node.domain, **node.attributes)]
    if node.activation:
        operators.append(helper.make_node(node.activation[0], middle, made, **node.activation[1]))
    inputs = [
        helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
        for tensor in tensors.values()
        if int(tensor.name[1:]) not in node.constants
    ]
    # ONNX Runtime infers the other outputs' types; the first may differ from the inputs'.
    outputs = [
        helper.make_tensor_value_info(label, _output_kind(node, index, kind), None)
        for index, label in enumerate(made)
    ]
    constants = [tensors[f"x{index}"] for index in node.constants]
    graph = helper.make_graph(operators, node.operator, inputs, outputs, constants)
    opsets = [helper.make_opsetid("", node.opset), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def _output_kind(node: Op, index: int, kind: int) -> int:
    if node.operator == "EmbedLayerNormalization" and index == 1:
        return int(TensorProto.INT32)
    return kind if node.kind is None else node.kind
