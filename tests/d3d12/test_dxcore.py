"""DXCore: lists of adapters by attribute, and the properties and states of one."""

from __future__ import annotations

import ctypes

import pytest

import directml_py as dml
from directml_py.abi.hresult import (
    DXGI_ERROR_INVALID_CALL,
    DXGI_ERROR_UNSUPPORTED,
    E_INVALIDARG,
    E_NOINTERFACE,
    E_POINTER,
    DMLError,
)

COMPUTE = dml.DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE
GRAPHICS = dml.DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS
ML = dml.DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML
D3D11 = dml.DXCORE_ADAPTER_ATTRIBUTE_D3D11_GRAPHICS
NPU = dml.DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU
Is = dml.DXCoreAdapterProperty
State = dml.DXCoreAdapterState
Preference = dml.DXCoreAdapterPreference

# Bytes of the types on the page of DXCoreAdapterProperty.
SIZES = {
    Is.InstanceLuid: 8,
    Is.DriverVersion: 8,
    Is.DriverDescription: len("directml-py") + 1,
    Is.HardwareID: 16,
    Is.ComputePreemptionGranularity: 2,
    Is.GraphicsPreemptionGranularity: 2,
    Is.DedicatedAdapterMemory: 8,
    Is.DedicatedSystemMemory: 8,
    Is.SharedSystemMemory: 8,
    Is.AcgCompatible: 1,
    Is.IsHardware: 1,
    Is.IsIntegrated: 1,
    Is.IsDetachable: 1,
    Is.HardwareIDParts: 20,
}


def refused(hresult, call, *arguments):
    with pytest.raises(DMLError) as caught:
        call(*arguments)
    assert caught.value.hresult == hresult


@pytest.fixture
def factory():
    return dml.DXCoreCreateAdapterFactory()


@pytest.fixture
def adapter(factory):
    return factory.CreateAdapterList([ML]).GetAdapter(0)


def test_one_factory_and_one_object_for_an_adapter(factory, adapter):
    """nf-dxcore-dxcorecreateadapterfactory, nf-dxcore_interface-idxcoreadapterlist-getadapter."""
    assert dml.DXCoreCreateAdapterFactory() is factory
    listing = factory.CreateAdapterList([COMPUTE])
    assert listing.GetAdapter(0) is adapter
    assert listing.GetFactory() is adapter.GetFactory() is factory
    assert adapter.QueryInterface(dml.IID_IDXCoreAdapter) is adapter
    assert listing.QueryInterface(dml.IID_IDXCoreAdapterList) is listing
    assert factory.QueryInterface(dml.IID_IDXCoreAdapterFactory) is factory
    refused(E_NOINTERFACE, adapter.QueryInterface, dml.IID_IDXGIAdapter)


@pytest.mark.parametrize(
    ("attributes", "count"),
    [
        ([ML], 1),
        ([COMPUTE], 1),
        ([GRAPHICS], 1),
        ([ML, COMPUTE, GRAPHICS, dml.DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU], 1),
        ([D3D11], 0),
        ([NPU], 0),
        ([COMPUTE, D3D11], 0),
    ],
)
def test_lists_hold_what_has_all_attributes(factory, attributes, count):
    array = (dml.GUID * len(attributes))(*attributes)
    for arguments in (
        (attributes,),
        (len(attributes), attributes),
        (len(attributes), array),
        (len(attributes), ctypes.addressof(array)),
    ):
        listing = factory.CreateAdapterList(*arguments)
        assert listing.GetAdapterCount() == count
        assert not listing.IsStale()
        refused(E_INVALIDARG, listing.GetAdapter, count)


def test_lists_need_an_attribute(factory):
    refused(E_INVALIDARG, factory.CreateAdapterList, 0, None)
    refused(E_INVALIDARG, factory.CreateAdapterList, 1, None)
    refused(E_INVALIDARG, factory.CreateAdapterList, [])
    refused(E_INVALIDARG, factory.CreateAdapterList, 1, 8)
    with pytest.raises(TypeError, match="GUID"):
        factory.CreateAdapterList(["compute"])


