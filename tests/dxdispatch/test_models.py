"""Models of every kind, with expected values calculated by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

import directml_py as dml
from directml_py import dxdispatch
from directml_py.dxdispatch import model_run
from directml_py.dxdispatch.model import parse_dispatchables

from .conftest import add_model, dispatch, model, npy, resource, tensor, zeros


def out(*values):
    return [f"Resource 'Out': {', '.join(map(str, values))}"]


PRINT = {"type": "print", "resource": "Out"}


def unary(kind, fields, values, count, data_type="FLOAT32", sizes=None, out_sizes=None):
    """A model of an operator with InputTensor and OutputTensor."""
    desc = {
        "InputTensor": tensor(*(sizes or [len(values)]), data_type=data_type),
        "OutputTensor": tensor(*(out_sizes or sizes or [count]), data_type=data_type),
        **fields,
    }
    return model(
        {"A": resource(values, data_type), "Out": zeros(count, data_type)},
        {"op": {"type": kind, "desc": desc}},
        dispatch("op", InputTensor="A", OutputTensor="Out"),
        PRINT,
    )


def with_fused(activation):
    content = add_model()
    add = content["dispatchables"]["add"]
    add["type"] = "ELEMENT_WISE_ADD1"
    add["desc"]["FusedActivation"] = activation
    return content


ELU = {"Type": "DML_OPERATOR_ACTIVATION_ELU", "Desc": {"Alpha": 2}}
LINEAR = {"Type": "ACTIVATION_LINEAR", "Alpha": 2, "Beta": 0.5}

RNN = {
    "type": "RNN",
    # Fields beside the type, a list of activations, most optional tensors absent.
    "InputTensor": tensor(1, 1, 1, 2),
    "WeightTensor": tensor(1, 1, 1, 2),
    "RecurrenceTensor": tensor(1, 1, 1, 1),
    "OutputSingleTensor": tensor(1, 1, 1, 1),
    "ActivationDescCount": 1,
    "ActivationDescs": [LINEAR],
    "Direction": "FORWARD",
}


@pytest.mark.parametrize(
    ("content", "values"),
    [
        (add_model(), (6, 10, -2)),
        # exp(-2) - 1 = -0.864665, times 2
        (with_fused(ELU), (6, 10, -1.72933)),
        (with_fused(LINEAR), (12.5, 20.5, -3.5)),
        (
            unary(
                "REDUCE",
                {"Function": "SUM", "AxisCount": 1, "Axes": [1]},
                [1, 2, 3, 4],
                2,
                sizes=[2, 2],
                out_sizes=[2, 1],
            ),
            (3, 7),
        ),
        (unary("ELEMENT_WISE_IDENTITY", {"ScaleBias": {"Scale": 2, "Bias": 10}}, [1, 2], 2), (12, 14)),
        (
            unary(
                "ELEMENT_WISE_CLIP1",
                {"MinMaxDataType": "FLOAT16", "Min": 2, "Max": {"UInt16": 0x4400}},
                [1, 2, 3, 4, 5],
                5,
                "FLOAT16",
            ),
            (2, 2, 3, 4, 4),
        ),
        (
            unary(
                "ELEMENT_WISE_CLIP1",
                {"MinMaxDataType": "INT32", "Min": {"Int32": -1}, "Max": 3},
                [-5, 2, 9],
                3,
                "INT32",
            ),
            (-1, 2, 3),
        ),
        (
            unary(
                "CUMULATIVE_PRODUCT",
                {"Axis": 0, "AxisDirection": "DECREASING", "HasExclusiveProduct": True},
                [2, 4, 8],
                3,
            ),
            (32, 8, 1),
        ),
        (
            unary(
                "SLICE", {"DimensionCount": 1, "Offsets": [1], "Sizes": [2], "Strides": [2]}, [1, 2, 3, 4], 2
            ),
            (2, 4),
        ),
        (
            unary(
                "UPSAMPLE_2D",
                {
                    "ScaleSize": {"Width": 2, "Height": 1},
                    "InterpolationMode": "DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR",
                },
                [1, 2],
                4,
                sizes=[1, 1, 1, 2],
                out_sizes=[1, 1, 1, 4],
            ),
            (1, 1, 2, 2),
        ),
        (
            unary("ELEMENT_WISE_IS_NAN", {}, [0] * 4, 4)
            | {"resources": {"A": resource(["NaN", 1, "-INF", "inf"]), "Out": zeros(4, "UINT32")}},
            None,
        ),
        (
            model(
                {"x": resource([3, 4]), "w": resource([1, 10]), "r": resource([7]), "Out": zeros(1)},
                {"rnn": RNN},
                dispatch(
                    "rnn", InputTensor="x", WeightTensor="w", RecurrenceTensor="r", OutputSingleTensor="Out"
                ),
                PRINT,
            ),
            # 2 * (3 * 1 + 4 * 10) + 0.5
            (86.5,),
        ),
        (
            model(
                {"Out": zeros(3)},
                {
                    "fill": {
                        "type": "FILL_VALUE_SEQUENCE",
                        "desc": {
                            "ValueDataType": "FLOAT32",
                            "ValueStart": 0.5,
                            "ValueDelta": {"Float32": 1.25},
                            "OutputTensor": tensor(3),
                        },
                    }
                },
                dispatch("fill", OutputTensor="Out"),
                PRINT,
            ),
            (0.5, 1.75, 3),
        ),
    ],
)
def test_operators(content, values, printed):
    if values is None:
        content["dispatchables"]["op"]["desc"]["OutputTensor"]["DataType"] = "UINT32"
        values = (1, 0, 0, 0)
    assert printed(content) == out(*values)


def test_arrays_of_bind_points_with_offsets(printed):
    """A binding that ends in the middle of a buffer: the offset is in elements, the binding's size is ignored."""
    join = {
        "type": "JOIN",
        "desc": {
            "InputCount": 3,
            "InputTensors": [tensor(2), tensor(1), tensor(1)],
            "OutputTensor": tensor(4),
            "Axis": 0,
        },
    }
    sources = [
        {"name": "A", "elementOffset": 4, "elementCount": 1},
        "B",
        {"name": "A", "elementOffset": 2, "elementSizeInBytes": 8},
    ]
    values = resource({"valueCount": 8, "valueStart": 1, "valueDelta": 1})
    content = model(
        {"A": values, "B": resource([100]), "Out": zeros(4)},
        {"join": join},
        dispatch("join", InputTensors=sources, OutputTensor=["Out"]),
        PRINT,
    )
    assert printed(content) == out(5, 6, 100, 5)


