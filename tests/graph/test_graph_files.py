"""Graph files: loading restores everything, and errors locate malformed parts."""

from __future__ import annotations

import json
import os
import pickle

import numpy as np
import pytest
from toolchain import later

import directml_py as dml
from directml_py.api.schema_data import OPERATORS as CATALOG
from directml_py.descs.decode import decode_struct
from directml_py.descs.operator_desc import Record
from directml_py.graph import Graph, GraphFileError, load
from directml_py.graph.desc_json import read_operator, write_record
from directml_py.graph.json_reader import Item
from directml_py.operators import SCHEMAS
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc

from .random_graphs import random_graph, random_inputs


def comparable(value):
    """A decoded DML_GRAPH_DESC as plain values: an operator object is what its desc says."""
    if isinstance(value, Record):
        return (type(value).__name__, value.struct.name, [(name, comparable(one)) for name, one in value])
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return [comparable(one) for one in value]
    return comparable(value.desc) if isinstance(value, dml.IDMLOperator) else value


def description(graph):
    record, faults = decode_struct(graph.desc(), "DML_GRAPH_DESC")
    assert faults == ()
    return comparable(record)


@pytest.mark.parametrize("first", [0, 20, *later(40, 60, 80)])
def test_nothing_is_lost(device, tmp_path, first):
    for seed in range(first, first + 20):
        graph = random_graph(seed, device=device)
        graph.save(tmp_path / "graph.json")
        found = load(device, tmp_path / "graph.json")
        assert description(found) == description(graph)
        assert found.inputs == graph.inputs
        assert list(found.outputs) == list(graph.outputs)
        for one, other in zip(found.nodes, graph.nodes, strict=True):
            assert (one.name, one.kind, one.inputs, one.outputs) == (
                other.name,
                other.kind,
                other.inputs,
                other.outputs,
            )
        inputs = random_inputs(graph, seed)
        for one, other in zip(found.compile().run(inputs), graph.compile().run(inputs), strict=True):
            np.testing.assert_array_equal(one, other)
        found.save(tmp_path / "again.json")
        again = (tmp_path / "again.json").read_text(encoding="utf-8").replace("again.json", "graph.json")
        assert again == (tmp_path / "graph.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("operator", sorted(SCHEMAS))
def test_operator_descs_come_back(tmp_path, operator):
    """All layouts, flags, totals and alignments, through JSON text."""
    for seed in range(60):
        desc = valid_desc(RandomSource(seed), operator)
        text = json.dumps(write_record(desc), allow_nan=False)
        assert read_operator(desc.schema, Item(tmp_path, "desc", json.loads(text))) == desc


def test_every_kind_of_field_comes_back(tmp_path):
    """Scalars, unions, nested operators, structs and arrays."""
    tensor = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 2, 2])
    relu = dml.DML_ACTIVATION_RELU_OPERATOR_DESC()
    descs = [
        dml.DML_ELEMENT_WISE_CLIP_OPERATOR_DESC(tensor, tensor, dml.DML_SCALE_BIAS(0.1, -0.0), -1e-30, float("inf")),
        dml.DML_ELEMENT_WISE_ADD1_OPERATOR_DESC(tensor, tensor, tensor, dml.DML_OPERATOR_DESC(
            dml.DML_OPERATOR_ACTIVATION_RELU, relu)),
        dml.DML_FILL_VALUE_CONSTANT_OPERATOR_DESC(
            tensor, dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_SCALAR_UNION(Float32=2.5)
        ),
        dml.DML_UPSAMPLE_2D_OPERATOR_DESC(tensor, tensor, dml.DML_SIZE_2D(2, 3), dml.DML_INTERPOLATION_MODE_LINEAR),
        dml.DML_PADDING_OPERATOR_DESC(
            tensor, tensor, dml.DML_PADDING_MODE_CONSTANT, 1.5, 4, [0, 1, 2, 3], [4, 5, 6, 7]
        ),
        dml.DML_SLICE1_OPERATOR_DESC(tensor, tensor, 4, [0] * 4, [1] * 4, [-1, 1, -2, 1]),
    ]  # fmt: skip
    by_struct = {schema.struct.name: schema for schema in CATALOG.values()}
    for struct in descs:
        name = type(struct).__name__
        desc, faults = decode_struct(struct, name)
        assert faults == ()
        text = json.dumps(write_record(desc), allow_nan=False)
        assert read_operator(by_struct[name], Item(tmp_path, "desc", json.loads(text))) == desc


