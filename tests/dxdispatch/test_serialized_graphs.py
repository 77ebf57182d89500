"""Serialized graphs: compared with the package ``flatbuffers``, executed, and with hostile bytes."""

from __future__ import annotations

import random
import struct
import time

import flatbuffers
import numpy as np
import pytest
from flatbuffers.table import Table

import directml_py as dml
from directml_py import dxdispatch
from directml_py.cli import main
from directml_py.descs.tensor import TensorDesc
from directml_py.dxdispatch import flatbuffer_writer
from directml_py.dxdispatch.graph_reading import read_graph
from directml_py.dxdispatch.graph_writing import write_graph
from directml_py.dxdispatch.serialized_graph import GraphNode, SerializedGraph
from directml_py.graph import Graph
from directml_py.testing.valid_descs import make_desc

from .conftest import add_model, dispatch, model, resource, zeros

F32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32
OWNED = dml.DML_TENSOR_FLAG_OWNED_BY_DML
ADD = {name: TensorDesc(F32, (3,)) for name in ("ATensor", "BTensor", "OutputTensor")}


class Builder(flatbuffers.Builder):
    """A builder on the reference implementation, with fields in the schema's order."""

    def strings(self, *texts):
        return self.pointers([self.CreateString(text) for text in texts])

    def pointers(self, offsets):
        self.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.PrependUOffsetTRelative(offset)
        return self.EndVector()

    def numbers(self, *values):
        self.StartVector(4, len(values), 4)
        for value in reversed(values):
            self.PrependUint32(value)
        return self.EndVector()

    def table(self, *fields):
        """An int is an offset, None is absent, ``("B", 3)`` and ``("Q", 3)`` are numbers."""
        self.StartObject(len(fields))
        for slot, field in enumerate(fields):
            if isinstance(field, tuple):
                put = self.PrependUint8Slot if field[0] == "B" else self.PrependUint64Slot
                put(slot, field[1], 0)
            elif field is not None:
                self.PrependUOffsetTRelativeSlot(slot, field, 0)
        return self.EndObject()

    def struct(self, layout, *values):
        self.Prep(8, struct.calcsize(layout))
        data = struct.pack(f"<{layout}", *values)
        self.head -= len(data)
        self.Bytes[self.head : self.head + len(data)] = data
        return self.Offset()

    def tensor(self, *sizes, strides=None):
        kind, own = self.CreateString("DML_TENSOR_DATA_TYPE_FLOAT32"), self.numbers(*sizes)
        steps = None if strides is None else self.numbers(*strides)
        return self.table(kind, own, steps, ("Q", 4 * int(np.prod(sizes))))

    def attribute(self, name, kind, value):
        text = None if name is None else self.CreateString(name)
        return self.table(text, ("B", kind), value)

    def whole(self, root):
        self.Finish(root)
        return bytes(self.Output())


def clip_graph(kind=1, has_data=True, sizes=(2, 3), strides=(1, 2)):
    """CLIP1 with a ScaleBias: every kind of attribute value that is not a list."""
    builder = Builder(0)
    data = builder.struct("8B", *struct.pack("<f4x", -1.5)) if has_data else None
    bytes_of = builder.table(("B", kind), data)
    most = builder.table(("B", 1), builder.struct("8B", *struct.pack("<f4x", 2)))
    attributes = [
        builder.attribute("ScaleBias", 10, builder.struct("ff", 2, 0.5)),
        builder.attribute("MinMaxDataType", 3, builder.struct("I", F32)),
        builder.attribute("Min", 12, bytes_of),
        builder.attribute("Max", 12, most),
    ]
    desc = builder.table(
        builder.CreateString("DML_OPERATOR_ELEMENT_WISE_CLIP1"),
        builder.pointers([builder.tensor(*sizes, strides=strides)]),
        builder.pointers([builder.tensor(2, 3)]),
        builder.pointers(attributes),
    )
    node = builder.table(
        ("B", 1), desc, builder.CreateString("clip"), builder.strings("x"), builder.strings("y")
    )
    return builder.whole(builder.table(builder.pointers([node]), builder.strings("x"), builder.strings("y")))


