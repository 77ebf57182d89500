"""Serialized models without their weights, compared with what protobuf reads from the same bytes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
import onnx
from benchmarks.exported_models import bert
from google.protobuf.message import DecodeError
from toolchain import need_package

import directml_py as dml
from directml_py.onnx.wire_format import LEAST, without_weights

from .models import parsed

LARGE = np.arange(LEAST, dtype=np.float32)


def reparsed(data):
    """The model, its weights put back; None where protobuf or ``without_weights`` refuses the data."""
    found = without_weights(memoryview(data))
    if found is None:
        return None
    light, weights = found
    model = onnx.ModelProto.FromString(light)
    for tensor, raw in zip(model.graph.initializer, weights, strict=True):
        if raw is not None:
            assert not tensor.raw_data
            tensor.raw_data = bytes(raw)
    return model


def adding(weights, opset=18, text="f (float[{n}] x) => (float[{n}] y) {{ y = Add(x, w) }}"):
    """A model that adds ``weights``, as raw data, to its input."""
    model = parsed(text.format(n=LEAST), opset, check=False)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    return model


def test_a_network_is_the_same_without_its_bytes():
    # With which the network is made.
    need_package("onnxruntime")
    model = bert()
    data = model.SerializeToString()
    assert reparsed(data) == model
    light, _ = without_weights(memoryview(data))
    assert len(light) < len(data) / 20


def test_small_tensors_stay():
    small, large = LARGE[: LEAST // 4 - 1], LARGE[: LEAST // 4]
    model = adding(small)
    model.graph.initializer.append(onnx.numpy_helper.from_array(large, "v"))
    _, weights = without_weights(memoryview(model.SerializeToString()))
    assert weights == [None, large.tobytes()]


def test_what_becomes_empty_stays():
    """An initializer that is its weights alone keeps its place among the others, and an empty graph is one."""
    data = LARGE.tobytes()
    tensors = [onnx.TensorProto(name="first"), onnx.TensorProto(raw_data=data), onnx.TensorProto(name="last")]
    for initializers in (tensors, tensors[1:2], []):
        model = onnx.ModelProto(graph=onnx.GraphProto(initializer=initializers))
        assert reparsed(model.SerializeToString()) == model
    assert reparsed(onnx.ModelProto(graph=onnx.GraphProto()).SerializeToString()).HasField("graph")


def test_damaged_data_is_left_to_protobuf():
    """Each beginning of a model, most of which end within a field."""
    model = adding(LARGE)
    model.graph.initializer[0].doc_string = "after the data"
    data = model.SerializeToString()
    ends = [*range(len(data) - len(LARGE.tobytes())), *range(len(data) - 200, len(data) + 1)]
    for end in ends:
        try:
            expected = onnx.ModelProto.FromString(data[:end])
        except DecodeError:
            expected = None
        found = without_weights(memoryview(data[:end]))
        if found is not None:
            assert reparsed(data[:end]) == expected


@pytest.mark.parametrize("tail", [b"\xff" * 11, b"\x0b", b"\x3a\x00"])
def test_what_is_not_read(tail):
    """A number of too many bytes, a group, a second part of the graph, which protobuf adds to the first."""
    assert without_weights(memoryview(adding(LARGE).SerializeToString() + tail)) is None


def test_two_parts_of_a_graph_are_one_model():
    data = adding(LARGE).SerializeToString() + onnx.ModelProto(graph=onnx.GraphProto()).SerializeToString()
    np.testing.assert_array_equal(dml.onnx.load(data).run(x=LARGE)["y"], 2 * LARGE)


def test_elements_of_less_than_a_byte():
    weights = onnx.helper.make_tensor("q", onnx.TensorProto.INT4, [4 * LEAST], [*range(-8, 8)] * (LEAST // 4))
    packed = np.arange(16).reshape(8, 2) - 8
    weights.ClearField("int32_data")
    weights.raw_data = ((packed[:, 1] << 4 & 0xF0) | (packed[:, 0] & 0xF)).astype(np.uint8).tobytes() * (
        LEAST // 4
    )
    model = parsed("f (float[1] x) => (float[n] y) { w = DequantizeLinear(q, x) y = Identity(w) }", 21, False)
    model.graph.initializer.append(weights)
    found = dml.onnx.load(model.SerializeToString()).run(x=np.float32([1]))["y"]
    np.testing.assert_array_equal(found, np.tile(np.arange(-8, 8), LEAST // 4))


def test_weights_of_a_wrong_size_are_named():
    model = adding(LARGE)
    model.graph.initializer[0].dims[0] = 7
    with pytest.raises(dml.onnx.OnnxError, match="initializer 'w': its data is damaged"):
        dml.onnx.load(model.SerializeToString())


def test_converted_models_keep_their_weights():
    text = "f (float[2,{n}] x) => (float[2,{n}] y) {{ y = Add<axis = 1, broadcast = 1>(x, w) }}"
    data = adding(LARGE, 6, text).SerializeToString()
    x = np.zeros((2, LEAST), np.float32)
    np.testing.assert_array_equal(dml.onnx.load(data).run(x=x)["y"], [LARGE, LARGE])


def test_models_with_functions_keep_their_weights():
    text = """f (float[{n}] x) => (float[{n}] y) {{ y = own.Twice(w) }}
    <domain: "own", opset_import: ["" : 18]> Twice (a) => (b) {{ b = Add(a, a) }}"""
    model = parsed(text.format(n=LEAST), check=False)
    model.opset_import.append(onnx.helper.make_opsetid("own", 1))
    model.graph.initializer.append(onnx.numpy_helper.from_array(LARGE, "w"))
    np.testing.assert_array_equal(dml.onnx.load(model.SerializeToString()).run(x=LARGE)["y"], 2 * LARGE)


def test_a_buffer_that_is_used_again_changes_nothing():
    buffer = bytearray(adding(LARGE).SerializeToString())
    model = dml.onnx.load(buffer)
    buffer[:] = bytes(len(buffer))
    np.testing.assert_array_equal(model.run(x=LARGE)["y"], 2 * LARGE)


def test_a_file_that_is_written_again_changes_nothing(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(adding(LARGE).SerializeToString())
    model = dml.onnx.load(path)
    path.write_bytes(b"")
    np.testing.assert_array_equal(model.run(x=LARGE)["y"], 2 * LARGE)
