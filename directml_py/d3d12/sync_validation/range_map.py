"""Who touched each byte last."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class LastAccess(Generic[T]):
    """``address`` is the first byte that was asked about and that ``by`` was the last to touch."""

    address: int
    by: T


class RangeMap(Generic[T]):
    """Ranges of addresses, later ones over earlier ones. They lie in order and share no byte, so that looking one up
    is a search, and putting one in removes what it covers."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._by: list[T] = []

    def __len__(self) -> int:
        return len(self._starts)

    def put(self, start: int, end: int, by: T) -> None:
        """Bytes ``start`` to ``end`` were touched by ``by``."""
        if end <= start:
            return
        first, behind = bisect_right(self._ends, start), bisect_left(self._starts, end)
        starts, ends, by_whom = [start], [end], [by]
        if first < behind:
            if self._starts[first] < start:
                starts.insert(0, self._starts[first])
                ends.insert(0, start)
                by_whom.insert(0, self._by[first])
            if self._ends[behind - 1] > end:
                starts.append(end)
                ends.append(self._ends[behind - 1])
                by_whom.append(self._by[behind - 1])
        self._starts[first:behind] = starts
        self._ends[first:behind] = ends
        self._by[first:behind] = by_whom

    def first(self, start: int, end: int) -> LastAccess[T] | None:
        """The first byte from ``start`` to ``end`` that somebody touched, and who did so last."""
        place = bisect_right(self._ends, start)
        if end <= start or place == len(self._starts) or self._starts[place] >= end:
            return None
        return LastAccess(max(start, self._starts[place]), self._by[place])

    def parts(self, start: int, end: int) -> Iterator[tuple[int, int, T]]:
        """Where from ``start`` to ``end`` somebody was, each part with who was there last; put none in meanwhile."""
        first, behind = bisect_right(self._ends, start), bisect_left(self._starts, end)
        for place in range(first, behind) if start < end else ():
            yield max(start, self._starts[place]), min(end, self._ends[place]), self._by[place]
