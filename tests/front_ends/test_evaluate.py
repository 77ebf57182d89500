"""``evaluate``: one operator on arrays."""

from __future__ import annotations

import ctypes
import gc
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import directml_py as dml
from directml_py.descs.operator_desc import TensorSlot
from directml_py.shortcuts import input_array

OWNED = dml.DML_TENSOR_FLAG_OWNED_BY_DML


def tensor(kind, sizes, strides=None, **rest):
    return dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{kind}"], sizes, strides, **rest)


def identity(x, y):
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, y)


def join(*inputs, output, axis):
    return dml.DML_JOIN_OPERATOR_DESC(InputTensors=list(inputs), OutputTensor=output, Axis=axis)


@pytest.mark.parametrize(
    "kind",
    [
        "FLOAT16",
        "FLOAT32",
        "FLOAT64",
        "INT8",
        "INT16",
        "INT32",
        "INT64",
        "UINT8",
        "UINT16",
        "UINT32",
        "UINT64",
    ],
)
def test_data_types(kind):
    x = np.arange(6).reshape(2, 3).astype(kind.lower())
    (found,) = dml.evaluate(identity(tensor(kind, [2, 3]), tensor(kind, [2, 3])), [x])
    assert found.dtype == x.dtype
    assert found.shape == (2, 3)
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_outputs_in_desc_order():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    whole, left, right = tensor("FLOAT32", [2, 3]), tensor("FLOAT32", [2, 1]), tensor("FLOAT32", [2, 2])
    split = dml.DML_SPLIT_OPERATOR_DESC(InputTensor=whole, OutputTensors=[left, right], Axis=1)
    found = dml.evaluate(split, [x])
    assert [part.tolist() for part in found] == [[[0], [3]], [[1, 2], [4, 5]]]


