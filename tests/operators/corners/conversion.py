"""CAST between all types, and quantization: saturation, wrapping, ties, and results that are rounded once."""

from __future__ import annotations

from math import inf, nan

from ..helpers import DATA_TYPES, FLOATS, SIGNED, UNSIGNED
from .corner import LEAST, MOST, Corner


def cast(kinds, output, *rows):
    return Corner("CAST", kinds, rows, types={1: output})


ALL_FLOATS = ("FLOAT64", *FLOATS)
CASTS = [
    *(
        cast(
            ALL_FLOATS,
            to,
            (-0.9, 0),
            (0.9, 0),
            (1.9, 1),
            (nan, 0),
            (inf, MOST),
            (-inf, LEAST),
            (-0.0, 0),
            (127.9, 127),
        )
        for to in (*SIGNED, *UNSIGNED)
    ),
    *(cast(ALL_FLOATS, to, (-1.9, -1), (-127.9, -127)) for to in SIGNED),
    *(cast(ALL_FLOATS, to, (-1.9, 0), (-127.9, 0), (LEAST, 0)) for to in UNSIGNED),
    cast(ALL_FLOATS, "INT8", (128, MOST), (-128.9, LEAST), (-129, LEAST), (LEAST, LEAST), (MOST, MOST)),
    cast(ALL_FLOATS, "UINT8", (255.5, MOST), (256, MOST), (254.9, 254)),
    cast(["FLOAT32"], "INT32", (2.0**31, MOST), (2.0**31 - 128, 2**31 - 128), (-(2.0**31), LEAST)),
    cast(["FLOAT64"], "INT32", (2.0**31 - 0.5, MOST), (-(2.0**31) - 0.5, LEAST), (2147483646.9, 2**31 - 2)),
    cast(["FLOAT64", "FLOAT32"], "INT64", (2.0**63, MOST), (-(2.0**63), LEAST), (2.0**62, 2**62)),
    cast(["FLOAT64", "FLOAT32"], "UINT64", (2.0**63, 2**63), (2.0**64, MOST), (-1, 0)),
    cast(["FLOAT64"], "UINT64", (2.0**64 - 2048, 2**64 - 2048), (2.0**53 + 2, 2**53 + 2)),
    cast(["FLOAT16"], "INT64", (MOST, 65504), (LEAST, -65504)),
    # Once, not by way of FLOAT32 or FLOAT64: each of these lies just above a tie of the narrower type, and on it in the
    # one between.
    cast(
        ["FLOAT64"],
        "FLOAT16",
        (1 + 2**-11 + 2**-40, 1 + 2**-10),
        (2.0**-25 + 2.0**-60, 2**-24),
        (2.0**-25, 0.0),
    ),
    cast(["INT64", "UINT64"], "FLOAT32", (2**54 + 2**30 + 1, 2.0**54 + 2**31), (2**54 + 2**30, 2.0**54)),
    cast(
        ["UINT64"], "FLOAT32", (MOST, 2.0**64), (2**63 + 2**39, 2.0**63), (2**63 + 2**39 + 1, 2.0**63 + 2**40)
    ),
    cast(
        ["INT64"],
        "FLOAT64",
        (MOST, 2.0**63),
        (LEAST, -(2.0**63)),
        (2**53 + 1, 2.0**53),
        (2**53 + 3, 2.0**53 + 4),
    ),
    cast(["UINT64"], "FLOAT64", (MOST, 2.0**64), (2**63 + 1024, 2.0**63), (2**63 + 1025, 2.0**63 + 2048)),
    cast(
        ["INT32"],
        "FLOAT32",
        (2**24 + 1, 2.0**24),
        (2**24 + 3, 2.0**24 + 4),
        (MOST, 2.0**31),
        (LEAST, -(2.0**31)),
    ),
    cast(
        ["INT32", "INT64"], "FLOAT16", (2049, 2048), (2051, 2052), (65519, 65504), (65520, inf), (LEAST, -inf)
    ),
    cast(
        ["FLOAT64"],
        "FLOAT32",
        (MOST, inf),
        (-0.0, -0.0),
        (nan, nan),
        (-inf, -inf),
        (1e-50, 0.0),
        (-1e-50, -0.0),
    ),
    cast(["FLOAT64", "FLOAT32"], "FLOAT16", (65519.99, 65504), (65520, inf), (-65520, -inf), (2.0**-25, 0.0)),
    cast(["FLOAT64", "FLOAT32"], "FLOAT16", (2049, 2048), (-0.0, -0.0), (nan, nan), (2.0**-24, 2**-24)),
    cast(["FLOAT16"], "FLOAT32", (2.0**-24, 2.0**-24), (MOST, 65504), (-0.0, -0.0), (inf, inf), (nan, nan)),
    # Integers wrap, as in C.
    *(cast(SIGNED, to, (-1, MOST), (0, 0), (5, 5)) for to in UNSIGNED),
    *(cast(SIGNED, to, (-1, -1), (-5, -5), (100, 100)) for to in SIGNED),
    cast(["UINT64", "UINT32", "UINT16"], "INT8", (MOST, -1), (128, LEAST), (256, 0)),
    cast(["INT16", "INT32", "INT64"], "UINT8", (LEAST, 0), (256, 0), (-200, 56), (MOST, MOST)),
    cast(["UINT8"], "INT64", (MOST, 255)),
    *(cast(DATA_TYPES, to, (0, 0), (1, 1), (100, 100)) for to in DATA_TYPES),
]