def test_several_outputs(printed):
    desc = {
        "InputTensor": tensor(3),
        "OutputCount": 2,
        "OutputTensors": [tensor(1), tensor(2)],
        "Axis": 0,
    }
    content = model(
        {"A": resource([1, 2, 3]), "x": zeros(1), "y": zeros(2)},
        {"split": {"type": "SPLIT", "desc": desc}},
        dispatch("split", InputTensor="A", OutputTensors=["x", "y"]),
        {"type": "print", "resource": "x"},
        {"type": "print", "resource": "y"},
    )
    assert printed(content) == ["Resource 'x': 1", "Resource 'y': 2, 3"]


def test_dispatches_go_on_with_what_others_left(printed):
    """In place: 1 + 5, then + 5 again, then both iterations and repetitions add."""
    content = add_model(
        dispatch("add", ATensor="A", BTensor="B", OutputTensor="A"),
        dispatch("add", ATensor="A", BTensor="B", OutputTensor="A"),
        {"type": "print", "resource": "A"},
    )
    assert printed(content) == ["Resource 'A': 11, 18, -7"]
    # The first dispatch writes Out; the two others run 3 times, each 2 times in a list.
    assert printed(content, iterations=3, repeat=2) == ["Resource 'A': 61, 98, -57"]


@pytest.mark.parametrize("kind", ["DmlCompileOp", "DmlCompileGraph"])
@pytest.mark.parametrize("flags", ["OWNED_BY_DML", ["DML_TENSOR_FLAG_OWNED_BY_DML"]])
def test_owned_tensors(kind, flags, printed):
    """Inputs bound at initialization are copied then: later writes have no effect."""
    content = add_model()
    add = content["dispatchables"]["add"]
    add["desc"]["BTensor"]["Flags"] = flags
    add |= {"bindings": {"BTensor": "B"}, "dmlCompileType": kind, "executionFlags": "NONE"}
    content["dispatchables"]["clear"] = {
        "type": "FILL_VALUE_CONSTANT",
        "desc": {"OutputTensor": tensor(3), "ValueDataType": "FLOAT32", "Value": 100},
    }
    content["commands"] = [
        dispatch("clear", OutputTensor="B"),
        dispatch("add", ATensor="A", OutputTensor="Out"),
        PRINT,
    ]
    assert printed(content)[-1:] == out(6, 10, -2)


