"""Descs that clients build are valid: those of ONNX Runtime, browsers, TensorFlow's plugin and DirectMLX."""

from __future__ import annotations

from typing import Any, NamedTuple

from sweeps import swept

import directml_py as dml

from .helpers import INCREASING, data_type, function, tensor

ONNX_RUNTIME, WEBNN, TENSORFLOW, DIRECTMLX = "ONNX Runtime", "WebNN", "TensorFlow", "DirectMLX"
NEWEST = dml.DML_FEATURE_LEVEL_6_4
BACKWARD, CROSS_CORRELATION = (
    dml.DML_CONVOLUTION_DIRECTION_BACKWARD,
    dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
)
LINEAR = dml.DML_INTERPOLATION_MODE_LINEAR
INFINITY = float("inf")


class Usage(NamedTuple):
    client: str
    what: str
    level: dml.DML_FEATURE_LEVEL
    desc: Any


USAGES: list[Usage] = []


def usage(client: str, what: str, level: str, operator: str, **fields: Any) -> None:
    """``level``: the oldest at which the client builds this."""
    desc = getattr(dml, f"DML_{operator}_OPERATOR_DESC")(**fields)
    USAGES.append(Usage(client, what, dml.DML_FEATURE_LEVEL[f"DML_FEATURE_LEVEL_{level}"], desc))


def floats(*sizes: int, strides: list[int] | None = None) -> Any:
    return tensor("FLOAT32", sizes, strides)


def less(count: int) -> int:
    """A padding of -``count``, as a UINT."""
    return 2**32 - count


def transposed_convolution(client, what, x, weights, output, **fields):
    count = len(x) - 2
    arrays = {
        "Strides": [1] * count,
        "Dilations": [1] * count,
        "StartPadding": [0] * count,
        "EndPadding": [0] * count,
        "OutputPadding": [0] * count,
    }
    usage(
        client,
        what,
        "2_0",
        "CONVOLUTION",
        InputTensor=floats(*x),
        FilterTensor=floats(*weights),
        BiasTensor=floats(1, output[1], *[1] * count),
        OutputTensor=floats(*output),
        Mode=CROSS_CORRELATION,
        Direction=BACKWARD,
        **{**arrays, "GroupCount": 1, **fields},
    )


x, weights = (1, 1, 4, 4), (1, 2, 3, 3)
transposed_convolution(
    ONNX_RUNTIME, "ConvTranspose with output_shape beyond the filter", x, weights, (1, 2, 31, 6)
)
transposed_convolution(
    ONNX_RUNTIME,
    "ConvTranspose with output_shape and padding that crops to it",
    x,
    weights,
    (1, 2, 9, 9),
    Strides=[3, 3],
    StartPadding=[1, 1],
    EndPadding=[2, 2],
)
transposed_convolution(
    ONNX_RUNTIME,
    "ConvTranspose with output_padding",
    x,
    weights,
    (1, 2, 10, 10),
    Strides=[2, 2],
    OutputPadding=[1, 1],
)
transposed_convolution(
    WEBNN, "convTranspose2d with outputSizes of an even number", x, weights, (1, 2, 10, 10), Strides=[2, 2]
)
transposed_convolution(
    TENSORFLOW,
    "Conv2DBackpropInput whose stride exceeds the filter",
    x,
    (1, 2, 1, 1),
    (1, 2, 12, 11),
    Strides=[3, 3],
)
transposed_convolution(
    ONNX_RUNTIME,
    "ConvTranspose in groups",
    (1, 4, 5, 5),
    (4, 3, 2, 2),
    (1, 6, 10, 10),
    Strides=[2, 2],
    GroupCount=2,
)

for name, fields in (
    ("AVERAGE_POOLING", {"IncludePadding": False}),
    ("LP_POOLING", {"P": 2}),
    ("MAX_POOLING", {}),
):
    for title, sizes, output, window, strides in (
        ("ceil_mode", (1, 2, 8, 8), (1, 2, 4, 4), [3, 3], [2, 2]),
        ("one dimension among others", (1, 3, 4, 10), (1, 3, 4, 5), [1, 2], [1, 2]),
        ("a last step of padding alone", (1, 1, 5, 5), (1, 1, 2, 2), [1, 1], [4, 4]),
    ):
        usage(
            ONNX_RUNTIME,
            f"{name} with {title}",
            "2_0",
            name,
            InputTensor=floats(*sizes),
            OutputTensor=floats(*output),
            WindowSize=window,
            Strides=strides,
            StartPadding=[0, 0],
            EndPadding=[0, 0],
            **fields,
        )
