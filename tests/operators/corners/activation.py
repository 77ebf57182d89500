"""ACTIVATION_*: infinities and NaN in the printed formulas, thresholds, ties, and arguments whose exponential is out of
range though the result is not."""

from __future__ import annotations

from math import inf, log, nan

from ..helpers import FLOATS
from .corner import LEAST, MOST, Corner

SIGNED = ("INT8", "INT16", "INT32")
UNSIGNED = ("UINT8", "UINT16", "UINT32")


def of_floats(name, *rows, **attributes):
    return Corner(f"ACTIVATION_{name}", FLOATS, rows, attributes)


# Each operation is rounded to FLOAT32, as in Microsoft's library: computed exactly, SOFTSIGN would give -0.49373558 and
# 0.08429457, and the others 2^-46 for the product 1 + 2^-22 + 2^-46.
STEPS = {"Alpha": 1 + 2**-23, "Beta": -1 - 2**-22}
ROUNDED = [
    Corner("ACTIVATION_SOFTSIGN", ["FLOAT32"], [(-0.97525233, -0.49373555), (0.09205423, 0.08429456)]),
    *(
        Corner(f"ACTIVATION_{name}", ["FLOAT32"], [(1 + 2**-23, 0.0)], STEPS)
        for name in ("LINEAR", "HARD_SIGMOID", "HARD_SWISH")
    ),
]
EXPONENTIAL = [
    of_floats(
        "SIGMOID", (0.0, 0.5), (inf, 1), (-inf, 0.0), (LEAST, 0.0), (MOST, 1), (-1000, 0.0), (nan, nan)
    ),
    of_floats("TANH", (-0.0, -0.0), (inf, 1), (-inf, -1), (MOST, 1), (nan, nan)),
    of_floats("SCALED_TANH", (inf, -3), (-1000, 3), (nan, nan), (0.0, -0.0), Alpha=-3, Beta=0.5),
    of_floats("SCALED_TANH", (inf, nan), (5, 0.0), Alpha=2, Beta=0),
    of_floats(
        "SOFTPLUS", (MOST, MOST), (LEAST, 0.0), (inf, inf), (-inf, 0.0), (1000, 1000), (nan, nan), Steepness=1
    ),
    of_floats("SOFTPLUS", (-1000, 0.0), (inf, inf), (-inf, 0.0), (0.0, log(2) / 64), Steepness=64),
    # The product is in FLOAT32, where the largest FLOAT16 times 64 is in range.
    Corner("ACTIVATION_SOFTPLUS", ["FLOAT16"], [(MOST, MOST)], {"Steepness": 64}),
    Corner("ACTIVATION_SOFTPLUS", ["FLOAT32"], [(MOST, inf)], {"Steepness": 64}),
    of_floats("SOFTPLUS", (MOST, MOST), (inf, inf), (LEAST, 0.0), (0.0, 4 * log(2)), Steepness=0.25),
    # ln(2) / 0
    of_floats("SOFTPLUS", (3, inf), (-3, inf), (inf, nan), Steepness=0),
    of_floats("SOFTPLUS", (1000, -0.0), (-1000, -1000), (0.0, -log(2)), Steepness=-1),
    of_floats("PARAMETRIC_SOFTPLUS", (1000, 2000), (LEAST, 0.0), (inf, inf), (nan, nan), Alpha=2, Beta=1),
    of_floats("PARAMETRIC_SOFTPLUS", (1000, 0.0), (inf, nan), (-1000, 0.0), Alpha=0, Beta=1),
    of_floats("PARAMETRIC_SOFTPLUS", (-1000, -500), (1000, -0.0), (-inf, -inf), Alpha=-0.5, Beta=-1),
    of_floats(
        "ELU", (-0.0, -0.0), (-inf, -0.5), (LEAST, -0.5), (MOST, MOST), (inf, inf), (nan, nan), Alpha=0.5
    ),
    of_floats("ELU", (-inf, 2), (1000, 1000), (inf, inf), Alpha=-2),
    of_floats(
        "SCALED_ELU",
        (-inf, -8),
        (LEAST, -8),
        (inf, inf),
        (1000, 2000),
        (-0.0, -0.0),
        (nan, nan),
        Alpha=4,
        Gamma=2,
    ),
    # max and min ignore NaN: 0 remains.
    of_floats(
        "CELU",
        (-inf, -0.5),
        (LEAST, -0.5),
        (MOST, MOST),
        (inf, inf),
        (0.0, 0.0),
        (-0.0, 0.0),
        (nan, 0.0),
        Alpha=0.5,
    ),
    # With a negative Alpha, exp(x / Alpha) decreases: below 0 the minimum is of an increasing function.
    of_floats("CELU", (1000, 1000), (-1000, -inf), (inf, inf), (-inf, -inf), Alpha=-1),
    of_floats("CELU", (3, 3), (0.0, 0.0), (inf, inf), (-3, 0.0), Alpha=0),
    of_floats(
        "GELU", (-0.0, -0.0), (1000, 1000), (MOST, MOST), (LEAST, -0.0), (-1000, -0.0), (inf, inf), (nan, nan)
    ),
    # -inf * 0
    of_floats("GELU", (-inf, nan)),
    of_floats(
        "SWISH",
        (-inf, nan),
        (LEAST, -0.0),
        (-1000, -0.0),
        (MOST, MOST),
        (inf, inf),
        (nan, nan),
        SigmoidInputScale=1,
    ),
    of_floats("SWISH", (4, 2), (-4, -2), (-0.0, -0.0), (inf, nan), SigmoidInputScale=0),
    of_floats("SWISH", (1000, 0.0), (-1000, -1000), (-inf, -inf), (inf, nan), SigmoidInputScale=-1),
]
PIECEWISE = [
    of_floats("RELU", (nan, 0.0), (-0.0, 0.0), (-inf, 0.0), (LEAST, 0.0), (inf, inf), (MOST, MOST)),
    Corner("ACTIVATION_RELU", SIGNED, [(LEAST, 0), (-1, 0), (0, 0), (MOST, MOST)]),
    of_floats(
        "LEAKY_RELU", (-0.0, -0.0), (0.0, 0.0), (-2, -1), (-inf, -inf), (inf, inf), (nan, nan), Alpha=0.5
    ),
    # Just above ties of FLOAT16, which FLOAT32 would hit.
    Corner(
        "ACTIVATION_LEAKY_RELU",
        ["FLOAT16"],
        [(-1758, -1758 * 11676293 / 2**24), (3, 3)],
        {"Alpha": 11676293 / 2**24},
    ),
    of_floats("LEAKY_RELU", (-inf, nan), (-2, -0.0), (inf, inf), Alpha=0),
    of_floats("LEAKY_RELU", (-2, nan), (2, 2), (0.0, 0.0), Alpha=nan),
    Corner(
        "ACTIVATION_PARAMETERIZED_RELU",
        FLOATS,
        [
            (-0.0, 5, -0.0),
            (3, nan, 3),
            (-3, nan, nan),
            (-inf, 0.0, nan),
            (nan, 1, nan),
            (-2, -3, 6),
            (-2, inf, -inf),
        ],
    ),
    Corner(
        "ACTIVATION_PARAMETERIZED_RELU",
        SIGNED,
        [(LEAST, -1, LEAST), (LEAST, 2, 0), (-3, 5, -15), (7, 5, 7), (0, MOST, 0), (-1, LEAST, LEAST)],
    ),
    of_floats(
        "THRESHOLDED_RELU", (1.5, 0.0), (1.5625, 1.5625), (-inf, 0.0), (inf, inf), (nan, 0.0), Alpha=1.5
    ),
    of_floats("THRESHOLDED_RELU", (-1, -1), (-2, 0.0), (-3, 0.0), (-0.0, -0.0), Alpha=-2),
    of_floats("THRESHOLDED_RELU", (inf, 0.0), (MOST, 0.0), Alpha=inf),
    of_floats(
        "SHRINK",
        *((0.5, 0.0), (-0.5, 0.0), (0.75, -0.25), (-0.75, 0.25), (0.25, 0.0)),
        *((inf, inf), (-inf, -inf), (nan, 0.0), (-0.0, 0.0)),
        Bias=1,
        Threshold=0.5,
    ),
    Corner(
        "ACTIVATION_SHRINK",
        ["FLOAT16"],
        [(1, 1 + 2**-10), (-1, -1 - 2**-10)],
        {"Bias": -(2**-11) - 2**-30, "Threshold": 0.5},
    ),
    # Both conditions hold between -2 and 2: the first decides.
    of_floats("SHRINK", (1, 0.5), (-1, -1.5), (-2, -1.5), (-3, -2.5), Bias=0.5, Threshold=-2),
    of_floats("SHRINK", (inf, nan), (1, -inf), (-1, inf), (0.0, 0.0), Bias=inf, Threshold=0),
    # Integers are computed in floats, and rounded with ties to even.
    Corner(
        "ACTIVATION_SHRINK",
        SIGNED,
        [(5, 0), (6, -5), (-5, 0), (-6, 5), (0, 0)],
        {"Bias": 10.9, "Threshold": 5.9},
    ),
    Corner(
        "ACTIVATION_SHRINK",
        ["INT8"],
        [(-128, -118), (127, 117), (0, 0)],
        {"Bias": 10, "Threshold": 5},
    ),
    Corner(
        "ACTIVATION_SHRINK", ["INT8"], [(-128, MOST), (127, LEAST), (1, 0)], {"Bias": 1e9, "Threshold": 1}
    ),
    Corner("ACTIVATION_SHRINK", SIGNED, [(-5, -4), (-3, -2), (2, 0), (3, 2)], {"Bias": 1.5, "Threshold": 1}),
    Corner("ACTIVATION_SHRINK", UNSIGNED, [(5, 0), (9, 0), (12, 2)], {"Bias": 10, "Threshold": 5}),
    # All values are above a negative Threshold.
    Corner("ACTIVATION_SHRINK", UNSIGNED, [(0, 0), (3, 2), (1, 0)], {"Bias": 1, "Threshold": -3}),
    of_floats(
        "HARD_SIGMOID", (-2, 0.0), (2, 1), (0.0, 0.5), (inf, 1), (-inf, 0.0), (nan, 1), Alpha=0.25, Beta=0.5
    ),
    of_floats("HARD_SIGMOID", (inf, 1), (3, 0.5), Alpha=0, Beta=0.5),
    of_floats(
        "HARD_SWISH",
        (-inf, nan),
        (-1000, -0.0),
        (-4, -0.0),
        (4, 4),
        (inf, inf),
        (nan, nan),
        Alpha=0.125,
        Beta=0.5,
    ),
    of_floats("LINEAR", (inf, nan), (5, 3), (nan, nan), Alpha=0, Beta=3),
    of_floats("LINEAR", (inf, -inf), (MOST, -inf), (4, -6), Alpha=-2, Beta=2),
    of_floats(
        "SOFTSIGN", (MOST, 1), (LEAST, -1), (-0.0, -0.0), (1, 0.5), (inf, nan), (-inf, nan), (nan, nan)
    ),
    of_floats("IDENTITY", (nan, nan), (-0.0, -0.0), (-inf, -inf), (MOST, MOST)),
]


