"""Measuring several things side by side."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

ROUNDS = 7
ROUND_SECONDS = 0.02
# Worker threads of other libraries spin for a while after their work, on the processors that the next call needs if it
# is one of those that use several.
LONG_SECONDS = 0.0002
PAUSE_SECONDS = 0.05


@dataclass(frozen=True)
class Row:
    """One line of the table, in ``unit``: our time, those of the ``peers``, and the machine's ``limit``."""

    group: str
    name: str
    ours: float
    peers: Mapping[str, float] = field(default_factory=dict)
    limit: float | None = None
    unit: str = "µs"

    @property
    def best(self) -> str:
        """The name of the fastest peer; empty if there is none."""
        return min(self.peers, key=lambda name: self.peers[name], default="")

    @property
    def ratio(self) -> float | None:
        """Ours / best peer."""
        return self.ours / self.peers[self.best] if self.best else None

    @property
    def limit_ratio(self) -> float | None:
        """Ours / limit."""
        return self.ours / self.limit if self.limit else None


def interleaved(calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The median time of each call in microseconds, measured in turn over several rounds."""
    counts = {name: _repeats(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            count = counts[name]
            if count < ROUND_SECONDS / LONG_SECONDS:
                time.sleep(PAUSE_SECONDS)
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
