"""All violations are reported at once, in readable messages."""

from __future__ import annotations

import pytest

import directml_py as dml
from directml_py.validation import RULES, Report, Severity, failure, rule

from .helpers import LATEST, WILD, cast, identity, join, tensor


@pytest.mark.parametrize(
    ("sizes", "strides", "text"),
    [
        ((65536, 65536), None, "is {65536,65536}, which makes 4294967296 elements"),
        ((65536, 65536), [0, 0], "is {65536,65536}, which makes 4294967296 elements"),
        (
            (2, 2),
            [2**32 - 1, 1],
            "is {2,2} with strides {4294967295,1}, which reach over 4294967297 elements",
        ),
    ],
)
def test_too_many_elements(sizes, strides, text):
    """Strides are mentioned if they are what exceeds the limit."""
    found = dml.validate(identity(tensor(sizes, strides=strides, total_size=4)))
    (message,) = [
        one.message
        for one in found
        if (one.rule, one.path) == ("DML-BufferTensor-element-limit", "InputTensor.Sizes")
    ]
    assert message == f"InputTensor.Sizes {text}; the limit is 4294967295"


@pytest.mark.parametrize("reported", [False, True])
def test_what_nobody_has_told_yet_is_told_to_c_programs(reported):
    """C callers cannot see exceptions; void methods have already reported theirs."""
    assert failure("what", []).reported is False
    assert failure("what", [], reported=reported).reported is reported


class TestAllAtOnce:
    def test_of_every_layer(self):
        """A wild pointer, an enumerator, broken tensors and the support table, in one call."""
        desc = dml.DML_CONVOLUTION_OPERATOR_DESC(
            InputTensor=tensor((1, 0, 4, 0), total_size=7),
            FilterTensor=tensor(kind=77, alignment=3),
            BiasTensor=WILD,
            OutputTensor=tensor((1, 2), strides=[0, 0], flags=1, total_size=2),
            Mode=5,
            FusedActivation=dml.DML_ACTIVATION_RELU_OPERATOR_DESC(InputTensor=tensor()),
        )
        assert [(found.rule, found.path) for found in dml.validate(desc)] == [
            ("DML-Desc-unreadable", "BiasTensor"),
            ("DML-Desc-enum", "Mode"),
            ("DML-FusedActivation-tensors", "FusedActivation.InputTensor"),
            ("DML-BufferTensor-size-zero", "InputTensor.Sizes[1]"),
            ("DML-BufferTensor-size-zero", "InputTensor.Sizes[3]"),
            ("DML-BufferTensor-data-type", "FilterTensor.DataType"),
            ("DML-BufferTensor-alignment", "FilterTensor.GuaranteedBaseOffsetAlignment"),
            ("DML-TensorFlags-owned-output", "OutputTensor.Flags"),
            ("DML-BufferTensor-total-size", "OutputTensor.TotalTensorSizeInBytes"),
            ("DML-BufferTensor-output-strides", "OutputTensor.Strides"),
            ("DML-CONVOLUTION-dimension-count", "FilterTensor.DimensionCount"),
            ("DML-CONVOLUTION-dimension-count", "OutputTensor.DimensionCount"),
        ]

    def test_an_operator_of_a_higher_level_is_checked_too(self):
        desc = dml.DML_ARGMAX_OPERATOR_DESC(
            tensor((2, 3)), tensor((2, 3), "UINT32", total_size=8), 9, Axes=[1]
        )
        found = dml.validate(desc, feature_level=dml.DML_FEATURE_LEVEL_1_0)
        assert {(item.rule, item.path) for item in found} >= {
            ("DML-Operator-feature-level", "Type"),
            ("DML-BufferTensor-total-size", "OutputTensor.TotalTensorSizeInBytes"),
        }
        assert len(found) > 2

    @pytest.mark.parametrize("name", ["DEPTH_TO_SPACE1", "SPACE_TO_DEPTH1"])
    def test_an_operator_of_a_higher_level_has_its_own_dimension_counts(self, name):
        """Found by fuzzing: shape inference was called for tensors that the operator never takes."""
        five = tensor((1, 4, 2, 2, 1))
        desc = getattr(dml, f"DML_{name}_OPERATOR_DESC")(
            five, five, BlockSize=1, Order=dml.DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW
        )
        assert [(item.rule, item.path) for item in dml.validate(desc, feature_level=0x2000)] == [
            ("DML-Operator-feature-level", "Type"),
            (f"DML-{name}-dimension-count", "InputTensor.DimensionCount"),
            (f"DML-{name}-dimension-count", "OutputTensor.DimensionCount"),
        ]

    @pytest.mark.parametrize(
        ("count", "level", "supported"), [(5, 0x1000, "4"), (3, 0x2100, "4"), (9, 0x3000, "")]
    )
    def test_dimension_counts_that_are_supported(self, count, level, supported):
        """A single value is not shown as a range."""
        same = tensor([1] * count)
        desc = dml.DML_VALUE_SCALE_2D_OPERATOR_DESC(same, same, 1.0, 1, [0.0])
        messages = [
            item.message
            for item in dml.validate(desc, feature_level=level)
            if item.rule == "DML-VALUE_SCALE_2D-dimension-count" and "InputTensor" in item.path
        ]
        name = f"DML_FEATURE_LEVEL_{level >> 12}_{level >> 8 & 15}"
        text = f"InputTensor.DimensionCount is {count}; DML_OPERATOR_VALUE_SCALE_2D supports {supported} at {name}"
        assert messages == ([text] if supported else [])

    def test_every_element_of_an_array(self):
        inputs = [tensor((1, 3), total_size=8), tensor((1, 3)), tensor((1, 3), total_size=4)]
        found = dml.validate(join(inputs, tensor((3, 3))))
        assert [item.path for item in found] == [
            "InputTensors[0].TotalTensorSizeInBytes",
            "InputTensors[2].TotalTensorSizeInBytes",
        ]

    def test_the_operators_own_rules_too(self):
        found = dml.validate(join([tensor((1, 3), total_size=8)], tensor((5, 3))))
        assert [item.rule for item in found] == ["DML-BufferTensor-total-size", "DML-JOIN-sizes"]

    def test_an_exception_tells_all(self):
        device = dml.DMLCreateDevice(dml.D3D12CreateDevice())
        desc = join([tensor((1, 3), total_size=8)], tensor((5, 3)))
        with pytest.raises(dml.DMLError) as caught:
            device.CreateOperator(desc)
        assert caught.value.hresult == dml.E_INVALIDARG
        assert caught.value.diagnostics == dml.validate(desc)
        for item in caught.value.diagnostics:
            assert item.message in str(caught.value)
            assert f"[{item.rule}]" in str(caught.value)


