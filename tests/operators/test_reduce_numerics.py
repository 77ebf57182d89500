"""REDUCE's floating-point accuracy, overflow behaviour, and single rounding of FLOAT16."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sweeps import swept

from .helpers import generator, padded_strides, reduce

MILLION = 1_000_000


def pairwise(row):
    """NumPy's pairwise sum: what it does along contiguous memory, in the row's own type."""
    return float(np.add.reduce(np.ascontiguousarray(row)))


def rows(kind):
    """Two adversarial FLOAT32 rows of a million elements each."""
    rng = generator("sums", kind)
    if kind == "uniform":
        return rng.random((2, MILLION), np.float32)
    if kind == "tenths":
        return np.full((2, MILLION), np.float32(0.1))
    if kind == "cancelling":
        half = (rng.random((2, MILLION // 2)) * 1e6).astype(np.float32)
        x = np.concatenate([half, -half], axis=1)
        x[:, ::1000] += np.float32(1)
        return rng.permuted(x, axis=1)
    x = rng.random((2, MILLION), np.float32)
    x[:, 0] = 2.0**24
    return x


@pytest.mark.parametrize("layout", ["contiguous", "strided", "leading axis"])
@pytest.mark.parametrize("kind", ["uniform", "tenths", "cancelling", "large first"])
def test_sum_is_as_exact_as_a_pairwise_one(kind, layout):
    """For any axis and memory layout; a sequential FLOAT32 sum is not as accurate."""
    x = rows(kind)
    if layout == "leading axis":
        found = reduce("SUM", np.ascontiguousarray(x.T), [0]).ravel()
    else:
        strides = padded_strides(x.shape) if layout == "strided" else None
        found = reduce("SUM", x, [1], strides=strides).ravel()
    assert found.dtype == np.float32
    for row, value in zip(x, found):
        exact = math.fsum(row.tolist())
        assert abs(float(value) - exact) <= abs(pairwise(row) - exact)
        assert abs(float(value) - exact) <= np.spacing(np.float32(abs(exact)))


def test_a_running_sum_would_fail():
    """The data above is hard enough: a sequential sum is far off."""
    row = rows("tenths")[0]
    running = float(np.cumsum(row)[-1])
    assert abs(running - math.fsum(row.tolist())) > 100


@pytest.mark.parametrize("axes", [[0, 1], [0, 2], [1, 2], [0, 1, 2], [2, 0]])
def test_sum_over_several_axes(axes):
    x = generator("axes").normal(0, 1000, (50, 60, 70)).astype(np.float32)
    found = reduce("SUM", x, axes)
    kept = [axis for axis in range(3) if axis not in axes]
    groups = x.transpose(kept + sorted(axes)).reshape(found.size, -1)
    exact = np.array([math.fsum(group.tolist()) for group in groups])
    assert np.all(np.abs(found.ravel() - exact) <= np.spacing(np.abs(exact).astype(np.float32)))


HALF_SUMS = {
    # name: function, input, exact result in FLOAT16
    "4096 ones: 2048 + 1 is 2048 in FLOAT16": ("SUM", [1.0] * 4096, 4096),
    "60000 ones": ("SUM", [1.0] * 60000, 60000),
    "rounded once: 2048 + 1 + 1": ("SUM", [2048, 1, 1], 2050),
    "rounded once: 2048 + 1 is a tie": ("SUM", [2048, 1], 2048),
    "rounded once: 2050 + 1 is a tie": ("SUM", [2050, 1], 2052),
    "beyond FLOAT16 on the way": ("SUM", [60000, 60000, -60000], 60000),
    "the result overflows": ("SUM", [60000, 60000], math.inf),
    "rounds up to infinity": ("SUM", [65504, 16], math.inf),
    "stays below infinity": ("SUM", [65504, 15], 65504),
    "L1 beyond FLOAT16 is infinite": ("L1", [-60000, 60000], math.inf),
    "L1 of 4096 minus ones": ("L1", [-1.0] * 4096, 4096),
    "average of large": ("AVERAGE", [60000, 60000, 60000, 60000], 60000),
    "average of many tenths": ("AVERAGE", [0.1] * MILLION, float(np.float16(0.1))),
    "squares beyond FLOAT16": ("L2", [300, 400], 500),
    "squares below FLOAT16": ("L2", [3 * 2.0**-14, 4 * 2.0**-14], 5 * 2.0**-14),
    "sum of squares rounded once": ("SUM_SQUARE", [45, 5, 1], 2052),  # 2025 + 25 + 1 = 2051, a tie
    # 3 * 1612.524 = 4837.57 is nearest to 4836; 3 * 1613, of rounded squares, to 4840
    "squares are not rounded": ("SUM_SQUARE", [40.15625] * 3, 4836),
    "product beyond FLOAT16 on the way": ("MULTIPLY", [1024, 1024, 2.0**-10], 1024),
    "product below FLOAT16 on the way": ("MULTIPLY", [2.0**-14, 2.0**-14, 2.0**14], 2.0**-14),
    "logarithm of a sum beyond FLOAT16": ("LOG_SUM", [60000, 60000], float(np.float16(math.log(120000)))),
    "a subnormal survives": ("SUM", [2.0**-24, 2.0**-24], 2.0**-23),
}


@swept("leading", [False, True])
@pytest.mark.parametrize("case", HALF_SUMS)
def test_float16_is_computed_in_float32(case, leading):
    name, values, expected = HALF_SUMS[case]
    x = np.array([values, values], np.float16)
    found = reduce(name, np.ascontiguousarray(x.T), [0]) if leading else reduce(name, x, [1])
    assert found.dtype == np.float16
    assert found.ravel().tolist() == [expected, expected]


def test_float32_squares_overflow_in_l2():
    """As in Microsoft's library: 1e20^2 is beyond FLOAT32, 1e-30^2 below it, though their roots are not."""
    x = np.array([[1e20, 1e20], [1e-30, 1e-30], [3e18, 4e18]], np.float32)
    assert reduce("L2", x, [1]).ravel().tolist() == [math.inf, 0, np.float32(5e18)]


