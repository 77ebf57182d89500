"""Device creation, feature queries, private data, and device removal."""

from __future__ import annotations

import ctypes

import pytest

from directml_py import d3d12
from directml_py.abi.hresult import (
    DXGI_ERROR_DEVICE_REMOVED,
    DXGI_ERROR_INVALID_CALL,
    DXGI_ERROR_NOT_FOUND,
    DXGI_ERROR_UNSUPPORTED,
    E_INVALIDARG,
    E_NOINTERFACE,
    E_NOTIMPL,
    S_OK,
    DMLError,
)
from directml_py.abi.interface import IUnknown
from directml_py.abi.wintypes import GUID
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s
from directml_py.api.iids import IID_ID3D12Device, IID_ID3D12Object
from directml_py.cffi import ffi

SOME_GUID = GUID("01234567-89ab-cdef-0123-456789abcdef")


@pytest.mark.parametrize(
    "level", ["1_0_GENERIC", "1_0_CORE", "11_0", "11_1", "12_0", "12_1"], ids=lambda name: name
)
def test_created_at_supported_levels(level):
    device = d3d12.D3D12CreateDevice(None, getattr(e, f"D3D_FEATURE_LEVEL_{level}"))
    assert device.GetDeviceRemovedReason() == S_OK
    assert device.GetNodeCount() == 1


@pytest.mark.parametrize(
    ("level", "hresult"),
    [
        (e.D3D_FEATURE_LEVEL_9_1, E_INVALIDARG),
        (e.D3D_FEATURE_LEVEL_10_1, E_INVALIDARG),
        (123, E_INVALIDARG),
        (e.D3D_FEATURE_LEVEL_12_2, DXGI_ERROR_UNSUPPORTED),
    ],
)
def test_refused_levels(level, hresult):
    with pytest.raises(DMLError, match="minimumFeatureLevel") as caught:
        d3d12.D3D12CreateDevice(None, level)
    assert caught.value.hresult == hresult


def test_wrong_python_types_of_create_device():
    with pytest.raises(TypeError, match="adapter"):
        d3d12.D3D12CreateDevice("gpu")
    with pytest.raises(TypeError, match="minimumFeatureLevel"):
        d3d12.D3D12CreateDevice(None, "11_0")


def test_query_interface(bench):
    device = bench.device
    assert device.QueryInterface(d3d12.ID3D12Device) is device
    assert device.QueryInterface(IID_ID3D12Device) is device
    assert device.QueryInterface(IID_ID3D12Object) is device
    for absent in (d3d12.ID3D12Resource, d3d12.ID3D12InfoQueue, SOME_GUID):
        with pytest.raises(DMLError) as caught:
            device.QueryInterface(absent)
        assert caught.value.hresult == E_NOINTERFACE


def test_children_know_their_device_and_bases(bench):
    fence = bench.device.CreateFence(0)
    assert fence.GetDevice() is bench.device
    for child in (fence, bench.queue, bench.allocator, bench.buffer(4)):
        assert child.QueryInterface(d3d12.ID3D12Pageable) is child
    with pytest.raises(DMLError):
        bench.list.QueryInterface(d3d12.ID3D12Pageable)
    assert bench.list.QueryInterface(d3d12.ID3D12CommandList) is bench.list
    assert bench.list.QueryInterface(d3d12.ID3D12DeviceChild) is bench.list


def test_handles_find_live_objects_only(bench, collect):
    resource, other = bench.buffer(4), bench.buffer(4)
    handle = resource.handle
    assert handle != other.handle
    assert d3d12.ID3D12Resource.from_handle(handle) is resource
    assert d3d12.ID3D12Fence.from_handle(handle) is None
    del resource
    collect()
    assert IUnknown.from_handle(handle) is None


