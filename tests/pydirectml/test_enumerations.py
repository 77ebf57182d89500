"""Enumerations behave like pybind11's ``enum_`` of C enumerations."""

from __future__ import annotations

import pytest

from directml_py import pydirectml as dml


@pytest.mark.parametrize(
    ("kind", "count", "first", "last"),
    [
        ("TensorDataType", 12, ("UNKNOWN", 0), ("INT64", 11)),
        ("TensorFlags", 2, ("NONE", 0), ("OWNED_BY_DML", 1)),
        ("MatrixTransform", 2, ("NONE", 0), ("TRANSPOSE", 1)),
        ("RecurrentNetworkDirection", 3, ("FORWARD", 0), ("BIDIRECTIONAL", 2)),
        ("OutputOptions", 3, ("Both", 0), ("Single", 2)),
        ("ConvolutionMode", 2, ("CONVOLUTION", 0), ("CROSS_CORRELATION", 1)),
        ("ConvolutionDirection", 2, ("FORWARD", 0), ("BACKWARD", 1)),
        ("InterpolationMode", 2, ("NEAREST_NEIGHBOR", 0), ("LINEAR", 1)),
        ("PaddingMode", 3, ("CONSTANT", 0), ("REFLECTION", 2)),
        ("ExecutionFlags", 4, ("NONE", 0), ("DESCRIPTORS_VOLATILE", 4)),
        ("OperatorType", 97, ("INVALID", 0), ("RESAMPLE", 96)),
    ],
)
def test_members(kind, count, first, last):
    members = getattr(dml, kind).__members__
    assert len(members) == count
    items = [(name, int(member)) for name, member in members.items()]
    assert (items[0], items[-1]) == (first, last)
    assert all(
        member.name == name and getattr(getattr(dml, kind), name) is member
        for name, member in members.items()
    )


def test_operator_types_have_no_gap():
    assert [one.value for one in dml.OperatorType.__members__.values()] == list(range(97))


def test_a_member():
    float32 = dml.TensorDataType.FLOAT32
    assert (float32.name, float32.value, int(float32), hash(float32)) == ("FLOAT32", 1, 1, 1)
    assert (repr(float32), str(float32)) == ("<TensorDataType.FLOAT32: 1>", "TensorDataType.FLOAT32")
    assert dml.TensorDataType(1) == float32
    assert float32 == 1
    assert float32 != 2
    assert float32 != dml.TensorFlags.OWNED_BY_DML
    assert {float32: "x"}[dml.TensorDataType(1)] == "x"
    assert bool(dml.TensorDataType.UNKNOWN)
    with pytest.raises(TypeError, match="not str"):
        dml.TensorDataType("FLOAT32")
    with pytest.raises(TypeError):
        _ = float32 < dml.TensorDataType.FLOAT16
    with pytest.raises(AttributeError, match="no member 'FLOAT8'"):
        _ = dml.TensorDataType.FLOAT8


def test_flags():
    flags = dml.ExecutionFlags
    both = flags.ALLOW_HALF_PRECISION_COMPUTATION | flags.DISABLE_META_COMMANDS
    assert (type(both), both) == (int, 3)
    assert repr(flags(3)) == "<ExecutionFlags.???: 3>"
    assert flags(3) & 1 == 1
    assert 1 | flags.DISABLE_META_COMMANDS == 3
    assert ~flags.DESCRIPTORS_VOLATILE == -5
    assert flags.NONE < flags.DESCRIPTORS_VOLATILE <= 4


def test_output_options_are_scoped():
    """C++ has them as ``enum class``: no numbers, but an order."""
    assert dml.OutputOptions.Both != 0
    assert dml.OutputOptions.Both < dml.OutputOptions.Single
    with pytest.raises(TypeError):
        _ = dml.OutputOptions.Sequence | dml.OutputOptions.Single


def test_names_of_the_module():
    """Of equal names the last enumeration's member wins."""
    assert repr(dml.NONE) == "<ExecutionFlags.NONE: 0>"
    assert repr(dml.FORWARD) == "<ConvolutionDirection.FORWARD: 0>"
    assert repr(dml.BACKWARD) == "<ConvolutionDirection.BACKWARD: 1>"
    assert repr(dml.CONVOLUTION) == "<OperatorType.CONVOLUTION: 53>"
    assert dml.TRANSPOSE == dml.MatrixTransform.TRANSPOSE
    assert not hasattr(dml, "Both")


def test_a_star_import_brings_the_members():
    names = {}
    exec("from directml_py.pydirectml import *", names)
    assert names["FLOAT16"] == dml.TensorDataType.FLOAT16
    assert names["TRANSPOSE"] == dml.MatrixTransform.TRANSPOSE
    assert repr(names["NONE"]) == "<ExecutionFlags.NONE: 0>"
    assert "Both" not in names
