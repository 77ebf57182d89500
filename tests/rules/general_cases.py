"""Descs that break the rules which hold for every operator."""

from __future__ import annotations

import directml_py as dml

from ..validation.helpers import (
    MOST,
    WILD,
    cast,
    fill,
    fused,
    gemm,
    join,
    reduce,
    tensor,
    type_of,
    with_buffer,
)
from .registry import broken

NCHW = (1, 1, 2, 3)


def whole(sizes=(2, 3), kind="FLOAT32", **fields):
    """CAST whose input is this tensor, with an output of the same sizes."""
    return cast(tensor(sizes, kind, **fields), sizes=sizes)


def output(sizes=(2, 3), kind="FLOAT32", **fields):
    """CAST whose output is this tensor, with an input of the same sizes."""
    return cast(None, tensor(sizes, kind, **fields), sizes=sizes)


def quantized(kind):
    """DEQUANTIZE of such a tensor, by one scale."""
    scale = tensor((1, 1, 1, 1))
    return dml.DML_DEQUANTIZE_OPERATOR_DESC(
        tensor(NCHW, kind),
        dml.DML_QUANTIZATION_TYPE_SCALE,
        QuantizationTensors=[scale],
        OutputTensor=tensor(NCHW),
    )


def counted_beyond(count):
    desc = join([tensor(), tensor()], tensor((4, 3)))
    desc.InputCount = count
    return desc


def activation(name, **fields):
    return gemm(FusedActivation=getattr(dml, f"DML_{name}_OPERATOR_DESC")(**fields))


OPERATOR, TENSOR = dml.DML_OPERATOR_DESC, dml.DML_TENSOR_DESC
WHOLE = OPERATOR(dml.DML_OPERATOR_CAST, cast())

broken("DML-Desc-null", "InputTensor", dml.DML_CAST_OPERATOR_DESC(None, tensor()), cast())
broken("DML-Desc-null", "OutputTensor", dml.DML_CAST_OPERATOR_DESC(tensor(), None), cast())
broken("DML-Desc-null", "Axes", reduce(AxisCount=1, Axes=None), reduce())
broken("DML-Desc-null", "InputTensor.Desc", cast(TENSOR(1, None)), cast(with_buffer()))
broken("DML-Desc-null", "OutputTensor.Sizes", cast(None, with_buffer(Sizes=None)), cast(None, with_buffer()))
broken("DML-Desc-null", "Desc", OPERATOR(dml.DML_OPERATOR_JOIN, None), WHOLE)
broken("DML-Desc-null", "desc", None, WHOLE)
broken("DML-Desc-null", "desc", 0, WHOLE)

broken("DML-Desc-unreadable", "desc", WILD, WHOLE)
broken("DML-Desc-unreadable", "InputTensor", dml.DML_CAST_OPERATOR_DESC(WILD, tensor()), cast())
broken("DML-Desc-unreadable", "InputTensor.Strides", cast(with_buffer(Strides=WILD)), cast(with_buffer()))
broken("DML-Desc-unreadable", "FusedActivation", gemm(FusedActivation=WILD), activation("ACTIVATION_RELU"))

broken("DML-Desc-type", "Type", OPERATOR(9999, cast()), WHOLE)
broken("DML-Desc-type", "Type", OPERATOR(0, cast()), WHOLE)
broken("DML-Desc-type", "InputTensor.Type", cast(TENSOR(0, None)), cast())

broken("DML-Desc-count", "InputTensors", counted_beyond(1 << 20), counted_beyond(2))
broken("DML-Desc-count", "InputTensor.DimensionCount", cast(with_buffer(DimensionCount=MOST)), cast())

broken("DML-Desc-enum", "Function", reduce(Function=12), reduce(Function=11))
broken("DML-Desc-enum", "Function", reduce(Function=-1), reduce(Function=2))
broken("DML-Desc-enum", "TransA", gemm(TransA=2), gemm(TransA=1))
broken("DML-Desc-enum", "ValueDataType", fill(99), fill(type_of("FLOAT32")))
broken("DML-Desc-enum", "ValueDataType", fill(0), fill(type_of("FLOAT32")))

broken("DML-Desc-flags", "InputTensor.Flags", cast(tensor(flags=2)), cast(tensor(flags=1)))
broken("DML-Desc-flags", "InputTensor.Flags", cast(tensor(flags=0x80000001)), cast(tensor(flags=1)))
broken("DML-Desc-flags", "OutputTensor.Flags", output(flags=4), output(flags=0))

