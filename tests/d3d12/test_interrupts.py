"""Exceptions wherever a signal handler may run in Execute, Signal and Wait: queues work, or the device is removed."""

from __future__ import annotations

import functools
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import directml_py as dml
from directml_py import d3d12, runtime, sync_validation
from directml_py.abi.hresult import DXGI_ERROR_DEVICE_HUNG, S_OK
from directml_py.runtime.interruptible import run_interruptibly
from directml_py.runtime.recording import Command
from directml_py.session import Session

HERE = tuple(str(Path(module.__file__).parent) for module in (d3d12, runtime, sync_validation))
SECONDS = 10
DIRECT = dml.D3D12_COMMAND_LIST_TYPE_DIRECT


@pytest.fixture(autouse=True)
def _interrupts_raise():
    """Also where the shell started pytest with interrupts ignored, as it starts what runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Call(Command):
    def __init__(self, function):
        self.execute = function


class Program:
    """Two queues, one waiting for the other, with an event at the end and a log of what ran."""

    def __init__(self, debug):
        if debug:
            from ..rules.layer import debug_layer

            with debug_layer():
                self.device = d3d12.D3D12CreateDevice()
        else:
            self.device = d3d12.D3D12CreateDevice()
        desc = dml.D3D12_COMMAND_QUEUE_DESC(Type=DIRECT)
        self.one, self.two = self.device.CreateCommandQueue(desc), self.device.CreateCommandQueue(desc)
        self.fence, self.done, self.gate = (self.device.CreateFence(0) for _ in range(3))
        self.event, self.seen = threading.Event(), []
        self.allocators = []
        self.first, self.second, self.third = (self.list(name) for name in "abc")

    def list(self, name):
        return self.of(Call(lambda: self.seen.append(name)))

    def of(self, command):
        self.allocators.append(self.device.CreateCommandAllocator(DIRECT))
        commands = self.device.CreateCommandList(0, DIRECT, self.allocators[-1])
        commands.record(command)
        commands.Close()
        return commands

    def finish(self, *lists):
        self.one.ExecuteCommandLists(list(lists))
        self.one.Signal(self.done, 1)
        self.done.SetEventOnCompletion(1)

    def play(self):
        self.two.Wait(self.gate, 1)
        self.one.Wait(self.fence, 1)
        self.one.ExecuteCommandLists([self.first])
        self.one.Signal(self.done, 1)
        self.done.SetEventOnCompletion(1, self.event)
        self.two.ExecuteCommandLists([self.second])
        self.two.Signal(self.fence, 1)
        self.gate.Signal(1)
        self.done.GetCompletedValue()
        self.two.ExecuteCommandLists([self.third])
        self.two.Signal(self.done, 2)
        self.done.SetEventOnCompletion(2)

    def check_works(self):
        """Run in a separate thread, as the lock must be free."""
        if self.device.GetDeviceRemovedReason() != S_OK:
            return
        for queue in (self.one, self.two):
            # What the program may not have got to signal.
            self.gate.Signal(1)
            self.fence.Signal(1)
            fence, allocator = self.device.CreateFence(0), self.device.CreateCommandAllocator(DIRECT)
            commands = self.device.CreateCommandList(0, DIRECT, allocator)
            commands.record(Call(lambda queue=queue: self.seen.append(queue)))
            commands.Close()
            queue.ExecuteCommandLists([commands])
            queue.Signal(fence, 1)
            fence.SetEventOnCompletion(1)
            assert fence.GetCompletedValue() == 1
            assert self.seen[-1] is queue
        for commands, name in ((self.first, "a"), (self.second, "b"), (self.third, "c")):
            assert not commands.recording.in_flight
            assert self.seen.count(name) <= 1
        for allocator in self.allocators:
            allocator.Reset()


def interrupt(action, at):
    """Raise KeyboardInterrupt at step number ``at``; False if there are fewer steps.

    A step is where Python runs signal handlers: when a function has been entered, and when one in C has returned.
    """
    count = 0

    def step(frame, event, argument):
        nonlocal count
        if event in ("call", "c_return") and frame.f_code.co_filename.startswith(HERE):
            count += 1
            if count == at:
                raise KeyboardInterrupt

    before = sys.getprofile()
    # Python itself ignores what is raised in __del__, as of the objects of a program before.
    gc.disable()
    sys.setprofile(step)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(before)
        gc.enable()
    return False


def in_time(action):
    failures = []

    def run():
        try:
            action()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "a thread waits forever"
    if failures:
        raise failures[0]


def interrupted_everywhere(debug, first=1, step=1):
    """The approximate number of steps, and how many interrupts removed the device."""
    removed, at = 0, first - step
    while True:
        at += step
        program = Program(debug)
        if not interrupt(program.play, at):
            break
        try:
            in_time(program.check_works)
            if program.device.GetDeviceRemovedReason() != S_OK:
                removed += 1
                assert program.device.GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_HUNG
                reason = r"a (command|submission) was interrupted: KeyboardInterrupt"
                with pytest.raises(dml.DMLError, match=reason):
                    program.device.check_alive()
        except BaseException as error:
            raise AssertionError(f"interrupted at step {at}") from error
    return at, removed


@pytest.mark.parametrize("debug", [False, True])
def test_at_some_steps(debug):
    count, _ = interrupted_everywhere(debug, 3, 23)
    assert count > 150


@pytest.mark.slow
@pytest.mark.parametrize("debug", [False, True])
def test_at_every_step(debug):
    count, removed = interrupted_everywhere(debug)
    assert count > 150
    # Not where arguments are checked, or the program waits.
    assert 0 < removed < count


class Failing:
    def set(self):
        raise ZeroDivisionError("the event")


@pytest.mark.parametrize("signal", ["CPU", "queue"])
@pytest.mark.parametrize("debug", [False, True])
def test_an_event_that_fails(debug, signal):
    """The other events are set, waiting queues continue, and the exception reaches the caller."""
    program = Program(debug)
    fence, events = program.fence, [threading.Event(), Failing(), threading.Event()]
    program.one.Wait(fence, 1)
    program.one.ExecuteCommandLists([program.first])
    program.one.Signal(program.done, 1)

    def play():
        for event in events:
            fence.SetEventOnCompletion(1, event)
        if signal == "CPU":
            fence.Signal(1)
        else:
            program.two.Signal(fence, 1)

    with pytest.raises(ZeroDivisionError, match="the event"):
        play()
    assert events[0].is_set()
    assert events[2].is_set()
    assert program.device.GetDeviceRemovedReason() == S_OK
    in_time(lambda: program.done.SetEventOnCompletion(1))
    assert program.seen == ["a"]
    in_time(program.check_works)


class Long(Command):
    """Runs until it is asked to end."""

    is_long = True

    def __init__(self, error=None):
        self.began, self.may_end, self.error = threading.Event(), threading.Event(), error

    def execute(self):
        self.began.set()
        assert self.may_end.wait(SECONDS)
        if self.error is not None:
            raise self.error

    def step(self):
        return functools.partial(run_interruptibly, self.execute)


def ctrl_c(when):
    """Press Ctrl-C once ``when`` is set."""
    presser = threading.Thread(target=lambda: when.wait(SECONDS) and os.kill(os.getpid(), signal.SIGINT))
    presser.start()
    return presser


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("error", [None, ValueError("it cannot")])
def test_a_long_command_goes_on_after_an_interrupt(debug, error):
    """What comes after it waits, also if it is submitted later."""
    program, long = Program(debug), Long(error)
    commands = program.list("behind it")
    before = program.of(long)
    presser = ctrl_c(long.began)
    with pytest.raises(KeyboardInterrupt):
        program.finish(before, commands)
    presser.join()
    assert program.device.GetDeviceRemovedReason() == S_OK
    program.one.Signal(program.done, 2)
    assert program.seen == []
    assert program.done.GetCompletedValue() == 0
    ended = threading.Event()
    program.done.SetEventOnCompletion(2, ended)
    long.may_end.set()
    assert ended.wait(SECONDS)
    if error is None:
        assert program.seen == ["behind it"]
        program.check_works()
    else:
        assert program.device.GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_HUNG
        assert program.seen == []


def test_a_long_command_that_fails_without_an_interrupt():
    program, long = Program(False), Long(ValueError("it cannot"))
    commands = program.of(long)
    long.may_end.set()
    with pytest.raises(ValueError, match="it cannot"):
        program.one.ExecuteCommandLists([commands])
    assert program.device.GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_HUNG


def test_a_gemm_is_interrupted_within_100_ms():
    """It is one of many, of which the rest runs all the same. A busy machine may take longer."""
    size = 1536
    session = Session()
    square = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, size, size])
    op = session.compile(
        dml.DML_GEMM_OPERATOR_DESC(ATensor=square, BTensor=square, OutputTensor=square, Alpha=1)
    )
    session.initialize(op)
    ones = np.ones((size, size), np.float32)
    a, out = session.upload(ones), session.buffer(ones.nbytes)
    for _ in range(12):
        session.dispatch(op, [a, a, None], [out])
        session.barrier(out)
    session.commands.Close()
    began = []

    def press():
        began.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.05, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        session.queue.ExecuteCommandLists([session.commands])
    taken = time.perf_counter() - began[0]
    assert session.d3d12.GetDeviceRemovedReason() == S_OK
    session.wait()
    assert (session.read(out, np.float32) == size).all()
    assert taken < 1


INTERRUPTED_PROGRAM = """
import os, signal, threading
import numpy as np
import directml_py as dml
from directml_py.session import Session

