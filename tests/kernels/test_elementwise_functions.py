"""Functions of single elements against Python's own numbers."""

from __future__ import annotations

import itertools
import math
import operator

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels.elementwise import functions
from directml_py.kernels.elementwise.functions import FLOAT64

INF, NAN = math.inf, math.nan
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = SIGNED + UNSIGNED


def wrapped(number, kind):
    """A Python integer as ``kind`` keeps it."""
    limits = np.iinfo(kind)
    return (number - limits.min) % (1 << limits.bits) + limits.min


def corners(kind):
    """The smallest and largest integers and small ones."""
    limits = np.iinfo(kind)
    candidates = {limits.min, limits.min + 1, limits.max - 1, limits.max, *range(-8, 9), 64, 100, -77}
    return sorted(number for number in candidates if limits.min <= number <= limits.max)


def pairs(one, other):
    """Every number of ``one`` with every number of ``other``, as two lists."""
    return [list(column) for column in zip(*itertools.product(one, other))]


def units_off(values, exact):
    """How many units in the last place of FLOAT32 ``values``, rounded, are off; 0 where ``exact`` is not finite."""
    rounded, exact = values.astype(np.float32), np.asarray(exact, np.longdouble)
    nearest = exact.astype(np.float32)
    finite = np.isfinite(nearest)
    np.testing.assert_array_equal(rounded[~finite], nearest[~finite])
    return np.abs(rounded[finite] - exact[finite]) / np.spacing(np.abs(nearest[finite]))


def floats(count=20_000):
    """Any FLOAT32 there is, and more of the usual ones."""
    rng = np.random.default_rng(7)
    anything = rng.integers(0, 2**32, count, np.uint32).view(np.float32)
    special = [0.0, -0.0, INF, -INF, NAN, 1, -1, 0.5, 3.875, 4, 5, -6, 1e-45, 3.4e38]
    parts = (anything, rng.normal(0, 3, count), rng.uniform(-1, 1, count), special)
    return np.concatenate(parts, dtype=np.float32)


@pytest.mark.parametrize(
    "name",
    [
        *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cos", "cosh", "exp", "log"),
        *("sin", "sinh", "tan", "tanh"),
    ],
)
def test_functions_are_rounded_once(name):
    function, x = getattr(np, name), floats()
    with np.errstate(all="ignore"):
        exact = function(x.astype(np.longdouble))
        off = units_off(functions.in_float64(function)(x), exact)
    assert off.max() < 0.51


def test_erf():
    x = np.concatenate([np.linspace(-6, 6, 3001), np.logspace(-300, 0, 301), [-0.0, INF, -INF]])
    exact = np.array([math.erf(one) for one in x])
    assert np.abs(functions.erf(x) - exact).max() < 6e-12
    x = x.astype(np.float32)
    with np.errstate(all="ignore"):
        assert units_off(functions.erf(x), [math.erf(one) for one in x]).max() < 0.51
    assert np.isnan(functions.erf(np.array([NAN], np.float32))).all()
    assert np.signbit(functions.erf(np.array([-0.0], np.float32))).all()


def test_scale_bias_rounds_the_product():
    """3 * FLOAT32's 1/3 is 1 there."""
    third = float(np.float32(1 / 3))
    assert 3 * third != 1
    assert functions.scale_bias(np.array([3], np.float32), third, -1.0).tolist() == [0]


FLOATS = [-INF, -7.5, -2.0, -0.0, 0.0, 0.75, 2.0, 7.5, INF, NAN]


@pytest.mark.parametrize(
    ("function", "expected"),
    [(functions.modulus_floor, operator.mod), (functions.modulus_truncate, math.fmod)],
)
def test_modulus_of_floats(function, expected):
    """Python's % and C's fmod where neither is infinite, but there is no negative zero."""
    a, b = pairs(FLOATS, FLOATS)
    results = [
        expected(x, y) + 0.0 if y and not math.isinf(x) and not math.isinf(y) else NAN for x, y in zip(a, b)
    ]
    with np.errstate(all="ignore"):
        result = function(np.array(a, np.float32), np.array(b, np.float32))
    np.testing.assert_array_equal(result, np.array(results, np.float32), strict=True)
    known = ~np.isnan(result)
    assert (np.signbit(result) == np.signbit(results))[known].all()