def test_optional_tensors_in_a_graph_of_one_node(printed):
    gemm = {
        "type": "GEMM",
        "dmlCompileType": "DmlCompileGraph",
        "executionFlags": ["ALLOW_HALF_PRECISION_COMPUTATION", "DML_EXECUTION_FLAG_DISABLE_META_COMMANDS"],
        "desc": {
            "ATensor": tensor(1, 2),
            "BTensor": tensor(2, 2),
            "OutputTensor": tensor(1, 2),
            "TransA": "NONE",
            "TransB": "TRANSPOSE",
            "Alpha": 1,
            "Beta": 0,
        },
    }
    content = model(
        {"A": resource([1, 10]), "B": resource([1, 2, 3, 4]), "Out": zeros(2)},
        {"gemm": gemm},
        dispatch("gemm", ATensor="A", BTensor="B", OutputTensor="Out"),
        PRINT,
    )
    assert printed(content) == ["Compiling op using IDMLDevice1::CompileGraph", *out(21, 43)]


def test_tensors_in_full(printed):
    """Explicit strides, sizes and types, nested descs, and a total size of 0, which is calculated."""
    desc = {
        "InputTensor": {
            "Type": "DML_TENSOR_TYPE_BUFFER",
            "Desc": tensor(2, 2, Strides=[1, 2], DimensionCount=2, TotalTensorSizeInBytes=0),
        },
        "OutputTensor": tensor(2, 2, TotalTensorSizeInBytes=32, GuaranteedBaseOffsetAlignment=16),
    }
    content = model(
        {"A": resource([1, 2, 3, 4]), "Out": zeros(4) | {"sizeInBytes": 32}},
        {"op": {"type": "DML_OPERATOR_ELEMENT_WISE_IDENTITY", "Desc": desc}},
        dispatch("op", InputTensor="A", OutputTensor="Out"),
        PRINT,
    )
    assert printed(content) == out(1, 3, 2, 4)


def initial(value, printed):
    content = add_model({"type": "print", "resource": "R"})
    content["resources"]["R"] = value
    (line,) = printed(content)
    return line.removeprefix("Resource 'R': ")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            resource([3.2, 1e6, 1234567, -0.4323324, 1e-5, "nan", "inf", "-inf"]),
            "3.2, 1e+06, 1.23457e+06, -0.432332, 1e-05, nan, inf, -inf",
        ),
        (resource([0.1], "FLOAT16"), "0.0999756"),
        (resource([1 / 3], "FLOAT64"), "0.333333"),
        (resource([-(2**63), 2**63 - 1], "INT64"), "-9223372036854775808, 9223372036854775807"),
        (resource([2**64 - 1], "DML_TENSOR_DATA_TYPE_UINT64"), "18446744073709551615"),
        (resource([65, 98], "UINT8"), "A, b"),
        (resource([65, 98], "INT8"), "A, b"),
        (resource({"valueCount": 3, "valueStart": 250, "valueDelta": 5}, "UINT16"), "250, 255, 260"),
        (resource({"valueCount": 2, "value": "-inf"}), "-inf, -inf"),
        # What sizeInBytes adds, and padding to 4 bytes, is not printed.
        (resource([1, 2, 3], "UINT16", sizeInBytes=64, initialValuesOffsetInBytes=8), "1, 2, 3"),
        (resource([5], sizeInBytes=4), "5"),
    ],
)
def test_initial_values(value, expected, printed):
    assert initial(value, printed) == expected