one, byte = floats(1, 1, 1, 1), tensor("UINT8", (1, 1, 1, 1))
for title, side in (("rounded down", 3), ("ceil_mode", 4)):
    usage(
        ONNX_RUNTIME,
        f"QLinearAveragePool {title}",
        "6_2",
        "QUANTIZED_LINEAR_AVERAGE_POOLING",
        InputTensor=tensor("UINT8", (1, 2, 8, 8)),
        InputScaleTensor=one,
        InputZeroPointTensor=byte,
        OutputScaleTensor=one,
        OutputZeroPointTensor=byte,
        OutputTensor=tensor("UINT8", (1, 2, side, side)),
        WindowSize=[3, 3],
        Strides=[2, 2],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
        Dilations=[1, 1],
        IncludePadding=False,
    )

for kind in dml.DML_REDUCE_FUNCTION:
    name = kind.name.removeprefix("DML_REDUCE_FUNCTION_")
    result = "UINT32" if name.startswith("ARG") else "FLOAT32"
    usage(
        ONNX_RUNTIME,
        f"{name} with noop_with_empty_axes",
        "3_0",
        "REDUCE",
        Function=function(name),
        InputTensor=floats(2, 3, 4),
        OutputTensor=tensor(result, (2, 3, 4)),
        Axes=[],
    )
for name in ("ARGMIN", "ARGMAX"):
    usage(
        WEBNN,
        f"{name} over no axes",
        "4_1",
        name,
        InputTensor=floats(2, 3),
        OutputTensor=tensor("INT64", (2, 3)),
        Axes=[],
        AxisDirection=INCREASING,
    )
usage(
    WEBNN,
    "layerNormalization of one dimension",
    "3_1",
    "MEAN_VARIANCE_NORMALIZATION1",
    InputTensor=floats(6),
    ScaleTensor=None,
    BiasTensor=None,
    OutputTensor=floats(6),
    Axes=[],
    NormalizeVariance=True,
    Epsilon=1e-5,
)
usage(
    WEBNN,
    "layerNormalization with scale, but no axes",
    "6_3",
    "MEAN_VARIANCE_NORMALIZATION2",
    InputTensor=floats(2, 6),
    ScaleTensor=floats(2, 6, strides=[0, 0]),
    BiasTensor=None,
    OutputTensor=floats(2, 6),
    Axes=[],
    UseMean=True,
    UseVariance=True,
    Epsilon=1e-5,
)
usage(
    ONNX_RUNTIME,
    "BatchNormalization that is not spatial",
    "5_0",
    "BATCH_NORMALIZATION",
    InputTensor=floats(2, 3, 4, 5),
    **{f"{name}Tensor": floats(1, 3, 4, 5) for name in ("Mean", "Variance", "Scale", "Bias")},
    OutputTensor=floats(2, 3, 4, 5),
    Spatial=False,
    Epsilon=1e-5,
)

offsets = {"InputPixelOffsets": [0.5] * 4, "OutputPixelOffsets": [-0.5] * 4}
rounding = {**offsets, "RoundingDirection": INCREASING}
for name, level, fields in (
    ("RESAMPLE", "2_0", {}),
    ("RESAMPLE1", "2_1", offsets),
    ("RESAMPLE2", "5_1", rounding),
    ("RESAMPLE3", "6_4", {**rounding, "Antialiased": True}),
):
    for client, title, height, scale in (
        (ONNX_RUNTIME, "align_corners to one pixel", 1, 3.4028234e38),
        (TENSORFLOW, "align_corners of one row", 5, INFINITY),
    ):
        usage(
            client,
            f"{name} for {title}",
            level,
            name,
            InputTensor=floats(1, 2, 1, 7),
            OutputTensor=floats(1, 2, height, 7),
            InterpolationMode=LINEAR,
            Scales=[1.0, 1.0, scale, 1.0],
            **fields,
        )
