"""REDUCE's MIN and MAX with NaN and infinities: the other operand wins, as in Direct3D's min and max."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .helpers import reduce

NAN, INF = math.nan, math.inf
CASES = [
    # values, least, largest
    ([NAN, 1, 2], 1, 2),
    ([1, NAN, 2], 1, 2),
    ([2, 1, NAN], 1, 2),
    ([NAN, NAN, 3], 3, 3),
    ([3, NAN, NAN], 3, 3),
    ([NAN, -INF], -INF, -INF),
    ([INF, NAN], INF, INF),
    ([-INF, NAN, INF], -INF, INF),
    ([-5, -7], -7, -5),
    ([NAN, -5, -7], -7, -5),
    ([0.5], 0.5, 0.5),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("leading", [False, True], ids=["last axis", "leading axis"])
@pytest.mark.parametrize(("values", "least", "largest"), CASES)
def test_nan_loses(values, least, largest, leading, dtype):
    x = np.array([values], dtype)
    for name, expected in (("MIN", least), ("MAX", largest)):
        found = reduce(name, x.T.copy(), [0]) if leading else reduce(name, x, [1])
        assert found.dtype == dtype
        assert found.ravel().tolist() == [expected]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", ["MIN", "MAX"])
@pytest.mark.parametrize("count", [1, 2, 50])
def test_nothing_but_nan_is_nan(count, name, dtype):
    assert math.isnan(reduce(name, np.full(count, NAN, dtype), [0])[0])


@pytest.mark.parametrize(("name", "expected"), [("MIN", [0, 8]), ("MAX", [7, 15])])
def test_several_axes_with_nan_in_one_group(name, expected):
    x = np.arange(16, dtype=np.float32).reshape(2, 2, 4)
    x[0, 1, 1] = NAN
    assert reduce(name, x, [2, 1]).ravel().tolist() == expected
