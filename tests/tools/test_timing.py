"""When the benchmark measures: calls that last, and a process that rests."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from benchmarks import timing


@pytest.fixture
def process(monkeypatch):
    """Clocks of a process in which a thread spins for ``process.spins`` seconds, all that ``sleep`` lets pass."""
    state = SimpleNamespace(now=100.0, spins=0.0)
    monkeypatch.setattr(time, "perf_counter", lambda: state.now)
    monkeypatch.setattr(time, "process_time", lambda: min(state.now - 100.0, state.spins))
    monkeypatch.setattr(time, "sleep", lambda seconds: setattr(state, "now", state.now + seconds))
    return state


def test_a_call_waits_until_no_thread_spins(process):
    process.spins = 0.15
    timing.rest()
    assert 0.15 <= process.now - 100.0 < 0.2


def test_nobody_is_waited_for_in_vain(process):
    process.spins = 10.0
    timing.rest()
    assert 0.5 <= process.now - 100.0 < 0.6


@pytest.mark.parametrize(
    ("seconds", "least", "most"), [(0.0001, 20, 200), (0.005, 8, 8), (0.02, 2, 5), (0.12, 1, 1)]
)
def test_rounds_of_calls_of_milliseconds_are_longer(monkeypatch, seconds, least, most):
    clock = iter(range(100))
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock) * seconds)
    assert least <= timing.repeats(lambda: None) <= most
