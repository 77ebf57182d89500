"""Scales of 0, for which the pages leave the result undefined."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

import directml_py as dml

from ..operators.helpers import tensor_of
from .hazard import hazard

ONES = np.ones((1, 1, 1, 3), np.float32)
BYTES = np.ones((1, 1, 1, 3), np.uint8)
ONE = np.ones((1, 1, 1, 1), np.float32)
ZEROS = np.array([[[[1, 0, -0.0]]]], np.float32)


def dispatch(bench, struct, output, attributes=MappingProxyType({}), **inputs):
    tensors = {name: tensor_of(array) for name, array in inputs.items()}
    op = bench.ready(struct(**tensors, OutputTensor=tensor_of(output), **attributes))
    arrays = [inputs.get(slot.path) for slot in op.inputs]
    buffers = [
        None if one is None else bench.buffer(16, data=np.resize(one, 16 // one.itemsize)) for one in arrays
    ]
    bench.dispatch(op, buffers, [bench.buffer(16)])
    bench.execute()


@hazard(
    "DML-ELEMENT_WISE_QUANTIZE_LINEAR-scale-zero",
    "2 scales that are 0",
    "first is at {0,0,0,1}",
    path="ScaleTensor",
)
def a_quotient_by_a_scale(bench, wrong):
    struct = dml.DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC
    scale = ZEROS if wrong else ONES
    dispatch(bench, struct, BYTES, InputTensor=ONES, ScaleTensor=scale, ZeroPointTensor=BYTES)


@hazard("DML-ELEMENT_WISE_DEQUANTIZE_LINEAR-scale-zero", "2 scales that are 0", path="ScaleTensor")
def a_product_with_a_scale(bench, wrong):
    struct = dml.DML_ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC
    scale = ZEROS if wrong else ONES
    dispatch(bench, struct, ONES, InputTensor=BYTES, ScaleTensor=scale, ZeroPointTensor=BYTES)


@hazard(
    "DML-ELEMENT_WISE_QUANTIZED_LINEAR_ADD-scale-zero",
    "1 scale that is 0",
    path="OutputScaleTensor",
)
def a_sum_of_scaled_bytes(bench, wrong):
    struct = dml.DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC
    scales = {"AScaleTensor": ONE, "BScaleTensor": ONE, "OutputScaleTensor": ONE * 0 if wrong else ONE}
    dispatch(bench, struct, BYTES, ATensor=BYTES, BTensor=BYTES, **scales)


SLIDING = {name: [1, 1] for name in ("Strides", "Dilations")}
SLIDING |= {name: [0, 0] for name in ("StartPadding", "EndPadding")}
BYTE = np.ones((1, 1, 1, 1), np.uint8)


@hazard(
    "DML-QUANTIZED_LINEAR_CONVOLUTION-scale-zero",
    "2 scales that are 0",
    "first is at {0,1,0,0}",
    path="FilterScaleTensor",
)
def a_scale_for_each_feature(bench, wrong):
    struct = dml.DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC
    features = (3, 1, 1, 1)
    scales = (ZEROS if wrong else ONES).reshape(1, 3, 1, 1)
    dispatch(
        bench,
        struct,
        np.ones((1, 3, 1, 1), np.uint8),
        {**SLIDING, "GroupCount": 1},
        InputTensor=BYTE,
        InputScaleTensor=ONE,
        FilterTensor=np.ones(features, np.uint8),
        FilterScaleTensor=scales,
        OutputScaleTensor=ONE,
    )


@hazard("DML-QUANTIZED_LINEAR_AVERAGE_POOLING-scale-zero", "1 scale that is 0", path="InputScaleTensor")
def a_mean_of_scaled_bytes(bench, wrong):
    struct = dml.DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC
    scales = {"InputScaleTensor": ONE * 0 if wrong else ONE, "OutputScaleTensor": ONE}
    attributes = {**SLIDING, "WindowSize": [1, 1], "IncludePadding": False}
    dispatch(bench, struct, BYTE, attributes, InputTensor=BYTE, **scales)


@hazard("DML-QUANTIZED_LINEAR_MATRIX_MULTIPLY-scale-zero", "1 scale that is 0", path="BScaleTensor")
def a_product_of_scaled_bytes(bench, wrong):
    struct = dml.DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC
    scales = {"AScaleTensor": ONE, "BScaleTensor": ONE * 0 if wrong else ONE, "OutputScaleTensor": ONE}
    dispatch(bench, struct, BYTES, ATensor=BYTE, BTensor=BYTES, **scales)
