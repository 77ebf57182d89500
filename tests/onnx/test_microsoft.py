"""Operators of the domain com.microsoft, compared with ONNX Runtime's."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")
import onnx
import onnxruntime
from onnx import helper

import directml_py as dml

RANDOM = np.random.default_rng(11)
MICROSOFT = "com.microsoft"


def floats(*sizes):
    return RANDOM.standard_normal(sizes).astype(np.float32)


def bytes_of(*sizes, dtype=np.uint8):
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max + 1, sizes).astype(dtype)


def integers(*values):
    return np.array(values, np.int32)


def model_of(kind, inputs, attributes, outputs=1):
    """A model of one node; an input that is None is absent."""
    names = ["" if array is None else f"in{index}" for index, array in enumerate(inputs)]
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in zip(names, inputs)
        if array is not None
    ]
    # ONNX Runtime requires the second output of this one too.
    wanted = [f"out{index}" for index in range(2 if kind == "EmbedLayerNormalization" else outputs)]
    node = helper.make_node(kind, names, wanted, domain=MICROSOFT, **attributes)
    graph = helper.make_graph([node], "one", given, [onnx.ValueInfoProto(name=name) for name in wanted])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    for index, item in enumerate(model.graph.output):
        is_count = index and kind == "EmbedLayerNormalization"
        item.type.tensor_type.elem_type = onnx.TensorProto.INT32 if is_count else element_of(kind)
    return model, {name: array for name, array in zip(names, inputs) if array is not None}


def element_of(kind):
    if kind.startswith("QLinear"):
        return helper.np_dtype_to_tensor_dtype(np.dtype(np.uint8))
    return helper.np_dtype_to_tensor_dtype(np.dtype(np.float32))


ONE, U8 = np.float32(0.05).reshape(()), np.uint8(120).reshape(())
CASES = {
    "Gelu": ("Gelu", [floats(3, 4)], {}),
    "BiasGelu": ("BiasGelu", [floats(2, 3, 4), floats(4)], {}),
    "FastGelu": ("FastGelu", [floats(2, 3, 4)], {}),
    "FastGelu, bias": ("FastGelu", [floats(2, 3, 4), floats(4)], {}),
    "QuickGelu": ("QuickGelu", [floats(3, 4)], {"alpha": 1.5}),
    "FusedMatMul": ("FusedMatMul", [floats(2, 4, 3), floats(2, 4, 5)], {"transA": 1, "alpha": 0.5}),
    "FusedMatMul, transposed B": ("FusedMatMul", [floats(2, 2, 3, 4), floats(5, 4)], {"transB": 1}),
    "SkipLayerNormalization": (
        "SkipLayerNormalization",
        [floats(2, 3, 8), floats(2, 3, 8), floats(8), floats(8), floats(8)],
        {"epsilon": 1e-5},
    ),
    "SkipSimplifiedLayerNormalization": (
        "SkipSimplifiedLayerNormalization",
        [floats(2, 3, 8), floats(2, 3, 8), floats(8)],
        {"epsilon": 1e-5},
    ),
    "EmbedLayerNormalization": (
        "EmbedLayerNormalization",
        [
            integers([1, 4, 2], [0, 3, 3]),
            integers([0, 1, 1], [0, 0, 1]),
            floats(5, 8),
            floats(4, 8),
            floats(2, 8),
            floats(8),
            floats(8),
        ],
        {"epsilon": 1e-5},
    ),
    "RotaryEmbedding": (
        "RotaryEmbedding",
        [floats(2, 3, 16), np.array([[0, 1, 2], [1, 2, 3]]), floats(5, 4), floats(5, 4)],
        {},
    ),
    "RotaryEmbedding, interleaved": (
        "RotaryEmbedding",
        [floats(2, 2, 3, 8), np.array([1]), floats(5, 4), floats(5, 4)],
        {"interleaved": 1},
    ),
    "MultiHeadAttention": (
        "MultiHeadAttention",
        [floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8), floats(24)],
        {"num_heads": 2},
    ),
    "MultiHeadAttention, mask": (
        "MultiHeadAttention",
        [floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8), None, integers([1, 1, 1, 1, 0], [1, 1, 0, 0, 0])],
        {"num_heads": 2, "scale": 0.3},
    ),
    "MultiHeadAttention, bias of scores": (
        "MultiHeadAttention",
        [floats(1, 3, 8), floats(1, 5, 8), floats(1, 5, 8), None, None, floats(1, 2, 3, 5)],
        {"num_heads": 2},
    ),
    "Attention": ("Attention", [floats(2, 3, 8), floats(8, 24), floats(24)], {"num_heads": 2}),
    "Attention, lengths": (
        "Attention",
        [floats(2, 3, 8), floats(8, 24), floats(24), integers(3, 2)],
        {"num_heads": 2},
    ),
    "Attention, causal": (
        "Attention",
        [floats(2, 3, 8), floats(8, 24), floats(24)],
        {"num_heads": 2, "unidirectional": 1},
    ),
    "QAttention": (
        "QAttention",
        [bytes_of(2, 3, 8), bytes_of(8, 24), floats(24), ONE / 20, ONE / 20, None, U8, U8],
        {"num_heads": 2},
    ),
    # Beyond 127 ONNX Runtime saturates on processors without VNNI.
    "QAttention, signed, by column, lengths": (
        "QAttention",
        [
            bytes_of(2, 3, 8) // 2,
            bytes_of(8, 24, dtype=np.int8),
            floats(24),
            ONE / 20,
            np.abs(floats(24)) / 400,
            integers(3, 2),
            U8,
            bytes_of(24, dtype=np.int8),
        ],
        {"num_heads": 2},
    ),
    "QAttention, causal": (
        "QAttention",
        [bytes_of(2, 3, 8), bytes_of(8, 24), floats(24), ONE / 20, ONE / 20, None, U8],
        {"num_heads": 2, "unidirectional": 1},
    ),
    "QLinearAdd": ("QLinearAdd", [bytes_of(3, 4), ONE, U8, bytes_of(4), ONE, U8, ONE * 2, U8], {}),
    "QLinearSigmoid": ("QLinearSigmoid", [bytes_of(3, 4), ONE, U8, np.float32(1 / 256), np.uint8(0)], {}),
    "QLinearAveragePool": (
        "QLinearAveragePool",
        [bytes_of(1, 2, 6, 6), ONE, U8, ONE, U8],
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
    ),
    "QLinearGlobalAveragePool": ("QLinearGlobalAveragePool", [bytes_of(1, 2, 6, 6), ONE, U8, ONE, U8], {}),
    "QLinearConcat": (
        "QLinearConcat",
        [ONE, U8, bytes_of(2, 3), ONE * 2, U8, bytes_of(2, 1), ONE / 2, np.uint8(3)],
        {"axis": 1},
    ),
    "MatMulIntegerToFloat": (
        "MatMulIntegerToFloat",
        [
            bytes_of(2, 3, 4),
            bytes_of(4, 5),
            np.float32(0.1).reshape(1),
            abs(floats(5)),
            np.uint8(7).reshape(1),
        ],
        {},
    ),
    "DynamicQuantizeMatMul": (
        "DynamicQuantizeMatMul",
        [floats(3, 4), bytes_of(4, 5), np.float32(0.1).reshape(1), np.uint8(130).reshape(1), floats(5)],
        {},
    ),
    "MatMulNBits": (
        "MatMulNBits",
        [floats(2, 3, 64), bytes_of(5, 4, 8), floats(5 * 4)],
        {"K": 64, "N": 5, "bits": 4, "block_size": 16},
    ),
    "MatMulNBits, zero points": (
        "MatMulNBits",
        [floats(3, 48), bytes_of(5, 3, 8), floats(5 * 3), bytes_of(5 * 2)],
        {"K": 48, "N": 5, "bits": 4, "block_size": 16},
    ),
    "ConvTransposeWithDynamicPads": (
        "ConvTransposeWithDynamicPads",
        [floats(1, 2, 4, 4), floats(2, 3, 3, 3), np.array([1, 0, 1, 0])],
        {"strides": [2, 2]},
    ),
}
# Inputs that are constants: they decide about the graph, or ONNX Runtime requires it.
CONSTANT = {
    "ConvTransposeWithDynamicPads": (2,),
    "MatMulNBits": (1, 2, 3),
    "DynamicQuantizeMatMul": (1, 2, 3, 4),
}


@pytest.mark.parametrize("name", CASES)
def test_operator(name):
    kind, inputs, attributes = CASES[name]
    inputs = [None if array is None else np.asarray(array) for array in inputs]
    model, given = model_of(kind, inputs, attributes)
    fixed = {key for key in given if int(key.removeprefix("in")) in CONSTANT.get(kind, ())}
    initialized = onnx.ModelProto.FromString(model.SerializeToString())
    initialized.graph.initializer.extend(
        onnx.numpy_helper.from_array(given[key], key) for key in sorted(fixed)
    )
    kept = [item for item in initialized.graph.input if item.name not in fixed]
    del initialized.graph.input[:]
    initialized.graph.input.extend(kept)
    variable = {key: array for key, array in given.items() if key not in fixed}
    session = onnxruntime.InferenceSession(
        initialized.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (expected,) = session.run(["out0"], variable)
    found = dml.onnx.load(initialized).run(variable)["out0"]
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    if found.dtype == np.uint8:
        # Halves may be rounded either way where sums differ in the last place.
        assert abs(found.astype(int) - expected.astype(int)).max() <= 1
    else:
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


MASKS = {
    "none": None,
    "a boolean per key": integers([1, 1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 1, 0, 0]),
    "lengths": integers(7, 5),
}


@pytest.mark.parametrize("kind", ["Attention", "QAttention"])
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("mask", MASKS)
def test_attention_behind_past_keys_and_values(kind, causal, mask):
    """Three tokens behind four, and the keys and values of all seven."""
    past, own = floats(2, 2, 2, 4, 4), floats(24)
    if kind == "Attention":
        inputs = [floats(2, 3, 8), floats(8, 24), own, MASKS[mask], past]
    else:
        factors = [bytes_of(2, 3, 8), bytes_of(8, 24), own]
        inputs = [*factors, ONE / 20, ONE / 20, MASKS[mask], U8, U8, past]
    inputs = [None if array is None else np.asarray(array) for array in inputs]
    model, given = model_of(kind, inputs, {"num_heads": 2, "unidirectional": causal}, outputs=2)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = dml.onnx.load(model).run(given)
    for name, expected in zip(("out0", "out1"), session.run(None, given)):
        assert found[name].shape == expected.shape
        np.testing.assert_allclose(found[name], expected, rtol=2e-4, atol=2e-5)


def run_alone(kind, inputs, **attributes):
    model, given = model_of(kind, inputs, attributes)
    return dml.onnx.load(model).run(given)["out0"]


def test_bias_add():
    x, bias, skip = floats(2, 3, 4), floats(4), floats(2, 3, 4)
    np.testing.assert_allclose(run_alone("BiasAdd", [x, bias, skip]), x + bias + skip, rtol=1e-6)


def test_bias_split_gelu():
    x, bias = floats(2, 3, 8), floats(8)
    first, second = np.split(x + bias, 2, axis=-1)
    gelu = second * np.vectorize(lambda value: 0.5 * (1 + __import__("math").erf(value / 2**0.5)))(second)
    np.testing.assert_allclose(run_alone("BiasSplitGelu", [x, bias]), first * gelu, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("last", [0, 1])
def test_group_norm(last):
    x, scale, bias = floats(2, 3, 3, 8), floats(8), floats(8)
    groups = x.reshape(2, 9, 4, 2)
    centred = groups - groups.mean((1, 3), keepdims=True)
    normal = (centred / np.sqrt(np.square(centred).mean((1, 3), keepdims=True) + 1e-5)).reshape(x.shape)
    expected = normal * scale + bias
    expected = expected / (1 + np.exp(-expected))
    if not last:
        x, expected = x.transpose(0, 3, 1, 2), expected.transpose(0, 3, 1, 2)
    found = run_alone(
        "GroupNorm", [np.ascontiguousarray(x), scale, bias], groups=4, activation=1, channels_last=last
    )
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_channels_last_convolution():
    x, filters, bias = floats(1, 5, 6, 2), floats(3, 3, 3, 2), floats(3)
    found = run_alone("NhwcConv", [x, filters, bias], pads=[1, 1, 1, 1], strides=[1, 2])
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), (3, 3), (1, 2)
    )
    expected = np.einsum("bhwcij,oijc->bhwo", windows[:, :, ::2], filters) + bias
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("new", "past", "key_heads", "lengths"),
    [(1, 5, 2, [6, 4]), (3, 0, 2, [3]), (3, 5, 4, [8])],
    ids=["one token, two lengths", "a prompt", "several tokens behind others"],
)
def test_group_query_attention(new, past, key_heads, lengths):
    batch, heads, width = len(lengths), 4, 8
    keys = (batch, key_heads, past, width)
    inputs = [
        floats(batch, new, heads * width),
        floats(batch, new, key_heads * width),
        floats(batch, new, key_heads * width),
        floats(*keys),
        floats(*keys),
        np.array(lengths, np.int32) - 1,
        np.array(past + new, np.int32),
    ]
    attributes = {"num_heads": heads, "kv_num_heads": key_heads}
    model, given = model_of("GroupQueryAttention", inputs, attributes, outputs=3)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, given)
    total = given.pop("in6")
    found = dml.onnx.load(model, inputs={"in6": total}).run(given)
    for ours, theirs in zip(found.values(), expected):
        assert ours.shape == theirs.shape
    for row, length in enumerate(lengths):
        np.testing.assert_allclose(found["out0"][row], expected[0][row], rtol=1e-4, atol=1e-5)
        for name, theirs in zip(("out1", "out2"), expected[1:]):
            # What lies behind a shorter sequence is not defined.
            np.testing.assert_array_equal(found[name][row][:, :length], theirs[row][:, :length])


def test_group_query_attention_needs_the_total_length():
    inputs = (
        [floats(1, 1, 8)] * 3 + [floats(1, 1, 2, 8)] * 2 + [np.array([2], np.int32), np.array(3, np.int32)]
    )
    model, _ = model_of("GroupQueryAttention", inputs, {"num_heads": 1, "kv_num_heads": 1}, outputs=3)
    with pytest.raises(
        dml.onnx.OnnxError, match=r"total_sequence_length: its value determines.* contents of 'in6'"
    ):
        dml.onnx.load(model)
