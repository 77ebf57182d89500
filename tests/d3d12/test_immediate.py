"""WriteBufferImmediate: immediate values written to buffers."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from directml_py import d3d12
from directml_py.abi.hresult import DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s

from .conftest import Bench

Write = s.D3D12_WRITEBUFFERIMMEDIATE_PARAMETER
IN, OUT = e.D3D12_WRITEBUFFERIMMEDIATE_MODE_MARKER_IN, e.D3D12_WRITEBUFFERIMMEDIATE_MODE_MARKER_OUT


def words(buffer):
    return buffer.memory.view(np.uint32).tolist()


def test_values_are_written_in_list_order(bench):
    target, source = bench.readback(16), bench.upload(4)
    source.Map()[:] = 9
    at = target.GetGPUVirtualAddress()
    bench.list.WriteBufferImmediate(3, [Write(at + 4, 1), Write(at + 8, 2), Write(at + 8, 3)], [IN, OUT, 0])
    bench.list.CopyBufferRegion(target, 4, source, 0, 4)
    bench.list.WriteBufferImmediate([Write(at, 0xFFFFFFFF)])
    assert words(target) == [0, 0, 0, 0]
    bench.execute()
    assert words(target) == [0xFFFFFFFF, 0x09090909, 3, 0]


def test_arrays_of_c(bench):
    target = bench.buffer(8)
    at = target.GetGPUVirtualAddress()
    writes = (Write * 2)(Write(at, 1), Write(at + 4, 2))
    bench.list.WriteBufferImmediate(2, writes, (ctypes.c_int * 2)(IN, OUT))
    bench.list.WriteBufferImmediate(0, None)
    bench.execute()
    assert words(target) == [1, 2]


@pytest.mark.parametrize("kind", [e.D3D12_COMMAND_LIST_TYPE_COMPUTE, e.D3D12_COMMAND_LIST_TYPE_COPY])
def test_other_lists(kind):
    bench = Bench(kind)
    target = bench.buffer(4)
    bench.list.WriteBufferImmediate([Write(target.GetGPUVirtualAddress(), 7)])
    bench.execute()
    assert words(target) == [7]
    data = s.D3D12_FEATURE_DATA_D3D12_OPTIONS3()
    bench.device.CheckFeatureSupport(e.D3D12_FEATURE_D3D12_OPTIONS3, data)
    # One bit for each type of list, the type's number its place.
    assert data.WriteBufferImmediateSupportFlags >> kind & 1


def test_the_newest_of_aliasing_buffers_is_written(debug_bench):
    """The state of the other buffer does not matter."""
    device = debug_bench.device
    heap = device.CreateHeap(d3d12.CD3DX12_HEAP_DESC(65536, e.D3D12_HEAP_TYPE_DEFAULT))
    wide, narrow = (
        device.CreatePlacedResource(
            heap,
            0,
            d3d12.CD3DX12_RESOURCE_DESC.Buffer(size, e.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
            e.D3D12_RESOURCE_STATE_COMMON,
        )
        for size in (32, 8)
    )
    wide.SetName("wide")
    narrow.SetName("narrow")
    at = wide.GetGPUVirtualAddress()
    debug_bench.list.WriteBufferImmediate([Write(at + 4, 1), Write(at + 8, 2)])
    accesses = [access for command in debug_bench.list._recorded for access in command.accesses()]
    assert [access.range.buffer.name for access in accesses] == ["narrow", "wide"]


@pytest.mark.parametrize(
    ("offset", "heap", "text"),
    [
        (2, e.D3D12_HEAP_TYPE_DEFAULT, r"params\[0\].Dest is 0x[0-9A-F]+; it must be a multiple of 4"),
        (16, e.D3D12_HEAP_TYPE_DEFAULT, r"params\[0\].Dest is 0x[0-9A-F]+, where no buffer .* has 4 bytes"),
        (0, e.D3D12_HEAP_TYPE_UPLOAD, r"which must not be in a heap of type D3D12_HEAP_TYPE_UPLOAD"),
    ],
)
def test_invalid_destinations_make_the_list_invalid(bench, offset, heap, text):
    target = bench.buffer(16, heap)
    bench.list.WriteBufferImmediate([Write(target.GetGPUVirtualAddress() + offset, 1)])
    with pytest.raises(DMLError, match=f"WriteBufferImmediate: .*{text}"):
        bench.list.Close()


def test_a_released_buffer_is_not_a_destination(bench, collect):
    target = bench.buffer(16)
    at = target.GetGPUVirtualAddress()
    del target
    collect()
    bench.list.WriteBufferImmediate([Write(at, 1)])
    with pytest.raises(DMLError, match="no buffer of this device"):
        bench.list.Close()


@pytest.mark.parametrize(
    ("modes", "error"),
    [([3], r"modes\[0\]"), ([], "modes"), (ctypes.c_void_p(8), "modes")],
)
def test_wrong_modes(bench, modes, error):
    target = bench.buffer(16)
    with pytest.raises((DMLError, TypeError), match=error):
        bench.list.WriteBufferImmediate(1, [Write(target.GetGPUVirtualAddress(), 1)], modes)
    bench.list.Close()


def test_the_state_is_copy_dest(debug_bench, info_queue):
    info_queue.SetBreakOnSeverity(e.D3D12_MESSAGE_SEVERITY_ERROR, False)
    target = debug_bench.buffer(16)
    wrong = d3d12.CD3DX12_RESOURCE_BARRIER.Transition(
        target, e.D3D12_RESOURCE_STATE_COMMON, e.D3D12_RESOURCE_STATE_COPY_SOURCE
    )
    debug_bench.list.ResourceBarrier([wrong])
    debug_bench.list.WriteBufferImmediate([Write(target.GetGPUVirtualAddress(), 1)])
    debug_bench.list.Close()
    debug_bench.queue.ExecuteCommandLists([debug_bench.list])
    debug_bench.device.flush()
    assert info_queue.GetMessage(0).rule == "D3D12-ResourceState-mismatch"
    assert words(target)[0] == 1


@pytest.mark.parametrize(
    ("offset", "id"),
    [
        (2, e.D3D12_MESSAGE_ID_WRITEBUFFERIMMEDIATE_INVALID_ALIGNMENT),
        (8, e.D3D12_MESSAGE_ID_WRITEBUFFERIMMEDIATE_INVALID_DEST),
    ],
)
def test_message_ids_of_the_debug_layer(debug_bench, info_queue, offset, id):
    """The message ID is that of the first invalid destination."""
    info_queue.SetBreakOnSeverity(e.D3D12_MESSAGE_SEVERITY_ERROR, False)
    target = debug_bench.buffer(8)
    at = target.GetGPUVirtualAddress()
    debug_bench.list.WriteBufferImmediate([Write(at, 1), Write(at + offset, 1)])
    assert [info_queue.GetMessage(index).ID for index in range(info_queue.GetNumStoredMessages())] == [id]