def test_reading_what_the_package_writes():
    kind = dml.DML_TENSOR_DATA_TYPE_FLOAT32
    desc = make_desc(
        "ELEMENT_WISE_CLIP1",
        {
            "InputTensor": TensorDesc(F32, (2, 3), (1, 2)),
            "OutputTensor": TensorDesc(F32, (2, 3)),
            "ScaleBias": (2, 0.5),
            "MinMaxDataType": kind,
            "Min": -1.5,
            "Max": 2,
        },
    )
    expected = SerializedGraph((GraphNode("clip", ("x",), ("y",), desc),), ("x",), ("y",))
    assert read_graph(clip_graph()) == expected


@pytest.mark.parametrize(("kind", "has_data"), [(2, True), (1, False)])
def test_scalars_that_are_no_bytes(kind, has_data):
    with pytest.raises(dxdispatch.ModelError, match="it is not an array of bytes"):
        read_graph(clip_graph(kind, has_data))


@pytest.mark.parametrize(
    ("sizes", "strides"), [((2, 3), (1,)), ((2, 3), (1, 2, 3)), ([1] * 65, None), ([1] * 65, [1] * 65)]
)
def test_tensors_that_are_none(sizes, strides):
    with pytest.raises(dxdispatch.ModelError, match="a tensor has too many sizes, or unequal counts"):
        read_graph(clip_graph(sizes=sizes, strides=strides))


def test_a_tensor_of_as_many_sizes_as_are_read():
    """The limit of 8 dimensions is a rule of compilation, not of reading."""
    graph = read_graph(clip_graph(sizes=[1] * 64, strides=None))
    assert graph.nodes[0].desc.InputTensor.sizes == (1,) * 64


def test_the_package_reads_what_is_written():
    """The same tables, read with the package's own reader; and every vector and number is aligned."""
    data = write_graph(read_graph(clip_graph()))

    def field(table, slot):
        place = table.Offset(4 + 2 * slot)
        return table.Pos + place if place else None

    def follow(table, slot):
        return Table(data, table.Indirect(field(table, slot)))

    def items(table, slot):
        start, count = (
            table.Vector(field(table, slot) - table.Pos),
            table.VectorLen(field(table, slot) - table.Pos),
        )
        assert start % 4 == 0
        return [Table(data, table.Indirect(start + 4 * index)) for index in range(count)]

    def text(table, slot):
        return table.String(field(table, slot)).decode()

    root = Table(data, struct.unpack_from("<I", data)[0])
    (node,) = items(root, 0)
    assert (data[field(node, 0)], text(node, 2)) == (1, "clip")
    operator = follow(node, 1)
    assert text(operator, 0) == "DML_OPERATOR_ELEMENT_WISE_CLIP1"
    (tensor,) = items(operator, 1)
    assert text(tensor, 0) == "DML_TENSOR_DATA_TYPE_FLOAT32"
    assert struct.unpack_from("<Q", data, field(tensor, 3)) == (24,)
    assert field(tensor, 3) % 8 == 0
    sizes = tensor.Vector(field(tensor, 2) - tensor.Pos)
    assert sizes % 4 == 0
    assert struct.unpack_from("<2I", data, sizes) == (1, 2)
    scale, kind, least, _ = items(operator, 3)
    assert (text(scale, 0), data[field(scale, 1)]) == ("ScaleBias", 10)
    assert struct.unpack_from("<ff", data, follow(scale, 2).Pos) == (2, 0.5)
    assert struct.unpack_from("<I", data, follow(kind, 2).Pos) == (F32,)
    union = follow(least, 2)
    assert data[field(union, 0)] == 1
    assert struct.unpack_from("<f", data, follow(union, 1).Pos) == (-1.5,)


@pytest.mark.parametrize("text", ["", "a", "abcd", "abcdefgh"])
def test_numbers_of_eight_bytes_are_aligned(text):
    """Whatever lies before them."""
    number = 0x123456789ABCDEF
    root = flatbuffer_writer.TableValue([text, flatbuffer_writer.Numbers("q", [number])])
    data = flatbuffer_writer.flatbuffer(root)
    assert data.index(struct.pack("<q", number)) % 8 == 0