def test_the_format(branches, tmp_path):
    """The documented file format."""
    branches.save(tmp_path / "g.json")
    content = json.loads((tmp_path / "g.json").read_text(encoding="utf-8"))
    assert list(content) == ["format", "version", "inputs", "nodes", "edges", "outputs"]
    assert content["inputs"] == [
        {"index": 0, "name": "x", "tensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 6, 3]}}
    ]
    (constant,) = (tmp_path / "g.json.constants").iterdir()
    assert content["nodes"][1] == {"name": "ones", "constant": f"g.json.constants/{constant.name}"}
    assert content["nodes"][5]["desc"]["Function"] == "DML_REDUCE_FUNCTION_SUM"
    assert content["nodes"][3]["desc"]["OutputTensor"]["Strides"] == [24, 1, 6, 2]
    assert content["edges"][0] == {"from": {"input": 0}, "to": {"node": 0, "input": 0}}
    assert content["edges"][3] == {"from": {"node": 2, "output": 0}, "to": {"node": 3, "input": 1}}
    assert [one["name"] for one in content["outputs"]] == ["total", "best"]
    np.testing.assert_array_equal(np.load(constant), np.ones((1, 2, 1, 3), np.float32))


def test_a_graph_without_outputs(graph, x, tmp_path):
    graph.identity(x)
    graph.save(tmp_path / "g.json")
    assert load(None, tmp_path / "g.json").outputs == {}


def test_files_of_version_1(branches, tmp_path):
    """Their constants lie beside them."""
    branches.save(tmp_path / "g.json")
    (constant,) = (tmp_path / "g.json.constants").iterdir()
    constant.rename(tmp_path / "g.1.npy")
    edit(tmp_path / "g.json", at("version", value=1))
    edit(tmp_path / "g.json", at("nodes", 1, "constant", value="g.1.npy"))
    assert description(load(branches.device, tmp_path / "g.json")) == description(branches)


def edit(path, change):
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def at(*keys, value):
    """A change that puts ``value`` at the place that ``keys`` lead to."""

    def change(content):
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value

    return change


def without(*keys):
    def change(content):
        for key in keys[:-1]:
            content = content[key]
        del content[keys[-1]]

    return change


DESC = ("nodes", 5, "desc")
MALFORMED = {
    "format": (at("format", value="x"), "format"),
    "version": (at("version", value=3), "version"),
    "version type": (at("version", value=True), "version"),
    "no nodes": (without("nodes"), "nodes"),
    "nodes type": (at("nodes", value={}), "nodes"),
    "unknown member": (at("extra", value=1), "extra"),
    "node type": (at("nodes", 3, value=None), "nodes[3]"),
    "operator": (at("nodes", 3, "operator", value="JOINT"), "nodes[3].operator"),
    "operator type": (at("nodes", 3, "operator", value=[]), "nodes[3].operator"),
    "no desc": (without("nodes", 3, "desc"), "nodes[3].desc"),
    "name": (at("nodes", 3, "name", value="a\0"), "nodes[3].name"),
    "surrogate": (at("nodes", 3, "name", value="\ud800"), "nodes[3].name"),
    "axis type": (at("nodes", 3, "desc", "Axis", value="1"), "nodes[3].desc.Axis"),
    "axis bool": (at("nodes", 3, "desc", "Axis", value=True), "nodes[3].desc.Axis"),
    "axis float": (at("nodes", 3, "desc", "Axis", value=1.0), "nodes[3].desc.Axis"),
    "axis range": (at("nodes", 3, "desc", "Axis", value=1 << 32), "nodes[3].desc.Axis"),
    "axis rule": (at("nodes", 3, "desc", "Axis", value=4), "nodes[3].desc.Axis"),
    "no axis": (without("nodes", 3, "desc", "Axis"), "nodes[3].desc.Axis"),
    "count": (at("nodes", 3, "desc", "InputCount", value=3), "nodes[3].desc.InputCount"),
    "tensor": (at("nodes", 3, "desc", "InputTensors", 1, value=7), "nodes[3].desc.InputTensors[1]"),
    "size": (
        at("nodes", 3, "desc", "InputTensors", 1, "Sizes", 2, value=2),
        "nodes[3].desc.OutputTensor.Sizes",
    ),
    "size type": (
        at("nodes", 3, "desc", "InputTensors", 1, "Sizes", 2, value=None),
        "nodes[3].desc.InputTensors[1].Sizes[2]",
    ),
    "data type": (at(*DESC, "InputTensor", "DataType", value="FLOAT"), "nodes[5].desc.InputTensor.DataType"),
    "strides": (at(*DESC, "InputTensor", "Strides", value=[1]), "nodes[5].desc.InputTensor.Strides"),
    "flags": (at(*DESC, "InputTensor", "Flags", value=["X"]), "nodes[5].desc.InputTensor.Flags[0]"),
    "total": (
        at(*DESC, "InputTensor", "TotalTensorSizeInBytes", value=8),
        "nodes[5].desc.InputTensor.TotalTensorSizeInBytes",
    ),
    "enum": (at(*DESC, "Function", value="SUM"), "nodes[5].desc.Function"),
    "enum number": (at(*DESC, "Function", value=9), "nodes[5].desc.Function"),
    "axes": (at(*DESC, "Axes", value=[2, 2]), "nodes[5].desc.Axes[1]"),
    "struct": (at("nodes", 2, "desc", "ScaleBias", value={"Scale": 1}), "nodes[2].desc.ScaleBias.Bias"),
    "float": (at("nodes", 2, "desc", "ScaleBias", "Bias", value="0"), "nodes[2].desc.ScaleBias.Bias"),
    "constant elsewhere": (at("nodes", 1, "constant", value="../good.npy"), "nodes[1].constant"),
    "constant above": (at("nodes", 1, "constant", value="g.json.constants/../good.npy"), "nodes[1].constant"),
    "constant in a folder of the drive": (at("nodes", 1, "constant", value="c:/good.npy"), "nodes[1].constant"),
    "constant behind": (at("nodes", 1, "constant", value="..\\good.npy"), "nodes[1].constant"),
    "constant folder": (at("nodes", 1, "constant", value="g.json.constants"), "nodes[1].constant"),
    "constant pipe": (at("nodes", 1, "constant", value="pipe.npy"), "nodes[1].constant"),
    "constant absolute": (at("nodes", 1, "constant", value="/etc/passwd"), "nodes[1].constant"),
    "constant missing": (at("nodes", 1, "constant", value="h.npy"), "nodes[1].constant"),
    "constant text": (at("nodes", 1, "constant", value="g.json"), "nodes[1].constant"),
    "constant pickle": (at("nodes", 1, "constant", value="pickle.npy"), "nodes[1].constant"),
    "constant objects": (at("nodes", 1, "constant", value="objects.npy"), "nodes[1].constant"),
    "constant bools": (at("nodes", 1, "constant", value="bools.npy"), "nodes[1].constant"),
    "constant of an endless header": (
        at("nodes", 1, "constant", value="endless.npy"),
        "nodes[1].constant",
    ),
    "constant short": (at("nodes", 1, "constant", value="short.npy"), "nodes[1].constant"),
    "constant vast": (at("nodes", 1, "constant", value="vast.npy"), "nodes[1].constant"),
    "constant empty": (at("nodes", 1, "constant", value="empty.npy"), "nodes[1].constant"),
    "input index": (at("inputs", 0, "index", value=-1), "inputs[0].index"),
    "input index far": (at("inputs", 0, "index", value=4294967294), "inputs[0].index"),
    "input index bound": (at("inputs", 0, "index", value=1 << 16), "inputs[0].index"),
    "float digits": (at("nodes", 2, "desc", "ScaleBias", "Scale", value=10**400), "nodes[2].desc.ScaleBias.Scale"),
    "float just too large": (
        at("nodes", 2, "desc", "ScaleBias", "Scale", value=2.0**128),
        "nodes[2].desc.ScaleBias.Scale",
    ),
    "float large": (at("nodes", 2, "desc", "ScaleBias", "Scale", value=1e300), "nodes[2].desc.ScaleBias.Scale"),
    "float infinite": (
        at("nodes", 2, "desc", "ScaleBias", "Scale", value=float("-inf")),
        "nodes[2].desc.ScaleBias.Scale",
    ),
    "float none": (at("nodes", 2, "desc", "ScaleBias", "Scale", value=float("nan")), "nodes[2].desc.ScaleBias.Scale"),
    "input tensor": (at("inputs", 0, "tensor", "Sizes", value=[0]), "inputs[0].tensor"),
    "edge shape": (at("edges", 1, value=[0, 1]), "edges[1]"),
    "edge from": (at("edges", 1, "from", value={"node": 0}), "edges[1].from.output"),
    "edge from input": (at("edges", 0, "from", value={"input": 4}), "edges[0].from.input"),
    "edge to": (at("edges", 1, "to", "node", value=99), "edges[1].to.node"),
    "edge to input": (at("edges", 1, "to", "input", value=1), "edges[1].to.input"),
    "edge forward": (at("edges", 1, "from", "node", value=2), "edges[1].from.node"),
    "edge output": (at("edges", 1, "from", "output", value=3), "edges[1].from.output"),
    "edge twice": (at("edges", 3, "to", "input", value=0), "edges[3].to"),
    "no edge": (without("edges", 1), "nodes[2].desc.InputTensor"),
    "edge to constant": (at("edges", 1, "to", value={"node": 1, "input": 0}), "edges[1].to.input"),
    "output node": (at("outputs", 0, "node", value=99), "outputs[0].node"),
    "output output": (at("outputs", 0, "output", value=1), "outputs[0].output"),
    "output constant": (at("outputs", 0, "node", value=1), "outputs[0]"),
    "output name": (at("outputs", 1, "name", value="total"), "outputs[1].name"),
    "output tensor": (at("outputs", 0, "tensor", "Sizes", 1, value=9), "outputs[0].tensor"),
    "output flags": (
        at("outputs", 0, "tensor", "Flags", value=["DML_TENSOR_FLAG_OWNED_BY_DML"]),
        "outputs[0].tensor",
    ),
}  # fmt: skip


# Refused by their names, whether such files are there or not.
ELSEWHERE = {
    "constant elsewhere",
    "constant above",
    "constant in a folder of the drive",
    "constant behind",
    "constant absolute",
}


@pytest.fixture
def file(branches, tmp_path):
    """A valid file, and beside it arrays each invalid in one way."""
    path = tmp_path / "g.json"
    branches.save(path)
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps([1, 2]))
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    np.save(tmp_path / "bools.npy", np.array([True]))
    np.save(tmp_path / "empty.npy", np.zeros((2, 0), np.float32))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.npy")
    good = next((tmp_path / "g.json.constants").iterdir()).read_bytes()
    (tmp_path / "good.npy").write_bytes(good)
    (tmp_path / "short.npy").write_bytes(good[:-4])
    # A parenthesis that stays open is an error of Python's tokenizer.
    (tmp_path / "endless.npy").write_bytes(good.replace(b"}", b"(", 1))
    (tmp_path / "vast.npy").write_bytes(good.replace(b"(1, 2, 1, 3)", b"(1, 9**99,3)"[:12]))
    return path


