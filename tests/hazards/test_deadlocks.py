"""CPU deadlocks: reported when the wait begins, unless another thread may signal."""

from __future__ import annotations

import pytest
from children import run_in_child

BEGINNING = """
import logging, sys, threading
import directml_py as dml
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
    ran = run_in_child(BEGINNING + program)
    assert (ran.returncode, ran.stderr) == (0, "")
    return [line for line in ran.stdout.splitlines() if "endless" in line]


def test_a_thread_alone():
    """The thread keeps waiting until, here, a message handler signals."""
    (line,) = said(ENDING + "one.SetEventOnCompletion(5)")
    assert TOLD in line
    assert line.endswith("[D3D12-Fence-endless-wait]")


@pytest.mark.parametrize("wait", ["one.SetEventOnCompletion(5)", "event.wait()"])
def test_the_wait_ends_with_an_exception(wait):
    """Whether the device waits or the program does, for an event of its own."""
    program = f"""
event = threading.Event()
one.SetEventOnCompletion(5, event)
assert not event.wait(0)
for _ in range(2):
    try:
        {wait}
    except dml.DMLError as error:
        print("raised", error.diagnostics[0])
queue.Signal(one, 5)
{wait}
assert event.wait()
"""
    lines = said(program)
    assert sum(line.startswith(f"raised {TOLD}") for line in lines) == 2


def test_a_filter_lets_it_wait():
    """Threads that Python does not know, of an extension in C, may signal."""
    program = """
info = device.QueryInterface(dml.ID3D12InfoQueue)
deny = dml.D3D12_INFO_QUEUE_FILTER_DESC(pIDList=[dml.message_id("D3D12-Fence-endless-wait")])
info.PushStorageFilter(dml.D3D12_INFO_QUEUE_FILTER(DenyList=deny))
import _thread, time
_thread.start_new_thread(lambda: (time.sleep(0.3), queue.Signal(one, 5)), ())
one.SetEventOnCompletion(5)
"""
    assert not said(program)


@pytest.mark.parametrize(("values", "any_of_them", "count"), [((1, 5), 1, 0), ((1, 5), 0, 1), ((4, 5), 1, 1)])
def test_several_fences(values, any_of_them, count):
    program = (
        f"queue.Signal(one, 1)\ndevice.SetEventOnMultipleFenceCompletion(fences, {values}, 2, {any_of_them})"
    )
    found = said(ENDING + program)
    assert len(found) == count
    assert all("'two' is 0 and has to reach 5" in line for line in found)
    assert all(("'one' is 1 and has to reach 4" in line) == (values[0] == 4) for line in found)


@pytest.mark.parametrize("wait", ["one.SetEventOnCompletion(5)", "while one.GetCompletedValue() < 5: pass"])
def test_another_thread_signals_later(wait):
    """Nothing is reported, although nothing was submitted when the wait began."""
    assert not said(f"threading.Timer(0.3, lambda: queue.Signal(one, 5)).start()\n{wait}")


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("queue.Signal(one, 4)", "'one' is 4 and has to reach 5; no submitted work signals it"),
        ("queue.Wait(two, 1); queue.Signal(one, 5)", "has to reach 1; every signal of it is blocked too"),
    ],
)
def test_a_loop_that_polls(before, text):
    """It ends with an exception, as another wait would."""
    _, raised, *_ = said(
        f"""
{before}
try:
    while one.GetCompletedValue() < 5:
        pass
except dml.DMLError as error:
    print("raised", error.diagnostics[0])
"""
    )
    assert text in raised
    assert "GetCompletedValue was called 10,000 times in a row" in raised


def test_a_loop_that_polls_and_does_something():
    """Also if that is never enough for the value awaited."""
    assert not said(
        """
for index in range(12000):
    one.GetCompletedValue()
    if index % 9000 == 8999:
        queue.Signal(two, index)
for _ in range(8):
    two.GetCompletedValue()
"""
    )


def test_a_filter_lets_it_poll():
    program = """
info = device.QueryInterface(dml.ID3D12InfoQueue)
info.SetBreakOnSeverity(dml.D3D12_MESSAGE_SEVERITY_ERROR, False)
deny = dml.D3D12_INFO_QUEUE_FILTER_DESC(pIDList=[dml.message_id("D3D12-Fence-endless-wait")])
info.PushStorageFilter(dml.D3D12_INFO_QUEUE_FILTER(DenyList=deny))
for _ in range(20001):
    one.GetCompletedValue()
"""
    assert not said(program)


def test_threads_that_wait_for_one_another():
    """Both are reported when the second one begins to wait, and both waits end."""
    found = said(
        """
def first():
    one.SetEventOnCompletion(5)
    queue.Signal(two, 5)
def caught():
    try:
        first()
    except dml.DMLError as error:
        print(f"raised {error}\\n", end="")
thread = threading.Thread(target=caught)
thread.start()
while not one.state.waiting.events:
    pass
"""
        + """
try:
    two.SetEventOnCompletion(5)
except dml.DMLError as error:
    print(f"raised {error}\\n", end="")
thread.join()
"""
    )
    raised = [line for line in found if line.startswith("raised")]
    assert len(found) == 4
    assert {TOLD in line for line in raised} == {True, False}
