"""A device in the child of a fork: it works or fails with a message, and never hangs."""

from __future__ import annotations

import os
import signal
import threading

import pytest

import directml_py as dml

from .test_interrupts import SECONDS, Call, Program

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def in_child(action):
    """The result of ``action`` in a forked child, as text; "hangs" if it does not terminate."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        try:
            text = action()
        except BaseException as error:
            text = repr(error)
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return "hangs" if os.WIFSIGNALED(status) else text


def use(program):
    fence = program.device.CreateFence(0)
    program.one.ExecuteCommandLists([program.first])
    program.one.Signal(fence, 1)
    fence.SetEventOnCompletion(1)
    return str(program.seen)


@pytest.mark.parametrize("debug", [False, True])
def test_a_device_at_rest(debug):
    program = Program(debug)
    assert in_child(lambda: use(program)) == "['a']"


@pytest.mark.parametrize("held", ["queue", "lock"])
@pytest.mark.parametrize("debug", [False, True])
def test_a_device_that_another_thread_uses(debug, held):
    program = Program(debug)
    started, go = threading.Event(), threading.Event()

    def wait():
        started.set()
        go.wait(SECONDS)

    def work():
        if held == "lock":
            with program.device.scheduler.lock:
                wait()
            return
        allocator = program.device.CreateCommandAllocator(dml.D3D12_COMMAND_LIST_TYPE_DIRECT)
        commands = program.device.CreateCommandList(0, dml.D3D12_COMMAND_LIST_TYPE_DIRECT, allocator)
        commands.record(Call(wait))
        commands.Close()
        fence = program.device.CreateFence(0)
        program.two.ExecuteCommandLists([commands])
        program.two.Signal(fence, 1)
        fence.SetEventOnCompletion(1)

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(SECONDS)
    text = in_child(lambda: use(program))
    go.set()
    thread.join(SECONDS)
    assert "the process was forked while another thread used the device" in text
    assert use(program) == "['a']"