SMALL = [kind for kind in INTEGERS if np.iinfo(kind).bits <= 32]


@pytest.mark.parametrize("kind", SMALL)
@swept("exponents", [np.int8, np.uint8, np.int32, np.uint32])
def test_integer_powers_are_exact(kind, exponents):
    x, y = pairs(corners(kind), corners(exponents))

    def expected(base, exponent):
        if exponent >= 0:
            return wrapped(pow(base, exponent, 1 << 64), kind)
        if base == 0:
            return wrapped(-1, kind)
        return base ** (exponent % 2) if base in (1, -1) else 0

    result = functions.power(np.array(x, kind), np.array(y, exponents))
    assert result.dtype == kind
    assert result.tolist() == list(map(expected, x, y))


def test_integers_to_the_power_of_floats():
    """Computed in FLOAT32, as in Microsoft's library: the roots of 9, 36 and 81 are not cut to the integer below, and
    7^10, which is 282475249, is a FLOAT32."""
    cases = [(2, 2.5, 5), (3, 4, 81), (-2, 3, -8), (-2, 0.5, 0), (10, 20, 2**31 - 1), (7, -1, 0), (5, 0, 1)]
    cases += [(9, 0.5, 3), (36, 0.5, 6), (81, 0.5, 9), (7, 10, 282475264)]
    x, y, expected = zip(*cases)
    with np.errstate(all="ignore"):
        result = functions.power(np.array(x, np.int32), np.array(y, np.float32))
    assert result.tolist() == list(expected)


@pytest.mark.parametrize("function", [functions.modulus_floor, functions.modulus_truncate])
def test_large_quotients_are_rounded(function):
    """1e8 / 3 is 33333334 in FLOAT32, and 3 times that is 1e8 again: the remainder is 0. Exactly it would be 1, with
    one rounding -2."""
    (result,) = function(np.array([1e8], np.float32), np.array([3], np.float32))
    assert result == 0


def test_powers_of_floats():
    """Negative bases have powers with whole exponents; what C has exceptions for is NaN."""
    cases = [
        (-2, 3, -8),
        (-8, 1 / 3, NAN),
        (-2, -1, -0.5),
        (0, 0, NAN),
        (NAN, 0, NAN),
        (1, NAN, NAN),
        (1, INF, NAN),
        (-0.0, -1, INF),
        (-1, 1e10, -1),
    ]
    x, y, expected = (np.array(column, np.float32) for column in zip(*cases))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(functions.power(x, y), expected)
        x, y = np.abs(floats()), floats()[::-1]
        exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
        assert units_off(functions.power(x, y), exact).max() < 0.51


@pytest.mark.parametrize("kind", UNSIGNED)
def test_bits(kind):
    bits = np.iinfo(kind).bits
    rng = np.random.default_rng(bits)
    x = np.concatenate([rng.integers(0, 1 << bits, 100, kind, endpoint=False), np.array(corners(kind), kind)])
    count = functions.bit_count(x[::-2])
    assert count.dtype == kind
    assert count.tolist() == [bin(one).count("1") for one in x[::-2].tolist()]


def test_shifts_of_two_words():
    """From a count of 64 on the upper word is the lower one's, as Microsoft's library has it."""
    x, count = np.array([100, 100, 3 << 32 | 1], np.uint64), np.array([65, 96, 64], np.uint64)
    assert functions.shift_left(x, count).tolist() == [200 << 32, 100 << 32, 1 << 32]
    assert functions.shift_right(x, count).tolist() == [0, 0, 3]


def test_inputs_stay_as_they_are():
    x, y = np.array([3, -7, 0], np.int32), np.array([0, -1, 2], np.int32)
    z = np.array([0.5, 2.0, NAN], np.float64)
    for function in (functions.divide, functions.modulus_floor, functions.power, functions.mean):
        function(x, y)
    functions.erf(z)
    functions.scale_bias(z, 2.0, 1.0)
    functions.in_float64(np.exp)(z)
    assert (x.tolist(), y.tolist()) == ([3, -7, 0], [0, -1, 2])
    np.testing.assert_array_equal(z, [0.5, 2.0, NAN])
    assert z.dtype == FLOAT64
