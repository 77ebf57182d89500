"""``python -m directml_py onnx``."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
import onnx
from toolchain import need_package

from directml_py.cli import main
from directml_py.dxdispatch import load_graph
from directml_py.onnx import Limits, comparing
from directml_py.onnx.model_file import ModelFile

from .models import parsed

TEXT = """f (float[n,4] x) => (float[n,2] y, int64[2] s) <float[4,2] w = {1,2,3,4,5,6,7,8}> {
    s = Shape(x) z = MatMul(x, w) r = Relu(z) y = Gelu(r)
}"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(parsed(TEXT, 20), path)
    return str(path)


@pytest.fixture
def inputs(tmp_path):
    path = tmp_path / "inputs.npz"
    np.savez(path, x=np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))
    return str(path)


def test_nodes_and_their_operators(model, capsys):
    assert main(["onnx", model, "--input", "n=3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=2) for line in lines] == [
        ["s", "Shape", "computed by the host"],
        ["z", "MatMul", "GEMM"],
        ["r", "Relu", "no operator: the same memory, or part of another node"],
        ["y", "Gelu", "ACTIVATION_GELU"],
        ["4", "nodes:", "2 DirectML operators, 0 refused"],
    ]


def test_a_refused_node_has_the_level_from_which_it_is_possible(model, capsys):
    assert main(["onnx", model, "--input", "x=3,4", "--level", "5.0"]) == 1
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("y "))
    assert "refused: Type is DML_OPERATOR_ACTIVATION_GELU, which needs DML_FEATURE_LEVEL_5_1" in line
    assert line.endswith("(possible from DML_FEATURE_LEVEL_5_1 on)")


def test_nodes_after_a_refused_one_are_shown(tmp_path, capsys):
    path = tmp_path / "model.onnx"
    onnx.save(parsed("f (float[2,2] x) => (float y) { d = Det(x) y = Neg(d) }"), path)
    assert main(["onnx", str(path), "--json"]) == 1
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    assert [(node["kind"], node["refused"], node["level"]) for node in nodes] == [
        ("Det", "no DirectML operators compute it", ""),
        ("Neg", "", ""),
    ]
    assert nodes[1]["operators"] == ["ELEMENT_WISE_NEGATE"]


def test_a_run_compared_with_onnx_runtime(model, inputs, tmp_path, capsys):
    need_package("onnxruntime")
    results = str(tmp_path / "results.npz")
    assert main(["onnx", model, "--run", inputs, "--output", results, "--compare"]) == 0
    assert "y: differs by at most" in capsys.readouterr().out
    with np.load(results) as file:
        assert file["y"].shape == (3, 2)
        assert list(file["s"]) == [3, 4]
    assert main(["onnx", model, "--run", inputs, "--compare", "--every-node"]) == 0
    names = [line.split(":")[0] for line in capsys.readouterr().out.splitlines() if "differs" in line]
    assert names == ["s", "z", "r", "y"]


