"""Newer interface versions: which objects implement them, and what they add."""

from __future__ import annotations

import threading

import pytest

from directml_py import d3d12
from directml_py.abi.hresult import (
    DXGI_ERROR_DEVICE_REMOVED,
    DXGI_ERROR_INVALID_CALL,
    E_INVALIDARG,
    E_NOINTERFACE,
    E_NOTIMPL,
    DMLError,
)
from directml_py.abi.interface import IUnknown
from directml_py.abi.wintypes import GUID
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s

from .conftest import Bench

DIRECT = e.D3D12_COMMAND_LIST_TYPE_DIRECT
DEFAULT = d3d12.CD3DX12_HEAP_PROPERTIES()
ANY, ALL = e.D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY, e.D3D12_MULTIPLE_FENCE_WAIT_FLAG_ALL


def newer_desc(width, **region):
    older = d3d12.CD3DX12_RESOURCE_DESC.Buffer(width)
    fields = {name: getattr(older, name) for name, _ in s.D3D12_RESOURCE_DESC._fields_}
    return s.D3D12_RESOURCE_DESC1(**fields, SamplerFeedbackMipRegion=s.D3D12_MIP_REGION(**region))


def objects(bench):
    heap = bench.device.CreateHeap(d3d12.CD3DX12_HEAP_DESC(65536, e.D3D12_HEAP_TYPE_DEFAULT))
    return {
        "Device": (bench.device, 9),
        "GraphicsCommandList": (bench.list, 4),
        "Resource": (bench.buffer(16), 2),
        "Fence": (bench.device.CreateFence(0), 1),
        "Heap": (heap, 1),
        "InfoQueue": (bench.device.QueryInterface(d3d12.ID3D12InfoQueue), 1),
    }


@pytest.mark.parametrize("name", ["Device", "GraphicsCommandList", "Resource", "Fence", "Heap", "InfoQueue"])
def test_every_version_is_one_object(debug_bench, name):
    item, newest = objects(debug_bench)[name]
    for number in ["", *range(1, newest + 1)]:
        assert item.QueryInterface(getattr(d3d12, f"ID3D12{name}{number}")) is item
    if name != "InfoQueue":
        assert str(item) == f"ID3D12{name}"


def test_debug_interfaces(debug_bench):
    debug = d3d12.D3D12GetDebugInterface()
    for kind in (d3d12.ID3D12Debug, d3d12.ID3D12Debug3, d3d12.ID3D12Debug4):
        assert debug.QueryInterface(kind) is debug
    for kind in (d3d12.ID3D12Debug1, d3d12.ID3D12Debug2):
        aside = debug.QueryInterface(kind)
        assert type(aside) is kind
        assert aside.QueryInterface(d3d12.ID3D12Debug3) is aside.identity is debug
    debug.DisableDebugLayer()
    plain = d3d12.D3D12CreateDevice()
    debug.QueryInterface(d3d12.ID3D12Debug1).EnableDebugLayer()
    watched = d3d12.D3D12CreateDevice()
    assert not plain.removed
    for kind in (d3d12.ID3D12InfoQueue1, d3d12.ID3D12DebugDevice):
        assert watched.QueryInterface(kind).QueryInterface(d3d12.ID3D12Device5) is watched
        with pytest.raises(DMLError) as caught:
            plain.QueryInterface(kind)
        assert caught.value.hresult == E_NOINTERFACE
    debug.SetGPUBasedValidationFlags(e.D3D12_GPU_BASED_VALIDATION_FLAGS_NONE)
    with pytest.raises(DMLError, match="flags"):
        debug.SetGPUBasedValidationFlags(8)