def test_the_highest_index_of_an_input(file):
    content = json.loads(file.read_text(encoding="utf-8"))
    content["inputs"][0]["index"] = (1 << 16) - 1
    content["edges"] = [
        {**edge, "from": {"input": (1 << 16) - 1}} if edge["from"] == {"input": 0} else edge
        for edge in content["edges"]
    ]
    file.write_text(json.dumps(content), encoding="utf-8")
    assert (1 << 16) - 1 in load(None, file).inputs


def test_the_file_itself_is_good(file):
    load(None, file).compile()


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_files(file, case):
    change, place = MALFORMED[case]
    edit(file, change)
    with pytest.raises(GraphFileError) as caught:
        load(None, file)
    if case == "output constant":
        # The tensor is checked first: it does not match the constant.
        place = "outputs[0].tensor"
    assert caught.value.place == place
    assert caught.value.path == file
    assert str(caught.value).startswith(f"{file}: {place}: ")
    if case in ELSEWHERE:
        assert "must be the name of a file in the graph's folder" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "line 1 column 1"),
        (b'{\n  "format": x}', "line 2 column 13"),
        (b"\xff", "byte 0"),
        (b"[" * 100_000, "nested too deep; at most 256 levels"),
        (b"[" + b"9" * 5000 + b"]", ""),
        (b'{"format": 1, "format": 2}', "'format' is duplicated"),
        (b"[]", "must be an object, not an array"),
        (b"null", "must be an object, not null"),
    ],
)
def test_no_json(tmp_path, text, message):
    path = tmp_path / "g.json"
    path.write_bytes(text)
    with pytest.raises(GraphFileError) as caught:
        load(None, path)
    assert message in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(None, tmp_path / "no.json")


