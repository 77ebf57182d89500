"""FLOAT16 to FLOAT32 and back, against NumPy's conversions."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py.kernels import half
from directml_py.kernels.backend import backend

EVERY = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def assert_same(found, expected):
    """The same bits, but NaN is NaN."""
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), nan)
    bits = f"u{found.itemsize}"
    np.testing.assert_array_equal(
        np.ascontiguousarray(found).view(bits)[~nan], np.ascontiguousarray(expected).view(bits)[~nan]
    )


@pytest.fixture(params=["native", "numpy"])
def _loops(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(backend, "native", None)
    else:
        request.getfixturevalue("native")


@pytest.mark.usefixtures("_loops")
@pytest.mark.parametrize(
    "x", [EVERY, EVERY[3:11], EVERY[::-3], EVERY.reshape(256, 256).T, EVERY[5], EVERY[:0]], ids=str
)
def test_every_float16_is_widened(x):
    x = np.asarray(x)
    assert_same(half.widened(x), x.astype(np.float32))


@pytest.mark.usefixtures("_loops")
def test_numbers_are_rounded_to_the_nearest_and_to_even():
    exact = np.unique(EVERY[np.isfinite(EVERY)].astype(np.float32))
    between = (exact[:-1] + exact[1:]) / 2
    few = np.arange(0, 1 << 32, 65521, dtype=np.uint64).astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        groups = [exact, between, few, -between]
        groups += [np.nextafter(x, np.float32(end)) for x in (exact, between) for end in (-np.inf, np.inf)]
        groups.append(np.array([65519.996, 65520, np.inf, -np.inf, np.nan, -0.0], np.float32))
        for values in groups:
            output = np.empty(values.shape, np.float16)
            half.store(output, values)
            assert_same(output, values.astype(np.float16))
            spread = np.zeros((len(values), 2), np.float16)
            half.store(spread[:, 1], values)
            assert_same(spread[:, 1], output)
            assert not spread[:, 0].any()


@pytest.mark.usefixtures("_loops")
def test_what_is_stored_may_be_broadcast_and_of_any_type():
    output = np.zeros((2, 3), np.float16)
    for values in (2.5, np.float32(2.5), np.array([2.5]), np.full((2, 1), 2.5, np.float32)):
        output[...] = 0
        half.store(output, values)
        assert (output == 2.5).all()
    bytes_ = np.zeros(3, np.uint8)
    half.store(bytes_, np.array([True, False, True]))
    assert bytes_.tolist() == [1, 0, 1]
    half.store(bytes_, np.array([257, -1, 3]))
    assert bytes_.tolist() == [1, 255, 3]


def test_other_types_are_computed_in_themselves():
    x = np.arange(3)
    assert half.widened(x) is x


@pytest.mark.usefixtures("_loops")
def test_elements_at_odd_addresses():
    memory = np.zeros(2 * 64 + 1, np.uint8)
    x = memory[1:].view(np.float16)
    half.store(x, np.arange(64, dtype=np.float32))
    assert half.widened(x).tolist() == list(range(64))
