"""Deferred execution with many threads and queues, without deadlocks."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest
from toolchain import later

import directml_py as dml
from directml_py.runtime.recording import Command
from directml_py.sync_validation.host_memory import host_memory

from ..dml.helpers import DIRECT, READBACK
from .hazard import HazardBench

SECONDS = 20


class Call(Command):
    """A command that calls a function."""

    def __init__(self, function):
        self.execute = function


@pytest.fixture
def bench():
    return HazardBench(breaks=True)


def calling(bench, *functions):
    commands = bench.new_list()
    for function in functions:
        commands.record(Call(function))
    commands.Close()
    return commands


def new_queue(bench):
    return bench.d3d12.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(Type=DIRECT))


def finish(*threads):
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()


def in_thread(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def reached(fence, value):
    event = threading.Event()
    fence.SetEventOnCompletion(value, event)
    return event.wait(SECONDS)


def test_only_what_is_asked_for_runs(bench):
    seen, fence = [], bench.d3d12.CreateFence(0)
    for value in (1, 2, 3):
        bench.queue.ExecuteCommandLists([calling(bench, lambda value=value: seen.append(value))])
        bench.queue.Signal(fence, value)
    assert seen == []
    assert reached(fence, 2)
    assert seen == [1, 2]
    assert fence.GetCompletedValue() == 3
    assert seen == [1, 2, 3]


def test_an_event_before_the_signal(bench):
    seen, fence, event = [], bench.d3d12.CreateFence(0), threading.Event()
    fence.SetEventOnCompletion(1, event)
    bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append(1))])
    assert not event.is_set()
    bench.queue.Signal(fence, 1)
    assert event.is_set()
    assert seen == [1]


def test_several_events_of_one_fence(bench):
    fence, events = bench.d3d12.CreateFence(0), [threading.Event() for _ in range(3)]
    for event, value in zip(events, (9, 1, 2)):
        fence.SetEventOnCompletion(value, event)
    bench.queue.Signal(fence, 2)
    assert [event.is_set() for event in events] == [False, True, True]


def test_polling_a_value_that_goes_back(bench):
    fence = bench.d3d12.CreateFence(5)
    bench.queue.Signal(fence, 3)
    bench.queue.Signal(fence, 7)
    assert [fence.GetCompletedValue() for _ in range(3)] == [3, 7, 7]


def test_polling_has_no_lasting_effect(bench):
    """Work that was blocked when the fence was polled does not run later on its own."""
    seen, gate, fence = [], bench.d3d12.CreateFence(0), bench.d3d12.CreateFence(0)
    bench.queue.Wait(gate, 1)
    bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append(1))])
    bench.queue.Signal(fence, 1)
    assert fence.GetCompletedValue() == 0
    gate.Signal(1)
    assert seen == []
    assert fence.GetCompletedValue() == 1
    assert seen == [1]


@pytest.mark.parametrize("count", [2, 100, *later(700)])
def test_a_chain_of_queues(bench, count):
    """Each queue waits for the previous one; the last one is waited for."""
    seen, fences = [], [bench.d3d12.CreateFence(0) for _ in range(count)]
    queues = [new_queue(bench) for _ in range(count)]
    for index in reversed(range(count)):
        if index:
            queues[index].Wait(fences[index - 1], 1)
        queues[index].ExecuteCommandLists([calling(bench, lambda index=index: seen.append(index))])
        queues[index].Signal(fences[index], 1)
    assert seen == []
    assert reached(fences[-1], 1)
    assert seen == list(range(count))


def test_queues_that_wait_in_turn(bench):
    ping, pong, seen = bench.d3d12.CreateFence(0), bench.d3d12.CreateFence(0), []
    one, two = bench.queue, new_queue(bench)
    for turn in range(1, 6):
        one.ExecuteCommandLists([calling(bench, lambda turn=turn: seen.append(("one", turn)))])
        one.Signal(ping, turn)
        one.Wait(pong, turn)
        two.Wait(ping, turn)
        two.ExecuteCommandLists([calling(bench, lambda turn=turn: seen.append(("two", turn)))])
        two.Signal(pong, turn)
    assert reached(pong, 5)
    assert seen == [(name, turn) for turn in range(1, 6) for name in ("one", "two")]


def test_queues_that_wait_for_one_another(bench):
    """A real deadlock: the waits never end, but polling returns."""
    first, second = bench.d3d12.CreateFence(0), bench.d3d12.CreateFence(0)
    other = new_queue(bench)
    bench.queue.Wait(second, 1)
    bench.queue.Signal(first, 1)
    other.Wait(first, 1)
    other.Signal(second, 1)
    assert first.GetCompletedValue() == 0
    event = threading.Event()
    second.SetEventOnCompletion(1, event)
    assert not event.is_set()
    first.Signal(1)
    assert event.is_set()


def test_the_other_queue_can_go_on(bench):
    """Two queues would signal the value; the first one is permanently blocked."""
    fence, never = bench.d3d12.CreateFence(0), bench.d3d12.CreateFence(0)
    bench.queue.Wait(never, 1)
    bench.queue.Signal(fence, 5)
    new_queue(bench).Signal(fence, 4)
    assert reached(fence, 4)


def test_a_queue_that_was_released(bench):
    """Its work still runs."""
    seen, fence = [], bench.d3d12.CreateFence(0)
    queue = new_queue(bench)
    queue.ExecuteCommandLists([calling(bench, lambda: seen.append(1))])
    queue.Signal(fence, 1)
    del queue
    with pytest.raises(
        dml.DMLError, match="ID3D12CommandQueue was released before the commands submitted to it ran"
    ):
        reached(fence, 1)
    assert fence.GetCompletedValue() == 1
    assert seen == [1]


def test_a_thread_leaves_its_request_to_the_running_one(bench):
    """While a command runs, another thread requests more work: neither waits forever."""
    fence, started, go, seen = bench.d3d12.CreateFence(0), threading.Event(), threading.Event(), []

    def slow():
        started.set()
        assert go.wait(SECONDS)

    bench.queue.ExecuteCommandLists([calling(bench, slow)])
    bench.queue.Signal(fence, 1)
    bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append(1))])
    bench.queue.Signal(fence, 2)
    first = in_thread(lambda: fence.SetEventOnCompletion(1))
    assert started.wait(SECONDS)
    second = in_thread(lambda: fence.SetEventOnCompletion(2))
    assert fence.GetCompletedValue() == 0
    go.set()
    finish(first, second)
    assert seen == [1]


def test_many_threads(bench):
    """Each thread submits work and waits for it."""
    lock, total = threading.Lock(), []

    def add():
        with lock:
            total.append(1)

    def work():
        queue = new_queue(bench)
        for value in range(1, 21):
            fence = bench.d3d12.CreateFence(0)
            queue.ExecuteCommandLists([calling(bench, add)])
            queue.Signal(fence, value)
            fence.SetEventOnCompletion(value)

    finish(*[in_thread(work) for _ in range(8)])
    assert len(total) == 160


def test_polling_from_within_a_command(bench):
    fence, seen = bench.d3d12.CreateFence(0), []
    bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append(fence.GetCompletedValue()))])
    bench.queue.Signal(fence, 1)
    assert reached(fence, 1)
    assert seen == [0]


def test_submitting_from_within_an_event(bench):
    """An event's ``set`` may submit immediately; messages are not raised there."""
    first, second, seen = bench.d3d12.CreateFence(0), bench.d3d12.CreateFence(0), []

    class Flag:
        def set(self):
            bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append(1))])
            bench.queue.Signal(second, 1)
            seen.append(second.GetCompletedValue())

    x = bench.buffer(16)
    bench.transition(x, dml.D3D12_RESOURCE_STATE_COMMON, dml.D3D12_RESOURCE_STATE_COPY_DEST)
    bench.commands.CopyResource(bench.buffer(16), x)
    bench.submit(bench.commands)
    bench.queue.Signal(first, 1)
    with pytest.raises(dml.DMLError, match="D3D12-ResourceState-mismatch"):
        first.SetEventOnCompletion(1, Flag())
    assert bench.d3d12.GetDeviceRemovedReason() == dml.S_OK
    assert reached(second, 1)
    assert seen == [0, 1]