def test_settings_of_removed_devices():
    kinds = [getattr(d3d12, f"ID3D12DeviceRemovedExtendedDataSettings{number}") for number in ("", 1, 2)]
    for kind in kinds:
        settings = d3d12.D3D12GetDebugInterface(kind)
        assert isinstance(settings, kind)
        assert all(isinstance(settings.QueryInterface(other), other) for other in kinds)
        assert settings.QueryInterface(IUnknown) is settings.QueryInterface(d3d12.ID3D12Debug)
    settings.SetAutoBreadcrumbsEnablement(e.D3D12_DRED_ENABLEMENT_FORCED_ON)
    settings.SetBreadcrumbContextEnablement(e.D3D12_DRED_ENABLEMENT_FORCED_OFF)
    settings.UseMarkersOnlyAutoBreadcrumbs(True)
    for change in (settings.SetPageFaultEnablement, settings.SetWatsonDumpEnablement):
        change(e.D3D12_DRED_ENABLEMENT_SYSTEM_CONTROLLED)
        with pytest.raises(DMLError, match="enablement"):
            change(3)
    debug = d3d12.D3D12GetDebugInterface()
    assert debug.QueryInterface(IUnknown) is debug
    with pytest.raises(DMLError) as caught:
        d3d12.D3D12GetDebugInterface(d3d12.ID3D12Device)
    assert caught.value.hresult == E_NOINTERFACE


def test_stable_power_is_taken(bench):
    bench.device.SetStablePowerState(True)
    bench.device.RemoveDevice()
    with pytest.raises(DMLError):
        bench.device.SetStablePowerState(False)


def test_the_mask_of_a_debug_device(debug_bench):
    debug = debug_bench.device.QueryInterface(d3d12.ID3D12DebugDevice)
    assert debug.GetFeatureMask() == 0
    debug.SetFeatureMask(e.D3D12_DEBUG_FEATURE_CONSERVATIVE_RESOURCE_STATE_TRACKING)
    again = debug_bench.device.QueryInterface(d3d12.ID3D12DebugDevice)
    assert again.GetFeatureMask() == e.D3D12_DEBUG_FEATURE_CONSERVATIVE_RESOURCE_STATE_TRACKING
    with pytest.raises(DMLError, match="mask"):
        debug.SetFeatureMask(1 << 20)


class TestMessageCallbacks:
    def test_they_receive_stored_messages(self, debug_bench):
        queue = debug_bench.device.QueryInterface(d3d12.ID3D12InfoQueue1)
        heard = []
        cookie = queue.RegisterMessageCallback(lambda *message: heard.append(message), 0, "mine")
        queue.AddApplicationMessage(e.D3D12_MESSAGE_SEVERITY_INFO, "one")
        stored = queue.GetMessage(0)
        assert heard == [(stored.Category, e.D3D12_MESSAGE_SEVERITY_INFO, stored.ID, "one", "mine")]
        queue.UnregisterMessageCallback(cookie)
        queue.AddApplicationMessage(e.D3D12_MESSAGE_SEVERITY_INFO, "two")
        assert len(heard) == 1
        with pytest.raises(DMLError, match="callbackCookie"):
            queue.UnregisterMessageCallback(cookie)

    def test_filters_may_be_ignored(self, debug_bench):
        queue = debug_bench.device.QueryInterface(d3d12.ID3D12InfoQueue1)
        heard = {0: [], 1: []}
        for flags, texts in heard.items():
            queue.RegisterMessageCallback(lambda c, s, i, text, texts: texts.append(text), flags, texts)
        deny = s.D3D12_INFO_QUEUE_FILTER()
        deny.DenyList = s.D3D12_INFO_QUEUE_FILTER_DESC(pSeverityList=[e.D3D12_MESSAGE_SEVERITY_INFO])
        queue.PushStorageFilter(deny)
        queue.AddApplicationMessage(e.D3D12_MESSAGE_SEVERITY_INFO, "denied")
        queue.AddApplicationMessage(e.D3D12_MESSAGE_SEVERITY_WARNING, "stored")
        assert heard == {0: ["stored"], 1: ["denied", "stored"]}

    def test_filters_hold_unless_it_is_said(self, debug_bench):
        queue = debug_bench.device.QueryInterface(d3d12.ID3D12InfoQueue1)
        heard = []
        queue.RegisterMessageCallback(lambda category, severity, id, text, context: heard.append(text))
        deny = s.D3D12_INFO_QUEUE_FILTER()
        deny.DenyList = s.D3D12_INFO_QUEUE_FILTER_DESC(pSeverityList=[e.D3D12_MESSAGE_SEVERITY_INFO])
        queue.PushStorageFilter(deny)
        queue.AddApplicationMessage(e.D3D12_MESSAGE_SEVERITY_INFO, "denied")
        assert heard == []

    def test_wrong_arguments(self, debug_bench):
        queue = debug_bench.device.QueryInterface(d3d12.ID3D12InfoQueue1)
        with pytest.raises(TypeError, match="callbackFunc"):
            queue.RegisterMessageCallback(None)
        with pytest.raises(DMLError, match="callbackFilterFlags"):
            queue.RegisterMessageCallback(print, 2)


