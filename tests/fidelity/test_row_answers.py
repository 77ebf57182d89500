"""What Microsoft's library does with rows where pages leave it open: order, sums, softmax.

Functions are within a few ULP: its software device has a coarse log.
"""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml

from ..operators.helpers import arg, reduce, run

INF, NAN = np.inf, np.nan
FEW = 4
TIED, MIXED, NANS = [2, 1, 2, 1, 2, 1], [2, NAN, 3, NAN, 0, 3], [NAN, NAN, NAN]
# Values; ARGMAX in both directions, ARGMIN in both.
ORDERS = [
    (TIED, 0, 4, 1, 5),
    (MIXED, 2, 5, 4, 4),
    (NANS, 0, 0, 0, 0),
    ([NAN, 2, 1], 0, 0, 0, 0),
    ([-INF, -INF], 0, 1, 0, 1),
    ([INF, INF], 0, 1, 0, 1),
    ([-0.0, 0.0, -0.0], 0, 2, 0, 2),
]
FOUR = [1, -2, 3, 0.5]
SUMS = [
    *(("AVERAGE", FOUR, 0.625), ("L1", FOUR, 6.5), ("L2", FOUR, 3.7749171), ("LOG_SUM", FOUR, 0.9162907)),
    *(("LOG_SUM_EXP", FOUR, 3.2022533), ("MAX", FOUR, 3), ("MIN", FOUR, -2), ("MULTIPLY", FOUR, -3)),
    *(("SUM", FOUR, 2.5), ("SUM_SQUARE", FOUR, 14.25), ("ARGMAX", FOUR, 2), ("ARGMIN", FOUR, 1)),
    *(("MAX", [NAN, 1, 2], 2), ("MAX", [1, NAN, 2], 2), ("MAX", [-INF, -INF], -INF)),
    *(("MIN", [NAN, 1, 2], 1), ("MIN", [1, NAN, 2], 1), ("MIN", [-INF, -INF], -INF)),
    *(("ARGMAX", [NAN, 1, 2], 0), ("ARGMAX", [1, NAN, 2], 2), ("ARGMAX", [-INF, -INF], 0)),
    *(("ARGMIN", [NAN, 1, 2], 0), ("ARGMIN", [1, NAN, 2], 0), ("ARGMIN", [-INF, -INF], 0)),
    *(("LOG_SUM_EXP", [NAN, 1, 2], NAN), ("LOG_SUM_EXP", [1, NAN, 2], NAN), ("SUM", [NAN, 1, 2], NAN)),
    *(("LOG_SUM_EXP", [-INF, -INF], -INF), ("SUM", [1, NAN, 2], NAN), ("SUM", [-INF, -INF], -INF)),
    *(("LOG_SUM_EXP", [100, 200, 300], INF), ("LOG_SUM_EXP", [-200, -300], -INF), ("L2", [1e20, 1e20], INF)),
    *(("ARGMAX", [3, 3, 1], 0), ("ARGMIN", [1, 3, 1], 0)),
    *(("L1", [-2], 2), ("L1", [-0.0], 0), ("L2", [-2], 2), ("L2", [-0.0], 0), ("SUM_SQUARE", [-2], 4)),
    *(("LOG_SUM", [-2], NAN), ("LOG_SUM", [-0.0], -INF), ("LOG_SUM", [3], 1.0986123), ("AVERAGE", [-2], -2)),
    *(("LOG_SUM_EXP", [-2], -2), ("LOG_SUM_EXP", [-0.0], 0), ("LOG_SUM_EXP", [3], 3)),
]
HALVES = [
    ("SUM", [60000] * 4 + [-60000] * 4, 0),
    ("AVERAGE", [60000] * 4 + [-60000] * 4, 0),
    ("L2", [300] * 8, 848.5),
]
# Values; SOFTMAX, LOG_SOFTMAX and HARDMAX.
ROWS = [
    (
        [1000, 1001, 1002],
        [0.09003057, 0.24472848, 0.6652409],
        [-2.4076061, -1.407606, -0.40760604],
        [0, 0, 1],
    ),
    ([-1000, -1001], [0.73105854, 0.26894143], [-0.31326178, -1.3132617], [1, 0]),
    ([INF, 1, 2], NANS, [NAN, -INF, -INF], [1, 0, 0]),
    ([-INF, -INF], [NAN, NAN], [NAN, NAN], [1, 0]),
    ([NAN, 1], [NAN, NAN], [NAN, 46.0517], [1, 0]),
    ([1, NAN, 2], NANS, [45.0517, NAN, 46.0517], [0, 0, 1]),
    ([3, 3, 1], [0.46831053, 0.46831053, 0.063378945], [-0.7586237, -0.7586237, -2.7586236], [1, 0, 0]),
    ([-INF, 0], [0, 1], [-INF, 0], [0, 1]),
]


