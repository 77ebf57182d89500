"""Models as graphs: what runs, what is refused, and with which message."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
import onnx

import directml_py as dml

from .models import parsed
from .onnx_runtime import session_of

RELU = "f (float[2,3] x) => (float[2,3] y) { y = Relu(x) }"


def refused(model, match, **arguments):
    with pytest.raises(dml.onnx.OnnxError, match=match) as error:
        dml.onnx.load(model, **arguments)
    return error.value


def test_a_model_runs_from_a_file_from_bytes_and_as_a_message(tmp_path):
    model = parsed(RELU)
    path = tmp_path / "relu.onnx"
    onnx.save(model, path)
    x = np.float32([[-1, 2, -3], [4, -5, 6]])
    for source in (model, model.SerializeToString(), path, str(path)):
        results = dml.onnx.load(source).run(x=x)
        assert list(results) == ["y"]
        np.testing.assert_array_equal(results["y"], np.maximum(x, 0))


def test_running_again_takes_new_inputs():
    model = dml.onnx.load(parsed("f (float[2] x) => (float[2] y) <float[2] w = {2, 3}> { y = Mul(x, w) }"))
    np.testing.assert_array_equal(model.run(x=np.float32([1, 1]))["y"], [2, 3])
    np.testing.assert_array_equal(model.run({"x": np.float32([5, 7])})["y"], [10, 21])


def test_symbolic_sizes_are_bound_by_input_or_by_name():
    model = parsed("f (float[batch,3] x) => (float[batch,3] y) { y = Relu(x) }")
    assert dml.onnx.load(model, inputs={"x": [4, 3]}).inputs["x"].shape == (4, 3)
    assert dml.onnx.load(model, inputs={"batch": 5}).inputs["x"].shape == (5, 3)
    error = refused(model, r"input 'x': has sizes \[batch, 3\]; give numbers")
    assert error.file == ""
    refused(model, r"has sizes \[batch, 3\], not \[4, 4\]", inputs={"x": [4, 4]})
    refused(model, "which the model does not have", inputs={"z": [4, 3]})


def test_sizes_are_computed_by_the_host():
    text = """f (float[2,3,4] x) => (float[m,n] y) <int64[1] minus = {-1}, int64 zero = {0}> {
        shape = Shape(x)
        first = Gather(shape, zero)
        row = Unsqueeze(first, axes)
        wanted = Concat<axis = 0>(row, minus)
        y = Reshape(x, wanted)
    }"""
    model = parsed(text.replace("<int64[1] minus", "<int64[1] axes = {0}, int64[1] minus"))
    made = dml.onnx.load(model)
    assert made.outputs["y"].shape == (2, 12)
    assert [step.folded for step in made.steps] == [True, True, True, True, False]


def test_an_input_whose_content_decides_is_named_and_may_be_given():
    model = parsed("f (float[2,3] x, int64[1] shape) => (float[n] y) { y = Reshape(x, shape) }")
    error = refused(model, r"node 'y' \(Reshape\): input shape: its value determines")
    assert error.inputs == ("shape",)
    made = dml.onnx.load(model, inputs={"shape": np.array([6])})
    assert made.run(x=np.arange(6, dtype=np.float32).reshape(2, 3))["y"].shape == (6,)


def test_constants_are_owned_and_packed():
    text = "f (float[1,2,5,5] x, float[3,2,3,3] w) => (float[1,3,3,3] y) { y = Conv(x, w) }"
    weights = np.ones((3, 2, 3, 3), np.float32)
    model = dml.onnx.load(parsed(text), inputs={"w": weights})
    (slot,) = (slot for slot in model.graph.nodes[0].desc.inputs if slot.field == "FilterTensor")
    assert slot.tensor.is_owned_by_dml
    np.testing.assert_array_equal(
        model.run(x=np.ones((1, 2, 5, 5), np.float32))["y"], np.full((1, 3, 3, 3), 18)
    )


def test_an_activation_runs_with_the_operator_before_it():
    text = """f (float[1,2] x, float[2,2] w) => (float[1,2] y) { z = MatMul(x, w) y = Relu(z) }"""
    model = dml.onnx.load(parsed(text))
    (node,) = model.graph.nodes
    assert node.desc.FusedActivation.name == "ACTIVATION_RELU"
    x, w = np.float32([[1, -1]]), np.float32([[1, 2], [3, 1]])
    np.testing.assert_array_equal(model.run(x=x, w=w)["y"], [[0, 1]])


def test_an_activation_is_not_fused_where_its_input_is_read_elsewhere():
    text = "f (float[1,2] x) => (float[1,2] y, float[1,2] z) { z = Add(x, x) y = Relu(z) }"
    results = dml.onnx.load(parsed(text)).run(x=np.float32([[-1, 1]]))
    np.testing.assert_array_equal(results["z"], [[-2, 2]])
    np.testing.assert_array_equal(results["y"], [[0, 2]])


def test_outputs_that_nothing_reads_are_connected():
    text = "f (float[4] x) => (float[2] y) <int64[1] k = {2}> { y, i = TopK(x, k) }"
    results = dml.onnx.load(parsed(text)).run(x=np.float32([3, 1, 4, 1]))
    assert {name: list(value) for name, value in results.items()} == {"y": [4, 3]}


def test_inputs_and_constants_may_be_outputs():
    text = "f (float[2] x) => (float[2] y, int64[1] z) { y = Identity(x) z = Shape(x) }"
    results = dml.onnx.load(parsed(text)).run(x=np.float32([3, 1]))
    assert {name: list(value) for name, value in results.items()} == {"y": [3, 1], "z": [2]}


def test_booleans_are_booleans():
    text = "f (bool[3] a, bool[3] b) => (bool[3] y) { y = And(a, b) }"
    a, b = np.array([True, True, False]), np.array([True, False, False])
    result = dml.onnx.load(parsed(text)).run(a=a, b=b)["y"]
    assert result.dtype == np.bool_
    assert list(result) == [True, False, False]


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({}, ValueError, "the input 'x' is missing"),
        ({"x": np.zeros((2, 3))}, TypeError, "'x' has float64 elements; it must have float32"),
        ({"x": np.zeros((3, 2), np.float32)}, ValueError, r"'x' has sizes \[3, 2\]; it must have \[2, 3\]"),
        ({"z": 1}, ValueError, "the model has no input 'z'; it has 'x'"),
        ([], ValueError, "inputs has 0 arrays; the model has 1 input: 'x'"),
        ("x", TypeError, "inputs must be a list or a dict of arrays, not str"),
    ],
)
def test_inputs_that_do_not_fit(given, error, match):
    with pytest.raises(error, match=match):
        dml.onnx.load(parsed(RELU)).run(given)


def test_inputs_by_position():
    """As graphs of the builder take them, with outputs likewise."""
    (result,) = dml.onnx.load(parsed(RELU)).run([np.float32([[-1, 2, -3], [4, -5, 6]])])
    assert result.tolist() == [[0, 2, 0], [4, 0, 6]]


def test_an_operator_without_counterpart_is_named():
    text = "f (float[2,2] x) => (float y) { y = Det(x) }"
    error = refused(parsed(text), r"^node 'y' \(Det\): no DirectML operators compute it$")
    assert error.node == "node 'y' (Det)"


def test_a_type_that_no_operator_takes_is_named_with_the_rule():
    text = "f (double[2,2] x) => (double[2,2] y) { y = Exp(x) }"
    refused(parsed(text), r"node 'y' \(Exp\): .*FLOAT64.*\[DML-ELEMENT_WISE_EXP-data-type\]")


def test_a_level_that_lacks_an_operator_says_so():
    text = "f (float[2,2] x) => (float[2,2] y) { y = Gelu(x) }"
    refused(
        parsed(text, 20),
        "ACTIVATION_GELU, which needs DML_FEATURE_LEVEL_5_1",
        feature_level=dml.DML_FEATURE_LEVEL_5_0,
    )
    assert dml.onnx.load(parsed(text, 20), dml.DML_FEATURE_LEVEL_5_1).run(x=np.zeros((2, 2), np.float32))


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"\xff" * 40)
    assert refused(path, "broken.onnx: is damaged or not an ONNX model").file == str(path)
    path.write_bytes(b"")
    refused(path, "broken.onnx: is not an ONNX model")
    with pytest.raises(OSError, match=r"missing\.onnx"):
        dml.onnx.load(tmp_path / "missing.onnx")


def test_an_unknown_operator_set_is_named():
    model = parsed(RELU)
    model.opset_import[0].version = 99
    refused(model, "operator set 99 is not between 1 and")


def test_older_operator_sets_are_converted():
    model = parsed(
        "f (float[2,3] x, float[3] w) => (float[2,3] y) { y = Add<axis = 1, broadcast = 1>(x, w) }", 6
    )
    x, w = np.zeros((2, 3), np.float32), np.float32([1, 2, 3])
    np.testing.assert_array_equal(dml.onnx.load(model).run(x=x, w=w)["y"], [w, w])


def external(tmp_path):
    model = parsed("f (float[2,3] x) => (float[2,3] y) <float[2,3] w = {1,2,3,4,5,6}> { y = Add(x, w) }")
    weights = onnx.numpy_helper.to_array(model.graph.initializer[0])
    # Only raw data is written to another file.
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weights, "w"))
    onnx.save(
        model, tmp_path / "m.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    return tmp_path / "m.onnx"


def test_external_data_is_mapped(tmp_path):
    path = external(tmp_path)
    assert (tmp_path / "weights.bin").stat().st_size >= 24
    y = dml.onnx.load(path).run(x=np.zeros((2, 3), np.float32))["y"]
    np.testing.assert_array_equal(y, np.arange(1, 7).reshape(2, 3))


def test_missing_external_data_is_named(tmp_path):
    path = external(tmp_path)
    (tmp_path / "weights.bin").unlink()
    refused(path, r"m\.onnx: .*weights\.bin")
    refused(path.read_bytes(), r"initializer 'w': its data is in 'weights.bin', beside a file")


def test_branches_follow_a_condition_that_is_known():
    text = """f (float[2] x, bool c) => (float[2] y) {
        y = If(c) <then_branch = a () => (float[2] t) { t = Neg(x) },
                   else_branch = b () => (float[2] e) { e = Abs(x) }>
    }"""
    model = parsed(text)
    refused(model, r"node 'y' \(If\): input cond: its value determines")
    x = np.float32([1, -2])
    for condition, expected in ((True, -x), (False, abs(x))):
        made = dml.onnx.load(model, inputs={"c": np.array(condition)})
        np.testing.assert_array_equal(made.run(x=x)["y"], expected)


def test_the_package_does_not_import_onnx_until_asked():
    code = "import sys, directml_py; assert 'onnx' not in sys.modules; directml_py.onnx; print('onnx' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "True\n"
    )


def test_the_missing_extra_is_named():
    code = """
