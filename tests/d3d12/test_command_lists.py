"""Recording: valid and invalid calls, the life cycle of lists, and allocators."""

from __future__ import annotations

import ctypes
import gc

import pytest

from directml_py import d3d12
from directml_py.abi.hresult import DXGI_ERROR_INVALID_CALL, E_FAIL, E_INVALIDARG, E_NOTIMPL, DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s
from directml_py.d3d12.command_list import Copy, DescriptorHeaps
from directml_py.runtime.recording import AliasingBarrier, Barriers, Command, UAVBarrier

DIRECT, COPY = e.D3D12_COMMAND_LIST_TYPE_DIRECT, e.D3D12_COMMAND_LIST_TYPE_COPY
UAV = e.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
COMPUTE = e.D3D12_COMMAND_LIST_TYPE_COMPUTE
Barrier = d3d12.CD3DX12_RESOURCE_BARRIER


@pytest.fixture
def other():
    """A buffer of another device."""
    properties, desc = d3d12.CD3DX12_HEAP_PROPERTIES(), d3d12.CD3DX12_RESOURCE_DESC.Buffer(16)
    return d3d12.D3D12CreateDevice().CreateCommittedResource(properties, 0, desc, 0)


def close_error(commands):
    with pytest.raises(DMLError) as caught:
        commands.Close()
    assert caught.value.hresult == E_INVALIDARG
    return str(caught.value)


class TestCreation:
    @pytest.mark.parametrize(
        ("kind", "hresult"),
        [
            (e.D3D12_COMMAND_LIST_TYPE_BUNDLE, E_NOTIMPL),
            (e.D3D12_COMMAND_LIST_TYPE_VIDEO_DECODE, E_NOTIMPL),
            (e.D3D12_COMMAND_LIST_TYPE_NONE, E_INVALIDARG),
            (99, E_INVALIDARG),
        ],
    )
    def test_types(self, bench, kind, hresult):
        with pytest.raises(DMLError, match="type") as caught:
            bench.device.CreateCommandAllocator(kind)
        assert caught.value.hresult == hresult

    def test_the_allocator_must_be_free_and_of_the_type(self, bench):
        with pytest.raises(DMLError, match="in use") as caught:
            bench.device.CreateCommandList(0, DIRECT, bench.allocator)
        assert caught.value.hresult == E_INVALIDARG
        copy = bench.device.CreateCommandAllocator(COPY)
        with pytest.raises(DMLError, match="allocator is of type"):
            bench.device.CreateCommandList(0, DIRECT, copy)
        assert bench.device.CreateCommandList(0, COPY, copy).GetType() == COPY

    def test_a_dropped_list_frees_its_allocator(self, bench):
        allocator = bench.device.CreateCommandAllocator(DIRECT)
        bench.device.CreateCommandList(0, DIRECT, allocator)
        gc.collect()
        allocator.Reset()

    def test_wrong_arguments(self, bench):
        free = bench.device.CreateCommandAllocator(DIRECT)
        with pytest.raises(TypeError, match="commandAllocator"):
            bench.device.CreateCommandList(0, DIRECT, None)
        with pytest.raises(DMLError, match="nodeMask"):
            bench.device.CreateCommandList(2, DIRECT, free)
        with pytest.raises(DMLError, match="initialState") as caught:
            bench.device.CreateCommandList(0, DIRECT, free, "pso")
        assert caught.value.hresult == E_NOTIMPL
        foreign = d3d12.D3D12CreateDevice().CreateCommandAllocator(DIRECT)
        with pytest.raises(DMLError, match="another device"):
            bench.device.CreateCommandList(0, DIRECT, foreign)


