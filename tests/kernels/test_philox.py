"""Philox 4x32-10: known answers, a counter of 128 bits, and any part of the sequence by itself."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels import philox
from directml_py.kernels.backend import backend

# From the file kat_vectors of Random123, philox4x32 with 10 rounds: the counter and the key, and the words.
KNOWN = [
    ("00000000 00000000 00000000 00000000 00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]
KEY = [0xA4093822, 0x299F31D0]
ONES = 2**32 - 1


def hexadecimal(text):
    return np.array([int(word, 16) for word in text.split()], np.uint32)


@pytest.mark.parametrize(("state", "words"), KNOWN)
def test_known_answers(state, words):
    np.testing.assert_array_equal(philox.words(hexadecimal(state), 0, 4), hexadecimal(words))


CARRIES = [
    # a counter, two less than where its words carry, and what it is two blocks later
    ([ONES - 1, 5, 6, 7], [0, 6, 6, 7]),
    ([ONES - 1, ONES, 6, 7], [0, 0, 7, 7]),
    ([ONES - 1, ONES, ONES, 7], [0, 0, 0, 8]),
    ([ONES - 1, ONES, ONES, ONES], [0, 0, 0, 0]),
]


@pytest.mark.parametrize(("before", "after"), CARRIES)
def test_the_counter_carries(before, after):
    """Within a sequence as between two."""
    state, later = (np.array([*counter, *KEY], np.uint32) for counter in (before, after))
    np.testing.assert_array_equal(philox.words(state, 0, 16)[8:], philox.words(later, 0, 8))
    for count in (5, 6, 7, 8):
        np.testing.assert_array_equal(philox.advanced(state, count), later)
    assert philox.advanced(state, 4)[0] == ONES
    assert philox.advanced(state, 9)[0] == 1


def test_the_counter_carries_more_than_once_in_a_word():
    state = np.array([[[7, 0, 0, 0, *KEY]]], np.uint32)
    np.testing.assert_array_equal(philox.advanced(state, 4 * 2**32 + 1), [[[8, 1, 0, 0, *KEY]]])
    np.testing.assert_array_equal(
        philox.words(state, 4 * 2**32, 4), philox.words(np.array([7, 1, 0, 0, *KEY], np.uint32), 0, 4)
    )


@pytest.mark.parametrize("count", [1, 4095, 4096, 4097, 3_000_002])
@pytest.mark.usefixtures("native")
def test_blocks_that_threads_share(count, threads):
    """The counter's lower half wraps in the middle of one; what is behind the words stays."""
    state = np.array([ONES - 2500, ONES, 6, 7, *KEY], np.uint32)
    memory = np.full(count + 7, 9, np.uint32)
    philox.generate(state, memory[3 : count + 3])()
    counter, key = philox.state_numbers(state)
    right = philox.numpy_blocks(counter, key, philox.blocks_for(count)).ravel()[:count]
    np.testing.assert_array_equal(memory, [9, 9, 9, *right, 9, 9, 9, 9])


@swept("first", range(9))
@swept("count", [1, 2, 3, 4, 5, 8])
def test_any_part_of_the_sequence(first, count):
    state = np.array([ONES - 1, ONES, 1, 2, *KEY], np.uint32)
    whole = philox.words(state, 0, 20)
    np.testing.assert_array_equal(philox.words(state, first, count), whole[first : first + count])


@pytest.mark.usefixtures("native")
@swept("count", [1, 15, 16, 17, 1000])
@swept("counter", [0, 2**32 - 5, 2**64 - 16, 2**64 - 5, 2**96 - 3, 2**128 - 20])
def test_native_loops_give_what_their_twin_gives(counter, count):
    key = 0x299F31D0A4093822
    np.testing.assert_array_equal(
        philox.blocks(counter, key, count), philox.numpy_blocks(counter, key, count)
    )


def test_known_answers_without_native_loops(monkeypatch):
    monkeypatch.setattr(backend, "native", None)
    for state, words in KNOWN:
        np.testing.assert_array_equal(philox.words(hexadecimal(state), 0, 4), hexadecimal(words))
