"""Descs as JSON, as captures have them: nothing is lost, and errors locate malformed parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import directml_py as dml
from directml_py.api.schema_data import OPERATORS as CATALOG
from directml_py.descs.decode import decode_struct
from directml_py.descs.desc_json import operator_schema, read_operator, write_record
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.text.json_reading import Item, JsonError

FILE = Path("f.json")


def test_every_kind_of_field_comes_back():
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
        assert read_operator(by_struct[name], Item(FILE, "desc", json.loads(text))) == desc


TENSOR = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 2, 2])
DESCS = {
    "JOIN": dml.DML_JOIN_OPERATOR_DESC(InputTensors=[TENSOR, TENSOR], OutputTensor=TENSOR, Axis=2),
    "IDENTITY": dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(TENSOR, TENSOR, dml.DML_SCALE_BIAS(2, 0)),
    "REDUCE": dml.DML_REDUCE_OPERATOR_DESC(dml.DML_REDUCE_FUNCTION_SUM, TENSOR, TENSOR, 2, [2, 3]),
    "FILL": dml.DML_FILL_VALUE_CONSTANT_OPERATOR_DESC(
        TENSOR, dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_SCALAR_UNION(Float32=2.5)
    ),
}


def read(content) -> OperatorDesc:
    members = Item(FILE, "", content).fields({"operator", "desc"})
    return read_operator(operator_schema(members["operator"]), members["desc"])


def written(name):
    desc, faults = decode_struct(DESCS[name], type(DESCS[name]).__name__)
    assert faults == ()
    operator = next(schema for schema in CATALOG.values() if schema.struct.name == type(DESCS[name]).__name__)
    return {"operator": operator.name, "desc": write_record(desc)}


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


D, INPUT = "desc", ("desc", "InputTensor")
SCALE = (D, "ScaleBias", "Scale")
MALFORMED = {
    "operator": ("JOIN", at("operator", value="JOINT"), "operator"),
    "operator type": ("JOIN", at("operator", value=[]), "operator"),
    "no desc": ("JOIN", without(D), "desc"),
    "unknown member": ("JOIN", at(D, "extra", value=1), "desc.extra"),
    "axis type": ("JOIN", at(D, "Axis", value="1"), "desc.Axis"),
    "axis bool": ("JOIN", at(D, "Axis", value=True), "desc.Axis"),
    "axis float": ("JOIN", at(D, "Axis", value=1.0), "desc.Axis"),
    "axis range": ("JOIN", at(D, "Axis", value=1 << 32), "desc.Axis"),
    "no axis": ("JOIN", without(D, "Axis"), "desc.Axis"),
    "count": ("JOIN", at(D, "InputCount", value=3), "desc.InputCount"),
    "tensor": ("JOIN", at(D, "InputTensors", 1, value=7), "desc.InputTensors[1]"),
    "size type": (
        "JOIN",
        at(D, "InputTensors", 1, "Sizes", 2, value=None),
        "desc.InputTensors[1].Sizes[2]",
    ),
    "data type": ("REDUCE", at(*INPUT, "DataType", value="FLOAT"), "desc.InputTensor.DataType"),
    "text": ("REDUCE", at(*INPUT, "DataType", value="a\0"), "desc.InputTensor.DataType"),
    "surrogate": ("REDUCE", at(*INPUT, "DataType", value="\ud800"), "desc.InputTensor.DataType"),
    "strides": ("REDUCE", at(*INPUT, "Strides", value=[1]), "desc.InputTensor.Strides"),
    "flags": ("REDUCE", at(*INPUT, "Flags", value=["X"]), "desc.InputTensor.Flags[0]"),
    "total": (
        "REDUCE",
        at(*INPUT, "TotalTensorSizeInBytes", value=1 << 64),
        "desc.InputTensor.TotalTensorSizeInBytes",
    ),
    "enum": ("REDUCE", at(D, "Function", value="SUM"), "desc.Function"),
    "enum number": ("REDUCE", at(D, "Function", value=9), "desc.Function"),
    "axes": ("REDUCE", at(D, "Axes", value={}), "desc.Axes"),
    "struct": ("IDENTITY", at(D, "ScaleBias", value={"Scale": 1}), "desc.ScaleBias.Bias"),
    "float": ("IDENTITY", at(*SCALE, value="0"), "desc.ScaleBias.Scale"),
    "float digits": ("IDENTITY", at(*SCALE, value=10**400), "desc.ScaleBias.Scale"),
    "float just too large": ("IDENTITY", at(*SCALE, value=2.0**128), "desc.ScaleBias.Scale"),
    "float large": ("IDENTITY", at(*SCALE, value=1e300), "desc.ScaleBias.Scale"),
    "float infinite": ("IDENTITY", at(*SCALE, value=float("-inf")), "desc.ScaleBias.Scale"),
    "float none": ("IDENTITY", at(*SCALE, value=float("nan")), "desc.ScaleBias.Scale"),
    "union": ("FILL", at(D, "Value", value="00"), "desc.Value"),
    "union digits": ("FILL", at(D, "Value", value="x" * 16), "desc.Value"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_descs(case):
    name, change, place = MALFORMED[case]
    content = written(name)
    assert read(content).name == content["operator"]
    change(content)
    with pytest.raises(JsonError) as caught:
        read(content)
    assert str(caught.value).startswith(f"{FILE}: {place}: ")


@pytest.mark.parametrize("scale", [3.4028234663852886e38, -3.4028234663852886e38])
def test_the_largest_scale(scale):
    """FLT_MAX as C has it."""
    content = written("IDENTITY")
    at(*SCALE, value=scale)(content)
    assert read(content).ScaleBias.Scale == scale


@pytest.mark.parametrize("value", [None, 1 << 70, "x", -1, 3, 0.5, [], {}, [[]]])
@pytest.mark.parametrize("name", DESCS)
def test_any_value_anywhere(name, value):
    """Any replacement of a member gives a desc or a ``JsonError``."""
    good = written(name)
    places = []

    def walk(one, keys):
        places.append(keys)
        for key, part in one.items() if isinstance(one, dict) else enumerate(one):
            if isinstance(part, (dict, list)):
                walk(part, (*keys, key))
            else:
                places.append((*keys, key))

    walk(good, ())
    refused = 0
    for keys in places[1:]:
        content = json.loads(json.dumps(good))
        at(*keys, value=value)(content)
        try:
            assert isinstance(read(content), OperatorDesc)
        except JsonError:
            refused += 1
    assert refused > 3
