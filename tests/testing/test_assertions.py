"""Assertions about descs, differences between descs, and the feature levels that a desc needs."""

from __future__ import annotations

import ctypes

import pytest

import directml_py as dml
from directml_py.cffi import ffi
from directml_py.testing import (
    assert_invalid,
    assert_same_desc,
    assert_valid,
    expect,
    feature_levels,
    parse_level,
)

FLOAT32, INT64 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_INT64


def tensor(*sizes, kind=FLOAT32, **rest):
    return dml.tensor_desc(kind, sizes, **rest)


def join(*widths, total=None, axis=3, kind=FLOAT32):
    return dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[tensor(1, 1, 2, width, kind=kind) for width in widths],
        OutputTensor=tensor(1, 1, 2, sum(widths) if total is None else total, kind=kind),
        Axis=axis,
    )


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("DML-JOIN-size", "there is DML-JOIN-sizes"),
        ("JOIN-sizes", "there is DML-JOIN-sizes"),
        ("DML-JION-sizes", "DML-JOIN-sizes"),
        ("DML-", "python -m directml_py show rules lists them"),
        ("D3D12-ResourceBarrier-befor", "D3D12-ResourceBarrier-before"),
    ],
)
def test_rules_that_do_not_exist(rule, hint):
    """They are reported at once, before the block runs."""
    for check in (expect, lambda rule: assert_invalid(join(3, 4), rule)):
        with pytest.raises(ValueError, match=f"^there is no rule {rule};.*{hint}"):
            check(rule)


def test_rules_that_were_not_looked_at_yet():
    """An operator's rules are created on first use; rules of applications are not checked."""
    for rule in ("DML-QUANTIZED_LINEAR_CONVOLUTION-group-count", "my-rule"):
        expect(rule)


def failure(check, *args, **kwargs):
    with pytest.raises(AssertionError) as caught:
        check(*args, **kwargs)
    return str(caught.value)


def test_assert_valid():
    assert_valid(join(3, 4))
    assert_valid(join(3, 4), feature_level=dml.DML_FEATURE_LEVEL_1_0)
    text = failure(assert_valid, join(3, 4, total=9))
    assert text.startswith("not valid at DML_FEATURE_LEVEL_6_4:\n  OutputTensor.Sizes is {1,1,2,9};")
    assert "[DML-JOIN-sizes]" in text
    assert "in DML_JOIN_OPERATOR_DESC(InputTensors=[FLOAT32 {1,1,2,3}" in text


def test_assert_valid_looks_at_the_level():
    assert_valid(join(3, 4, kind=INT64), feature_level="4_1")
    assert "at DML_FEATURE_LEVEL_4_0" in failure(assert_valid, join(3, 4, kind=INT64), feature_level="4_0")


def test_assert_invalid():
    wrong = join(3, 4, total=9)
    (found,) = assert_invalid(wrong, "DML-JOIN-sizes")
    assert found.path == "OutputTensor.Sizes"
    assert_invalid(wrong, rule="DML-JOIN-sizes", path="OutputTensor.Sizes")
    text = failure(assert_invalid, wrong, "DML-JOIN-sizes", "InputTensors[1].Sizes")
    assert "expected DML-JOIN-sizes at InputTensors[1].Sizes, but the rule was broken elsewhere" in text
    assert "OutputTensor.Sizes is {1,1,2,9}" in text
    text = failure(assert_invalid, wrong, "DML-JOIN-axis")
    assert text.startswith("expected DML-JOIN-axis, but other rules were broken")
    assert "DML-JOIN-sizes" in text
    assert "is valid at DML_FEATURE_LEVEL_6_4" in failure(assert_invalid, join(3), "DML-JOIN-axis")


def test_assert_invalid_means_that_rule_alone():
    wrong = dml.DML_JOIN_OPERATOR_DESC(InputTensors=[tensor(2, flags=2)], OutputTensor=tensor(2), Axis=9)
    text = failure(assert_invalid, wrong, "DML-JOIN-axis")
    assert "DML-JOIN-axis alone, but these are broken too" in text
    assert "DML-Desc-flags" in text
    assert_invalid(wrong, "DML-JOIN-axis", only=False)


