"""Execution order, fences, waiting across queues and threads, and what removes the device."""

from __future__ import annotations

import threading
import time

import pytest

from directml_py import d3d12
from directml_py.abi.hresult import (
    DXGI_ERROR_DEVICE_HUNG,
    DXGI_ERROR_INVALID_CALL,
    E_FAIL,
    E_INVALIDARG,
    E_NOTIMPL,
    DMLError,
)
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s
from directml_py.runtime.recording import Command

SECONDS = 10


class Call(Command):
    """A command that calls a function."""

    def __init__(self, function):
        self.execute = function


def calling(bench, *functions):
    """A closed list of calls."""
    commands = bench.new_list()
    for function in functions:
        commands.record(Call(function))
    commands.Close()
    return commands


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    return thread


def join(*threads):
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()


class TestQueueDescs:
    def test_desc_comes_back(self, bench):
        desc = s.D3D12_COMMAND_QUEUE_DESC(Type=e.D3D12_COMMAND_LIST_TYPE_COMPUTE, Priority=100)
        assert bench.device.CreateCommandQueue(desc).GetDesc().Priority == 100

    @pytest.mark.parametrize("priority", list(e.D3D12_COMMAND_QUEUE_PRIORITY))
    def test_every_priority(self, bench, priority):
        desc = s.D3D12_COMMAND_QUEUE_DESC(Priority=priority)
        assert bench.device.CreateCommandQueue(desc).GetDesc().Priority == priority

    @pytest.mark.parametrize(
        ("fields", "named", "hresult"),
        [
            ({"Type": 1}, "Type", E_NOTIMPL),
            ({"Type": 50}, "Type", E_INVALIDARG),
            ({"Priority": 5}, "Priority", E_INVALIDARG),
            ({"Flags": 2}, "Flags", E_INVALIDARG),
            ({"NodeMask": 2}, "NodeMask", E_INVALIDARG),
        ],
    )
    def test_rules(self, bench, fields, named, hresult):
        with pytest.raises(DMLError, match=rf"desc\.{named}") as caught:
            bench.device.CreateCommandQueue(s.D3D12_COMMAND_QUEUE_DESC(**fields))
        assert caught.value.hresult == hresult


class TestExecution:
    def test_lists_and_calls_keep_their_order(self, bench):
        seen = []
        lists = [calling(bench, lambda n=n: seen.append(n)) for n in range(4)]
        bench.queue.ExecuteCommandLists(2, [lists[2], lists[0], lists[3]])
        bench.queue.ExecuteCommandLists([lists[1]])
        bench.queue.ExecuteCommandLists(lists[3])
        bench.queue.ExecuteCommandLists(0, [])
        assert seen == [2, 0, 1, 3]

    @pytest.mark.parametrize("kind", ["COMPUTE", "COPY"])
    def test_other_types_of_queues(self, bench, kind):
        bench.type = getattr(e, f"D3D12_COMMAND_LIST_TYPE_{kind}")
        target, source = bench.readback(2), bench.upload(2)
        source.Map()[:] = 8
        bench.new_queue().ExecuteCommandLists([bench.copying(target, source)])
        assert target.array().tolist() == [8, 8]

    @pytest.mark.parametrize("mistake", ["open", "invalid", "type", "allocator", "twice"])
    def test_mistakes_drop_the_call_and_remove_the_device(self, bench, mistake):
        seen = []
        good, bad = calling(bench, lambda: seen.append("ran")), bench.new_list()
        if mistake == "invalid":
            bad.CopyResource(bench.buffer(1), bench.buffer(2))
            with pytest.raises(DMLError):
                bad.Close()
        elif mistake == "type":
            bench.type = e.D3D12_COMMAND_LIST_TYPE_COPY
            bad = bench.new_list()
            bad.Close()
        elif mistake == "allocator":
            bad.Close()
            bench.allocator_of(bad).Reset()
        elif mistake == "twice":
            bad = good
        bench.queue.ExecuteCommandLists(2, [good, bad])
        assert bench.device.GetDeviceRemovedReason() == DXGI_ERROR_INVALID_CALL
        assert seen == []

    def test_mistakes_are_raised_under_the_debug_layer(self, debug_bench, info_queue):
        with pytest.raises(DMLError, match=r"commandLists\[0\] is not closed") as caught:
            debug_bench.queue.ExecuteCommandLists([debug_bench.list])
        assert caught.value.hresult == DXGI_ERROR_INVALID_CALL
        assert debug_bench.device.GetDeviceRemovedReason() == DXGI_ERROR_INVALID_CALL
        assert info_queue.GetMessage(0).ID == e.D3D12_MESSAGE_ID_EXECUTECOMMANDLISTS_OPENCOMMANDLIST

    def test_wrong_objects_are_raised_and_change_nothing(self, bench):
        other = d3d12.D3D12CreateDevice()
        kind = e.D3D12_COMMAND_LIST_TYPE_DIRECT
        foreign = other.CreateCommandList(0, kind, other.CreateCommandAllocator(kind))
        foreign.Close()
        for lists, error in (
            ([None], TypeError),
            ([bench.queue], TypeError),
            ([foreign], DMLError),
            (7, DMLError),
        ):
            with pytest.raises(error, match="commandLists"):
                bench.queue.ExecuteCommandLists(lists)
        with pytest.raises(DMLError, match="numCommandLists is 2"):
            bench.queue.ExecuteCommandLists(2, [foreign])
        assert bench.device.GetDeviceRemovedReason() == 0

    def test_a_failing_command_removes_the_device(self, bench):
        def fail():
            raise ZeroDivisionError("kernel")

        fence, later = bench.device.CreateFence(0), []
        with pytest.raises(ZeroDivisionError):
            bench.queue.ExecuteCommandLists([calling(bench, fail, lambda: later.append(1))])
        assert bench.device.GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_HUNG
        assert fence.GetCompletedValue() == 0xFFFFFFFFFFFFFFFF
        assert later == []

    def test_a_command_that_removes_the_device_is_the_last(self, bench):
        seen = []

        def remove():
            bench.device.remove(DXGI_ERROR_DEVICE_HUNG, "by a command")

        lists = [calling(bench, remove, lambda: seen.append(1)), calling(bench, lambda: seen.append(2))]
        bench.queue.ExecuteCommandLists(lists)
        assert bench.device.GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_HUNG
        assert seen == []


