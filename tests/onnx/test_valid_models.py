"""Models that ONNX's checker rejects and ONNX Runtime runs, and functions of a model."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")
import onnx
import onnxruntime

import directml_py as dml
from directml_py.onnx.explaining import explain
from directml_py.onnx.translators import OF_ONNX_RUNTIME

from .models import parsed
from .onnx_runtime import results_of

X = np.float32([[-2, -1, 0], [1, 2, 3]])
BODY = "f (float[2,3] x) => (float[2,3] y) "
W = "<float[2,3] w = {1,2,3,4,5,6}>"
OWN = '<ir_version: 10, opset_import: ["" : 18, "own" : 1]>\n'
LEAKY = "LeakyRelu<alpha: float = @alpha>(a)"


def changed(text, change, opset=18):
    model = parsed(text, opset, check=False)
    change(model)
    return model


def version(number):
    return lambda model: setattr(model, "ir_version", number)


def call(function, node="y = own.F(x)", attributes="", domain="own", more="", imports='"" : 17'):
    """A model that calls a function."""
    head = f'<domain: "{domain}", opset_import: [{imports}]>\nF {attributes} '
    return onnx.parser.parse_model(OWN + BODY + "{ " + node + " }\n" + head + function + more)


def doubled(model):
    again = model.graph.initializer.add()
    again.CopyFrom(model.graph.initializer[0])
    again.float_data[:] = [9] * 6


RUN = {
    "nodes in any order": parsed(BODY + "{ y = Add(c, b) c = Exp(b) b = Abs(x) }", check=False),
    "a branch before what it reads": parsed(
        BODY
        + """<bool c = {1}> {
        y = If(c) <then_branch = a () => (float[2,3] t) { t = Sub(q, x) },
                   else_branch = b () => (float[2,3] t) { t = Abs(x) }>
        q = Exp(x)
    }""",
        check=False,
    ),
    **{
        f"version {number} of the format": changed(BODY + "{ y = Relu(x) }", version(number))
        for number in (0, 1, 3)
    },
    "initializers that are no inputs": changed(BODY + W + "{ y = Add(x, w) }", version(3)),
    "an initializer twice": changed(BODY + W + "{ y = Add(x, w) }", doubled),
    "no name": changed(BODY + "{ y = Relu(x) }", lambda model: model.graph.ClearField("name")),
    "an output without a type": changed(
        BODY + "{ y = Relu(x) }", lambda model: model.graph.output[0].ClearField("type")
    ),
    "ai.onnx as a domain": changed(
        BODY + "{ y = Relu(x) }", lambda model: setattr(model.graph.node[0], "domain", "ai.onnx")
    ),
    "a domain that is not imported": onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 18]>' + BODY + "{ y = com.microsoft.QuickGelu(x) }"
    ),
    "a function of another operator set": call("(a) => (b) { b = Softmax(a) }"),
    "a function of an operator set before 7": call("(a) => (b) { b = Add(a, a) }", imports='"" : 6'),
    "a function's default": call("(a) => (b) { b = " + LEAKY + " }", attributes="<alpha: float = 0.5>"),
    "a function's default, overridden": call(
        "(a) => (b) { b = " + LEAKY + " }", "y = own.F<alpha = 0.25>(x)", "<alpha: float = 0.5>"
    ),
    "an attribute that is not given": call("(a) => (b) { b = " + LEAKY + " }", attributes="<alpha>"),
    "a default handed on": call(
        "(a) => (b) { b = own.G<alpha: float = @alpha>(a) }",
        attributes="<alpha: float = 0.5>",
        imports='"" : 18, "own" : 1',
        more='\n<domain: "own", opset_import: ["" : 18]>\nG <alpha> (a) => (b) { b = ' + LEAKY + " }",
    ),
    "names of a function that the model has too": call(
        "(a) => (b) { x = Neg(a) b = Exp(x) }", "b = own.F(x) y = own.F(b)"
    ),
    "the second output alone": call("(a) => (b, c) { b = Neg(a) c = Abs(a) }", ", y = own.F(x)"),
    "an input left out": call(
        "(a, low, high) => (b) { b = Clip(a, low, high) }",
        "one = Constant<value_float = 1.0>() y = own.F(x, , one)",
    ),
    "a function in a branch": call(
        "(a) => (b) { b = Softmax(a) }",
        """
        c = Constant<value = bool {1}>()
        y = If(c) <then_branch = a () => (float[2,3] t) { t = own.F(x) },
                   else_branch = b () => (float[2,3] t) { t = Abs(x) }>""",
    ),
    "an attribute in a branch of a function": call(
        """(a) => (b) {
        c = Constant<value = bool {1}>()
        b = If(c) <then_branch = t () => (float[2,3] r) { r = LeakyRelu<alpha: float = @alpha>(a) },
                   else_branch = e () => (float[2,3] r) { r = Abs(a) }>
    }""",
        attributes="<alpha: float = 0.5>",
    ),
    "an operator of ONNX Runtime in a function": call(
        "(a) => (b) { b = com.microsoft.QuickGelu(a) }", imports='"" : 18, "com.microsoft" : 1'
    ),
    "a function that is named like an operator": call(
        "(a) => (b) { b = Exp(a) }", "y = com.microsoft.QuickGelu(x)", domain="com.microsoft"
    ),
    "optionals": parsed(
        BODY
        + "{ o = Optional(x) h = OptionalHasElement(o) c = Cast<to = 1>(h) e = OptionalGetElement(o) y = Add(e, c) }",
        15,
        check=False,
    ),
}
RUN["a function that is named like an operator"].functions[0].name = "QuickGelu"


@pytest.mark.parametrize("name", RUN)
def test_as_onnx_runtime(name):
    (expected,) = results_of(RUN[name], {"x": X})
    found = dml.onnx.load(RUN[name]).run(x=X)["y"]
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_an_empty_optional():
    """ONNX Runtime's result is 0, for an Optional with a type and no input."""
    kind = onnx.helper.make_tensor_type_proto(1, [2])
    model = parsed("f () => (bool h) { h = OptionalHasElement(o) }", check=False)
    model.graph.node.insert(0, onnx.helper.make_node("Optional", [], ["o"], type=kind))
    assert not dml.onnx.load(model).run()["h"]
    model.graph.node[1].op_type = "OptionalGetElement"
    with pytest.raises(
        dml.onnx.OnnxError, match=r"\(OptionalGetElement\): input input: is an optional without"
    ):
        dml.onnx.load(model)


