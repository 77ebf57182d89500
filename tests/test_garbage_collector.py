"""Pauses of the garbage collector: of one thread, of several, and of a process that forks."""

from __future__ import annotations

import gc
import os
import threading
from contextlib import contextmanager, nullcontext

import pytest

import directml_py as dml
from directml_py.garbage_collector import paused
from directml_py.graph import Graph


@pytest.fixture(autouse=True)
def collector():
    """The collector is on before each test, and again after it, whatever the test did."""
    gc.enable()
    yield
    gc.enable()


def test_a_block():
    with paused():
        assert not gc.isenabled()
        with paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_exception():
    with pytest.raises(ZeroDivisionError), paused():
        _ = 1 / 0
    assert gc.isenabled()


def test_what_is_disabled_stays_disabled():
    gc.disable()
    with paused():
        pass
    assert not gc.isenabled()


@contextmanager
def another_thread_inside():
    entered, leave = threading.Event(), threading.Event()

    def other():
        with paused():
            entered.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    assert entered.wait(60)
    yield
    leave.set()
    thread.join()


def test_the_last_of_several_threads_restores_it():
    with another_thread_inside():
        with paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("inside", [paused, nullcontext])
def test_the_child_of_a_fork_has_no_other_threads(inside):
    with another_thread_inside():
        with inside():
            pid = os.fork()
        if not pid:
            os._exit(not gc.isenabled())
        assert os.waitpid(pid, 0)[1] == 0
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_refused_graph_leaves_it_on():
    graph = Graph()
    x = graph.input_tensor("x", dml.DML_TENSOR_DATA_TYPE_FLOAT32, [4])
    desc = graph.desc({"y": graph.activation_relu(x)})
    desc.InputCount = 0
    with pytest.raises(dml.DMLError):
        graph.device.CompileGraph(desc)
    assert gc.isenabled()


def test_a_graph_is_compiled_without_collections():
    graph = Graph()
    value = graph.input_tensor("x", dml.DML_TENSOR_DATA_TYPE_FLOAT32, [4])
    for _ in range(20):
        value = graph.activation_relu(value)
    desc = graph.desc({"y": value})
    # What happens only once, imports and tracing, is over.
    graph.device.CompileGraph(desc)
    collections = []

    def note(phase, _):
        collections.append(phase == "start")

    before = gc.get_threshold()
    gc.callbacks.append(note)
    gc.set_threshold(100)
    try:
        graph.device.CompileGraph(desc)
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(note)
    # One may begin before the pause, and one when it is over.
    assert sum(collections) <= 2