class TestFences:
    def test_signals_come_after_the_work_before_them(self, bench):
        fence = bench.device.CreateFence(5)
        seen = []
        bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append(fence.GetCompletedValue()))])
        bench.queue.Signal(fence, 6)
        bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append(fence.GetCompletedValue()))])
        assert seen == [5, 6]

    def test_events(self, bench):
        fence = bench.device.CreateFence(1)
        events = [threading.Event() for _ in range(4)]
        for value, event in enumerate(events):
            fence.SetEventOnCompletion(value, event)
        assert [event.is_set() for event in events] == [True, True, False, False]
        bench.queue.Signal(fence, 2)
        assert [event.is_set() for event in events] == [True, True, True, False]
        fence.Signal(10)
        assert events[3].is_set()

    def test_anything_with_set_is_an_event(self, bench):
        class Flag:
            count = 0

            def set(self):
                self.count += 1

        fence, flag = bench.device.CreateFence(0), Flag()
        fence.SetEventOnCompletion(1, flag)
        fence.Signal(1)
        fence.Signal(2)
        assert flag.count == 1
        with pytest.raises(TypeError, match="event"):
            fence.SetEventOnCompletion(1, 7)

    def test_without_an_event_the_caller_waits(self, bench):
        fence, order = bench.device.CreateFence(0), []

        def wait():
            fence.SetEventOnCompletion(3)
            order.append("reached")

        thread = in_thread(wait)
        fence.Signal(2)
        time.sleep(0.05)
        order.append("signal")
        fence.Signal(3)
        join(thread)
        assert order == ["signal", "reached"]

    def test_values_may_go_back(self, bench):
        fence = bench.device.CreateFence(9)
        fence.Signal(1)
        assert fence.GetCompletedValue() == 1

    def test_values_are_64_bit(self, bench):
        fence = bench.device.CreateFence((1 << 64) - 2)
        assert fence.GetCompletedValue() == (1 << 64) - 2
        for value in (-1, 1 << 64):
            with pytest.raises(DMLError, match="value"):
                fence.Signal(value)
            with pytest.raises(DMLError, match="value"):
                bench.queue.Signal(fence, value)
            with pytest.raises(DMLError, match="initialValue"):
                bench.device.CreateFence(value)
        with pytest.raises(DMLError, match="fenceFlags"):
            bench.device.CreateFence(0, 64)

    def test_wrong_objects(self, bench):
        foreign = d3d12.D3D12CreateDevice().CreateFence(0)
        for method in (bench.queue.Signal, bench.queue.Wait):
            with pytest.raises(DMLError, match="fence belongs to another device"):
                method(foreign, 1)
            with pytest.raises(TypeError, match="fence"):
                method(None, 1)


