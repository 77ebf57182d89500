"""Models whose inputs are sequences and optional values."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
import onnx

import directml_py as dml

from .onnx_runtime import results_of

A, B = np.float32([[1, 2]]), np.float32([[3, 4], [5, 6], [7, 8]])
JOINED = """f (seq(float[n, 2]) s, float[2] x) => (float[m, 2] y, seq(float[n, 2]) t) {
    j = ConcatFromSequence<axis = 0>(s)
    y = Add(j, x)
    t = SequenceInsert(s, y)
}"""
CHOSEN = """f (seq(float[n, 2]) s, int64 i, seq(int64[1]) axes) => (float[m] y) {
    a = SequenceAt(s, i)
    zero = Constant<value_int = 0>()
    axis = SequenceAt(axes, zero)
    y = ReduceSum<keepdims = 0>(a, axis)
}"""
ELSE = """f (optional(float[n]) x) => (bool is, float[n] y) {
    is = OptionalHasElement(x)
    y = If(is) <
        then_branch = a () => (float[n] p) { p = OptionalGetElement(x) },
        else_branch = b () => (float[n] q) { q = Constant<value_floats = [7.0]>() }
    >
}"""


def parsed(text):
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": 18]> {text}')


def with_optional_input():
    """ONNX's parser knows no optional types."""
    model = parsed(ELSE.replace("optional(float[n])", "float[n]"))
    kind = onnx.TypeProto()
    kind.CopyFrom(model.graph.input[0].type)
    model.graph.input[0].type.CopyFrom(onnx.helper.make_optional_type_proto(kind))
    return model


def test_a_list_of_sizes():
    model = parsed(JOINED)
    loaded = dml.onnx.load(model, inputs={"s": [[1, 2], [3, 2]]})
    assert repr(loaded).startswith(
        "<Model: s [float32[1, 2], float32[3, 2]], x float32[2] -> y float32[4, 2], t ["
    )
    given = {"s": [A, B], "x": np.float32([10, 20])}
    found, expected = loaded.run(given), results_of(model, given)
    np.testing.assert_array_equal(found["y"], expected[0])
    assert [own.tolist() for own in found["t"]] == [own.tolist() for own in expected[1]]


def test_contents_that_decide_about_the_graph():
    """The place is asked for first, then the axes, which are constants as a whole."""
    model, given = parsed(CHOSEN), {"s": [A, B], "i": np.array(1), "axes": [np.array([1])]}
    sizes = {"s": [[1, 2], [3, 2]], "axes": [[1]]}
    with pytest.raises(dml.onnx.OnnxError, match="contents of 'i'"):
        dml.onnx.load(model, inputs=sizes)
    with pytest.raises(dml.onnx.OnnxError, match="contents of 'axes'"):
        dml.onnx.load(model, inputs={**sizes, "i": given["i"]})
    loaded = dml.onnx.load(model, inputs={**given, "s": sizes["s"]})
    assert list(loaded.inputs) == ["s"]
    np.testing.assert_array_equal(loaded.run(s=[A, B])["y"], results_of(model, given)[0])


def test_an_empty_sequence():
    model = parsed("f (seq(float[2]) s) => (int64 n) { n = SequenceLength(s) }")
    loaded = dml.onnx.load(model, inputs={"s": []})
    assert loaded.run(s=[])["n"] == 0


@pytest.mark.parametrize("given", [None, np.float32([1, 2, 3])], ids=["absent", "present"])
def test_an_optional(given):
    model = with_optional_input()
    loaded = dml.onnx.load(model, inputs={"x": None if given is None else [3]})
    found, expected = loaded.run(x=given), results_of(model, {"x": given})
    assert [own.tolist() for own in found.values()] == [own.tolist() for own in expected]


@pytest.mark.parametrize(
    ("make", "bindings", "text"),
    [
        (
            lambda: parsed(JOINED),
            {},
            r"input 's': is a sequence; give the sizes of its tensors: .*'s': \[\[\.\.\.\], ",
        ),
        (lambda: parsed(JOINED), {"s": [2, 2]}, "input 's': is a sequence; give the sizes of its tensors"),
        (lambda: parsed(JOINED), {"s": [[2, 3]]}, r"input 's\[0\]': has sizes \[n, 2\], not \[2, 3\]"),
        (
            with_optional_input,
            {},
            r"input 'x': is optional; give its sizes, or None: inputs=\{'x': \[\.\.\.\]\}",
        ),
    ],
)
def test_what_a_model_needs(make, bindings, text):
    with pytest.raises(dml.onnx.OnnxError, match=text):
        dml.onnx.load(make(), inputs=bindings)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ([A], ValueError, "the input 's' must be a list of 2 arrays"),
        (A, ValueError, "the input 's' must be a list of 2 arrays"),
        ([A, A], ValueError, r"the input 's\[1\]' has sizes \[1, 2\]; it must have \[3, 2\]"),
        ([A, B.astype(np.float64)], TypeError, r"the input 's\[1\]' has float64 elements"),
    ],
)
def test_other_arrays_than_those_that_it_was_loaded_for(given, error, text):
    loaded = dml.onnx.load(parsed(JOINED), inputs={"s": [[1, 2], [3, 2]]})
    with pytest.raises(error, match=text):
        loaded.run(s=given, x=np.float32([0, 0]))


def test_an_optional_that_was_left_out():
    loaded = dml.onnx.load(with_optional_input(), inputs={"x": None})
    with pytest.raises(ValueError, match="the input 'x' was loaded as None; it must be None"):
        loaded.run(x=np.float32([1]))