@pytest.mark.parametrize("data_type", ["FLOAT16", "FLOAT32", "FLOAT64", "UINT8", "INT16"])
def test_sequences_add_in_the_element_type(data_type, write):
    """Sequential additions, each rounded or wrapped as by an assignment in C++."""
    dtype = np.dtype(data_type.lower())
    delta = 0.1 if dtype.kind == "f" else 37
    content = add_model()
    content["resources"]["R"] = resource(
        {"valueCount": 1000, "valueStart": 1, "valueDelta": delta}, data_type
    )
    found = np.frombuffer(dxdispatch.load(write(content)).resources["R"].content(), dtype)
    value, step = np.ones(1, dtype), np.array([delta]).astype(dtype)
    for index in range(1000):
        assert found[index] == value[0], index
        value = (value + step).astype(dtype)


def test_mixed_values(write):
    content = add_model()
    mixed = [
        {"type": "UINT8", "value": 1},
        {"name": "x", "type": "FLOAT32", "value": 2},
        {"type": "INT16", "value": -1},
    ]
    content["resources"]["R"] = {"initialValues": mixed}
    resource = dxdispatch.load(write(content)).resources["R"]
    # Packed, one behind the other, and the buffer filled up to 8 bytes.
    assert (resource.content(), resource.size) == (b"\x01\0\0\0\x40\xff\xff", 8)


def test_files(printed, tmp_path, monkeypatch):
    """Files are looked up beside the model, else in the current directory; only .npy files have a type."""
    current = tmp_path / "current"
    current.mkdir()
    monkeypatch.chdir(current)
    npy(tmp_path / "a.npy", np.array([[1, 2, 3]], ">f4"))
    np.array([5, 8, -5], np.float32).tofile(current / "b.dat")
    content = add_model(
        PRINT,
        {"type": "writeFile", "resource": "Out", "targetPath": "new/out.NPY", "dimensions": [3, 1]},
        {"type": "WRITEFILE", "resource": "Out", "targetPath": "new/out.dat"},
        {"type": "writeFile", "resource": "H", "targetPath": "h.npy"},
    )
    content["resources"] |= {
        "A": {"initialValues": {"sourcePath": "a.npy"}},
        "B": resource({"sourcePath": "b.dat"}),
        "H": resource([1, 2, 3], "FLOAT16"),
    }
    lines = printed(content)
    assert lines == [
        *out(6, 10, -2),
        f"Resource 'Out' written to '{tmp_path}/new/out.NPY'",
        f"Resource 'Out' written to '{tmp_path}/new/out.dat'",
        f"Resource 'H' written to '{tmp_path}/h.npy'",
    ]
    written = np.load(tmp_path / "new" / "out.NPY")
    assert (written.dtype, written.tolist()) == (np.float32, [[6], [10], [-2]])
    assert np.fromfile(tmp_path / "new" / "out.dat", np.float32).tolist() == [6, 10, -2]
    # Over the whole buffer, the filling included.
    assert np.load(tmp_path / "h.npy").tolist() == [1, 2, 3, 0]
    assert sorted(one.name for one in (tmp_path / "new").iterdir()) == ["out.NPY", "out.dat"]


@pytest.fixture
def writing(tmp_path):
    """``writing(target, **options)``: load and run a model in a folder, with another one for its output."""
    for name in ("models", "out", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "out" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "out" / "inner").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "dangling").symlink_to(tmp_path / "elsewhere" / "x.dat")
    path = tmp_path / "models" / "model.json"

    def run(target, **options):
        content = add_model({"type": "writeFile", "resource": "Out", "targetPath": str(target)})
        path.write_text(json.dumps(content), encoding="utf-8")
        dxdispatch.load(path, output_path=tmp_path / "out", **options).run()

    return run


