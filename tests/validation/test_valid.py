"""Descs near the limits of the rules common to all operators violate none of them."""

from __future__ import annotations

import pytest

import directml_py as dml

from .helpers import (
    LATEST,
    MOST,
    cast,
    fill,
    gemm,
    identity,
    reduce,
    tensor,
    type_of,
)

NCHW = (1, 1, 2, 3)


def quantize(kind, **fields):
    """4-bit numbers by one scale."""
    return dml.DML_QUANTIZE_OPERATOR_DESC(
        tensor(),
        dml.DML_QUANTIZATION_TYPE_SCALE,
        QuantizationTensors=[tensor((1, 1))],
        OutputTensor=tensor(kind=kind, **fields),
    )


# Valid, near a rule's limit, and the lowest feature level at which it is.
VALID = [
    (identity(), LATEST),
    (identity(tensor((1, 1, 2, 3))), dml.DML_FEATURE_LEVEL_1_0),
    (identity(tensor((1, 1, 1, 2, 3))), dml.DML_FEATURE_LEVEL_1_0),
    (identity(tensor([1] * 8)), dml.DML_FEATURE_LEVEL_3_0),
    (identity(tensor((1,), "UINT8")), dml.DML_FEATURE_LEVEL_3_0),
    (reduce(), dml.DML_FEATURE_LEVEL_3_0),
    (cast(tensor(NCHW, "UINT64"), tensor(NCHW, "INT64")), dml.DML_FEATURE_LEVEL_3_0),
    (cast(tensor(kind="UINT64"), tensor(kind="INT64")), dml.DML_FEATURE_LEVEL_3_1),
    (cast(tensor(kind="FLOAT64")), dml.DML_FEATURE_LEVEL_4_1),
    (quantize("UINT4"), dml.DML_FEATURE_LEVEL_6_3),
    (quantize("INT4", alignment=16), dml.DML_FEATURE_LEVEL_6_3),
    # The largest tensors.
    (cast(sizes=(MOST,)), LATEST),
    (cast(tensor((65536, 65535)), tensor((65536, 65535))), LATEST),
    (cast(tensor((2, 2), strides=[MOST - 2, 1]), sizes=(2, 2)), LATEST),
    (cast(tensor((1, 1), strides=[MOST, MOST]), sizes=(1, 1)), LATEST),
    # Inputs may overlap themselves, outputs may be padded, transposed or interleaved.
    (cast(tensor(strides=[0, 0])), LATEST),
    (cast(tensor(strides=[1, 1])), LATEST),
    (cast(None, tensor(strides=[8, 2])), LATEST),
    (cast(None, tensor(strides=[1, 2])), LATEST),
    (cast(None, tensor(strides=[3, 2])), LATEST),
    (cast(None, tensor((1, 3), strides=[0, 1]), sizes=(1, 3)), LATEST),
    # Totals, flags, alignments.
    (cast(tensor(total_size=28), tensor(total_size=(1 << 34) - 4)), LATEST),
    (cast(tensor((5,), "UINT8", total_size=8), sizes=(5,)), LATEST),
    (cast(tensor(flags=1)), LATEST),
    (cast(tensor(alignment=16), tensor(alignment=256)), LATEST),
    (cast(tensor(kind="UINT8", alignment=16), tensor(kind="FLOAT16", alignment=32)), LATEST),
    (cast(tensor(alignment=1 << 31)), LATEST),
    # Fused activations.
    (gemm(), LATEST),
    (
        gemm(CTensor=tensor((3, 3)), FusedActivation=dml.DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC(Alpha=0.01)),
        LATEST,
    ),
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
    (fill(type_of("INT8"), "INT8"), LATEST),
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
    unlisted = {"ACTIVATION_SWISH", "ACTIVATION_HARD_SWISH"}
    found, said = set(), set()
    for op in list(dml.DML_OPERATOR_TYPE)[1:]:
        name = op.name.removeprefix("DML_OPERATOR_")
        nested = getattr(dml, f"DML_{name}_OPERATOR_DESC")()
        desc = getattr(dml, f"DML_{host}_OPERATOR_DESC")(FusedActivation=nested)
        rules = {item.rule for item in dml.validate(desc, strict=True)}
        if "DML-FusedActivation-type" not in rules:
            found.add(name)
        if "DML-FusedActivation-unlisted" in rules:
            said.add(name)
    assert found == allowed | unlisted
    assert said == unlisted


@pytest.mark.parametrize(("level", "rules"), [(0x6100, []), (0x6000, ["DML-FusedActivation-feature-level"])])
@pytest.mark.parametrize("name", ["ACTIVATION_SOFTMAX", "ACTIVATION_SOFTMAX1"])
def test_softmax_can_be_fused_into_gemm_from_level_6_1_on(name, level, rules):
    """The history of feature levels has it under DML_FEATURE_LEVEL_6_1."""
    plain = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 2, 2])
    axes = {"Axes": [3]} if name.endswith("1") else {}
    activation = getattr(dml, f"DML_{name}_OPERATOR_DESC")(**axes)
    desc = dml.DML_GEMM_OPERATOR_DESC(
        ATensor=plain, BTensor=plain, OutputTensor=plain, Alpha=1.0, FusedActivation=activation
    )
    found = dml.validate(desc, feature_level=dml.DML_FEATURE_LEVEL(level))
    assert [one.rule for one in found] == rules