class TestSeveralFences:
    def fences(self, bench):
        return [bench.device.CreateFence(0) for _ in range(2)]

    @pytest.mark.parametrize(("flags", "after_one"), [(ALL, False), (ANY, True)])
    def test_an_event(self, bench, flags, after_one):
        fences, event = self.fences(bench), threading.Event()
        bench.device.SetEventOnMultipleFenceCompletion(fences, [2, 3], 2, flags, event)
        fences[1].Signal(2)
        assert not event.is_set()
        fences[1].Signal(3)
        assert event.is_set() == after_one
        fences[1].Signal(4)
        assert event.is_set() == after_one
        bench.queue.Signal(fences[0], 2)
        assert event.is_set()

    def test_waiting(self, debug_bench):
        """Under the debug layer, the wait lets work run."""
        fences = self.fences(debug_bench)
        for fence in fences:
            debug_bench.queue.Signal(fence, 1)
        debug_bench.device.SetEventOnMultipleFenceCompletion(fences, [1, 1], 2, ALL)
        assert [fence.value for fence in fences] == [1, 1]

    def test_wrong_arguments(self, bench):
        fences, wait = self.fences(bench), bench.device.SetEventOnMultipleFenceCompletion
        for arguments, said in (
            ((fences, [1], 2, ALL), "fenceValues"),
            ((fences, [1, 1], 3, ALL), "fenceValues"),
            (([fences[0]], [1, 1], 2, ALL), "numFences"),
            (([], [], 0, ALL), "numFences must not be 0"),
            ((fences, [1, 1], 2, 2), "flags"),
            ((Bench().device.CreateFence(0), [1], 1, ALL), "belongs to another device"),
        ):
            with pytest.raises(DMLError, match=said):
                wait(*arguments, threading.Event())


def test_creation_flags_of_a_fence(bench):
    shared = e.D3D12_FENCE_FLAG_SHARED
    assert bench.device.CreateFence(0, shared).GetCreationFlags() == shared
    assert bench.device.CreateFence(0).GetCreationFlags() == 0


def test_residency(bench):
    buffer, fence = bench.buffer(16), bench.device.CreateFence(0)
    bench.device.MakeResident([buffer, fence])
    bench.device.Evict(1, [buffer])
    bench.device.SetResidencyPriority(1, [buffer], [e.D3D12_RESIDENCY_PRIORITY_HIGH])
    bench.device.EnqueueMakeResident(e.D3D12_RESIDENCY_FLAG_NONE, 1, [buffer], fence, 5)
    assert fence.GetCompletedValue() == 5
    with pytest.raises(TypeError, match=r"objects\[1\]"):
        bench.device.MakeResident(2, [buffer, None])
    with pytest.raises(DMLError, match=r"objects\[0\] belongs to another device"):
        bench.device.EnqueueMakeResident(0, 1, [Bench().buffer(4)], fence, 6)
    assert fence.GetCompletedValue() == 5


class TestListsWithoutAllocators:
    def test_they_are_reset_first(self, bench):
        commands = bench.device.CreateCommandList1(0, DIRECT, e.D3D12_COMMAND_LIST_FLAG_NONE)
        with pytest.raises(DMLError, match="closed already"):
            commands.Close()
        allocator = bench.device.CreateCommandAllocator(DIRECT)
        allocator.Reset()
        commands.Reset(allocator)
        target, source = bench.readback(4), bench.upload(4)
        source.Map()[:] = 3
        commands.CopyResource(target, source)
        with pytest.raises(DMLError, match="recording"):
            allocator.Reset()
        commands.Close()
        bench.queue.ExecuteCommandLists([commands])
        assert target.array().tolist() == [3] * 4

    def test_running_one_that_was_not(self, bench):
        bench.queue.ExecuteCommandLists([bench.device.CreateCommandList1(0, DIRECT)])
        assert bench.device.GetDeviceRemovedReason() == DXGI_ERROR_INVALID_CALL

    def test_wrong_arguments(self, bench):
        for arguments, said in (((2, DIRECT), "nodeMask"), ((0, 99), "type"), ((0, DIRECT, 1), "flags")):
            with pytest.raises(DMLError, match=said):
                bench.device.CreateCommandList1(*arguments)


