"""Every rule of ``directml_py/validation``, broken alone, comes back with its identifier and path."""

from __future__ import annotations

import re

import pytest

import directml_py as dml
from directml_py.descs import decode_struct
from directml_py.validation import RULES, Report, Severity
from directml_py.validation.memory import check_faults

from .helpers import (
    LATEST,
    MOST,
    WILD,
    cast,
    fill,
    fused,
    gemm,
    identity,
    join,
    reduce,
    tensor,
    type_of,
    with_buffer,
)

GENERAL = ("DML-Desc-", "DML-BufferTensor-", "DML-TensorFlags-", "DML-FusedActivation-", "DML-Operator-")


# rule, path, desc, the lowest feature level on which the desc breaks nothing else (or the highest on which it does)
BROKEN = [
    ("DML-Desc-null", "InputTensor", dml.DML_CAST_OPERATOR_DESC(None, tensor()), LATEST),
    ("DML-Desc-null", "OutputTensor", dml.DML_CAST_OPERATOR_DESC(tensor(), None), LATEST),
    ("DML-Desc-null", "Axes", reduce(AxisCount=1, Axes=None), LATEST),
    ("DML-Desc-null", "InputTensor.Desc", cast(dml.DML_TENSOR_DESC(1, None)), LATEST),
    ("DML-Desc-null", "OutputTensor.Sizes", cast(None, with_buffer(Sizes=None)), LATEST),
    ("DML-Desc-null", "Desc", dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_JOIN, None), LATEST),
    ("DML-Desc-null", "desc", None, LATEST),
    ("DML-Desc-null", "desc", 0, LATEST),
    ("DML-Desc-unreadable", "desc", WILD, LATEST),
    ("DML-Desc-unreadable", "InputTensor", dml.DML_CAST_OPERATOR_DESC(WILD, tensor()), LATEST),
    ("DML-Desc-unreadable", "InputTensor.Strides", cast(with_buffer(Strides=WILD)), LATEST),
    ("DML-Desc-unreadable", "FusedActivation", gemm(FusedActivation=WILD), LATEST),
    ("DML-Desc-type", "Type", dml.DML_OPERATOR_DESC(9999, cast()), LATEST),
    ("DML-Desc-type", "Type", dml.DML_OPERATOR_DESC(0, cast()), LATEST),
    ("DML-Desc-type", "InputTensor.Type", cast(dml.DML_TENSOR_DESC(0, None)), LATEST),
    ("DML-Desc-count", "InputTensors", join(tensor(), tensor()), LATEST),
    ("DML-Desc-count", "InputTensor.DimensionCount", cast(with_buffer(DimensionCount=MOST)), LATEST),
    ("DML-Desc-enum", "Function", reduce(Function=12), LATEST),
    ("DML-Desc-enum", "Function", reduce(Function=-1), LATEST),
    ("DML-Desc-enum", "TransA", gemm(TransA=2), LATEST),
    ("DML-Desc-enum", "ValueDataType", fill(99), LATEST),
    ("DML-Desc-enum", "ValueDataType", fill(0), LATEST),
    ("DML-Desc-flags", "InputTensor.Flags", cast(tensor(flags=2)), LATEST),
    ("DML-Desc-flags", "InputTensor.Flags", cast(tensor(flags=0x80000001)), LATEST),
    ("DML-Desc-flags", "OutputTensor.Flags", cast(None, tensor(flags=4)), LATEST),
    ("DML-FusedActivation-tensors", "FusedActivation.InputTensor", fused(InputTensor=tensor()), LATEST),
    ("DML-FusedActivation-tensors", "FusedActivation.OutputTensor", fused(OutputTensor=tensor()), LATEST),
    (
        "DML-FusedActivation-type",
        "FusedActivation",
        gemm(FusedActivation=dml.DML_ACTIVATION_HARDMAX_OPERATOR_DESC()),
        LATEST,
    ),
    (
        "DML-FusedActivation-feature-level",
        "FusedActivation",
        gemm(FusedActivation=dml.DML_ACTIVATION_GELU_OPERATOR_DESC()),
        dml.DML_FEATURE_LEVEL_5_0,
    ),
    (
        "DML-FusedActivation-feature-level",
        "FusedActivation",
        gemm(FusedActivation=dml.DML_ELEMENT_WISE_CLIP_OPERATOR_DESC()),
        dml.DML_FEATURE_LEVEL_5_2,
    ),
    ("DML-BufferTensor-data-type", "InputTensor.DataType", cast(tensor(kind=0)), LATEST),
    ("DML-BufferTensor-data-type", "OutputTensor.DataType", cast(None, tensor(kind=14)), LATEST),
    ("DML-BufferTensor-data-type", "InputTensor.DataType", cast(tensor(kind="FLOAT64")), 0x2100),
    ("DML-BufferTensor-data-type", "InputTensor.DataType", cast(tensor(kind="UINT64")), 0x2100),
    ("DML-BufferTensor-data-type", "OutputTensor.DataType", cast(None, tensor(kind="INT64")), 0x1000),
    ("DML-BufferTensor-data-type", "InputTensor.DataType", cast(tensor(kind="UINT4")), 0x6200),
    ("DML-BufferTensor-data-type", "OutputTensor.DataType", cast(None, tensor(kind="INT4")), 0x6200),
    ("DML-BufferTensor-dimension-count", "InputTensor.DimensionCount", cast(tensor(())), LATEST),
    ("DML-BufferTensor-dimension-count", "InputTensor.DimensionCount", cast(tensor([1] * 9)), LATEST),
    ("DML-BufferTensor-dimension-count", "OutputTensor.DimensionCount", cast(None, tensor([1] * 64)), LATEST),
    ("DML-BufferTensor-size-zero", "InputTensor.Sizes[1]", cast(tensor((2, 0, 3))), LATEST),
    ("DML-BufferTensor-size-zero", "OutputTensor.Sizes[0]", cast(None, tensor((0,), strides=[1])), LATEST),
    ("DML-BufferTensor-element-limit", "InputTensor.Sizes", cast(tensor((65536, 65536))), LATEST),
    ("DML-BufferTensor-element-limit", "InputTensor.Sizes", cast(tensor((2, 2), strides=[MOST, 1])), LATEST),
    ("DML-BufferTensor-element-limit", "InputTensor.Sizes", cast(tensor((MOST, 2), strides=[0, 0])), LATEST),
    ("DML-BufferTensor-element-limit", "OutputTensor.Sizes", cast(None, tensor((65536, 65537))), LATEST),
    (
        "DML-BufferTensor-total-size",
        "InputTensor.TotalTensorSizeInBytes",
        cast(tensor(total_size=20)),
        LATEST,
    ),
    ("DML-BufferTensor-total-size", "InputTensor.TotalTensorSizeInBytes", cast(tensor(total_size=0)), LATEST),
    (
        "DML-BufferTensor-total-size",
        "OutputTensor.TotalTensorSizeInBytes",
        cast(None, tensor(strides=[8, 1], total_size=40)),
        LATEST,
    ),
    # 5 bytes of elements, but the total is rounded up to 8.
    (
        "DML-BufferTensor-total-size",
        "InputTensor.TotalTensorSizeInBytes",
        cast(tensor((5,), "UINT8", total_size=5)),
        LATEST,
    ),
    (
        "DML-BufferTensor-total-size-multiple",
        "InputTensor.TotalTensorSizeInBytes",
        cast(tensor(total_size=26)),
        LATEST,
    ),
    (
        "DML-BufferTensor-alignment",
        "InputTensor.GuaranteedBaseOffsetAlignment",
        cast(tensor(alignment=12)),
        LATEST,
    ),
    (
        "DML-BufferTensor-alignment",
        "InputTensor.GuaranteedBaseOffsetAlignment",
        cast(tensor(alignment=2)),
        LATEST,
    ),
    (
        "DML-BufferTensor-alignment",
        "OutputTensor.GuaranteedBaseOffsetAlignment",
        cast(None, tensor(kind="FLOAT64", alignment=4)),
        LATEST,
    ),
    ("DML-BufferTensor-output-overlap", "OutputTensor.Strides", cast(None, tensor(strides=[0, 1])), LATEST),
    ("DML-BufferTensor-output-overlap", "OutputTensor.Strides", cast(None, tensor(strides=[2, 1])), LATEST),
    (
        "DML-BufferTensor-output-overlap",
        "OutputTensors[1].Strides",
        dml.DML_SPLIT_OPERATOR_DESC(tensor((4, 3)), OutputTensors=[tensor(), tensor(strides=[1, 1])]),
        LATEST,
    ),
    ("DML-TensorFlags-owned-output", "OutputTensor.Flags", cast(None, tensor(flags=1)), LATEST),
    (
        "DML-Operator-feature-level",
        "Type",
        dml.DML_ARGMAX_OPERATOR_DESC(tensor(), tensor((2, 1), "UINT32"), Axes=[1]),
        dml.DML_FEATURE_LEVEL_2_1,
    ),
    (
        "DML-Operator-feature-level",
        "Type",
        dml.DML_ACTIVATION_GELU_OPERATOR_DESC(tensor(), tensor()),
        dml.DML_FEATURE_LEVEL_5_0,
    ),
    ("DML-ELEMENT_WISE_IDENTITY-data-type", "InputTensor.DataType", identity(tensor(kind="UINT4")), LATEST),
    ("DML-REDUCE-dimension-count", "InputTensor.DimensionCount", reduce(), dml.DML_FEATURE_LEVEL_2_1),
    (
        "DML-ELEMENT_WISE_IDENTITY-same-sizes",
        "OutputTensor.Sizes",
        identity(tensor((2, 3)), tensor((3, 2))),
        LATEST,
    ),
    (
        "DML-ELEMENT_WISE_IDENTITY-same-data-type",
        "OutputTensor.DataType",
        identity(tensor(), tensor(kind="INT32")),
        LATEST,
    ),
    (
        "DML-ELEMENT_WISE_IDENTITY-same-dimension-count",
        "OutputTensor.DimensionCount",
        identity(tensor((2, 3)), tensor((1, 2, 3))),
        LATEST,
    ),
]
# Some of the broken descs are broken in both tensors, for want of a desc that is not.
TWICE = {"DML-ELEMENT_WISE_IDENTITY-data-type", "DML-REDUCE-dimension-count"}
JOIN_INDEX = next(index for index, entry in enumerate(BROKEN) if entry[1] == "InputTensors")
BROKEN[JOIN_INDEX][2].InputCount = 1 << 20