class TestFeatures:
    def test_architecture_is_that_of_a_discrete_adapter(self, bench):
        data = s.D3D12_FEATURE_DATA_ARCHITECTURE(UMA=7, CacheCoherentUMA=7)
        bench.device.CheckFeatureSupport(e.D3D12_FEATURE_ARCHITECTURE, data, ctypes.sizeof(data))
        assert (data.NodeIndex, data.UMA, data.CacheCoherentUMA) == (0, 0, 0)

    def test_highest_requested_level_up_to_the_devices(self, bench):
        levels = [e.D3D_FEATURE_LEVEL_11_0, e.D3D_FEATURE_LEVEL_12_2, e.D3D_FEATURE_LEVEL_12_0]
        data = s.D3D12_FEATURE_DATA_FEATURE_LEVELS(pFeatureLevelsRequested=levels)
        assert data.NumFeatureLevels == 3
        bench.device.CheckFeatureSupport(e.D3D12_FEATURE_FEATURE_LEVELS, ctypes.byref(data))
        assert data.MaxSupportedFeatureLevel == e.D3D_FEATURE_LEVEL_12_0
        assert list(data.pFeatureLevelsRequested[:3]) == levels
        data.pFeatureLevelsRequested[1] = e.D3D_FEATURE_LEVEL_12_1
        bench.device.CheckFeatureSupport(e.D3D12_FEATURE_FEATURE_LEVELS, ctypes.byref(data))
        assert data.MaxSupportedFeatureLevel == e.D3D_FEATURE_LEVEL_12_1

    def test_no_requested_level(self, bench):
        data = s.D3D12_FEATURE_DATA_FEATURE_LEVELS()
        with pytest.raises(DMLError, match="pFeatureLevelsRequested"):
            bench.device.CheckFeatureSupport(e.D3D12_FEATURE_FEATURE_LEVELS, data)
        data = s.D3D12_FEATURE_DATA_FEATURE_LEVELS(NumFeatureLevels=4, pFeatureLevelsRequested=0x1000)
        with pytest.raises(DMLError, match="pFeatureLevelsRequested"):
            bench.device.CheckFeatureSupport(e.D3D12_FEATURE_FEATURE_LEVELS, data)

    @pytest.mark.parametrize(
        ("asked", "answered"),
        [
            (e.D3D_SHADER_MODEL_6_0, e.D3D_SHADER_MODEL_6_0),
            (e.D3D_SHADER_MODEL_6_8, e.D3D_SHADER_MODEL_6_6),
        ],
    )
    def test_shader_model_is_at_most_what_was_asked(self, bench, asked, answered):
        data = s.D3D12_FEATURE_DATA_SHADER_MODEL(HighestShaderModel=asked)
        bench.device.CheckFeatureSupport(e.D3D12_FEATURE_SHADER_MODEL, ctypes.pointer(data))
        assert data.HighestShaderModel == answered

    def test_unknown_shader_model(self, bench):
        data = s.D3D12_FEATURE_DATA_SHADER_MODEL(HighestShaderModel=0x7777)
        with pytest.raises(DMLError) as caught:
            bench.device.CheckFeatureSupport(e.D3D12_FEATURE_SHADER_MODEL, data)
        assert caught.value.hresult == E_INVALIDARG
        assert data.HighestShaderModel == 0x7777

    def test_options(self, bench):
        data = s.D3D12_FEATURE_DATA_D3D12_OPTIONS(TiledResourcesTier=3)
        bench.device.CheckFeatureSupport(e.D3D12_FEATURE_D3D12_OPTIONS, data)
        assert data.TiledResourcesTier == e.D3D12_TILED_RESOURCES_TIER_NOT_SUPPORTED
        assert data.ResourceHeapTier == e.D3D12_RESOURCE_HEAP_TIER_2
        assert data.MaxGPUVirtualAddressBitsPerResource == 40
        bits = s.D3D12_FEATURE_DATA_GPU_VIRTUAL_ADDRESS_SUPPORT()
        bench.device.CheckFeatureSupport(e.D3D12_FEATURE_GPU_VIRTUAL_ADDRESS_SUPPORT, bits)
        assert (bits.MaxGPUVirtualAddressBitsPerResource, bits.MaxGPUVirtualAddressBitsPerProcess) == (40, 40)
        half = s.D3D12_FEATURE_DATA_D3D12_OPTIONS4()
        bench.device.CheckFeatureSupport(e.D3D12_FEATURE_D3D12_OPTIONS4, half)
        assert half.Native16BitShaderOpsSupported == 1

    def test_queue_priority_keeps_what_was_asked(self, bench):
        data = s.D3D12_FEATURE_DATA_COMMAND_QUEUE_PRIORITY(
            CommandListType=e.D3D12_COMMAND_LIST_TYPE_COMPUTE, Priority=100
        )
        bench.device.CheckFeatureSupport(e.D3D12_FEATURE_COMMAND_QUEUE_PRIORITY, data)
        assert (data.CommandListType, data.Priority, data.PriorityForTypeIsSupported) == (2, 100, 1)

    def test_a_cffi_struct_is_filled_in_place(self, bench):
        data = ffi.new("D3D12_FEATURE_DATA_D3D12_OPTIONS1 *")
        bench.device.CheckFeatureSupport(e.D3D12_FEATURE_D3D12_OPTIONS1, data)
        assert (data.WaveOps, data.Int64ShaderOps, data.ExpandedComputeResourceStates) == (1, 1, 0)
        # Four numbers at a time, as WARP.
        assert (data.WaveLaneCountMin, data.WaveLaneCountMax, data.TotalLaneCount) == (4, 4, 4)

    def test_every_answer_fits_its_struct(self, bench):
        """A struct of another feature is rejected and left unchanged."""
        data = s.D3D12_FEATURE_DATA_ROOT_SIGNATURE(HighestVersion=1)
        with pytest.raises(TypeError, match="D3D12_FEATURE_DATA_ARCHITECTURE"):
            bench.device.CheckFeatureSupport(e.D3D12_FEATURE_ARCHITECTURE, data)
        with pytest.raises(DMLError, match="size"):
            bench.device.CheckFeatureSupport(e.D3D12_FEATURE_ROOT_SIGNATURE, data, 8)
        with pytest.raises(TypeError, match="bare address"):
            bench.device.CheckFeatureSupport(e.D3D12_FEATURE_ROOT_SIGNATURE, ctypes.addressof(data))
        with pytest.raises(DMLError, match="data is null"):
            bench.device.CheckFeatureSupport(e.D3D12_FEATURE_ROOT_SIGNATURE, None)
        assert data.HighestVersion == 1

    def test_unanswered_features(self, bench):
        data = s.D3D12_FEATURE_DATA_ROOT_SIGNATURE()
        with pytest.raises(DMLError, match="D3D12_FEATURE_SHADER_CACHE") as caught:
            bench.device.CheckFeatureSupport(e.D3D12_FEATURE_SHADER_CACHE, data)
        assert caught.value.hresult == E_NOTIMPL
        with pytest.raises(DMLError, match="feature") as caught:
            bench.device.CheckFeatureSupport(9999, data)
        assert caught.value.hresult == E_INVALIDARG

    def test_a_second_node_is_not_there(self, bench):
        with pytest.raises(DMLError, match="NodeIndex"):
            bench.device.CheckFeatureSupport(
                e.D3D12_FEATURE_ARCHITECTURE1, s.D3D12_FEATURE_DATA_ARCHITECTURE1(NodeIndex=1)
            )


