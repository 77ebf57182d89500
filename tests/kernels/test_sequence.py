"""Sequences against Python's integers and NumPy's FLOAT64, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py.kernels.backend import backend
from directml_py.kernels.sequence import native_elements, numpy_elements, sequence

from .loops import IS_BASELINE, assert_passes_with_baseline_loops

INTEGERS = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
FLOATS = [np.dtype(kind) for kind in (np.float16, np.float32, np.float64)]
COUNTS = [0, 1, 7, 2047, 2048, 2049, 100_003]


def integers(start, delta, count, dtype):
    bits = 8 * dtype.itemsize
    wrapped = [(int(start) + number * int(delta)) % (1 << bits) for number in range(count)]
    return np.array(wrapped, f"u{dtype.itemsize}").view(dtype)


def floats(start, delta, count, dtype):
    """Products and sums are rounded each by itself, which one fused operation would not do."""
    products = np.arange(count, dtype=np.float64) * np.float64(delta)
    with np.errstate(over="ignore"):
        return (products + np.float64(start)).astype(dtype)


def cases(rng, dtype):
    if dtype.kind == "f":
        for scale in (1e-6, 1.0, 1e3):
            yield [np.asarray(value * scale).astype(dtype) for value in rng.normal(size=2)]
        return
    limits = np.iinfo(dtype)
    for _ in range(3):
        yield [np.asarray(rng.integers(limits.min, limits.max, dtype=dtype, endpoint=True)) for _ in range(2)]


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=str)
@pytest.mark.parametrize("count", COUNTS)
def test_elements(native, set_threads, dtype, count):
    set_threads(3)
    rng = np.random.default_rng(count)
    for start, delta in cases(rng, dtype):
        expected = (floats if dtype.kind == "f" else integers)(start, delta, count, dtype)
        memory = np.full(count * dtype.itemsize + 2, 0xA5, np.uint8)
        for first in (0, 1):
            memory[:] = 0xA5
            output = memory[first : first + count * dtype.itemsize].view(dtype)
            sequence(start, delta, output)()
            assert output.tobytes() == expected.tobytes()
            assert memory[:first].tolist() == [0xA5] * first
            assert memory[first + output.nbytes :].tolist() == [0xA5] * (2 - first)


@pytest.mark.parametrize("dtype", [np.dtype(np.int16), np.dtype(np.float16)], ids=str)
def test_elements_follow_the_coordinates(native, dtype):
    memory = np.zeros((7, 9, 10), dtype)
    output = memory.transpose(1, 2, 0)[::-1, ::2]
    sequence(np.asarray(3, dtype), np.asarray(2, dtype), output)()
    np.testing.assert_array_equal(output, np.arange(3, 3 + 2 * 315, 2).reshape(9, 5, 7))
    assert not memory[:, :, 1::2].any()


def test_halves_are_rounded_once():
    """2049 and a little more: FLOAT32 has not the little more, and 2049 alone would be a tie, and so 2048."""
    start, delta = np.asarray(2048, np.float16), np.asarray(2.0**-24, np.float16)
    output = np.zeros(3, np.float16)
    if backend.native is not None:
        native_elements(start, delta, output, 2**24)
        assert output.tolist() == [2048, 2050, 2050]
    output[:] = numpy_elements(start, delta, 2**24, 3)
    assert output.tolist() == [2048, 2050, 2050]


@pytest.mark.skipif(IS_BASELINE, reason="these are the baseline loops")
def test_baseline_loops():
    assert_passes_with_baseline_loops(__file__, "-k", "elements")