def test_strides_of_inputs_and_outputs():
    """A transposed input and a padded output: the arrays are logical all the same."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    desc = identity(tensor("FLOAT32", [2, 3], [1, 2]), tensor("FLOAT32", [2, 3], [8, 2]))
    (found,) = dml.evaluate(desc, [x])
    assert found.tolist() == x.tolist()


def test_arrays_of_any_layout():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    desc = identity(tensor("FLOAT32", [3, 2]), tensor("FLOAT32", [3, 2]))
    for view in (x[::-2, 5::-2].T, np.asfortranarray(x[:3, :2]), x[:3, ::3]):
        (found,) = dml.evaluate(desc, [view])
        assert found.tolist() == view.tolist()


def test_inputs_are_not_changed_and_results_are_the_callers():
    x = np.arange(4, dtype=np.float32)
    desc = identity(tensor("FLOAT32", [4]), tensor("FLOAT32", [4]))
    (found,) = dml.evaluate(desc, [x])
    found[:] = -1
    assert x.tolist() == [0, 1, 2, 3]
    x.flags.writeable = False
    (again,) = dml.evaluate(desc, [x])
    assert again.tolist() == [0, 1, 2, 3]


def test_results_hold_no_device():
    gc.collect()
    gc.disable()
    try:
        # Exceptions that pytest keeps of other tests may hold theirs.
        before = {id(table) for table in gc.get_objects() if isinstance(table, dml.IDMLBindingTable)}
        desc = identity(tensor("FLOAT32", [4], [4]), tensor("FLOAT32", [4], [4]))
        (output,) = dml.evaluate(desc, [np.zeros(4, np.float32)])
        assert output.base is None
        after = {id(table) for table in gc.get_objects() if isinstance(table, dml.IDMLBindingTable)}
        assert after <= before
    finally:
        gc.enable()


def test_broadcast_inputs():
    """Stride 0: the array repeats one row."""
    row = np.array([1, 2, 3], np.float32)
    desc = identity(tensor("FLOAT32", [2, 3], [0, 1]), tensor("FLOAT32", [2, 3]))
    (found,) = dml.evaluate(desc, [np.broadcast_to(row, (2, 3))])
    assert found.tolist() == [[1, 2, 3]] * 2
    (found,) = dml.evaluate(desc, [np.array([[1, np.nan, 3]] * 2, np.float32)])
    assert np.isnan(found[:, 1]).all()


def test_what_repeats_in_both_takes_no_memory():
    sizes = [3, 4096, 4096]
    desc = dml.DML_ARGMAX_OPERATOR_DESC(
        tensor("FLOAT32", sizes, [1, 0, 0]), tensor("UINT32", [1, 1, 1]), Axes=[0, 1, 2]
    )
    x = np.broadcast_to(np.array([1, 5, 3], np.float32).reshape(3, 1, 1), sizes)
    tracemalloc.start()
    try:
        (found,) = dml.evaluate(desc, [x])
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    assert found.tolist() == [[[4096 * 4096]]]


def test_one_different_value_among_those_that_repeat():
    """Along the rows both array and tensor are broadcast, along the columns only the tensor."""
    desc = identity(tensor("FLOAT32", [2, 3], [0, 0]), tensor("FLOAT32", [2, 3]))
    with pytest.raises(ValueError, match="different values"):
        dml.evaluate(desc, [np.broadcast_to(np.array([7, 7, 8], np.float32), (2, 3))])


def test_broadcast_inputs_that_disagree():
    desc = identity(tensor("FLOAT32", [2, 3], [0, 1]), tensor("FLOAT32", [2, 3]))
    with pytest.raises(ValueError, match=r"InputTensor.*different values"):
        dml.evaluate(desc, [np.array([[1, 2, 3], [1, 2, 4]], np.float32)])


def test_owned_inputs():
    owned = tensor("FLOAT32", [2, 2], flags=OWNED)
    plain = tensor("FLOAT32", [2, 1])
    desc = join(plain, owned, plain, output=tensor("FLOAT32", [2, 4]), axis=1)
    one, two = np.array([[1], [5]], np.float32), np.array([[2, 3], [6, 7]], np.float32)
    (found,) = dml.evaluate(desc, [one, two, one * 4])
    assert found.tolist() == [[1, 2, 3, 4], [5, 6, 7, 20]]


def test_all_inputs_owned_and_temporary_memory():
    x = tensor("FLOAT32", [1, 3], flags=OWNED)
    desc = dml.DML_REDUCE_OPERATOR_DESC(
        dml.DML_REDUCE_FUNCTION_LOG_SUM_EXP, x, tensor("FLOAT32", [1, 1]), Axes=[1]
    )
    (found,) = dml.evaluate(desc, [np.zeros((1, 3), np.float32)])
    assert found[0, 0] == pytest.approx(np.log(3))


DESC = join(tensor("FLOAT32", [1, 2]), tensor("FLOAT32", [1, 1]), output=tensor("FLOAT32", [1, 3]), axis=1)
A, B = np.array([[1, 2]], np.float32), np.array([[3]], np.float32)


@pytest.mark.parametrize("inputs", [[], [A], [A, B, B], ()])
def test_wrong_counts(inputs):
    with pytest.raises(ValueError, match=r"2 input tensors: InputTensors\[0\], InputTensors\[1\]"):
        dml.evaluate(DESC, inputs)


@pytest.mark.parametrize(
    ("second", "error", "words"),
    [
        (None, ValueError, "present in"),
        (B.astype(np.float64), TypeError, "float32 elements, not float64"),
        (B.astype(np.int32), TypeError, "not int32"),
        (B.astype(">f4"), TypeError, "not >f4"),
        (B.astype(object), TypeError, "not object"),
        (np.float64(3), TypeError, "not float64"),
        (A, ValueError, "{1,1}, not {1,2}"),
        (B[0], ValueError, "{1,1}, not {1}"),
        ([[1, 2]], ValueError, "{1,1}, not {1,2}"),
        (3.0, ValueError, "{1,1}, not {}"),
        ([["three"]], TypeError, "not <U5"),
        ([[3j]], TypeError, "not complex128"),
        ([[None]], TypeError, "not object"),
        ([[1], [2, 3]], ValueError, ""),
        (object(), TypeError, "not object"),
    ],
)
def test_wrong_inputs(second, error, words):
    with pytest.raises(error) as caught:
        dml.evaluate(DESC, [A, second])
    assert "InputTensors[1]" in str(caught.value)
    assert words in str(caught.value)


def test_lists():
    """Python numbers are converted to the tensor's type."""
    (found,) = dml.evaluate(DESC, [[[1, 2.5]], ([3],)])
    assert found.tolist() == [[1, 2.5, 3]]
    bytes_ = identity(tensor("UINT8", [4]), tensor("UINT8", [4]))
    (found,) = dml.evaluate(bytes_, [[0, 1, 255, True]])
    assert found.tolist() == [0, 1, 255, 1]
    longs = identity(tensor("UINT64", [1]), tensor("UINT64", [1]))
    (found,) = dml.evaluate(longs, [[(1 << 64) - 1]])
    assert found.tolist() == [(1 << 64) - 1]


