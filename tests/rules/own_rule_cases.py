"""Descs that break rules specific to an operator, which no table can express."""

from __future__ import annotations

import directml_py as dml

from ..operators.helpers import tensor
from .registry import broken

FLOAT32, UINT32 = "FLOAT32", "UINT32"


def slice_of(width):
    """Elements 1 to 3 of the first dimension, and 2, 6 and 10 of the second."""
    return dml.DML_SLICE_OPERATOR_DESC(
        InputTensor=tensor(FLOAT32, (4, width)),
        OutputTensor=tensor(FLOAT32, (3, 3)),
        Offsets=[1, 2],
        Sizes=[3, 3],
        Strides=[1, 4],
    )


def window_of(struct, whole, part, width):
    """Two elements, backwards, of a window that starts at element 2."""
    return struct(
        **{whole: tensor(FLOAT32, (4, 10)), part: tensor(FLOAT32, (3, 2))},
        InputWindowOffsets=[1, 2],
        InputWindowSizes=[3, width],
        InputWindowStrides=[1, -4],
    )


def slice1(width):
    return window_of(dml.DML_SLICE1_OPERATOR_DESC, "InputTensor", "OutputTensor", width)


def slice_grad(width):
    return window_of(dml.DML_SLICE_GRAD_OPERATOR_DESC, "OutputGradientTensor", "InputGradientTensor", width)


broken("DML-SLICE-bounds", "Offsets[1]", slice_of(10), slice_of(11))
broken("DML-SLICE1-window", "InputWindowOffsets[1]", slice1(9), slice1(8))
broken("DML-SLICE_GRAD-window", "InputWindowOffsets[1]", slice_grad(9), slice_grad(8))


def rows(struct, whole=(1, 4, 5), indices=(1, 2, 1), **fields):
    """Two rows of a matrix in three dimensions, picked by one index each."""
    return struct(
        InputTensor=tensor(FLOAT32, whole),
        IndicesTensor=tensor(UINT32, indices),
        OutputTensor=tensor(FLOAT32, (1, 2, 5)),
        InputDimensionCount=2,
        IndicesDimensionCount=2,
        **fields,
    )


def scatter(whole=(1, 4, 5), indices=(1, 2, 1)):
    desc = rows(dml.DML_SCATTER_ND_OPERATOR_DESC, whole, indices, UpdatesTensor=tensor(FLOAT32, (1, 2, 5)))
    desc.OutputTensor = tensor(FLOAT32, whole)
    return desc


def gather(whole=(1, 4, 5), indices=(1, 2, 1)):
    return rows(dml.DML_GATHER_ND_OPERATOR_DESC, whole, indices)


def gather1(whole=(1, 4, 5), indices=(1, 2, 1)):
    return rows(dml.DML_GATHER_ND1_OPERATOR_DESC, whole, indices)


for _name, _make in {"GATHER_ND": gather, "GATHER_ND1": gather1, "SCATTER_ND": scatter}.items():
    _rule = f"DML-{_name}-leading-ones"
    broken(_rule, "InputTensor.Sizes[0]", _make(whole=(3, 4, 5)), _make())
    broken(_rule, "IndicesTensor.Sizes[0]", _make(indices=(3, 2, 1)), _make())


def batches(count):
    """Three rows of each of two matrices; the last three of four dimensions count."""
    return dml.DML_GATHER_ND1_OPERATOR_DESC(
        InputTensor=tensor(FLOAT32, (1, 2, 4, 5)),
        IndicesTensor=tensor(UINT32, (1, count, 3, 1)),
        OutputTensor=tensor(FLOAT32, (1, count, 3, 5)),
        InputDimensionCount=3,
        IndicesDimensionCount=3,
        BatchDimensionCount=1,
    )


broken("DML-GATHER_ND1-batch-sizes", "IndicesTensor.Sizes[1]", batches(1), batches(2))


def updated_row(stride):
    """Two rows of a matrix, named by the same index or not."""
    desc = scatter()
    desc.IndicesTensor = tensor(UINT32, (1, 2, 1), (2, stride, 1))
    return desc


broken("DML-SCATTER_ND-indices-strides", "IndicesTensor.Strides[1]", updated_row(0), updated_row(1))


def blocks(struct, input_type, output_type, width):
    """A scale and a zero point for every block of a tensor of two rows of six."""
    return struct(
        InputTensor=tensor(input_type, (2, 6)),
        QuantizationType=dml.DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT,
        QuantizationTensors=[tensor(FLOAT32, (2, width)), tensor("INT8", (2, width))],
        OutputTensor=tensor(output_type, (2, 6)),
    )


for _name, _types in {"QUANTIZE": (FLOAT32, "INT8"), "DEQUANTIZE": ("INT8", FLOAT32)}.items():
    _struct = getattr(dml, f"DML_{_name}_OPERATOR_DESC")
    broken(
        f"DML-{_name}-blocks",
        "QuantizationTensors[0].Sizes[1]",
        blocks(_struct, *_types, 4),
        blocks(_struct, *_types, 3),
        also=("QuantizationTensors[1].Sizes[1]",),
    )


def padded_output(more):
    """One step of a filter of one element over two, and so many elements of padding behind it."""
    return dml.DML_CONVOLUTION_OPERATOR_DESC(
        InputTensor=tensor(FLOAT32, (1, 1, 2)),
        FilterTensor=tensor(FLOAT32, (1, 1, 1)),
        OutputTensor=tensor(FLOAT32, (1, 1, 2 + more)) if more < 2 else tensor(FLOAT32, (1, 1, 2)),
        Strides=[1],
        Dilations=[1],
        StartPadding=[0],
        EndPadding=[0],
        OutputPadding=[more],
        GroupCount=1,
    )


broken(
    "DML-CONVOLUTION-output-padding",
    "OutputPadding[0]",
    padded_output(2),
    padded_output(1),
)


def softmax_of_products(*batch):
    """Fused into products of one matrix, or of more."""
    one = tensor(FLOAT32, (*batch, 2, 2))
    return dml.DML_GEMM_OPERATOR_DESC(
        ATensor=one, BTensor=one, OutputTensor=one, FusedActivation=dml.DML_ACTIVATION_SOFTMAX_OPERATOR_DESC()
    )


for _batch in ((3, 1), (1, 3), (3,)):
    broken("DML-GEMM-softmax", "FusedActivation", softmax_of_products(*_batch), softmax_of_products(1, 1))
