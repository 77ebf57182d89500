"""No code of the program runs while the package holds a lock: finalizers of its objects may wait for other threads."""

from __future__ import annotations

import ast
import gc
import threading
from pathlib import Path

import pytest

import directml_py
from directml_py import d3d12
from directml_py.abi.interface import IUnknown
from directml_py.abi.wintypes import GUID
from directml_py.api.d3d12_structs import D3D12_COMMAND_QUEUE_DESC
from directml_py.runtime.scheduler import Work

SECONDS = 5
KEY = GUID("6f1d7d0a-54f8-4a2b-8f0e-0c5f7d9f7c11")
SOURCES = sorted(Path(directml_py.__file__).parent.rglob("*.py"))


class Finalized(IUnknown):
    """An object of the program: its finalizer waits for a call that another thread makes."""

    def __init__(self, call, outcomes):
        self.call, self.outcomes = call, outcomes

    def set(self):
        """It is an event too."""

    def __del__(self):
        thread = threading.Thread(target=self.call, daemon=True)
        thread.start()
        thread.join(SECONDS)
        self.outcomes.append("hangs" if thread.is_alive() else "returns")


def outcomes_of(make, drop):
    """How the calls of a finalizer end that runs within ``drop``."""
    outcomes = []
    drop(make(outcomes))
    gc.collect()
    assert outcomes
    return set(outcomes)


@pytest.fixture(params=[False, True], ids=["release", "debug"])
def device(request):
    debug = d3d12.D3D12GetDebugInterface()
    (debug.EnableDebugLayer if request.param else debug.DisableDebugLayer)()
    yield d3d12.D3D12CreateDevice()
    debug.DisableDebugLayer()


REPLACEMENTS = {
    "by nothing": lambda device: device.SetPrivateDataInterface(KEY, None),
    "by bytes": lambda device: device.SetPrivateData(KEY, 3, b"abc"),
    "by an object": lambda device: device.SetPrivateDataInterface(KEY, IUnknown()),
}


@pytest.mark.parametrize("replace", REPLACEMENTS.values(), ids=REPLACEMENTS)
def test_private_data_that_is_replaced(device, replace):
    read, finished = threading.Event(), []

    class Reader(IUnknown):
        def __del__(self):
            # In the thread that replaces it.
            finished.append(device.name)
            thread = threading.Thread(target=lambda: (device.SetName("a"), read.set()), daemon=True)
            thread.start()
            finished.append(read.wait(SECONDS))

    def call():
        device.SetPrivateDataInterface(KEY, Reader())
        replace(device)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(2 * SECONDS)
    assert not thread.is_alive()
    assert finished == ["", True]


def test_a_message_callback_that_is_removed():
    d3d12.D3D12GetDebugInterface().EnableDebugLayer()
    try:
        queue = d3d12.D3D12CreateDevice().QueryInterface(d3d12.ID3D12InfoQueue1)
    finally:
        d3d12.D3D12GetDebugInterface().DisableDebugLayer()

    def make(outcomes):
        context = Finalized(queue.PushEmptyStorageFilter, outcomes)
        return queue.RegisterMessageCallback(lambda *_: None, 0, context)

    assert outcomes_of(make, queue.UnregisterMessageCallback) == {"returns"}


class Holding(Work):
    """Work that holds an object of the program, as a recorded dispatch holds its operator's private data."""

    __slots__ = ("held",)

    def __init__(self, held):
        super().__init__()
        self.held = held


def pending(device, outcomes, count=2):
    """Work of a queue that a fence holds up, and the fence."""
    queue = device.CreateCommandQueue(D3D12_COMMAND_QUEUE_DESC())
    fence = device.CreateFence(0)
    queue.Wait(fence, 1)
    for _ in range(count):
        queue.work.add(Holding(Finalized(lambda: device.CreateFence(0), outcomes)))
    done = device.CreateFence(0)
    queue.Signal(done, 1)
    return queue, fence, done


def test_work_that_has_run(device):
    def drop(parts):
        _, fence, done = parts
        fence.Signal(1)
        done.SetEventOnCompletion(1)

    assert outcomes_of(lambda outcomes: pending(device, outcomes), drop) == {"returns"}


def test_work_that_a_removal_drops(device):
    def drop(parts):
        device.remove(0x887A0006, "for this test")

    # On a removed device nothing is created; the lock is asked for all the same.
    call = device.scheduler.fences

    def make(outcomes):
        queue = device.CreateCommandQueue(D3D12_COMMAND_QUEUE_DESC())
        queue.Wait(device.CreateFence(0), 1)
        for _ in range(2):
            queue.work.add(Holding(Finalized(call, outcomes)))
        return queue

    assert outcomes_of(make, drop) == {"returns"}


def test_events_that_have_been_set(device):
    def make(outcomes):
        fence = device.CreateFence(0)
        for _ in range(3):
            fence.SetEventOnCompletion(1, Finalized(lambda: device.CreateFence(0), outcomes))
        return fence

    assert outcomes_of(make, lambda fence: fence.Signal(1)) == {"returns"}


def test_fences_that_go_with_their_events(device):
    def make(outcomes):
        fence = device.CreateFence(0)
        fence.SetEventOnCompletion(1, Finalized(lambda: device.CreateFence(0), outcomes))
        return [fence]

    assert outcomes_of(make, list.clear) == {"returns"}


def test_no_lock_deadlocks_with_its_own_thread():
    """The garbage collector and signal handlers run code of the program in the thread that holds a lock."""
    plain = [
        f"{path}:{node.lineno}"
        for path in SOURCES
        if "Lock" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Lock", "threading.Lock")
    ]
    assert plain == []
