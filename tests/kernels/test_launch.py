"""Calls that run one after the other, as one."""

from __future__ import annotations

import signal
import time
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from directml_py.kernels.backend import backend
from directml_py.kernels.elementwise.map import map_elements
from directml_py.kernels.launch import NativeRun, RunSequence, entry_point, launch_in_order, run_launches
from directml_py.kernels.move import move
from directml_py.kernels.nonzero import nonzero

native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")


def chain(length):
    """Calls each of which reads what the one before has written: x + 1, a copy of that, that + 1, and so on."""
    values = [np.full(40, number, np.float32) for number in range(length + 1)]
    runs = []
    for number, (x, y) in enumerate(pairwise(values)):
        runs.append(move([(y, x)]) if number % 2 else map_elements(lambda x: x + np.float32(1), [x], [y]))
    return values, runs


@pytest.mark.parametrize("length", [1, 2, 5])
def test_each_finds_what_the_one_before_left(length):
    values, runs = chain(length)
    run = launch_in_order(runs)
    for start in (0, 7):
        values[0][...] = start
        run()
        assert [set(one) for one in values] == [{start + (number + 1) // 2} for number in range(length + 1)]


def test_python_in_between():
    values, runs = chain(5)
    seen = []
    runs.insert(3, partial(lambda: seen.append([float(one[0]) for one in values])))
    launch_in_order([launch_in_order(runs[:2]), launch_in_order(runs[2:])])()
    assert seen == [[0, 1, 1, 2, 4, 5]]
    assert values[-1][0] == 3


@native
def test_native_runs_in_a_row_are_one_call():
    values, runs = chain(5)
    merged = launch_in_order([launch_in_order(runs[:2]), runs[2], launch_in_order(runs[3:])])
    merged()
    assert [one[0] for one in values] == [0, 1, 1, 2, 2, 3]
    assert isinstance(merged, RunSequence)
    assert merged.func is run_launches
    assert list(merged.runs) == runs
    assert launch_in_order(runs[:1]) is runs[0]


@native
def test_a_native_run_says_what_is_launched():
    pairs = [(np.zeros(3, np.float32), np.arange(3, dtype=np.float32)) for _ in range(2)]
    run = move(pairs)
    assert isinstance(run, NativeRun)
    assert (run.number, run.count) == (backend.native.lib.DML_LAUNCH_MOVE_RUN, 2)
    assert run.args == (run.task, 2)
    assert run.keepalive == tuple(pairs)


@native
def test_what_gives_a_result_is_called_by_itself():
    """Between two that are launched together, of which the second reads what it has found."""
    x, found, copy = (
        np.array([0, 3, 0, 4], np.float32),
        np.zeros((4, 1), np.uint32),
        np.zeros((4, 1), np.uint32),
    )
    source = np.array([5, 0, 0, 7], np.float32)
    search = nonzero(x, found)
    assert isinstance(search, NativeRun)
    assert search.number is None
    run = launch_in_order([move([(x, source)]), search, move([(copy, found)])])
    run()
    assert copy[:, 0].tolist() == [0, 3, 0, 0]


@native
def test_a_signal_is_handled_before_all_have_run():
    """Copies that take some seconds in all."""
    x, y = (np.zeros(1 << 24, np.float32) for _ in range(2))
    copies = launch_in_order([move([(y, x)])] * 2000)
    began = time.perf_counter()

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(TimeoutError):
            copies()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - began < 2


@native
def test_what_cannot_be_launched_together():
    """What has a result."""
    lib = backend.native.lib
    numbered = [name for name in dir(lib) if name.startswith("DML_LAUNCH_")]
    launched = {f"dml_{name.removeprefix('DML_LAUNCH_').lower()}" for name in numbered}
    alone = {name for name in dir(lib) if name.startswith("dml_") and name.endswith("_run")} - launched
    assert alone == {"dml_nonzero_run"}
    numbers = [entry_point(function)[1] for function in launched]
    assert sorted(numbers) == list(range(len(launched)))
    assert all(entry_point(function)[1] is None for function in alone)