def gradient(kinds, *rows):
    return Corner("ACTIVATION_RELU_GRAD", kinds, rows)


GRADIENTS = [
    gradient(
        FLOATS, (0.0, 7, 0.0), (-0.0, 7, 0.0), (1e-7, 7, 7), (-1e-7, 7, 0.0), (nan, 7, 0.0), (inf, 7, 7)
    ),
    gradient(FLOATS, (-1, nan, 0.0), (0.0, inf, 0.0), (1, nan, nan), (1, -inf, -inf), (1, -0.0, -0.0)),
    gradient(SIGNED, (0, 7, 0), (1, LEAST, LEAST), (-1, 7, 0), (MOST, -7, -7), (LEAST, 7, 0)),
]
CORNERS = [*ROUNDED, *EXPONENTIAL, *PIECEWISE, *GRADIENTS]

# Rows of two: the input, and the results of SOFTMAX, LOG_SOFTMAX and HARDMAX.
ROWS = [
    ([1000, 1000], [0.5, 0.5], [-log(2), -log(2)], [1, 0]),
    ([MOST, MOST], [0.5, 0.5], [-log(2), -log(2)], [1, 0]),
    ([1000, -1000], [1, 0.0], [0.0, -2000], [1, 0]),
    ([-inf, 0], [0.0, 1], [-inf, 0.0], [0, 1]),
    ([-inf, LEAST], [0.0, 1], [-inf, 0.0], [0, 1]),
    # The maximum is subtracted from itself too: NaN, which propagates to the sum. LOG_SOFTMAX takes that as 1e-20.
    ([-inf, -inf], [nan, nan], [nan, nan], [1, 0]),
    ([0, inf], [nan, nan], [-inf, nan], [0, 1]),
    ([-inf, inf], [nan, nan], [-inf, nan], [0, 1]),
    ([inf, inf], [nan, nan], [nan, nan], [1, 0]),
    # HARDMAX ignores NaN except as the first element, like ARGMAX.
    ([nan, 0], [nan, nan], [nan, -log(1e-20)], [1, 0]),
    ([nan, -inf], [nan, nan], [nan, nan], [1, 0]),
    ([0, nan], [nan, nan], [-log(1e-20), nan], [1, 0]),
    ([nan, nan], [nan, nan], [nan, nan], [1, 0]),
    ([-0.0, 0.0], [0.5, 0.5], [-log(2), -log(2)], [1, 0]),
    ([0.0, -0.0], [0.5, 0.5], [-log(2), -log(2)], [1, 0]),
]
