"""Round trips of operators through DxDispatch models and serialized graphs, which compute the same."""

from __future__ import annotations

import json

import numpy as np
import pytest

import directml_py as dml
from directml_py import dxdispatch
from directml_py.descs.build import build_operator_desc
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.descs.tensor import TensorDesc
from directml_py.operators import SCHEMAS
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import make_desc, valid_desc

SEEDS = range(2)
NO_FLAGS = dml.DML_TENSOR_FLAG_NONE
OWNED = dml.DML_TENSOR_FLAG_OWNED_BY_DML
F32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


def tensors_as(change, desc):
    """``desc`` with ``change`` applied to every tensor."""
    values = []
    for entry, (_, value) in zip(desc.struct.fields, desc):
        if entry.is_tensor and isinstance(value, tuple):
            value = tuple(map(change, value))
        elif entry.is_tensor and value is not None:
            value = change(value)
        values.append(value)
    return OperatorDesc(desc.schema, tuple(values))


def is_mixed(desc):
    """Whether an array has tensors with and without OWNED_BY_DML."""
    return any(
        isinstance(value, tuple) and entry.role == "input" and len({one.flags for one in value}) > 1
        for entry, (_, value) in zip(desc.struct.fields, desc)
        if entry.is_tensor
    )


def samples(operator):
    for seed in SEEDS:
        desc = valid_desc(RandomSource(seed), operator, max_elements=200)
        yield tensors_as(lambda tensor: tensor.replace(flags=NO_FLAGS), desc) if is_mixed(desc) else desc


def memory_of(desc, seed=0):
    """A buffer of small numbers for each input tensor."""
    random = np.random.default_rng(seed)
    buffers = []
    for slot in desc.inputs:
        if slot.tensor is None:
            buffers.append(None)
            continue
        dtype = slot.tensor.dtype
        count = -(-slot.tensor.total_size // dtype.itemsize)
        values = random.integers(0, 4, count).astype(dtype)
        buffers.append(values.tobytes()[: slot.tensor.total_size])
    return buffers


def arrays_of(desc, buffers):
    return [
        None if slot.tensor is None else slot.tensor.load(np.frombuffer(memory, np.uint8))
        for slot, memory in zip(desc.inputs, buffers)
    ]


@pytest.mark.parametrize("operator", sorted(SCHEMAS))
def test_models_give_back_every_desc(operator, tmp_path):
    for desc in samples(operator):
        buffers = memory_of(desc)
        *_, path = dxdispatch.save(tmp_path / "model.json", desc, buffers)
        (found,) = dxdispatch.load(path).dispatchables.values()
        assert found.desc == desc


@pytest.mark.parametrize("operator", sorted(SCHEMAS))
def test_serialized_graphs_give_back_every_desc(operator, tmp_path):
    for seed in SEEDS:
        desc = valid_desc(RandomSource(seed), operator, max_elements=200)
        *_, path = dxdispatch.save_graph(tmp_path / "graph.bin", desc, memory_of(desc))
        (node,) = dxdispatch.load_graph(path).nodes
        assert node.desc == tensors_as(lambda tensor: tensor.replace(alignment=0), desc)


# Arrays of tensors, absent and several ones, 4-bit elements, indices; other operators are bound in the same ways.
BOUND = ("JOIN", "SPLIT", "CONVOLUTION", "LSTM", "TOP_K1", "DEQUANTIZE", "GATHER", "ELEMENT_WISE_ADD1")


@pytest.mark.parametrize("operator", BOUND)
@pytest.mark.parametrize("as_graph", [False, True], ids=["operator", "graph"])
def test_models_compute_what_the_operator_does(operator, as_graph, tmp_path):
    desc = next(samples(operator))
    buffers = memory_of(desc)
    *_, path = dxdispatch.save(tmp_path / "model.json", desc, buffers, as_graph=as_graph)
    found = dxdispatch.load(path).run()
    expected = dml.evaluate(desc, arrays_of(desc, buffers))
    for slot, array in zip(desc.outputs, expected):
        if slot.tensor is not None:
            memory = np.zeros(slot.tensor.total_size, np.uint8)
            slot.tensor.store(memory, array)
            content = found[slot.path].tobytes()
            assert content == memory.tobytes()[: len(content)]
            # Not one element less than the tensor has.
            assert len(content) + 4 > slot.tensor.minimum_size


def add(**changes):
    a, b, out = (TensorDesc(F32, (3,)) for _ in range(3))
    tensors = {"ATensor": a, "BTensor": b, "OutputTensor": out}
    for name, change in changes.items():
        tensors[name] = tensors[name].replace(**change)
    return make_desc("ELEMENT_WISE_ADD", tensors)


ONE, TWO = np.array([1, 2, 3], np.float32), np.array([5, 8, -5], np.float32)


def test_the_files_of_a_model(tmp_path):
    path = tmp_path / "sub" / "sum.json"
    written = dxdispatch.save(path, add(), [ONE, TWO], write_outputs=True, name="plus")
    assert [one.name for one in written] == ["sum.ATensor.npy", "sum.BTensor.npy", "sum.json"]
    assert sorted(one.name for one in path.parent.iterdir()) == sorted(one.name for one in written)
    assert np.load(written[1]).tolist() == [5, 8, -5]
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "resources": {
            "ATensor": {
                "initialValuesDataType": "FLOAT32",
                "initialValues": {"sourcePath": "sum.ATensor.npy"},
            },
            "BTensor": {
                "initialValuesDataType": "FLOAT32",
                "initialValues": {"sourcePath": "sum.BTensor.npy"},
            },
            "OutputTensor": {
                "initialValuesDataType": "FLOAT32",
                "initialValues": {"valueCount": 3, "value": 0},
            },
        },
        "dispatchables": {
            "plus": {
                "type": "DML_OPERATOR_ELEMENT_WISE_ADD",
                "desc": {
                    "ATensor": {"DataType": "FLOAT32", "Sizes": [3]},
                    "BTensor": {"DataType": "FLOAT32", "Sizes": [3]},
                    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
                },
            }
        },
        "commands": [
            {
                "type": "dispatch",
                "dispatchable": "plus",
                "bindings": {"ATensor": "ATensor", "BTensor": "BTensor", "OutputTensor": "OutputTensor"},
            },
            {"type": "print", "resource": "OutputTensor"},
            {
                "type": "writeFile",
                "resource": "OutputTensor",
                "targetPath": "sum.OutputTensor.npy",
                "dimensions": [3],
            },
        ],
    }