class TestLifeCycle:
    def test_close_and_reset(self, bench):
        with pytest.raises(DMLError, match="before it is closed") as caught:
            bench.list.Reset(bench.allocator)
        assert caught.value.hresult == E_FAIL
        bench.list.Close()
        with pytest.raises(DMLError, match="closed already") as caught:
            bench.list.Close()
        assert caught.value.hresult == E_FAIL
        bench.list.Reset(bench.allocator, None)
        bench.list.Close()

    def test_reset_forgets_commands(self, bench):
        target, source = bench.readback(4), bench.upload(4)
        source.Map()[:] = 1
        bench.list.CopyResource(target, source)
        bench.list.Close()
        bench.list.Reset(bench.allocator)
        bench.list.Close()
        bench.queue.ExecuteCommandLists([bench.list])
        assert target.array().tolist() == [0] * 4

    def test_reset_takes_a_free_allocator_only(self, bench):
        busy = bench.device.CreateCommandAllocator(DIRECT)
        user = bench.device.CreateCommandList(0, DIRECT, busy)
        bench.list.Close()
        with pytest.raises(DMLError, match="in use") as caught:
            bench.list.Reset(busy)
        assert caught.value.hresult == E_INVALIDARG
        user.Close()
        bench.list.Reset(busy)

    def test_the_allocator_cannot_be_reset_while_recording(self, bench):
        with pytest.raises(DMLError, match="recording") as caught:
            bench.allocator.Reset()
        assert caught.value.hresult == E_FAIL
        bench.list.Close()
        bench.allocator.Reset()

    def test_lists_take_turns_on_one_allocator(self, bench):
        bench.list.Close()
        second = bench.device.CreateCommandList(0, DIRECT, bench.allocator)
        second.Close()
        bench.queue.ExecuteCommandLists([bench.list, second])
        assert bench.device.GetDeviceRemovedReason() == 0

    def test_a_list_runs_again_and_again(self, bench):
        target, source = bench.readback(4), bench.upload(4)
        commands = bench.copying(target, source)
        for value in (1, 2, 3):
            source.Map()[:] = value
            bench.queue.ExecuteCommandLists(1, [commands])
            assert target.array().tolist() == [value] * 4

    def test_an_invalid_list_can_never_be_reset(self, bench):
        bench.list.CopyResource(bench.buffer(4), bench.buffer(8))
        close_error(bench.list)
        with pytest.raises(DMLError, match="CopyResource") as caught:
            bench.list.Reset(bench.allocator)
        assert caught.value.hresult == E_INVALIDARG

    def test_recording_on_a_closed_list(self, bench):
        bench.list.Close()
        bench.list.CopyResource(bench.buffer(4), bench.upload(4))
        bench.queue.ExecuteCommandLists([bench.list])
        assert bench.device.GetDeviceRemovedReason() == DXGI_ERROR_INVALID_CALL

    def test_close_names_everything(self, bench):
        bench.list.CopyResource(bench.buffer(4), bench.buffer(8))
        bench.list.CopyBufferRegion(bench.buffer(4), 3, bench.buffer(4), 0, 2)
        message = close_error(bench.list)
        assert "CopyResource" in message
        assert "CopyBufferRegion: dstBuffer needs bytes 3 to 5" in message


