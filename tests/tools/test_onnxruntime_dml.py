"""The client that runs ONNX Runtime's DirectML provider: what it unpacks, isolates, compares and reports."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections import Counter

import numpy as np
import pytest
from toolchain import missing

onnx = pytest.importorskip("onnx", reason="needs the package onnx")
pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")

from clients import onnxruntime_dml  # noqa: E402 - after onnx
from clients.dml_provider import (  # noqa: E402
    contrib_models,
    judging,
    sent_descs,
    shipped_models,
    table,
    tensors,
    variants,
    wheels,
    wine_batches,
)
from clients.dml_provider.node_models import ProviderCase  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

FLOAT = TensorProto.FLOAT
# A runner that tells what the C program tells, of jobs with these names.
STAND_IN = """
import os, sys, time
for line in sys.stdin:
    job = int(line)
    print("begin", job, flush=True)
    print(f"\\n=== begin {job}\\nabout {job} [DML-ADD-sizes]", file=sys.stderr, flush=True)
    if job == 1:
        os._exit(3)
    if job == 3:
        time.sleep(60)
    print("placed  Node(s) placed on [DmlExecutionProvider]. Number of nodes: 2", flush=True)
    print("placed  Node(s) placed on [CPUExecutionProvider]. Number of nodes: 1", flush=True)
    print("failed 2 the message" if job == 2 else f"done {job}", flush=True)
