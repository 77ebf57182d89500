"""Fingerprints: every bit counts, and the native loop gives what its twin gives."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py.kernels.backend import backend
from directml_py.kernels.fingerprint import BLOCK, STEP, fingerprint

from .loops import KIND, OTHER_KINDS, assert_passes_with_loops

SIZES = [
    0,
    1,
    3,
    4,
    5,
    7,
    8,
    9,
    11,
    12,
    13,
    100,
    8 * BLOCK - 1,
    8 * BLOCK,
    8 * BLOCK + 3,
    8 * BLOCK + 12,
    1 << 19,
]


def test_every_bit_counts():
    rng = np.random.default_rng(0)
    for size in (1, 3, 4, 7, 8, 9, 100, 1 << 19):
        content = rng.integers(0, 256, size, np.uint8)
        was = fingerprint(content)
        for bit in rng.integers(0, size * 8, 40):
            content[bit // 8] ^= 1 << (bit % 8)
            assert fingerprint(content) != was
            content[bit // 8] ^= 1 << (bit % 8)
        assert fingerprint(content) == was


def test_signs_of_floats_count():
    """High bits of words leave little behind in a product: those of all elements at once, of pairs, are not lost."""
    for dtype in (np.float16, np.float32, np.float64):
        values = np.arange(1, 1001).astype(dtype)
        pair = values.copy()
        pair[[3, 4]] *= -1
        found = {fingerprint(one.view(np.uint8)) for one in (values, -values, pair)}
        assert len(found) == 3


def by_numbers(content):
    """Word by word, in Python's integers."""
    sums = []
    for start in (0, 4):
        part = content[start:].tobytes()
        total, keys = len(part), (key(number) for number in range(1, BLOCK + 1))
        whole = len(part) // 8 * 8
        words = [int.from_bytes(part[place : place + 8], "little") for place in range(0, whole, 8)]
        assert len(words) <= BLOCK
        if words:
            total = total * STEP + sum(word * one for word, one in zip(words, keys))
        sums.append((total * STEP + int.from_bytes(part[whole:], "little")) % 2**64)
    return "".join(f"{one:016x}" for one in sums)


def key(number):
    """SplitMix64."""
    value = number * STEP % 2**64
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
    return value ^ value >> 31


@pytest.mark.parametrize("size", [one for one in SIZES if one <= 100])
def test_against_numbers(size):
    content = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    assert fingerprint(content) == by_numbers(content)


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shift", [0, 1])
def test_native_loops_give_what_their_twin_gives(size, shift, monkeypatch):
    """Also of memory that begins at an odd address, and of bytes that nobody may write."""
    content = np.random.default_rng(size).integers(0, 256, size + shift, np.uint8)[shift:]
    content.flags.writeable = False
    found = fingerprint(content)
    monkeypatch.setattr(backend, "native", None)
    assert fingerprint(content) == found


@pytest.mark.skipif(bool(KIND), reason="these are the loops of another kind")
@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_loops_of_other_processors(kind):
    assert_passes_with_loops(kind, __file__)