def test_a_command_that_fails(bench):
    """The device is removed, waits end, and the exception reaches the caller."""

    def fail():
        raise ZeroDivisionError("kernel")

    readback = bench.buffer(16, dml.D3D12_HEAP_TYPE_READBACK)
    commands = bench.new_list()
    commands.CopyResource(readback, bench.buffer(16))
    commands.record(Call(fail))
    commands.Close()
    fence, later = bench.d3d12.CreateFence(0), threading.Event()
    bench.queue.ExecuteCommandLists([commands])
    bench.queue.Signal(fence, 1)
    with pytest.raises(ZeroDivisionError):
        fence.SetEventOnCompletion(1, later)
    assert later.is_set()
    assert bench.d3d12.GetDeviceRemovedReason() == dml.DXGI_ERROR_DEVICE_HUNG
    assert not commands.recording.in_flight
    assert host_memory(readback.range()).written_in_flight(readback.range()) is None
    readback.array()
    with pytest.raises(dml.DMLError):
        bench.queue.Signal(fence, 2)


def test_messages_before_a_failure_are_not_raised_later(bench):
    def fail():
        raise ZeroDivisionError("kernel")

    x, commands = bench.buffer(16), bench.new_list()
    commands.CopyResource(bench.buffer(16), x)
    commands.CopyResource(x, bench.buffer(16))
    commands.record(Call(fail))
    commands.Close()
    bench.queue.ExecuteCommandLists([commands])
    bench.queue.Signal(fence := bench.d3d12.CreateFence(0), 1)
    with pytest.raises(ZeroDivisionError):
        fence.SetEventOnCompletion(1, threading.Event())
    assert [message.rule for message in bench.messages()] == ["D3D12-ResourceState-mismatch"]
    fence.GetCompletedValue()
    fence.SetEventOnCompletion(2)


