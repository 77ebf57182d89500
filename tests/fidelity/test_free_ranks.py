"""Tensors that Microsoft's library compares with fewer others than the pages do."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml

from ..operators.helpers import tensor


def quantized_convolution(bias):
    """Filters of a single 2 and of a single 3 over {{1,2},{3,4}}, and a bias of 10 and 20."""
    desc = dml.DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC(
        InputTensor=tensor("UINT8", [1, 1, 2, 2]),
        InputScaleTensor=tensor("FLOAT32", [1]),
        FilterTensor=tensor("UINT8", [2, 1, 1, 1]),
        FilterScaleTensor=tensor("FLOAT32", [1]),
        BiasTensor=tensor("INT32", bias),
        OutputScaleTensor=tensor("FLOAT32", [1]),
        OutputTensor=tensor("UINT8", [1, 2, 2, 2]),
        DimensionCount=2,
        **{name: [1, 1] for name in ("Strides", "Dilations")},
        **{name: [0, 0] for name in ("StartPadding", "EndPadding")},
        GroupCount=1,
    )
    one = np.ones(1, np.float32)
    pixels, filters = np.arange(1, 5, dtype=np.uint8), np.array([2, 3], np.uint8)
    inputs = [pixels.reshape(1, 1, 2, 2), one, None, filters.reshape(2, 1, 1, 1), one, None]
    return desc, [*inputs, np.array([10, 20], np.int32).reshape(bias), one, None]


@pytest.mark.operator("QUANTIZED_LINEAR_CONVOLUTION")
@pytest.mark.parametrize(("bias", "warns"), [([1, 2, 1, 1], False), ([1, 2, 1], True)])
def test_a_bias_with_dimensions_of_its_own(bias, warns):
    desc, inputs = quantized_convolution(bias)
    (found,) = dml.evaluate(desc, inputs)
    np.testing.assert_array_equal(found, [[[[12, 14], [16, 18]], [[23, 26], [29, 32]]]])
    (*problems,) = dml.validate(desc, strict=True)
    rules = ["DML-QUANTIZED_LINEAR_CONVOLUTION-bias-dimension-count"] * warns
    assert [problem.rule for problem in problems] == rules


def region_gradient(image, wants_image):
    halves = tensor("FLOAT16", [1, 1, 4, 4])
    return dml.DML_ROI_ALIGN_GRAD_OPERATOR_DESC(
        InputTensor=tensor(image, [1, 1, 4, 4]),
        InputGradientTensor=tensor("FLOAT16", [1, 1, 2, 2]),
        ROITensor=tensor("FLOAT16", [1, 4]),
        BatchIndicesTensor=tensor("UINT32", [1]),
        OutputGradientTensor=halves if wants_image else None,
        OutputROIGradientTensor=tensor("FLOAT16", [1, 4]),
        ReductionFunction=dml.DML_REDUCE_FUNCTION_AVERAGE,
        InterpolationMode=dml.DML_INTERPOLATION_MODE_LINEAR,
        SpatialScaleX=1,
        SpatialScaleY=1,
        MinimumSamplesPerOutput=1,
        MaximumSamplesPerOutput=1,
    )


@pytest.mark.operator("ROI_ALIGN_GRAD")
def test_an_image_of_another_type_than_its_regions():
    """Refused where the image's gradient, of the others' type, is an output; accepted where only that of the regions
    is."""
    image = np.arange(16).reshape(1, 1, 4, 4)
    others = [np.ones((1, 1, 2, 2), np.float16), np.array([[0.25, 0.25, 2.25, 2.25]], np.float16)]
    gradients = [
        dml.evaluate(region_gradient(name, False), [image.astype(dtype), *others, np.zeros(1, np.uint32)])[-1]
        for name, dtype in (("FLOAT16", np.float16), ("FLOAT32", np.float32))
    ]
    np.testing.assert_array_equal(*gradients)
    # Two by two elements at 0 and 1, in an image of 4 by 4 whose slopes are 1 along rows and 4 down.
    np.testing.assert_array_equal(gradients[1], [[2 * (4 + 3), 8 * (4 + 3), 2 * 1, 8 * 1]])
    (problem,) = dml.validate(region_gradient("FLOAT32", True))
    assert problem.rule == "DML-ROI_ALIGN_GRAD-image-data-type"
    (warned,) = dml.validate(region_gradient("FLOAT32", False), strict=True)
    assert warned.rule == "DML-ROI_ALIGN_GRAD-image-type-alone"