TENSORS = "DML-FusedActivation-tensors"
broken(TENSORS, "FusedActivation.InputTensor", fused(InputTensor=tensor()), fused())
broken(TENSORS, "FusedActivation.OutputTensor", fused(OutputTensor=tensor()), fused())
broken(
    "DML-FusedActivation-type",
    "FusedActivation",
    activation("ACTIVATION_HARDMAX"),
    activation("ACTIVATION_SOFTMAX"),
)
AXES, SOFTMAX = "DML-FusedActivation-axes", "ACTIVATION_SOFTMAX1"
broken(AXES, "FusedActivation.Axes[1]", activation(SOFTMAX, Axes=[1, 2]), activation(SOFTMAX, Axes=[1, 0]))
broken(
    "DML-FusedActivation-axes-unique",
    "FusedActivation.Axes[1]",
    activation(SOFTMAX, Axes=[1, 1]),
    activation(SOFTMAX, Axes=[1]),
)
for name in ("ACTIVATION_SWISH", "ACTIVATION_HARD_SWISH"):
    broken("DML-FusedActivation-unlisted", "FusedActivation", activation(name), activation("ACTIVATION_GELU"))
for name, level in (
    ("ACTIVATION_GELU", 0x5000),
    ("ELEMENT_WISE_CLIP", 0x5200),
    ("ACTIVATION_SOFTMAX", 0x6000),
):
    broken(
        "DML-FusedActivation-feature-level",
        "FusedActivation",
        activation(name),
        activation(name),
        level,
        twin_level={0x5000: 0x5100, 0x5200: 0x6000, 0x6000: 0x6100}[level],
    )

DATA_TYPE = "DML-BufferTensor-data-type"
broken(DATA_TYPE, "InputTensor.DataType", whole(kind=0), whole(kind=1))
broken(DATA_TYPE, "OutputTensor.DataType", output(kind=14), quantized("INT4"))
for name, level, needed in (
    ("FLOAT64", 0x2100, 0x4100),
    ("UINT64", 0x2100, 0x3000),
    ("INT64", 0x1000, 0x3000),
):
    for role, make in (("InputTensor", whole), ("OutputTensor", output)):
        new = make(NCHW, name)
        broken(DATA_TYPE, f"{role}.DataType", new, new, level, twin_level=needed)
# CAST takes them at no level.
for name in ("UINT4", "INT4"):
    new = quantized(name)
    broken(DATA_TYPE, "InputTensor.DataType", whole(NCHW, name), new, 0x6200, twin_level=0x6300)
    broken(DATA_TYPE, "OutputTensor.DataType", output(NCHW, name), new, 0x6200, twin_level=0x6300)

DIMENSIONS = "DML-BufferTensor-dimension-count"
one, eight = whole((1,)), whole([1] * 8)
broken(DIMENSIONS, "InputTensor.DimensionCount", cast(tensor(()), sizes=(1,)), one)
broken(DIMENSIONS, "InputTensor.DimensionCount", cast(tensor([1] * 9), sizes=[1] * 8), eight)
broken(DIMENSIONS, "OutputTensor.DimensionCount", cast(None, tensor([1] * 64), sizes=[1] * 8), eight)

ZERO = "DML-BufferTensor-size-zero"
broken(ZERO, "InputTensor.Sizes[1]", cast(tensor((2, 0, 3)), sizes=(2, 1, 3)), whole((2, 1, 3)))
broken(
    ZERO,
    "OutputTensor.Sizes[0]",
    cast(None, tensor((0,), strides=[1]), sizes=(1,)),
    output((1,), strides=[1]),
)

