"""Descs that break the rules of operators: their own, and those of their tables."""

from __future__ import annotations

import directml_py as dml

from .operator_descs import argmax, argmin, gather, identity, join, reduce, split
from .registry import broken

HUGE = 2**32 - 1
DECREASING = dml.DML_AXIS_DIRECTION_DECREASING
LEVEL_1_0, LEVEL_2_1, LEVEL_3_0 = 0x1000, 0x2100, 0x3000
BOTH = ("InputTensor", "OutputTensor")


def everywhere(rule, field, tensors, desc, twin, level=0x6400, twin_level=None):
    """A violation that tensors can only have together, since they must agree in ``field``."""
    first, *also = (f"{name}.{field}" for name in tensors)
    broken(rule, first, desc, twin, level, also=tuple(also), twin_level=twin_level)


broken("DML-JOIN-input-count", "InputCount", join(inputs=()), join(((2, 7),), types=("FLOAT32",)))
broken("DML-JOIN-axis", "Axis", join(axis=2), join(axis=1))
broken("DML-JOIN-axis", "Axis", join(axis=HUGE), join(inputs=((3, 2), (4, 2)), output=(7, 2), axis=0))
broken("DML-JOIN-sizes", "InputTensors[1].Sizes", join(inputs=((2, 3), (1, 4))), join())
broken(
    "DML-JOIN-sizes",
    "InputTensors[1].Sizes",
    join(inputs=((3, 3), (2, 4))),
    join(inputs=((2, 2), (2, 2)), output=(4, 2), axis=0),
    also=("OutputTensor.Sizes",),
)
broken("DML-JOIN-sizes", "OutputTensor.Sizes", join(output=(2, 8)), join(output=(2, 7)))
broken(
    "DML-JOIN-sizes",
    "OutputTensor.Sizes",
    join(output=(2, 4)),
    join(inputs=((2, 2), (2, 2)), output=(2, 4)),
)
broken("DML-JOIN-same-data-type", "InputTensors[1].DataType", join(types=("FLOAT32", "INT32")), join())
broken("DML-JOIN-same-data-type", "OutputTensor.DataType", join(output_type="UINT32"), join())
broken(
    "DML-JOIN-same-dimension-count",
    "InputTensors[1].DimensionCount",
    join(inputs=((2, 3), (1, 2, 4))),
    join(),
)
parts = ("InputTensors[0]", "InputTensors[1]", "OutputTensor")
everywhere(
    "DML-JOIN-data-type",
    "DataType",
    parts,
    join(types=("UINT4", "UINT4"), output_type="UINT4"),
    join(types=("UINT8", "UINT8"), output_type="UINT8"),
)
three = join(inputs=((1, 2, 3), (1, 2, 4)), output=(1, 2, 7), axis=2)
four = join(inputs=((1, 1, 2, 3), (1, 1, 2, 4)), output=(1, 1, 2, 7), axis=3)
everywhere("DML-JOIN-dimension-count", "DimensionCount", parts, three, four, LEVEL_2_1)

broken(
    "DML-SPLIT-output-count", "OutputCount", split(outputs=()), split(outputs=((2, 7),), types=("FLOAT32",))
)
broken("DML-SPLIT-axis", "Axis", split(axis=2), split(axis=1))
broken("DML-SPLIT-sizes", "OutputTensors[1].Sizes", split(outputs=((2, 3), (1, 4))), split())
broken("DML-SPLIT-sizes", "OutputTensors[0].Sizes", split(outputs=((3, 3), (2, 4))), split())
broken("DML-SPLIT-sizes", "InputTensor.Sizes", split(whole=(2, 8)), split(whole=(2, 7)))
broken(
    "DML-SPLIT-sizes",
    "InputTensor.Sizes",
    split(whole=(2, 3)),
    split(whole=(7, 2), outputs=((3, 2), (4, 2)), axis=0),
)
broken("DML-SPLIT-same-data-type", "OutputTensors[1].DataType", split(types=("FLOAT32", "INT32")), split())
broken(
    "DML-SPLIT-same-dimension-count",
    "OutputTensors[0].DimensionCount",
    split(outputs=((1, 2, 3), (2, 4))),
    split(),
)
parts = ("InputTensor", "OutputTensors[0]", "OutputTensors[1]")
everywhere(
    "DML-SPLIT-data-type",
    "DataType",
    parts,
    split(types=("FLOAT64", "FLOAT64"), input_type="FLOAT64"),
    split(types=("FLOAT64", "FLOAT64"), input_type="FLOAT64"),
    LEVEL_3_0,
    0x4100,
)
three = split((1, 2, 7), ((1, 2, 3), (1, 2, 4)), axis=2)
everywhere("DML-SPLIT-dimension-count", "DimensionCount", parts, three, three, LEVEL_2_1, LEVEL_3_0)