class TestMessages:
    def test_what_a_person_reads(self):
        def messages(desc, level=LATEST):
            return [found.message for found in dml.validate(desc, feature_level=level)]

        sizes = (1, 1, 2, 3)
        new = cast(tensor(sizes, "FLOAT64"), sizes=sizes)
        assert messages(new, dml.DML_FEATURE_LEVEL_2_1) == [
            "InputTensor.DataType is FLOAT64, which needs DML_FEATURE_LEVEL_3_0; this is DML_FEATURE_LEVEL_2_1"
        ]
        assert messages(new, dml.DML_FEATURE_LEVEL_3_0) == [
            "InputTensor.DataType is FLOAT64; DML_OPERATOR_CAST supports FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, "
            "UINT64, UINT32, UINT16, UINT8 at DML_FEATURE_LEVEL_3_0 (FLOAT64 needs DML_FEATURE_LEVEL_4_1)"
        ]
        assert messages(cast(tensor(kind=0))) == [
            "InputTensor.DataType is DML_TENSOR_DATA_TYPE_UNKNOWN, which is not a data type of an element"
        ]
        assert messages(cast(tensor(total_size=20))) == [
            "InputTensor.TotalTensorSizeInBytes is 20, less than sizes, strides and data type imply; "
            "DMLCalcBufferTensorSize gives 24"
        ]
        assert messages(cast(None, tensor(strides=[0, 1]))) == [
            "OutputTensor.Strides is {0,1} for sizes {2,3}, so that elements share addresses; "
            "an output may not overlap itself"
        ]
        assert messages(dml.DML_OPERATOR_DESC(0, cast())) == [
            "Type is DML_OPERATOR_INVALID, which is not the DML_OPERATOR_TYPE of an operator"
        ]
        assert messages(cast(dml.DML_TENSOR_DESC(0, None))) == [
            "InputTensor.Type is DML_TENSOR_TYPE_INVALID; the only tensor type is DML_TENSOR_TYPE_BUFFER"
        ]

    def test_a_later_level_is_hinted(self):
        (found, _) = dml.validate(
            identity(tensor((1, 1, 2, 3), "INT32")), feature_level=dml.DML_FEATURE_LEVEL_1_0
        )
        assert "supports FLOAT32, FLOAT16 at DML_FEATURE_LEVEL_1_0" in found.message
        assert "(INT32 needs DML_FEATURE_LEVEL_2_1)" in found.message


