"""Range map: ranges of addresses, each with its last access."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class RangeMap(Generic[T]):
    """Ranges of addresses, where later ones overwrite earlier ones. They are sorted and disjoint, so that a lookup is a
    binary search, and inserting a range removes what it covers."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._by: list[T] = []

    def __len__(self) -> int:
        return len(self._starts)

    def put(self, start: int, end: int, by: T) -> None:
        """Set the last access of bytes ``start`` to ``end`` to ``by``."""
        if end <= start:
            return
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        starts, ends, accesses = [start], [end], [by]
        if first < last:
            if self._starts[first] < start:
                starts.insert(0, self._starts[first])
                ends.insert(0, start)
                accesses.insert(0, self._by[first])
            if self._ends[last - 1] > end:
                starts.append(end)
                ends.append(self._ends[last - 1])
                accesses.append(self._by[last - 1])
        self._starts[first:last] = starts
        self._ends[first:last] = ends
        self._by[first:last] = accesses

    def parts(self, start: int, end: int) -> Iterator[tuple[int, int, T]]:
        """The accessed parts from ``start`` to ``end``, each with its last access. The map must not change during the
        iteration."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        for index in range(first, last) if start < end else ():
            yield max(start, self._starts[index]), min(end, self._ends[index]), self._by[index]
