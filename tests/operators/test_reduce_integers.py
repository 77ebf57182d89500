"""REDUCE over integers: exact and wrapping, at the limits of every type."""

from __future__ import annotations

import numpy as np
from sweeps import swept

from .helpers import numpy_type, reduce

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