broken("DML-REDUCE-axes", "Axes[0]", reduce(axes=(3,)), reduce(axes=(2,), output=(2, 3, 1)))
broken("DML-REDUCE-axes", "Axes[1]", reduce(axes=(1, HUGE)), reduce(axes=(1, 0), output=(1, 1, 4)))
broken("DML-REDUCE-axes-unique", "Axes[1]", reduce(axes=(1, 1)), reduce(axes=(1,)))
broken(
    "DML-REDUCE-axes-unique",
    "Axes[2]",
    reduce(output=(2, 1, 1), axes=(2, 1, 2)),
    reduce(output=(1, 1, 1), axes=(2, 0, 1)),
)
broken("DML-REDUCE-sizes", "OutputTensor.Sizes", reduce(output=(2, 3, 4)), reduce())
broken(
    "DML-REDUCE-sizes",
    "OutputTensor.Sizes",
    reduce(output=(2, 1, 1)),
    reduce(output=(2, 1, 1), axes=(1, 2)),
)
broken("DML-REDUCE-sizes", "OutputTensor.Sizes", reduce(output=(2, 1, 5)), reduce(whole=(2, 1, 4)))
broken("DML-REDUCE-same-dimension-count", "OutputTensor.DimensionCount", reduce(output=(2, 4)), reduce())
broken("DML-REDUCE-same-data-type", "OutputTensor.DataType", reduce(output_type="FLOAT16"), reduce())
broken(
    "DML-REDUCE-data-type",
    "OutputTensor.DataType",
    reduce(name="ARGMAX"),
    reduce(name="ARGMAX", output_type="UINT32"),
)
squares = reduce(name="SUM_SQUARE", input_type="INT32", output_type="INT32")
everywhere("DML-REDUCE-data-type", "DataType", BOTH, squares, squares, 0x4100, 0x5000)
everywhere("DML-REDUCE-dimension-count", "DimensionCount", BOTH, reduce(), reduce(), LEVEL_2_1, LEVEL_3_0)
broken("DML-Desc-enum", "Function", reduce(name=12), reduce(name=11))

broken("DML-ARGMIN-axes", "Axes[0]", argmin(axes=(3,)), argmin(axes=(2,), output=(2, 3, 1)))
broken("DML-ARGMIN-axes-unique", "Axes[1]", argmin(axes=(1, 1)), argmin(axes=(2, 0), output=(1, 3, 1)))
broken(
    "DML-ARGMIN-sizes",
    "OutputTensor.Sizes",
    argmin(output=(1, 3, 4)),
    argmin(output=(1, 3, 4), axes=(0,)),
)
broken("DML-Desc-enum", "AxisDirection", argmin(direction=2), argmin(direction=DECREASING))
broken("DML-ARGMIN-same-dimension-count", "OutputTensor.DimensionCount", argmin(output=(2, 4)), argmin())
broken(
    "DML-ARGMIN-data-type", "OutputTensor.DataType", argmin(output_type="INT16"), argmin(output_type="INT32")
)
broken("DML-ARGMIN-data-type", "InputTensor.DataType", argmin(input_type="FLOAT64"), argmin())
newer = argmin(input_type="INT64")
broken("DML-ARGMIN-data-type", "InputTensor.DataType", newer, newer, LEVEL_3_0, twin_level=0x4100)

broken("DML-ARGMAX-axes", "Axes[1]", argmax(axes=(1, 3)), argmax(axes=(1, 2), output=(2, 1, 1)))
broken("DML-ARGMAX-axes-unique", "Axes[1]", argmax(axes=(1, 1)), argmax())
broken(
    "DML-ARGMAX-sizes",
    "OutputTensor.Sizes",
    argmax(output=(2, 3, 1)),
    argmax(output=(2, 3, 1), axes=(2,)),
)
broken("DML-Desc-enum", "AxisDirection", argmax(direction=2), argmax(direction=DECREASING))
broken("DML-ARGMAX-same-dimension-count", "OutputTensor.DimensionCount", argmax(output=(2, 4)), argmax())
broken(
    "DML-ARGMAX-data-type", "OutputTensor.DataType", argmax(output_type="UINT8"), argmax(output_type="UINT64")
)