class TestWaiting:
    @pytest.fixture
    def fence(self, bench):
        return bench.device.CreateFence(0)

    def test_work_is_held_back_until_the_value(self, bench, fence):
        target, source = bench.readback(1), bench.upload(1)
        done = bench.device.CreateFence(0)
        bench.queue.Wait(fence, 5)
        bench.queue.ExecuteCommandLists([bench.copying(target, source)])
        bench.queue.Signal(done, 1)
        source.Map()[:] = 3
        fence.Signal(4)
        assert (done.GetCompletedValue(), target.array().tolist()) == (0, [0])
        fence.Signal(5)
        assert (done.GetCompletedValue(), target.array().tolist()) == (1, [3])

    def test_a_reached_value_holds_nothing_back(self, bench, fence):
        fence.Signal(5)
        seen = []
        bench.queue.Wait(fence, 5)
        bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append(1))])
        assert seen == [1]

    def test_other_queues_go_on(self, bench, fence):
        seen = []
        second = bench.new_queue()
        bench.queue.Wait(fence, 1)
        bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append("held"))])
        second.ExecuteCommandLists([calling(bench, lambda: seen.append("free"))])
        assert seen == ["free"]
        second.Signal(fence, 1)
        assert seen == ["free", "held"]

    def test_queues_play_ping_pong(self, bench):
        ping, pong = bench.device.CreateFence(0), bench.device.CreateFence(0)
        second, seen = bench.new_queue(), []
        for turn in range(1, 51):
            second.Wait(ping, turn)
            second.ExecuteCommandLists([calling(bench, lambda turn=turn: seen.append(-turn))])
            second.Signal(pong, turn)
        for turn in range(1, 51):
            bench.queue.ExecuteCommandLists([calling(bench, lambda turn=turn: seen.append(turn))])
            bench.queue.Signal(ping, turn)
            bench.queue.Wait(pong, turn)
        assert seen == [sign * turn for turn in range(1, 51) for sign in (1, -1)]

    def test_a_long_chain_of_queues(self, bench):
        fences = [bench.device.CreateFence(0) for _ in range(2001)]
        queues = [bench.new_queue() for _ in range(2000)]
        for queue, before, after in zip(queues, fences, fences[1:]):
            queue.Wait(before, 1)
            queue.Signal(after, 1)
        assert fences[-1].GetCompletedValue() == 0
        fences[0].Signal(1)
        assert fences[-1].GetCompletedValue() == 1

    def test_a_fulfilled_wait_stays_fulfilled(self, bench, fence):
        """Events are set before waiting queues run; this one rewinds the fence in between."""

        class Rewind:
            def set(self):
                fence.Signal(0)

        seen = []
        bench.queue.Wait(fence, 2)
        bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append(fence.GetCompletedValue()))])
        fence.SetEventOnCompletion(2, Rewind())
        fence.Signal(2)
        assert seen == [0]

    def test_a_wait_counts_from_its_turn(self, bench, fence):
        """A value that the fence had only before the queue reached the wait does not satisfy it."""
        seen = []
        bench.queue.Wait(fence, 1)
        bench.queue.ExecuteCommandLists([calling(bench, lambda: (fence.Signal(2), fence.Signal(0)))])
        bench.queue.Wait(fence, 2)
        bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append("ran"))])
        fence.Signal(1)
        assert seen == []
        fence.Signal(2)
        assert seen == ["ran"]

    def test_the_work_runs_in_the_thread_that_signals(self, bench, fence):
        seen = []
        bench.queue.Wait(fence, 1)
        bench.queue.ExecuteCommandLists([calling(bench, lambda: seen.append(threading.current_thread()))])
        thread = in_thread(lambda: fence.Signal(1))
        join(thread)
        assert seen == [thread]

    def test_work_outlives_its_queue_object(self, bench, fence, collect):
        seen = []
        queue = bench.new_queue()
        queue.Wait(fence, 1)
        queue.ExecuteCommandLists([calling(bench, lambda: seen.append(1))])
        del queue
        collect()
        fence.Signal(1)
        assert seen == [1]

    def test_producer_and_consumer_threads(self, bench):
        """Two threads feed two queues that wait for each other; the results are those of sequential execution."""
        rounds = 100
        filled, drained = bench.device.CreateFence(0), bench.device.CreateFence(0)
        shared, results = [], []
        producer, consumer = bench.new_queue(), bench.new_queue()

        def produce():
            for turn in range(1, rounds + 1):
                producer.Wait(drained, turn - 1)
                producer.ExecuteCommandLists([calling(bench, lambda turn=turn: shared.append(turn))])
                producer.Signal(filled, turn)

        def consume():
            for turn in range(1, rounds + 1):
                consumer.Wait(filled, turn)
                consumer.ExecuteCommandLists([calling(bench, lambda: results.append(shared.pop()))])
                consumer.Signal(drained, turn)

        join(in_thread(produce), in_thread(consume))
        drained.SetEventOnCompletion(rounds)
        assert results == list(range(1, rounds + 1))

    def test_one_queue_many_threads(self, bench):
        """Entries of one queue never run concurrently, and each thread's run in order."""
        running, overlaps, seen = [], [], []

        def note(entry):
            if running:
                overlaps.append(entry)
            running.append(entry)
            time.sleep(0)
            seen.append(entry)
            running.pop()

        def feed(name):
            for turn in range(50):
                commands = calling(bench, lambda turn=turn: note((name, turn)))
                bench.queue.ExecuteCommandLists([commands])

        join(*(in_thread(lambda name=name: feed(name)) for name in range(4)))
        done = bench.device.CreateFence(0)
        bench.queue.Signal(done, 1)
        done.SetEventOnCompletion(1)
        assert overlaps == []
        for name in range(4):
            assert [turn for owner, turn in seen if owner == name] == list(range(50))


