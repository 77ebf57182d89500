"""Runs of a model directly on arrays, and step by step for observers."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
import onnx
from onnx import TensorProto, helper, numpy_helper

import directml_py as dml

from ..observation import observed
from ..rules.layer import debug_layer
from .models import parsed

RANDOM = np.random.default_rng(5)
SCALED = "f (float[2] x) => (float[2] y) <float[2] w = {2, 3}> { y = Mul(x, w) }"


def network(dtype):
    """A convolution that Winograd's method computes, and a product over panels, with their weights."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    sizes = {"filters": (16, 16, 3, 3), "bias": (16,), "matrix": (16 * 256, 70), "row": (70,)}
    weights = [
        numpy_helper.from_array((RANDOM.standard_normal(size) / 16).astype(dtype), key)
        for key, size in sizes.items()
    ]
    nodes = [
        helper.make_node("Conv", ["x", "filters", "bias"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Flatten", ["r"], ["f"]),
        helper.make_node("Gemm", ["f", "matrix", "row"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, [1, 16, 16, 16])],
        [helper.make_tensor_value_info("y", kind, [1, 70])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def image(dtype):
    return RANDOM.standard_normal((1, 16, 16, 16)).astype(dtype)


def of_bits(results):
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in results.items()}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("first", ["direct", "observed"])
def test_both_ways_agree(dtype, first):
    x = [image(dtype), image(dtype)]
    model = dml.onnx.load(network(dtype))
    found = {}
    for way in (first, "observed", "direct", "observed"):
        if way == "direct":
            results = [of_bits(model.run(x=each)) for each in x]
        else:
            with observed() as observer:
                results = [of_bits(model.run(x=each)) for each in x]
            assert observer.count >= 2
        found.setdefault(way, results)
        assert found[way] == results
    assert found["direct"] == found["observed"]
    assert found["direct"][0] != found["direct"][1]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_weights_at_every_address(dtype):
    """``raw_data`` lies at any byte of a file, here moved by the graph's name."""
    x, model = image(dtype), network(dtype)
    wanted = dml.onnx.load(model).run(x=x)["y"].tobytes()
    for length in range(1, 5):
        model.graph.name = "g" * length
        assert dml.onnx.load(model.SerializeToString()).run(x=x)["y"].tobytes() == wanted


def test_constants_that_are_not_arrays_of_c(tmp_path):
    """Contents of Constant nodes, of 4 bits, and of a file whose arrays are dropped once they are copied."""
    four_bits = helper.make_tensor("q", TensorProto.INT4, [2, 3], [-8, 7, 1, 0, -1, 5])
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "scale"], ["d"], axis=0),
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.float32([[1], [2]]))),
        helper.make_node("Mul", ["d", "c"], ["m"]),
        helper.make_node("Add", ["m", "x"], ["y"]),
    ]
    floats = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy"]
    scale = numpy_helper.from_array(np.float32([0.5, 2]), "scale")
    graph = helper.make_graph(nodes, "g", floats[:1], floats[1:], [four_bits, scale])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    x = np.float32([[1, 2, 3], [4, 5, 6]])
    wanted = [[-3, 5.5, 3.5], [4, 1, 26]]
    loaded = dml.onnx.load(path)
    np.testing.assert_array_equal(loaded.run(x=x)["y"], wanted)
    with observed() as observer:
        np.testing.assert_array_equal(loaded.run(x=x)["y"], wanted)
    assert observer.count


def test_results_are_the_callers():
    model = dml.onnx.load(parsed(SCALED))
    x = np.float32([1, 1])
    first = model.run(x=x)["y"]
    second = model.run(x=np.float32([5, 7]))["y"]
    first[0] = 9
    np.testing.assert_array_equal([*first, *second], [9, 3, 10, 21])
    np.testing.assert_array_equal(x, 1)


def test_threads_take_turns():
    """Without turns, each would store its input where another reads."""
    model = dml.onnx.load(parsed("f (float[70000] x) => (float[70000] y) { y = Neg(x) }"))
    wrong = []

    def run(value):
        x = np.full(70000, value, np.float32)
        wrong.extend(value for _ in range(100) if (model.run(x=x)["y"] != -x).any())

    threads = [threading.Thread(target=run, args=(value,)) for value in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_removed_device_runs_nothing():
    model = dml.onnx.load(parsed(SCALED))
    x = np.float32([1, 1])
    model.run(x=x)
    model.graph.device.d3d12_device.RemoveDevice()
    with pytest.raises(dml.DMLError) as error:
        model.run(x=x)
    assert error.value.hresult == dml.DXGI_ERROR_DEVICE_REMOVED


def test_the_debug_layer_sees_a_run():
    with debug_layer():
        device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), dml.DML_CREATE_DEVICE_FLAG_DEBUG)
    model = dml.onnx.load(
        parsed("f (float[2] x, int64[2] i) => (float[2] y) { y = GatherElements<axis = 0>(x, i) }", opset=13),
        device=device,
    )
    messages = device.d3d12_device.QueryInterface(dml.IID_ID3D12InfoQueue)
    for _ in range(2):
        messages.ClearStoredMessages()
        model.run(x=np.float32([1, 2]), i=np.int64([0, 9]))
        said = [messages.GetMessage(index).pDescription for index in range(messages.GetNumStoredMessages())]
        assert sum("index outside [-2, 1]" in text for text in said) == 1, said


@pytest.mark.slow
def test_a_long_model_is_interrupted():
    """A product of a second does not hold back Ctrl-C; the next run waits for it, whose memory it takes."""
    size = 5000
    model = dml.onnx.load(
        parsed(f"f (float[{size},{size}] x) => (float[{size},{size}] y) {{ y = MatMul(x, x) }}")
    )
    # The first run binds the program.
    model.run(x=np.zeros((size, size), np.float32))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    began = []

    def press():
        began.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    try:
        threading.Timer(0.3, press).start()
        with pytest.raises(KeyboardInterrupt):
            model.run(x=np.ones((size, size), np.float32))
        assert time.perf_counter() - began[0] < 1
        assert (model.run(x=np.eye(size, dtype=np.float32))["y"] == np.eye(size)).all()
    finally:
        signal.signal(signal.SIGINT, before)
