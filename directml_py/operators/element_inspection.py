"""What the debug layer says of elements that an operator makes something of that nobody would want."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..abi.rules import Rule
from ..descs.format import braces
from ..kernels.native_arrays import Array
from ..text.plural import counted_words
from ..validation.report import Report


def report_elements(report: Report, broken: Rule, path: str, where: Array, one: str, several: str) -> None:
    """Report how many elements there are, ``one`` or ``several``, and where the first of them is."""
    places = np.argwhere(where)
    if len(places):
        count = counted_words(len(places), one, several)
        report.add(broken, path, f"has {count}; the first is at {braces(places[0])}")


def begins_with_nan(x: Array, axes: Sequence[int]) -> Array:
    """Whether the first element along ``axes``, of dimensions counted from 0, is NaN, but not all are: as no comparison
    with it is true, no other is ever the largest or the smallest."""
    first = x[tuple(slice(1) if axis in axes else slice(None) for axis in range(x.ndim))]
    return np.isnan(first) & ~np.isnan(x).all(tuple(axes), keepdims=True)
