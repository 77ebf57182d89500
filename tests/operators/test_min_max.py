"""MIN and MAX with NaN and infinities: the other operand wins, as in Direct3D's min and max."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels.reduce import REDUCTIONS

from .helpers import computed, reduce, run

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
@swept("leading", [False, True])
@swept("values, least, largest", CASES)
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


# Signaling NaNs of both signs, and a quiet one.
SIGNALING = np.array([0x7F800001, 0xFFA00000, 0x7FC00000], np.uint32).view(np.float32)
BESIDE = {
    "ELEMENT_WISE_MAX": ([3, 3, 3], {}),
    "ELEMENT_WISE_MIN": ([3, 3, 3], {}),
    "ELEMENT_WISE_CLIP": (None, {"Min": -1, "Max": 3}),
    "ELEMENT_WISE_THRESHOLD": (None, {"Min": 3}),
}


@pytest.mark.parametrize("count", [3, 99])
@pytest.mark.parametrize("name", BESIDE)
def test_signaling_nan_loses(name, count):
    """In the loops of this run, and in the functions that tell what they compute."""
    other, attributes = BESIDE[name]
    x = np.resize(SIGNALING, count)
    inputs = [x] if other is None else [x, np.resize(np.float32(other), count)]
    swapped = inputs[::-1]
    for arrays in (inputs, swapped):
        assert run(name, *arrays, **attributes).tolist() == [3] * count
        assert computed(name, *arrays, **attributes).tolist() == [3] * count


@pytest.mark.parametrize("count", [2, 40, 99])
@pytest.mark.parametrize(("name", "expected"), [("MIN", -2), ("MAX", 7)])
def test_signaling_nan_in_a_group(name, expected, count):
    x = np.resize(SIGNALING, (4, count))
    x[:, 1], x[:, 0] = 7, -2
    x[:, 2:] = np.resize(SIGNALING, count - 2)
    x = np.ascontiguousarray(x[:, ::-1])
    assert reduce(name, x, [1]).ravel().tolist() == [expected] * 4
    assert REDUCTIONS[name](x, (1,)).ravel().tolist() == [expected] * 4