@pytest.mark.parametrize(
    ("kind", "values", "error"),
    [
        ("UINT8", [256], ValueError),
        ("UINT8", [-1], ValueError),
        ("INT8", [128], ValueError),
        ("INT8", [-129], ValueError),
        ("INT64", [1 << 63], ValueError),
        ("UINT64", [-1], ValueError),
        ("INT32", [1.0], TypeError),
        ("INT64", [1 << 64], TypeError),
    ],
)
def test_numbers_that_the_type_cannot_hold(kind, values, error):
    """They neither wrap nor are truncated, but rejected."""
    with pytest.raises(error, match="InputTensor"):
        dml.evaluate(identity(tensor(kind, [1]), tensor(kind, [1])), [values])


@pytest.mark.parametrize(("kind", "low", "high"), [("INT4", -8, 7), ("UINT4", 0, 15)])
def test_numbers_of_4_bits(kind, low, high):
    """In arrays of bytes as in lists, they are limited to the range of 4 bits."""
    desc = dml.TensorDesc(dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{kind}"], (2,))
    slot = TensorSlot("InputTensor", "InputTensor", desc)
    for values in ([low, high], np.array([low, high], desc.dtype)):
        array = input_array(slot, values)
        assert (array.dtype, array.tolist()) == (desc.dtype, [low, high])
    for values in ([low - 1, 0], [0, high + 1], np.array([0, high + 1], desc.dtype)):
        with pytest.raises(ValueError, match=f"InputTensor holds 4-bit elements, from {low} to {high}"):
            input_array(slot, values)
    with pytest.raises(TypeError, match=f"InputTensor holds {desc.dtype} elements"):
        input_array(slot, np.array([0, 1]))


def test_wrong_descs():
    with pytest.raises(TypeError, match="desc"):
        dml.evaluate("JOIN", [])
    with pytest.raises(dml.DMLError) as caught:
        dml.evaluate(identity(tensor("FLOAT32", [4]), tensor("FLOAT32", [5])), [A])
    assert caught.value.hresult == dml.E_INVALIDARG
    assert caught.value.diagnostics


def test_feature_levels():
    desc = identity(tensor("INT64", [1, 1, 1, 4]), tensor("INT64", [1, 1, 1, 4]))
    x = np.arange(4).reshape(1, 1, 1, 4)
    assert dml.evaluate(desc, [x], feature_level=dml.DML_FEATURE_LEVEL_6_4)[0].tolist() == x.tolist()
    with pytest.raises(dml.DMLError) as caught:
        dml.evaluate(desc, [x], feature_level=dml.DML_FEATURE_LEVEL_2_1)
    assert "InputTensor.DataType" in {found.path for found in caught.value.diagnostics}
    with pytest.raises(dml.DMLError, match="feature_level"):
        dml.evaluate(desc, [x], feature_level=7)


def test_forms_of_descs():
    typed = identity(tensor("FLOAT32", [4]), tensor("FLOAT32", [4]))
    whole = dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_ELEMENT_WISE_IDENTITY, typed)
    for form in (typed, whole, ctypes.byref(whole), ctypes.pointer(whole), ctypes.addressof(whole)):
        assert dml.evaluate(form, [np.ones(4, np.float32)])[0].tolist() == [1] * 4


