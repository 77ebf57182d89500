"""Models that would take all memory, or never load: refused in one sentence that names a node, or loaded at once."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
import onnx

import directml_py as dml
from directml_py.cli import main
from directml_py.onnx.folding import paths

from . import bombs
from .bombs import INT64, model, node, number, numbers, serialized, summed
from .models import parsed

SMALL = dml.onnx.Limits(bytes=1 << 22, steps=1500)
# What makes no arrays and takes few steps, whatever the sizes of the graph, or is refused for another reason.
OTHERS = {
    "AveragePool of large windows", "Conv", "Det", "Einsum", "Einsum of many terms", "GridSample", "LSTM",
    "MaxPool of large windows", "MelWeightMatrix", "Resize, cubic", "ScatterElements", "an attribute of many numbers",
    "CenterCropPad", "MaxUnpool", "AffineGrid", "EyeLike of x", "OneHot", "Resize", "Pad", "Concat of x",
    "ConcatFromSequence that doubles", "Range of steps of 0", "Range of tiny steps", "Cast, many", "Transpose, many",
    "ConstantOfShape of 0 and much", "a loop of long attributes", "branches in branches", "DFT", "an axis after many",
    "branches in branches, as far as they are read", "both branches in both branches", "Cast to text",
    "MultiHeadAttention with a causal mask", "Compress", "Add that broadcasts",
}  # fmt: skip
# Tables of numbers, which take a second to write.
LONG = {"many nodes", "many nodes of constants", "Split of many outputs", "Concat of many inputs", "Sum of many inputs",
        "a Constant of many numbers", "an attribute of many numbers", "an axis after many"}  # fmt: skip
PROGRAM = """
import pickle, resource, sys
import directml_py as dml
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
with open(sys.argv[1], "rb") as file:
    models = pickle.load(file)
for name, data in models.items():
    print(name, end=": ", flush=True)
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    try:
        dml.onnx.load(data)
        text = "loaded"
    except dml.onnx.OnnxError as error:
        text = str(error)
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_utime - start:.1f}: {text}", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_no_model_takes_all_memory_or_time(tmp_path):
    """In 6 GiB of address space, 20 s of user time each: what first touches memory may wait for the host as long."""
    table = bombs.table()
    (tmp_path / "models").write_bytes(
        pickle.dumps({name: serialized(make()) for name, make in table.items()})
    )
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py", tmp_path / "models"],
        capture_output=True, text=True, timeout=20 * len(table),
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (lines[-1:], done.stderr[-2000:])
    assert len(lines) == len(table)
    assert [line for line in lines if float(line.split(": ")[1]) > 20] == []
    assert [line for line in lines if "Error" in line and "InferenceError" not in line] == []


@pytest.mark.parametrize("name", sorted(bombs.table().keys() - OTHERS - LONG))
def test_the_node_is_named(name):
    with pytest.raises(dml.onnx.OnnxError, match=r"\(limits\)|more than 100 deep") as error:
        dml.onnx.load(serialized(bombs.table()[name]()), limits=SMALL)
    assert error.value.node


def test_messages_that_are_nested_too_deeply():
    """Made in place: protobuf neither copies nor writes them."""
    made = model([], number("c", True, bombs.BOOL))
    graph = made.graph
    for _ in range(2000):
        branch = graph.node.add(op_type="If", input=["c"], output=["y"]).attribute.add(
            name="then_branch", type=5
        )
        graph = branch.g
    with pytest.raises(dml.onnx.OnnxError, match=r"^has subgraphs that are nested too deeply$"):
        dml.onnx.load(made)


