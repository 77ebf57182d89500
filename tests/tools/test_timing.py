"""When the benchmark measures: calls that last, and a process that rests."""

from __future__ import annotations

import threading
import time

import pytest
from benchmarks import timing


def spinning(seconds: float) -> threading.Thread:
    def spin() -> None:
        while time.perf_counter() < end:
            pass

    end = time.perf_counter() + seconds
    thread = threading.Thread(target=spin)
    thread.start()
    return thread


def test_a_call_waits_until_no_thread_spins():
    thread = spinning(0.15)
    timing.rest()
    assert not thread.is_alive()


def test_nobody_is_waited_for_in_vain(monkeypatch):
    monkeypatch.setattr(timing, "LONGEST_PAUSE_SECONDS", 0.05)
    thread = spinning(1.0)
    timing.rest()
    assert thread.is_alive()
    thread.join()


@pytest.mark.parametrize(
    ("seconds", "least", "most"), [(0.0001, 20, 200), (0.005, 8, 8), (0.02, 2, 5), (0.12, 1, 1)]
)
def test_rounds_of_calls_of_milliseconds_are_longer(monkeypatch, seconds, least, most):
    clock = iter(range(100))
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock) * seconds)
    assert least <= timing.repeats(lambda: None) <= most
