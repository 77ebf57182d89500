"""Bugs that leave every call right: only results tell, beside those of a reference."""

from __future__ import annotations

import directml_py as dml

from ..dml.helpers import identity, tensor
from .bug import bug
from .desc_bugs import FLOAT16, FLOAT32, convolution


@bug("a flipped convolution: CONVOLUTION where CROSS_CORRELATION is meant")
def a_flipped_filter(bench, wrong):
    return convolution(
        Mode=dml.DML_CONVOLUTION_MODE_CONVOLUTION if wrong else dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION
    )


@bug("NHWC data described as NCHW of the same sizes")
def another_layout(bench, wrong):
    nhwc = [36, 1, 12, 2]
    x = tensor(1, 2, 3, 6) if wrong else tensor(1, 2, 3, 6, strides=nhwc)
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, tensor(1, 2, 3, 6))


@bug("the wrong padding mode")
def another_padding(bench, wrong):
    return dml.DML_PADDING_OPERATOR_DESC(
        InputTensor=tensor(1, 1, 1, 3),
        OutputTensor=tensor(1, 1, 1, 5),
        PaddingMode=dml.DML_PADDING_MODE_CONSTANT if wrong else dml.DML_PADDING_MODE_EDGE,
        PaddingValue=0.0,
        StartPadding=[0, 0, 0, 1],
        EndPadding=[0, 0, 0, 1],
    )


@bug("`TotalTensorSizeInBytes` computed for a wider data type")
def a_size_of_another_type(bench, wrong):
    size = dml.DMLCalcBufferTensorSize(FLOAT32 if wrong else FLOAT16, 4, [1, 1, 1, 8], None)
    half = dml.tensor_desc(FLOAT16, [1, 1, 1, 8], total_size=size)
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(half, half)


@bug("inputs of the same sizes bound in the wrong order")
def swapped_inputs(bench, wrong):
    op = bench.ready(dml.DML_ELEMENT_WISE_SUBTRACT_OPERATOR_DESC(*[tensor(4)] * 3))
    inputs = [bench.buffer(16), bench.buffer(16)]
    bench.dispatch(op, inputs[::-1] if wrong else inputs, [bench.buffer(16)])
    bench.execute()


@bug("an operator dispatched twice where once is meant")
def a_second_dispatch(bench, wrong):
    op = bench.ready(identity())
    x, y = bench.buffer(16), bench.buffer(16)
    bench.dispatch(op, [x], [y])
    if wrong:
        bench.commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.UAV(None)])
        bench.dispatch(op, [x], [y])
    bench.execute()