class TestPrivateData:
    def test_round_trip(self, bench):
        bench.device.SetPrivateData(SOME_GUID, 3, b"abcdef")
        assert bench.device.GetPrivateData(SOME_GUID) == b"abc"
        bench.device.SetPrivateData(GUID(str(SOME_GUID)), b"longer")
        assert bench.device.GetPrivateData(SOME_GUID) == b"longer"

    @pytest.mark.parametrize("removal", [(0, None), (None,)])
    def test_removal_and_absence(self, bench, removal):
        bench.device.SetPrivateData(SOME_GUID, b"x")
        bench.device.SetPrivateData(SOME_GUID, *removal)
        with pytest.raises(DMLError) as caught:
            bench.device.GetPrivateData(SOME_GUID)
        assert caught.value.hresult == DXGI_ERROR_NOT_FOUND

    def test_interfaces_are_kept_alive(self, bench, collect):
        bench.device.SetPrivateDataInterface(SOME_GUID, bench.device.CreateFence(5))
        collect()
        assert bench.device.GetPrivateData(SOME_GUID).GetCompletedValue() == 5

    def test_names(self, bench):
        bench.list.SetName("upload π")
        stored = bench.list.GetPrivateData(d3d12.WKPDID_D3DDebugObjectNameW)
        assert stored == "upload π".encode("utf-16-le")
        assert bench.list.name == "upload π"
        assert "upload π" in str(bench.list)
        with pytest.raises(TypeError, match="name"):
            bench.list.SetName(b"bytes")

    def test_a_mutated_guid_does_not_move_the_data(self, bench):
        key = GUID(str(SOME_GUID))
        bench.device.SetPrivateData(key, b"x")
        key.Data1 = 0
        assert bench.device.GetPrivateData(SOME_GUID) == b"x"

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            (("guid", 1, b"a"), TypeError),
            ((SOME_GUID, 2, b"a"), DMLError),
            ((SOME_GUID, 2, None), DMLError),
            ((SOME_GUID, 1, "a"), TypeError),
            ((SOME_GUID, -1, b"a"), DMLError),
        ],
    )
    def test_bad_arguments_change_nothing(self, bench, arguments, error):
        bench.device.SetPrivateData(SOME_GUID, b"kept")
        with pytest.raises(error):
            bench.device.SetPrivateData(*arguments)
        assert bench.device.GetPrivateData(SOME_GUID) == b"kept"


