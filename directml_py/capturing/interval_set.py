"""Interval set: the bytes of an allocation whose contents follow from what a capture holds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class IntervalSet:
    """Disjoint ranges of bytes in ascending order; ranges that touch are merged."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def covers(self, start: int, end: int) -> bool:
        index = bisect_right(self._starts, start) - 1
        return start >= end or (index >= 0 and end <= self._ends[index])

    def add(self, start: int, end: int) -> None:
        if start >= end:
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]
