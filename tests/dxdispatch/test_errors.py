"""Errors in models, with DxDispatch's texts and the location."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from directml_py import dxdispatch

from .conftest import add_model, npy, resource, tensor


def changed(change):
    content = add_model()
    change(content)
    return content


def with_resource(value):
    return changed(lambda content: content["resources"].update(R=value))


def with_desc(**fields):
    def change(content):
        for name, value in fields.items():
            content["dispatchables"]["add"]["desc"].pop(name, None)
            if value is not None:
                content["dispatchables"]["add"]["desc"][name] = value

    return changed(change)


def with_dispatchable(**fields):
    return changed(lambda content: content["dispatchables"]["add"].update(fields))


def with_command(value):
    return changed(lambda content: content["commands"].append(value))


DOES_NOT_EXIST = "which does not exist in the model"
IN_R = "Failed to parse resource R: "
IN_ADD = "Failed to parse dispatchable add: "
IN_2 = "Failed to parse command at index 2: "
A = "Error parsing field 'ATensor': "


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([], "Expected an object named 'resources'"),
        ({"resources": {}}, "Expected an object named 'dispatchables'"),
        ({"resources": {}, "dispatchables": {}, "commands": {}}, "Expected an array field named 'commands'"),
        (with_resource(3), IN_R + "Expected a non-null JSON object."),
        (with_resource({}), IN_R + "Field 'initialValues' is required."),
        (
            with_resource({"initialValues": 3}),
            IN_R + "Field 'initialValues' must be an array of numbers, an object, or deferred.",
        ),
        (
            with_resource({"initialValues": "later"}),
            IN_R + "The 'initialValuesDataType' only supports deferred",
        ),
        (
            with_resource({"initialValues": {"valueCount": 3, "value": 1}}),
            IN_R + "Field 'initialValuesDataType' is required.",
        ),
        (
            with_resource(resource([1], "FLOAT33")),
            IN_R
            + "Error parsing field 'initialValuesDataType': "
            + "'FLOAT33' is not a recognized value for DML_TENSOR_DATA_TYPE.",
        ),
        (
            with_resource(resource([1], 7)),
            IN_R + "Error parsing field 'initialValuesDataType': DML_TENSOR_DATA_TYPE must be a string.",
        ),
        (with_resource(resource([1], "UINT4")), IN_R + "Invalid tensor data type."),
        (with_resource(resource([])), IN_R + "'initialValues' must be non-empty."),
        (with_resource(resource({"valueCount": 0, "value": 1})), IN_R + "'initialValues' must be non-empty."),
        (with_resource(resource({})), IN_R + "Error parsing 'initialValues' object: unknown generator type."),
        (with_resource(resource({"value": 1})), IN_R + "Field 'valueCount' is required."),
        (
            with_resource(resource({"valueStart": 1, "valueCount": 2})),
            IN_R + "Field 'valueDelta' is required.",
        ),
        (
            with_resource(resource({"value": 1, "valueStart": 1, "valueCount": 2})),
            IN_R
            + "The 'initialValuesDataType' may contain a value, valueStart, or sourcePath, "
            + "but they are mutually exclusive.",
        ),
        (with_resource(resource([1, 2.5], "INT32")), IN_R + "Expected a signed integer. (element 1)"),
        (with_resource(resource([1, -1], "UINT32")), IN_R + "Expected an unsigned integer. (element 1)"),
        (
            with_resource(resource([300], "UINT8")),
            IN_R + "narrowing_error: 300 is not from 0 to 255 (element 0)",
        ),
        (with_resource(resource([True])), IN_R + "Expected a number or 'NaN', 'Inf', or '-Inf'. (element 0)"),
        (with_resource(resource(["x"])), IN_R + "Expected 'NaN', 'Inf', or '-Inf'. (element 0)"),
        # No double holds it.
        (
            with_resource(resource([(1 << 53) + 1])),
            IN_R + "Expected a number or 'NaN', 'Inf', or '-Inf'. (element 0)",
        ),
        (
            with_resource({"initialValues": [{"type": "FLOAT16", "value": 1}]}),
            IN_R + "Data type not supported.",
        ),
        (
            with_resource(resource([1, 2], sizeInBytes=4)),
            IN_R
            + "The buffer size (4 bytes) is too small for the initialValues (8 bytes) at offset 0 bytes.",
        ),
        (
            with_resource(resource([1], initialValuesOffsetInBytes=4)),
            IN_R
            + "The buffer size (4 bytes) is too small for the initialValues (4 bytes) at offset 4 bytes.",
        ),
        (
            with_resource(resource([1], sizeInBytes=1 << 60)),
            IN_R + f"There is no memory for a buffer of {1 << 60} bytes.",
        ),
        (
            with_resource(resource({"sourcePath": 1})),
            IN_R + "Error parsing field 'sourcePath': Expected a string.",
        ),
        (with_dispatchable(type=None), IN_ADD + "Error parsing field 'type': Expected a string."),
        (with_dispatchable(type="ADD"), IN_ADD + "Unknown operator type."),
        (with_dispatchable(desc=[]), IN_ADD + "Expected a valid JSON object."),
        (
            with_dispatchable(dmlCompileType="Op"),
            IN_ADD
            + "Error parsing field 'dmlCompileType': 'Op' is not a recognized value for DmlCompileType.",
        ),
        (
            with_dispatchable(executionFlags=["FAST"]),
            IN_ADD
            + "Error parsing field 'executionFlags': 'FAST' is not a recognized value for DML_EXECUTION_FLAGS.",
        ),
        (
            with_dispatchable(executionFlags=3),
            IN_ADD + "Error parsing field 'executionFlags': Expected a string or an array of strings.",
        ),
        (
            with_dispatchable(bindings={"ATensor": "Z"}),
            f"DML dispatchable attempts to bind resource 'Z' for initialization, {DOES_NOT_EXIST}",
        ),
        (with_desc(ATensor=None), IN_ADD + "Field 'ATensor' is required."),
        (with_desc(ATensor=3), IN_ADD + A + "Expected a non-null JSON object."),
        (
            with_desc(ATensor=tensor(3, data_type="float32")),
            IN_ADD
            + A
            + "Error parsing field 'DataType': 'float32' is not a recognized value for DML_TENSOR_DATA_TYPE.",
        ),
        (with_desc(ATensor={"DataType": "FLOAT32"}), IN_ADD + A + "Field 'Sizes' is required."),
        (
            with_desc(ATensor=tensor(-3)),
            IN_ADD + A + "Error parsing field 'Sizes': Expected an unsigned integer. (element 0)",
        ),
        (
            with_desc(ATensor=tensor(3, Strides=3)),
            IN_ADD + A + "Error parsing field 'Strides': Expected an array.",
        ),
        (
            with_desc(ATensor=tensor(3, DimensionCount=2)),
            IN_ADD + A + "Error parsing field 'Sizes': it has 1 elements; DimensionCount is 2.",
        ),
        (
            with_desc(ATensor=tensor(3, Flags="OWNED")),
            IN_ADD
            + A
            + "Error parsing field 'Flags': 'OWNED' is not a recognized value for DML_TENSOR_FLAGS.",
        ),
        (
            with_desc(ATensor=tensor(3, Type="DML_TENSOR_TYPE_INVALID")),
            IN_ADD + A + "Cannot determine size of invalid tensor desc.",
        ),
        (with_command(3), IN_2 + "Expected a non-null JSON object."),
        (with_command({"type": "stop"}), IN_2 + "Unrecognized command"),
        (with_command({"type": "print"}), IN_2 + "Field 'resource' is required."),
        (
            with_command({"type": "print", "resource": "Out", "verbose": 1}),
            IN_2 + "Error parsing field 'verbose': Expected a bool.",
        ),
        (
            with_command({"type": "dispatch", "dispatchable": "add"}),
            IN_2 + "Expected an object field named 'bindings'.",
        ),
        (
            with_command(
                {"type": "dispatch", "dispatchable": "add", "bindings": {}, "threadGroupCount": [1]}
            ),
            IN_2 + "If 'threadGroupCount' is present it must be an array with 3 integers larger than 1",
        ),
        (with_command({"type": "writeFile", "resource": "Out"}), IN_2 + "Field 'targetPath' is required."),
        (
            with_command({"type": "print", "resource": "Z"}),
            f"Command attempts to print resource 'Z', {DOES_NOT_EXIST}",
        ),
        (
            with_command({"type": "writeFile", "resource": "Z", "targetPath": "x"}),
            f"Command attempts to write to a file the resource 'Z', {DOES_NOT_EXIST}",
        ),
        (
            with_command({"type": "dispatch", "dispatchable": "Z", "bindings": {}}),
            f"Command attempts to dispatch 'Z', {DOES_NOT_EXIST}",
        ),
        (
            with_command({"type": "dispatch", "dispatchable": "add", "bindings": {"ATensor": "Z"}}),
            f"Command attempts to bind resource 'Z', {DOES_NOT_EXIST}",
        ),
        (
            with_command({"type": "dispatch", "dispatchable": "add", "bindings": {"ATensor": 3}}),
            f"Command attempts to bind resource '', {DOES_NOT_EXIST}",
        ),
        (
            with_command(
                {
                    "type": "dispatch",
                    "dispatchable": "add",
                    "bindings": {"ATensor": {"name": "A", "counter": "Z"}},
                }
            ),
            f"Command attempts to bind resource 'Z' as a counter, {DOES_NOT_EXIST}",
        ),
        (
            with_dispatchable(type="HLSL", sourcePath="x.hlsl"),
            "ERROR creating dispatchable 'add': HLSL dispatchables require DXCompiler",
        ),
        (
            with_dispatchable(type="onnx", sourcePath="x.onnx"),
            "ERROR creating dispatchable 'add': ONNX dispatchables require ONNX Runtime",
        ),
    ],
)
def test_texts(content, text, failure):
    found, errors, _ = failure(content)
    assert (found, errors) == (text, [])


def fields(kind, **fields):
    return {"type": kind, "InputTensor": tensor(3), "OutputTensor": tensor(3), **fields}


@pytest.mark.parametrize(
    ("dispatchable", "text"),
    [
        (
            {"type": "JOIN", "InputTensors": [tensor(1)], "OutputTensor": tensor(1), "Axis": 0},
            "Field 'InputCount' is required.",
        ),
        (
            {
                "type": "JOIN",
                "InputCount": 2,
                "InputTensors": [tensor(1)],
                "OutputTensor": tensor(1),
                "Axis": 0,
            },
            "Error parsing field 'InputTensors': it has 1 elements; InputCount is 2.",
        ),
        (
            {"type": "JOIN", "InputCount": 1, "InputTensors": [3], "OutputTensor": tensor(1), "Axis": 0},
            "Error parsing field 'InputTensors': Expected a non-null JSON object. (element 0)",
        ),
        (
            fields("REDUCE", Function="MEDIAN", AxisCount=1, Axes=[0]),
            "Error parsing field 'Function': 'MEDIAN' is not a recognized value for DML_REDUCE_FUNCTION.",
        ),
        (
            fields("CUMULATIVE_PRODUCT", Axis=0, AxisDirection="INCREASING", HasExclusiveProduct=1),
            "Error parsing field 'HasExclusiveProduct': Expected a bool.",
        ),
        (
            fields("ELEMENT_WISE_CLIP", Min=None, Max=1),
            "Error parsing field 'Min': Expected a number or 'NaN', 'Inf', or '-Inf'.",
        ),
        (
            fields("ELEMENT_WISE_IDENTITY", ScaleBias={"Scale": 1}),
            "Error parsing field 'ScaleBias': Field 'Bias' is required.",
        ),
        (
            fields("ELEMENT_WISE_CLIP1", MinMaxDataType="UINT8", Min=256, Max=1),
            "Error parsing field 'Min': narrowing_error: 256 is not from 0 to 255",
        ),
        (
            fields("ELEMENT_WISE_CLIP1", MinMaxDataType="FLOAT32", Min={"Int8": 1}, Max=1),
            "Error parsing field 'Min': Field 'Float32' is required.",
        ),
        (
            fields("ELEMENT_WISE_CLIP1", MinMaxDataType="FLOAT32", Min="1", Max=1),
            "Error parsing field 'Min': Expected a non-null JSON object or number.",
        ),
        (
            fields("ELEMENT_WISE_CLIP1", MinMaxDataType="INT4", Min=1, Max=1),
            "Error parsing field 'Min': Data type not supported for DML_SCALAR_UNION.",
        ),
        (
            {
                "type": "ELEMENT_WISE_ADD1",
                "ATensor": tensor(1),
                "BTensor": tensor(1),
                "OutputTensor": tensor(1),
                "FusedActivation": {"Alpha": 1},
            },
            "Error parsing field 'FusedActivation': Expected a member 'Type' with the operator type.",
        ),
        (
            {
                "type": "ELEMENT_WISE_ADD1",
                "ATensor": tensor(1),
                "BTensor": tensor(1),
                "OutputTensor": tensor(1),
                "FusedActivation": {"Type": "ACTIVATION_ELU"},
            },
            "Error parsing field 'FusedActivation': Field 'Alpha' is required.",
        ),
        ({"type": "dmlSerializedGraph"}, "Field 'sourcePath' is required."),
    ],
)
def test_texts_about_descs(dispatchable, text, failure):
    content = changed(lambda content: content["dispatchables"].update(x=dispatchable))
    assert failure(content)[0] == f"Failed to parse dispatchable x: {text}"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gone.json", "Model does not exist. Path given: 'gone.json'."),
        (".", "Model must be a JSON file, not a directory."),
        pytest.param(
            f"{'x' * 300}.json",
            "Model cannot be opened: File name too long. Path given: 'xxx",
            marks=pytest.mark.skipif(os.name == "nt", reason="other words on Windows"),
        ),
        ("x.onnx", "ONNX dispatchables require ONNX Runtime"),
    ],
)
def test_no_models(name, words):
    with pytest.raises(dxdispatch.ModelError) as caught:
        dxdispatch.load(name)
    assert str(caught.value).startswith(words)


def test_deferred_resources(failure):
    content = add_model({"type": "print", "resource": "later"})
    content["resources"]["later"] = {"initialValues": "deferred"}
    text, errors, _ = failure(content)
    assert text == "Could not find deferred resource later"
    assert errors == [text, f"Failed to print resource: {text}"]


def test_data_types_that_buffers_do_not_have(failure, tmp_path):
    """A raw file may be declared with any type; what needs the element size then fails."""
    (tmp_path / "a.dat").write_bytes(bytes(12))
    content = add_model()
    content["resources"]["A"] = resource({"sourcePath": "a.dat"}, "UINT4")
    text, errors, _ = failure(content)
    assert text == "Unexpected DML_TENSOR_DATA_TYPE"
    assert errors == [f"Failed to resolve bindings: {text}"]
    add = content["dispatchables"]["add"]
    add["desc"]["ATensor"]["Flags"] = "OWNED_BY_DML"
    add["bindings"] = {"ATensor": "A"}
    text, errors, _ = failure(content)
    assert text == "ERROR creating dispatchable 'add': Unexpected DML_TENSOR_DATA_TYPE"
    assert errors == ["Failed to resolve bindings: Unexpected DML_TENSOR_DATA_TYPE"]


def test_mixed_values_cannot_be_printed(failure):
    content = add_model({"type": "print", "resource": "R"})
    content["resources"]["R"] = {"initialValues": [{"type": "UINT8", "value": 1}]}
    assert failure(content)[:2] == (
        "Unexpected DML_TENSOR_DATA_TYPE",
        ["Failed to print resource: Unexpected DML_TENSOR_DATA_TYPE"],
    )


def from_file(path, data_type="FLOAT32"):
    return with_resource(resource({"sourcePath": path.name}, data_type))


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.zeros(2, np.int32), "does not match field 'initialValuesDataType'."),
        (np.zeros((2, 2), np.float32, order="F"), "Fortran stride order unsupported."),
        (np.zeros(2, np.complex64), "NumPy array elements of type complex64 are not supported."),
        (np.zeros(2, "U3"), "NumPy array elements of type <U3 are not supported."),
        (np.zeros(0, np.float32), "'initialValues' must be non-empty."),
    ],
)
def test_arrays_that_do_not_fit(array, text, failure, tmp_path):
    npy(tmp_path / "a.npy", array)
    found, _, _ = failure(from_file(tmp_path / "a.npy"))
    assert found.startswith(IN_R)
    assert found.endswith(text)


def header(shape, descr="'<f4'", version=b"\x01\x00"):
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no array",
        b"\x93NUMPY\x01\x00\xff\xff{",
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
        header("(1000000000000000,)") + bytes(8),
        header("(3,)") + bytes(8),
        header("(-1,)") + bytes(8),
        header("(-1, -2)") + bytes(8),
        header("(" + "(" * 500) + bytes(8),
        header("(2,)", "'|O'") + bytes(16),
        header("(2,)", "[('a', '<f4')]") + bytes(8),
        header("(2,)", "'(2,)<f4'") + bytes(16),
        header("__import__('os')"),
        header("(2,)", version=b"\x09\x00") + bytes(8),
    ],
)
def test_hostile_arrays(content, failure, tmp_path):
    (tmp_path / "a.npy").write_bytes(content)
    found, _, _ = failure(from_file(tmp_path / "a.npy"))
    assert found.startswith(f"{IN_R}NumPy array")


def test_sources_that_are_no_files(failure, tmp_path):
    (tmp_path / "folder").mkdir()
    for name in ("gone.dat", "folder", "/dev/zero", "a\0b", "x" * 5000):
        found, _, _ = failure(with_resource(resource({"sourcePath": name})))
        assert found.startswith(IN_R)
    assert (
        "images can be read on Windows only" in failure(with_resource(resource({"sourcePath": "x.JPG"})))[0]
    )
    for count in (1 << 32) - 1, 1 << 32:
        # 32 GiB, and a count that is no UINT.
        found, _, _ = failure(with_resource(resource({"valueCount": count, "value": 1}, "FLOAT64")))
        assert "no memory" in found or "narrowing_error" in found


@pytest.mark.parametrize(("memory", "is_refused"), [(3 * 4000, False), (3 * 4000 - 1, True)])
def test_buffers_that_do_not_fit(monkeypatch, tmp_path, memory, is_refused):
    """A buffer exists three times: as values, as an upload buffer, and itself."""
    monkeypatch.setattr("directml_py.dxdispatch.model.physical_memory", lambda: memory)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(with_resource(resource([1.0], sizeInBytes=4000))), encoding="utf-8")
    if is_refused:
        with pytest.raises(dxdispatch.ModelError, match="There is no memory for a buffer of 4000 bytes"):
            dxdispatch.load(path)
    else:
        dxdispatch.load(path)
