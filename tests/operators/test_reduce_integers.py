"""REDUCE over integers: exact and wrapping, in the whole range of every type."""

from __future__ import annotations

import math

import numpy as np
from sweeps import swept

from .helpers import SIGNED, UNSIGNED, generator, numpy_type, random_sizes, random_values, reduce

I32, I64 = 2**31, 2**63
U32, U64 = 2**32, 2**64
WRAPS = [
    ("SUM", "INT32", [I32 - 1, 1], -I32),
    ("SUM", "INT32", [-I32, -1], I32 - 1),
    ("SUM", "INT32", [I32 - 1, I32 - 1, 2], 0),
    ("SUM", "UINT32", [U32 - 1, 2], 1),
    ("SUM", "INT64", [I64 - 1, 1], -I64),
    ("SUM", "INT64", [2**53, 1], 2**53 + 1),  # a FLOAT64 sum would lose the 1
    ("SUM", "UINT64", [U64 - 1, 2], 1),
    ("SUM", "UINT64", [I64, 1], I64 + 1),
    ("L1", "INT32", [-5, 3], 8),
    ("L1", "INT32", [-I32], -I32),  # |INT_MIN| is 2^31, which wraps to INT_MIN
    ("L1", "INT32", [-I32, -1], -I32 + 1),
    ("L1", "INT32", [-I32, -I32], 0),
    ("L1", "INT64", [-I64], -I64),
    ("L1", "UINT32", [U32 - 1], U32 - 1),  # large, not negative
    ("L1", "UINT64", [U64 - 1, 1], 0),
    ("SUM_SQUARE", "INT32", [65536], 0),
    ("SUM_SQUARE", "INT32", [46341], 46341 * 46341 - U32),  # 2147488281
    ("SUM_SQUARE", "INT32", [-3, 4], 25),
    ("SUM_SQUARE", "INT32", [-I32], 0),
    ("SUM_SQUARE", "UINT32", [65537], 131073),  # 2^32 + 2^17 + 1
    ("SUM_SQUARE", "INT64", [2**32], 0),
    ("SUM_SQUARE", "INT64", [2**31 + 1], 2**62 + 2**32 + 1),
    ("SUM_SQUARE", "UINT64", [2**32 - 1], 2**64 - 2**33 + 1),
    ("MULTIPLY", "INT32", [65536, 32768], -I32),
    ("MULTIPLY", "INT32", [-I32, -1], -I32),
    ("MULTIPLY", "INT32", [65536, 65536, 3], 0),
    ("MULTIPLY", "UINT32", [65537, 65537], 131073),
    ("MULTIPLY", "INT64", [2**62, 2], -I64),
    ("MULTIPLY", "UINT64", [2**32, 2**32, 3], 0),
    ("MULTIPLY", "UINT64", [2**32 + 1, 2**32 + 1], 2**33 + 1),
    ("MAX", "UINT32", [1, U32 - 1], U32 - 1),
    ("MIN", "UINT32", [1, U32 - 1], 1),
    ("MAX", "UINT8", [127, 128], 128),
    ("MIN", "INT8", [-128, 127], -128),
    ("MAX", "INT64", [2**53, 2**53 + 1], 2**53 + 1),
    ("MIN", "UINT64", [U64 - 1, U64 - 2], U64 - 2),
]


@swept("leading", [False, True])
@swept("name, data_type, values, expected", WRAPS)
def test_value(name, data_type, values, expected, leading):
    x = np.array([values, values], numpy_type(data_type))
    found = reduce(name, x.T.copy(), [0]) if leading else reduce(name, x, [1])
    assert found.dtype == x.dtype
    assert found.ravel().tolist() == [expected, expected]


EXACT = {
    "SUM": sum,
    "L1": lambda values: sum(map(abs, values)),
    "SUM_SQUARE": lambda values: sum(value * value for value in values),
    "MULTIPLY": math.prod,
    "MAX": max,
    "MIN": min,
}


def wrapped(value, data_type):
    bits = numpy_type(data_type).itemsize * 8
    value %= 1 << bits
    return value - (1 << bits) if data_type in SIGNED and value >> (bits - 1) else value


@swept(
    "name, data_type",
    [
        (name, data_type)
        for name in EXACT
        for data_type in (*SIGNED, *UNSIGNED)
        if name in ("MIN", "MAX") or data_type.endswith(("32", "64"))
    ],
)
def test_whole_range(name, data_type):
    """Against Python's integers, which have no limits."""
    rng = generator("integers", name, data_type)
    for rank in (1, 3, 5):
        x = random_values(rng, data_type, random_sizes(rng, rank))
        axes = sorted(int(axis) for axis in rng.permutation(rank)[: rng.integers(1, rank + 1)])
        if name == "MULTIPLY":
            x |= x.dtype.type(1)  # products of even numbers are soon 0
        found = reduce(name, x, axes)
        kept = [axis for axis in range(rank) if axis not in axes]
        groups = x.transpose(kept + axes).reshape(found.size, -1).tolist()
        assert found.ravel().tolist() == [wrapped(EXACT[name](group), data_type) for group in groups]