def test_owned_tensors_are_bound_at_initialization(tmp_path):
    desc = add(BTensor={"flags": OWNED, "total_size": 32})
    *_, path = dxdispatch.save(tmp_path / "m.json", desc, [ONE, TWO], execution_flags=1)
    content = json.loads(path.read_text(encoding="utf-8"))
    (dispatchable,) = content["dispatchables"].values()
    assert dispatchable["bindings"] == {"BTensor": "BTensor"}
    assert dispatchable["executionFlags"] == ["DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION"]
    assert "BTensor" not in content["commands"][0]["bindings"]
    assert content["resources"]["BTensor"]["sizeInBytes"] == 32
    assert dxdispatch.load(path).run()["OutputTensor"].tolist() == [6, 10, -2]


def test_work_in_every_form(tmp_path):
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice())
    operator = device.CreateOperator(add())
    compiled = device.CompileOperator(operator)
    written = dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(
        *(dml.tensor_desc(F32, [3]) for _ in range(3)),
    )
    for work in (operator, compiled, written, dml.DML_OPERATOR_DESC(4, written)):
        *_, path = dxdispatch.save(tmp_path / "m.json", work, [ONE, TWO])
        (found,) = dxdispatch.load(path).dispatchables.values()
        assert found.desc == add()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), -0.0, 1e-45, 0.1])
def test_special_numbers(value, tmp_path):
    tensors = {name: TensorDesc(F32, (1,)) for name in ("InputTensor", "OutputTensor")}
    desc = make_desc("ELEMENT_WISE_CLIP", {**tensors, "Min": -1.5, "Max": value, "ScaleBias": (value, 1)})
    *_, path = dxdispatch.save(tmp_path / "m.json", desc, [np.zeros(1, np.float32)])
    (found,) = dxdispatch.load(path).dispatchables.values()
    assert found.desc == desc


