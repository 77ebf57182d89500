"""LOG_SUM_EXP is the logarithm of a sum that FLOAT32 must have: without its largest element taken out, it overflows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sweeps import swept

from .helpers import generator, padded_strides, reduce

LN2, LN3 = math.log(2), math.log(3)
INF = math.inf
# values -> what Microsoft's library gives
CASES = [
    ([100, 200, 300], INF),
    ([-200, -300], -INF),
    ([1e4, -1e4], INF),
    ([-1e4, -1e4, -1e4], -INF),
    ([0, -1e4], 0),
    ([0, 0], LN2),
    ([88, 88], 88 + LN2),
    ([89, 89], INF),
    ([-90, -90], -90 + LN2),
    ([3.5], 3.5),
    ([-1e4], -INF),
    ([-INF], -INF),
    ([-INF, -INF], -INF),
    ([-INF, 7], 7),
    ([-INF, 1e4, 1e4], INF),
    ([INF, 1], INF),
    ([INF, INF], INF),
    ([INF, -INF], INF),
    ([INF, 1e4], INF),
    ([math.nan, 1], math.nan),
    ([1, math.nan, 2], math.nan),
    ([math.nan, INF], math.nan),
    ([math.nan, -INF], math.nan),
    ([1, 1 + LN2, 1 + LN3], 1 + math.log(6)),
]


def same_number(found, expected, dtype):
    if math.isnan(expected):
        return math.isnan(found)
    return found == expected or abs(found - expected) <= float(np.spacing(dtype(abs(expected))))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@swept("values, expected", CASES)
def test_value(values, expected, dtype):
    x = np.array(values, dtype)
    found = reduce("LOG_SUM_EXP", x, [0])
    assert found.dtype == dtype
    assert same_number(float(found[0]), expected, dtype)


@pytest.mark.parametrize("axis", [0, 1])
def test_rows_that_overflow_spoil_no_others(axis):
    x = np.array([[1e4, 1e4], [-1e4, -1e4], [0, 0], [-INF, -INF], [INF, 0], [-80, -80]], np.float32)
    found = reduce("LOG_SUM_EXP", x if axis else x.T.copy(), [axis]).ravel().tolist()
    expected = [INF, -INF, LN2, -INF, INF, -80 + LN2]
    assert all(same_number(got, wanted, np.float32) for got, wanted in zip(found, expected))


def test_many_elements():
    found = reduce("LOG_SUM_EXP", np.zeros(1_000_000, np.float32), [0])
    assert found.tolist() == [np.float32(math.log(1_000_000))]


def test_small_terms_count():
    """A million times exp(-18) plus 1: each term alone is lost in FLOAT32, their sum is not."""
    x = np.full(1_000_001, -18, np.float32)
    x[500_000] = 0
    expected = math.log1p(1_000_000 * math.exp(-18))
    assert abs(float(reduce("LOG_SUM_EXP", x, [0])[0]) - expected) <= np.spacing(np.float32(expected))


@pytest.mark.parametrize("axes", [[0], [2], [0, 2], [2, 1, 0]])
def test_strided_input(axes):
    x = generator("log_sum_exp").normal(0, 20, (4, 5, 6)).astype(np.float32)
    found = reduce("LOG_SUM_EXP", x, axes, strides=padded_strides(x.shape))
    kept = [axis for axis in range(3) if axis not in axes]
    groups = x.transpose(kept + sorted(axes)).reshape(found.size, -1).astype(np.float64)
    tops = groups.max(axis=1)
    expected = [top + math.log(math.fsum(np.exp(group - top))) for group, top in zip(groups, tops)]
    assert all(same_number(got, wanted, np.float32) for got, wanted in zip(found.ravel().tolist(), expected))
