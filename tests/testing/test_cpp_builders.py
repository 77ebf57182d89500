"""Descs built by a C++ library, tested from Python, as in docs/testing/cpp.md."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
from toolchain import STANDARD, STRICT, missing

import directml_py as dml
from directml_py.testing import assert_invalid, assert_same_desc, assert_valid, feature_levels

SOURCE = Path(__file__).with_name("cpp") / "builders.cpp"
FLOAT32, FLOAT16, INT32 = (
    dml.DML_TENSOR_DATA_TYPE_FLOAT32,
    dml.DML_TENSOR_DATA_TYPE_FLOAT16,
    dml.DML_TENSOR_DATA_TYPE_INT32,
)
INT64, UINT32 = dml.DML_TENSOR_DATA_TYPE_INT64, dml.DML_TENSOR_DATA_TYPE_UINT32


@pytest.fixture(scope="module")
def builders(tmp_path_factory):
    if shutil.which("g++") is None:
        missing("g++")
    target = tmp_path_factory.mktemp("cpp") / "libbuilders.so"
    command = ["g++", STANDARD["g++"], *STRICT, "-shared", "-fPIC", str(SOURCE), "-o", str(target)]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(target))
    for name in ("BuildSideBySide", "BuildRowMaximum", "BuildLookup"):
        getattr(library, name).restype = ctypes.POINTER(dml.DML_OPERATOR_DESC)
    return library


def side_by_side(builders, *widths):
    return builders.BuildSideBySide(5, (ctypes.c_uint32 * len(widths))(*widths), len(widths))


def image(width):
    return dml.tensor_desc(FLOAT32, [1, 3, 5, width])


def test_a_correct_builder(builders):
    desc = side_by_side(builders, 2, 4)
    assert_valid(desc, feature_level="1_0")
    assert_same_desc(
        desc,
        dml.DML_JOIN_OPERATOR_DESC(InputTensors=[image(2), image(4)], OutputTensor=image(6), Axis=3),
    )


def test_the_device_takes_it(builders, dml_device):
    dml_device.CompileOperator(dml_device.CreateOperator(side_by_side(builders, 2, 4)))


def test_the_device_refuses_a_wrong_one(builders, dml_device, dml):
    with dml.expect("DML-BufferTensor-total-size", path="InputTensor.TotalTensorSizeInBytes"):
        dml_device.CreateOperator(builders.BuildRowMaximum(4, 8, 16))
    dml_device.CreateOperator(builders.BuildRowMaximum(4, 8, 8))


def test_the_bug_is_found(builders):
    """4 rows of 8 elements with stride 16 need 3 * 16 + 8 elements of 2 bytes; the builder has 4 * 8 * 2."""
    desc = builders.BuildRowMaximum(4, 8, 16)
    with pytest.raises(AssertionError) as caught:
        assert_valid(desc)
    assert "InputTensor.TotalTensorSizeInBytes is 64" in str(caught.value)
    assert "DMLCalcBufferTensorSize gives 112 [DML-BufferTensor-total-size]" in str(caught.value)
    assert_invalid(desc, rule="DML-BufferTensor-total-size", path="InputTensor.TotalTensorSizeInBytes")


def test_the_bug_is_the_one_difference(builders):
    expected = dml.DML_REDUCE_OPERATOR_DESC(
        Function=dml.DML_REDUCE_FUNCTION_MAX,
        InputTensor=dml.tensor_desc(FLOAT16, [1, 1, 4, 8], [64, 64, 16, 1]),
        OutputTensor=dml.tensor_desc(FLOAT16, [1, 1, 4, 1]),
        Axes=[3],
    )
    with pytest.raises(AssertionError) as caught:
        assert_same_desc(builders.BuildRowMaximum(4, 8, 16), expected)
    lines = [line.strip() for line in str(caught.value).splitlines() if "!=" in line]
    assert lines == ["InputTensor.TotalTensorSizeInBytes: 64 != 112"]


def test_which_feature_level_a_builder_needs(builders):
    assert feature_levels(builders.BuildLookup(FLOAT32, UINT32, 9, 4, 3)).lowest == 0x1000
    levels = feature_levels(builders.BuildLookup(FLOAT32, INT64, 9, 4, 3))
    assert levels.lowest == dml.DML_FEATURE_LEVEL_3_0
    levels = feature_levels(builders.BuildLookup(INT64, INT32, 9, 4, 3))
    assert str(levels) == (
        "needs DML_FEATURE_LEVEL_4_1 because of InputTensor.DataType, OutputTensor.DataType INT64 "
        "[DML-GATHER-data-type]"
    )