import sys
sys.modules["onnx"] = None
try:
    import directml_py.onnx
except ImportError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "directml_py.onnx needs the package onnx: pip install 'directml-py[onnx]'\n"


def test_negative_sizes_are_unknown():
    model = parsed(RELU)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    refused(model, r"input 'x': has sizes \[\?, 3\]; give numbers")
    assert dml.onnx.load(model, inputs={"x": [4, 3]}).run(x=np.ones((4, 3), np.float32))["y"].shape == (4, 3)


def test_a_branch_that_is_not_taken_may_be_wrong():
    text = """f (float[2,2] x) => (float[2,2] y) <int64 two = {2}, int64[1] axes = {0}> {
        sizes = Shape(x) rank = Size(sizes) c = Equal(rank, two)
        y = If(c) <then_branch = a () => (float[2,2] t) { t = Neg(x) },
                   else_branch = b () => (float[2] e) { e = Squeeze(x, axes) }>
    }"""
    np.testing.assert_array_equal(
        dml.onnx.load(parsed(text)).run(x=np.eye(2, dtype=np.float32))["y"], -np.eye(2)
    )


def test_weights_of_recurrent_networks_are_constants_that_are_not_owned():
    random = np.random.default_rng(4)
    model = parsed(
        """f (float[3,2,4] x) => (float[3,1,2,5] y, float[1,2,5] h, float[1,2,5] c) {
        y, h, c = LSTM<hidden_size = 5>(x, w, r, b)
    }""",
        check=False,
    )
    for name, sizes in {"w": (1, 20, 4), "r": (1, 20, 5), "b": (1, 40)}.items():
        values = random.standard_normal(sizes).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    made = dml.onnx.load(model)
    assert [item.desc.is_owned_by_dml for item in made.graph.inputs.values()] == [False] * 4
    session = session_of(model)
    for _ in range(2):
        x = random.standard_normal((3, 2, 4)).astype(np.float32)
        for found, expected in zip(made.run(x=x).values(), session.run(None, {"x": x})):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_constants_of_a_file_are_there_after_a_run(tmp_path):
    path = external(tmp_path)
    model = dml.onnx.load(path)
    before = [array.copy() for array in model.constants]
    model.run(x=np.zeros((2, 3), np.float32))
    np.testing.assert_array_equal(model.constants, before)
    assert [saved.name for saved in model.save(tmp_path / "graph.bin")] == ["graph.0.bin", "graph.bin"]


