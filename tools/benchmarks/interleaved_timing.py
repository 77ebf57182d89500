"""Measuring several things side by side."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Item = TypeVar("Item")

ROUNDS = 7
ROUND_SECONDS = 0.02
# After a rest threads sleep and caches are empty: for so long calls take less and less time, and who rested longer
# would seem to be slower. So each is made for a while before its round; and all calls of a row are made equally often,
# those of several milliseconds too, unless that takes too long.
HEATING_SECONDS = 0.03
REPEATS = 8
LONGEST_ROUND_SECONDS = 0.1
# Of a call that takes long, fewer rounds are enough: what lasts longer varies less.
FEW_ROUNDS = 3
MOST_SECONDS = 0.5
# Fewer are enough, too, where they agree.
STABLE = 0.02
# What takes so long, and so many times as long as the fastest of its row, decides nothing: one call says enough.
HOPELESS_SECONDS = 0.3
HOPELESS = 10
# Worker threads of libraries spin for a while after their work, on the processors that the next call needs if it is one
# of those that use several: ONNX Runtime's for 40 ms, BLAS's for up to 130. So each that may use several begins when
# this process rests.
LONG_SECONDS = 7e-6
PAUSE_SECONDS = 0.01
RESTING = 0.1
LONGEST_PAUSE_SECONDS = 0.5


def title(group: str, name: str) -> str:
    """What a row is called and found by; names that begin with their group do not say it twice."""
    return name if name.startswith(group) else f"{group} {name}"


@dataclass(frozen=True)
class Row:
    """One line of the table, in ``unit``: our time, those of the ``peers``, and the machine's ``limit``.

    ``family`` is what rows of a kind stand under.
    """

    group: str
    name: str
    ours: float
    peers: Mapping[str, float] = field(default_factory=dict)
    limit: float | None = None
    unit: str = "µs"
    family: str = ""

    @property
    def title(self) -> str:
        return title(self.group, self.name)

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


def interleaved(
    calls: Mapping[str, Callable[[], object]], after: Callable[[], object] = lambda: None
) -> dict[str, float]:
    """The median time of each call in microseconds, measured in turn over several rounds.

    Rounds of a call end when they agree, or have taken long. ``after`` each round is called what no time is taken of.
    What was there before is no garbage collector's business meanwhile: the rows before must not decide about this one.
    """
    gc.collect()
    gc.freeze()
    try:
        return _interleaved(calls, after)
    finally:
        gc.unfreeze()


def _interleaved(calls: Mapping[str, Callable[[], object]], after: Callable[[], object]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in calls}
    once = {name: warm(call) for name, call in calls.items()}
    most, counts = max(map(repeats, once.values())), {}
    for name, found in once.items():
        if found > max(HOPELESS_SECONDS, HOPELESS * min(once.values())):
            times[name].append(found * 1e6)
        else:
            counts[name] = max(repeats(found), min(most, int(LONGEST_ROUND_SECONDS / found)))
    for done in range(ROUNDS):
        for name, count in turned(list(counts.items()), done):
            call, known = calls[name], times[name]
            if done >= FEW_ROUNDS and (sum(known) * count > MOST_SECONDS * 1e6 or agree(known)):
                continue
            if count < ROUND_SECONDS / LONG_SECONDS:
                rest()
                heat(call, once[name])
            start = time.perf_counter()
            for _ in range(count):
                call()
            known.append((time.perf_counter() - start) / count * 1e6)
            after()
    return {name: statistics.median(found) for name, found in times.items()}


def turned(items: list[Item], turn: int) -> list[Item]:
    """In another order each turn, so that nobody always follows the same: what one leaves in caches is for all."""
    start = turn % len(items)
    order = items[start:] + items[:start]
    return order[::-1] if turn % 2 else order


def agree(times: Sequence[float]) -> bool:
    return max(times) - min(times) <= STABLE * min(times)


def rest() -> None:
    """Wait until all threads of this process together take less than a tenth of a processor, or do not stop."""
    begin = before = time.perf_counter()
    spent = time.process_time()
    while before - begin < LONGEST_PAUSE_SECONDS:
        time.sleep(PAUSE_SECONDS)
        now, used = time.perf_counter(), time.process_time()
        if used - spent < RESTING * (now - before):
            return
        before, spent = now, used


def heat(call: Callable[[], object], once: float) -> None:
    """Make a call of ``once`` seconds until caches are as they are when it is made again and again."""
    stop = time.perf_counter() + HEATING_SECONDS
    while once < HEATING_SECONDS and time.perf_counter() < stop:
        call()


def warm(call: Callable[[], object]) -> float:
    """The seconds that a call takes the second time; the first run warms it up."""
    call()
    start = time.perf_counter()
    call()
    return max(time.perf_counter() - start, 1e-7)


def repeats(once: float) -> int:
    """How often a call of so many seconds fits into a round."""
    return max(1, int(ROUND_SECONDS / once), min(REPEATS, int(LONGEST_ROUND_SECONDS / once)))
