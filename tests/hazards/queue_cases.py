"""Queues that share memory without a fence between them."""

from __future__ import annotations

import os
import threading
from unittest import mock

import directml_py as dml

from ..dml.helpers import DIRECT, identity
from .aliasing_cases import placed
from .hazard import READBACK, UPLOAD, hazard
from .memory_cases import accessing, memory_in

WAIT = "D3D12-CommandQueue-wait"
ENDLESS = "D3D12-CommandQueue-endless-wait"
CPU_ENDLESS = "D3D12-Fence-endless-wait"


def another_queue(bench, name="second"):
    queue = bench.d3d12.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(Type=DIRECT))
    queue.SetName(name)
    return bench.keep(queue)


def copying(bench, target, source, offset=0):
    """A closed list that copies the first half of ``source``, 16 bytes, to ``offset`` of ``target``."""
    commands = bench.keep(bench.new_list())
    commands.CopyBufferRegion(target, offset, source, 0, 16)
    commands.Close()
    return commands


def finish(bench, *queues):
    """Wait on the CPU for each queue in turn."""
    for queue in queues:
        fence = bench.keep(bench.d3d12.CreateFence(0))
        queue.Signal(fence, 1)
        fence.SetEventOnCompletion(1)


@hazard(
    WAIT,
    "the copy reads the copy's source",
    "'shared'",
    "as the copy's destination (recorded at",
    ways=["RAW"],
)
@hazard(WAIT, "the copy writes the copy's destination", ways=["WAW", "WAR"])
def two_queues_without_a_wait(bench, wrong):
    """``wrong`` names the hazard, detected without a fence between the two, whichever runs first."""
    second, shared = another_queue(bench), bench.buffer(32, name="shared")
    one, two = bench.holding(1, 2, 3, 4), bench.holding(5, 6, 7, 8)
    writing, reading = copying(bench, shared, one), copying(bench, bench.buffer(16, READBACK), shared)
    first, then = {"WAW": (writing, copying(bench, shared, two)), "WAR": (reading, writing)}.get(
        wrong, (writing, reading)
    )
    fence = bench.keep(bench.d3d12.CreateFence(0))
    bench.queue.ExecuteCommandLists([first])
    bench.queue.Signal(fence, 1)
    if not wrong:
        second.Wait(fence, 1)
    second.ExecuteCommandLists([then])
    finish(bench, bench.queue, second)


@hazard(WAIT, "'shared'", ways=["lower value", "signaled before", "another fence", "the wait behind"])
def a_wait_that_covers_too_little(bench, wrong):
    second, shared = another_queue(bench), bench.buffer(32, name="shared")
    fence, other = (bench.keep(bench.d3d12.CreateFence(0)) for _ in range(2))
    writing = copying(bench, shared, bench.holding(1, 2, 3, 4))
    reading = copying(bench, bench.buffer(16, READBACK), shared)
    bench.queue.Signal(fence, 1)
    bench.queue.Signal(other, 1)
    if wrong == "signaled before":
        bench.queue.Signal(fence, 2)
    bench.queue.ExecuteCommandLists([writing])
    if wrong != "signaled before":
        bench.queue.Signal(fence, 2)
    if wrong == "the wait behind":
        second.ExecuteCommandLists([reading])
    second.Wait(
        other if wrong == "another fence" else fence, 1 if wrong in ("lower value", "another fence") else 2
    )
    if wrong != "the wait behind":
        second.ExecuteCommandLists([reading])
    finish(bench, bench.queue, second)


@hazard(WAIT, "the dispatch of DML_OPERATOR_ELEMENT_WISE_IDENTITY", "'first'", ways=["no wait"])
def a_dispatch_of_another_queue(bench, wrong):
    bench.queue.SetName("first")
    second, shared, op = another_queue(bench), bench.buffer(16, name="shared"), bench.ready(identity())
    source = bench.holding(1, 2, 3, 4)
    bench.queue.ExecuteCommandLists([copying(bench, shared, source)])
    fence = bench.signalled(1)
    bench.dispatch(op, [shared], [bench.buffer(16)])
    if not wrong:
        second.Wait(fence, 1)
    bench.commands.Close()
    second.ExecuteCommandLists([bench.commands])
    finish(bench, bench.queue, second)
    bench.commands.Reset(bench.new_allocator(), None)


