"""Cumulative sums and products: accumulator precision, wrapping, zeros, exclusive scans, long axes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml

from .helpers import DECREASING, INCREASING, tensor_of

NAN, INF = math.nan, math.inf


def cumulated(name, array, axis=0, direction=INCREASING, exclusive=False, strides=None):
    struct = getattr(dml, f"DML_CUMULATIVE_{name}_OPERATOR_DESC")
    excludes = {"SUMMATION": "HasExclusiveSum", "PRODUCT": "HasExclusiveProduct"}[name]
    desc = struct(
        InputTensor=tensor_of(array, strides),
        OutputTensor=tensor_of(array),
        Axis=axis,
        AxisDirection=direction,
        **{excludes: exclusive},
    )
    return dml.evaluate(desc, [array])[0]


# values, the sums and products that include each element, and those that exclude it, in both directions
CASES = [
    ("SUMMATION", [1, 2, 4], [1, 3, 7], [7, 6, 4], [0, 1, 3], [6, 4, 0]),
    ("PRODUCT", [2, 3, 5], [2, 6, 30], [30, 15, 5], [1, 2, 6], [15, 5, 1]),
    # a shortcut that subtracts or divides the element again fails here
    ("SUMMATION", [1, INF, -1], [1, INF, INF], [INF, INF, -1], [0, 1, INF], [INF, -1, 0]),
    ("SUMMATION", [INF, -INF, 1], [INF, NAN, NAN], [NAN, -INF, 1], [0, INF, NAN], [-INF, 1, 0]),
    ("SUMMATION", [1, NAN, 2], [1, NAN, NAN], [NAN, NAN, 2], [0, 1, NAN], [NAN, 2, 0]),
    ("PRODUCT", [3, 0, 2], [3, 0, 0], [0, 0, 2], [1, 3, 0], [0, 2, 1]),
    ("PRODUCT", [0, INF, 2], [0, NAN, NAN], [NAN, INF, 2], [1, 0, NAN], [INF, 2, 1]),
    ("SUMMATION", [7], [7], [7], [0], [0]),
    ("PRODUCT", [7], [7], [7], [1], [1]),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@swept("name, values, including, backwards, excluding, both", CASES)
def test_each_mode(name, values, including, backwards, excluding, both, dtype):
    modes = itertools.product([False, True], [INCREASING, DECREASING])
    for (exclusive, direction), wanted in zip(modes, (including, backwards, excluding, both)):
        result = cumulated(name, np.array(values, dtype), direction=direction, exclusive=exclusive)
        np.testing.assert_array_equal(result, np.array(wanted, dtype))


def test_a_sum_of_negative_zeros_alone_is_one():
    """Exclusive, the sum begins with 0 and stays 0."""
    zeros = np.array([-0.0, -0.0], np.float32)
    assert np.signbit(cumulated("SUMMATION", zeros)).tolist() == [True, True]
    assert np.signbit(cumulated("SUMMATION", zeros, exclusive=True)).tolist() == [False, False]


def test_float16_is_kept_in_float32():
    """In FLOAT16 2048 + 1 is 2048 again, and 60000 + 60000 infinite for good."""
    ones = np.full(4000, 1, np.float16)
    ones[0] = 2048
    assert cumulated("SUMMATION", ones)[2000] == 4048
    assert cumulated("SUMMATION", np.array([60000, 60000, -60000], np.float16)).tolist() == [
        60000,
        INF,
        60000,
    ]
    assert cumulated("PRODUCT", np.array([60000, 2, 0.5], np.float16)).tolist() == [60000, INF, 60000]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_integers_wrap(dtype):
    limits = np.iinfo(dtype)
    high, bits = int(limits.max), limits.bits
    array = np.array([high, 1, high, 2], dtype)
    sums = [sum(map(int, array[: count + 1])) for count in range(4)]
    products = [math.prod(map(int, array[: count + 1])) for count in range(4)]
    for name, exact in (("SUMMATION", sums), ("PRODUCT", products)):
        wanted = np.array([one % 2**bits for one in exact], np.uint64).astype(dtype)
        np.testing.assert_array_equal(cumulated(name, array), wanted)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("direction", [INCREASING, DECREASING])
def test_elements_that_share_memory(direction, exclusive, axis):
    """A broadcast tensor of twos has sums that count, and powers as products."""
    array = np.full((3, 4, 5), 2, np.int64)
    counts = np.arange(array.shape[axis]) + (not exclusive)
    counts = counts if direction == INCREASING else counts[::-1]
    for name, wanted in (("SUMMATION", 2 * counts), ("PRODUCT", 2**counts)):
        result = cumulated(name, array, axis, direction, exclusive, strides=[0, 0, 0])
        np.testing.assert_array_equal(np.moveaxis(result, axis, -1) - wanted, 0)