def test_the_thread_that_lets_commands_run_hears_of_them(bench):
    """A message is raised once, by the call that ran the commands."""
    x = bench.buffer(16)
    bench.commands.CopyResource(bench.buffer(16), x)
    bench.commands.CopyResource(x, bench.buffer(16))
    bench.submit(bench.commands)
    caught = []

    def wait():
        try:
            bench.wait()
        except dml.DMLError as error:
            caught.append(error)

    finish(in_thread(wait))
    bench.wait()
    assert [found.rule for error in caught for found in error.diagnostics] == ["D3D12-ResourceState-mismatch"]


def test_a_removed_device(bench):
    """Pending work is dropped, waits end, and READBACK buffers can be read."""
    fence, readback = bench.d3d12.CreateFence(0), bench.buffer(16, dml.D3D12_HEAP_TYPE_READBACK)
    bench.commands.CopyResource(readback, bench.buffer(16))
    bench.submit(bench.commands)
    waiting = in_thread(lambda: fence.SetEventOnCompletion(1))
    with pytest.raises(dml.DMLError):
        bench.queue.ExecuteCommandLists([bench.new_list()])
    finish(waiting)
    assert bench.d3d12.GetDeviceRemovedReason() == dml.DXGI_ERROR_INVALID_CALL
    assert readback.array().tolist() == [0xCD] * 16


def test_a_long_queue(bench):
    """The cost of thousands of submissions is not quadratic."""
    commands = calling(bench)
    fence, count = bench.d3d12.CreateFence(0), 5000
    for value in range(count):
        bench.queue.Signal(fence, value)
    bench.queue.ExecuteCommandLists([commands])
    bench.queue.Signal(fence, count)
    finish(in_thread(lambda: fence.SetEventOnCompletion(count)))
    assert fence.GetCompletedValue() == count


def test_an_empty_range_is_not_read_early(bench):
    """Nor is a range that ends where the range being written begins."""
    readback, behind = bench.buffer(16, READBACK), bench.buffer(32, READBACK)
    bench.commands.CopyResource(readback, bench.buffer(16))
    bench.commands.CopyBufferRegion(behind, 16, bench.buffer(16), 0, 16)
    bench.submit(bench.commands)
    readback.Map(0, dml.D3D12_RANGE(4, 4))
    with pytest.raises(dml.DMLError, match="D3D12-Readback-read-in-flight"):
        readback.Map(0, dml.D3D12_RANGE(0, 1))
    behind.array(np.float32, 4)
    with pytest.raises(dml.DMLError, match="D3D12-Readback-read-in-flight"):
        behind.array(np.float32, 5)


def test_work_that_nobody_waited_for(bench):
    """It runs when the device is flushed, so that its messages are reported."""
    ran = []
    bench.queue.ExecuteCommandLists([calling(bench, lambda: ran.append(1))])
    assert not ran
    bench.d3d12.flush()
    assert ran == [1]


def test_a_program_that_ends_while_a_queue_waits():
    """It is reported when the interpreter exits; a wait that the program ended does not count, nor does one that
    pending work ends."""
    program = """
import logging
import directml_py as dml
logging.basicConfig()
dml.D3D12GetDebugInterface().EnableDebugLayer()
device = dml.D3D12CreateDevice()
for name, ended in (("ended", True), ("stuck", False)):
    queue, fence = device.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC()), device.CreateFence(0)
    queue.SetName(name)
    queue.Wait(fence, 1)
    if ended:
        fence.Signal(1)
    globals()[name] = queue, fence
waiting, signaling = (device.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC()) for _ in range(2))
waiting.SetName("waiting")
fence = device.CreateFence(0)
waiting.Wait(fence, 1)
signaling.Signal(fence, 1)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "'stuck' waits forever" in ended.stderr
    assert ended.stderr.count("waits forever") == 1
