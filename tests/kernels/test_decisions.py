"""Which native kernel runs an operator, or why none does."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest
from building.kernel_list import KERNELS

import directml_py as dml
from directml_py.cli import main
from directml_py.dxdispatch import save_graph
from directml_py.graph import Graph
from directml_py.kernels.backend import backend
from directml_py.kernels.decisions import ABSENT, Decisions, Declined
from directml_py.kernels.fill import sequence
from directml_py.kernels.gather_scatter_nd import native_gather
from directml_py.kernels.move import native_move
from directml_py.kernels.nonzero import native_nonzero
from directml_py.kernels.philox import generate
from directml_py.kernels.reduce import native_fold
from directml_py.kernels.scan import native_scan

PACKAGE = Path(dml.__file__).parent
native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")


def tensor(sizes, dtype="FLOAT32", strides=None):
    return dml.tensor_desc(getattr(dml, f"DML_TENSOR_DATA_TYPE_{dtype}"), sizes, strides)


def add(dtype):
    return dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(*[tensor([1, 1, 3, 9], dtype)] * 3)


def convolution(groups, padding=0, dtype="FLOAT32"):
    return dml.DML_CONVOLUTION_OPERATOR_DESC(
        tensor([1, 2, 5, 5], dtype),
        tensor([2, 2 // groups, 3, 3], dtype),
        None,
        tensor([1, 2, 3 + padding, 3 + padding], dtype),
        dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        dml.DML_CONVOLUTION_DIRECTION_FORWARD,
        Strides=[1, 1],
        Dilations=[1, 1],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
        OutputPadding=[padding, padding],
        GroupCount=groups,
    )


def product(rows, depth, columns):
    sizes = ([1, 1, rows, depth], [1, 1, depth, columns], [1, 1, rows, columns])
    a, b, output = map(tensor, sizes)
    return dml.DML_GEMM_OPERATOR_DESC(a, b, None, output, 0, 0, 1.0, 0.0)


def largest(count, dtype="FLOAT32"):
    outputs = tensor([1, 1, 3, count], dtype), tensor([1, 1, 3, count], "UINT32")
    return dml.DML_TOP_K_OPERATOR_DESC(tensor([1, 1, 3, 900], dtype), *outputs, 3, count)


def resampled(channels):
    scales = [1.0, channels / 2, 2.0, 2.0]
    sizes = tensor([1, 2, 3, 4]), tensor([1, channels, 6, 8])
    return dml.DML_RESAMPLE_OPERATOR_DESC(*sizes, dml.DML_INTERPOLATION_MODE_LINEAR, Scales=scales)


def log_softmax(axis):
    return dml.DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC(
        tensor([1, 1, 30, 4]), tensor([1, 1, 30, 4]), Axes=[axis]
    )


TAKEN = {
    "conv": convolution(1),
    "depthwise_pool": convolution(2),
    "elementwise": add("FLOAT32"),
    "fill": dml.DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC(
        tensor([1, 1, 1, 9]),
        dml.DML_TENSOR_DATA_TYPE_FLOAT32,
        dml.DML_SCALAR_UNION(Float32=0),
        dml.DML_SCALAR_UNION(Float32=1),
    ),
    "gather_scatter_nd": dml.DML_GATHER_ELEMENTS_OPERATOR_DESC(
        tensor([1, 1, 3, 9]), tensor([1, 1, 3, 2], "UINT32"), tensor([1, 1, 3, 2]), 3
    ),
    "matmul": product(3, 4, 5),
    "move": dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor([1, 1, 3, 9]), tensor([1, 1, 3, 9])),
    "nonzero": dml.DML_NONZERO_COORDINATES_OPERATOR_DESC(
        tensor([1, 1, 3, 4]), tensor([1, 1, 1, 1], "UINT32"), tensor([1, 1, 12, 4], "UINT32")
    ),
    "reduce": dml.DML_REDUCE_OPERATOR_DESC(
        dml.DML_REDUCE_FUNCTION_SUM, tensor([1, 1, 3, 9]), tensor([1, 1, 3, 1]), Axes=[3]
    ),
    "resample": resampled(2),
    "scan": dml.DML_CUMULATIVE_SUMMATION_OPERATOR_DESC(
        tensor([1, 1, 3, 9]), tensor([1, 1, 3, 9]), 3, dml.DML_AXIS_DIRECTION_INCREASING, False
    ),
    "softmax_norm": log_softmax(3),
    "top_k": largest(2),
}
DECLINED = {
    "conv": (
        convolution(1, 1),
        ["depthwise_pool: a group has 2 channels, not 1", "conv: the output is padded"],
    ),
    "elementwise": (
        dml.DML_ELEMENT_WISE_DIVIDE_OPERATOR_DESC(*[tensor([1, 1, 3, 9], "INT64")] * 3),
        ["elementwise: the function uses any of an array"],
    ),
    "matmul": (product(600, 512, 1024), ["matmul: BLAS is as fast for matrices of this size"]),
    "resample": (resampled(4), ["resample: more than two dimensions are resampled"]),
    "softmax_norm": (
        dml.DML_LP_NORMALIZATION_OPERATOR_DESC(tensor([1, 1, 3, 9]), tensor([1, 1, 3, 9]), 3, 0.0, 2),
        ["softmax_norm: LP_NORMALIZATION has no native kernel"],
    ),
    "top_k": (largest(500), ["top_k: 500 elements are more than 64"]),
}
X = np.zeros((2, 3), np.float32)
DEEP = np.zeros((1,) * 9, np.float32)
BYTES = np.zeros(2, np.int8)
# Kernels that take every tensor that their operators can have.
DECLINED_ARRAYS = {
    "gather_scatter_nd": (lambda: native_gather(X, BYTES, X, 0), "indices of INT8 have no native kernel"),
    "move": (lambda: native_move([(DEEP, DEEP)]), "9 dimensions are more than 8"),
    "nonzero": (lambda: native_nonzero(DEEP, np.zeros((1, 9), np.uint32)), "9 dimensions are more than 8"),
    "reduce": (
        lambda: native_fold("SUM", X, X[:, :1], (1,), False),
        "the output shares memory with an input",
    ),
    "scan": (
        lambda: native_scan(np.maximum, X, X.copy(), False),
        "it has only sums and products, not maximum",
    ),
}


def test_every_kernel_is_here():
    names = {kernel.name for kernel in KERNELS}
    assert set(TAKEN) == names - {"half"}
    # The latter has nothing to decline.
    assert {*DECLINED, *DECLINED_ARRAYS, "depthwise_pool"} == names - {"half", "fill"}


@native
@pytest.mark.parametrize("name", TAKEN)
def test_the_kernel_is_named(name):
    first = str(dml.explain(TAKEN[name])).splitlines()[0]
    assert first == f"kernel: {name}, native ({backend.isa})"


@native
@pytest.mark.parametrize("name", DECLINED)
def test_the_reason_is_given(name):
    desc, reasons = DECLINED[name]
    assert str(dml.explain(desc)).splitlines() == [
        "kernel: NumPy",
        *(f"  not {reason}" for reason in reasons),
    ]


@native
@pytest.mark.parametrize("name", DECLINED_ARRAYS)
def test_arrays_are_declined(name):
    bind, reason = DECLINED_ARRAYS[name]
    declined = bind()
    assert isinstance(declined, Declined)
    assert not declined
    assert str(declined) == f"{name}: {reason}"


@native
def test_conversions_are_not_what_computes():
    lines = str(dml.explain(largest(500, "FLOAT16"))).splitlines()
    assert lines[0] == f"kernel: NumPy, with half, native ({backend.isa})"


@native
def test_a_softmax_after_a_product_has_its_own_kernel():
    """As ONNX Runtime fuses the two of attention."""
    sizes = ([1, 2, 3, 4], [1, 2, 4, 5], [1, 2, 3, 5])
    a, b, output = map(tensor, sizes)
    softmax = dml.DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC(None, None, Axes=[3])
    fused = dml.DML_GEMM_OPERATOR_DESC(a, b, None, output, 0, 0, 0.5, 0.0, softmax)
    assert dml.explain(fused) == (("matmul", "elementwise", "softmax_norm"), ())


@native
def test_a_compiled_graph_is_explained():
    graph = Graph()
    x = graph.input_tensor(0, dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 2, 3, 4])
    scaled = graph.resample1(
        x,
        interpolation_mode=dml.DML_INTERPOLATION_MODE_LINEAR,
        scales=[1, 2, 2, 2],
        input_pixel_offsets=[0.5] * 4,
        output_pixel_offsets=[-0.5] * 4,
        output_sizes=[1, 4, 6, 8],
    )
    compiled = graph.compile([graph.lp_normalization(scaled, axis=3, epsilon=0.0, p=2)])
    choice = dml.explain(compiled.operator)
    assert not choice.is_native
    assert choice.declined == (
        ("resample", "more than two dimensions are resampled"),
        ("softmax_norm", "LP_NORMALIZATION has no native kernel"),
    )


def test_what_cannot_be_compiled_is_not_explained():
    with pytest.raises(dml.DMLError, match="DML-ELEMENT_WISE_ADD"):
        dml.explain(
            dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(
                tensor([1, 1, 3, 9]), tensor([1, 1, 3, 8]), tensor([1, 1, 3, 9])
            )
        )
    with pytest.raises(TypeError):
        dml.explain("JOIN")


def test_kernels_that_are_not_in_use(monkeypatch):
    monkeypatch.setattr(backend, "native", None)
    with Decisions() as decisions:
        sequence(np.float32(0), np.float32(1), np.zeros(3, np.float32))
        generate(np.zeros(6, np.uint32), np.zeros(8, np.uint32))
        native_move([(X, X)])
    assert list(map(str, decisions.declined)) == [f"{name}: {ABSENT}" for name in ("fill", "move")]
    assert decisions.kernels == []


def annotations(node):
    """The parts of a union."""
    if isinstance(node, ast.BinOp):
        return [*annotations(node.left), *annotations(node.right)]
    return [ast.unparse(node)]


@pytest.mark.parametrize("room", ["kernels", "operators"])
def test_no_kernel_is_declined_without_a_reason(room):
    silent = []
    for path in sorted((PACKAGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.returns is not None:
                parts = annotations(node.returns)
                if "None" in parts and {"Run", "NativeRun", "Declined", "Code", "Callable[[], int]"} & set(
                    parts
                ):
                    silent.append(f"{path.relative_to(PACKAGE)}: {node.name}")
    assert silent == []


@native
def test_a_model_is_explained(tmp_path, capsys):
    model = tmp_path / "model.json"
    desc = {
        "type": "DML_OPERATOR_ELEMENT_WISE_ABS",
        "desc": {
            "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 5]},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 5]},
        },
    }
    model.write_text(json.dumps({"dispatchables": {"abs": desc}}))
    assert main(["show", str(model)]) == 0
    assert capsys.readouterr().out == f"abs\n  kernel: elementwise, native ({backend.isa})\n"


@native
def test_a_graph_is_explained(tmp_path, capsys):
    """As an exported dispatch is one: the kernels that its steps use."""
    graph = Graph()
    x = graph.input_tensor("x", dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 4, 5])
    y = graph.reduce(graph.element_wise_abs(x), function=dml.DML_REDUCE_FUNCTION_SUM, axes=[3])
    save_graph(tmp_path / "graph.bin", graph.compile({"y": y}))
    model = tmp_path / "model.json"
    graphs = {"g": {"type": "dmlSerializedGraph", "sourcePath": "graph.bin"}}
    model.write_text(json.dumps({"dispatchables": graphs}))
    assert main(["show", str(model)]) == 0
    name, kernels = capsys.readouterr().out.splitlines()[:2]
    assert name == "g"
    assert {"elementwise", "reduce"} <= set(re.findall(r"\w+", kernels))


@pytest.mark.parametrize(
    ("text", "problem"), [("{}", "is not a model: no dispatchables"), ("[", "is not a model: ")]
)
def test_no_model(tmp_path, capsys, text, problem):
    model = tmp_path / "model.json"
    model.write_text(text)
    assert main(["show", str(model)]) == 2
    assert f"show: {model} {problem}" in capsys.readouterr().err


def test_a_missing_model(tmp_path, capsys):
    model = tmp_path / "model.json"
    assert main(["show", str(model)]) == 2
    assert f"show: cannot read {model}: No such file or directory" in capsys.readouterr().err