@pytest.fixture
def two_steps():
    """``max(x * w + b, 0)`` with an owned matrix w and a constant b, and the sum before that."""
    graph = Graph()
    x = graph.input_tensor("x", F32, [1, 2])
    w = graph.input_tensor("w", F32, [2, 2], flags=OWNED)
    graph.input_tensor("nobody", F32, [1])
    b = graph.constant(np.array([[1, -100]], np.float32), name="b")
    plain = dml.DML_MATRIX_TRANSFORM_NONE
    total = graph.gemm(x, w, b, trans_a=plain, trans_b=plain, alpha=1, beta=1, name="gemm")
    graph.outputs = {"total": total, "positive": graph.activation_relu(total, name="relu")}
    return graph


X, W = np.array([[1, 10]], np.float32), np.array([[1, 2], [3, 4]], np.float32)
# 1 + 30 + 1 and 2 + 40 - 100
TOTAL, POSITIVE = [32, -58], [32, 0]


def forms(graph):
    compiled = graph.compile()
    return {"Graph": graph, "CompiledGraph": compiled, "operator": compiled.operator, "desc": graph.desc()}


@pytest.mark.parametrize("form", ["Graph", "CompiledGraph", "operator", "desc"])
def test_graphs_as_models(form, two_steps, tmp_path):
    written = dxdispatch.save(tmp_path / "m.json", forms(two_steps)[form], [X, W, None], write_outputs=True)
    assert [one.name for one in written] == ["m.0.bin", "m.bin", "m.input0.npy", "m.json"]
    assert (tmp_path / "m.0.bin").read_bytes() == W.tobytes()
    found = dxdispatch.load(tmp_path / "m.json", output_path=tmp_path / "out").run()
    names = ("total", "positive") if "raph" in form else ("output0", "output1")
    assert [found[f"output {name}"].tolist() for name in names] == [TOTAL, POSITIVE]
    assert np.load(tmp_path / "out" / "m.output1.npy").tolist() == POSITIVE


def test_graphs_come_back(two_steps, tmp_path):
    *_, path = dxdispatch.save_graph(tmp_path / "g.bin", two_steps, [X, W, None])
    again = dxdispatch.load_graph(path, two_steps.device)
    operators = [node for node in again.nodes if node.kind != "CONSTANT"]
    assert [(node.name, node.desc) for node in operators] == [
        (node.name, node.desc) for node in two_steps.nodes if node.kind != "CONSTANT"
    ]
    assert [node.array.tolist() for node in again.nodes if node.kind == "CONSTANT"] == [[[1, -100]]]
    # What DirectML owns lies in files, and comes behind the inputs that are bound.
    assert {index: one.name for index, one in again.inputs.items()} == {0: "x", 2: "w"}
    assert list(again.outputs) == ["total", "positive"]
    found = again.compile().run({"x": X, "w": W})
    assert {name: one.tolist() for name, one in found.items()} == {"total": [TOTAL], "positive": [POSITIVE]}


def test_what_a_serialized_graph_cannot_say(two_steps, tmp_path):
    with pytest.raises(ValueError, match="w is OWNED_BY_DML"):
        dxdispatch.save_graph(tmp_path / "g.bin", two_steps)
    with pytest.raises(ValueError, match="inputs has 1 items; the work has 3 inputs: x, w, nobody"):
        dxdispatch.save(tmp_path / "g.json", two_steps, [X])
    total = two_steps.outputs["total"]
    two_steps.outputs = {"one": total, "two": total}
    with pytest.raises(ValueError, match="the graph outputs 'one' and 'two' are one value"):
        dxdispatch.save_graph(tmp_path / "g.bin", two_steps, [X, W, None])
    desc = two_steps.desc({"total": total})
    desc.InputEdges[0].Type = dml.DML_GRAPH_EDGE_TYPE_OUTPUT
    with pytest.raises(dml.DMLError, match=r"InputEdges\[0\]"):
        dxdispatch.save_graph(tmp_path / "g.bin", desc, [X, W, None])
    with pytest.raises(ValueError, match="Nodes has no operator"):
        dxdispatch.save_graph(tmp_path / "g.bin", dml.DML_GRAPH_DESC(), [])
    assert list(tmp_path.iterdir()) == []


