"""Bugs in descs, which CreateOperator refuses."""

from __future__ import annotations

from typing import Any

import directml_py as dml

from ..dml.helpers import OWNED, tensor
from .bug import bug

FLOAT16, FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT16, dml.DML_TENSOR_DATA_TYPE_FLOAT32
UINT32, UINT8 = dml.DML_TENSOR_DATA_TYPE_UINT32, dml.DML_TENSOR_DATA_TYPE_UINT8


def convolution(**changes: Any) -> Any:
    """3 x 3 over eight channels of 6 by 6, with as much padding as keeps the sizes."""
    fields = {
        "InputTensor": tensor(1, 8, 6, 6),
        "FilterTensor": tensor(4, 8, 3, 3),
        "BiasTensor": tensor(1, 4, 1, 1),
        "OutputTensor": tensor(1, 4, 6, 6),
        "Mode": dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        "Direction": dml.DML_CONVOLUTION_DIRECTION_FORWARD,
        "DimensionCount": 2,
        "Strides": [1, 1],
        "Dilations": [1, 1],
        "StartPadding": [1, 1],
        "EndPadding": [1, 1],
        "OutputPadding": [0, 0],
        "GroupCount": 1,
    }
    return dml.DML_CONVOLUTION_OPERATOR_DESC(**{**fields, **changes})


def identity(x: Any, y: Any = None) -> Any:
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, x if y is None else y)


@bug(
    "strides in bytes, not in elements",
    "DML-BufferTensor-total-size",
    repair="the size that the strides need",
)
def strides_in_bytes(bench, wrong):
    unit = 4 if wrong else 1
    size = dml.DMLCalcBufferTensorSize(FLOAT32, 4, [1, 1, 2, 4], None)
    x = tensor(1, 1, 2, 4, strides=[8 * unit, 8 * unit, 4 * unit, unit], total_size=size)
    return identity(x, tensor(1, 1, 2, 4))


@bug(
    "`TotalTensorSizeInBytes` computed without the row padding",
    "DML-BufferTensor-total-size",
    repair="the right size",
)
def total_size_without_strides(bench, wrong):
    strides = [16, 16, 8, 1]
    size = dml.DMLCalcBufferTensorSize(FLOAT32, 4, [1, 1, 2, 4], None if wrong else strides)
    return identity(tensor(1, 1, 2, 4, strides=strides, total_size=size), tensor(1, 1, 2, 4))


@bug("a broadcast output: stride 0 along an axis that is written", "DML-BufferTensor-output-strides")
def an_output_with_stride_zero(bench, wrong):
    return identity(tensor(1, 1, 2, 4), tensor(1, 1, 2, 4, strides=[8, 8, 0 if wrong else 4, 1]))


@bug("an axis counted from the end, -1 in a UINT", "DML-GATHER-axis", repair="the limit")
def a_negative_axis(bench, wrong):
    return dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=tensor(1, 1, 3, 2),
        IndicesTensor=dml.tensor_desc(UINT32, [1, 1, 1, 4]),
        OutputTensor=tensor(1, 1, 4, 2),
        Axis=2**32 - 1 if wrong else 2,
        IndexDimensions=1,
    )


@bug(
    "joined along an axis other than the one that the output grows along",
    "DML-JOIN-sizes",
    repair="the sizes for that axis",
)
def the_wrong_axis(bench, wrong):
    parts = [tensor(1, 2, 2, 3), tensor(1, 2, 2, 3)]
    return dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=parts, OutputTensor=tensor(1, 2, 2, 6), Axis=2 if wrong else 3
    )


@bug(
    "sizes that NumPy would broadcast, instead of strides of 0",
    "DML-ELEMENT_WISE_ADD1-same-sizes",
    repair="the sizes",
)
def broadcasting_by_sizes(bench, wrong):
    row = tensor(1, 1, 1, 4) if wrong else tensor(1, 1, 3, 4, strides=[0, 0, 0, 1])
    return dml.DML_ELEMENT_WISE_ADD1_OPERATOR_DESC(tensor(1, 1, 3, 4), row, tensor(1, 1, 3, 4))


@bug(
    "half of an even window as padding on both sides",
    "DML-CONVOLUTION-page-sizes",
    repair="the output's sizes",
)
def padding_of_an_even_window(bench, wrong):
    return convolution(
        FilterTensor=tensor(4, 8, 4, 4),
        StartPadding=[2, 2],
        EndPadding=[2 if wrong else 1, 2 if wrong else 1],
    )


@bug("a bias along the last axis", "DML-CONVOLUTION-sizes", repair="the sizes of the bias")
def a_bias_of_columns(bench, wrong):
    return convolution(BiasTensor=tensor(1, 1, 1, 4) if wrong else tensor(1, 4, 1, 1))


@bug(
    "a depthwise filter that spans all channels",
    "DML-CONVOLUTION-filter-channels",
    repair="the channels",
)
def a_filter_of_all_groups(bench, wrong):
    return convolution(
        FilterTensor=tensor(8, 8 if wrong else 1, 3, 3),
        BiasTensor=None,
        OutputTensor=tensor(1, 8, 6, 6),
        GroupCount=8,
    )