def test_a_function_keeps_its_operator_set():
    """By hand: before operator set 13 the axis of Softmax is 1, and all dimensions from there on are one."""
    model = call("(a) => (b) { b = Softmax(a) }", imports='"" : 11')
    model.graph.input[0].type.tensor_type.shape.dim.add(dim_value=2)
    made = dml.onnx.load(model)
    np.testing.assert_allclose(made.run(x=np.zeros((2, 3, 2), np.float32))["y"], np.full((2, 3, 2), 1 / 6))


def test_an_activation_is_fused_across_the_end_of_a_function():
    model = call("(a) => (b) { b = Add(a, a) }", "t = own.F(x) y = Relu(t)")
    (node,) = dml.onnx.load(model).graph.nodes
    assert node.desc.FusedActivation.name == "ACTIVATION_RELU"


def test_nodes_of_functions_are_explained():
    model = call("(a) => (b) { t = Neg(a) b = Det(t) }")
    assert [(row.kind, bool(row.refused)) for row in explain(model).rows] == [("Neg", False), ("Det", True)]


REFUSED = {
    "a newer format": (changed(BODY + "{ y = Relu(x) }", version(99)), "is of version 99 of ONNX's format"),
    "an input twice": (
        parsed("f (float[2] x, float[2] x) => (float[2] y) { y = Relu(x) }", check=False),
        "input 'x': another input has the same name",
    ),
    "an output that is an input": (
        parsed(BODY + "{ x = Relu(y) y = Neg(x) }", check=False),
        "node 'x' (Relu): output x: another value has the same name",
    ),
    "a node that feeds itself": (
        parsed(BODY + "{ y = Add(x, y) }", check=False),
        "node 'y' (Add): depends on its own outputs, through a cycle of nodes",
    ),
    "fewer parts than outputs": (
        parsed(
            "f (float[7] x) => (float[a] y, float[b] z, float[c] w) { y, z, w = Split<num_outputs = 2>(x) }",
            check=False,
        ),
        "node 'y' (Split): attribute num_outputs: is 2; the node has 3 outputs",
    ),
    "an unknown name": (
        parsed(BODY + "{ y = Add(x, q) }", check=False),
        "node 'y' (Add): input q: no node computes it",
    ),
    "too many inputs": (
        parsed(BODY + "{ y = Relu(x, x) }", check=False),
        "node 'y' (Relu): has 2 inputs; the operator has 1",
    ),
    "too few inputs": (
        parsed(BODY + "{ y = Add(x) }", check=False),
        "node 'y' (Add): has 1 input; the operator has 2",
    ),
    "no attribute of this name": (
        parsed(BODY + "{ y = Relu<foo = 1>(x) }", check=False),
        "node 'y' (Relu): attribute foo: operator set 18 does not have it",
    ),
    "a type of a later version": (
        parsed("f (uint32[2] x) => (bool[2] y) { y = Equal(x, x) }", 9, check=False),
        "node 'y' (Equal): input A: is a tensor(uint32), which the operator does not take",
    ),
    "two types": (
        parsed("f (float[2] x, int32[2] z) => (float[2] y) { y = Add(x, z) }", check=False),
        "node 'y' (Add): input B: is a tensor(int32); other inputs are tensor(float), and must have the same type",
    ),
    "an operator of later versions": (
        parsed(BODY + "{ y = Gelu(x) }", check=False),
        "node 'y' (Gelu): operator set 18 has no such operator; it is there from operator set 20 on",
    ),
    "an operator of earlier versions": (
        parsed(BODY + W + "{ y = Upsample(x, w) }", check=False),
        "node 'y' (Upsample): operator set 10 has withdrawn the operator",
    ),
    "an operator that is not translated": (
        parsed(BODY + "{ y = com.microsoft.SampleOp(x) }", check=False),
        "node 'y' (SampleOp): is an operator of ONNX Runtime of the domain 'com.microsoft' that is not translated",
    ),
    "an operator of models for one processor": (
        onnx.parser.parse_model(
            OWN.replace("own", "com.microsoft.nchwc") + BODY + "{ y = com.microsoft.nchwc.ReorderInput(x) }"
        ),
        "(ReorderInput): is an operator of ONNX Runtime of the domain 'com.microsoft.nchwc' that is not translated",
    ),
    "an operator that nobody knows": (
        parsed(BODY + "{ y = com.microsoft.Nonesuch(x) }", check=False),
        "node 'y' (Nonesuch): operator set 1 of the domain 'com.microsoft' has no such operator",
    ),
    "a function twice": (
        call(
            "(a) => (b) { b = Abs(a) }",
            more='\n<domain: "own", opset_import: ["" : 17]>\nF (a) => (b) { b = Neg(a) }',
        ),
        "function 'own:F': is there twice",
    ),
    "functions in a circle": (
        call(
            "(a) => (b) { b = own.G(a) }",
            more='\n<domain: "own", opset_import: ["" : 17]>\nG (a) => (b) { b = own.F(a) }',
        ),
        "calls the function 'own:F' from within",
    ),
    "more outputs than a function has": (
        call("(a) => (b) { b = Abs(a) }", "y, z = own.F(x)"),
        "node 'y' (F): has 2 outputs; the function has 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_one_sentence(name):
    model, text = REFUSED[name]
    with pytest.raises(dml.onnx.OnnxError) as error:
        dml.onnx.load(model)
    assert text in str(error.value)


@pytest.mark.skipif(not onnxruntime.__version__.startswith("1.32."), reason="the names are those of 1.32")
def test_names_of_onnx_runtime():
    schemas = onnxruntime.capi.onnxruntime_pybind11_state.get_all_operator_schema()
    for domain, names in OF_ONNX_RUNTIME.items():
        known = {
            item.name for item in schemas if item.domain == domain and not onnx.defs.has(item.name, domain)
        }
        assert known == set(names.split())