"""


def gemm():
    """x w + b for x of {2,3}."""
    values = {"x": [2, 3], "w": [3, 4], "b": [4]}
    inputs = [helper.make_tensor_value_info(name, FLOAT, sizes) for name, sizes in values.items()]
    output = helper.make_tensor_value_info("y", FLOAT, [2, 4])
    graph = helper.make_graph([helper.make_node("Gemm", list(values), ["y"])], "gemm", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    rng = np.random.default_rng(0)
    arrays = {name: rng.integers(-9, 9, sizes).astype(np.float32) / 3 for name, sizes in values.items()}
    expected = tensors.named("y", arrays["x"] @ arrays["w"] + arrays["b"])
    given = [tensors.named(name, array) for name, array in arrays.items()]
    return ProviderCase("node", "gemm", model, given, [expected])


@pytest.fixture
def wheel(tmp_path):
    """A wheel like that of onnxruntime-directml."""
    path = tmp_path / "wheel.whl"
    with zipfile.ZipFile(path, "w") as content:
        for name in ("DirectML.dll", "onnxruntime.dll", "onnxruntime_providers_shared.dll", "other.pyd"):
            content.writestr(f"onnxruntime/capi/{name}", name)
    return path


def test_directml_dll_stays_in_the_wheel(tmp_path, wheel, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(wheels, "wheel", lambda package, options: wheel)
    folder = wheels.runtime()
    assert sorted(path.name for path in folder.iterdir()) == [
        "onnxruntime.dll",
        "onnxruntime_providers_shared.dll",
    ]
    assert (folder / "onnxruntime.dll").read_text() == "onnxruntime.dll"


@pytest.mark.parametrize("name", ["DirectML.dll", "directml.DLL"])
def test_nobody_can_ask_for_directml_dll(tmp_path, wheel, name):
    members = ["onnxruntime/capi/onnxruntime.dll", f"onnxruntime/capi/{name}"]
    with pytest.raises(ValueError, match="never unpacked"):
        wheels.unpack(wheel, members, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_model_that_ends_the_process_loses_its_own_result_only(tmp_path, monkeypatch):
    monkeypatch.setattr(wine_batches, "command", lambda provider, options: [sys.executable, "-c", STAND_IN])
    outcomes = wine_batches.run(tmp_path, range(5), "dml", seconds=1.5)
    told = {job: (outcome.status, outcome.why) for job, outcome in outcomes.items()}
    assert told == {
        0: ("done", ""),
        1: ("ended", "the process ended with exit code 3"),
        2: ("failed", "the message"),
        3: ("ended", "longer than 1.5 s"),
        4: ("done", ""),
    }
    assert outcomes[4].placed == {"Dml": 2, "CPU": 1}
    assert [outcomes[job].said for job in (1, 4)] == ["about 1 [DML-ADD-sizes]", "about 4 [DML-ADD-sizes]"]


def test_a_runner_that_does_not_start(tmp_path, monkeypatch):
    program = [sys.executable, "-c", "import sys; sys.exit('no Wine')"]
    monkeypatch.setattr(wine_batches, "command", lambda provider, options: program)
    with pytest.raises(RuntimeError, match="does not start: no Wine"):
        wine_batches.run(tmp_path, range(2), "dml")


def test_the_runner_compiles_without_warnings(tmp_path):
    if shutil.which(wine_batches.COMPILER) is None:
        missing("gcc-mingw-w64-x86-64")
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(
        [wine_batches.COMPILER, *flags, str(wine_batches.SOURCE), "-o", str(tmp_path / "runner.exe")],
        check=True,
    )


def test_files_of_tensors(tmp_path):
    nibbles = TensorProto(name="nibbles", data_type=TensorProto.UINT4, dims=[3], raw_data=b"\x21\x03")
    given = [
        tensors.named("x", np.arange(6, dtype=np.float16).reshape(2, 3)),
        tensors.named("scalar", np.array(True)),
        tensors.named("none", np.empty((0, 2), np.int64)),
        nibbles,
        helper.make_tensor("by value", FLOAT, [2], [1.5, -2]),
    ]
    path = tmp_path / "tensors"
    tensors.write(path, given)
    found = tensors.read(path)
    assert [tensor.name for tensor in found] == ["x", "scalar", "none", "nibbles", "by value"]
    assert tensors.difference(found, given) == ""
    assert found[3].raw_data == nibbles.raw_data


@pytest.mark.parametrize(
    ("dtype", "one", "two", "why"),
    [
        ("float32", [1, 2], [1, 2.0019], ""),
        ("float32", [1, 2], [1, 2.003], "1 of 2 elements differ, the first at [1]: 2.0, not 2.00"),
        ("float16", [1, 2], [1, 2.05], ""),
        ("int32", [1000, 2], [1001, 2], "1 of 2 elements differ, the first at [0]: 1000, not 1001"),
        ("float32", [np.nan, np.inf], [np.nan, np.inf], ""),
        ("float32", [np.nan], [0], "1 of 1 elements differ"),
    ],
)
def test_tolerances(dtype, one, two, why):
    found, expected = (tensors.named("y", np.array(values, dtype)) for values in (one, two))
    told = tensors.difference([found], [expected])
    assert told.startswith(f"y: {why}") if why else told == ""


def test_types_and_sizes_must_agree():
    x = np.ones((2, 1), np.float32)
    assert "FLOAT, not DOUBLE" in tensors.difference(
        [tensors.named("y", x)], [tensors.named("y", x.astype(float))]
    )
    assert "[2, 1], not [1, 2]" in tensors.difference([tensors.named("y", x)], [tensors.named("y", x.T)])
    assert tensors.difference([], [tensors.named("y", x)]) == "0 outputs, not 1"


def test_variants_are_valid_models_with_the_same_results():
    case = gemm()
    made = {
        "constants": list(variants.constant_inputs(case)),
        "eager": list(variants.eager(case)),
        "symbolic": list(variants.symbolic_sizes(case)),
        "float16": list(variants.half(case)),
        "types": list(variants.other_types(case)),
    }
    for group, cases in made.items():
        assert {each.group for each in cases} == {group}
        for each in cases:
            onnx.checker.check_model(each.model)
            found = judging.cpu_outputs(each.model, each.inputs)
            assert tensors.difference(found, each.expected) == ""
    (constants,), (symbolic,) = made["constants"], made["symbolic"]
    assert [value.name for value in constants.model.graph.input] == ["x"]
    assert [tensor.name for tensor in constants.model.graph.initializer] == ["w", "b"]
    assert not any(
        size.dim_value for value in symbolic.model.graph.input for size in value.type.tensor_type.shape.dim
    )
    # ONNX has Gemm for these, and ONNX Runtime's CPU provider for fewer.
    assert {each.name for each in made["types"]} <= {
        f"gemm:{kind}" for kind in ("int32", "int64", "uint32", "uint64", "double")
    }
    assert "gemm:double" in {each.name for each in made["types"]}


def test_a_light_model_gets_weights_that_differ():
    """Its own are all alike, so that a wrong order of elements would not show."""
    shape = helper.make_tensor("shape", TensorProto.INT64, [2], [3, 4])
    fill = helper.make_node("ConstantOfShape", ["shape"], ["w"])
    product = helper.make_node("MatMul", ["x", "w"], ["y"])
    x, y = (helper.make_tensor_value_info(name, FLOAT, [1, size]) for name, size in (("x", 3), ("y", 4)))
    graph = helper.make_graph([fill, product], "light", [x], [y], [shape])
    model = shipped_models.with_random_weights(helper.make_model(graph))
    assert [node.op_type for node in model.graph.node] == ["MatMul"]
    weights = numpy_helper.to_array(model.graph.initializer[1])
    assert weights.shape == (3, 4)
    assert len(np.unique(weights)) == 12


def test_models_of_microsofts_operators():
    """Each FLOAT16 model has a result to compare with, also where the CPU provider has no FLOAT16."""
    cases = list(contrib_models.cases())
    assert max(Counter(case.name for case in cases).values()) == 1
    assert not [case.name for case in cases if case.name.endswith(":float16") and case.expected is None]


def test_group_norm_of_one_group_is_a_normalization_of_all():
    x = np.arange(8, dtype=np.float32).reshape(1, 2, 1, 4)
    result = contrib_models.group_norm(x, np.ones(4), np.full(4, 10), groups=1, activation=0, epsilon=0)
    np.testing.assert_allclose(result.ravel(), 10 + (np.arange(8) - 3.5) / np.sqrt(5.25), rtol=1e-6)


def row(case, verdict="right", **members):
    return {"case": case, "verdict": verdict, "where": "dml", "why": "", **members}


LISTED = [table.Reason("Somebody", "it is so", "DML-ADD-sizes", ("node/listed", "node/mended"))]


def test_what_surprises():
    rows = [
        row("node/right"),
        row("node/listed", "failed", why="refused", rules=["DML-ADD-sizes"], cpu="right"),
        row("node/mended"),
        row("node/other", "differs", why="2 of 3 elements differ", cpu="right"),
        row("node/cpu too", "failed", why="no kernel", cpu="failed"),
        row("node/crash", "ended", why="exit code 3", cpu="ended"),
    ]
    told = table.surprises({each["case"]: each for each in rows}, LISTED)
    assert [line.split(" ")[0] for line in told] == ["node/mended", "node/other", "node/crash"]
    rows[1]["rules"] = ["DML-OTHER"]
    assert "lacks 'DML-ADD-sizes'" in table.surprises({"node/listed": rows[1]}, LISTED)[0]


def test_the_table(tmp_path):
    rows = [
        row("node/one"),
        row("node/two", where="both"),
        row("node/three", where="cpu"),
        row("node/four", "failed", cpu="failed"),
        row("node/listed", "failed", rules=["DML-ADD-sizes"], cpu="right"),
    ]
    text = table.table({each["case"]: each for each in rows}, LISTED)
    assert "| ONNX's node tests | 5 | 1 | 1 | 1 | 1 | 1 |" in text
    assert "| it is so | 1 | Somebody | `node/listed` |" in text
    page = tmp_path / "page.md"
    begin, end = (f"<!-- onnxruntime_dml.py: {word} -->" for word in ("begin", "end"))
    page.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
    table.write_page(page, "new")
    assert page.read_text() == f"before\n{begin}\n\nnew\n\n{end}\nafter\n"
    page.write_text("no markers")
    with pytest.raises(ValueError, match="has no"):
        table.write_page(page, "new")


def test_the_list_has_each_case_once():
    cases = Counter(case for reason in table.reasons() for case in reason.cases)
    assert max(cases.values()) == 1
    groups = {title.partition("/")[0] for title in cases}
    assert groups <= {*onnxruntime_dml.GROUPS, shipped_models.TORCH} == set(table.TITLES)


def test_descs_of_captures(tmp_path):
    relu = {"operator": "ACTIVATION_RELU", "desc": {"InputTensor": {}}}
    events = [
        {"event": "process"},
        {"event": "operator", "id": 1, "level": "DML_FEATURE_LEVEL_6_4", **relu},
        {
            "event": "operator",
            "id": 2,
            "graph": {"nodes": [{"name": "a", **relu}, {"name": "b", "constant": 3}]},
        },
    ]
    text = "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)
    (tmp_path / "process-1-0.jsonl").write_text(text + '{"event":"operator","cut')
    (tmp_path / "process-1-0.contents").write_bytes(b"bytes")
    found = set(sent_descs.collect(tmp_path))
    assert [json.loads(line) for line in found] == [relu]
    assert list(tmp_path.iterdir()) == []
    path = tmp_path / "descs.jsonl.gz"
    sent_descs.write(path, found)
    assert sent_descs.read(path) == found