def test_constants_in_files(tmp_path, write):
    """They are bound by the node's name, their files are found by their own name, at initialization only."""
    owned = TensorDesc(F32, (3,), flags=OWNED)
    desc = make_desc("ELEMENT_WISE_ADD", {**ADD, "BTensor": owned})
    nodes = (
        GraphNode("weights", (), ("edge",), constant="sub/data"),
        GraphNode("add", ("x", "edge"), ("y",), desc),
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "data.bin").write_bytes(np.array([5, 8, -5], np.float32).tobytes())
    (tmp_path / "g.bin").write_bytes(write_graph(SerializedGraph(nodes, ("x",), ("y",))))
    content = model(
        {"A": resource([1, 2, 3]), "Out": zeros(3)},
        {"graph": {"type": "DMLSERIALIZEDGRAPH", "sourcePath": "g.bin", "executionFlags": "NONE"}},
        dispatch("graph", x="A", y="Out"),
    )
    assert dxdispatch.load(write(content)).run()["Out"].tolist() == [6, 10, -2]
    (tmp_path / "sub" / "data.bin").write_bytes(bytes(4))
    with pytest.raises(dxdispatch.ModelError, match="ERROR while initializing 'graph'"):
        dxdispatch.load(write(content)).run()
    (tmp_path / "sub" / "data.bin").unlink()
    with pytest.raises(dxdispatch.ModelError, match=r"Given filename '.*sub/data.bin' could not be opened"):
        dxdispatch.load(write(content)).run()


def add_node(name="add", inputs=("x", "x"), outputs=("y",)):
    return GraphNode(name, inputs, outputs, make_desc("ELEMENT_WISE_ADD", ADD))


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (SerializedGraph((add_node(),), ("z",), ("y",)), "no graph input and no earlier node produces 'x'"),
        (SerializedGraph((add_node(),), ("x",), ("z",)), "no node computes the graph output 'z'"),
        (SerializedGraph((add_node(),), ("x",), ("x",)), "no node computes the graph output 'x'"),
        (SerializedGraph((add_node(),), ("x", "x"), ("y",)), "two inputs of the graph have the same name"),
        (SerializedGraph((add_node(),), ("x",), ("y", "y")), "two outputs of the graph have the same name"),
        (
            SerializedGraph((add_node(), add_node("b")), ("x",), ("y",)),
            "graph node 'b': 'y' is also the name of another edge",
        ),
        (
            SerializedGraph((add_node(), add_node("b", outputs=("z",))), ("x",), ("y",)),
            "no output depends on the node 'b'",
        ),
        (SerializedGraph((add_node(inputs=("x",)),), ("x",), ("y",)), "BTensor has no name among the inputs"),
        (SerializedGraph((add_node(inputs=("x", "")),), ("x",), ("y",)), "BTensor is required"),
        (SerializedGraph((add_node(inputs=("x", "x", "x")),), ("x",), ("y",)), "more input tensors or names"),
        (SerializedGraph((add_node(name=""),), ("x",), ("y",)), "graph node at index 0: it has no name"),
        (SerializedGraph((GraphNode("c", (), ("e",)),), (), ()), "the constant 'c' has no data"),
        (SerializedGraph((), ("x",), ()), "the graph has no outputs"),
    ],
)
def test_graphs_that_are_none(graph, words):
    with pytest.raises(ValueError, match=words):
        read_graph(write_graph(graph)).to_graph().compile()


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "c:\\x", "..\\x", "a\0b"])
def test_constants_stay_beside_the_graph(name, tmp_path, write):
    nodes = (GraphNode("c", (), ("e",), constant=name), add_node(inputs=("x", "e")))
    (tmp_path / "g.bin").write_bytes(write_graph(SerializedGraph(nodes, ("x",), ("y",))))
    content = add_model(dispatchables={"add": {"type": "dmlSerializedGraph", "sourcePath": "g.bin"}})
    with pytest.raises(dxdispatch.ModelError, match="is not beside the graph"):
        dxdispatch.load(write(content)).run()