usage(
    TENSORFLOW,
    "CropAndResize of an image of one pixel",
    "4_0",
    "ROI_ALIGN1",
    InputTensor=floats(1, 3, 1, 1, strides=[3, 1, 3, 3]),
    ROITensor=floats(1, 1, 5, 4, strides=[20, 20, 1, 5]),
    BatchIndicesTensor=tensor("UINT32", (1, 1, 1, 5)),
    OutputTensor=floats(5, 3, 2, 4),
    ReductionFunction=function("AVERAGE"),
    InterpolationMode=LINEAR,
    SpatialScaleX=0.0,
    SpatialScaleY=0.0,
    InputPixelOffset=0.0,
    OutputPixelOffset=0.0,
    OutOfBoundsInputValue=0.0,
    MinimumSamplesPerOutput=1,
    MaximumSamplesPerOutput=1,
    AlignRegionsToCorners=True,
)
usage(
    ONNX_RUNTIME,
    "RoiAlign with sampling_ratio 0",
    "3_0",
    "ROI_ALIGN",
    InputTensor=floats(1, 3, 8, 8),
    ROITensor=floats(1, 1, 5, 4),
    BatchIndicesTensor=tensor("UINT32", (1, 1, 1, 5)),
    OutputTensor=floats(5, 3, 2, 4),
    ReductionFunction=function("MAX"),
    InterpolationMode=LINEAR,
    SpatialScaleX=0.25,
    SpatialScaleY=0.25,
    OutOfBoundsInputValue=0.0,
    MinimumSamplesPerOutput=1,
    MaximumSamplesPerOutput=2**32 - 1,
)

for title, sizes, output, start, end in (
    ("a negative end pad", (3, 4), (5, 3), [1, 1], [1, less(2)]),
    ("a negative start pad", (5, 6), (6, 4), [less(1), 0], [2, less(2)]),
):
    usage(
        ONNX_RUNTIME,
        f"Pad with {title}",
        "3_1",
        "PADDING",
        InputTensor=floats(*sizes),
        OutputTensor=floats(*output),
        PaddingMode=dml.DML_PADDING_MODE_CONSTANT,
        PaddingValue=0.5,
        StartPadding=start,
        EndPadding=end,
    )
    usage(
        ONNX_RUNTIME,
        f"Pad of integers with {title}",
        "5_0",
        "PADDING1",
        InputTensor=tensor("INT64", sizes),
        OutputTensor=tensor("INT64", output),
        PaddingMode=dml.DML_PADDING_MODE_EDGE,
        PaddingValueDataType=data_type("INT64"),
        PaddingValue=dml.DML_SCALAR_UNION(Int64=3),
        StartPadding=start,
        EndPadding=end,
    )
usage(
    ONNX_RUNTIME,
    "Slice backwards, with a window that its strides do not fill",
    "2_1",
    "SLICE1",
    InputTensor=floats(1, 1, 6, 7),
    OutputTensor=floats(1, 1, 3, 2),
    InputWindowOffsets=[0, 0, 0, 1],
    InputWindowSizes=[1, 1, 6, 5],
    InputWindowStrides=[1, 1, -2, 4],
)

usage(
    ONNX_RUNTIME,
    "Gather with a scalar as index",
    "3_0",
    "GATHER",
    InputTensor=floats(3, 4),
    IndicesTensor=tensor("INT64", (1, 1)),
    OutputTensor=floats(1, 4),
    Axis=0,
    IndexDimensions=0,
)
usage(
    TENSORFLOW,
    "a Gather whose leading ones overflow",
    "2_0",
    "GATHER",
    InputTensor=floats(1, 1, 1, 15),
    IndicesTensor=tensor("UINT32", (1, 1, 1, 5)),
    OutputTensor=floats(1, 1, 1, 5),
    Axis=3,
    IndexDimensions=4,
)
usage(
    TENSORFLOW,
    "patches with the same indices everywhere",
    "3_0",
    "GATHER_ELEMENTS",
    InputTensor=floats(1, 2, 9, 3),
    IndicesTensor=tensor("UINT32", (1, 2, 5, 3), [0, 0, 1, 0]),
    OutputTensor=floats(1, 2, 5, 3),
    Axis=2,
)
usage(
    ONNX_RUNTIME,
    "ScatterND with more dimensions of indices than of data",
    "4_1",
    "SCATTER_ND",
    InputTensor=floats(1, 1, 1, 6),
    IndicesTensor=tensor("INT64", (1, 2, 2, 1)),
    UpdatesTensor=floats(1, 1, 2, 2),
    OutputTensor=floats(1, 1, 1, 6),
    InputDimensionCount=1,
    IndicesDimensionCount=3,
)
usage(
    ONNX_RUNTIME,
    "TopK of all elements",
    "4_1",
    "TOP_K1",
    InputTensor=floats(1, 1, 3, 7),
    OutputValueTensor=floats(1, 1, 3, 7),
    OutputIndexTensor=tensor("UINT32", (1, 1, 3, 7)),
    Axis=3,
    K=7,
    AxisDirection=INCREASING,
)
for title, first, last in (("lower", -(2**31), 1), ("upper", 0, 2**31 - 1)):
    usage(
        ONNX_RUNTIME,
        f"Trilu, {title} part",
        "5_1",
        "DIAGONAL_MATRIX1",
        InputTensor=floats(1, 1, 4, 5),
        OutputTensor=floats(1, 1, 4, 5),
        ValueDataType=data_type("FLOAT32"),
        Value=dml.DML_SCALAR_UNION(Float32=0.0),
        DiagonalFillBegin=first,
        DiagonalFillEnd=last,
    )