def test_limits_can_be_raised(tmp_path, capsys):
    made = summed([node("ConstantOfShape", ["s"], ["c"])], numbers("s", 1000))
    for enough, text in ((3999, "needs an array of 4000 bytes"), (4500, "")):
        limits = dml.onnx.Limits(bytes=enough)
        path = tmp_path / "m.onnx"
        path.write_bytes(serialized(made))
        arguments = ["onnx", str(path), "--limit", f"bytes={enough}"]
        if text:
            with pytest.raises(dml.onnx.OnnxError, match=rf"node 'c' \(ConstantOfShape\): {text}"):
                dml.onnx.load(made, limits=limits)
            assert main(arguments) == 1
            assert text in capsys.readouterr().out
        else:
            assert dml.onnx.load(made, limits=limits).run(x=np.zeros((2, 3), np.float32))["y"].shape == (2, 3)
            assert main(arguments) == 0
    assert main(["onnx", str(path), "--limit", "rounds=3"]) == 2
    assert "it must be bytes=NUMBER or steps=NUMBER" in capsys.readouterr().err


@pytest.mark.parametrize(("steps", "is_enough"), [(4, True), (3, False)])
def test_a_step_is_a_node(steps, is_enough):
    made = parsed(
        "f (float[2] x) => (float[2] y) { a = Abs(x) b = Neg(a) c = Exp(b) y = Log(c) z = Sqrt(x) }"
    )
    if is_enough:
        dml.onnx.load(made, limits=dml.onnx.Limits(steps=steps))
        return
    with pytest.raises(dml.onnx.OnnxError, match=r"node 'y' \(Log\): takes more than the 3 steps"):
        dml.onnx.load(made, limits=dml.onnx.Limits(steps=steps))


def test_weights_do_not_count():
    """Neither what only has other sizes; what is converted is left to the graph."""
    weights = np.arange(1 << 12, dtype=np.float16)
    text = """f (float[4096] x) => (float[4096] y) {
        a = Identity(w) sizes = Constant<value_ints = [4096]>() b = Reshape(a, sizes) c = Cast<to = 1>(b) y = Add(x, c)
    }"""
    made = parsed(text, check=False)
    made.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    loaded = dml.onnx.load(made, limits=dml.onnx.Limits(bytes=16))
    np.testing.assert_array_equal(loaded.run(x=np.zeros(4096, np.float32))["y"], weights)
    assert [item.kind for item in loaded.graph.nodes] == ["CAST", "ELEMENT_WISE_ADD"]


def test_constants_of_a_loop_are_uploaded_once():
    body = [
        node("Constant", [], ["k"], value=bombs.reals("", [3], [1.0, 2.0, 3.0])),
        node("Add", ["s0", "k"], ["t0"]),
    ]
    made = dml.onnx.load(model([bombs.loop(body, ["x"], name="y")], number("m", 5)))
    assert len(made.constants) == 1
    np.testing.assert_array_equal(made.run(x=np.zeros((2, 3), np.float32))["y"], [[5, 10, 15]] * 2)


def test_results_are_not_the_memory_of_constants():
    made = dml.onnx.load(parsed("f () => (float[2] y) <float[2] w = {1, 2}> { y = Identity(w) }"))
    made.run()["y"][:] = 0
    np.testing.assert_array_equal(made.run()["y"], [1, 2])


@pytest.mark.parametrize(
    ("pattern", "texts", "expected"),
    [
        (r"[\w.]{1,25}@(yahoo|hotmail)\.com", ["a.b@yahoo.com", "a@b.com"], [True, False]),
        ("a+b*", ["aabb", "bb"], [True, False]),
        ("", ["", "a"], [True, False]),
    ],
)
def test_patterns_that_take_few_steps(pattern, texts, expected):
    made = model(
        [node("RegexFullMatch", ["t"], ["m"], pattern=pattern), node("Cast", ["m"], ["y"], to=INT64)],
        bombs.texts("t", *texts),
    )
    np.testing.assert_array_equal(dml.onnx.load(made).run(x=np.zeros((2, 3), np.float32))["y"], expected)


@pytest.mark.parametrize("pattern", ["(a*)*", "(a|b)+", "(a+){2}", r"(a*)\1", "(?P<n>a*)(?P=n)"])
def test_patterns_that_may_take_many(pattern):
    assert paths(pattern, 100) > 1 << 60