@pytest.mark.parametrize(
    ("identifier", "path", "desc", "level"), BROKEN, ids=[f"{b[0]}@{b[1]}" for b in BROKEN]
)
def test_broken_alone(identifier, path, desc, level):
    found = dml.validate(desc, feature_level=level)
    assert (found[0].rule, found[0].path) == (identifier, path)
    assert len(found) == (2 if identifier in TWICE else 1), found
    assert {item.rule for item in found} == {identifier}
    for item in found:
        assert item.severity is Severity.ERROR
        assert item.message.startswith(f"{item.path} ")
        assert str(item) == f"{item.message} [{identifier}]"


def test_interfaces():
    _, faults = decode_struct(dml.DML_BUFFER_BINDING(WILD), "DML_BUFFER_BINDING")
    report = Report()
    check_faults(faults, report)
    (found,) = report.diagnostics
    assert (found.rule, found.path) == ("DML-Desc-interface", "Buffer")


def test_every_general_rule_is_broken_above():
    general = {identifier for identifier in RULES if identifier.startswith(GENERAL)}
    assert general == {entry[0] for entry in BROKEN if entry[0].startswith(GENERAL)} | {"DML-Desc-interface"}


def test_rules_are_written_out():
    for identifier, known in RULES.items():
        assert known.id == identifier
        assert re.fullmatch(r"DML(-[A-Za-z0-9_]+)?-[A-Za-z0-9_]+-[a-z0-9-]+", identifier), identifier
        assert len(known.text) > 10
        assert "\n" not in known.text
        assert known.source