@hazard(WAIT, "'shared'", ways=["the middle does not wait"])
def a_wait_by_way_of_a_third(bench, wrong):
    """Happens-before is transitive."""
    middle, last = another_queue(bench, "middle"), another_queue(bench, "last")
    shared, fences = (
        bench.buffer(16, name="shared"),
        [bench.keep(bench.d3d12.CreateFence(0)) for _ in range(2)],
    )
    writing = copying(bench, shared, bench.holding(1, 2, 3, 4))
    bench.queue.ExecuteCommandLists([writing])
    bench.queue.Signal(fences[0], 1)
    if not wrong:
        middle.Wait(fences[0], 1)
    middle.Signal(fences[1], 1)
    last.Wait(fences[1], 1)
    last.ExecuteCommandLists([copying(bench, bench.buffer(16, READBACK), shared)])
    finish(bench, bench.queue, middle, last)


@hazard(WAIT, "'shared'", ways=["submitted before"])
def a_wait_on_the_cpu(bench, wrong):
    """Work submitted after a CPU wait is ordered after the work that it waited for."""
    second, shared = another_queue(bench), bench.buffer(16, name="shared")
    writing = copying(bench, shared, bench.holding(1, 2, 3, 4))
    reading = copying(bench, bench.buffer(16, READBACK), shared)
    bench.queue.ExecuteCommandLists([writing])
    if wrong:
        second.ExecuteCommandLists([reading])
    finish(bench, bench.queue)
    if not wrong:
        second.ExecuteCommandLists([reading])
    finish(bench, second)


@hazard(WAIT, "'shared'", ways=["either", "either, to one value"])
def a_fence_that_two_queues_signal(bench, wrong):
    """A wait for a value that either of two queues may have signaled orders neither."""
    second, third = another_queue(bench), another_queue(bench, "third")
    shared, fence = bench.buffer(16, name="shared"), bench.keep(bench.d3d12.CreateFence(0))
    writing = copying(bench, shared, bench.holding(1, 2, 3, 4))
    bench.queue.ExecuteCommandLists([writing])
    bench.queue.Signal(fence, 1)
    if not wrong:
        second.Wait(fence, 1)
    second.Signal(fence, 1 if wrong == "either, to one value" else 2)
    third.Wait(fence, 1)
    third.ExecuteCommandLists([copying(bench, bench.buffer(16, READBACK), shared)])
    finish(bench, bench.queue, second, third)


@hazard(WAIT, "'shared'", ways=["bytes in common"])
def halves_of_a_buffer(bench, wrong):
    """Queues may write different bytes of a buffer, and read bytes that neither writes."""
    second, shared = another_queue(bench), bench.buffer(32, name="shared")
    source = bench.buffer(16, UPLOAD)
    bench.queue.ExecuteCommandLists([copying(bench, shared, source)])
    second.ExecuteCommandLists([copying(bench, shared, source, 12 if wrong else 16)])
    finish(bench, bench.queue, second)


@hazard(
    WAIT,
    "pResourceAfter",
    "'lower'",
    "InputTensor (bytes 0 to 16 of ID3D12Resource 'upper')",
    ways=["no wait"],
)
def an_activation_on_another_queue(bench, wrong):
    """An activation invalidates contents that a queue may be using."""
    second, op = another_queue(bench), bench.ready(identity())
    upper, lower = placed(bench)
    bench.dispatch(op, [upper], [bench.buffer(16)])
    bench.submit(bench.commands)
    fence, commands = bench.signalled(1), bench.keep(bench.new_list())
    commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.Aliasing(upper, lower)])
    commands.Close()
    if not wrong:
        second.Wait(fence, 1)
    second.ExecuteCommandLists([commands])
    finish(bench, bench.queue, second)
    bench.commands.Reset(bench.new_allocator(), None)