class TestValidate:
    def test_nothing_wrong(self):
        assert dml.validate(DESC) == []

    def test_everything_wrong(self):
        desc = join(
            tensor("FLOAT32", [1, 2]), tensor("INT32", [1, 0]), output=tensor("FLOAT32", [1, 3]), axis=9
        )
        found = dml.validate(desc)
        assert all(isinstance(each, dml.Diagnostic) for each in found)
        assert "InputTensors[1].Sizes[1]" in {each.path for each in found}
        with pytest.raises(dml.DMLError) as caught:
            dml.DMLCreateDevice(dml.D3D12CreateDevice()).CreateOperator(desc)
        assert caught.value.diagnostics == found

    def test_levels(self):
        desc = identity(tensor("INT64", [1, 1, 1, 4]), tensor("INT64", [1, 1, 1, 4]))
        assert dml.validate(desc, feature_level=dml.DML_FEATURE_LEVEL_6_4) == dml.validate(desc) == []
        assert dml.validate(desc, feature_level=dml.DML_FEATURE_LEVEL_2_1)
        with pytest.raises(dml.DMLError, match="feature_level"):
            dml.validate(desc, feature_level=0)

    def test_operators_that_do_not_execute(self):
        x = tensor("FLOAT32", [1, 1, 1, 4])
        assert dml.validate(dml.DML_ELEMENT_WISE_ABS_OPERATOR_DESC(x, x)) == []
        assert [each.path for each in dml.validate(dml.DML_ELEMENT_WISE_ABS_OPERATOR_DESC(x, None))] == [
            "OutputTensor"
        ]

    def test_null_and_no_desc(self):
        assert [each.rule for each in dml.validate(None)] == ["DML-Desc-null"]
        assert [each.rule for each in dml.validate(0x10)] == ["DML-Desc-unreadable"]
        with pytest.raises(TypeError, match="desc"):
            dml.validate("JOIN")


def test_an_equal_desc_under_other_conditions(monkeypatch):
    """A desc that was compiled before is refused by a profile, a feature level, or a device that is removed."""
    half = tensor("FLOAT16", [2])
    double = dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(half, half, half)
    x = np.array([1, 2], np.float16)

    def doubled(**options):
        return dml.evaluate(double, [x, x], **options)[0].tolist()

    assert doubled() == [2, 4]
    monkeypatch.setenv("DIRECTML_PY_PROFILE", "no-optional-types")
    with pytest.raises(dml.DMLError, match="FLOAT16"):
        doubled()
    for calls in (1, 2):
        monkeypatch.setenv("DIRECTML_PY_PROFILE", f"kind,removal_after={calls}")
        with pytest.raises(dml.DMLError, match=f"removal_after={calls}"):
            doubled()
    monkeypatch.delenv("DIRECTML_PY_PROFILE")
    assert doubled() == [2, 4]
    assert doubled(feature_level=dml.DML_FEATURE_LEVEL_5_0) == [2, 4]
    with pytest.raises(dml.DMLError, match="DimensionCount"):
        doubled(feature_level=dml.DML_FEATURE_LEVEL_1_0)


def test_the_same_desc_with_other_arrays():
    """Results have memory of their own, and inputs in any layout are read where they are."""
    plain = tensor("FLOAT32", [2, 3])
    add = dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(plain, plain, plain)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    first = dml.evaluate(add, [x, x])[0]
    second = dml.evaluate(add, [x[::-1, ::-1], x])[0]
    third = dml.evaluate(add, [np.asfortranarray(x), x])[0]
    assert first.tolist() == third.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert second.tolist() == [[5, 5, 5], [5, 5, 5]]


def test_results_of_repeated_calls_are_independent():
    """The memory that a small operator is bound to is used again."""
    desc = identity(tensor("FLOAT32", [2, 3], [4, 1]), tensor("FLOAT32", [2, 3]))
    arrays = [np.full((2, 3), number, np.float32) for number in range(4)]
    found = [dml.evaluate(desc, [array])[0] for array in arrays]
    assert [array.tolist() for array in found] == [array.tolist() for array in arrays]
    found[0][0, 0] = 9
    assert dml.evaluate(desc, [arrays[0]])[0].tolist() == arrays[0].tolist()
    assert not any(np.shares_memory(one, other) for one, other in zip(found, (*found[1:], arrays[0])))


def test_threads_do_not_share_memory():
    desc = identity(tensor("FLOAT32", [64]), tensor("FLOAT32", [64]))

    def rounds(number: int) -> bool:
        array = np.full(64, number, np.float32)
        return all((dml.evaluate(desc, [array])[0] == number).all() for _ in range(200))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(rounds, range(8)))
