"""What the debug layer says of elements that an operator makes something of that nobody would want."""

from __future__ import annotations

import numpy as np

from ..abi.rules import Rule
from ..abi.words import counted_words
from ..descs.format import braces
from ..kernels.binding import Array
from ..validation.report import Report


def report_elements(report: Report, broken: Rule, path: str, where: Array, one: str, several: str) -> None:
    """Report how many elements there are, ``one`` or ``several``, and where the first of them is."""
    places = np.argwhere(where)
    if len(places):
        count = counted_words(len(places), one, several)
        report.add(broken, path, f"has {count}; the first is at {braces(places[0])}")