OUTSIDE = [
    "../elsewhere/x.dat",
    "a/../../x.dat",
    "{}/elsewhere/x.dat",
    "link/x.dat",
    "dangling",
    "../outer/x.dat",
]


@pytest.mark.parametrize("target", OUTSIDE)
def test_a_model_writes_in_its_folders_only(writing, tmp_path, target):
    """By no path and by no link; ``outer`` is not in ``out``, though the name begins with it."""
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(dxdispatch.ModelError, match=r"The target path '.*' leads out of"):
        writing(target.format(tmp_path))
    assert [one for one in sorted(tmp_path.rglob("*")) if one.name != "model.json"] == before
    writing(target.format(tmp_path), writes_outside=True)
    assert len([one for one in tmp_path.rglob("*") if one.name in ("x.dat", "dangling")]) == 2


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("a/../x.dat", "out/x.dat"),
        ("inner/x.dat", "out/x.dat"),
        ("{}/out/x.dat", "out/x.dat"),
        ("../models/x.dat", "models/x.dat"),
    ],
)
def test_a_model_writes_anywhere_in_its_folders(writing, tmp_path, target, written):
    writing(target.format(tmp_path))
    assert np.fromfile(tmp_path / written, np.float32).tolist() == [6, 10, -2]


def test_a_target_that_no_file_can_have(writing):
    with pytest.raises(dxdispatch.ModelError, match="cannot be resolved: embedded null"):
        writing("a\0b")


def test_input_path(write, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    npy(folder / "a.npy", np.zeros(3, np.float32))
    content = add_model()
    content["resources"]["A"] = {"initialValues": {"sourcePath": "a.npy"}}
    loaded = dxdispatch.load(write(content), input_path=folder)
    assert loaded.run()["Out"].tolist() == [5, 8, -5]


def test_run_gives_what_resources_hold(write):
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice())
    content = add_model()
    content["resources"]["later"] = {"initialValues": "deferred"}
    content["resources"]["bytes"] = {"initialValues": [{"type": "UINT16", "value": 258}]}
    found = dxdispatch.load(write(content)).run(device)
    assert {name: (one.dtype.name, one.tolist()) for name, one in found.items()} == {
        "A": ("float32", [1, 2, 3]),
        "B": ("float32", [5, 8, -5]),
        "Out": ("float32", [6, 10, -2]),
        "bytes": ("uint8", [2, 1]),
    }


def test_comments_and_commas(printed, write):
    text = (
        '// a model {"\n{ "$schema": "x//y", /* } */ "resources": {"A": {"initialValuesDataType": "FLOAT32",'
        '"initialValues": [1, 2,],},}, "dispatchables": {}, "commands": [{"type": "print", "resource": "A",}, ],'
        "} and all that follows"
    )
    assert printed(text) == ["Resource 'A': 1, 2"]


def test_of_members_with_one_name_the_first_counts(printed):
    text = (
        '{"commands": [{"type": "print", "resource": "A"}], "dispatchables": {}, "resources": '
        '{"A": {"initialValuesDataType": "INT32", "initialValues": [7], "initialValues": [8]}}}'
    )
    assert printed(text) == ["Resource 'A': 7"]


def test_every_operator_by_its_long_and_its_short_name(tmp_path):
    desc = {"InputTensor": tensor(1), "OutputTensor": tensor(1)}
    for kind in ("DML_OPERATOR_ELEMENT_WISE_ABS", "ELEMENT_WISE_ABS"):
        (found,) = parse_dispatchables(
            {"dispatchables": {"x": {"type": kind, "desc": desc}}}, tmp_path
        ).values()
        assert found.desc.name == "ELEMENT_WISE_ABS"


def test_times_are_milliseconds(monkeypatch):
    monkeypatch.setattr("directml_py.dxdispatch.model_run.time.perf_counter", lambda: 3.5)
    assert model_run._milliseconds(3.25) == 250