def test_a_comparison_without_onnx_runtime(model, inputs, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert main(["onnx", model, "--run", str(inputs), "--compare"]) == 2
    assert capsys.readouterr().err == "onnx: the comparison needs ONNX Runtime: pip install onnxruntime\n"


def test_a_saved_graph_has_the_constants(model, tmp_path, capsys):
    saved = tmp_path / "graph.bin"
    assert (
        main(["onnx", model, "--input", "n=3", "--save", str(saved), "--svg", str(tmp_path / "graph.svg")])
        == 0
    )
    assert (tmp_path / "graph.svg").read_text().endswith("</svg>\n")
    graph = load_graph(saved)
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    weights = np.arange(1, 9, dtype=np.float32).reshape(4, 2)
    assert (tmp_path / "graph.0.bin").read_bytes() == weights.tobytes()
    assert len(graph.compile().run([x, weights])) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--level", "99"], "--level is '99'"),
        (["--input", "x"], "--input is 'x'"),
        (["--input", "x=a"], "--input is 'x=a'"),
        ([], "input 'x' has sizes [n, 4]; give numbers: --input x=N,4 or --input n=N"),
        (["--run", "missing.npz"], "missing.npz: No such file"),
        (["--run", __file__], f"--run is {__file__}, which is not an .npz file of arrays"),
        (["--input", "n=1", "--compare"], "--compare needs --run INPUTS.npz"),
        (["--input", "n=1", "--output", "out.npz"], "--output needs --run INPUTS.npz"),
        (["--run", "in.npz", "--every-node"], "--every-node needs --compare"),
    ],
)
def test_bad_arguments(model, arguments, said, capsys):
    assert main(["onnx", model, *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("onnx: ")
    assert said in error
    assert error.count("\n") == 1


def test_a_missing_file(capsys):
    assert main(["onnx", "missing.onnx"]) == 2
    assert capsys.readouterr().err == "onnx: missing.onnx: No such file or directory\n"


def test_inputs_whose_content_decides_are_taken_from_the_arrays(tmp_path, capsys):
    need_package("onnxruntime")
    path, inputs = tmp_path / "model.onnx", tmp_path / "inputs.npz"
    onnx.save(parsed("f (float[2,3] x, int64[1] shape) => (float[n] y) { y = Reshape(x, shape) }"), path)
    np.savez(inputs, x=np.ones((2, 3), np.float32), shape=np.array([6]))
    assert main(["onnx", str(path)]) == 1
    assert "pass load the contents of 'shape'" in capsys.readouterr().out
    assert main(["onnx", str(path), "--run", str(inputs), "--compare"]) == 0
    assert "y: differs by at most 0" in capsys.readouterr().out


def test_semantics(tmp_path, capsys):
    """Whether the maximum or the minimum wins, of which ONNX Runtime's CPU provider says the former."""
    need_package("onnxruntime")
    path, inputs, results = (str(tmp_path / name) for name in ("model.onnx", "inputs.npz", "results.npz"))
    bounds = "<float low = {1}, float high = {-1}>"
    onnx.save(parsed(f"f (float[2] x) => (float[2] y) {bounds} {{ y = Clip(x, low, high) }}"), path)
    np.savez(inputs, x=np.float32([0, 5]))
    command = ["onnx", path, "--run", inputs, "--output", results, "--compare"]
    for words, expected, difference in ([], -1, "0"), (["--semantics", "directml"], 1, "2"):
        assert main([*command, *words]) == 0
        assert f"y: differs by at most {difference}," in capsys.readouterr().out
        np.testing.assert_array_equal(np.load(results)["y"], [expected] * 2)


@pytest.mark.parametrize("more", [[], ["--every-node"]])
def test_a_model_with_external_data_compared(tmp_path, capsys, more):
    """The data is in another folder, and for ONNX Runtime in none."""
    need_package("onnxruntime")
    path, inputs, folder = tmp_path / "model.onnx", tmp_path / "inputs.npz", tmp_path / "weights"
    model = parsed("f (float[2] x) => (float[2] y) <float[2] w = {3, 4}> { z = Add(x, w) y = Mul(z, w) }")
    weights = onnx.numpy_helper.from_array(np.float32([3, 4]), "w")
    model.graph.initializer[0].CopyFrom(weights)
    onnx.external_data_helper.set_external_data(model.graph.initializer[0], "w.bin", 0, 8)
    model.graph.initializer[0].ClearField("raw_data")
    folder.mkdir()
    (folder / "w.bin").write_bytes(weights.raw_data)
    path.write_bytes(model.SerializeToString())
    np.savez(inputs, x=np.float32([1, 2]))
    command = ["onnx", str(path), "--run", str(inputs), "--compare", *more]
    assert main(command) == 2
    assert "w.bin" in capsys.readouterr().err
    assert main([*command, "--external-data", str(folder)]) == 0
    assert "y: differs by at most 0," in capsys.readouterr().out


def test_limits_of_what_is_compared(model, inputs, monkeypatch, capsys):
    """A comparison reads the model again; what exceeds the default limits would take long here."""
    need_package("onnxruntime")
    read = []
    monkeypatch.setattr(
        comparing, "ModelFile", lambda *given, **more: read.append(given) or ModelFile(*given, **more)
    )
    limits = ["--limit", "bytes=5000000000", "--limit", "steps=99999"]
    assert main(["onnx", model, "--run", inputs, "--compare", *limits]) == 0
    assert read == [(model, None, Limits(5_000_000_000, 99_999))]
