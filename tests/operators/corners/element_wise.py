"""ELEMENT_WISE_*: infinities, NaN and zeros of either sign, limits of types, ties.

Functions of floats give the results of C's functions of the same name, by IEEE 754, except those that Microsoft's
library builds from other functions: ASINH, POW, the remainders, and rounding away from zero.
"""

from __future__ import annotations

from math import inf, nan, pi

import directml_py as dml

from ..helpers import FLOATS, SIGNED, UNSIGNED
from .corner import LEAST, MOST, Corner

INTEGERS = (*SIGNED, *UNSIGNED)


def unary(name, *rows):
    return Corner(f"ELEMENT_WISE_{name}", FLOATS, rows)


FUNCTIONS = [
    unary("ABS", (-0.0, 0.0), (-inf, inf), (nan, nan), (LEAST, MOST)),
    unary("ACOS", (1, 0.0), (-1, pi), (1.5, nan), (-inf, nan), (nan, nan)),
    unary("ACOSH", (1, 0.0), (0.5, nan), (-2, nan), (inf, inf), (nan, nan)),
    unary("ASIN", (-0.0, -0.0), (1, pi / 2), (-1.5, nan), (inf, nan), (nan, nan)),
    unary("ASINH", (-0.0, 0.0), (inf, inf), (-inf, nan), (nan, nan)),
    unary("ATAN", (-0.0, -0.0), (inf, pi / 2), (-inf, -pi / 2), (nan, nan)),
    unary("ATANH", (-0.0, -0.0), (1, inf), (-1, -inf), (1.5, nan), (inf, nan)),
    unary("CEIL", (-0.5, -0.0), (-0.0, -0.0), (0.25, 1), (-1.5, -1), (-inf, -inf), (MOST, MOST), (nan, nan)),
    unary("COS", (-0.0, 1), (inf, nan), (-inf, nan), (nan, nan)),
    unary("COSH", (-0.0, 1), (-inf, inf), (1000, inf), (nan, nan)),
    unary("ERF", (-0.0, -0.0), (inf, 1), (-inf, -1), (LEAST, -1), (nan, nan)),
    unary("EXP", (-0.0, 1), (-inf, 0.0), (inf, inf), (1000, inf), (-1000, 0.0), (nan, nan)),
    unary("FLOOR", (0.5, 0.0), (-0.0, -0.0), (-0.25, -1), (1.5, 1), (-inf, -inf), (LEAST, LEAST), (nan, nan)),
    unary("LOG", (0.0, -inf), (-0.0, -inf), (-1, nan), (-inf, nan), (1, 0.0), (inf, inf), (nan, nan)),
    unary("NEGATE", (0.0, -0.0), (-0.0, 0.0), (inf, -inf), (nan, nan)),
    unary("RECIP", (0.0, inf), (-0.0, -inf), (inf, 0.0), (-inf, -0.0), (-4, -0.25), (nan, nan)),
    unary("SIGN", (0.0, 0.0), (-0.0, 0.0), (nan, 0.0), (-inf, -1), (1e-7, 1), (-1e-7, -1), (LEAST, -1)),
    unary("SIN", (-0.0, -0.0), (inf, nan), (-inf, nan), (nan, nan)),
    unary("SINH", (-0.0, -0.0), (inf, inf), (-1000, -inf), (nan, nan)),
    unary("SQRT", (-0.0, -0.0), (-1, nan), (inf, inf), (-inf, nan), (2.25, 1.5), (nan, nan)),
    unary("TAN", (-0.0, -0.0), (inf, nan), (nan, nan)),
    unary("TANH", (-0.0, -0.0), (inf, 1), (-1000, -1), (nan, nan)),
]
# Where ATAN_YX's page leaves the origin open, it is C's.
YX = [
    *((0.0, 1, 0.0), (1, 1, pi / 4), (1, 0.0, pi / 2), (1, -1, 3 * pi / 4), (0.0, -1, pi)),
    *((-0.0, 1, -0.0), (-1, 1, -pi / 4), (-1, -0.0, -pi / 2), (-1, -1, -3 * pi / 4), (-0.0, -1, -pi)),
    *((0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (0.0, -0.0, pi), (-0.0, -0.0, -pi)),
    *((inf, inf, pi / 4), (inf, -inf, 3 * pi / 4), (1, inf, 0.0), (-1, -inf, -pi), (-inf, 1, -pi / 2)),
    *((nan, 1, nan), (1, nan, nan)),
]
# By the page's formula, a - b * floor(a / b), which has NaN for every infinite divisor, and no negative zero.
MODULUS_FLOOR = [
    *((5, 3, 2), (-5, 3, 1), (5, -3, -1), (-5, -3, -2), (0.75, 0.5, 0.25), (-0.75, 0.5, 0.25)),
    *((0.0, 3, 0.0), (-0.0, 3, 0.0), (0.0, -3, 0.0), (6, -3, 0.0), (-6, 3, 0.0)),
    *((5, inf, nan), (-5, inf, nan), (5, -inf, nan), (-5, -inf, nan), (-0.0, inf, nan), (0.0, -inf, nan)),
    *(
        (inf, 3, nan),
        (-inf, inf, nan),
        (5, 0.0, nan),
        (-5, -0.0, nan),
        (0.0, 0.0, nan),
        (nan, 3, nan),
        (3, nan, nan),
    ),
]
# a - b * trunc(a / b): as C's fmod for finite operands, except for the sign of zero.
MODULUS_TRUNCATE = [
    *((5, 3, 2), (-5, 3, -2), (5, -3, 2), (-5, -3, -2), (0.75, -0.5, 0.25), (MOST, MOST, 0.0)),
    *((-0.0, 3, 0.0), (0.0, -3, 0.0), (6, -3, 0.0), (-6, 3, 0.0)),
    *((5, inf, nan), (-5, inf, nan), (5, -inf, nan), (-0.0, -inf, nan)),
    *((inf, 3, nan), (-inf, inf, nan), (5, 0.0, nan), (0.0, -0.0, nan), (nan, 3, nan), (3, nan, nan)),
]
# 2^(y * log2|x|) is NaN in C's special cases; all large exponents count as odd.
POWERS = [
    *((0.0, 0.0, nan), (nan, 0.0, nan), (1, nan, nan), (nan, 1, nan), (2, nan, nan), (inf, 0.0, nan)),
    *((5, 0.0, 1), (-5, 0.0, 1), (-1, 1e4, 1), (-1, 2047, -1)),
    *((-2, 3, -8), (-2, -1, -0.5), (-2, 0.5, nan), (-8, 1 / 3, nan), (-inf, 1.28, nan), (-inf, -0.5, nan)),
    *(
        (0.0, -1, inf),
        (-0.0, -1, inf),
        (-0.0, -2, inf),
        (-0.0, 3, 0.0),
        (-0.0, 0.5, 0.0),
        (-0.0, -0.5, inf),
    ),
    *((inf, -1, 0.0), (-inf, 3, -inf), (-inf, 2, inf), (-inf, -1, -0.0)),
    *((-1, inf, nan), (-2, inf, -inf), (-0.5, inf, -0.0), (-2, -inf, 0.0), (2, -inf, 0.0), (1, -inf, nan)),
]
OF_TWO = [
    Corner("ELEMENT_WISE_ATAN_YX", FLOATS, YX),
    Corner("ELEMENT_WISE_DIFFERENCE_SQUARE", FLOATS, [(inf, inf, nan), (-inf, 1, inf), (-0.0, 0.0, 0.0)]),
    Corner("ELEMENT_WISE_DIFFERENCE_SQUARE", ["UINT32"], [(0, 3, 9), (0, MOST, 1), (2**16, 0, 0)]),
    Corner("ELEMENT_WISE_DIFFERENCE_SQUARE", ["INT32"], [(LEAST, MOST, 1), (-3, 4, 49), (2**16, 0, 0)]),
    Corner(
        "ELEMENT_WISE_DIVIDE",
        FLOATS,
        [(1, 0.0, inf), (-1, 0.0, -inf), (1, -0.0, -inf), (0.0, 0.0, nan), (inf, inf, nan), (-1, inf, -0.0)],
    ),
    Corner(
        "ELEMENT_WISE_DIVIDE",
        SIGNED,
        [
            *((-7, 2, -3), (7, -2, -3), (-7, -2, 3), (-1, 2, 0), (LEAST, -1, LEAST), (LEAST, 1, LEAST)),
            *((5, 0, -1), (LEAST, 0, -1), (0, 0, -1), (MOST, LEAST, 0)),
        ],
    ),
    Corner("ELEMENT_WISE_DIVIDE", UNSIGNED, [(7, 2, 3), (MOST, 0, MOST), (0, 0, MOST), (MOST, MOST, 1)]),
    Corner(
        "ELEMENT_WISE_MAX",
        FLOATS,
        [
            *((nan, 2, 2), (1, nan, 1), (nan, nan, nan), (nan, -inf, -inf), (LEAST, -inf, LEAST)),
            *((0.0, -0.0, 0.0), (-0.0, 0.0, 0.0), (-0.0, -0.0, -0.0)),
        ],
    ),
    Corner(
        "ELEMENT_WISE_MIN",
        FLOATS,
        [
            *((nan, 2, 2), (1, nan, 1), (nan, nan, nan), (inf, nan, inf), (MOST, inf, MOST)),
            *((0.0, -0.0, -0.0), (-0.0, 0.0, -0.0), (0.0, 0.0, 0.0)),
        ],
    ),
    Corner("ELEMENT_WISE_MAX", INTEGERS, [(LEAST, MOST, MOST), (MOST, MOST, MOST)]),
    Corner("ELEMENT_WISE_MEAN", FLOATS, [(inf, -inf, nan), (inf, 1, inf), (1, 2, 1.5)]),
    # The sum is in FLOAT32.
    Corner("ELEMENT_WISE_MEAN", ["FLOAT16"], [(MOST, MOST, MOST)]),
    Corner("ELEMENT_WISE_MEAN", ["FLOAT32"], [(MOST, MOST, inf)]),
    # As Microsoft's library has it; rounded once, it would be 8.187969.
    Corner("ELEMENT_WISE_DIFFERENCE_SQUARE", ["FLOAT32"], [(1.5011423, -1.3603204, 8.187968)]),
    # The sum of integers wraps; its half is rounded toward zero.
    Corner(
        "ELEMENT_WISE_MEAN", ["INT32"], [(-3, 0, -1), (3, 0, 1), (LEAST, -1, 2**30 - 1), (MOST, 1, -(2**30))]
    ),
    Corner("ELEMENT_WISE_MEAN", ["UINT32"], [(MOST, 3, 1), (MOST, 0, 2**31 - 1)]),
    Corner("ELEMENT_WISE_MODULUS_FLOOR", FLOATS, MODULUS_FLOOR),
    Corner(
        "ELEMENT_WISE_MODULUS_FLOOR",
        SIGNED,
        [(-7, 3, 2), (7, -3, -2), (-7, -3, -1), (6, -3, 0), (LEAST, -1, 0), (7, 0, -1), (LEAST, 0, -1)],
    ),
    Corner("ELEMENT_WISE_MODULUS_FLOOR", UNSIGNED, [(7, 3, 1), (MOST, 2, 1), (7, 0, MOST)]),
    Corner("ELEMENT_WISE_MODULUS_TRUNCATE", FLOATS, MODULUS_TRUNCATE),
    Corner(
        "ELEMENT_WISE_MODULUS_TRUNCATE",
        SIGNED,
        [(-7, 3, -1), (7, -3, 1), (-7, -3, -1), (6, -3, 0), (LEAST, -1, 0), (7, 0, -1), (LEAST, 0, -1)],
    ),
    Corner("ELEMENT_WISE_MODULUS_TRUNCATE", UNSIGNED, [(7, 3, 1), (MOST, 2, 1), (7, 0, MOST)]),
    Corner(
        "ELEMENT_WISE_MULTIPLY",
        FLOATS,
        [(0.0, inf, nan), (-0.0, 3, -0.0), (MOST, 2, inf), (MOST, -inf, -inf)],
    ),
    Corner("ELEMENT_WISE_POW", FLOATS, POWERS),
    Corner(
        "ELEMENT_WISE_POW", ["FLOAT32"], [(-1, 1e10, -1), (-1, -1e10, 1), (-1, 2.0**31, -1), (-1, 2.0**30, 1)]
    ),
    # Exact and wrapped; the inverse of 0 has all bits set, as a quotient by 0.
    Corner(
        "ELEMENT_WISE_POW",
        ["INT8"],
        [
            *((2, 7, LEAST), (2, 8, 0), (-2, 7, LEAST), (-3, 3, -27), (0, 0, 1), (-1, -3, -1), (-1, -2, 1)),
            *((2, -1, 0), (0, -1, -1), (LEAST, 1, LEAST), (LEAST, 2, 0)),
            *((1, LEAST, 1), (-1, LEAST, 1), (-1, MOST, -1)),
        ],
    ),
    Corner("ELEMENT_WISE_POW", ["UINT32"], [(3, 20, 3**20), (3, 21, 3**21 % 2**32), (MOST, 2, 1), (0, 0, 1)]),
    # Integers to the power of floats are rounded toward zero and saturated.
    Corner(
        "ELEMENT_WISE_POW",
        ["INT32"],
        [
            *((2, 31, MOST), (-2, 31, LEAST), (-2, 33, LEAST), (2, 0.5, 1), (-2, 0.5, 0), (0, -1, MOST)),
            *((5, 3, 125), (2, nan, 0), (1, nan, 0), (2, inf, MOST), (3, -inf, 0)),
        ],
        types={1: "FLOAT32"},
    ),
]


def constant_pow(kinds, exponent, *rows):
    return Corner("ELEMENT_WISE_CONSTANT_POW", kinds, rows, {"Exponent": exponent})


CONSTANT_POWERS = [
    constant_pow(FLOATS, 0, (nan, nan), (0.0, nan), (-inf, nan), (-3, 1)),
    constant_pow(FLOATS, 1, (-0.0, 0.0), (-inf, -inf), (nan, nan), (MOST, MOST)),
    constant_pow(FLOATS, 2, (-3, 9), (-0.0, 0.0), (-inf, inf), (MOST, inf), (nan, nan)),
    constant_pow(FLOATS, 0.5, (-4, nan), (2.25, 1.5), (-0.0, 0.0), (-inf, nan), (inf, inf)),
    constant_pow(FLOATS, -1, (-0.0, inf), (0.0, inf), (-4, -0.25), (inf, 0.0)),
    constant_pow(FLOATS, inf, (-1, nan), (-0.5, -0.0), (-2, -inf), (nan, nan)),
    constant_pow(FLOATS, nan, (1, nan), (2, nan), (-inf, nan)),
]


def rounding(mode, *rows):
    mode = dml.DML_ROUNDING_MODE[f"DML_ROUNDING_MODE_{mode}"]
    # The product of -0 and its sign, which is 0, has none.
    of_zero = 0.0 if mode == dml.DML_ROUNDING_MODE_TOWARD_INFINITY else -0.0
    special = (
        *((0.0, 0.0), (-0.0, of_zero), (inf, inf), (-inf, -inf), (nan, nan)),
        *((MOST, MOST), (LEAST, LEAST)),
    )
    return [
        # The largest numbers with halves have one bit for it.
        Corner("ELEMENT_WISE_ROUND", FLOATS, [*rows, *special], {"RoundingMode": mode}),
        Corner("ELEMENT_WISE_ROUND", FLOATS, [(-x, -y) for x, y in rows], {"RoundingMode": mode}),
    ]


# 0.49951171875 is the FLOAT16 below 0.5: FLOAT32 has its sum with 0.5, but not that of
# 0.49999997. 1022.5 and 1023.5 are the last FLOAT16 halves.
ROUNDINGS = [
    *rounding(
        "HALVES_TO_NEAREST_EVEN",
        *(
            (0.5, 0.0),
            (1.5, 2),
            (2.5, 2),
            (1.25, 1),
            (1.75, 2),
            (0.49951171875, 0.0),
            (1022.5, 1022),
            (1023.5, 1024),
        ),
    ),
    *rounding(
        "TOWARD_ZERO",
        *(
            (0.5, 0.0),
            (1.5, 1),
            (2.5, 2),
            (1.25, 1),
            (1.75, 1),
            (0.99951171875, 0.0),
            (1022.5, 1022),
            (1023.5, 1023),
        ),
    ),
    *rounding(
        "TOWARD_INFINITY",
        *(
            (0.5, 1),
            (1.5, 2),
            (2.5, 3),
            (1.25, 1),
            (1.75, 2),
            (0.49951171875, 0.0),
            (1022.5, 1023),
            (1023.5, 1024),
        ),
    ),
    *(
        Corner("ELEMENT_WISE_ROUND", ["FLOAT32"], rows, {"RoundingMode": mode})
        for mode, rows in (
            (
                dml.DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN,
                [(4194304.5, 4194304), (8388607.5, 8388608), (8388609, 8388609), (0.49999997, 0.0)],
            ),
            (
                dml.DML_ROUNDING_MODE_TOWARD_INFINITY,
                [(4194304.5, 4194305), (-4194304.5, -4194305), (8388609, 8388610), (0.49999997, 1)],
            ),
        )
    ),
]
INTEGER_LIMITS = [
    Corner("ELEMENT_WISE_ABS", SIGNED, [(LEAST, LEAST), (-1, 1), (0, 0), (MOST, MOST)]),
    Corner("ELEMENT_WISE_NEGATE", SIGNED, [(LEAST, LEAST), (-1, 1), (0, 0), (5, -5)]),
    Corner("ELEMENT_WISE_SIGN", SIGNED, [(LEAST, -1), (-1, -1), (0, 0), (MOST, 1)]),
    Corner("ELEMENT_WISE_SIGN", UNSIGNED, [(0, 0), (1, 1), (MOST, 1)]),
    Corner("ELEMENT_WISE_ADD", SIGNED, [(MOST, 1, LEAST), (LEAST, -1, MOST), (LEAST, LEAST, 0)]),
    Corner("ELEMENT_WISE_ADD", UNSIGNED, [(MOST, 1, 0), (0, MOST, MOST)]),
    Corner("ELEMENT_WISE_SUBTRACT", UNSIGNED, [(0, 1, MOST), (MOST, MOST, 0)]),
    Corner("ELEMENT_WISE_MULTIPLY", SIGNED, [(LEAST, -1, LEAST), (MOST, 2, -2), (LEAST, LEAST, 0)]),
    Corner("ELEMENT_WISE_MULTIPLY", UNSIGNED, [(MOST, MOST, 1)]),
]


def limits(low, high):
    return {"Min": low, "Max": high}


# max(Min, min(x, Max)): as in Direct3D, both return the other operand for NaN.
CLIPS = [
    Corner(
        "ELEMENT_WISE_CLIP",
        FLOATS,
        [(-inf, -1), (-1, -1), (-0.5, -0.5), (2, 2), (inf, 2), (nan, 2), (LEAST, -1)],
        limits(-1, 2),
    ),
    Corner("ELEMENT_WISE_CLIP", FLOATS, [(x, 5) for x in (-inf, 0.0, 3, 5, 9, inf, nan)], limits(5, 2)),
    Corner("ELEMENT_WISE_CLIP", FLOATS, [(-inf, -inf), (-3, -3), (inf, inf), (nan, inf)], limits(-inf, inf)),
    Corner("ELEMENT_WISE_CLIP", FLOATS, [(-inf, -inf), (9, 2), (nan, 2)], limits(nan, 2)),
    Corner("ELEMENT_WISE_CLIP", FLOATS, [(-9, 1), (9, 9), (inf, inf), (nan, 1)], limits(1, nan)),
    Corner("ELEMENT_WISE_CLIP", INTEGERS, [(x, 5) for x in (LEAST, 0, 3, 5, 9, MOST)], limits(5, 2)),
    Corner("ELEMENT_WISE_CLIP", UNSIGNED, [(0, 0), (3, 3), (MOST, MOST)], limits(-7, inf)),
    Corner("ELEMENT_WISE_THRESHOLD", FLOATS, [(-inf, 1.5), (1, 1.5), (inf, inf), (nan, 1.5)], {"Min": 1.5}),
    Corner("ELEMENT_WISE_THRESHOLD", FLOATS, [(-inf, -inf), (nan, nan), (1, 1)], {"Min": nan}),
    Corner(
        "ELEMENT_WISE_THRESHOLD", SIGNED[:3], [(LEAST, -2), (-2, -2), (-1, -1), (MOST, MOST)], {"Min": -2.9}
    ),
    Corner("ELEMENT_WISE_THRESHOLD", UNSIGNED[:3], [(0, 0), (MOST, MOST)], {"Min": -2.9}),
    # 0 at the limits, the gradient between them; NaN is beyond none.
    Corner(
        "ELEMENT_WISE_CLIP_GRAD",
        FLOATS,
        [
            *((-1, 7, 0.0), (2, 7, 0.0), (-0.75, 7, 7), (1.75, 7, 7), (inf, 7, 0.0), (-inf, nan, 0.0)),
            *((0.0, nan, nan), (nan, 7, 7), (3, inf, 0.0), (1, -inf, -inf), (1, -0.0, -0.0)),
        ],
        limits(-1, 2),
    ),
    Corner(
        "ELEMENT_WISE_CLIP_GRAD",
        FLOATS,
        [(1, 7, 0.0), (2, 7, 0.0), (3, 7, 0.0), (4, 7, 0.0), (5, 7, 0.0), (nan, 7, 7)],
        limits(4, 2),
    ),
]


def truth(name, kinds, *rows, **attributes):
    """1 and 0 in a byte, whatever the inputs are."""
    return Corner(f"ELEMENT_WISE_{name}", kinds, rows, attributes, {len(rows[0]) - 1: "UINT8"})


def infinity(mode, *rows):
    mode = dml.DML_IS_INFINITY_MODE[f"DML_IS_INFINITY_MODE_{mode}"]
    return truth("IS_INFINITY", FLOATS, (MOST, 0), (LEAST, 0), (nan, 0), (0.0, 0), *rows, InfinityMode=mode)


LOGIC = ("UINT8", "UINT32")
TRUTHS = [
    infinity("EITHER", (inf, 1), (-inf, 1)),
    infinity("POSITIVE", (inf, 1), (-inf, 0)),
    infinity("NEGATIVE", (inf, 0), (-inf, 1)),
    truth("IS_NAN", FLOATS, (nan, 1), (-nan, 1), (inf, 0), (-inf, 0), (0.0, 0)),
    truth(
        "LOGICAL_EQUALS", FLOATS, (nan, nan, 0), (0.0, -0.0, 1), (inf, inf, 1), (inf, -inf, 0), (nan, 0.0, 0)
    ),
    truth("LOGICAL_GREATER_THAN", FLOATS, (0.0, -0.0, 0), (nan, -inf, 0), (inf, MOST, 1), (-inf, nan, 0)),
    truth(
        "LOGICAL_GREATER_THAN_OR_EQUAL", FLOATS, (-0.0, 0.0, 1), (nan, nan, 0), (inf, inf, 1), (nan, -inf, 0)
    ),
    truth("LOGICAL_LESS_THAN", FLOATS, (-0.0, 0.0, 0), (nan, inf, 0), (-inf, LEAST, 1), (-inf, nan, 0)),
    truth(
        "LOGICAL_LESS_THAN_OR_EQUAL", FLOATS, (0.0, -0.0, 1), (nan, nan, 0), (-inf, -inf, 1), (nan, inf, 0)
    ),
    truth("LOGICAL_LESS_THAN", INTEGERS, (LEAST, MOST, 1), (MOST, LEAST, 0), (LEAST, LEAST, 0)),
    # Next to each other, and the same in FLOAT64.
    truth("LOGICAL_EQUALS", ("INT64", "UINT64"), (2**53, 2**53 + 1, 0), (MOST, MOST, 1)),
    truth("LOGICAL_LESS_THAN", ("INT64", "UINT64"), (2**53, 2**53 + 1, 1), (2**53 + 1, 2**53, 0)),
    # Every bit counts as true: 2 and 4 have none in common, 128 and 255 are negative as INT8.
    Corner("ELEMENT_WISE_LOGICAL_AND", LOGIC, [(2, 4, 1), (128, 255, 1), (MOST, 0, 0), (0, 0, 0)]),
    Corner("ELEMENT_WISE_LOGICAL_OR", LOGIC, [(2, 4, 1), (128, 0, 1), (0, MOST, 1), (0, 0, 0)]),
    Corner("ELEMENT_WISE_LOGICAL_XOR", LOGIC, [(2, 4, 0), (128, 0, 1), (MOST, 1, 0), (0, 0, 0)]),
    Corner("ELEMENT_WISE_LOGICAL_NOT", LOGIC, [(2, 0), (128, 0), (MOST, 0), (0, 1)]),
    Corner("ELEMENT_WISE_LOGICAL_NOT", ["UINT32"], [(256, 0), (2**31, 0)]),
    Corner(
        "ELEMENT_WISE_IF",
        [*FLOATS, *INTEGERS],
        [(0, 1, 2, 2), (1, 1, 2, 1), (2, 1, 2, 1), (128, 1, 2, 1), (255, 1, 2, 1)],
        types={0: "UINT8"},
    ),
    Corner(
        "ELEMENT_WISE_IF",
        FLOATS,
        [(2, nan, 1, nan), (0, nan, -0.0, -0.0), (1, inf, nan, inf)],
        types={0: "UINT8"},
    ),
]
# Only five bits of a count matter, whatever the width: 8 and 16 bits are shifted as 32. 64 bits are two such words.
SHIFTS = [
    Corner(
        "ELEMENT_WISE_BIT_SHIFT_LEFT",
        ["UINT8"],
        [(1, 7, 128), (3, 7, 128), (5, 8, 0), (5, 255, 0), (5, 32, 5), (5, 33, 10)],
    ),
    Corner(
        "ELEMENT_WISE_BIT_SHIFT_RIGHT",
        ["UINT8"],
        [(128, 7, 1), (255, 4, 15), (5, 8, 0), (255, 255, 0), (255, 36, 15)],
    ),
    Corner(
        "ELEMENT_WISE_BIT_SHIFT_LEFT", ["UINT32"], [(1, 31, 2**31), (5, 32, 5), (5, 33, 10), (1, MOST, 2**31)]
    ),
    Corner(
        "ELEMENT_WISE_BIT_SHIFT_RIGHT", ["UINT32"], [(MOST, 31, 1), (5, 32, 5), (5, 33, 2), (MOST, MOST, 1)]
    ),
    Corner(
        "ELEMENT_WISE_BIT_SHIFT_LEFT", ["UINT64"], [(1, 40, 2**40), (MOST, 63, 2**63), (100, 65, 200 << 32)]
    ),
    Corner("ELEMENT_WISE_BIT_SHIFT_RIGHT", ["UINT64"], [(MOST, 3, 2**61 - 1), (2**40, 40, 1), (100, 65, 0)]),
]
CORNERS = [*TRUTHS, *SHIFTS, *FUNCTIONS, *OF_TWO, *CONSTANT_POWERS, *ROUNDINGS, *INTEGER_LIMITS, *CLIPS]
