"""Sequences against Python's integers and NumPy's floats, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels.backend import backend
from directml_py.kernels.fill import numpy_elements, sequence

INTEGERS = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
FLOATS = [np.dtype(kind) for kind in (np.float16, np.float32, np.float64)]
COUNTS = [0, 1, 7, 2047, 2048, 2049, 100_003]


def integers(start, delta, count, dtype):
    bits = 8 * dtype.itemsize
    wrapped = [(int(start) + number * int(delta)) % (1 << bits) for number in range(count)]
    return np.array(wrapped, f"u{dtype.itemsize}").view(dtype)


def floats(start, delta, count, dtype):
    """Product and sum are rounded separately, unlike in one fused operation."""
    wide = np.float64 if dtype == np.float64 else np.float32
    with np.errstate(over="ignore", invalid="ignore"):
        products = np.arange(count).astype(wide) * wide(delta)
        return (products + wide(start)).astype(dtype)


def cases(rng, dtype):
    if dtype.kind == "f":
        for scale in (1e-6, 1.0, 1e3):
            yield [np.asarray(value * scale).astype(dtype) for value in rng.normal(size=2)]
        for special in [(np.inf, -1), (1, np.inf), (np.nan, 2), (2, np.nan), (-0.0, 0)]:
            yield [np.asarray(value, dtype) for value in special]
        return
    limits = np.iinfo(dtype)
    for _ in range(3):
        yield [np.asarray(rng.integers(limits.min, limits.max, dtype=dtype, endpoint=True)) for _ in range(2)]


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=str)
@swept("count", COUNTS)
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


def test_each_step_is_rounded():
    """0.1 + 6 * 0.1 as Microsoft's library has it; a fused operation, or FLOAT64, would leave 0.7."""
    tenth = np.asarray(0.1, np.float32)
    if backend.native is not None:
        output = np.zeros(8, np.float32)
        sequence(tenth, tenth, output)()
        assert output[6] == np.float32(0.70000005)
    assert numpy_elements(tenth, tenth, 0, 8)[6] == np.float32(0.70000005)
