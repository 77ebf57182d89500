"""Regions of interest with batch indices out of range, or with swapped corners."""

from __future__ import annotations

import numpy as np

import directml_py as dml

from ..operators.helpers import function, tensor
from .hazard import hazard

IMAGE, OUTPUT, REGIONS = (2, 1, 2, 2), (2, 1, 1, 1), (1, 1, 2, 4)


def sampled(bench, struct, batches, **fields):
    """Two regions of two images."""
    tensors = {
        "InputTensor": tensor("FLOAT32", IMAGE),
        "ROITensor": tensor("FLOAT32", REGIONS),
        "BatchIndicesTensor": tensor("UINT32", (1, 1, 1, 2)),
        **fields,
    }
    op = bench.ready(
        struct(
            **tensors,
            ReductionFunction=function("AVERAGE"),
            InterpolationMode=dml.DML_INTERPOLATION_MODE_LINEAR,
            SpatialScaleX=1.0,
            SpatialScaleY=1.0,
            MinimumSamplesPerOutput=1,
            MaximumSamplesPerOutput=1,
        )
    )
    named = np.array(batches, np.uint32)
    inputs = [None if slot.tensor is None else bench.buffer(32) for slot in op.inputs[:-1]]
    inputs.append(bench.buffer(8, data=named))
    bench.dispatch(op, inputs, [None if slot.tensor is None else bench.buffer(32) for slot in op.outputs])
    bench.execute()


def outside(rule):
    return hazard(rule, "2 indices outside [0, 1]", "first is 2 at {0,0,0,0}", path="BatchIndicesTensor")


def batches(wrong):
    return (2, 2**32 - 1) if wrong else (1, 0)


@outside("DML-ROI_ALIGN-batch-range")
def sampling_a_missing_image(bench, wrong):
    sampled(bench, dml.DML_ROI_ALIGN_OPERATOR_DESC, batches(wrong), OutputTensor=tensor("FLOAT32", OUTPUT))


@outside("DML-ROI_ALIGN1-batch-range")
def sampling_another_missing_image(bench, wrong):
    sampled(bench, dml.DML_ROI_ALIGN1_OPERATOR_DESC, batches(wrong), OutputTensor=tensor("FLOAT32", OUTPUT))


@outside("DML-ROI_ALIGN_GRAD-batch-range")
def the_gradient_of_a_missing_image(bench, wrong):
    """InputTensor is null; OutputGradientTensor has the image's sizes."""
    sampled(
        bench,
        dml.DML_ROI_ALIGN_GRAD_OPERATOR_DESC,
        batches(wrong),
        InputTensor=None,
        InputGradientTensor=tensor("FLOAT32", OUTPUT),
        OutputGradientTensor=tensor("FLOAT32", IMAGE),
        OutputROIGradientTensor=None,
    )


def pooled(bench, *regions):
    op = bench.ready(
        dml.DML_ROI_POOLING_OPERATOR_DESC(
            InputTensor=tensor("FLOAT32", IMAGE),
            ROITensor=tensor("FLOAT32", (1, 1, len(regions), 5)),
            OutputTensor=tensor("FLOAT32", (len(regions), 1, 1, 1)),
            SpatialScale=1.0,
            PooledSize=dml.DML_SIZE_2D(Width=1, Height=1),
        )
    )
    data = np.array(regions, np.float32)
    bench.dispatch(op, [bench.buffer(32), bench.buffer(data.nbytes, data=data)], [bench.buffer(32)])
    bench.execute()


@hazard(
    "DML-ROI_POOLING-batch-range",
    "4 regions whose batch is not a whole number in [0, 1]",
    "first has the index 1",
    path="ROITensor",
)
def pooling_an_image_that_there_is_not(bench, wrong):
    named = (0, 2, 0.5, -1, np.nan) if wrong else (0, 1, 1, 0, 0)
    pooled(bench, *((batch, 0, 0, 1, 1) for batch in named))


@hazard(
    "DML-ROI_POOLING-corners",
    "3 regions whose second corner is not at or after the first",
    "first has the index 1",
    path="ROITensor",
)
def pooling_the_wrong_way_round(bench, wrong):
    """A region may have a single element, and may lie outside the image."""
    backwards = ((0, 1, 0, 0, 0), (0, 0, 1, 1, 0), (0, 0, np.nan, 0, 0)) if wrong else ()
    pooled(bench, (0, 0, 0, 0, 0), *backwards, (1, -5, -5, 9, 9))
