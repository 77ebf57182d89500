"""Which index ARGMIN and ARGMAX give: ties, NaN, several axes, output types. The operators and REDUCE's functions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml

from .helpers import DECREASING, INCREASING, INDEX_TYPES, arg, numpy_type, reduce

ARGMAX, ARGMIN = dml.DML_ARGMAX_OPERATOR_DESC, dml.DML_ARGMIN_OPERATOR_DESC
NAN, INF = math.nan, math.inf
BOTH = [pytest.param(ARGMAX, "ARGMAX", 1, id="ARGMAX"), pytest.param(ARGMIN, "ARGMIN", -1, id="ARGMIN")]
# values for ARGMAX (negated for ARGMIN), first and last index of the best
CASES = [
    ([3, 2, 1, 2, 3], 0, 4),
    ([1, 5, 5, 5, 1], 1, 3),
    ([7, 7, 7], 0, 2),
    ([4], 0, 0),
    ([0.0, -0.0], 0, 1),  # equal
    ([INF, 1, INF], 0, 2),
    ([-INF, -INF], 0, 1),
    ([2, NAN, 2], 0, 2),
    ([2, 1, NAN], 0, 0),
    ([-INF, NAN, -INF, NAN], 0, 2),
    # as Microsoft's library has it: a first NaN stays the best, as no comparison with it is true
    ([NAN, 1, 2, 2], 0, 0),
    ([NAN, -INF], 0, 0),
    ([NAN, NAN, NAN], 0, 0),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("struct", "name", "sign"), BOTH)
def test_signaling_nan(struct, name, sign, dtype):
    """Arithmetic on signalling NaN gives NaN even where quiet NaN is ignored."""
    x = np.array([1, 7, 0, 2, 3, 6, 4, 5], dtype) * dtype(sign)
    x.view(f"u{x.itemsize}")[2] = np.array(INF, dtype).view(f"u{x.itemsize}") + 1
    assert arg(struct, x, [0]).tolist() == [1]
    assert reduce(name, x, [0], output_type="UINT32").tolist() == [1]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@swept("values, first, last", CASES)
@pytest.mark.parametrize(("struct", "name", "sign"), BOTH)
def test_ties_and_nan(struct, name, sign, values, first, last, dtype):
    x = np.array(values, dtype) * dtype(sign)
    assert arg(struct, x, [0], INCREASING).tolist() == [first]
    assert arg(struct, x, [0], DECREASING).tolist() == [last]
    assert reduce(name, x, [0], output_type="UINT32").tolist() == [first]


@pytest.mark.parametrize(("struct", "name", "sign"), BOTH)
def test_rows_with_and_without_nan(struct, name, sign):
    x = np.array([[1, 3, 2], [NAN, 1, 2], [NAN, NAN, NAN], [2, 2, NAN]], np.float32) * np.float32(sign)
    assert arg(struct, x, [1], INCREASING).ravel().tolist() == [1, 0, 0, 0]
    assert arg(struct, x, [1], DECREASING).ravel().tolist() == [1, 0, 0, 1]
    assert reduce(name, x, [1], output_type="UINT32").ravel().tolist() == [1, 0, 0, 0]
    assert arg(struct, x.T.copy(), [0], DECREASING).ravel().tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("axes", [[0, 2], [2, 0]])
@pytest.mark.parametrize(("struct", "name", "sign"), BOTH)
def test_index_counts_axes_in_increasing_order(struct, name, sign, axes):
    """Sizes {2,3,4}, axes 0 and 2: the element (i, _, k) has the index 4i + k, however the axes are listed."""
    x = np.zeros((2, 3, 4), np.int32)
    x[1, 0, 2] = sign  # 6; 2k + i would be 5
    x[0, 1, 3] = sign  # 3; 2k + i would be 6
    x[1, 2, 0] = sign  # 4; 2k + i would be 1
    assert arg(struct, x, axes).tolist() == [[[6], [3], [4]]]
    assert reduce(name, x, axes, output_type="UINT32").tolist() == [[[6], [3], [4]]]


@pytest.mark.parametrize("axes", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
@pytest.mark.parametrize(("struct", "name", "sign"), BOTH)
def test_ties_over_several_axes(struct, name, sign, axes):
    """First and last refer to the flattened order, not to memory."""
    x = np.zeros((2, 3, 4), np.float32)
    x[0, 2, 1] = x[1, 0, 3] = sign  # 9 and 15
    for strides in (None, [1, 2, 6], [20, 5, 1]):
        assert arg(struct, x, axes, INCREASING, strides=strides).ravel().tolist() == [9]
        assert arg(struct, x, axes, DECREASING, strides=strides).ravel().tolist() == [15]
        assert reduce(name, x, axes, output_type="UINT32", strides=strides).ravel().tolist() == [9]


@pytest.mark.parametrize("output_type", INDEX_TYPES)
@pytest.mark.parametrize(("struct", "name", "sign"), BOTH)
def test_output_types(struct, name, sign, output_type):
    x = np.zeros(70_000, np.int8)
    x[65_537] = sign  # needs more than 16 bits
    found = [arg(struct, x, [0], output_type=output_type), reduce(name, x, [0], output_type=output_type)]
    for result in found:
        assert result.dtype == numpy_type(output_type)
        assert result.tolist() == [65_537]


@pytest.mark.parametrize(
    ("struct", "dtype", "values", "index"),
    [
        (ARGMAX, np.uint64, [1, 2**64 - 1, 2**64 - 2], 1),
        (ARGMIN, np.uint64, [2**63 + 1, 2**63, 2**64 - 1], 1),
        (ARGMAX, np.int64, [2**53, 2**53 + 1], 1),  # equal in FLOAT64
        (ARGMIN, np.int64, [-(2**63) + 1, -(2**63)], 1),
        (ARGMAX, np.uint8, [127, 128], 1),
        (ARGMIN, np.int8, [127, -128], 1),
        (ARGMAX, np.uint16, [32767, 65535], 1),
        (ARGMIN, np.uint32, [2**31, 2**31 - 1], 1),
    ],
)
def test_integers_compare_in_their_own_type(struct, dtype, values, index):
    assert arg(struct, np.array(values, dtype), [0]).tolist() == [index]
