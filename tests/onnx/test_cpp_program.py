"""``python -m directml_py onnx --cpp``: programs that compute what the graph does."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from programs import CPP
from toolchain import STANDARD, need_d3d12_headers

pytest.importorskip("onnx.reference", reason="needs the package onnx")
import onnx

import directml_py as dml
from directml_py.cli import main
from directml_py.cpp.graph_source import literal

from ..com.building import WARNINGS, config, library
from .models import parsed

CONVOLUTIONAL = """f (float[1,1,8,8] image, float[2] unread)
    => (float[1,4] chances, int64[1] first, bool[1,4] likely)
<float[2,1,3,3] filters, float[2] offsets, float[4,18] weights> {
    slopes = Conv<strides = [2,2]>(image, filters, offsets)
    steep = LeakyRelu<alpha = 0.3>(slopes)
    rows = Flatten(steep)
    scores = Gemm<transB = 1, alpha = 0.37>(rows, weights)
    chances = Softmax<axis = 1>(scores)
    first = ArgMax<axis = 1, keepdims = 0>(chances)
    quarter = Constant<value_float = 0.25>()
    likely = Greater(chances, quarter)
}"""
RECURRENT = """f (float[3,1,4] words) => (float[1,3,5] mixed, float[1,1,5] last)
<float[1,20,4] w, float[1,20,5] r, float[1,40] b> {
    every, last, cell = LSTM<hidden_size = 5, activations = ["Sigmoid", "Tanh", "Relu"]>(words, w, r, b)
    one = Constant<value_ints = [1]>()
    steps = Squeeze(every, one)
    batched = Transpose<perm = [1,0,2]>(steps)
    keys = Transpose<perm = [0,2,1]>(batched)
    scores = MatMul(batched, keys)
    shares = Softmax<axis = -1>(scores)
    mixed = MatMul(shares, batched)
}"""


def with_random_weights(text):
    model, random = parsed(text, check=False), np.random.default_rng(3)
    for item in model.graph.value_info:
        sizes = [size.dim_value for size in item.type.tensor_type.shape.dim]
        values = random.standard_normal(sizes).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, item.name))
    return model


@pytest.fixture(params=[CONVOLUTIONAL, RECURRENT], ids=["convolutional", "recurrent"])
def saved(request, tmp_path):
    """The path of a model."""
    path = tmp_path / "model.onnx"
    onnx.save(with_random_weights(request.param), path)
    return path


@pytest.mark.parametrize("compiler", CPP)
def test_a_program_computes_what_the_graph_does(saved, compiler, capsys):
    need_d3d12_headers()
    library()
    source = saved.with_name("program.cpp")
    assert main(["onnx", str(saved), "--cpp", str(source)]) == 0
    program = source.with_suffix("")
    assert capsys.readouterr().out.splitlines()[-2:] == [f"{program}.bin", str(source)]
    command = [compiler, STANDARD[compiler], *WARNINGS, *config("--cflags"), str(source), "-o", str(program)]
    build = subprocess.run([*command, *config("--libs")], capture_output=True, text=True)
    assert build.returncode == 0, build.stderr

    model = dml.onnx.load(saved)
    random = np.random.default_rng(4)
    inputs = {name: random.standard_normal(value.shape, np.float32) for name, value in model.inputs.items()}
    expected = model.run(inputs)
    words = []
    # No node reads the last input of one model.
    read = {name: array for name, array in inputs.items() if name != "unread"}
    for index, array in enumerate(read.values()):
        words.append(f"input{index}")
        array.tofile(saved.with_name(words[-1]))
    words += [f"output{index}" for index in range(len(expected))]
    run = subprocess.run([str(program), *words], cwd=saved.parent, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    for index, array in enumerate(expected.values()):
        assert saved.with_name(f"output{index}").read_bytes() == array.tobytes()

    usage = subprocess.run([str(program)], cwd=saved.parent, capture_output=True, text=True)
    assert usage.returncode == 2
    assert "unread" not in usage.stderr
    assert all(f"input {name}: FLOAT32" in usage.stderr for name in read)
    saved.with_name("input0").write_bytes(b"1234")
    short = subprocess.run([str(program), *words], cwd=saved.parent, capture_output=True, text=True)
    assert short.returncode == 1
    assert short.stderr.startswith("input0 is too short: ")


def test_names_are_literals():
    assert literal('a "b"\\\n*/') == r'"a \"b\"\\\n*/"'
    # Digits that follow are not taken for part of the escape.
    assert literal("é1\x7f") == r'"\303\2511\177"'


def test_constants_do_not_overwrite_the_program(saved, capsys):
    target = saved.with_name("program.bin")
    assert main(["onnx", str(saved), "--cpp", str(target)]) == 2
    assert capsys.readouterr().err == (
        f"onnx: {target} is where the constants go; a C++ file does not end in .bin\n"
    )
    assert not target.exists()
