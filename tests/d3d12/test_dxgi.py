"""DXGI: adapter enumeration, adapter descriptions, and devices on adapters."""

from __future__ import annotations

import ctypes
import os

import pytest

import directml_py as dml
from directml_py.abi.hresult import (
    DXGI_ERROR_NOT_FOUND,
    DXGI_ERROR_UNSUPPORTED,
    E_INVALIDARG,
    E_NOINTERFACE,
    DMLError,
)

FACTORIES = ["IDXGIFactory", *(f"IDXGIFactory{n}" for n in range(1, 7))]
ADAPTERS = ["IDXGIAdapter", *(f"IDXGIAdapter{n}" for n in range(1, 5))]
LOCAL, NON_LOCAL = dml.DXGI_MEMORY_SEGMENT_GROUP_LOCAL, dml.DXGI_MEMORY_SEGMENT_GROUP_NON_LOCAL
SOME_GUID = dml.GUID("01234567-89ab-cdef-0123-456789abcdef")
IID_IDXGIDevice = dml.GUID("54ec77fa-1377-44e6-8c32-88fd5f44c84c")


def refused(hresult, call, *arguments):
    with pytest.raises(DMLError) as caught:
        call(*arguments)
    assert caught.value.hresult == hresult


@pytest.fixture
def factory():
    return dml.CreateDXGIFactory2(0)


@pytest.fixture
def adapter(factory):
    return factory.EnumAdapters1(0)


@pytest.mark.parametrize("create", [dml.CreateDXGIFactory, dml.CreateDXGIFactory1, dml.CreateDXGIFactory2])
def test_factories_have_every_interface(create):
    factory = create()
    for name in [*FACTORIES, "IDXGIObject", "IUnknown"]:
        kind = getattr(dml, name)
        assert factory.QueryInterface(kind.IID) is factory
        assert isinstance(factory, kind)
        assert isinstance(create(riid=kind.IID), kind)
    refused(E_NOINTERFACE, factory.QueryInterface, dml.IDXGIAdapter.IID)
    with pytest.raises(DMLError, match="IDXGIFactory6 has no interface"):
        create(riid=dml.IDXGIAdapter.IID)
    assert factory.IsCurrent()
    assert not factory.IsWindowedStereoEnabled()


def test_creation_flags():
    assert dml.CreateDXGIFactory1().GetCreationFlags() == 0
    assert dml.CreateDXGIFactory2(dml.DXGI_CREATE_FACTORY_DEBUG).GetCreationFlags() == 1
    refused(E_INVALIDARG, dml.CreateDXGIFactory2, 2)


def test_one_adapter_is_listed(factory):
    """The loop of nf-dxgi-idxgifactory-enumadapters ends after one."""
    for enumerate_ in (
        factory.EnumAdapters,
        factory.EnumAdapters1,
        lambda index: factory.EnumAdapterByGpuPreference(index, dml.DXGI_GPU_PREFERENCE_HIGH_PERFORMANCE),
    ):
        adapter = enumerate_(0)
        for name in [*ADAPTERS, "IDXGIObject", "IUnknown"]:
            assert adapter.QueryInterface(getattr(dml, name).IID) is adapter
        refused(DXGI_ERROR_NOT_FOUND, enumerate_, 1)
        refused(DXGI_ERROR_NOT_FOUND, enumerate_, 2**32 - 1)
        refused(E_INVALIDARG, enumerate_, -1)
    refused(E_INVALIDARG, factory.EnumAdapterByGpuPreference, 0, 3)
    with pytest.raises(TypeError, match="Adapter"):
        factory.EnumAdapters("first")


def test_parents(factory, adapter):
    assert adapter.GetParent() is factory
    refused(DXGI_ERROR_NOT_FOUND, factory.GetParent)


def test_no_outputs(adapter):
    refused(DXGI_ERROR_NOT_FOUND, adapter.EnumOutputs, 0)


def test_descriptions_agree(adapter):
    descs = [adapter.GetDesc(), adapter.GetDesc1(), adapter.GetDesc2(), adapter.GetDesc3()]
    common = [name for name, _ in dml.DXGI_ADAPTER_DESC._fields_ if name != "AdapterLuid"]
    for desc in descs:
        assert desc.Description == "directml-py"
        assert desc.VendorId not in (0, 0x1414)
        assert [getattr(desc, name) for name in common] == [getattr(descs[0], name) for name in common]
        assert bytes(desc.AdapterLuid) == bytes(descs[0].AdapterLuid)
    for desc in descs[1:]:
        assert desc.Flags == dml.DXGI_ADAPTER_FLAG_NONE


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="the system does not tell its memory")
def test_memory_is_the_machine_s(adapter):
    desc = adapter.GetDesc1()
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert desc.DedicatedVideoMemory == total // 2
    assert desc.DedicatedVideoMemory + desc.DedicatedSystemMemory + desc.SharedSystemMemory <= total


def test_a_description_is_a_private_copy(adapter):
    adapter.GetDesc().Description = "changed"
    adapter.GetDesc().AdapterLuid.LowPart = 0
    assert adapter.GetDesc().Description == "directml-py"
    assert adapter.GetDesc().AdapterLuid.LowPart != 0


def test_warp_is_software_and_not_listed(factory, adapter):
    warp = factory.EnumWarpAdapter()
    assert warp.GetDesc1().Flags == dml.DXGI_ADAPTER_FLAG_SOFTWARE
    assert warp.GetDesc3().Flags == dml.DXGI_ADAPTER_FLAG3_SOFTWARE
    assert warp.GetDesc().Description != adapter.GetDesc().Description
    assert bytes(warp.GetDesc().AdapterLuid) != bytes(adapter.GetDesc().AdapterLuid)


