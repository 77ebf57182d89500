"""References of fill operators: the pages' pseudocode, in Python's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .record import Record

MASK = 0xFFFFFFFF


def numbers(desc: Any, values: Any) -> Any:
    """The output's elements in coordinate order."""
    kind = np.float64 if desc.OutputTensor.dtype.kind == "f" else object
    return np.array(list(values), kind).reshape(desc.OutputTensor.sizes)


def constant(desc: Any) -> Any:
    return numbers(desc, [desc.Value.value] * desc.OutputTensor.element_count)


def sequence(desc: Any) -> Any:
    """Exact sums of integers; of floats each step is rounded to FLOAT32, as in Microsoft's library."""
    start, delta, count = desc.ValueStart.value, desc.ValueDelta.value, desc.OutputTensor.element_count
    if desc.OutputTensor.dtype.kind == "f":
        wide = np.float64 if desc.OutputTensor.dtype == np.float64 else np.float32
        return numbers(desc, (wide(start) + wide(index) * wide(delta) for index in range(count)))
    return numbers(desc, (start + delta * index for index in range(count)))


def with_diagonals(desc: Any, x: Any, value: Any, begin: int, end: int) -> Any:
    """The newer page's pseudocode."""
    result = np.zeros(desc.OutputTensor.sizes, np.float64 if desc.OutputTensor.dtype.kind == "f" else object)
    for place in np.ndindex(*result.shape):
        top = place[-1] - place[-2]
        if (end >= begin) ^ (top >= begin) ^ (top < end):
            result[place] = value
        elif x is not None:
            result[place] = x[place]
    return result


def diagonal(desc: Any) -> Any:
    """The value is truncated and wraps in integers."""
    dtype, value = desc.OutputTensor.dtype, desc.Value
    if dtype.kind != "f":
        bits = 8 * dtype.itemsize
        value = int(value) % (1 << bits)
        value -= (dtype.kind == "i" and value >> bits - 1) << bits
    return with_diagonals(desc, None, value, desc.Offset, desc.Offset + 1)


def diagonals(desc: Any, x: Any) -> Any:
    return with_diagonals(desc, x, desc.Value.value, desc.DiagonalFillBegin, desc.DiagonalFillEnd)


def philox(counter: int, key: int) -> list[int]:
    """The four words of one value of the counter, as the generator's authors define a round: the products of words 0
    and 2 with constants, their halves exchanged."""
    words = [counter >> shift & MASK for shift in (0, 32, 64, 96)]
    keys = [key & MASK, key >> 32]
    for _ in range(10):
        first, third = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [
            third >> 32 ^ words[1] ^ keys[0],
            third & MASK,
            first >> 32 ^ words[3] ^ keys[1],
            first & MASK,
        ]
        keys = [keys[0] + 0x9E3779B9 & MASK, keys[1] + 0xBB67AE85 & MASK]
    return words


def random(desc: Any, state: Any) -> list[Any]:
    words = [int(word) for word in state.ravel()]
    counter = sum(word << 32 * index for index, word in enumerate(words[:4]))
    key = words[4] | words[5] << 32
    count = desc.OutputTensor.element_count
    made: list[int] = []
    while len(made) < count:
        made += philox(counter, key)
        counter = (counter + 1) % (1 << 128)
    after = [counter >> shift & MASK for shift in (0, 32, 64, 96)] + words[4:]
    next_state = None if desc.OutputStateTensor is None else np.array(after, object).reshape(state.shape)
    return [numbers(desc, made[:count]), next_state]


RECORDS: dict[str, Record] = {
    "DIAGONAL_MATRIX": Record(diagonal),
    "DIAGONAL_MATRIX1": Record(diagonals),
    "FILL_VALUE_CONSTANT": Record(constant),
    "FILL_VALUE_SEQUENCE": Record(sequence, samples=40),
    "RANDOM_GENERATOR": Record(random),
}