class TestRemoval:
    @pytest.fixture
    def removed(self, bench):
        """A bench whose device was removed by executing an open list."""
        bench.fence = bench.device.CreateFence(3)
        bench.default = bench.buffer(16)
        bench.upload_buffer = bench.upload(16)
        bench.queue.ExecuteCommandLists([bench.list])
        return bench

    def test_reason(self, removed):
        assert removed.device.GetDeviceRemovedReason() == DXGI_ERROR_INVALID_CALL

    def test_hresult_methods_say_so(self, removed):
        device, heap_desc = removed.device, d3d12.CD3DX12_HEAP_DESC(65536, 1)
        buffer_desc = d3d12.CD3DX12_RESOURCE_DESC.Buffer(4)
        calls = [
            lambda: device.CreateCommandQueue(s.D3D12_COMMAND_QUEUE_DESC()),
            lambda: device.CreateCommandAllocator(0),
            lambda: device.CreateCommandList(0, 0, removed.allocator),
            lambda: device.CreateDescriptorHeap(s.D3D12_DESCRIPTOR_HEAP_DESC(NumDescriptors=1)),
            lambda: device.CreateCommittedResource(d3d12.CD3DX12_HEAP_PROPERTIES(), 0, buffer_desc, 0),
            lambda: device.CreateHeap(heap_desc),
            lambda: device.CreateFence(0),
            lambda: device.CheckFeatureSupport(1, s.D3D12_FEATURE_DATA_ARCHITECTURE()),
            removed.allocator.Reset,
            removed.list.Close,
            lambda: removed.list.Reset(removed.allocator),
            lambda: removed.queue.Signal(removed.fence, 9),
            lambda: removed.queue.Wait(removed.fence, 9),
            lambda: removed.fence.Signal(9),
            removed.upload_buffer.Map,
        ]
        for call in calls:
            with pytest.raises(DMLError, match=r"removed \(DXGI_ERROR_INVALID_CALL\).*not closed") as caught:
                call()
            assert caught.value.hresult == DXGI_ERROR_DEVICE_REMOVED

    def test_void_methods_do_nothing(self, removed):
        removed.list.CopyResource(removed.default, removed.upload_buffer)
        removed.list.ResourceBarrier(1, d3d12.CD3DX12_RESOURCE_BARRIER.UAV(None))
        removed.list.SetDescriptorHeaps(0, [])
        removed.queue.ExecuteCommandLists([removed.list])
        assert removed.list.errors == []

    def test_fences_are_complete(self, removed):
        assert removed.fence.GetCompletedValue() == 0xFFFFFFFFFFFFFFFF
        removed.fence.SetEventOnCompletion(1000, None)

    def test_other_devices_live_on(self, removed):
        assert d3d12.D3D12CreateDevice().CreateFence(1).GetCompletedValue() == 1

    def test_memory_can_still_be_looked_at(self, removed):
        assert removed.default.array().tolist() == [0] * 16


def test_allocation_info_rounds_each_buffer_to_64_kib(bench):
    descs = [d3d12.CD3DX12_RESOURCE_DESC.Buffer(size) for size in (1, 65536, 65537)]
    info = bench.device.GetResourceAllocationInfo(0, 3, descs)
    assert (info.SizeInBytes, info.Alignment) == (65536 * 4, 65536)
    descs[1].Height = 2
    assert bench.device.GetResourceAllocationInfo(0, 3, descs).SizeInBytes == 0xFFFFFFFFFFFFFFFF
    assert bench.device.GetResourceAllocationInfo(0, 1, descs).SizeInBytes == 65536


def test_custom_heap_properties(bench):
    found = bench.device.GetCustomHeapProperties(0, e.D3D12_HEAP_TYPE_UPLOAD)
    assert (found.Type, found.CPUPageProperty, found.MemoryPoolPreference) == (
        e.D3D12_HEAP_TYPE_CUSTOM,
        e.D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE,
        e.D3D12_MEMORY_POOL_L0,
    )
    with pytest.raises(DMLError, match="heapType"):
        bench.device.GetCustomHeapProperties(0, e.D3D12_HEAP_TYPE_CUSTOM)


def test_what_callers_in_c_cannot_catch(bench, debug_bench):
    """A failed void call removes the device; a failed query does not, nor does any later call."""
    for device, said in ((bench.device, False), (debug_bench.device, True)):
        if said:
            device.QueryInterface(d3d12.ID3D12InfoQueue).SetBreakOnSeverity(
                e.D3D12_MESSAGE_SEVERITY_ERROR, False
            )
        assert device.fail_call("GetDescriptorHandleIncrementSize", "type is 99") is False
        assert device.GetDeviceRemovedReason() == S_OK
        assert device.fail_call("CopyDescriptors", "numSrcDescriptorRanges is 1") is said
        assert device.GetDeviceRemovedReason() == DXGI_ERROR_INVALID_CALL
        assert device.fail_call("CopyDescriptors", "numSrcDescriptorRanges is 2") is False
