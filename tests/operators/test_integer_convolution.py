"""CONVOLUTION_INTEGER's sums are exact, however many products they have, and wrap as INT32 does."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml

from .helpers import tensor_of


def convolved(x, weights, output_sizes, zeros=(None, None)):
    """One step over all of the input; ``zeros`` are the zero points."""
    count = x.ndim - 2
    x_zero, weights_zero = (None if one is None else np.array([one], x.dtype) for one in zeros)
    desc = dml.DML_CONVOLUTION_INTEGER_OPERATOR_DESC(
        InputTensor=tensor_of(x),
        InputZeroPointTensor=None if x_zero is None else tensor_of(x_zero),
        FilterTensor=tensor_of(weights),
        FilterZeroPointTensor=None if weights_zero is None else tensor_of(weights_zero),
        OutputTensor=tensor_of(np.empty(output_sizes, np.int32)),
        Strides=[1] * count,
        Dilations=[1] * count,
        StartPadding=[0] * count,
        EndPadding=[0] * count,
        GroupCount=1,
    )
    return dml.evaluate(desc, [x, x_zero, weights, weights_zero])[0]


@pytest.mark.parametrize(
    ("channels", "wanted"),
    [
        # The last odd number that FLOAT32 has is 2**24 - 1.
        (257, 257 * 65025),
        (259, 259 * 65025),
        (1001, 1001 * 65025),
        # 2**31 is between these.
        (33025, 33025 * 65025),
        (33026, 33026 * 65025 - 2**32),
    ],
)
@pytest.mark.parametrize("features", [1, 3])
def test_sums_of_the_largest_products(channels, wanted, features):
    """Few and many features take different code paths."""
    x = np.full((1, channels, 1), 255, np.uint8)
    weights = np.full((features, channels, 1), 255, np.uint8)
    assert convolved(x, weights, (1, features, 1)).ravel().tolist() == [wanted] * features


def test_sums_below_zero_wrap():
    """Each product is 255 times -255."""
    x, weights = np.full((1, 33026, 1), 127, np.int8), np.full((1, 33026, 1), -128, np.int8)
    assert convolved(x, weights, (1, 1, 1), (-128, 127)).item() == 2**32 - 33026 * 65025


@pytest.mark.parametrize("side", [17, 40])
def test_many_elements_in_a_window(side):
    """Odd sums around 2**24, in two dimensions."""
    x = np.full((1, 1, side, side), 255, np.uint8)
    weights = x.copy()
    weights[0, 0, 0, 0] = 254 + side % 2
    wanted = side * side * 65025 - 255 * (1 - side % 2)
    assert convolved(x, weights, (1, 1, 1, 1)).item() == wanted
