"""Classification of disagreements, with those that are listed and why, and the figures of a run.

In the lists ``*`` stands for any operator.
"""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import Any

# Of windows, which Microsoft's library does not validate.
STILL = "a window with stride 0 does not move"
EMPTY = "a window of size 0 has no elements"
SPREAD = "with dilation 0, all taps are the same element"
LEADING = "with an additional leading 1, batches would become channels"
FORMS = (
    "the attribute arrays have one entry for each spatial dimension; any other count has no defined meaning"
)
# Rules by which we reject what the library accepts, with the reasons.
STRICTER: dict[str, str] = {
    "DML-Desc-enum": "a number that is no enumerator does not say what to compute",
    "DML-AVERAGE_POOLING_GRAD-strides": "the windows of an element are found by dividing by the stride",
    "DML-*CONVOLUTION*-strides": STILL,
    "DML-*POOLING*-window-size": EMPTY,
    "DML-*POOLING*-dilations": SPREAD,
    "DML-*CONVOLUTION*-dilations": SPREAD,
    "DML-*POOLING*-dimensions": FORMS,
    "DML-CONVOLUTION*-dimensions": FORMS,
    "DML-QUANTIZED_LINEAR_*-spatial-dimension-count": FORMS,
    "DML-GATHER-indices-batch": "some sizes other than 1 are accepted, by the output's sizes, and the first is read",
    "DML-SLICE_GRAD-sizes": "where the elements of a gradient larger than the window would go is undefined",
    "DML-SLICE_GRAD-input-window-sizes": "an empty window has no elements to put back",
    "DML-LP_POOLING*-p": "there is no 0th root",
    "DML-LSTM-clip-threshold": "below 0 the range to clip to is empty; the library does not compile some such descs",
    "DML-CONVOLUTION_INTEGER-same-dimension-count": LEADING,
    "DML-QUANTIZED_LINEAR_CONVOLUTION-same-dimension-count": LEADING,
    "DML-MULTIHEAD_ATTENTION-key-beside-value": "new values given with past keys alone have no keys",
    "DML-MULTIHEAD_ATTENTION-value-beside-key": "new keys given with past values alone have no values",
}
# Descs that crash the library; here they are either rejected or executed.
CRASHES: dict[str, str] = {
    "GATHER": "where IndexDimensions - 1 above Axis overruns its heap",
    "MULTIHEAD_ATTENTION": "where HeadCount 0 causes a division by zero",
}
UNLISTED = ("false green", "false refusal", "unlisted crash", "other HRESULT")


def reason(rule: str) -> str:
    """The reason why ``rule`` is stricter; empty for an unlisted rule."""
    return next((text for pattern, text in STRICTER.items() if fnmatchcase(rule, pattern)), "")


def kind_of(entry: dict[str, Any]) -> str:
    """``crash``, ``stricter`` (listed), or one of ``UNLISTED``."""
    if entry["theirs"].startswith("signal"):
        return "crash" if entry["operator"] in CRASHES or entry["rules"] else "unlisted crash"
    if entry["theirs"] != "0x00000000":
        return "other HRESULT" if entry["rules"] else "false green"
    return "stricter" if all(map(reason, entry["rules"])) else "false refusal"


class JudgingRun:
    """The counts of a run: ``judged`` and ``listed`` by operator, ``descs`` and ``kinds`` by stream."""

    def __init__(self) -> None:
        self.judged: Counter[str] = Counter()
        self.listed: Counter[str] = Counter()
        self.descs: dict[str, int] = {}
        self.kinds: dict[str, Counter[str]] = {}

    def add(self, stream: str, counts: Counter[str], disagreements: list[dict[str, Any]]) -> None:
        self.judged += counts
        self.descs[stream] = sum(counts.values())
        self.kinds[stream] = Counter(map(kind_of, disagreements))
        self.listed += Counter(entry["operator"] for entry in disagreements if kind_of(entry) not in UNLISTED)

    @property
    def total(self) -> int:
        return sum(self.descs.values())

    @property
    def unlisted(self) -> int:
        return sum(kinds[kind] for kinds in self.kinds.values() for kind in UNLISTED)