def quantize(kind, scale, zero_point, output, *rows):
    """Rows of an input and the output, for one scale and one zero point; None is an absent tensor."""
    wide = [(x, scale, *([] if zero_point is None else [zero_point]), y) for x, y in rows]
    scale_type = "FLOAT32" if kind == "INT32" else kind
    types = {1: scale_type, 2: output, 3: output}
    return Corner("ELEMENT_WISE_QUANTIZE_LINEAR", [kind], wide, types=types)


def dequantize(kind, output, *rows):
    return Corner("ELEMENT_WISE_DEQUANTIZE_LINEAR", [kind], rows, types={1: output, 3: output})


TIES = ((0.5, 0), (1.5, 2), (2.5, 2), (3.5, 4), (-0.5, 0), (-1.5, -2), (-2.5, -2))
QUANTIZED = [
    # Ties round to even before the zero point is added; NaN gives the least integer.
    *(
        quantize(kind, 1, None, "INT8", *TIES, (127.5, MOST), (-128.5, LEAST), (-129, LEAST))
        for kind in FLOATS
    ),
    *(
        quantize(kind, 1, 3, "INT8", *((x, y + 3) for x, y in TIES), (124.5, MOST), (-131, LEAST))
        for kind in FLOATS
    ),
    *(
        quantize(kind, 1, 255, "UINT8", (0.5, 255), (9, MOST), (-9, 246), (-255.5, 0), (-1.5, 253))
        for kind in FLOATS
    ),
    *(
        quantize(kind, 1, -128, "INT8", (0.0, LEAST), (-1, LEAST), (255, MOST), (256, MOST))
        for kind in FLOATS
    ),
    *(
        quantize(kind, 0.5, 100, "UINT8", (inf, MOST), (-inf, 0), (nan, 0), (MOST, MOST), (LEAST, 0))
        for kind in FLOATS
    ),
    quantize("INT32", 2, 0, "INT8", (5, 2), (7, 4), (-5, -2), (MOST, MOST), (LEAST, LEAST)),
    # Differences of integers do not wrap.
    *(dequantize(kind, "FLOAT32", (LEAST, 1, MOST, -255)) for kind in ("INT8", "UINT8")),
    *(dequantize(kind, "FLOAT32", (LEAST, 0.5, MOST, -32767.5)) for kind in ("INT16", "UINT16")),
    *(dequantize(kind, "FLOAT32", (MOST, 1, LEAST, 2.0**32), (3, 2, 5, -4)) for kind in ("INT32", "UINT32")),
    # Once: the products are just above and below ties of FLOAT16, which FLOAT32 would hit.
    dequantize("INT16", "FLOAT16", (MOST, 1599 * 2.0**-24, 32767 - 37758, 3.599609375)),
    dequantize(
        "UINT16", "FLOAT16", (42002, 1934 * 2.0**-24, 0, 4.83984375), (65090, 1249 * 2.0**-24, 0, 4.84765625)
    ),
    dequantize("UINT8", "FLOAT16", (0, -2, 3, 6), (5, inf, 5, nan), (5, nan, 1, nan), (255, MOST, 0, inf)),
]
CORNERS = [*CASTS, *QUANTIZED]