@pytest.mark.parametrize("warp", [False, True])
def test_from_device_to_adapter_by_luid(factory, warp):
    """As in nf-dxgi1_4-idxgifactory4-enumadapterbyluid."""
    adapter = factory.EnumWarpAdapter() if warp else factory.EnumAdapters(0)
    device = dml.D3D12CreateDevice(adapter, dml.D3D_FEATURE_LEVEL_11_0)
    luid = device.GetAdapterLuid()
    assert bytes(luid) == bytes(adapter.GetDesc().AdapterLuid)
    found = factory.EnumAdapterByLuid(luid)
    assert found.GetDesc().Description == adapter.GetDesc().Description
    assert factory.EnumAdapterByLuid(ctypes.addressof(luid)).adapter == adapter.adapter


def test_unknown_luids(factory):
    refused(DXGI_ERROR_NOT_FOUND, factory.EnumAdapterByLuid, dml.LUID(1, 1))
    refused(E_INVALIDARG, factory.EnumAdapterByLuid, None)
    with pytest.raises(TypeError, match="AdapterLuid"):
        factory.EnumAdapterByLuid("luid")


def test_devices_without_an_adapter_are_on_the_first(adapter):
    luid = dml.D3D12CreateDevice().GetAdapterLuid()
    assert bytes(luid) == bytes(adapter.GetDesc().AdapterLuid)


@pytest.mark.parametrize("wrong", ["gpu", 0, dml.IUnknown()])
def test_devices_on_what_is_no_adapter(wrong):
    with pytest.raises(TypeError, match="adapter must be an IDXGIAdapter"):
        dml.D3D12CreateDevice(wrong)


def test_a_factory_is_no_adapter(factory):
    with pytest.raises(TypeError, match="IDXGIFactory6"):
        dml.D3D12CreateDevice(factory)


def test_check_interface_support(adapter):
    assert adapter.CheckInterfaceSupport(IID_IDXGIDevice) == 1 << 48
    refused(DXGI_ERROR_UNSUPPORTED, adapter.CheckInterfaceSupport, dml.IID_ID3D12Device)
    with pytest.raises(TypeError, match="InterfaceName"):
        adapter.CheckInterfaceSupport("IDXGIDevice")


def test_video_memory(adapter):
    desc = adapter.GetDesc1()
    before = adapter.QueryVideoMemoryInfo(0, LOCAL)
    assert before.Budget == desc.DedicatedVideoMemory
    assert before.AvailableForReservation <= before.Budget
    assert before.CurrentReservation == 0
    device = dml.D3D12CreateDevice(adapter)
    heap = device.CreateHeap(dml.CD3DX12_HEAP_DESC(1 << 20, dml.D3D12_HEAP_TYPE_DEFAULT))
    assert adapter.QueryVideoMemoryInfo(0, LOCAL).CurrentUsage == before.CurrentUsage + (1 << 20)
    del heap
    assert adapter.QueryVideoMemoryInfo(0, LOCAL).CurrentUsage == before.CurrentUsage
    shared = adapter.QueryVideoMemoryInfo(0, NON_LOCAL)
    assert (shared.Budget, shared.CurrentUsage) == (desc.SharedSystemMemory, 0)
    refused(E_INVALIDARG, adapter.QueryVideoMemoryInfo, 1, LOCAL)
    refused(E_INVALIDARG, adapter.QueryVideoMemoryInfo, 0, 2)


def test_reservations(adapter):
    adapter.SetVideoMemoryReservation(0, LOCAL, 4096)
    assert adapter.QueryVideoMemoryInfo(0, LOCAL).CurrentReservation == 4096
    assert adapter.QueryVideoMemoryInfo(0, NON_LOCAL).CurrentReservation == 0
    available = adapter.QueryVideoMemoryInfo(0, LOCAL).AvailableForReservation
    adapter.SetVideoMemoryReservation(0, LOCAL, available)
    assert adapter.QueryVideoMemoryInfo(0, LOCAL).CurrentReservation == available
    refused(E_INVALIDARG, adapter.SetVideoMemoryReservation, 0, LOCAL, available + 1)
    assert adapter.QueryVideoMemoryInfo(0, LOCAL).CurrentReservation == available


def test_tearing(factory):
    feature = dml.DXGI_FEATURE_PRESENT_ALLOW_TEARING
    assert factory.CheckFeatureSupport(feature) is False
    answer = ctypes.c_int32(1)
    factory.CheckFeatureSupport(feature, ctypes.addressof(answer), 4)
    assert answer.value == 0
    refused(E_INVALIDARG, factory.CheckFeatureSupport, feature, ctypes.addressof(answer), 8)
    refused(E_INVALIDARG, factory.CheckFeatureSupport, feature, None, 4)
    refused(E_INVALIDARG, factory.CheckFeatureSupport, 1)


def test_private_data(factory, adapter):
    for item in (factory, adapter):
        item.SetPrivateData(SOME_GUID, 3, b"abc")
        assert item.GetPrivateData(SOME_GUID) == b"abc"
        item.SetPrivateDataInterface(SOME_GUID, factory)
        assert item.GetPrivateData(SOME_GUID) is factory
        item.SetPrivateData(SOME_GUID, 0, None)
        refused(DXGI_ERROR_NOT_FOUND, item.GetPrivateData, SOME_GUID)