def test_what_is_no_desc():
    for check in (assert_valid, feature_levels):
        with pytest.raises(TypeError):
            check("JOIN")
    with pytest.raises(TypeError, match="b must be"):
        assert_same_desc(join(3), 1.5)


def lines(a, b):
    return [line.strip() for line in failure(assert_same_desc, a, b).splitlines() if "!=" in line]


def test_the_same_wherever_it_is():
    desc = join(3, 4)
    holder = dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_JOIN, desc)
    for other in (
        join(3, 4),
        ctypes.byref(holder),
        ctypes.addressof(holder),
        ffi.cast("DML_OPERATOR_DESC *", ctypes.addressof(holder)),
        ffi.cast("DML_JOIN_OPERATOR_DESC *", ctypes.addressof(desc)),
    ):
        assert_same_desc(desc, other)
        assert lines(join(3, 5), other) == [
            "InputTensors[1].Sizes[3]: 5 != 4",
            "InputTensors[1].TotalTensorSizeInBytes: 40 != 32",
            "OutputTensor.Sizes[3]: 8 != 7",
            "OutputTensor.TotalTensorSizeInBytes: 64 != 56",
        ]


DIFFERENCES = [
    (join(3, axis=3), join(3, axis=2), ["Axis: 3 != 2"]),
    (join(3, kind=FLOAT32), dml.DML_SPLIT_OPERATOR_DESC(), None),
    (
        dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(2), tensor(2), dml.DML_SCALE_BIAS(2, 1)),
        dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(2), tensor(2), dml.DML_SCALE_BIAS(2, 0.5)),
        ["ScaleBias.Bias: 1.0 != 0.5"],
    ),
    (
        dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(2), tensor(2)),
        dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(2), tensor(2), dml.DML_SCALE_BIAS(2, 0.5)),
        ["ScaleBias: null != DML_SCALE_BIAS(Scale=2.0, Bias=0.5)"],
    ),
    (
        tensor(2, 3),
        tensor(2, 3, strides=[3, 1], flags=1, alignment=16),
        [
            "Flags: DML_TENSOR_FLAG_NONE != DML_TENSOR_FLAG_OWNED_BY_DML",
            "Strides: null != {3,1}",
            "GuaranteedBaseOffsetAlignment: 0 != 16",
        ],
    ),
    (
        tensor(6),
        tensor(2, 3, kind=INT64, total_size=48),
        [
            "DataType: FLOAT32 != INT64",
            "DimensionCount: 1 != 2",
            "Sizes: {6} != {2,3}",
            "TotalTensorSizeInBytes: 24 != 48",
        ],
    ),
    (
        dml.DML_GEMM_OPERATOR_DESC(
            tensor(2),
            tensor(2),
            None,
            tensor(2),
            FusedActivation=dml.DML_ACTIVATION_ELU_OPERATOR_DESC(Alpha=1),
        ),
        dml.DML_GEMM_OPERATOR_DESC(
            tensor(2),
            tensor(2),
            None,
            tensor(2),
            FusedActivation=dml.DML_ACTIVATION_ELU_OPERATOR_DESC(Alpha=2),
        ),
        ["FusedActivation.Alpha: 1.0 != 2.0"],
    ),
]


@pytest.mark.parametrize(("a", "b", "expected"), DIFFERENCES, ids=range(len(DIFFERENCES)))
def test_differences(a, b, expected):
    if expected is None:
        assert "b cannot be compared" in failure(assert_same_desc, a, b)
        return
    assert_same_desc(a, a)
    assert lines(a, b) == expected


def test_another_operator():
    split = dml.DML_SPLIT_OPERATOR_DESC(tensor(3), OutputTensors=[tensor(3)])
    assert lines(join(3), split) == ["Type: DML_OPERATOR_JOIN != DML_OPERATOR_SPLIT"]


def test_another_count():
    assert lines(join(3, 4), join(3, total=7)) == [
        "InputCount: 2 != 1",
        "InputTensors[1]: FLOAT32 {1,1,2,4} != absent",
    ]


def test_nan_is_the_same_and_minus_zero_is_not():
    def identity(bias):
        return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(2), tensor(2), dml.DML_SCALE_BIAS(1, bias))

    assert_same_desc(identity(float("nan")), identity(float("nan")))
    assert lines(identity(0.0), identity(-0.0)) == ["ScaleBias.Bias: 0.0 != -0.0"]