# Valid, near a rule's edge; the feature level on which it just is.
VALID = [
    (identity(), LATEST),
    (identity(tensor((1, 1, 2, 3))), dml.DML_FEATURE_LEVEL_1_0),
    (identity(tensor((1, 1, 1, 2, 3))), dml.DML_FEATURE_LEVEL_1_0),
    (identity(tensor([1] * 8)), dml.DML_FEATURE_LEVEL_3_0),
    (identity(tensor((1,), "UINT8")), dml.DML_FEATURE_LEVEL_3_0),
    (reduce(), dml.DML_FEATURE_LEVEL_3_0),
    (cast(tensor(kind="FLOAT64")), dml.DML_FEATURE_LEVEL_3_0),
    (cast(tensor(kind="UINT64"), tensor(kind="INT64")), dml.DML_FEATURE_LEVEL_3_0),
    (cast(tensor(kind="UINT4"), tensor(kind="INT4")), dml.DML_FEATURE_LEVEL_6_3),
    # The largest tensors.
    (cast(tensor((MOST,))), LATEST),
    (cast(tensor((65536, 65535)), tensor((65536, 65535))), LATEST),
    (cast(tensor((2, 2), strides=[MOST - 2, 1])), LATEST),
    (cast(tensor((1, 1), strides=[MOST, MOST])), LATEST),
    # Inputs may overlap themselves, outputs may be padded, transposed or interleaved.
    (cast(tensor(strides=[0, 0])), LATEST),
    (cast(tensor(strides=[1, 1])), LATEST),
    (cast(None, tensor(strides=[8, 2])), LATEST),
    (cast(None, tensor(strides=[1, 2])), LATEST),
    (cast(None, tensor(strides=[3, 2])), LATEST),
    (cast(None, tensor((1, 3), strides=[0, 1])), LATEST),
    # Totals, flags, alignments.
    (cast(tensor(total_size=28), tensor(total_size=1 << 40)), LATEST),
    (cast(tensor((5,), "UINT8", total_size=8)), LATEST),
    (cast(tensor(flags=1)), LATEST),
    (cast(tensor(alignment=4), tensor(alignment=256)), LATEST),
    (cast(tensor(kind="UINT8", alignment=1), tensor(kind="FLOAT16", alignment=2)), LATEST),
    (cast(tensor(kind="UINT4", alignment=1)), LATEST),
    (cast(tensor(alignment=1 << 31)), LATEST),
    # Operators that do not execute.
    (gemm(), LATEST),
    (gemm(CTensor=tensor(), FusedActivation=dml.DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC(Alpha=0.01)), LATEST),
    (
        dml.DML_CONVOLUTION_OPERATOR_DESC(
            tensor((1, 1, 4, 4)),
            tensor((1, 1, 3, 3)),
            None,
            tensor((1, 1, 2, 2)),
            dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
            dml.DML_CONVOLUTION_DIRECTION_FORWARD,
            Strides=[1, 1],
            Dilations=[1, 1],
            StartPadding=[0, 0],
            EndPadding=[0, 0],
            OutputPadding=[0, 0],
            GroupCount=1,
            FusedActivation=dml.DML_ACTIVATION_RELU_OPERATOR_DESC(),
        ),
        dml.DML_FEATURE_LEVEL_1_0,
    ),
    (fill(type_of("INT8")), LATEST),
    # The example of the documents about strides: NCHW sizes in NHWC memory, and a broadcast.
    (
        cast(tensor((1, 3, 4, 5), strides=[60, 1, 15, 3]), tensor((1, 3, 4, 5), strides=[60, 1, 15, 3])),
        LATEST,
    ),
    (dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(tensor(), tensor(strides=[0, 1]), tensor()), LATEST),
]


