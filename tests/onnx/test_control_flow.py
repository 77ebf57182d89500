"""Loop and Scan, unrolled where their counts are known; expected values by hand and by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")

import directml_py as dml

from .models import parsed

# Each round doubles the state, adds the outer value, and keeps what it was.
LOOP = """f (float[2] x, float[2] step) => (float[2] last, float[k,2] all) <int64[1] k = {3}> {
    last, all = Loop(k, , x) <body = round (int64 i, bool go, float[2] s) => (bool on, float[2] t, float[2] was) {
        on = Identity(go) twice = Add(s, s) t = Add(twice, step) was = Identity(s)
    }>
}"""


def test_a_loop_of_a_known_count_is_unrolled():
    made = dml.onnx.load(parsed(LOOP, check=False))
    results = made.run(x=np.float32([1, 2]), step=np.float32([10, 0]))
    np.testing.assert_array_equal(results["all"], [[1, 2], [12, 4], [34, 8]])
    np.testing.assert_array_equal(results["last"], [78, 16])


def test_a_condition_that_the_host_knows_ends_a_loop():
    text = """f (float[2] x) => (float[2] last) <int64[1] most = {100}, int64 four = {4}> {
        last = Loop(most, , x) <body = round (int64 i, bool go, float[2] s) => (bool on, float[2] t) {
            on = Less(i, four) t = Add(s, s)
        }>
    }"""
    made = dml.onnx.load(parsed(text, check=False))
    # The rounds 0 to 4: the last is the one whose condition is false.
    np.testing.assert_array_equal(made.run(x=np.float32([1, 3]))["last"], [32, 96])
    assert [node.kind for node in made.graph.nodes] == ["ELEMENT_WISE_ADD"] * 5


@pytest.mark.parametrize(
    ("count", "condition", "text"),
    [
        ("k", "Greater(peak, peak)", r"node 'last' \(Loop\): condition after round 0: its value determines"),
        ("x", "Identity(go)", r"node 'last' \(Loop\): input M: its value determines .* the contents of 'x'"),
        ("", "Identity(go)", r"node 'last' \(Loop\): takes more than the 500 steps"),
    ],
)
def test_a_loop_without_a_known_end_is_refused(count, condition, text):
    model = f"""f (int64[1] x) => (int64[1] last) <int64[1] k = {{3}}> {{
        last = Loop({count}, , x) <body = round (int64 i, bool go, int64[1] s) => (bool on, int64[1] s) {{
            peak = ReduceMax<keepdims = 0>(s) on = {condition}
        }}>
    }}"""
    with pytest.raises(dml.onnx.OnnxError, match=text):
        dml.onnx.load(parsed(model, check=False), limits=dml.onnx.Limits(steps=500))


def test_a_scan_has_axes_and_directions():
    text = """f (float[2] start, float[2,3] x) => (float[2] sum, float[2,3] sums) {
        sum, sums = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1],
                         scan_output_axes = [-1], scan_output_directions = [1],
                         body = round (float[2] s, float[2] each) => (float[2] t, float[2] now) {
            t = Add(s, each) now = Identity(t)
        }>(start, x)
    }"""
    start, x = np.float32([100, 200]), np.arange(6, dtype=np.float32).reshape(2, 3)
    results = dml.onnx.load(parsed(text, check=False)).run(start=start, x=x)
    expected = start[:, None] + np.cumsum(x[:, ::-1], axis=1)[:, ::-1]
    np.testing.assert_array_equal(results["sums"], expected)
    np.testing.assert_array_equal(results["sum"], expected[:, 0])
