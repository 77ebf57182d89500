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
from directml_py.kernels.launch import in_turn
from directml_py.kernels.move import move


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
    run = in_turn(runs)
    for start in (0, 7):
        values[0][...] = start
        run()
        assert [set(one) for one in values] == [{start + (number + 1) // 2} for number in range(length + 1)]


def test_python_in_between():
    values, runs = chain(5)
    seen = []
    runs.insert(3, partial(lambda: seen.append([float(one[0]) for one in values])))
    in_turn([in_turn(runs[:2]), in_turn(runs[2:])])()
    assert seen == [[0, 1, 1, 2, 4, 5]]
    assert values[-1][0] == 3


@pytest.mark.skipif(backend.native is None, reason="no native loops")
def test_native_loops_are_one_call():
    _, runs = chain(5)
    merged = in_turn([in_turn(runs[:2]), runs[2], in_turn(runs[3:])])
    assert merged.args[0] == backend.native.lib.dml_run_launches
    assert merged.args[2] == 5
    assert in_turn(runs[:1]) is runs[0]


@pytest.mark.skipif(backend.native is None, reason="no native loops")
def test_a_signal_is_handled_before_all_have_run():
    """Copies that take some seconds in all."""
    x, y = (np.zeros(1 << 24, np.float32) for _ in range(2))
    copies = in_turn([move([(y, x)])] * 2000)
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


@pytest.mark.skipif(backend.native is None, reason="no native loops")
def test_every_loop_that_has_a_number_is_called_by_it():
    """Others are called by what prepares their tasks, or give a result."""
    lib = backend.native.lib
    numbers = {name[len("DML_LAUNCH_") :].lower() for name in dir(lib) if name.startswith("DML_LAUNCH_")}
    tasks = {name[4:-4] for name in dir(lib) if name.startswith("dml_") and name.endswith("_run")}
    assert numbers <= tasks
    assert tasks - numbers == {"attention", "nonzero", "recurrent"}
