"""The selection and order of TOP_K and TOP_K1: ties, zeros, NaN, integer limits, layouts, long axes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.operators import operator_of

from .helpers import DECREASING, INCREASING, arg, generator, numpy_type, padded_strides, tensor, tensor_of

NAN, INF = math.nan, math.inf
DIRECTIONS = [INCREASING, DECREASING]


def top_k1(array, axis, k, direction, index_type="UINT32", strides=None, output_strides=None):
    sizes = (*array.shape[:axis], k, *array.shape[axis + 1 :])
    return dml.DML_TOP_K1_OPERATOR_DESC(
        InputTensor=tensor_of(array, strides),
        OutputValueTensor=tensor(array.dtype.name.upper(), sizes, output_strides),
        OutputIndexTensor=tensor(index_type, sizes, output_strides),
        Axis=axis,
        K=k,
        AxisDirection=direction,
    )


def top(array, k, direction, axis=0, **choices):
    """Values and indices."""
    return dml.evaluate(top_k1(array, axis, k, direction, **choices), [array])


# values, indices in increasing order, indices in decreasing order
CASES = [
    ([2, 1, 2, 1], [1, 3, 0, 2], [0, 2, 1, 3]),
    ([0.0, -0.0, 0.0], [0, 1, 2], [0, 1, 2]),
    ([-0.0, 0.0, -1, 1], [2, 0, 1, 3], [3, 0, 1, 2]),
    ([NAN, 1, 2], [1, 2, 0], [2, 1, 0]),
    ([NAN, -NAN, INF, -INF], [3, 2, 0, 1], [2, 3, 0, 1]),
    ([-NAN, 1, NAN, NAN, 1], [1, 4, 0, 2, 3], [1, 4, 0, 2, 3]),
    ([NAN, NAN], [0, 1], [0, 1]),
    ([-1, -2, INF, -INF, 3], [3, 1, 0, 4, 2], [2, 4, 0, 1, 3]),
    ([2**-24, -(2**-24), 0.0], [1, 2, 0], [0, 2, 1]),
    ([5], [0], [0]),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@swept("values, increasing, decreasing", CASES)
def test_order(values, increasing, decreasing, dtype):
    """For every K; the values are the elements themselves, zeros with their sign."""
    array = np.array(values, dtype)
    for direction, wanted in ((INCREASING, increasing), (DECREASING, decreasing)):
        for k in range(1, len(values) + 1):
            chosen, indices = top(array, k, direction)
            assert indices.tolist() == wanted[:k]
            np.testing.assert_array_equal(chosen, array[wanted[:k]])
            np.testing.assert_array_equal(np.signbit(chosen), np.signbit(array[wanted[:k]]))


def test_top_k_takes_the_largest():
    array = np.array([3, NAN, 7, -8, 7], np.float32)
    desc = dml.DML_TOP_K_OPERATOR_DESC(
        InputTensor=tensor_of(array),
        OutputValueTensor=tensor("FLOAT32", [3]),
        OutputIndexTensor=tensor("UINT32", [3]),
        Axis=0,
        K=3,
    )
    values, indices = dml.evaluate(desc, [array])
    assert (values.tolist(), indices.tolist()) == ([7, 7, 3], [2, 4, 0])


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_is_what_argmin_and_argmax_give(direction):
    """Except for NaN, which they put first if it is the first element."""
    rng = generator("TOP_K1")
    array = rng.choice(np.array([-INF, -1, -0.0, 0.0, 1, INF, NAN, NAN], np.float32), (200, 4))
    struct = dml.DML_ARGMAX_OPERATOR_DESC if direction == DECREASING else dml.DML_ARGMIN_OPERATOR_DESC
    array[:, 0] = np.where(np.isnan(array[:, 0]), 0, array[:, 0])
    _, indices = top(array, 1, direction, axis=1)
    np.testing.assert_array_equal(indices, arg(struct, array, [1]))


ENDS = [
    (name, np.iinfo(numpy_type(name)).min, np.iinfo(numpy_type(name)).max)
    for name in ("INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64")
]


@swept("direction", DIRECTIONS)
@swept("name, low, high", ENDS)
def test_integers_compare_in_their_own_type(name, low, high, direction):
    """Over the full range, and near its limits, where FLOAT64 and the other signedness order differently."""
    middle = (low + high) // 2
    for values in (
        [high, low, middle, middle + 1, high, low],
        [high - 1, high, high - 2, high],
        [low + 1, low, low + 2, low],
        [middle, middle + 1, middle - 1, middle + 1],
    ):
        ordered = sorted(
            range(len(values)), key=lambda i: -values[i] if direction == DECREASING else values[i]
        )
        for k in range(1, len(values) + 1):
            chosen, indices = top(np.array(values, numpy_type(name)), k, direction, index_type="UINT64")
            assert indices.tolist() == ordered[:k]
            assert chosen.tolist() == [values[index] for index in ordered[:k]]


@swept("k", [1, 100, 69_999, 70_000])
@swept("direction", DIRECTIONS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.int64, np.uint64])
def test_long_axes(dtype, direction, k):
    """With very many ties, and for 64 bits also with values from the full range."""
    rng = generator("TOP_K1", dtype.__name__, k)
    arrays = [rng.integers(0, 90, (2, 70_000)).astype(dtype)]
    if np.dtype(dtype).itemsize == 8:
        limits = np.iinfo(dtype)
        arrays.append(rng.choice(rng.integers(limits.min, limits.max, 5_000, dtype), (2, 70_000)))
    for array in arrays:
        _, ranks = np.unique(array, return_inverse=True)
        ranks = ranks.reshape(array.shape) * (-1 if direction == DECREASING else 1)
        wanted = np.argsort(ranks, axis=1, kind="stable")[:, :k]
        values, indices = top(array, k, direction, axis=1)
        np.testing.assert_array_equal(indices, wanted)
        np.testing.assert_array_equal(values, np.take_along_axis(array, wanted, 1))


@pytest.mark.parametrize("index_type", ["UINT32", "UINT64"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_layouts(axis, index_type):
    """Indices of 64 bits in elements of 32, as ONNX Runtime lays them out, and inputs that broadcast."""
    array = generator("TOP_K1").permutation(3 * 4 * 5).reshape(3, 4, 5).astype(np.int16)
    wanted = top(array, 2, DECREASING, axis)
    sizes = wanted[0].shape
    for strides in (padded_strides(array.shape), [1, 3, 12]):
        for output_strides in (padded_strides(sizes), [2 * sizes[1] * sizes[2], 2 * sizes[2], 2]):
            results = top(
                array,
                2,
                DECREASING,
                axis,
                strides=strides,
                output_strides=output_strides,
                index_type=index_type,
            )
            for result, values in zip(results, wanted):
                np.testing.assert_array_equal(result, values)
    same = np.broadcast_to(np.int16(7), array.shape)
    _, indices = top(same, 2, DECREASING, axis, strides=[0, 0, 0])
    np.testing.assert_array_equal(np.moveaxis(indices, axis, -1) - [0, 1], 0)


def test_views_that_run_backwards():
    array = generator("TOP_K1").normal(size=(6, 7)).astype(np.float32)
    desc, _ = decode_operator_desc(top_k1(array, 1, 3, DECREASING))
    compute = operator_of("TOP_K1").compute(desc)
    for one, other in zip(compute(array[::-1, ::-1]), compute(array[::-1, ::-1].copy())):
        np.testing.assert_array_equal(one, other)