class TestCopies:
    def test_regions(self, bench):
        source, middle, target = bench.upload(8), bench.buffer(6), bench.readback(8)
        source.Map()[:] = range(8)
        bench.list.CopyBufferRegion(middle, 1, source, 3, 5)
        bench.list.CopyBufferRegion(target, 2, middle, 0, 6)
        assert target.array().tolist() == [0] * 8
        bench.execute()
        assert middle.array().tolist() == [0, 3, 4, 5, 6, 7]
        assert target.array().tolist() == [0, 0, 0, 3, 4, 5, 6, 7]

    def test_nothing_to_copy(self, bench):
        bench.list.CopyBufferRegion(bench.buffer(4), 4, bench.upload(4), 4, 0)
        bench.execute()

    def test_commands_know_their_ranges(self, bench):
        target, source = bench.buffer(8), bench.upload(8)
        bench.list.CopyBufferRegion(target, 1, source, 2, 3)
        bench.list.Close()
        (copy,) = bench.list.recording.commands
        assert isinstance(copy, Copy)
        assert (copy.destination.buffer, copy.destination.offset, copy.destination.size) == (
            target.buffer,
            1,
            3,
        )
        assert (copy.source.buffer, copy.source.offset, copy.source.size) == (source.buffer, 2, 3)

    @pytest.mark.parametrize(
        ("target_offset", "source_offset", "size", "named"),
        [
            (5, 0, 4, "dstBuffer"),
            (0, 5, 4, "srcBuffer"),
            (0, 0, 9, "dstBuffer"),
            ((1 << 64) - 1, 0, 2, "dstBuffer"),
            (0, (1 << 64) - 4, 4, "srcBuffer"),
        ],
    )
    def test_out_of_range(self, bench, target_offset, source_offset, size, named):
        target = bench.buffer(8)
        bench.list.CopyBufferRegion(target, target_offset, bench.upload(8), source_offset, size)
        assert f"CopyBufferRegion: {named} needs bytes" in close_error(bench.list)

    @pytest.mark.parametrize(("target", "source"), [("upload", "buffer"), ("buffer", "readback")])
    def test_directions_of_heaps(self, bench, target, source):
        bench.list.CopyResource(getattr(bench, target)(4), getattr(bench, source)(4))
        bench.list.CopyBufferRegion(getattr(bench, target)(4), 0, getattr(bench, source)(4), 0, 4)
        message = close_error(bench.list)
        wrong = "dst" if target == "upload" else "src"
        assert f"CopyResource: {wrong}Resource must not be in a heap" in message
        assert f"CopyBufferRegion: {wrong}Buffer must not be in a heap" in message

    def test_regions_of_one_buffer(self, bench):
        buffer = bench.buffer(8)
        buffer.memory[:] = range(8)
        bench.list.CopyBufferRegion(buffer, 4, buffer, 0, 4)
        bench.execute()
        assert buffer.array().tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
        bench.list.CopyBufferRegion(buffer, 3, buffer, 0, 4)
        assert "overlap" in close_error(bench.list)

    def test_overlap_through_a_heap(self, bench):
        heap = bench.device.CreateHeap(d3d12.CD3DX12_HEAP_DESC(65536, e.D3D12_HEAP_TYPE_DEFAULT))
        first, second = (
            bench.device.CreatePlacedResource(heap, 0, d3d12.CD3DX12_RESOURCE_DESC.Buffer(8), 0)
            for _ in range(2)
        )
        bench.list.CopyResource(first, second)
        assert "overlap" in close_error(bench.list)

    def test_copy_resource_wants_two_of_one_size(self, bench):
        buffer = bench.buffer(8)
        bench.list.CopyResource(buffer, buffer)
        bench.list.CopyResource(buffer, bench.buffer(9))
        message = close_error(bench.list)
        assert "different resources" in message
        assert "8 bytes, but srcResource has 9" in message

    def test_wrong_objects_are_raised_and_change_nothing(self, bench, other):
        buffer = bench.buffer(16)
        for wrong, error in (
            (None, TypeError),
            ("x", TypeError),
            (bench.queue, TypeError),
            (other, DMLError),
        ):
            with pytest.raises(error, match="srcResource"):
                bench.list.CopyResource(buffer, wrong)
            with pytest.raises(error, match="dstBuffer"):
                bench.list.CopyBufferRegion(wrong, 0, buffer, 0, 4)
        for offset, error in ((-1, DMLError), (1 << 64, DMLError), (0.0, TypeError), (True, TypeError)):
            with pytest.raises(error, match="dstOffset"):
                bench.list.CopyBufferRegion(buffer, offset, bench.upload(4), 0, 4)
        bench.list.Close()
        assert bench.list.recording.commands == ()

    def test_resources_stay_alive_until_executed(self, bench, collect):
        target = bench.readback(4)
        source = bench.upload(4)
        source.Map()[:] = 4
        bench.list.CopyResource(target, source)
        del source
        collect()
        bench.execute()
        assert target.array().tolist() == [4] * 4