@bug(
    "strides for all four dimensions, not for the spatial two",
    "DML-CONVOLUTION-dimensions",
    repair="the count",
)
def attributes_of_every_dimension(bench, wrong):
    count = 4 if wrong else 2
    ones, zeros = [1] * count, [0] * count
    return convolution(
        DimensionCount=count,
        Strides=ones,
        Dilations=ones,
        StartPadding=ones,
        EndPadding=ones,
        OutputPadding=zeros,
    )


@bug(
    "weights stored transposed, TransB left at NONE",
    "DML-GEMM-sizes",
    "DML-GEMM-sizes",
    repair="the sizes that fit",
)
def a_forgotten_transposition(bench, wrong):
    flip = dml.DML_MATRIX_TRANSFORM_NONE if wrong else dml.DML_MATRIX_TRANSFORM_TRANSPOSE
    return dml.DML_GEMM_OPERATOR_DESC(
        ATensor=tensor(1, 1, 2, 5),
        BTensor=tensor(1, 1, 3, 5),
        OutputTensor=tensor(1, 1, 2, 3),
        TransA=dml.DML_MATRIX_TRANSFORM_NONE,
        TransB=flip,
        Alpha=1.0,
        Beta=0.0,
    )


@bug(
    "an output without the reduced axis",
    "DML-REDUCE-same-dimension-count",
    repair="the count",
)
def a_reduction_without_its_axis(bench, wrong):
    output = dml.tensor_desc(FLOAT32, [1, 1, 2]) if wrong else tensor(1, 1, 2, 1)
    return dml.DML_REDUCE_OPERATOR_DESC(dml.DML_REDUCE_FUNCTION_SUM, tensor(1, 1, 2, 3), output, Axes=[3])


@bug("indices as floats, as a model file stores them", "DML-GATHER-data-type", repair="the types")
def indices_of_floats(bench, wrong):
    return dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=tensor(1, 1, 3, 2),
        IndicesTensor=dml.tensor_desc(FLOAT32 if wrong else UINT32, [1, 1, 1, 4]),
        OutputTensor=tensor(1, 1, 4, 2),
        Axis=2,
        IndexDimensions=1,
    )


@bug("FLOAT16 for one operand only", "DML-ELEMENT_WISE_ADD1-same-data-type", repair="the type")
def mixed_precision(bench, wrong):
    half = dml.tensor_desc(FLOAT16, [1, 1, 1, 4])
    full = dml.tensor_desc(FLOAT32, [1, 1, 1, 4])
    return dml.DML_ELEMENT_WISE_ADD1_OPERATOR_DESC(half, full if wrong else half, half)


@bug("a slice that ends one element past the tensor", "DML-SLICE-bounds", repair="the size")
def a_slice_out_of_bounds(bench, wrong):
    return dml.DML_SLICE_OPERATOR_DESC(
        InputTensor=tensor(1, 1, 1, 8),
        OutputTensor=tensor(1, 1, 1, 4),
        Offsets=[0, 0, 0, 5 if wrong else 4],
        Sizes=[1, 1, 1, 4],
        Strides=[1, 1, 1, 1],
    )


@bug("K larger than the axis", "DML-TOP_K-k", repair="the limit")
def more_than_there_are(bench, wrong):
    count = 6 if wrong else 5
    return dml.DML_TOP_K_OPERATOR_DESC(
        InputTensor=tensor(1, 1, 1, 5),
        OutputValueTensor=tensor(1, 1, 1, count),
        OutputIndexTensor=dml.tensor_desc(UINT32, [1, 1, 1, count]),
        Axis=3,
        K=count,
    )


@bug("OWNED_BY_DML weights, and an output with the same flags", "DML-TensorFlags-owned-output")
def an_output_that_dml_owns(bench, wrong):
    weights = tensor(1, 1, 1, 4, flags=OWNED)
    return dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[weights], OutputTensor=weights if wrong else tensor(1, 1, 1, 4), Axis=3
    )


@bug("a softmax fused into a convolution", "DML-FusedActivation-type")
def a_fused_softmax(bench, wrong):
    kind = dml.DML_ACTIVATION_SOFTMAX_OPERATOR_DESC if wrong else dml.DML_ACTIVATION_RELU_OPERATOR_DESC
    return convolution(FusedActivation=kind())


@bug(
    "a tensor of five dimensions on a device of 2019",
    *["DML-JOIN-dimension-count"] * 2,
    repair="what the level supports",
)
def an_old_device(bench, wrong):
    x = dml.tensor_desc(FLOAT32, [1, 1, 1, 2, 3]) if wrong else tensor(1, 1, 2, 3)
    device = dml.DMLCreateDevice(bench.d3d12, feature_level=dml.DML_FEATURE_LEVEL_1_0)
    device.CreateOperator(dml.DML_JOIN_OPERATOR_DESC(InputTensors=[x], OutputTensor=x, Axis=3))
