"""Lists and allocators in flight, and objects that may be released or changed while commands are pending."""

from __future__ import annotations

import gc
import weakref

import pytest

import directml_py as dml
from directml_py.sync_validation.host_memory import host_memory

from ..dml.helpers import DEBUG, Bench, identity, join, spans
from ..rules.layer import debug_layer
from .hazard import READBACK, UPLOAD, HazardBench


@pytest.fixture
def bench():
    return HazardBench()


def ids(bench):
    return [bench.info.GetMessage(index).ID for index in range(bench.info.GetNumStoredMessages())]


def copying(bench):
    """A closed list with a copy, and the copied buffers."""
    source, target = bench.holding(1, 2, 3, 4), bench.buffer(16, READBACK)
    commands = bench.new_list()
    commands.CopyResource(target, source)
    commands.Close()
    return commands, target


def test_executing_an_open_list(bench):
    bench.queue.ExecuteCommandLists([bench.commands])
    assert ids(bench) == [dml.D3D12_MESSAGE_ID_EXECUTECOMMANDLISTS_OPENCOMMANDLIST]
    assert bench.d3d12.GetDeviceRemovedReason() == dml.DXGI_ERROR_INVALID_CALL


def test_resetting_an_allocator_in_flight(bench):
    commands, _ = copying(bench)
    bench.queue.ExecuteCommandLists([commands])
    bench.allocators[-1].Reset()
    assert ids(bench) == [dml.D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_SYNC]
    bench.wait()
    bench.allocators[-1].Reset()
    assert len(ids(bench)) == 1


def test_executing_a_list_in_flight_again(bench):
    commands, _ = copying(bench)
    bench.queue.ExecuteCommandLists([commands])
    bench.wait()
    bench.queue.ExecuteCommandLists([commands])
    assert ids(bench) == []
    bench.queue.ExecuteCommandLists([commands])
    assert ids(bench) == [dml.D3D12_MESSAGE_ID_COMMAND_LIST_SYNC]
    assert bench.d3d12.GetDeviceRemovedReason() == dml.DXGI_ERROR_INVALID_CALL


def test_recording_a_list_in_flight_anew(bench):
    """A list owns no memory of the GPU: it may be reset once it is submitted, and released."""
    commands, target = copying(bench)
    bench.queue.ExecuteCommandLists([commands])
    other = bench.buffer(16, READBACK)
    commands.Reset(bench.new_allocator(), None)
    commands.CopyResource(other, bench.holding(5, 6, 7, 8))
    commands.Close()
    bench.queue.ExecuteCommandLists([commands])
    del commands
    bench.wait()
    assert target.array("float32").tolist() == [1, 2, 3, 4]
    assert other.array("float32").tolist() == [5, 6, 7, 8]
    assert bench.messages() == []


def test_work_that_nobody_waits_for_never_runs(bench):
    commands, target = copying(bench)
    bench.queue.ExecuteCommandLists([commands])
    fence = bench.signalled(1)
    assert set(target.buffer.memory.tolist()) == {0xCD}
    assert host_memory(target.range()).written_in_flight(target.range()) is not None
    assert ids(bench) == []
    fence.GetCompletedValue()
    assert target.buffer.memory.any()
    assert host_memory(target.range()).written_in_flight(target.range()) is None


def test_a_persistent_map(bench):
    """Mapped before the submission, read after the wait; written before the next submission."""
    upload, readback = bench.buffer(4, UPLOAD), bench.buffer(4, READBACK)
    source, result = upload.Map(), readback.Map()
    for value in (1, 2, 3):
        source[:] = value
        bench.run(lambda commands: commands.CopyResource(readback, upload))
        assert result.tolist() == [value] * 4
    assert bench.messages() == []


def test_a_persistent_map_that_is_read_too_early(bench):
    """The read cannot be detected, but finds neither the new nor the old contents of the bytes in flight."""
    upload, readback = bench.buffer(4, UPLOAD), bench.buffer(8, READBACK)
    source, result = upload.Map(), readback.Map()
    source[:] = result[:] = 7
    for _ in range(2):
        bench.commands.CopyBufferRegion(readback, 2, upload, 0, 4)
        assert result.tolist() == [7] * 8
        bench.submit(bench.commands)
        assert result.tolist() == [7, 7, 0xCD, 0xCD, 0xCD, 0xCD, 7, 7]
        bench.wait()
        assert result.tolist() == [7] * 8
        bench.commands.Reset(bench.new_allocator(), None)
    assert bench.messages() == []


def test_what_Map_has_said_Unmap_does_not_say_again(bench):
    commands, target = copying(bench)
    bench.queue.ExecuteCommandLists([commands])
    target.Map()
    target.Unmap()
    assert [message.rule for message in bench.messages()] == ["D3D12-Readback-read-in-flight"]


def test_released_after_the_wait(bench):
    commands, target = copying(bench)
    bench.queue.ExecuteCommandLists([commands])
    bench.wait()
    bench.kept.clear()
    del target
    bench.queue.Signal(fence := bench.d3d12.CreateFence(0), 1)
    fence.SetEventOnCompletion(1)
    assert bench.messages() == []