class TestReport:
    def test_warnings_do_not_fail(self):
        report = Report()
        warning = rule("DML-Test-warning", "Something that is only reported", "test", Severity.WARNING)
        try:
            report.add(warning, "Here", "is odd")
            assert report.errors == []
            report.raise_errors("Nothing")
            report.add(RULES["DML-Desc-null"], "There", "is null")
            with pytest.raises(dml.DMLError) as caught:
                report.raise_errors("It failed:")
            assert [found.rule for found in caught.value.diagnostics] == ["DML-Test-warning", "DML-Desc-null"]
        finally:
            del RULES["DML-Test-warning"]

    def test_identifiers_are_unique(self):
        with pytest.raises(ValueError, match="DML-Desc-null exists already"):
            rule("DML-Desc-null", "Something else", "test")

    def test_the_exception(self):
        error = failure("It failed:", [], dml.E_NOTIMPL)
        assert error.hresult == dml.E_NOTIMPL
        assert isinstance(error, OSError)


class TestArraysOfWhateverLiesInMemory:
    """A wrong count gives an array of thousands of elements, all of them invalid."""

    @pytest.mark.parametrize(
        ("axis", "rule", "said", "wrong"),
        [
            (0, "DML-REDUCE-axes-unique", "is 0, like Axes[0]; ", 19_999),
            (7, "DML-REDUCE-axes", "it must be less than InputTensor.DimensionCount, which is 2; ", 20_000),
        ],
    )
    def test_the_first_are_told_and_the_others_counted(self, axis, rule, said, wrong):
        desc = dml.DML_REDUCE_OPERATOR_DESC(
            dml.DML_REDUCE_FUNCTION_SUM, tensor((2, 3)), tensor((1, 3)), Axes=[axis] * 20_000
        )
        found = [item for item in dml.validate(desc, strict=True) if item.rule == rule]
        assert len(found) == 64
        assert said in found[-1].message
        assert found[-1].message.endswith(f"; {wrong - 64} more elements are wrong too")
        assert all("more elements" not in item.message for item in found[:-1])

    def test_as_many_as_are_told_are_not_counted(self):
        desc = dml.DML_REDUCE_OPERATOR_DESC(
            dml.DML_REDUCE_FUNCTION_SUM, tensor((2, 3)), tensor((1, 3)), Axes=[9] * 64
        )
        found = [item for item in dml.validate(desc) if item.rule == "DML-REDUCE-axes"]
        assert len(found) == 64
        assert "more elements" not in found[-1].message


@pytest.mark.parametrize(
    ("desc", "message"),
    [
        (
            dml.DML_SPACE_TO_DEPTH_OPERATOR_DESC(tensor((1, 1, 7, 4)), tensor((1, 4, 3, 2)), 2),
            "InputTensor.Sizes[2] is 7, but InputTensor.Sizes[2] % BlockSize, which is 7 % 2 = 1, must be 0",
        ),
        (
            dml.DML_ONE_HOT_OPERATOR_DESC(
                tensor((1, 1, 2, 1), kind=dml.DML_TENSOR_DATA_TYPE_UINT32),
                tensor((1, 1, 1, 1)),
                tensor((1, 1, 2, 3)),
                Axis=3,
            ),
            "ValuesTensor.Sizes is {1,1,1,1}, but prod(ValuesTensor.Sizes), which is 1, must be at least 2",
        ),
        (
            dml.DML_CONVOLUTION_OPERATOR_DESC(
                InputTensor=tensor((1, 512, 8, 8)),
                FilterTensor=tensor((512, 256, 1, 1)),
                OutputTensor=tensor((1, 512, 8, 8)),
                Mode=dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
                DimensionCount=2,
                Strides=[1, 1],
                Dilations=[1, 1],
                StartPadding=[0, 0],
                EndPadding=[0, 0],
                OutputPadding=[0, 0],
                GroupCount=1,
            ),
            "FilterTensor.Sizes[1] is 256, but FilterTensor.Sizes[1] * GroupCount, which is 256 * 1 = 256, must be "
            "InputTensor.Sizes[1], which is 512 where GroupCount is at least 1 and Direction is FORWARD",
        ),
    ],
)
def test_both_sides_of_a_comparison_have_their_values(desc, message):
    assert [found.message for found in dml.validate(desc)] == [message]
