"""External data of tensors, whatever holds them: where its files are looked up, and which of them are not read."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
import onnx
from onnx import TensorProto, helper

import directml_py as dml
from directml_py.cli import main

from .models import parsed

DATA = np.arange(6, dtype=np.float32).reshape(2, 3)
DECOY = np.full(6, 666, np.float32)
node = helper.make_node


def external(location="w.bin", dims=(2, 3), kind=TensorProto.FLOAT, name="w"):
    tensor = TensorProto(name=name, data_type=kind, dims=dims, data_location=TensorProto.EXTERNAL)
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    return tensor


def info(name, kind=TensorProto.FLOAT, sizes=(2, 3)):
    return helper.make_tensor_value_info(name, kind, sizes)


def model(nodes, tensors=(), functions=(), opset=18, sparse=()):
    graph = helper.make_graph(nodes, "g", [info("x")], [info("y")], tensors, sparse_initializer=sparse)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9, functions=functions)


def added(tensor, **of_constant):
    attributes = of_constant or {"value": tensor}
    return [node("Constant", [], ["c"], **attributes), node("Add", ["x", "c"], ["y"])]


def branch(tensor, is_constant=False):
    nodes = [node("Constant", [], ["w"], value=tensor)] if is_constant else []
    body = helper.make_graph(
        [*nodes, node("Add", ["x", "w"], ["z"])], "b", [], [info("z")], [] if is_constant else [tensor]
    )
    return model(
        [node("If", ["t"], ["y"], then_branch=body, else_branch=body)],
        [helper.make_tensor("t", TensorProto.BOOL, [], [True])],
    )


def loop(tensor):
    flags = [info(name, TensorProto.BOOL, []) for name in ("go", "on")]
    nodes = [node("Identity", ["go"], ["on"]), node("Add", ["s", "w"], ["t"])]
    inputs = [info("i", TensorProto.INT64, []), flags[0], info("s")]
    body = helper.make_graph(nodes, "b", inputs, [flags[1], info("t")], [tensor])
    return model(
        [node("Loop", ["m", "", "x"], ["y"], body=body)],
        [helper.make_tensor("m", TensorProto.INT64, [], [1])],
    )


def function(tensor):
    body = [node("Constant", [], ["w"], value=tensor), node("Add", ["a", "w"], ["b"])]
    own = helper.make_function("own", "F", ["a"], ["b"], body, [helper.make_opsetid("", 18)])
    return model([node("F", ["x"], ["y"], domain="own")], functions=[own])


def sparse(tensor):
    """All six elements, in order."""
    values = TensorProto()
    values.CopyFrom(tensor)
    values.dims[:] = [6]
    places = helper.make_tensor("places", TensorProto.INT64, [6], range(6))
    return helper.make_sparse_tensor(values, places, [2, 3])


def filled(tensor):
    """The last element in all places, as the attribute of a node that is no Constant."""
    tensor.dims[:] = [1]
    entry = tensor.external_data.add()
    entry.key, entry.value = "offset", "20"
    sizes = helper.make_tensor("s", TensorProto.INT64, [2], [2, 3])
    return model(
        [node("ConstantOfShape", ["s"], ["c"], value=tensor), node("Add", ["x", "c"], ["y"])], [sizes]
    )


HOLDERS = {
    "an initializer": lambda tensor: model([node("Add", ["x", "w"], ["y"])], [tensor]),
    "a Constant": lambda tensor: model(added(tensor)),
    "a Constant of opset 6": lambda tensor: model(added(tensor), opset=6),
    "a sparse Constant": lambda tensor: model(added(None, sparse_value=sparse(tensor))),
    "a sparse initializer": lambda tensor: model([node("Add", ["x", "w"], ["y"])], sparse=[sparse(tensor)]),
    "a branch": branch,
    "a Constant in a branch": lambda tensor: branch(tensor, True),
    "a loop": loop,
    "a function": function,
    "another attribute": filled,
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_data_is_beside_the_model(tmp_path, monkeypatch, holder):
    """A file of the same name in the current directory is another one."""
    made, here, there = HOLDERS[holder](external()), tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "m.onnx").write_bytes(made.SerializeToString())
    DATA.tofile(here / "w.bin")
    DECOY.tofile(there / "w.bin")
    monkeypatch.chdir(there)
    expected = np.full((2, 3), 5) if holder == "another attribute" else DATA
    zero = np.zeros((2, 3), np.float32)
    before = made.SerializeToString()
    for source in (here / "m.onnx", before, made):
        folder = None if source == here / "m.onnx" else here
        found = dml.onnx.load(source, external_data=folder).run(x=zero)["y"]
        np.testing.assert_array_equal(found, expected)
    assert made.SerializeToString() == before
    for source in (before, made):
        with pytest.raises(
            dml.onnx.OnnxError, match=r"its data is in 'w\.bin', beside a file; load the file"
        ):
            dml.onnx.load(source)
    assert main(["onnx", str(here / "m.onnx")]) == 0


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("where", ["..", "absolute"])
def test_data_outside_is_not_read(tmp_path, holder, where):
    (tmp_path / "model").mkdir()
    DATA.tofile(tmp_path / "w.bin")
    location = "../w.bin" if where == ".." else str(tmp_path / "w.bin")
    path = tmp_path / "model" / "m.onnx"
    path.write_bytes(HOLDERS[holder](external(location)).SerializeToString())
    with pytest.raises(dml.onnx.OnnxError, match="outside the folder of the model"):
        dml.onnx.load(path)
    # The folder that is named holds the model's.
    dml.onnx.load(path, external_data=tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
@pytest.mark.parametrize(
    ("link", "target", "is_read"),
    [
        ("model/w.bin", "model/sub/data", True),
        ("model/w.bin", "elsewhere/data", False),
        # The folder, not the file, is the link.
        ("model/linked", "elsewhere", False),
        ("model/linked", "model/sub", True),
    ],
)
def test_links_lead_nowhere_else(tmp_path, link, target, is_read):
    """As ONNX Runtime has it."""
    for folder in ("model/sub", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
        DATA.tofile(tmp_path / folder / "data")
    (tmp_path / link).symlink_to(tmp_path / target)
    location = "linked/data" if link.endswith("linked") else "w.bin"
    path = tmp_path / "model" / "m.onnx"
    path.write_bytes(model(added(external(location))).SerializeToString())
    if is_read:
        dml.onnx.load(path)
        return
    with pytest.raises(
        dml.onnx.OnnxError, match=r"node 'c' \(Constant\): its data is in .*, outside the folder"
    ):
        dml.onnx.load(path)


def test_the_folder_that_is_named_comes_first(tmp_path):
    for name, array in (("one", DECOY), ("two", DATA)):
        (tmp_path / name).mkdir()
        array.tofile(tmp_path / name / "w.bin")
    path = tmp_path / "one" / "m.onnx"
    path.write_bytes(model(added(external())).SerializeToString())
    zero = np.zeros((2, 3), np.float32)
    named = dml.onnx.load(path, external_data=tmp_path / "two").run(x=zero)["y"]
    np.testing.assert_array_equal(named, DATA)
    assert main(["onnx", str(path), "--external-data", str(tmp_path / "two")]) == 0
    (tmp_path / "two" / "w.bin").unlink()
    beside = dml.onnx.load(path, external_data=tmp_path / "two").run(x=zero)["y"]
    np.testing.assert_array_equal(beside, DECOY.reshape(2, 3))


def test_data_of_less_than_a_byte_an_element(tmp_path):
    """Odd in number: the last byte is half full."""
    values = np.array([-8, 7, 3, -1, 2], np.int8)
    low, high = values[::2], np.append(values[1::2], 0)
    ((high.astype(np.uint8) << 4) | (low.astype(np.uint8) & 15)).tofile(tmp_path / "w.bin")
    made = parsed("f (float[1] x) => (float[5] y) { y = DequantizeLinear(q, x) }", 21, False)
    made.graph.initializer.append(external(dims=[5], kind=TensorProto.INT4, name="q"))
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    found = dml.onnx.load(tmp_path / "m.onnx").run(x=np.float32([2]))["y"]
    np.testing.assert_array_equal(found, 2.0 * values)


def test_strings_are_not_external(tmp_path):
    (tmp_path / "w.bin").write_bytes(bytes(100))
    made = model([*added(external(kind=TensorProto.STRING))[:1], node("Cast", ["c"], ["y"], to=1)])
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(
        dml.onnx.OnnxError, match=r"node 'c' \(Constant\): is of strings, which no external data"
    ):
        dml.onnx.load(tmp_path / "m.onnx")


def test_the_package_onnx_writes_what_is_read(tmp_path):
    made = model(added(onnx.numpy_helper.from_array(DATA, "w")))
    onnx.save(
        made,
        tmp_path / "m.onnx",
        save_as_external_data=True,
        size_threshold=0,
        convert_attribute=True,
        location="w.bin",
    )
    assert (tmp_path / "w.bin").stat().st_size >= 24
    found = dml.onnx.load(tmp_path / "m.onnx").run(x=np.zeros((2, 3), np.float32))["y"]
    np.testing.assert_array_equal(found, DATA)
