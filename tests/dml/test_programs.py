"""The programs of closed lists: which commands one call of C executes, and which are steps of Python."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import directml_py as dml
from directml_py.kernels.backend import backend
from directml_py.runtime.recording import Command

from .helpers import DIRECT, identity

native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")
SECONDS = 10


class Call(Command):
    def __init__(self, function):
        self.execute = function


class Doubling:
    """A list that doubles a buffer of four elements in place, and the other objects that it needs."""

    def __init__(self, bench):
        self.session = bench
        self.buffer = bench.upload(np.ones(4, np.float32))
        self.op = bench.compile(identity(scale=2))
        bench.initialize(self.op)
        self.allocator = bench.d3d12.CreateCommandAllocator(DIRECT)
        self.list = bench.d3d12.CreateCommandList(0, DIRECT, self.allocator)
        self.list.SetDescriptorHeaps([bench.heap])
        self.table = bench.table(self.op, [self.buffer], [self.buffer])

    def double(self):
        self.session.record(self.op, self.table, self.list)
        self.list.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.UAV(self.buffer)])

    def values(self):
        return self.session.read(self.buffer, np.float32).tolist()


@pytest.fixture
def doubling(bench):
    return Doubling(bench)


@pytest.mark.kind_device
def test_dispatches_follow_each_other(bench, doubling):
    """They are one call where there are native kernels; a list may be executed again."""
    for _ in range(3):
        doubling.double()
    doubling.list.Close()
    bench.queue.ExecuteCommandLists([doubling.list])
    assert doubling.values() == [8] * 4
    bench.queue.ExecuteCommandLists([doubling.list])
    assert doubling.values() == [64] * 4
    assert len(doubling.list.recording.commands) == 7
    assert len(doubling.list.recording.program) == (1 if backend.native else 3)


@pytest.mark.kind_device
@native
def test_steps_of_python_in_between(bench, doubling):
    seen = []
    memory = doubling.buffer.memory.view(np.float32)
    for count in (2, 2, 1):
        for _ in range(count):
            doubling.double()
        doubling.list.record(Call(lambda: seen.append(memory[0])))
    doubling.list.Close()
    bench.queue.ExecuteCommandLists([doubling.list])
    assert seen == [4, 16, 32]
    assert len(doubling.list.recording.program) == 6


def test_a_list_recorded_again(bench, doubling):
    """With another number of commands, while the execution of the first recording is pending."""
    fence = bench.d3d12.CreateFence(0)
    doubling.double()
    doubling.list.Close()
    bench.queue.Wait(fence, 1)
    bench.queue.ExecuteCommandLists([doubling.list])
    first = doubling.list.recording
    other = bench.d3d12.CreateCommandAllocator(DIRECT)
    doubling.list.Reset(other)
    doubling.list.SetDescriptorHeaps([bench.heap])
    doubling.double()
    doubling.double()
    doubling.list.Close()
    bench.queue.ExecuteCommandLists([doubling.list])
    second = doubling.list.recording
    assert first.in_flight
    assert second.in_flight
    fence.Signal(1)
    assert doubling.values() == [8] * 4
    assert not first.in_flight
    assert not second.in_flight


def test_one_list_on_two_queues(bench, doubling):
    """Whichever thread comes second finds the list in flight, or finished: it never runs twice at a time."""
    inside, most = [], []

    def step():
        inside.append(None)
        most.append(len(inside))
        inside.pop()

    doubling.list.record(Call(step))
    doubling.list.Close()
    queues = [bench.queue, bench.d3d12.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(Type=DIRECT))]

    def execute(queue):
        for _ in range(500):
            queue.ExecuteCommandLists([doubling.list])

    threads = [threading.Thread(target=execute, args=[queue]) for queue in queues]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()
    assert set(most) == {1}
    reason = bench.d3d12.GetDeviceRemovedReason()
    assert (len(most) == 1000) == (reason == dml.S_OK)