def test_attributes(adapter):
    assert adapter.IsValid()
    for attribute in (ML, COMPUTE, GRAPHICS):
        assert adapter.IsAttributeSupported(attribute)
    for attribute in (D3D11, NPU, dml.GUID()):
        assert not adapter.IsAttributeSupported(attribute)


def test_sorting(factory):
    listing = factory.CreateAdapterList([ML])
    before = listing.GetAdapter(0)
    array = (ctypes.c_uint32 * 2)(Preference.Hardware, Preference.HighPerformance)
    listing.Sort([Preference.Hardware, 77])
    listing.Sort(2, ctypes.addressof(array))
    listing.Sort(2, array)
    assert listing.GetAdapter(0) is before
    refused(E_INVALIDARG, listing.Sort, 0, ctypes.addressof(array))
    refused(E_INVALIDARG, listing.Sort, 2, None)
    assert all(listing.IsAdapterPreferenceSupported(preference) for preference in Preference)
    assert not listing.IsAdapterPreferenceSupported(3)


@pytest.mark.parametrize("kind", list(Is), ids=lambda kind: kind.name)
def test_sizes_of_properties(adapter, kind):
    assert adapter.IsPropertySupported(kind) == (kind in SIZES)
    if kind not in SIZES:
        refused(DXGI_ERROR_UNSUPPORTED, adapter.GetProperty, kind)
        refused(DXGI_ERROR_UNSUPPORTED, adapter.GetPropertySize, kind)
        return
    size = adapter.GetPropertySize(kind)
    assert size == SIZES[kind]
    buffer = (ctypes.c_uint8 * (size + 3))(*[0xAA] * (size + 3))
    assert adapter.GetProperty(kind, size + 2, ctypes.addressof(buffer)) is None
    value = adapter.GetProperty(kind)
    if isinstance(value, ctypes.Structure):
        data = bytes(value)
    elif isinstance(value, str):
        data = value.encode() + b"\0"
    else:
        data = int(value).to_bytes(size, "little")
    # Zeros behind the value, and nothing behind the buffer.
    assert bytes(buffer) == data + b"\0\0\xaa"
    refused(E_INVALIDARG, adapter.GetProperty, kind, size - 1, ctypes.addressof(buffer))
    refused(E_POINTER, adapter.GetProperty, kind, size, None)


def test_values_agree_with_dxgi(adapter):
    desc = dml.CreateDXGIFactory1().EnumAdapters1(0).GetDesc1()
    assert adapter.GetProperty(Is.DriverDescription) == desc.Description
    assert bytes(adapter.GetProperty(Is.InstanceLuid)) == bytes(desc.AdapterLuid)
    assert adapter.GetProperty(Is.DedicatedAdapterMemory) == desc.DedicatedVideoMemory
    assert adapter.GetProperty(Is.SharedSystemMemory) == desc.SharedSystemMemory
    identifier, parts = adapter.GetProperty(Is.HardwareID), adapter.GetProperty(Is.HardwareIDParts)
    assert identifier.vendorID == parts.vendorID == desc.VendorId
    assert identifier.deviceID == parts.deviceID == desc.DeviceId
    assert (identifier.subSysID, identifier.revision) == (desc.SubSysId, desc.Revision) == (0, 0)
    assert (parts.subSystemID, parts.subVendorID, parts.revisionID) == (0, 0, 0)
    assert adapter.GetProperty(Is.DedicatedSystemMemory) == desc.DedicatedSystemMemory == 0
    assert adapter.GetProperty(Is.ComputePreemptionGranularity) == 0
    assert adapter.GetProperty(Is.GraphicsPreemptionGranularity) == 0
    assert adapter.GetProperty(Is.AcgCompatible) is False
    assert adapter.GetProperty(Is.IsHardware) is True
    assert adapter.GetProperty(Is.IsIntegrated) is False
    assert adapter.GetProperty(Is.IsDetachable) is False


