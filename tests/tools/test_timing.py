"""Timing of the benchmark: long calls, and waiting for an idle process."""

from __future__ import annotations

import time
from functools import partial
from types import SimpleNamespace

import pytest
from benchmarks import interleaved_timing


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
    interleaved_timing.rest()
    assert 0.15 <= process.now - 100.0 < 0.2


def test_nobody_is_waited_for_in_vain(process):
    process.spins = 10.0
    interleaved_timing.rest()
    assert 0.5 <= process.now - 100.0 < 0.6


@pytest.mark.parametrize(
    ("seconds", "least", "most"), [(0.0001, 20, 200), (0.005, 8, 8), (0.02, 2, 5), (0.12, 1, 1)]
)
def test_rounds_of_calls_of_milliseconds_are_longer(monkeypatch, seconds, least, most):
    clock = iter(range(100))
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock) * seconds)
    assert least <= interleaved_timing.repeats(interleaved_timing.warm(lambda: None)) <= most


def measured(process, **times):
    """How often each call ran, of which one takes the ``times``, in turn and again from the first."""
    calls = dict.fromkeys(times, 0)

    def call(name):
        process.now += times[name][calls[name] % len(times[name])]
        calls[name] += 1

    found = interleaved_timing.interleaved({name: partial(call, name) for name in times})
    return calls, found


def test_rounds_end_when_they_agree(process):
    """Single calls of 60 ms fill a round, after two calls to warm up."""
    calls, found = measured(process, stable=[0.06, 0.06, 0.0606], wild=[0.06, 0.07, 0.065])
    assert calls == {"stable": 2 + 3, "wild": 2 + 7}
    assert found["stable"] == pytest.approx([0.0606, 0.06, 0.06])
    assert sorted(found["wild"]) == pytest.approx([0.06, 0.06, 0.065, 0.065, 0.065, 0.07, 0.07])


@pytest.mark.slow
def test_what_is_hopeless_is_measured_once(process):
    calls, found = measured(process, fast=[0.06], slow=[0.5], hopeless=[9.0, 0.7])
    assert calls == {"fast": 5, "slow": 5, "hopeless": 2}
    assert found == {
        "fast": pytest.approx([0.06] * 3),
        "slow": pytest.approx([0.5] * 3),
        "hopeless": pytest.approx([0.7]),
    }


def test_nobody_always_follows_the_same():
    names = ["ours", "NumPy", "PyTorch", "limit"]
    orders = [interleaved_timing.rotated(names, turn) for turn in range(interleaved_timing.ROUNDS)]
    assert all(sorted(order) == sorted(names) for order in orders)
    followed = {
        one: {order[place - 1] for order in orders for place in (order.index(one),) if place} for one in names
    }
    assert all(len(found) > 1 for found in followed.values())
    assert len({order[0] for order in orders}) > 1
