"""For each D3D12_MESSAGE_ID that belongs to no rule, a program that makes the info queue report it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import directml_py as dml

from .conftest import Bench

DIRECT, COPY = dml.D3D12_COMMAND_LIST_TYPE_DIRECT, dml.D3D12_COMMAND_LIST_TYPE_COPY
READBACK, UPLOAD = dml.D3D12_HEAP_TYPE_READBACK, dml.D3D12_HEAP_TYPE_UPLOAD
UAV = dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
COMMON, UNORDERED_ACCESS = dml.D3D12_RESOURCE_STATE_COMMON, dml.D3D12_RESOURCE_STATE_UNORDERED_ACCESS
COPY_DEST, COPY_SOURCE = dml.D3D12_RESOURCE_STATE_COPY_DEST, dml.D3D12_RESOURCE_STATE_COPY_SOURCE
TIMESTAMP = dml.D3D12_QUERY_TYPE_TIMESTAMP
VIEWS = dml.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
Barrier = dml.CD3DX12_RESOURCE_BARRIER

Program = Callable[[Bench], Any]
PROGRAMS: dict[int, Program] = {}


def tells(name):
    """Decorator: a program whose last message is ``D3D12_MESSAGE_ID_<name>``."""

    def declare(program):
        PROGRAMS[dml.D3D12_MESSAGE_ID[f"D3D12_MESSAGE_ID_{name}"]] = program
        return program

    return declare


def transition(bench, before, after, commands=None, **rest):
    (commands or bench.list).ResourceBarrier([Barrier.Transition(bench.buffer(16), before, after, **rest)])


def list_of(bench, kind):
    allocator = bench.device.CreateCommandAllocator(kind)
    commands = bench.device.CreateCommandList(0, kind, allocator)
    bench.allocators[commands.recording.memory] = allocator
    return commands


def closed_list(bench):
    """A closed list that copies nothing of interest."""
    return bench.copying(bench.buffer(16), bench.upload(16))


tells("RESOURCE_BARRIER_ZERO_BARRIERS")(lambda bench: bench.list.ResourceBarrier(0, None))
tells("RESOURCE_BARRIER_MATCHING_STATES")(lambda bench: transition(bench, COPY_DEST, COPY_DEST))
tells("RESOURCE_BARRIER_INVALID_SUBRESOURCE")(
    lambda bench: transition(bench, COPY_DEST, COPY_SOURCE, subresource=1)
)
tells("RESOURCE_BARRIER_INVALID_COMBINATION")(
    lambda bench: transition(bench, COMMON, COPY_DEST | COPY_SOURCE)
)
tells("RESOURCE_BARRIER_MISSING_BIND_FLAGS")(lambda bench: transition(bench, COMMON, UNORDERED_ACCESS))
tells("RESOURCE_BARRIER_INVALID_FLAG")(
    lambda bench: transition(
        bench,
        COMMON,
        COPY_DEST,
        flags=dml.D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY | dml.D3D12_RESOURCE_BARRIER_FLAG_END_ONLY,
    )
)
tells("RESOURCE_BARRIER_INVALID_HEAP")(
    lambda bench: bench.list.ResourceBarrier([Barrier.Transition(bench.readback(16), COPY_DEST, COPY_SOURCE)])
)


@tells("RESOURCE_BARRIER_NULL_POINTER")
def a_barrier_of_nothing(bench):
    barrier = dml.D3D12_RESOURCE_BARRIER(Type=dml.D3D12_RESOURCE_BARRIER_TYPE_TRANSITION)
    barrier.Transition.StateAfter = COPY_DEST
    bench.list.ResourceBarrier([barrier])


@tells("RESOURCE_BARRIER_DUPLICATE_SUBRESOURCE_TRANSITIONS")
def two_transitions_in_one_call(bench):
    buffer = bench.buffer(16)
    steps = [(COMMON, COPY_DEST), (COPY_DEST, COPY_SOURCE)]
    bench.list.ResourceBarrier([Barrier.Transition(buffer, *states) for states in steps])


@tells("RESOURCE_BARRIER_INVALID_COMMAND_LIST_TYPE")
def a_uav_barrier_on_a_copy_list(bench):
    list_of(bench, COPY).ResourceBarrier([Barrier.UAV(bench.buffer(16, flags=UAV))])


@tells("COPYBUFFERREGION_DSTRANGEOUTOFBOUNDS")
def a_copy_past_the_destination(bench):
    bench.list.CopyBufferRegion(bench.buffer(16), 8, bench.buffer(16), 0, 16)


@tells("COPYBUFFERREGION_SRCRANGEOUTOFBOUNDS")
def a_copy_past_the_source(bench):
    bench.list.CopyBufferRegion(bench.buffer(16), 0, bench.buffer(16), 8, 16)


@tells("COPYBUFFERREGION_INVALID_DST_RESOURCE")
def a_copy_to_an_upload_heap(bench):
    bench.list.CopyBufferRegion(bench.upload(16), 0, bench.buffer(16), 0, 16)


@tells("COPYBUFFERREGION_INVALID_SRC_RESOURCE")
def a_copy_from_a_readback_heap(bench):
    bench.list.CopyBufferRegion(bench.buffer(16), 0, bench.readback(16), 0, 16)


@tells("COPY_ON_SAME_SUBRESOURCE")
def a_copy_over_itself(bench):
    buffer = bench.buffer(16)
    bench.list.CopyBufferRegion(buffer, 0, buffer, 4, 8)


@tells("COPYRESOURCE_INVALIDDSTRESOURCE")
def a_whole_copy_to_an_upload_heap(bench):
    bench.list.CopyResource(bench.upload(16), bench.buffer(16))


@tells("COPYRESOURCE_INVALIDSRCRESOURCE")
def a_whole_copy_of_another_size(bench):
    bench.list.CopyResource(bench.buffer(16), bench.buffer(32))


def with_root_signature(bench):
    """The open list of the bench with a root signature that has one parameter of each type, in their order."""
    parameters = [dml.CD3DX12_ROOT_PARAMETER() for _ in range(5)]
    parameters[0].InitAsDescriptorTable(
        [dml.CD3DX12_DESCRIPTOR_RANGE(dml.D3D12_DESCRIPTOR_RANGE_TYPE_UAV, 1, 5)]
    )
    parameters[1].InitAsConstants(4, 0)
    parameters[2].InitAsConstantBufferView(1)
    parameters[3].InitAsShaderResourceView(0)
    parameters[4].InitAsUnorderedAccessView(0)
    blob = dml.D3D12SerializeRootSignature(dml.CD3DX12_ROOT_SIGNATURE_DESC(parameters), 1)
    bench.list.SetComputeRootSignature(bench.device.CreateRootSignature(0, blob))
    return bench.list


@tells("COMMAND_LIST_PIPELINE_STATE_NOT_SET")
def a_dispatch_without_a_pipeline_state(bench):
    with_root_signature(bench).Dispatch(1, 1, 1)


@tells("COMMAND_LIST_DISPATCH_ROOT_SIGNATURE_NOT_SET")
def a_dispatch_without_a_root_signature(bench):
    # It also lacks a pipeline state, which is told after this.
    later = dml.D3D12_INFO_QUEUE_FILTER_DESC(
        pIDList=[dml.D3D12_MESSAGE_ID_COMMAND_LIST_PIPELINE_STATE_NOT_SET]
    )
    bench.device.info_queue.AddStorageFilterEntries(dml.D3D12_INFO_QUEUE_FILTER(DenyList=later))
    bench.list.Dispatch(1, 1, 1)


@tells("SET_DESCRIPTOR_TABLE_INVALID")
def a_table_in_a_heap_that_is_not_set(bench):
    desc = dml.D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, 1, dml.D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE)
    heap = bench.device.CreateDescriptorHeap(desc)
    with_root_signature(bench).SetComputeRootDescriptorTable(0, heap.GetGPUDescriptorHandleForHeapStart())


tells("SET_ROOT_CONSTANT_INVALID")(
    lambda bench: with_root_signature(bench).SetComputeRoot32BitConstants(1, 2, [7, 8], 3)
)
tells("SET_ROOT_CONSTANT_BUFFER_VIEW_INVALID")(
    lambda bench: with_root_signature(bench).SetComputeRootConstantBufferView(2, 4)
)
tells("SET_ROOT_SHADER_RESOURCE_VIEW_INVALID")(
    lambda bench: with_root_signature(bench).SetComputeRootShaderResourceView(9, 0)
)
tells("SET_ROOT_UNORDERED_ACCESS_VIEW_INVALID")(
    lambda bench: with_root_signature(bench).SetComputeRootUnorderedAccessView(4, 0)
)


@tells("COMMAND_LIST_CLOSED")
def recording_into_a_closed_list(bench):
    bench.list.Close()
    bench.list.CopyResource(bench.buffer(16), bench.buffer(16))


@tells("EXECUTECOMMANDLISTS_OPENCOMMANDLIST")
def executing_an_open_list(bench):
    bench.queue.ExecuteCommandLists([bench.list])


@tells("EXECUTECOMMANDLISTS_COMMANDLISTMISMATCH")
def executing_on_another_kind_of_queue(bench):
    commands = list_of(bench, COPY)
    commands.Close()
    bench.queue.ExecuteCommandLists([commands])


@tells("EXECUTECOMMANDLISTS_FAILEDCOMMANDLIST")
def executing_an_invalid_list(bench):
    bench.list.CopyResource(bench.buffer(16), bench.buffer(32))
    with contextlib.suppress(dml.DMLError):
        bench.list.Close()
    bench.queue.ExecuteCommandLists([bench.list])


@tells("COMMAND_LIST_SYNC")
def executing_twice_at_once(bench):
    commands = closed_list(bench)
    bench.queue.ExecuteCommandLists([commands])
    bench.queue.ExecuteCommandLists([commands])


@tells("COMMAND_ALLOCATOR_SYNC")
def resetting_memory_in_flight(bench):
    commands = closed_list(bench)
    bench.queue.ExecuteCommandLists([commands])
    bench.allocator_of(commands).Reset()


@tells("COMMAND_ALLOCATOR_RESET")
def executing_after_a_reset(bench):
    commands = closed_list(bench)
    bench.allocator_of(commands).Reset()
    bench.queue.ExecuteCommandLists([commands])


@tells("EXECUTECOMMANDLISTS_GPU_WRITTEN_READBACK_RESOURCE_MAPPED")
def writing_to_a_mapped_buffer(bench):
    result = bench.readback(16)
    result.Map()
    bench.queue.ExecuteCommandLists([bench.copying(result, bench.buffer(16))])


@tells("DEVICE_REMOVAL_PROCESS_AT_FAULT")
def a_call_from_c_that_did_nothing(bench):
    """What the COM layer makes of an exception in a void method."""
    bench.queue.fail_call("ExecuteCommandLists", "commandLists[0] is null")


@tells("MAP_INVALIDHEAP")
def mapping_what_the_cpu_cannot_reach(bench):
    with contextlib.suppress(dml.DMLError):
        bench.buffer(16).Map()


@tells("CREATEHEAP_NULLDESC")
def a_heap_of_nothing(bench):
    with contextlib.suppress(dml.DMLError):
        bench.device.CreateHeap(None)


@tells("COMMAND_ALLOCATOR_CANNOT_RESET")
def resetting_memory_that_is_recorded_into(bench):
    with contextlib.suppress(dml.DMLError):
        bench.allocator.Reset()


@tells("RESOURCE_UNMAP_NOTMAPPED")
def unmapping_what_is_not_mapped(bench):
    bench.upload(16).Unmap()


@tells("UNMAP_RANGE_NOT_EMPTY")
def writing_to_a_readback_heap(bench):
    result = bench.readback(16)
    result.Map(0, dml.D3D12_RANGE(0, 0))
    result.Unmap(0, dml.D3D12_RANGE(0, 4))


@tells("EVICT_UNDERFLOW")
def evicting_more_often_than_made_resident(bench):
    buffer = bench.buffer(16)
    bench.device.MakeResident([buffer])
    for _ in range(3):
        bench.device.Evict([buffer])


@tells("CREATERESOURCE_STATE_IGNORED")
def an_initial_state_of_a_buffer(bench):
    bench.buffer(16, state=COPY_DEST)


def views(bench, flags):
    return bench.device.CreateDescriptorHeap(dml.D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, 4, flags))


def start(heap, index=0):
    handle = heap.GetCPUDescriptorHandleForHeapStart()
    return dml.D3D12_CPU_DESCRIPTOR_HANDLE(handle.ptr + index * heap.increment)


@tells("COPY_DESCRIPTORS_INVALID_RANGES")
def copying_descriptors_over_themselves(bench):
    heap = views(bench, 0)
    bench.device.CopyDescriptorsSimple(2, start(heap, 1), start(heap), VIEWS)


@tells("COPY_DESCRIPTORS_WRITE_ONLY_DESCRIPTOR")
def copying_descriptors_that_shaders_see(bench):
    hidden, visible = views(bench, 0), views(bench, 1)
    bench.device.CopyDescriptorsSimple(1, start(hidden), start(visible), VIEWS)


@tells("DESCRIPTOR_HEAP_NOT_SHADER_VISIBLE")
def a_handle_that_shaders_cannot_use(bench):
    views(bench, 0).GetGPUDescriptorHandleForHeapStart()


@tells("SET_DESCRIPTOR_HEAP_INVALID")
def setting_two_heaps_of_one_type(bench):
    bench.list.SetDescriptorHeaps([views(bench, 1), views(bench, 1)])


def clear(bench, buffer, desc, resource=None, hidden=None, commands=None):
    """A clear of a view of ``buffer`` that calls it a view of ``resource``."""
    visible, hidden = views(bench, 1), hidden or views(bench, 0)
    for heap in (visible, hidden):
        bench.device.CreateUnorderedAccessView(buffer, None, desc, start(heap))
    commands = commands or bench.list
    if commands is bench.list:
        commands.SetDescriptorHeaps([visible])
    gpu = visible.GetGPUDescriptorHandleForHeapStart()
    commands.ClearUnorderedAccessViewUint(gpu, start(hidden), resource or buffer, [0, 0, 0, 0])


def typed(**fields):
    desc = dml.D3D12_UNORDERED_ACCESS_VIEW_DESC(dml.DXGI_FORMAT_R32_UINT, dml.D3D12_UAV_DIMENSION_BUFFER)
    desc.Buffer = dml.D3D12_BUFFER_UAV(NumElements=4, **fields)
    return desc


@tells("CLEARUNORDEREDACCESSVIEW_INVALID_RESOURCE_PTR")
def clearing_another_buffer(bench):
    clear(bench, bench.buffer(16, flags=UAV), typed(), bench.buffer(16, flags=UAV))


@tells("CLEARUNORDEREDACCESSVIEW_INCOMPATIBLE_WITH_STRUCTURED_BUFFERS")
def clearing_structures(bench):
    desc = typed(StructureByteStride=4)
    desc.Format = dml.DXGI_FORMAT_UNKNOWN
    clear(bench, bench.buffer(16, flags=UAV), desc)


@tells("INVALID_DESCRIPTOR_HANDLE")
def clearing_through_a_visible_heap(bench):
    clear(bench, bench.buffer(16, flags=UAV), typed(), hidden=views(bench, 1))


@tells("UNKNOWN")
def clearing_on_a_copy_list(bench):
    clear(bench, bench.buffer(16, flags=UAV), typed(), commands=list_of(bench, COPY))


def timestamps(bench):
    return bench.device.CreateQueryHeap(dml.D3D12_QUERY_HEAP_DESC(dml.D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 2))


@tells("BEGIN_END_QUERY_INVALID_PARAMETERS")
def beginning_a_timestamp(bench):
    bench.list.BeginQuery(timestamps(bench), TIMESTAMP, 0)


@tells("RESOLVE_QUERY_DATA_INVALID_PARAMETERS")
def resolving_to_an_odd_offset(bench):
    heap = timestamps(bench)
    bench.list.EndQuery(heap, TIMESTAMP, 0)
    bench.list.ResolveQueryData(heap, TIMESTAMP, 0, 1, bench.buffer(16), 4)


def write_immediate(bench, buffer, offset=0):
    parameter = dml.D3D12_WRITEBUFFERIMMEDIATE_PARAMETER(buffer.GetGPUVirtualAddress() + offset, 7)
    bench.list.WriteBufferImmediate(1, [parameter])


tells("WRITEBUFFERIMMEDIATE_INVALID_DEST")(lambda bench: write_immediate(bench, bench.upload(16)))
tells("WRITEBUFFERIMMEDIATE_INVALID_ALIGNMENT")(lambda bench: write_immediate(bench, bench.buffer(16), 2))


@tells("STRING_FROM_APPLICATION")
def a_message_of_the_program(bench):
    queue = bench.device.QueryInterface(dml.ID3D12InfoQueue)
    queue.AddApplicationMessage(dml.D3D12_MESSAGE_SEVERITY_INFO, "hello")


def live(bench, flags):
    """Reports what is alive, the object of interest last."""
    bench.device.QueryInterface(dml.ID3D12DebugDevice).ReportLiveDeviceObjects(flags)


tells("LIVE_DEVICE")(lambda bench: live(bench, dml.D3D12_RLDO_NONE))
tells("LIVE_OBJECT_SUMMARY")(lambda bench: live(bench, dml.D3D12_RLDO_SUMMARY))


def tells_of(name, create):
    """As ``tells``, for a live object of that kind."""

    def program(bench):
        kept = create(bench)
        live(bench, dml.D3D12_RLDO_DETAIL)
        return kept

    tells(f"LIVE_{name}")(program)


tells_of("COMMANDQUEUE", lambda bench: bench.new_queue())
tells_of("COMMANDALLOCATOR", lambda bench: bench.device.CreateCommandAllocator(COPY))
tells_of("COMMANDLIST12", lambda bench: bench.device.CreateCommandList1(0, DIRECT, 0))
tells_of("RESOURCE", lambda bench: bench.buffer(16))
tells_of("DESCRIPTORHEAP", lambda bench: views(bench, 0))
tells_of("MONITOREDFENCE", lambda bench: bench.device.CreateFence(0))
tells_of("QUERYHEAP", timestamps)
tells_of(
    "ROOTSIGNATURE",
    lambda bench: bench.device.CreateRootSignature(
        0, dml.D3D12SerializeRootSignature(dml.D3D12_ROOT_SIGNATURE_DESC(), 1)
    ),
)
tells_of(
    "HEAP",
    lambda bench: bench.device.CreateHeap(
        dml.CD3DX12_HEAP_DESC(1 << 16, dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_DEFAULT))
    ),
)