@pytest.mark.parametrize(("desc", "level"), VALID, ids=[repr(desc)[:80] for desc, _ in VALID])
def test_valid(desc, level):
    assert dml.validate(desc, feature_level=level) == []


# The page "Using fused operators to improve performance".
FUSED_INTO = [
    "BATCH_NORMALIZATION",
    "BATCH_NORMALIZATION_TRAINING",
    "CONVOLUTION",
    "ELEMENT_WISE_ADD1",
    "GEMM",
    "MEAN_VARIANCE_NORMALIZATION",
    "MEAN_VARIANCE_NORMALIZATION1",
]
FUSABLE = [
    *("LINEAR", "SIGMOID", "HARD_SIGMOID", "TANH", "SCALED_TANH", "RELU", "LEAKY_RELU", "THRESHOLDED_RELU"),
    *(
        "ELU",
        "CELU",
        "SCALED_ELU",
        "SOFTPLUS",
        "PARAMETRIC_SOFTPLUS",
        "SOFTSIGN",
        "IDENTITY",
        "SHRINK",
        "GELU",
    ),
]


@pytest.mark.parametrize("host", FUSED_INTO)
def test_what_can_be_fused(host):
    allowed = {f"ACTIVATION_{name}" for name in FUSABLE}
    if host in ("CONVOLUTION", "GEMM"):
        allowed.add("ELEMENT_WISE_CLIP")
    if host == "GEMM":
        allowed |= {"ACTIVATION_SOFTMAX", "ACTIVATION_SOFTMAX1"}
    found = set()
    for op in list(dml.DML_OPERATOR_TYPE)[1:]:
        name = op.name.removeprefix("DML_OPERATOR_")
        nested = getattr(dml, f"DML_{name}_OPERATOR_DESC")()
        desc = getattr(dml, f"DML_{host}_OPERATOR_DESC")(FusedActivation=nested)
        if all(item.rule != "DML-FusedActivation-type" for item in dml.validate(desc)):
            found.add(name)
    assert found == allowed
