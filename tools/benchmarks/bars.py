"""Performance targets of rows: ratios to the best peer and to the machine's limit, and absolute amounts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .interleaved_timing import Row


class RowLimits(NamedTuple):
    """The most that a row may take, as a multiple of the best peer and of the limit, and in the row's unit; None is no
    bar."""

    peer: float | None = None
    limit: float | None = None
    amount: float | None = None


class LimitVerdict(NamedTuple):
    """``what`` is a field of ``RowLimits``."""

    what: str
    value: float
    bar: float

    @property
    def met(self) -> bool:
        return self.value <= self.bar


# The first entry applies whose words all occur in a row's group and name.
BARS: Sequence[tuple[str, RowLimits]] = (
    ("small execute recorded", RowLimits(amount=5)),
    ("small evaluate", RowLimits(amount=120)),
    ("small CreateOperator CONVOLUTION no two", RowLimits(amount=150)),
    ("small CreateOperator no two", RowLimits(amount=100)),
    ("small the same, no two of one size", RowLimits(amount=100)),
    ("small import", RowLimits(peer=0.4)),
    ("graphs tiny nodes", RowLimits(peer=1.2)),
    ("capture", RowLimits(peer=2)),
    ("scaling", RowLimits(peer=2)),
    ("small", RowLimits()),
    ("descs", RowLimits()),
    ("dispatch", RowLimits()),
    ("graphs", RowLimits()),
    ("native", RowLimits()),
    ("network", RowLimits(peer=1)),
    ("compile first result", RowLimits(peer=1.5)),
    ("compile compiled again", RowLimits(peer=2)),
    ("compile", RowLimits()),
    ("memory", RowLimits(peer=1.2)),
    ("1 KiB", RowLimits()),
    ("256 KiB", RowLimits(peer=1.1)),
    ("chain of ten", RowLimits(peer=0.4, limit=1.5)),
    ("geometric mean", RowLimits(peer=0.9)),
    ("CONVOLUTION", RowLimits(peer=1.1)),
    ("GEMM", RowLimits(peer=1, limit=1.1)),
    ("REDUCE", RowLimits(peer=1)),
    ("", RowLimits(peer=1, limit=1.25)),
)
# Words in the names of groups for which the geometric mean of ratios is an extra row.
MEANS = ("CONVOLUTION",)
# Operators that only move bytes: FLOAT32 and INT8 bracket FLOAT16.
MOVEMENTS = (
    *("PADDING", "SLICE", "REVERSE", "TILE", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "UNFOLD", "JOIN", "SPLIT"),
    *("GATHER", "SCATTER", "ONE_HOT", "NONZERO", "identity", "DIAGONAL", "FILL_VALUE_CONSTANT"),
)
# Element-wise operators with the cost of others.
RELATIVES = ("ABS", "RELU", "CLIP", "LOG", "TANH", "SIGMOID", "SIN", "SQRT", "MULTIPLY")
# Rows left out of the default run: further sizes and types, or similar operators.
LEFT_OUT = (
    "1 KiB",
    "256 KiB float16",
    "256 KiB int8",
    "256 KiB int64",
    "int64 64 MiB",
    *(f"{name} float16, 64 MiB" for name in MOVEMENTS),
    *(f"PADDING {mode}" for mode in ("edge", "wrap")),
    "SLICE steps of 3",
    "POOLING float16",
    "MAX_POOLING uint8",
    "MAX_POOLING int8",
    # Most bytes that these read are indices, and some peers take seconds per call.
    *(f"{name} int8, 64 MiB" for name in ("GATHER_ND", "GATHER_ELEMENTS", "SCATTER")),
    *(
        "GATHER_ELEMENTS columns",
        "SCATTER columns",
        "SPLIT int8",
        "GATHER nested, int8",
        "identity padded, int8",
    ),
    *("CUMULATIVE exclusive", "CUMULATIVE float16", "CUMULATIVE_PRODUCT rows"),
    *(f"FILL_VALUE_SEQUENCE {kind}" for kind in ("float16", "int8")),
    *(f"TOP_K {count}, {kind}" for count in ("half", "200 of 1000") for kind in ("float16", "int8")),
    *(f"GEMM {size} float16" for size in ("96,", "128,", "192,", "4096 by 64", "64 by 4096")),
    *("SPACE_TO_DEPTH depth,", "DEPTH_TO_SPACE depth,", "PADDING symmetric"),
    *(f"{name} packed, float16" for name in RELATIVES),
    *(f"{name} packed, float32, 256 KiB" for name in RELATIVES),
    *("ADD rows, float16", "ADD columns, float16", "ADD transposed, float16"),
    *("GEMM B transposed, float16", "GEMM 4096 by 1, float16", "GEMM 64 times 64, float16"),
    *("POOLING 2x2, 112", "POOLING_GRAD 2x2, 112", "POOLING global, 56", "LP_POOLING stride P 3,"),
    *(f"REDUCE {kind} float16" for kind in ("L2", "LOG_SUM_EXP")),
    *("REDUCE transposed MAX", "REDUCE transposed ARGMAX"),
    *(
        f"REDUCE {kind} float32, 64 MiB"
        for kind in ("L1", "AVERAGE", "LOG_SUM leading,", "LOG_SUM trailing,")
    ),
    *(
        f"{name} int8"
        for name in ("PADDING", "SLICE_GRAD", "SUBSEQUENCES", "TILE", "UNFOLD", "DEPTH", "ONE_HOT")
    ),
    *(f"CAST {kind}" for kind in ("float32 to int32", "int32 to float32", "uint8 to float32")),
    *(f"REDUCE {kind}" for kind in ("middle", "all", "padded", "MULTIPLY", "MIN", "ARGMIN", "SUM_SQUARE")),
    *(f"REDUCE {kind} 256 KiB" for kind in ("L1", "L2", "LOG_SUM", "AVERAGE", "ARGMAX", "transposed")),
)


def matches(text: str, words: str) -> bool:
    return all(word in text for word in words.split())


def bar_of(row: Row) -> RowLimits:
    return next(bar for words, bar in BARS if matches(row.title, words))


def verdicts(row: Row) -> list[LimitVerdict]:
    """The verdicts on the row's bars that are comparable."""
    bar = bar_of(row)
    values = (row.ratio, row.limit_ratio, row.ours)
    return [
        LimitVerdict(what, value, most)
        for what, value, most in zip(RowLimits._fields, values, bar)
        if value is not None and most is not None
    ]