usage(
    ONNX_RUNTIME,
    "Col2Im, whose columns have fewer dimensions than the image",
    "6_4",
    "FOLD",
    InputTensor=floats(1, 8, 6),
    OutputTensor=floats(1, 2, 3, 4),
    WindowSizes=[2, 2],
    Strides=[1, 1],
    Dilations=[1, 1],
    StartPadding=[0, 0],
    EndPadding=[0, 0],
)
usage(
    ONNX_RUNTIME,
    "MatMulNBits, an odd number of 4-bit zero points a row",
    "6_3",
    "DEQUANTIZE",
    InputTensor=tensor("UINT4", (1, 2, 8, 96), [0, 0, 96, 1]),
    QuantizationType=dml.DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT,
    QuantizationTensors=[
        tensor("FLOAT16", (1, 2, 8, 3), [0, 0, 3, 1]),
        tensor("UINT4", (1, 2, 8, 3), [0, 0, 4, 1]),
    ],
    OutputTensor=tensor("FLOAT16", (1, 2, 8, 96)),
)
usage(
    ONNX_RUNTIME,
    "QLinearMatMul with scales broadcast from one element",
    "4_0",
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
    ATensor=tensor("UINT8", (1, 1, 3, 4)),
    AScaleTensor=tensor("FLOAT32", (1, 1, 1, 1), [0, 0, 0, 0]),
    AZeroPointTensor=tensor("UINT8", (1, 1, 1, 1), [0, 0, 0, 0]),
    BTensor=tensor("INT8", (1, 1, 4, 5)),
    BScaleTensor=floats(1, 1, 1, 5),
    BZeroPointTensor=tensor("INT8", (1, 1, 1, 5)),
    OutputScaleTensor=tensor("FLOAT32", (1, 1, 1, 1), [0, 0, 0, 0]),
    OutputZeroPointTensor=None,
    OutputTensor=tensor("UINT8", (1, 1, 3, 5)),
)
usage(
    ONNX_RUNTIME,
    "Gemm whose C is one row and scaled by 0",
    "2_0",
    "GEMM",
    ATensor=floats(1, 1, 4, 3),
    BTensor=floats(1, 1, 5, 4),
    CTensor=floats(1, 1, 3, 5, strides=[0, 0, 0, 1]),
    OutputTensor=floats(1, 1, 3, 5),
    TransA=dml.DML_MATRIX_TRANSFORM_TRANSPOSE,
    TransB=dml.DML_MATRIX_TRANSFORM_TRANSPOSE,
    Alpha=1.0,
    Beta=0.0,
)
usage(
    ONNX_RUNTIME,
    "frames of STFT, which overlap",
    "2_0",
    "ELEMENT_WISE_MULTIPLY",
    ATensor=floats(1, 2, 4, 4, strides=[20, 10, 2, 1]),
    BTensor=floats(1, 2, 4, 4, strides=[0, 0, 0, 1]),
    OutputTensor=floats(1, 2, 4, 4),
)
usage(
    ONNX_RUNTIME,
    "old INT64 as every second UINT32",
    "2_1",
    "ELEMENT_WISE_IDENTITY",
    InputTensor=tensor("UINT32", (1, 1, 3, 4), [24, 24, 8, 2]),
    OutputTensor=tensor("UINT32", (1, 1, 3, 4), [24, 24, 8, 2]),
    ScaleBias=None,
)
usage(
    DIRECTMLX,
    "Join of one tensor",
    "3_0",
    "JOIN",
    InputTensors=[floats(1, 1, 3, 4)],
    OutputTensor=floats(1, 1, 3, 4),
    Axis=3,
)


@swept("one", USAGES)
def test_descs_that_clients_build_stay_valid(one):
    for level in (one.level, NEWEST):
        assert dml.validate(one.desc, feature_level=level) == []
