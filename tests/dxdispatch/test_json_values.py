"""Integers of a model: the limits are accepted, the next number is not."""

from __future__ import annotations

import pytest

from directml_py.dxdispatch.json_values import integer, number
from directml_py.dxdispatch.model_files import ModelError

LIMITS = {
    (8, False): (0, 255),
    (8, True): (-128, 127),
    (32, False): (0, 4294967295),
    (32, True): (-2147483648, 2147483647),
    (64, False): (0, 18446744073709551615),
    (64, True): (-9223372036854775808, 9223372036854775807),
}


@pytest.mark.parametrize(("bits", "signed"), LIMITS)
def test_limits(bits, signed):
    low, high = LIMITS[bits, signed]
    parse = integer(bits, signed)
    assert [parse(value) for value in (low, high)] == [low, high]
    for value in (low - 1, high + 1, True, 1.0, "1", None):
        with pytest.raises(ModelError, match=r"narrowing_error|Expected an? (un)?signed integer"):
            parse(value)


@pytest.mark.parametrize("value", [2**53, 2**53 + 2, -(2**63), 2**63, 2**64, 2**64 + 1, -(2**63) - 1, 10**30])
def test_integers_for_numbers(value):
    """Integers beyond 64 bits are rounded."""
    assert number(value) == float(value)


@pytest.mark.parametrize("value", [2**53 + 1, 2**64 - 1, -(2**63) + 1])
def test_integers_that_are_no_double(value):
    with pytest.raises(ModelError, match="Expected a number"):
        number(value)
