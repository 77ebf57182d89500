"""Interleaved timing of several calls in one process; pyperf has one for each benchmark, one after the other."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")

ROUNDS = 7
ROUND_SECONDS = 0.02
# After a pause threads sleep and caches are cold, and calls get faster for this long; those after a longer pause would
# seem slower. So each call is warmed up before its round; and all calls of a row are repeated equally often, even those
# of several milliseconds, unless that takes too long.
HEATING_SECONDS = 0.03
REPEATS = 8
LONGEST_ROUND_SECONDS = 0.1
# Long calls need fewer rounds: they vary less.
FEW_ROUNDS = 3
MOST_SECONDS = 0.5
# Fewer rounds are also enough where they agree within this fraction.
STABLE = 0.02
# A call this slow, both absolutely and relative to the fastest of its row, is measured only once.
HOPELESS_SECONDS = 0.3
HOPELESS = 10
# Worker threads of libraries spin after their work, on processors that a multithreaded next call needs: ONNX Runtime's
# for 40 ms, BLAS's for up to 130. So each call that may use several threads begins when this process is idle.
LONG_SECONDS = 7e-6
PAUSE_SECONDS = 0.01
RESTING = 0.1
LONGEST_PAUSE_SECONDS = 0.5


@contextmanager
def fresh_collector() -> Iterator[None]:
    """Hides existing objects from the garbage collector, so that earlier rows do not affect what is timed."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def interleaved(
    calls: Mapping[str, Callable[[], object]], after: Callable[[], object] = lambda: None
) -> dict[str, list[float]]:
    """The seconds that each call takes in each of several rounds, in which all calls take turns.

    Rounds of a call end when they agree or have taken long. ``after`` is called after each round, untimed.
    """
    with fresh_collector():
        times: dict[str, list[float]] = {name: [] for name in calls}
        once = {name: warm(call) for name, call in calls.items()}
        most, counts = max(map(repeats, once.values())), {}
        for name, first_time in once.items():
            if first_time > max(HOPELESS_SECONDS, HOPELESS * min(once.values())):
                times[name].append(first_time)
            else:
                counts[name] = max(repeats(first_time), min(most, int(LONGEST_ROUND_SECONDS / first_time)))
        for round_ in range(ROUNDS):
            for name, count in rotated(list(counts.items()), round_):
                call, samples = calls[name], times[name]
                if round_ >= FEW_ROUNDS and (sum(samples) * count > MOST_SECONDS or agree(samples)):
                    continue
                if count < ROUND_SECONDS / LONG_SECONDS:
                    rest()
                    heat(call, once[name])
                start = time.perf_counter()
                for _ in range(count):
                    call()
                samples.append((time.perf_counter() - start) / count)
                after()
    return times


def rotated(items: list[Item], round_number: int) -> list[Item]:
    """The items in a different order each turn, so that no call always follows the same one and benefits from its cache
    contents."""
    start = round_number % len(items)
    order = items[start:] + items[:start]
    return order[::-1] if round_number % 2 else order


def agree(times: Sequence[float]) -> bool:
    return max(times) - min(times) <= STABLE * min(times)


def rest() -> None:
    """Wait until all threads of this process together use less than a tenth of a processor, up to a time limit."""
    begin = before = time.perf_counter()
    spent = time.process_time()
    while before - begin < LONGEST_PAUSE_SECONDS:
        time.sleep(PAUSE_SECONDS)
        now, used = time.perf_counter(), time.process_time()
        if used - spent < RESTING * (now - before):
            return
        before, spent = now, used


def heat(call: Callable[[], object], once: float) -> None:
    """Repeat a call of ``once`` seconds until caches are in steady state."""
    stop = time.perf_counter() + HEATING_SECONDS
    while once < HEATING_SECONDS and time.perf_counter() < stop:
        call()


def warm(call: Callable[[], object]) -> float:
    """The duration of a call in seconds, after a first call to warm up."""
    call()
    start = time.perf_counter()
    call()
    return max(time.perf_counter() - start, 1e-7)


def repeats(once: float) -> int:
    """The number of calls of ``once`` seconds in a round."""
    return max(1, int(ROUND_SECONDS / once), min(REPEATS, int(LONGEST_ROUND_SECONDS / once)))