LIMIT = "DML-BufferTensor-element-limit"
broken(LIMIT, "InputTensor.Sizes", whole((65536, 65536)), whole((65536, 65535)), also=("OutputTensor.Sizes",))
broken(LIMIT, "InputTensor.Sizes", whole((2, 2), strides=[MOST, 1]), whole((2, 2), strides=[MOST - 2, 1]))
broken(
    LIMIT,
    "InputTensor.Sizes",
    whole((MOST, 2), strides=[0, 0]),
    whole((MOST, 1), strides=[0, 0]),
    also=("OutputTensor.Sizes",),
)
broken(LIMIT, "OutputTensor.Sizes", output((2, 2), strides=[MOST, 1]), output((2, 2), strides=[MOST - 2, 1]))
PLACE = "TotalTensorSizeInBytes"
# 16 GB of FLOAT32 are one element too many.
broken(LIMIT, f"InputTensor.{PLACE}", whole(total_size=1 << 34), whole(total_size=(1 << 34) - 4))
broken(
    LIMIT,
    f"OutputTensor.{PLACE}",
    output((4,), "UINT8", total_size=1 << 32),
    output((4,), "UINT8", total_size=(1 << 32) - 4),
)
# This many bytes overflow when rounded up to 4, whatever the strides.
broken(
    LIMIT,
    "InputTensor.Sizes",
    whole((MOST,), "INT8", strides=[0]),
    whole((MOST - 3,), "INT8", strides=[0]),
)
broken(
    LIMIT,
    "InputTensor.Sizes",
    whole((2,), "INT8", strides=[MOST - 1]),
    whole((2,), "INT8", strides=[MOST - 4]),
)

TOTAL = "DML-BufferTensor-total-size"
broken(TOTAL, f"InputTensor.{PLACE}", whole(total_size=20), whole(total_size=24))
broken(TOTAL, f"InputTensor.{PLACE}", whole(total_size=0), whole(total_size=24))
broken(
    TOTAL,
    f"OutputTensor.{PLACE}",
    output(strides=[8, 1], total_size=40),
    output(strides=[8, 1], total_size=44),
)
# 5 bytes of elements, but the total is rounded up to 8.
broken(
    TOTAL,
    f"InputTensor.{PLACE}",
    whole((5,), "UINT8", total_size=5),
    whole((5,), "UINT8", total_size=8),
)
MULTIPLE = "DML-BufferTensor-total-size-multiple"
broken(MULTIPLE, f"InputTensor.{PLACE}", whole(total_size=26), whole(total_size=28))
broken(
    MULTIPLE,
    f"OutputTensor.{PLACE}",
    output((5,), "UINT8", total_size=9),
    output((5,), "UINT8", total_size=12),
)

ALIGNMENT, PLACE = "DML-BufferTensor-alignment", "GuaranteedBaseOffsetAlignment"
broken(ALIGNMENT, f"InputTensor.{PLACE}", whole(alignment=24), whole(alignment=1 << 31))
broken(ALIGNMENT, f"InputTensor.{PLACE}", whole(alignment=4), whole(alignment=16))
broken(ALIGNMENT, f"OutputTensor.{PLACE}", output(kind="INT8", alignment=8), output(kind="INT8", alignment=0))

STRIDES = "DML-BufferTensor-output-strides"
broken(STRIDES, "OutputTensor.Strides", output(strides=[0, 1]), output(strides=[3, 1]))
broken(STRIDES, "OutputTensor.Strides", output((2, 2), strides=[2, 2]), output((2, 2), strides=[2, 4]))
# Elements 0 to 5 would have to lie on offsets 0 to 4.
broken(STRIDES, "OutputTensor.Strides", output(strides=[2, 1]), output(strides=[1, 2]))
# They reach far enough, but 0 + 4 and 2 + 2 are the same offset.
OVERLAP = "DML-BufferTensor-output-overlap"
broken(OVERLAP, "OutputTensor.Strides", output((4, 4), strides=[4, 2]), output((4, 4), strides=[8, 2]))


def split(strides):
    outputs = [tensor(), tensor(strides=strides)]
    return dml.DML_SPLIT_OPERATOR_DESC(tensor((4, 3)), OutputTensors=outputs)


broken(STRIDES, "OutputTensors[1].Strides", split([1, 1]), split([5, 1]))
broken("DML-TensorFlags-owned-output", "OutputTensor.Flags", output(flags=1), cast(tensor(flags=1)))

argmax = dml.DML_ARGMAX_OPERATOR_DESC(tensor(), tensor((2, 1), "UINT32"), Axes=[1])
broken("DML-Operator-feature-level", "Type", argmax, argmax, 0x2100, twin_level=0x3000)
gelu = dml.DML_ACTIVATION_GELU_OPERATOR_DESC(tensor(), tensor())
broken("DML-Operator-feature-level", "Type", gelu, gelu, 0x5000, twin_level=0x5100)