@pytest.mark.parametrize(
    ("data_type", "value"),
    [
        ("FLOAT16", 0.1),
        ("FLOAT16", float("inf")),
        ("FLOAT16", float("nan")),
        ("FLOAT32", -float("inf")),
        ("FLOAT64", 1e300),
        ("FLOAT64", float("nan")),
        ("UINT64", (1 << 64) - 1),
        ("INT64", -(1 << 63)),
        ("INT8", -128),
        ("UINT16", 65535),
    ],
)
def test_scalar_unions(data_type, value, tmp_path):
    kind = dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{data_type}"]
    out = TensorDesc(kind, (2,))
    desc = make_desc("FILL_VALUE_CONSTANT", {"OutputTensor": out, "ValueDataType": kind, "Value": value})
    *_, path = dxdispatch.save(tmp_path / "m.json", desc, [])
    model = dxdispatch.load(path)
    assert model.dispatchables["fill_value_constant"].desc == desc
    expected = np.full(2, value, desc.OutputTensor.dtype)
    np.testing.assert_array_equal(model.run()["OutputTensor"], expected)


def test_bytes_are_printed_with_their_bits(tmp_path):
    kind = dml.DML_TENSOR_DATA_TYPE_UINT4
    out = TensorDesc(kind, (3,))
    desc = build_operator_desc(SCHEMAS["ELEMENT_WISE_IDENTITY"], {"InputTensor": out, "OutputTensor": out})
    *_, path = dxdispatch.save(tmp_path / "m.json", desc, [np.array([1, 2, 3], np.uint8)])
    model = dxdispatch.load(path)
    # Low halves first: 1 + 2 * 16, then 3.
    assert model.resources["InputTensor"].content() == b"\x21\x03"
    assert model.commands[-1].verbose


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ([ONE], "inputs has 1 items; the work has 2 inputs: ATensor, BTensor"),
        ([ONE, None], "BTensor is present in the desc"),
        ([ONE, b"12345678"], "BTensor needs 12 bytes, not 8"),
        ([ONE, TWO.astype(np.float16)], "BTensor holds float32 elements, not float16"),
        ([ONE, TWO[:2]], r"BTensor has the sizes \{3\}, not \{2\}"),
    ],
)
def test_inputs_that_do_not_fit(inputs, words, tmp_path):
    with pytest.raises((ValueError, TypeError), match=words):
        dxdispatch.save(tmp_path / "m.json", add(), inputs)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("desc", "words"),
    [
        (add(ATensor={"data_type": 99}), "ATensor.DataType is 99"),
        (add(ATensor={"flags": dml.DML_TENSOR_FLAGS(6)}), "ATensor.Flags has flags 0x6"),
        (add(ATensor={"total_size": 0}), "ATensor.TotalTensorSizeInBytes is 0"),
        (add(ATensor={"total_size": 8}), "a tensor has 8 bytes; its elements need 12"),
    ],
)
def test_what_dxdispatch_has_no_words_for(desc, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        dxdispatch.save(tmp_path / "m.json", desc, [bytes(12), bytes(12)])
    assert list(tmp_path.iterdir()) == []


def test_arrays_that_are_owned_in_part(tmp_path):
    first = TensorDesc(F32, (1,))
    fields = {
        "InputTensors": [first, first.replace(flags=OWNED)],
        "OutputTensor": TensorDesc(F32, (2,)),
        "Axis": 0,
    }
    desc = make_desc("JOIN", fields)
    with pytest.raises(ValueError, match="InputTensors has tensors with and without OWNED_BY_DML"):
        dxdispatch.save(tmp_path / "m.json", desc, [ONE[:1], TWO[:1]])


def test_a_file_that_cannot_be_written(tmp_path):
    (tmp_path / "m.json").mkdir()
    with pytest.raises(OSError, match=r"m\.json"):
        dxdispatch.save(tmp_path / "m.json", add(), [ONE, TWO])
    assert sorted(one.name for one in tmp_path.iterdir()) == ["m.ATensor.npy", "m.BTensor.npy", "m.json"]
