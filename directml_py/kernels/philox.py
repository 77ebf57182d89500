"""Philox 4x32-10: counter-based random numbers, as in the Random123 library.

J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from .backend import backend
from .decisions import ABSENT, Declined, take
from .fill import fill, native_fill
from .native_arrays import Array, Run

ROUNDS = 10
MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
# The constants that each round adds to the words of the key.
KEY_INCREMENTS = 0x9E3779B9, 0xBB67AE85
COUNTER_WORDS = 4
LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def words(state: Array, first: int, count: int) -> Array:
    """``count`` UINT32 words of the sequence that ``state`` begins, from word ``first`` on.

    ``state``: six UINT32 words, the counter's four and the key's two, least significant first. Each value of the
    counter gives four words.
    """
    counter, key = state_numbers(state)
    start, skipped = divmod(first, COUNTER_WORDS)
    return blocks(counter + start, key, blocks_for(skipped + count)).ravel()[skipped : skipped + count]


def generate(state: Array, output: Array) -> Run:
    """Bind words of the sequence to the elements of a UINT32 ``output``, in coordinate order, and return the call that
    generates them."""
    if backend.native is None:
        Declined("fill", ABSENT)
    else:
        take("fill")
    if backend.native is None or not output.flags.c_contiguous:
        return fill(partial(words, state), output)
    native = native_fill("PHILOX", output)

    def run() -> None:
        a, b, c, d, *key = state.ravel().tolist()
        native.task.start, native.task.high, native.task.key = a | b << 32, c | d << 32, key
        native()

    return run


def advanced(state: Array, count: int) -> Array:
    """The state after ``count`` words: the rest of a block is discarded."""
    counter, key = state_numbers(state)
    counter = (counter + blocks_for(count)) % 2**128
    numbers = counter.to_bytes(16, "little") + key.to_bytes(8, "little")
    return np.frombuffer(numbers, "<u4").astype(np.uint32).reshape(state.shape)


def blocks_for(count: int) -> int:
    """The number of counter values that ``count`` words take."""
    return -(-count // COUNTER_WORDS)


def state_numbers(state: Array) -> tuple[int, int]:
    """The counter and the key as integers."""
    memory = state.astype("<u4").tobytes()
    return int.from_bytes(memory[:16], "little"), int.from_bytes(memory[16:], "little")


def blocks(counter: int, key: int, count: int) -> Array:
    """``{count, 4}`` words, a row for each value of the 128-bit counter, which wraps."""
    if backend.native is None:
        return numpy_blocks(counter, key, count)
    rows = np.empty((count, COUNTER_WORDS), np.uint32)
    halves = {"start": counter % 2**64, "high": (counter >> 64) % 2**64}
    native_fill("PHILOX", rows, key=[key % 2**32, (key >> 32) % 2**32], **halves)()
    return rows


def numpy_blocks(counter: int, key: int, count: int) -> Array:
    """The reference."""
    start = np.uint64(counter % 2**64)
    low = np.arange(count, dtype=np.uint64) + start
    high = np.uint64((counter >> 64) % 2**64) + (low < start)
    a, b, c, d = low & LOW, low >> HALF, high & LOW, high >> HALF
    # Memory is reused: allocating it costs more than the arithmetic.
    left, right = low, high
    for number in range(ROUNDS):
        np.multiply(a, np.uint64(MULTIPLIERS[0]), out=left)
        np.multiply(c, np.uint64(MULTIPLIERS[1]), out=right)
        for word, product, other, part in ((a, right, b, 0), (c, left, d, 1)):
            np.right_shift(product, HALF, out=word)
            word ^= other
            word ^= np.uint64(((key >> 32 * part) + number * KEY_INCREMENTS[part]) % 2**32)
            np.bitwise_and(product, LOW, out=other)
    rows = np.empty((count, COUNTER_WORDS), np.uint32)
    for column, numbers in enumerate((a, b, c, d)):
        rows[:, column] = numbers
    return rows
