"""Benchmark cases of operators: operation, tensors, peers, and the limiting resource."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from .interleaved_timing import interleaved
from .limits import limits
from .replay_cost import Recorded
from .runs import LIMIT, OURS, Row

KIB = 1024
LARGE = 64 << 20
SIZES = {"1 KiB": KIB, "256 KiB": 256 * KIB, "64 MiB": LARGE}
# A prime, so that no loop's block size divides it.
DIFFERENT = 1_000_003
TYPES = ("float32", "float16", "int8", "int64")


# The fastest candidate of each limit's first measurement; the others are not measured again.
FASTEST: dict[tuple[tuple[str, int] | None, int], str] = {}


class Contest(NamedTuple):
    """Our recorded dispatch and the peers' calls by name, all over the same memory."""

    ours: Recorded
    peers: Mapping[str, Callable[[], object] | None]

    @property
    def calls(self) -> dict[str, Callable[[], object] | None]:
        return {OURS: self.ours.execute, **self.peers}


class Measurable(Protocol):
    """The interface of what produces a row."""

    @property
    def title(self) -> str: ...

    def measure(self, threads: int) -> Row: ...


@dataclass(frozen=True)
class BenchmarkCase:
    """A case whose contest is created lazily, since it allocates the memory.

    ``limit``: for memory-bound operations, the fewest bytes that must be read or copied (``("copy", bytes)``); for
    others, the FLOAT32 operations of a matrix product (``("sgemm", operations)``).
    """

    group: str
    name: str
    make: Callable[[int], Contest]
    limit: tuple[str, int] | None = None

    @property
    def title(self) -> str:
        """What it is selected by; a name that begins with the group is not prefixed again."""
        return self.name if self.name.startswith(self.group) else f"{self.group} {self.name}"

    def measure(self, threads: int) -> Row:
        contest = self.make(threads)
        calls = {name: call for name, call in contest.calls.items() if call is not None}
        bounds = limits(*self.limit, contest.ours, threads) if self.limit else {}
        known = FASTEST.get((self.limit, threads))
        if known in bounds:
            bounds = {known: bounds[known]}
        times = interleaved({**calls, **bounds})
        sides = {name: times[name] for name in calls}
        if bounds:
            fastest = min(bounds, key=lambda name: statistics.median(times[name]))
            FASTEST[self.limit, threads], sides[LIMIT] = fastest, times[fastest]
        return Row(self.title, sides)


def matrix(dtype: str, size: int) -> tuple[int, int]:
    """Rows and columns of a matrix of ``size`` bytes, as square as powers of two allow."""
    bits = (size // np.dtype(dtype).itemsize).bit_length() - 1
    return 1 << bits // 2, 1 << (bits - bits // 2)


def cube(dtype: str, size: int) -> tuple[int, int, int]:
    """Three sizes, as equal as powers of two allow."""
    bits = (size // np.dtype(dtype).itemsize).bit_length() - 1
    return 1 << bits // 3, 1 << (bits + 1) // 3, 1 << (bits + 2) // 3


def filled(dtype: str, shape: tuple[int, ...]) -> Any:
    """Reproducible numbers of both signs, small enough for reductions; about a million distinct ones."""
    generator = np.random.default_rng(7)
    kind, count = np.dtype(dtype), math.prod(shape)
    few = min(count, DIFFERENT)
    if kind.kind == "f":
        numbers = generator.standard_normal(few, np.float32).astype(kind)
    else:
        numbers = generator.integers(-100, 100, few).astype(kind)
    return np.resize(numbers, shape)


def layouts(dtype: str, size: int) -> Iterator[tuple[str, Any]]:
    """A matrix of ``size`` bytes in packed, padded-row and transposed layout."""
    rows, columns = matrix(dtype, size)
    yield "packed", filled(dtype, (rows, columns))
    yield "padded", filled(dtype, (rows, columns + 16))[:, :columns]
    yield "transposed", filled(dtype, (columns, rows)).T