def test_a_device_that_refuses(branches, tmp_path):
    """The desc is valid, but the device too old."""
    branches.save(tmp_path / "g.json")
    old = dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=dml.DML_FEATURE_LEVEL_2_1)
    with pytest.raises(GraphFileError) as caught:
        load(old, tmp_path / "g.json")
    assert caught.value.place.startswith("nodes[4].desc")
    assert "DML_FEATURE_LEVEL_3_0" in str(caught.value)


@pytest.mark.parametrize("value", [None, 1 << 70, "x", *later(-1, 3, 0.5, [], {}, [[]])])
def test_any_value_anywhere(branches, tmp_path, value):
    """Any replacement of a member gives a graph, or a GraphFileError whose path exists up to its last part."""
    path = tmp_path / "g.json"
    branches.save(path)
    good = path.read_text(encoding="utf-8")
    places = []

    def walk(value, keys):
        places.append(keys)
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(one, (dict, list)):
                walk(one, (*keys, key))
            else:
                places.append((*keys, key))

    walk(json.loads(good), ())
    refused = 0
    for keys in places[1:]:
        path.write_text(good, encoding="utf-8")
        edit(path, at(*keys, value=value))
        try:
            assert isinstance(load(branches.device, path), Graph)
        except GraphFileError as error:
            refused += bool(error.place)
    assert refused > 100


@pytest.mark.parametrize("scale", [3.4028234663852886e38, -3.4028234663852886e38])
def test_the_largest_scale(branches, tmp_path, scale):
    """FLT_MAX as C has it."""
    branches.save(tmp_path / "g.json")
    edit(tmp_path / "g.json", at("nodes", 2, "desc", "ScaleBias", "Scale", value=scale))
    assert load(None, tmp_path / "g.json").nodes[2].desc.ScaleBias.Scale == scale
