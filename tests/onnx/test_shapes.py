"""Nodes of sizes and types that ask for more than one of DirectML's operators."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs the package onnx")
import onnx
from onnx import helper

import directml_py as dml
from directml_py.onnx.errors import OnnxError
from directml_py.onnx.translators import MICROSOFT

from .onnx_runtime import results_if_accepted

pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")


def one_node(kind, feeds, opset=18, **attributes):
    names = ["out0"]
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    made = helper.make_node(kind, list(feeds), names, **attributes)
    wanted = [onnx.ValueInfoProto(name=name) for name in names]
    graph = helper.make_graph([made], "one", given, wanted)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def floats(*sizes):
    return np.random.default_rng(0).random(sizes, np.float32)


NOTHING = np.zeros((0, 3), np.int64)
# Nodes with an empty input whose outputs have elements: the inputs, attributes, and the result.
OF_NOTHING = {
    "MatMul": ({"a": floats(2, 0), "b": floats(0, 3)}, {}, np.zeros((2, 3))),
    "Gemm": (
        {"a": floats(2, 0), "b": floats(0, 3), "c": np.float32([1, 2, 3])},
        {"beta": 2.0, "alpha": 3.0},
        [[2, 4, 6]] * 2,
    ),
    "Einsum": ({"a": floats(2, 0), "b": floats(0)}, {"equation": "ij,j->i"}, [0, 0]),
    "ScatterElements": ({"d": floats(4, 3), "i": NOTHING, "u": floats(0, 3)}, {}, floats(4, 3)),
    "ScatterND": ({"d": floats(4, 3), "i": NOTHING[:, :1], "u": floats(0, 3)}, {}, floats(4, 3)),
    "ReduceMax": ({"x": floats(2, 0)}, {"axes": [1]}, [[-np.inf]] * 2),
    "ReduceProd": ({"x": floats(2, 0)}, {"axes": [1], "keepdims": 0}, [1, 1]),
    "Concat": ({"a": floats(0, 3), "b": floats(2, 3)}, {"axis": 0}, floats(2, 3)),
    # Of no channels, and of padding alone.
    "Conv": (
        {"x": floats(1, 0, 3), "w": floats(2, 0, 2), "b": np.float32([3, 4])},
        {},
        [[[3, 3], [4, 4]]],
    ),
    "ConvTranspose": (
        {"x": floats(1, 0, 2), "w": floats(0, 2, 2), "b": np.float32([3, 4])},
        {},
        [[[3] * 3, [4] * 3]],
    ),
}


@pytest.mark.parametrize("kind", OF_NOTHING)
def test_results_of_nothing(kind):
    feeds, attributes, expected = OF_NOTHING[kind]
    model = one_node(kind, feeds, opset=13 if kind.startswith("Reduce") else 18, **attributes)
    np.testing.assert_array_equal(dml.onnx.load(model).run(feeds)["out0"], np.float32(expected))
    np.testing.assert_array_equal(results_if_accepted(model, feeds)[0], np.float32(expected))


def test_padding_alone():
    feeds = {"x": floats(0, 2), "pads": np.int64([1, 0, 1, 1]), "value": np.float32(7)}
    model = one_node("Pad", feeds)
    loaded = dml.onnx.load(model, inputs={"pads": feeds["pads"]})
    results = loaded.run({"x": feeds["x"], "value": feeds["value"]})
    np.testing.assert_array_equal(results["out0"], np.full((2, 3), 7))


def test_no_steps():
    """The last states are the first ones, which ONNX Runtime does not say."""
    states = {name: floats(1, 2, 4) + index for index, name in enumerate(("h", "c"))}
    feeds = {"x": floats(0, 2, 3), "w": floats(1, 16, 3), "r": floats(1, 16, 4), **states}
    model = one_node("LSTM", feeds, hidden_size=4)
    (recurrent,) = model.graph.node
    recurrent.input.insert(3, "")
    recurrent.input.insert(4, "")
    recurrent.output.extend(["out1", "out2"])
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in ("out1", "out2"))
    for item in model.graph.output:
        item.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    results = dml.onnx.load(model).run(feeds)
    assert results["out0"].shape == (0, 1, 2, 4)
    np.testing.assert_array_equal(results["out1"], states["h"])
    np.testing.assert_array_equal(results["out2"], states["c"])


def test_no_keys():
    feeds = {"q": floats(2, 3, 8), "k": floats(2, 0, 8), "v": floats(2, 0, 8)}
    model = one_node("MultiHeadAttention", feeds, domain=MICROSOFT, num_heads=2)
    model.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    for found in (dml.onnx.load(model).run(feeds)["out0"], results_if_accepted(model, feeds)[0]):
        np.testing.assert_array_equal(found, np.zeros((2, 3, 8)))


def test_an_empty_input_without_a_rule_is_named():
    model = one_node("MaxPool", {"x": floats(2, 3, 0)}, kernel_shape=[2], pads=[1, 1])
    with pytest.raises(OnnxError, match=r"input x: has sizes \[2, 3, 0\]; DirectML has no empty tensors"):
        dml.onnx.load(model)


def test_products_of_integers_are_exact():
    a = np.int64([[2**40, -3], [5, 2**62]])
    feeds = {"a": a, "b": a}
    model = one_node("MatMul", feeds)
    found = dml.onnx.load(model).run(feeds)["out0"]
    np.testing.assert_array_equal(found, a @ a)
    np.testing.assert_array_equal(found, results_if_accepted(model, feeds)[0])
    large = {"a": np.ones((1 << 13, 1 << 7), np.int64), "b": np.ones((1 << 7, 1 << 7), np.int64)}
    with pytest.raises(OnnxError, match="makes 134217728 products of integers"):
        dml.onnx.load(one_node("MatMul", large))


def test_an_axis_that_blocks_do_not_divide():
    feeds = {"x": np.int8([[1, 2, 3, 4, 5]]), "scale": np.float32([[1, 10, 100]])}
    model = one_node("DequantizeLinear", feeds, opset=21, axis=1, block_size=2)
    for found in (dml.onnx.load(model).run(feeds)["out0"], results_if_accepted(model, feeds)[0]):
        np.testing.assert_array_equal(found, [[1, 2, 30, 40, 500]])


@pytest.mark.parametrize(
    ("kind", "feeds", "expected"),
    [
        ("NonZero", {"x": np.array(5)}, [[0]]),
        ("Relu", {"x": np.int64([-(2**40), 2**40])}, [0, 2**40]),
        ("Squeeze", {"x": np.int64([[[7], [8]]]), "axes": np.int64([])}, [7, 8]),
    ],
)
def test_as_onnx_runtime_has_it(kind, feeds, expected):
    model = one_node(kind, feeds)
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    loaded = dml.onnx.load(model, inputs={} if kind == "Relu" else feeds)
    for found in (
        [*loaded.run({name: feeds[name] for name in loaded.inputs}).values()],
        results_if_accepted(model, feeds),
    ):
        np.testing.assert_array_equal(found[0], expected)


def test_scatters_that_are_refused():
    x, indices = floats(3, 4), np.zeros((2, 5), np.int64)
    with pytest.raises(OnnxError, match=r"input indices: has sizes \[2, 5\], which exceed \[3, 4\]"):
        dml.onnx.load(one_node("ScatterElements", {"x": x, "i": indices, "u": floats(2, 5)}))
    with pytest.raises(OnnxError, match="input updates: has sizes"):
        dml.onnx.load(one_node("ScatterElements", {"x": x, "i": indices[:, :4], "u": floats(2, 3)}))


def test_sums_of_many_updates_for_one_element():
    """Every update counts, those from the end too; what no index names stays."""
    feeds = {"x": np.float32([1, 2, 3, 4]), "i": np.int64([1, -3, 1, 0]), "u": np.float32([10, 20, 30, 5])}
    for reduction, expected in {
        "add": [6, 62, 3, 4],
        "mul": [5, 12000, 3, 4],
        "max": [5, 30, 3, 4],
        "min": [1, 2, 3, 4],
    }.items():
        model = one_node("ScatterElements", feeds, reduction=reduction)
        np.testing.assert_array_equal(dml.onnx.load(model).run(feeds)["out0"], np.float32(expected))