def test_damaged_bytes(two_steps, tmp_path):
    """With any byte changed or any length: a graph or an error, quickly."""
    *_, path = dxdispatch.save_graph(tmp_path / "g.bin", two_steps, [X, W, None])
    whole, choose = path.read_bytes(), random.Random(1)
    begin, refused = time.process_time(), 0
    for turn in range(2000):
        data = bytearray(whole)
        for _ in range(choose.randint(1, 4)):
            place = choose.randrange(len(data))
            data[place] = choose.choice((0, 1, 0x7F, 0x80, 0xFF, choose.randrange(256)))
        if turn % 4 == 0:
            del data[choose.randrange(len(data)) :]
        try:
            read_graph(bytes(data)).to_graph(two_steps.device)
        except dxdispatch.ModelError:
            refused += 1
    assert 200 < refused < 2000
    assert time.process_time() - begin < 60


@pytest.mark.parametrize("data", [b"", b"\0", bytes(4), b"\xff" * 64, b"\x04\0\0\0" * 64, bytes(1000)])
def test_bytes_that_are_no_graph(data):
    try:
        graph = read_graph(data)
    except dxdispatch.ModelError:
        return
    assert graph == SerializedGraph((), (), ())


def test_parts_that_are_shared_over_and_over():
    """A list whose items are all the same list of tables: small on disk, exponentially large to read."""
    builder = Builder(0)
    sizes = builder.numbers(*[1] * 60_000)
    tensor = builder.table(builder.CreateString("DML_TENSOR_DATA_TYPE_FLOAT32"), sizes, None, ("Q", 4))
    desc = builder.table(
        builder.CreateString("DML_OPERATOR_JOIN"), builder.pointers([tensor] * 10_000), None, None
    )
    names = builder.pointers([builder.CreateString("x")] * 10_000)
    node = builder.table(("B", 1), desc, builder.CreateString("join"), names, builder.strings("y"))
    data = builder.whole(builder.table(builder.pointers([node] * 10_000)))
    begin = time.process_time()
    with pytest.raises(dxdispatch.ModelError):
        read_graph(data)
    assert time.process_time() - begin < 20


def test_pictures(two_steps, tmp_path, write, capsys):
    """Models and serialized graphs are distinguished by content."""
    *_, path = dxdispatch.save_graph(tmp_path / "g.bin", two_steps, [X, W, None])
    assert main(["graph", str(path)]) == 0
    lines = dict(line.split(":", 1) for line in capsys.readouterr().out.splitlines())
    assert "GEMM" in lines["gemm"]
    assert "OWNED_BY_DML" in lines["w"]
    assert lines["b"].split()[:2] == ["constant,", "8"]
    content = add_model()
    content["dispatchables"]["graph"] = {"type": "dmlSerializedGraph", "sourcePath": "g.bin"}
    # What resources begin with does not matter here.
    content["resources"]["A"] = resource({"sourcePath": "gone.npy"})
    assert main(["graph", str(write(content)), "--dot", "-"]) == 0
    dot = capsys.readouterr().out
    assert all(
        f'"{name}' in dot for name in ("add.ATensor", "add\\nELEMENT_WISE_ADD", "graph.x", "graph.positive")
    )
    assert main(["graph", str(write(add_model())), "--svg", str(tmp_path / "g.svg")]) == 0
    assert "ELEMENT_WISE_ADD" in (tmp_path / "g.svg").read_text(encoding="utf-8")
    content["dispatchables"]["graph"] = {"type": "onnx", "sourcePath": "x.onnx"}
    assert main(["graph", str(write(content))]) == 2
    assert "'graph' cannot be drawn: ONNX dispatchables require ONNX Runtime" in capsys.readouterr().err
    path.write_bytes(path.read_bytes()[:100])
    assert main(["graph", str(path)]) == 2
    assert "the graph is damaged" in capsys.readouterr().err