@hazard(
    WAIT,
    "on another ID3D12CommandQueue 'theirs' of another ID3D12Device writes as the copy's destination (bytes 0 to 16 of",
    "the CPU waits for neither before it submits the other, and devices share no fence",
    ways=["RAW"],
)
@hazard(WAIT, "of another ID3D12Device reads as", ways=["WAR"])
@hazard(WAIT, "of another ID3D12Device writes as", ways=["WAW", "another fence"])
def memory_of_two_devices(bench, wrong):
    """Only the CPU orders their work: by a wait for the device that comes first, or for one that has waited for it."""
    other = bench.keep(type(bench)())
    other.queue.SetName("theirs")
    default, flags = dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_DEFAULT), dml.D3D12_HEAP_FLAG_SHARED
    theirs = memory_in(other, default, flags=flags)
    handle = other.d3d12.CreateSharedHandle(theirs)
    ours = bench.keep(bench.d3d12.OpenSharedHandle(handle))
    os.close(handle)
    accessing(other, theirs, wrong != "WAR", False)
    if wrong == "another fence":
        fence = bench.signalled(1)
        fence.SetEventOnCompletion(1)
    elif not wrong:
        other.wait()
    accessing(bench, ours, wrong in ("WAR", "WAW"), False)
    other.wait()
    bench.wait()


@hazard(
    ENDLESS,
    "'first' waits forever: ID3D12Fence 'gate' is 1 and has to reach 2",
    "no submitted work signals it",
    ways=["no signal"],
)
@hazard(ENDLESS, "waits forever", "every signal of it is blocked too", ways=["in turn"])
def a_wait_that_never_ends(bench, wrong):
    """Later work might end it, so it is reported when the device is flushed."""
    second, gate, back = another_queue(bench), *(bench.keep(bench.d3d12.CreateFence(0)) for _ in range(2))
    bench.queue.SetName("first")
    gate.SetName("gate")
    try:
        bench.queue.Wait(gate, 2)
        bench.queue.Signal(back, 1)
        second.Signal(gate, 1)
        if wrong == "in turn":
            second.Wait(back, 1)
        if wrong != "no signal":
            second.Signal(gate, 2)
        bench.d3d12.flush()
    finally:
        # Unblocks the queue for later checks; the CPU can end any wait.
        gate.Signal(2)
        bench.d3d12.flush()


@hazard(
    CPU_ENDLESS,
    "the CPU waits forever: ID3D12Fence 'gate' is 1 and has to reach 2; no submitted work signals it",
    ways=["no signal"],
)
@hazard(CPU_ENDLESS, "every signal of it is blocked too", ways=["a queue that waits"])
def a_wait_of_the_cpu_that_never_ends(bench, wrong):
    """The message handler can end the wait. The example has no other threads that could."""
    gate, other = (bench.keep(bench.d3d12.CreateFence(0)) for _ in range(2))
    gate.SetName("gate")
    gate.Signal(1)
    if wrong == "a queue that waits":
        bench.queue.Wait(other, 1)
    if wrong != "no signal":
        bench.queue.Signal(gate, 2)
    heard = bench.d3d12.QueryInterface(dml.ID3D12InfoQueue1)
    flags = dml.D3D12_MESSAGE_CALLBACK_IGNORE_FILTERS
    cookie = heard.RegisterMessageCallback(lambda *message: gate.Signal(2), flags)
    try:
        with mock.patch.object(threading, "enumerate", return_value=[threading.current_thread()]):
            gate.SetEventOnCompletion(2)
    finally:
        heard.UnregisterMessageCallback(cookie)
        other.Signal(1)
        bench.d3d12.flush()