class TestInFlight:
    @pytest.fixture
    def fence(self, bench):
        return bench.device.CreateFence(0)

    def held(self, bench, fence, commands):
        bench.queue.Wait(fence, 1)
        bench.queue.ExecuteCommandLists([commands])

    def test_a_list_may_be_reset_and_run_anew(self, bench, fence):
        seen = []
        commands = calling(bench, lambda: seen.append("first"))
        self.held(bench, fence, commands)
        commands.Reset(bench.device.CreateCommandAllocator(bench.type))
        commands.record(Call(lambda: seen.append("second")))
        commands.Close()
        bench.queue.ExecuteCommandLists([commands])
        fence.Signal(1)
        assert seen == ["first", "second"]
        assert bench.device.GetDeviceRemovedReason() == 0

    def test_a_list_that_has_not_run_cannot_run_again(self, bench, fence):
        commands = calling(bench, lambda: None)
        self.held(bench, fence, commands)
        bench.queue.ExecuteCommandLists([commands])
        assert bench.device.GetDeviceRemovedReason() == DXGI_ERROR_INVALID_CALL

    def test_a_list_that_has_run_can(self, bench, fence):
        seen = []
        commands = calling(bench, lambda: seen.append(1))
        self.held(bench, fence, commands)
        fence.Signal(1)
        bench.queue.ExecuteCommandLists([commands])
        assert seen == [1, 1]

    def test_resetting_the_allocator_too_early(self, debug_bench, info_queue):
        fence = debug_bench.device.CreateFence(0)
        commands = calling(debug_bench, lambda: None)
        self.held(debug_bench, fence, commands)
        with pytest.raises(DMLError, match="before commands") as caught:
            debug_bench.allocator_of(commands).Reset()
        assert caught.value.hresult == E_FAIL
        assert info_queue.GetMessage(0).ID == e.D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_SYNC
        fence.Signal(1)
        done = debug_bench.device.CreateFence(0)
        debug_bench.queue.Signal(done, 1)
        done.SetEventOnCompletion(1)
        debug_bench.allocator_of(commands).Reset()


class TestRemovalWakes:
    def test_waiting_threads(self, bench):
        fence = bench.device.CreateFence(0)
        event = threading.Event()
        fence.SetEventOnCompletion(100, event)
        thread = in_thread(lambda: fence.SetEventOnCompletion(50))
        bench.queue.ExecuteCommandLists([bench.list])
        join(thread)
        assert event.is_set()

    def test_held_work_never_runs(self, bench):
        fence, seen = bench.device.CreateFence(0), []
        second = bench.new_queue()
        second.Wait(fence, 1)
        second.ExecuteCommandLists([calling(bench, lambda: seen.append(1))])
        bench.queue.ExecuteCommandLists([bench.list])
        assert bench.device.removed
        assert seen == []


def test_nobody_sees_a_value_before_it_is_published():
    """C programs read the published value: a thread whose wait is over must not read an older one."""
    device = d3d12.D3D12CreateDevice()
    queue = device.CreateCommandQueue(s.D3D12_COMMAND_QUEUE_DESC())
    fence = device.CreateFence(0, e.D3D12_FENCE_FLAG_NONE)
    published = []
    fence.publish(lambda value: published.append((value, fence.value)))
    queue.Signal(fence, 1)
    fence.SetEventOnCompletion(3, threading.Event())
    queue.Signal(fence, 3)
    fence.Signal(4)
    device.RemoveDevice()
    assert published[:4] == [(0, 0), (1, 0), (3, 1), (4, 3)]
    assert published[4] == (2**64 - 1, 4)