def test_each_released_object_once(bench):
    op, heap = bench.ready(identity()), bench.descriptors(4)
    bench.commands.SetDescriptorHeaps([heap])
    x = bench.buffer(16, name="x")
    for _ in range(3):
        bench.commands.CopyResource(x, bench.buffer(16))
    bench.commands.Close()
    bench.queue.ExecuteCommandLists([bench.commands])
    bench.commands.Reset(bench.new_allocator(), None)
    bench.kept = [kept for kept in bench.kept if kept is not x]
    del heap, x
    bench.wait()
    assert [message.rule for message in bench.messages()] == ["D3D12-Object-released"] * 2
    assert op is not None


def test_several_operators_at_once(bench):
    ops = [bench.keep(bench.compile(join(4, owned=[0]))) for _ in range(2)]
    initializer = bench.keep(bench.dml.CreateOperatorInitializer(ops))
    buffers = [bench.buffer(256) for _ in ops]
    bench.dispatch(initializer, [spans(bench.holding(*[value] * 4)) for value in (1, 2)], buffers)
    for op, persistent in zip(ops, buffers):
        bench.barrier(persistent)
        bench.dispatch(op, [None], [bench.buffer(16)], persistent=persistent)
    bench.execute()
    assert bench.messages() == []


def program(with_layer):
    """A dispatch and a copy that have run, and a copy that never will. Returns the program's objects."""
    if with_layer:
        with debug_layer():
            bench = Bench(DEBUG, d3d12=dml.D3D12CreateDevice())
    else:
        bench = Bench(DEBUG)
    op, initializer = bench.compile(join(4, owned=[0])), None
    weights, persistent = bench.holding(1, 2, 3, 4), bench.buffer(256)
    initializer = bench.dml.CreateOperatorInitializer([op])
    table = bench.table(initializer, [spans(weights)], [persistent])
    bench.record(initializer, table)
    bench.barrier()
    target = bench.buffer(16)
    bench.record(op, bench.table(op, [None], [target], persistent=persistent))
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4]
    return bench, {
        "op": op,
        "initializer": initializer,
        "weights": weights,
        "persistent": persistent,
        "target": target,
        "heap": bench.heap,
        "queue": bench.queue,
        "dml": bench.dml,
        "d3d12": bench.d3d12,
    }


def test_a_persistent_resource_that_is_restored(bench):
    """The page forbids modifying its contents; writing the same bytes again is valid."""
    op, persistent, saved = bench.compile(join(4, owned=[0])), bench.buffer(256), bench.buffer(256)
    bench.initialize(op, [bench.holding(1, 2, 3, 4)], persistent)
    bench.run(lambda commands: commands.CopyResource(saved, persistent))
    bench.run(lambda commands: commands.CopyResource(persistent, saved))
    bench.dispatch(op, [None], [bench.buffer(16)], persistent=persistent)
    bench.execute()
    assert bench.messages() == []


@pytest.mark.parametrize("with_layer", [False, True])
def test_what_has_run_keeps_nothing_alive(with_layer):
    """Everything but the Direct3D 12 device is freed with its last reference; device and info queue form a cycle."""
    gc.collect()
    gc.disable()
    try:
        bench, found = program(with_layer)
        references = {name: weakref.ref(value) for name, value in found.items()}
        del found, bench
        alive = {name for name, reference in references.items() if reference() is not None}
        assert alive == ({"d3d12"} if with_layer else set())
        gc.collect()
        assert references["d3d12"]() is None
    finally:
        gc.enable()


def test_work_that_never_runs_goes_with_its_device():
    bench = HazardBench()
    commands, target = copying(bench)
    bench.queue.ExecuteCommandLists([commands])
    references = [weakref.ref(found) for found in (bench.d3d12, target, bench.queue.work)]
    del bench, commands, target
    gc.collect()
    assert [reference() for reference in references] == [None] * 3


def test_messages_keep_nothing_alive():
    """Neither messages nor exceptions keep the objects that they are about alive."""
    bench = HazardBench(breaks=True)
    op = bench.compile(identity())
    x, y = bench.buffer(1 << 16), bench.buffer(16)
    bench.record(op, table := bench.table(op, [x], [y]))
    with pytest.raises(dml.DMLError):
        bench.execute()
    del table
    references = [weakref.ref(found) for found in (op, x, y)]
    bench.kept.clear()
    bench.wait()
    bench.commands.Reset(bench.new_allocator(), None)
    del op, x, y
    assert [reference() for reference in references] == [None] * 3


def test_a_copy_queue(bench):
    kind = dml.D3D12_COMMAND_LIST_TYPE_COPY
    queue = bench.d3d12.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(Type=kind))
    commands, target = bench.new_list(kind), bench.buffer(16, READBACK)
    commands.CopyResource(target, bench.holding(1, 2, 3, 4))
    commands.Close()
    queue.ExecuteCommandLists([commands])
    target.Map()
    assert [message.rule for message in bench.messages()] == ["D3D12-Readback-read-in-flight"]