COUNTED = "f (float[2,3] x) => (int64[2,n] y) { z = Relu(x) y = NonZero(z) }"


def test_a_count_that_follows_from_an_input_is_known_with_it():
    x = np.float32([[-1, 0, 2], [3, -4, 5]])
    y = dml.onnx.load(parsed(COUNTED), inputs={"x": x}).run()["y"]
    np.testing.assert_array_equal(y, [[0, 1, 1], [2, 0, 2]])


def test_a_count_that_a_graph_computes_is_refused_with_what_can_be_done():
    error = refused(
        parsed(COUNTED),
        r"^node 'y' \(NonZero\): input X: its value determines the graph, so it must be a constant; pass load "
        r"the contents of 'x', or cut the model at 'z' \(onnx\.utils\.extract_model\) and run two graphs$",
    )
    assert error.inputs == ("x",)


def test_a_large_count_is_the_hosts():
    x = np.arange(100_000, dtype=np.float32) % 2
    text = "f (float[100000] x) => (int64[1,n] y) { y = NonZero(x) }"
    y = dml.onnx.load(parsed(text), inputs={"x": x}).run()["y"]
    np.testing.assert_array_equal(y[0], np.arange(1, 100_000, 2))


@pytest.mark.parametrize(("direction", "expected"), [("LEFT", [0, 0, 128]), ("RIGHT", [0, 0, 1])])
def test_counts_of_shifts_are_not_modulo(direction, expected):
    text = f'f (uint8[3] x, uint8[3] n) => (uint8[3] y) {{ y = BitShift<direction = "{direction}">(x, n) }}'
    made = dml.onnx.load(parsed(text, 28, check=False))
    y = made.run(x=np.uint8([255, 255, 129]), n=np.uint8([33, 8, 7]))["y"]
    assert y.tolist() == expected