class TestNewerDescs:
    def test_resources(self, bench):
        heap = bench.device.CreateHeap1(d3d12.CD3DX12_HEAP_DESC(1 << 17, e.D3D12_HEAP_TYPE_DEFAULT))
        made = [
            bench.device.CreateCommittedResource1(DEFAULT, 0, d3d12.CD3DX12_RESOURCE_DESC.Buffer(100), 0),
            bench.device.CreateCommittedResource2(DEFAULT, 0, newer_desc(100), 0),
            bench.device.CreatePlacedResource1(heap, 1 << 16, newer_desc(100), 0),
        ]
        for buffer in made:
            older, newer = buffer.GetDesc(), buffer.GetDesc1()
            assert (older.Width, older.Alignment) == (100, 65536)
            for name, _ in s.D3D12_RESOURCE_DESC._fields_:
                if name != "SampleDesc":
                    assert getattr(newer, name) == getattr(older, name), name
            assert newer.SampleDesc.Count == 1
            assert bytes(newer.SamplerFeedbackMipRegion) == bytes(12)
        assert bench.device.GetCopyableFootprints1(newer_desc(100), 0, 1, 0)[3] == 100

    def test_what_they_refuse(self, bench):
        with pytest.raises(DMLError, match="SamplerFeedbackMipRegion") as caught:
            bench.device.CreateCommittedResource2(DEFAULT, 0, newer_desc(100, Width=4), 0)
        assert caught.value.hresult == E_INVALIDARG
        with pytest.raises(DMLError, match="protectedSession") as caught:
            bench.device.CreateHeap1(d3d12.CD3DX12_HEAP_DESC(1 << 17, e.D3D12_HEAP_TYPE_DEFAULT), "session")
        assert caught.value.hresult == E_NOTIMPL

    def test_allocation(self, bench):
        older = [d3d12.CD3DX12_RESOURCE_DESC.Buffer(width) for width in (65537, 1)]
        newer = [newer_desc(65537), newer_desc(1)]
        for whole, parts in (
            bench.device.GetResourceAllocationInfo1(0, 2, older),
            bench.device.GetResourceAllocationInfo2(0, 2, newer),
        ):
            assert (whole.SizeInBytes, whole.Alignment) == (3 * 65536, 65536)
            assert [(p.Offset, p.SizeInBytes) for p in parts] == [(0, 2 * 65536), (2 * 65536, 65536)]
        whole, parts = bench.device.GetResourceAllocationInfo1(0, 1, [d3d12.CD3DX12_RESOURCE_DESC.Buffer(0)])
        assert whole.SizeInBytes == parts[0].SizeInBytes == (1 << 64) - 1


def test_remove_device(bench):
    fence = bench.device.CreateFence(0)
    bench.device.RemoveDevice()
    assert bench.device.GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_REMOVED
    assert fence.GetCompletedValue() == (1 << 64) - 1


def test_queues_of_a_creator(bench):
    desc = s.D3D12_COMMAND_QUEUE_DESC(Type=e.D3D12_COMMAND_LIST_TYPE_COMPUTE)
    queue = bench.device.CreateCommandQueue1(desc, GUID("00000000-0000-0000-c000-000000000046"))
    assert queue.GetDesc().Type == e.D3D12_COMMAND_LIST_TYPE_COMPUTE


def test_there_are_no_reserved_resources(bench):
    """Programs query for support before they create them."""
    options = s.D3D12_FEATURE_DATA_D3D12_OPTIONS(TiledResourcesTier=3)
    bench.device.CheckFeatureSupport(e.D3D12_FEATURE_D3D12_OPTIONS, options)
    assert options.TiledResourcesTier == e.D3D12_TILED_RESOURCES_TIER_NOT_SUPPORTED
