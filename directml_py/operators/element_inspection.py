"""Debug-layer reports on elements whose result is hardly the intended one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..abi.rules import Rule
from ..descs.format import braces
from ..kernels.native_arrays import Array
from ..text.plural import counted_words
from ..validation.report import Report


def report_elements(report: Report, broken: Rule, path: str, where: Array, one: str, several: str) -> None:
    """Report the count of true elements, worded ``one`` or ``several``, and the coordinates of the first."""
    places = np.argwhere(where)
    if len(places):
        count = counted_words(len(places), one, several)
        report.add(broken, path, f"has {count}; the first is at {braces(places[0])}")


def begins_with_nan(x: Array, axes: Sequence[int]) -> Array:
    """Whether the first element along ``axes`` (non-negative) is NaN and some other is not: no comparison with NaN is
    true, so a running maximum or minimum never leaves it."""
    first = x[tuple(slice(1) if axis in axes else slice(None) for axis in range(x.ndim))]
    return np.isnan(first) & ~np.isnan(x).all(tuple(axes), keepdims=True)