def test_sum_square_beyond_float32_is_infinite():
    assert reduce("SUM_SQUARE", np.array([3e30], np.float32), [0]).tolist() == [math.inf]


def test_log_sum_of_zero_and_below():
    x = np.array([[1, -1], [1, -2]], np.float32)
    zero, negative = reduce("LOG_SUM", x, [1]).ravel().tolist()
    assert zero == -math.inf
    assert math.isnan(negative)


@pytest.mark.parametrize("name", ["SUM", "AVERAGE", "L1", "L2", "SUM_SQUARE", "LOG_SUM", "MULTIPLY"])
@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_nan_spoils_its_own_row_only(name, kind):
    x = np.array([[1, math.nan], [1, 1]], kind)
    spoiled, clean = reduce(name, x, [1]).ravel().tolist()
    assert math.isnan(spoiled)
    assert not math.isnan(clean)


def test_infinities_of_both_signs_make_nan():
    x = np.array([[math.inf, -math.inf], [math.inf, 1]], np.float32)
    mixed, alone = reduce("SUM", x, [1]).ravel().tolist()
    assert math.isnan(mixed)
    assert alone == math.inf


@pytest.mark.parametrize("axes", [[0], [1], [0, 1]])
def test_reducing_a_dimension_of_size_one_leaves_the_elements(axes):
    x = np.array([[2.5]], np.float32)
    for name in ("SUM", "AVERAGE", "L1", "L2", "MULTIPLY", "MIN", "MAX", "LOG_SUM_EXP"):
        assert reduce(name, x, axes).tolist() == [[2.5]]
    assert reduce("SUM_SQUARE", x, axes).tolist() == [[6.25]]