class TestBarriers:
    def recorded(self, bench):
        bench.list.Close()
        return bench.list.recording.commands

    def test_transition(self, bench):
        buffer = bench.buffer(4, flags=UAV)
        before, after = e.D3D12_RESOURCE_STATE_COPY_DEST, e.D3D12_RESOURCE_STATE_UNORDERED_ACCESS
        bench.list.ResourceBarrier(1, Barrier.Transition(buffer, before, after))
        ((barrier,),) = (command.barriers for command in self.recorded(bench))
        assert barrier.buffer is buffer.buffer
        assert (barrier.before, barrier.after, barrier.subresource) == (before, after, 0xFFFFFFFF)

    def test_every_way_to_pass_them(self, bench):
        buffer = bench.buffer(4, flags=UAV)
        one, two = Barrier.UAV(buffer), Barrier.Aliasing(None, buffer)
        both = (s.D3D12_RESOURCE_BARRIER * 2)(one, two)
        calls = [
            (1, one),
            (one,),
            (1, ctypes.byref(one)),
            (2, [one, two]),
            ([one, two],),
            (2, both),
            (both,),
            (2, ctypes.cast(both, ctypes.POINTER(s.D3D12_RESOURCE_BARRIER))),
            (2, ctypes.addressof(both)),
            (1, [one, two]),
        ]
        for arguments in calls:
            bench.list.ResourceBarrier(*arguments)
        commands = self.recorded(bench)
        assert all(type(command) is Barriers for command in commands)
        found = [[(type(barrier), *barrier) for barrier in command.barriers] for command in commands]
        single = [(UAVBarrier, buffer.buffer)]
        pair = [*single, (AliasingBarrier, None, buffer.buffer)]
        assert found == [single, single, single, *[pair] * 6, single]

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"Subresource": 1}, "Subresource must be 0"),
            ({"StateAfter": 0x400}, "the same"),
            ({"StateAfter": 8 | 64}, "combines"),
            ({"StateBefore": 4}, "for textures"),
            ({"pResource": None}, "pResource is null"),
        ],
    )
    def test_transition_rules(self, bench, change, said):
        buffer = bench.buffer(4, flags=UAV)
        barrier = Barrier.Transition(buffer, 0x400, 8)
        for name, value in change.items():
            setattr(barrier.Transition, name, value)
        bench.list.ResourceBarrier(1, barrier)
        assert said in close_error(bench.list)

    @pytest.mark.parametrize(
        ("state", "allowed"),
        [(0x40, True), (0x200, True), (1, True), (0x80, False), (2, False), (0xAC3, False)],
    )
    def test_states_of_a_compute_list(self, bench, state, allowed):
        """Not of pixel shaders or index buffers, of which GENERIC_READ is made too; a DIRECT list has them all."""
        for kind in (COMPUTE, e.D3D12_COMMAND_LIST_TYPE_DIRECT):
            allocator = bench.device.CreateCommandAllocator(kind)
            commands = bench.device.CreateCommandList(0, kind, allocator)
            commands.ResourceBarrier(1, Barrier.Transition(bench.buffer(4), 0, state))
            if allowed or kind != COMPUTE:
                commands.Close()
            else:
                assert "which a D3D12_COMMAND_LIST_TYPE_COMPUTE list cannot use" in close_error(commands)

    @pytest.mark.parametrize(
        ("before", "after", "wrong"),
        [(0, 0x400, ""), (0x800, 0, ""), (0x400, 8, "After"), (8, 0x800, "Before")],
    )
    def test_states_of_a_copy_list(self, bench, before, after, wrong):
        allocator = bench.device.CreateCommandAllocator(COPY)
        commands = bench.device.CreateCommandList(0, COPY, allocator)
        commands.ResourceBarrier(1, Barrier.Transition(bench.buffer(4, flags=UAV), before, after))
        if wrong:
            text = f"State{wrong} has D3D12_RESOURCE_STATE_UNORDERED_ACCESS, which a D3D12_COMMAND_LIST_TYPE_COPY list"
            assert text in close_error(commands)
        else:
            commands.Close()

    def test_flags_of_a_resource(self, bench):
        buffer = bench.buffer(4)
        bench.list.ResourceBarrier(1, Barrier.Transition(buffer, 0, e.D3D12_RESOURCE_STATE_UNORDERED_ACCESS))
        bench.list.ResourceBarrier(1, Barrier.UAV(buffer))
        assert close_error(bench.list).count("ALLOW_UNORDERED_ACCESS") == 2

    @pytest.mark.parametrize("kind", ["upload", "readback"])
    def test_fixed_states(self, bench, kind):
        bench.list.ResourceBarrier(1, Barrier.Transition(getattr(bench, kind)(4), 0, 0x800))
        assert "stays in one state" in close_error(bench.list)

    def test_begin_and_end_exclude_each_other(self, bench):
        barrier = Barrier.Transition(bench.buffer(4), 0, 0x800, flags=3)
        bench.list.ResourceBarrier(1, barrier)
        assert "both" in close_error(bench.list)

    def test_one_bad_barrier_records_none(self, bench):
        good, bad = Barrier.UAV(None), Barrier.Transition(bench.buffer(4), 0, 0)
        bench.list.ResourceBarrier([good, bad])
        assert "barriers[1]" in close_error(bench.list)
        assert bench.list.recording.commands == ()

    def test_what_is_no_barrier_is_raised_and_changes_nothing(self, bench, other, collect):
        wild = Barrier.UAV(None)
        wild.UAV.pResource = 0xDEAD0000
        unknown = s.D3D12_RESOURCE_BARRIER(Type=3)
        stale = Barrier.UAV(None)
        stale.UAV.pResource = bench.buffer(4, flags=UAV).handle
        collect()
        fence = Barrier.UAV(None)
        fence.UAV.pResource = bench.fence = bench.device.CreateFence(0)
        one = Barrier.UAV(None)
        for arguments, error, named in (
            ((1, wild), DMLError, "pResource"),
            ((1, stale), DMLError, "pResource"),
            ((1, fence), DMLError, "pResource"),
            ((1, Barrier.UAV(other)), DMLError, "another device"),
            ((1, unknown), DMLError, "Type"),
            ((1, s.D3D12_RESOURCE_BARRIER(Type=2, Flags=8)), DMLError, "Flags"),
            ((2, one), DMLError, "numBarriers is 2"),
            ((3, [one, one]), DMLError, "numBarriers is 3"),
            ((1, None), DMLError, "barriers is null"),
            ((1, s.D3D12_RANGE()), TypeError, "barriers"),
            ((["x"],), TypeError, "barriers"),
            ((-1, [one]), DMLError, "numBarriers"),
        ):
            with pytest.raises(error, match=named):
                bench.list.ResourceBarrier(*arguments)
        assert self.recorded(bench) == ()