def assert_close(found, expected):
    expected = np.array(expected, found.dtype)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_max_ulp(np.nan_to_num(found), np.nan_to_num(expected), FEW)


@pytest.mark.parametrize(("values", "most", "last_most", "least", "last_least"), ORDERS)
def test_indices(values, most, last_most, least, last_least):
    x = np.array(values, np.float32)
    rising, falling = dml.DML_AXIS_DIRECTION_INCREASING, dml.DML_AXIS_DIRECTION_DECREASING
    largest, smallest = dml.DML_ARGMAX_OPERATOR_DESC, dml.DML_ARGMIN_OPERATOR_DESC
    found = [arg(struct, x, [0], way).item() for struct in (largest, smallest) for way in (rising, falling)]
    assert found == [most, last_most, least, last_least]


@swept("name, values, expected", SUMS)
def test_reductions(name, values, expected):
    rest = {"output_type": "UINT32"} if name.startswith("ARG") else {}
    assert_close(reduce(name, np.array(values, np.float32), [0], **rest), [expected])


@pytest.mark.parametrize(("name", "values", "expected"), HALVES)
def test_reductions_of_halves(name, values, expected):
    assert reduce(name, np.array(values, np.float16), [0]).tolist() == [expected]


def test_reductions_that_wrap_or_have_no_axes():
    assert reduce("SUM", np.array([2**31 - 1, 1], np.int32), [0]).tolist() == [-(2**31)]
    assert reduce("SUM", np.float32([1, 2, 3]), []).tolist() == [1, 2, 3]


@swept("values, softmax, log_softmax, hardmax", ROWS)
@swept("version", ["", "1"])
def test_rows(version, values, softmax, log_softmax, hardmax):
    x, axes = np.array([[[values]]], np.float32), {"Axes": [3]} if version else {}
    for name, expected in (("SOFTMAX", softmax), ("LOG_SOFTMAX", log_softmax), ("HARDMAX", hardmax)):
        assert_close(run(f"ACTIVATION_{name}{version}", x, **axes).ravel(), expected)


def test_running_sums_after_one_another():
    """Its sums of 300 elements were FLOAT32, each rounded before the next element is added."""
    x = np.random.default_rng(0).standard_normal(300).astype(np.float32)
    way = {"Axis": 0, "AxisDirection": dml.DML_AXIS_DIRECTION_INCREASING, "HasExclusiveSum": False}
    expected = np.add.accumulate(x, dtype=np.float32)
    np.testing.assert_array_equal(run("CUMULATIVE_SUMMATION", x, **way), expected)


@pytest.mark.parametrize(
    ("normalizes", "epsilon", "values", "expected"),
    [
        (True, 0.5, [1, 2, 3, 4], [-1.1338935, -0.3779645, 0.3779645, 1.1338935]),
        (True, 0.5, [1, 1, 1, 1], [0, 0, 0, 0]),
        (True, 0.0, [1, 1, 1, 1], [NAN, NAN, NAN, NAN]),
        (True, 0.0, [1, 2, 3, 4], [-1.3416407, -0.4472136, 0.4472136, 1.3416407]),
        (False, 0.5, [1, 2, 3, 4], [-1.5, -0.5, 0.5, 1.5]),
        (False, 0.0, [1, 1, 1, 1], [0, 0, 0, 0]),
    ],
)
def test_normalized_rows(normalizes, epsilon, values, expected):
    rest = {"Axes": [0], "NormalizeVariance": normalizes, "Epsilon": epsilon}
    result = run("MEAN_VARIANCE_NORMALIZATION1", np.array(values, np.float32), None, None, **rest)
    assert_close(result, expected)