signal.signal(signal.SIGINT, signal.default_int_handler)
session = Session()
square = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 4096, 4096])
op = session.compile(dml.DML_GEMM_OPERATOR_DESC(ATensor=square, BTensor=square, OutputTensor=square, Alpha=1))
session.initialize(op)
a, out = session.buffer(4096 * 4096 * 4), session.buffer(4096 * 4096 * 4)
for _ in range(3):
    session.dispatch(op, [a, a, None], [out])
    session.barrier(out)
session.commands.Close()
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    session.queue.ExecuteCommandLists([session.commands])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
def test_an_interrupted_program_ends():
    """A BLAS whose thread was lost within a call would wait for it forever."""
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "interrupted\n", "")


def test_an_event_that_fails_while_another_thread_submits():
    """What the other thread leaves to this one runs although the event that it runs behind raises."""
    program = Program(debug=False)

    class Submitting:
        def set(self):
            thread = threading.Thread(target=program.one.ExecuteCommandLists, args=[[program.first]])
            thread.start()
            thread.join(SECONDS)
            assert program.seen == []
            raise ZeroDivisionError("the event")

    program.one.Wait(program.gate, 1)
    program.one.Signal(program.fence, 1)
    program.fence.SetEventOnCompletion(1, Submitting())
    with pytest.raises(ZeroDivisionError):
        program.gate.Signal(1)
    assert program.seen == ["a"]
