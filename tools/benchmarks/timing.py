"""Measuring several things side by side."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

ROUNDS = 9
ROUND_SECONDS = 0.02


@dataclass(frozen=True)
class Row:
    """One line of the table. ``ours`` and ``peer`` are in ``unit``; ``ratio`` is ours / peer."""

    group: str
    name: str
    ours: float
    peer: float | None
    peer_name: str
    unit: str = "µs"

    @property
    def ratio(self) -> float | None:
        return None if not self.peer else self.ours / self.peer


def interleaved(calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The median time of each call in microseconds, measured in turn over several rounds."""
    counts = {name: _repeats(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            count = counts[name]
            start = time.perf_counter()
            for _ in range(count):
                call()
            times[name].append((time.perf_counter() - start) / count * 1e6)
    return {name: statistics.median(found) for name, found in times.items()}


def _repeats(call: Callable[[], object]) -> int:
    """How often a call fits into a round; the first run warms it up."""
    call()
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-7)
    return max(1, int(ROUND_SECONDS / once))
