"""CPU deadlocks: reported when the wait begins, unless another thread may signal."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The watchdog ends a program that hangs despite the message. It is not a Python thread, as that could signal.
BEGINNING = """
import faulthandler, logging, sys, threading
import directml_py as dml
faulthandler.dump_traceback_later(60, exit=True)
logging.basicConfig(format="%(message)s", stream=sys.stdout)
dml.D3D12GetDebugInterface().EnableDebugLayer()
device = dml.D3D12CreateDevice()
queue = device.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC())
fences = [device.CreateFence(0) for _ in range(2)]
one, two = fences
one.SetName("one")
two.SetName("two")

class Ending(logging.Handler):
    def emit(self, record):
        for fence in fences:
            fence.Signal(9)
"""
ENDING = "logging.getLogger('directml_py').addHandler(Ending())\n"
TOLD = "the CPU waits forever: ID3D12Fence 'one' is 0 and has to reach 5; no submitted work signals it"


def said(program):
    ran = subprocess.run(
        [sys.executable, "-c", BEGINNING + program], capture_output=True, text=True, check=True, timeout=120
    )
    assert not ran.stderr
    return [line for line in ran.stdout.splitlines() if "endless" in line]


def test_a_thread_alone():
    """The thread keeps waiting until, here, a message handler signals."""
    (line,) = said(ENDING + "one.SetEventOnCompletion(5)")
    assert TOLD in line
    assert line.endswith("[D3D12-Fence-endless-wait]")


def test_breaking_on_warnings_ends_the_wait():
    program = """
info = device.QueryInterface(dml.ID3D12InfoQueue)
info.SetBreakOnSeverity(dml.D3D12_MESSAGE_SEVERITY_WARNING, True)
try:
    one.SetEventOnCompletion(5)
except dml.DMLError as error:
    print(error)
queue.Signal(one, 5)
one.SetEventOnCompletion(5)
"""
    assert any(TOLD in line for line in said(program))


@pytest.mark.parametrize(("values", "any_of_them", "count"), [((1, 5), 1, 0), ((1, 5), 0, 1), ((4, 5), 1, 1)])
def test_several_fences(values, any_of_them, count):
    program = (
        f"queue.Signal(one, 1)\ndevice.SetEventOnMultipleFenceCompletion(fences, {values}, 2, {any_of_them})"
    )
    found = said(ENDING + program)
    assert len(found) == count
    assert all("'two' is 0 and has to reach 5" in line for line in found)
    assert all(("'one' is 1 and has to reach 4" in line) == (values[0] == 4) for line in found)


def test_another_thread_signals_later():
    """Nothing is reported, although nothing was submitted when the wait began."""
    assert not said(
        """
threading.Timer(0.3, lambda: queue.Signal(one, 5)).start()
one.SetEventOnCompletion(5)
"""
    )


def test_threads_that_wait_for_one_another():
    """Both are reported when the second one begins to wait."""
    found = said(
        """
def first():
    one.SetEventOnCompletion(5)
    queue.Signal(two, 5)
thread = threading.Thread(target=first)
thread.start()
while not one.state.waiting.events:
    pass
"""
        + ENDING
        + """
two.SetEventOnCompletion(5)
thread.join()
"""
    )
    assert len(found) == 2
    assert {TOLD in line for line in found} == {True, False}