def test_what_cannot_be_read_is_not_the_same():
    wild = join(3)
    wild.OutputTensor = None
    text = failure(assert_same_desc, wild, wild)
    assert text.startswith("a cannot be compared:\n  OutputTensor is null")


def test_feature_levels_from_the_start():
    levels = feature_levels(join(3, 4))
    assert levels.valid == tuple(dml.DML_FEATURE_LEVEL)
    assert levels.stopped == {}
    assert str(levels) == "needs DML_FEATURE_LEVEL_1_0 alone"


def test_feature_levels_name_the_rule():
    levels = feature_levels(join(3, kind=INT64))
    assert levels.lowest == dml.DML_FEATURE_LEVEL_4_1
    assert len(levels.valid) + len(levels.stopped) == len(dml.DML_FEATURE_LEVEL)
    assert dml.DML_FEATURE_LEVEL_4_0 in levels.stopped
    assert str(levels) == (
        "needs DML_FEATURE_LEVEL_4_1 because of InputTensors[0].DataType, OutputTensor.DataType INT64 "
        "[DML-JOIN-data-type]"
    )


def test_feature_levels_of_a_newer_operator():
    desc = dml.DML_ARGMAX_OPERATOR_DESC(
        tensor(1, 1, 2, 3), tensor(1, 1, 2, 1, kind=dml.DML_TENSOR_DATA_TYPE_UINT32), Axes=[3]
    )
    assert str(feature_levels(desc)) == (
        "needs DML_FEATURE_LEVEL_3_0 because of Type DML_OPERATOR_ARGMAX [DML-Operator-feature-level]"
    )


def test_feature_levels_with_two_reasons():
    """Five dimensions and INT8: the table of 3_0 brings both to SPLIT, INT8 alone came with 2_1."""
    kind = dml.DML_TENSOR_DATA_TYPE_INT8
    x = tensor(1, 1, 1, 2, 2, kind=kind)
    levels = feature_levels(dml.DML_SPLIT_OPERATOR_DESC(x, OutputTensors=[x]))
    assert levels.lowest == dml.DML_FEATURE_LEVEL_3_0
    assert str(levels) == (
        "needs DML_FEATURE_LEVEL_3_0 because of InputTensor.DimensionCount, OutputTensors[0].DimensionCount 5 "
        "[DML-SPLIT-dimension-count]"
    )
    rules = {found.rule for found in levels.stopped[dml.DML_FEATURE_LEVEL_1_0]}
    assert rules == {"DML-SPLIT-dimension-count", "DML-SPLIT-data-type"}


def test_feature_levels_of_what_is_valid_nowhere():
    levels = feature_levels(join(3, axis=4))
    assert levels.lowest is None
    assert str(levels) == "is valid at no feature level because of Axis 4 [DML-JOIN-axis]"


@pytest.mark.parametrize("text", ["4_1", "4.1", "DML_FEATURE_LEVEL_4_1", 0x4100, dml.DML_FEATURE_LEVEL_4_1])
def test_levels_as_people_write_them(text):
    assert parse_level(text) is dml.DML_FEATURE_LEVEL_4_1


@pytest.mark.parametrize("text", ["4_2", "latest", "", 7, None, 4.1, "4_1 "])
def test_wrong_levels(text):
    with pytest.raises(ValueError, match=r"is not a DirectML feature level; there are 1_0, 2_0"):
        parse_level(text)


def test_expect_without_a_plugin():
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice())
    with expect("DML-JOIN-axis", path="Axis") as found:
        device.CreateOperator(join(3, axis=4))
    assert [item.rule for item in found.diagnostics] == ["DML-JOIN-axis"]
    with (
        pytest.raises(AssertionError, match="expected DML-JOIN-axis, but nothing was broken"),
        expect("DML-JOIN-axis"),
    ):
        device.CreateOperator(join(3))
    with (
        pytest.raises(AssertionError, match=r"but got:\n  OutputTensor.Sizes is {1,1,2,9}"),
        expect("DML-JOIN-axis"),
    ):
        device.CreateOperator(join(3, total=9))
    with pytest.raises(KeyError), expect("DML-JOIN-axis"):
        raise KeyError
    with pytest.raises(TypeError, match="device must be"):
        expect("DML-JOIN-axis", device=3)