broken("DML-GATHER-axis", "Axis", gather(axis=3), gather(axis=2, output=(3, 2, 5)))
broken("DML-GATHER-index-dimensions", "IndexDimensions", gather(axis=2, index_dimensions=HUGE), gather())
broken(
    "DML-GATHER-indices-leading-ones",
    "IndicesTensor.Sizes[1]",
    gather((3, 4, 2), (1, 3, 5), (3, 5, 2), index_dimensions=1),
    gather((3, 4, 2), (1, 1, 5), (3, 5, 2), index_dimensions=1),
)
broken("DML-GATHER-indices-batch", "IndicesTensor.Sizes[0]", gather(indices=(3, 2, 5)), gather())
broken(
    "DML-GATHER-indices-batch",
    "IndicesTensor.Sizes[1]",
    gather(output=(1, 5, 4), index_dimensions=1),
    gather(output=(1, 5, 4), index_dimensions=1, indices=(1, 1, 5)),
)
broken("DML-GATHER-cropped-ones", "InputTensor.Sizes[0]", gather(whole=(2, 3, 4)), gather())
broken(
    "DML-GATHER-index-dimensions-before-axis",
    "IndexDimensions",
    gather(whole=(1, 1, 4), indices=(1, 1, 1), output=(1, 1, 4), axis=0, index_dimensions=2),
    gather(whole=(1, 1, 4), indices=(1, 1, 1), output=(1, 1, 4), axis=0, index_dimensions=1),
)
broken("DML-GATHER-sizes", "OutputTensor.Sizes", gather(output=(2, 5, 3)), gather())
broken("DML-GATHER-sizes", "OutputTensor.Sizes", gather(output=(5, 2, 4)), gather())
broken(
    "DML-GATHER-sizes",
    "OutputTensor.Sizes",
    gather(axis=2),
    gather(indices=(1, 1, 1), index_dimensions=0, output=(1, 1, 4)),
)
broken("DML-GATHER-same-data-type", "OutputTensor.DataType", gather(output_type="INT32"), gather())
broken("DML-GATHER-same-dimension-count", "IndicesTensor.DimensionCount", gather(indices=(2, 5)), gather())
broken(
    "DML-GATHER-data-type", "IndicesTensor.DataType", gather(index_type="INT16"), gather(index_type="INT32")
)
everywhere(
    "DML-GATHER-dimension-count",
    "DimensionCount",
    ("InputTensor", "IndicesTensor", "OutputTensor"),
    gather(),
    gather((1, 1, 3, 4), (1, 1, 2, 5), (1, 2, 5, 4), axis=2),
    LEVEL_2_1,
)

IDENTITY = "DML-ELEMENT_WISE_IDENTITY"
broken(f"{IDENTITY}-same-sizes", "OutputTensor.Sizes", identity(output=(3, 2)), identity(scale_bias=(2, 1)))
broken(
    f"{IDENTITY}-same-dimension-count", "OutputTensor.DimensionCount", identity(output=(1, 2, 3)), identity()
)
broken(
    f"{IDENTITY}-same-data-type", "OutputTensor.DataType", identity(types=("FLOAT32", "FLOAT16")), identity()
)
broken(
    f"{IDENTITY}-same-data-type", "OutputTensor.DataType", identity(types=("FLOAT32", "INT32")), identity()
)
for name in ("FLOAT64", "INT64", "UINT64"):
    broken(
        f"{IDENTITY}-scale-bias-type",
        "ScaleBias",
        identity(types=(name, name), scale_bias=(2, 0)),
        identity(types=(name, name), scale_bias=(1, 0)),
    )
broken(
    f"{IDENTITY}-scale-bias-type",
    "ScaleBias",
    identity(types=("INT64", "INT64"), scale_bias=(2, 1)),
    identity(types=("INT32", "INT32"), scale_bias=(2, 1)),
)
everywhere(
    f"{IDENTITY}-data-type",
    "DataType",
    BOTH,
    identity(types=("UINT4", "UINT4")),
    identity(types=("INT8", "INT8"), scale_bias=(2, 1)),
)
integers = identity((1, 1, 2, 3), (1, 1, 2, 3), ("INT32", "INT32"))
everywhere(f"{IDENTITY}-data-type", "DataType", BOTH, integers, integers, LEVEL_1_0, LEVEL_2_1)
everywhere(
    f"{IDENTITY}-dimension-count",
    "DimensionCount",
    BOTH,
    identity(),
    identity((1, 1, 2, 3), (1, 1, 2, 3)),
    LEVEL_1_0,
)
six = identity((1,) * 6, (1,) * 6)
everywhere(f"{IDENTITY}-dimension-count", "DimensionCount", BOTH, six, six, LEVEL_2_1, LEVEL_3_0)