class TestDescriptorHeaps:
    def heap(self, bench, kind=0, flags=1):
        desc = s.D3D12_DESCRIPTOR_HEAP_DESC(Type=kind, NumDescriptors=1, Flags=flags)
        return bench.device.CreateDescriptorHeap(desc)

    def test_set_and_replaced(self, bench):
        first, second = self.heap(bench), self.heap(bench)
        sampler = self.heap(bench, e.D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER)
        bench.list.SetDescriptorHeaps(2, [first, sampler])
        assert bench.list.descriptor_heaps == (first, sampler)
        bench.list.SetDescriptorHeaps([second])
        assert bench.list.descriptor_heaps == (second,)
        bench.list.Close()
        commands = bench.list.recording.commands
        assert all(type(command) is DescriptorHeaps for command in commands)
        assert [command.heaps for command in commands] == [(first.life, sampler.life), (second.life,)]
        bench.list.Reset(bench.allocator)
        assert bench.list.descriptor_heaps == ()

    def test_rules(self, bench):
        bench.list.SetDescriptorHeaps([self.heap(bench), self.heap(bench)])
        bench.list.SetDescriptorHeaps([self.heap(bench, flags=0)])
        bench.list.SetDescriptorHeaps([self.heap(bench, e.D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 0)])
        assert bench.list.descriptor_heaps == ()
        message = close_error(bench.list)
        assert "two heaps of the same type" in message
        assert message.count("not shader visible") == 2

    def test_copy_lists_have_none(self, bench):
        allocator = bench.device.CreateCommandAllocator(COPY)
        commands = bench.device.CreateCommandList(0, COPY, allocator)
        commands.SetDescriptorHeaps([self.heap(bench)])
        assert "copy command list" in close_error(commands)

    def test_wrong_objects(self, bench):
        with pytest.raises(TypeError, match=r"descriptorHeaps\[0\]"):
            bench.list.SetDescriptorHeaps([bench.buffer(4)])
        bench.list.Close()


class TestRecord:
    def test_commands_of_others_run_in_order(self, bench):
        seen = []

        class Note(Command):
            def __init__(self, text):
                self.text = text

            def execute(self):
                seen.append((self.text, target.array().tolist()))

        target, source = bench.buffer(1), bench.upload(1)
        source.Map()[:] = 1
        bench.list.record(Note("before"))
        bench.list.CopyResource(target, source)
        bench.list.record(Note("after"))
        bench.list.Close()
        assert seen == []
        bench.queue.ExecuteCommandLists([bench.list])
        assert seen == [("before", [0]), ("after", [1])]


class TestDebugLayer:
    def test_problems_are_raised_at_the_call(self, debug_bench, info_queue):
        with pytest.raises(DMLError, match="CopyResource") as caught:
            debug_bench.list.CopyResource(debug_bench.buffer(4), debug_bench.buffer(8))
        assert caught.value.hresult == E_INVALIDARG
        message = info_queue.GetMessage(0)
        assert message.Severity == e.D3D12_MESSAGE_SEVERITY_ERROR
        assert message.ID == e.D3D12_MESSAGE_ID_COPYRESOURCE_INVALIDSRCRESOURCE
        assert "CopyResource" in close_error(debug_bench.list)

    def test_without_breaking_they_are_stored(self, debug_bench, info_queue):
        info_queue.SetBreakOnSeverity(e.D3D12_MESSAGE_SEVERITY_ERROR, False)
        debug_bench.list.CopyBufferRegion(debug_bench.buffer(4), 9, debug_bench.upload(4), 0, 1)
        debug_bench.list.ResourceBarrier(1, Barrier.Transition(debug_bench.buffer(4), 0, 0))
        assert [info_queue.GetMessage(index).ID for index in range(2)] == [
            e.D3D12_MESSAGE_ID_COPYBUFFERREGION_DSTRANGEOUTOFBOUNDS,
            e.D3D12_MESSAGE_ID_RESOURCE_BARRIER_MATCHING_STATES,
        ]
        close_error(debug_bench.list)

    def test_wrong_objects_leave_no_message(self, debug_bench, info_queue):
        with pytest.raises(TypeError):
            debug_bench.list.CopyResource(None, None)
        assert info_queue.GetNumStoredMessages() == 0
        debug_bench.list.Close()