def test_unknown_properties(adapter):
    assert not adapter.IsPropertySupported(99)
    refused(DXGI_ERROR_INVALID_CALL, adapter.GetProperty, 99)
    refused(DXGI_ERROR_INVALID_CALL, adapter.GetPropertySize, 99)
    with pytest.raises(TypeError, match="property"):
        adapter.GetProperty("IsHardware")


def test_adapters_by_luid(factory, adapter):
    luid = adapter.GetProperty(Is.InstanceLuid)
    assert factory.GetAdapterByLuid(luid) is adapter
    assert factory.GetAdapterByLuid(ctypes.addressof(luid)) is adapter
    refused(E_INVALIDARG, factory.GetAdapterByLuid, dml.LUID(1, 1))
    software = dml.CreateDXGIFactory1().EnumWarpAdapter().GetDesc1()
    warp = factory.GetAdapterByLuid(software.AdapterLuid)
    assert warp.GetProperty(Is.IsHardware) is False
    assert warp.GetProperty(Is.DriverDescription) == software.Description


def test_devices_on_adapters(adapter):
    device = dml.D3D12CreateDevice(adapter, dml.D3D_FEATURE_LEVEL_1_0_CORE)
    assert bytes(device.GetAdapterLuid()) == bytes(adapter.GetProperty(Is.InstanceLuid))


def test_memory_budget(adapter):
    group = dml.DXCoreAdapterMemoryBudgetNodeSegmentGroup(0, dml.DXCoreSegmentGroup.Local)
    found = adapter.QueryState(State.AdapterMemoryBudget, group)
    assert found.budget == adapter.GetProperty(Is.DedicatedAdapterMemory)
    assert found.currentReservation == 0
    raw = dml.DXCoreAdapterMemoryBudget()
    arguments = (ctypes.sizeof(group), ctypes.addressof(group), ctypes.sizeof(raw), ctypes.addressof(raw))
    adapter.QueryState(State.AdapterMemoryBudget, *arguments)
    assert raw.budget == found.budget
    dxgi = dml.CreateDXGIFactory1().EnumAdapters1(0).QueryInterface(dml.IDXGIAdapter3)
    for segment in dml.DXCoreSegmentGroup:
        group.segmentGroup = segment
        here = adapter.QueryState(State.AdapterMemoryBudget, group)
        there = dxgi.QueryVideoMemoryInfo(0, segment)
        assert here.budget == there.Budget
        assert here.availableForReservation == there.AvailableForReservation == there.Budget // 2
        assert here.currentReservation == there.CurrentReservation == 0
    assert here.currentUsage == there.CurrentUsage == 0
    kind = State.AdapterMemoryBudget
    refused(E_INVALIDARG, adapter.QueryState, kind, 4, *arguments[1:])
    refused(E_POINTER, adapter.QueryState, kind, 8, None, *arguments[2:])
    refused(E_INVALIDARG, adapter.QueryState, kind, *arguments[:2], 8, arguments[3])
    refused(E_POINTER, adapter.QueryState, kind, *arguments[:3], None)
    group.nodeIndex = 1
    refused(E_INVALIDARG, adapter.QueryState, kind, *arguments)


def test_other_states(adapter):
    assert all(adapter.IsQueryStateSupported(state) for state in State)
    assert not adapter.IsQueryStateSupported(9)
    assert adapter.QueryState(State.IsDriverUpdateInProgress) == 0
    refused(DXGI_ERROR_INVALID_CALL, adapter.QueryState, 9)
    assert not any(adapter.IsSetStateSupported(state) for state in State)
    with pytest.raises(TypeError, match="property"):
        adapter.IsSetStateSupported("IsDriverUpdateInProgress")
    refused(DXGI_ERROR_UNSUPPORTED, adapter.SetState, State.AdapterMemoryBudget)
    refused(DXGI_ERROR_INVALID_CALL, adapter.SetState, 9)


def test_notifications(factory, adapter):
    kind = dml.DXCoreNotificationType.AdapterNoLongerValid
    assert not factory.IsNotificationTypeSupported(kind)
    refused(DXGI_ERROR_INVALID_CALL, factory.RegisterEventNotification, adapter, kind, None)
