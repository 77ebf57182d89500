"""Models that cannot be read, and sizes that cannot be bound: one sentence with the file and the place."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
from onnx import TensorProto, helper

import directml_py as dml
from directml_py.cli import main

FLOAT = TensorProto.FLOAT
ELSEWHERE = "; external_data may name another folder"


def model(node, *tensors, sizes=(2, 3), element=FLOAT):
    given = [helper.make_tensor_value_info("x", element, sizes)]
    wanted = [helper.make_tensor_value_info("y", element, None)]
    graph = helper.make_graph([node], "g", given, wanted, list(tensors))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def external(dims=(2, 3), **members):
    tensor = TensorProto(name="w", data_type=FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in members.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(value)
    return tensor


def written(folder, made):
    path = folder / "m.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def refused(path, **arguments):
    with pytest.raises(dml.onnx.OnnxError) as error:
        dml.onnx.load(path, **arguments)
    assert error.value.file == str(path)
    return str(error.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({}, "its data is in a file that is not named"),
        ({"location": "short"}, "'short' has 8 bytes; its data is from 0 to 24"),
        ({"location": "whole", "offset": 4}, "'whole' has 24 bytes; its data is from 4 to 28"),
        ({"location": "whole", "length": 8}, "its data has 8 bytes; its sizes need 24"),
        ({"location": "whole", "dims": [-2, 3]}, "has sizes [-2, 3]"),
        ({"location": "../whole"}, f"its data is in '../whole', outside the folder of the model{ELSEWHERE}"),
        ({"location": "none"}, "cannot read its data from 'none': No such file or directory"),
        ({"location": "."}, "cannot read its data from '.': Is a directory"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="the system's words are others")
def test_external_data_that_is_not_there(tmp_path, members, text):
    (tmp_path / "whole").write_bytes(bytes(24))
    (tmp_path / "short").write_bytes(bytes(8))
    path = written(tmp_path, model(helper.make_node("Add", ["x", "w"], ["y"]), external(**members)))
    assert refused(path) == f"initializer 'w': {text}"


@pytest.mark.parametrize("offset", ["abc", "-4"])
def test_an_offset_that_is_none(tmp_path, offset):
    (tmp_path / "whole").write_bytes(bytes(24))
    tensor = external(location="whole", offset=offset)
    path = written(tmp_path, model(helper.make_node("Add", ["x", "w"], ["y"]), tensor))
    assert refused(path).startswith("initializer 'w': its data is damaged (")


@pytest.mark.skipif(not hasattr(os, "symlink") or sys.platform == "win32", reason="needs links")
def test_a_link_has_its_data_beside_it(tmp_path):
    """As caches of downloads keep files: under names that are hashes, with links to them."""
    made = model(helper.make_node("Add", ["x", "w"], ["y"]), external(location="weights"))
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshot"
    blobs.mkdir()
    snapshot.mkdir()
    (blobs / "1f").write_bytes(made.SerializeToString())
    (blobs / "2f").write_bytes(bytes(24))
    (snapshot / "m.onnx").symlink_to(blobs / "1f")
    (snapshot / "weights").symlink_to(blobs / "2f")
    assert [array.shape for array in dml.onnx.load(snapshot / "m.onnx").constants] == [(2, 3)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "m.onnx")
    with pytest.raises(OSError, match=r"not a regular file: .*m\.onnx"):
        dml.onnx.load(tmp_path / "m.onnx")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux for the memory")
def test_data_of_more_than_two_gigabytes_is_not_read(tmp_path):
    with (tmp_path / "weights").open("wb") as file:
        file.truncate(2_600_000_000)
    node = helper.make_node("Gather", ["w", "x"], ["y"])
    tensor = external((650_000, 1000), location="weights")
    path = written(tmp_path, model(node, tensor, element=TensorProto.INT64))
    before = resident()
    made = dml.onnx.load(path)
    assert made.outputs["y"].shape == (2, 3, 1000)
    assert resident() - before < 100_000_000


def resident():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("bindings", "text"),
    [
        ({"n": -1}, "its sizes are [-1, 3]; each must be a whole number from 0 to 4294967295"),
        ({"n": 1 << 32}, "its sizes are [4294967296, 3]; each must be a whole number from 0 to 4294967295"),
        ({"n": 2.5}, "its sizes are [2.5, 3]; each must be a whole number from 0 to 4294967295"),
        ({"x": ["a", 3]}, "its sizes are ['a', 3]; each must be a whole number from 0 to 4294967295"),
        ({}, "has sizes [n, 3]; give numbers: inputs={'x': [...]}"),
    ],
)
def test_sizes_that_are_none(tmp_path, bindings, text):
    path = written(tmp_path, model(helper.make_node("Relu", ["x"], ["y"]), sizes=("n", 3)))
    assert refused(path, inputs=bindings) == f"input 'x': {text}"


@pytest.mark.parametrize(
    ("element", "text"),
    [
        (99, "its element type is 99, which ONNX does not have"),
        (TensorProto.STRING, "DirectML has no tensors of type string"),
        (TensorProto.COMPLEX64, "DirectML has no tensors of type complex64"),
    ],
)
def test_element_types(tmp_path, element, text):
    path = written(tmp_path, model(helper.make_node("Identity", ["x"], ["y"]), element=element))
    assert refused(path) == f"input 'x': {text}"


def test_a_constant_without_a_value(tmp_path):
    path = written(tmp_path, model(helper.make_node("Constant", [], ["y"], name="c")))
    assert refused(path) == "node 'c' (Constant): has 0 attributes; one must be its value"


def test_a_file_that_ends_early(tmp_path):
    """What is left may be a whole message without its last fields; anything else is one sentence."""
    whole = model(helper.make_node("Relu", ["x"], ["y"])).SerializeToString()
    path, messages = tmp_path / "m.onnx", []
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        try:
            dml.onnx.load(path)
        except dml.onnx.OnnxError as error:
            messages.append(str(error))
    assert len(messages) > len(whole) / 2
    assert all(text.startswith(f"{path}: ") and "\n" not in text for text in messages)


MICROSOFT = "com.microsoft"
BODY = helper.make_graph(
    [helper.make_node("Relu", ["a"], ["b"])],
    "body",
    [helper.make_tensor_value_info("a", FLOAT, [3])],
    [helper.make_tensor_value_info("b", FLOAT, [3])],
)
RECURSIVE = helper.make_function(
    "own", "F", ["a"], ["b"], [helper.make_node("F", ["a"], ["b"], domain="own")],
    [helper.make_opsetid("own", 1)],
)  # fmt: skip
NARROW = helper.make_function(
    "own", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 18)]
)


def integers(name, *values):
    return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)


MALFORMED = {
    "a cycle": (
        [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])],
        [],
        "node 'a' (Add): depends on its own outputs, through a cycle of nodes",
    ),
    "a name twice": (
        [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["y"])],
        [],
        "node 'y' (Neg): output y: another value has the same name",
    ),
    "an unknown domain": (
        [helper.make_node("F", ["x"], ["y"], name="n", domain="own")],
        [],
        "node 'n' (F): operator set 1 of the domain 'own' has no such operator",
    ),
    "an attribute of another type": (
        [helper.make_node("Softmax", ["x"], ["y"], name="n", axis="one")],
        [],
        "node 'n' (Softmax): attribute axis: has the type STRING; it must be INT",
    ),
    "a huge attribute": (
        [helper.make_node("Softmax", ["x"], ["y"], name="n", axis=1 << 62)],
        [],
        "node 'n' (Softmax): attribute axis: is 4611686018427387904; the tensor has 2 dimensions",
    ),
    "huge sizes": (
        [helper.make_node("Expand", ["x", "s"], ["y"], name="n")],
        [integers("s", 1 << 40, 2, 3)],
        "node 'n' (Expand): Graph.reinterpret: sizes[0] must be an unsigned 32-bit number",
    ),
    "other sizes": (
        [helper.make_node("Reshape", ["x", "s"], ["y"], name="n")],
        [integers("s", 4, 4)],
        "node 'n' (Reshape): input 0: has sizes [2, 3], which cannot become [4, 4]",
    ),
    "negative sizes": (
        [helper.make_node("Pad", ["x", "s"], ["y"], name="n")],
        [integers("s", -5, 0, 0, 0)],
        "node 'n' (Pad): input pads: is [-5, 0, 0, 0], which leaves an axis with -3 elements",
    ),
    "a missing attribute": (
        [helper.make_node("MultiHeadAttention", ["x", "x", "x"], ["y"], name="n", domain=MICROSOFT)],
        [],
        "node 'n' (MultiHeadAttention): its attributes and inputs do not fit together (",
    ),
    "an attribute of 0": (
        [helper.make_node("MultiHeadAttention", ["x"] * 3, ["y"], name="n", domain=MICROSOFT, num_heads=0)],
        [],
        "node 'n' (MultiHeadAttention): its attributes and inputs do not fit together (",
    ),
    "a scan of nothing": (
        [helper.make_node("Scan", ["x"], ["y"], name="n", body=BODY, num_scan_inputs=0)],
        [],
        "node 'n' (Scan): attribute num_scan_inputs: is 0; the node has 1 input",
    ),
    "a scan along no axis": (
        [helper.make_node("Scan", ["x"], ["y"], name="n", body=BODY, num_scan_inputs=1, scan_input_axes=[7])],
        [],
        "node 'n' (Scan): attribute scan_input_axes: has 7 for an input of 2 dimensions",
    ),
    "data of another size": (
        [helper.make_node("Add", ["x", "w"], ["y"])],
        [TensorProto(name="w", data_type=FLOAT, dims=[2, 3], raw_data=bytes(8))],
        "initializer 'w': its data is damaged (cannot reshape array of size 2",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_nodes(tmp_path, name, capsys):
    """Refused in one sentence by ``load`` and by the command, whose placeholders have no sizes to be made of."""
    nodes, tensors, text = MALFORMED[name]
    made = model(nodes[0], *tensors)
    made.graph.node.extend(nodes[1:])
    made.graph.output[0].name = nodes[-1].output[0]
    made.opset_import.extend([helper.make_opsetid(MICROSOFT, 1), helper.make_opsetid("own", 1)])
    path = written(tmp_path, made)
    message = refused(path)
    assert text in message
    assert "\n" not in message
    assert main(["onnx", str(path)]) in (1, 2)
    printed = capsys.readouterr()
    assert message.split("): ", 1)[-1] in printed.out + printed.err


@pytest.mark.parametrize(
    ("function", "count", "text"),
    [
        (RECURSIVE, 1, "node 'y' (F): calls the function 'own:F' from within"),
        (NARROW, 3, "node 'y' (F): has 3 inputs; the function has 1"),
    ],
    ids=["recursive", "of fewer parameters"],
)
def test_functions_that_cannot_be_inlined(tmp_path, function, count, text):
    made = model(helper.make_node("F", ["x"] * count, ["y"], domain="own"))
    made.opset_import.append(helper.make_opsetid("own", 1))
    made.functions.append(function)
    assert refused(written(tmp_path, made)) == text
