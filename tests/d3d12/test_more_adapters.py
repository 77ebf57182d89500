"""DIRECTML_PY_ADAPTERS: several adapters for programs that skip the first."""

from __future__ import annotations

import pytest

import directml_py as dml
from directml_py import DMLError
from directml_py.abi.hresult import DXGI_ERROR_NOT_FOUND, E_INVALIDARG


@pytest.fixture
def three(monkeypatch):
    monkeypatch.setenv("DIRECTML_PY_ADAPTERS", "3")


def listed():
    factory, adapters = dml.CreateDXGIFactory1(), []
    while True:
        try:
            adapters.append(factory.EnumAdapters1(len(adapters)))
        except DMLError as error:
            if error.hresult != DXGI_ERROR_NOT_FOUND:
                raise
            return adapters


def test_dxgi_and_dxcore_list_the_same(three):
    luids = [bytes(adapter.GetDesc1().AdapterLuid) for adapter in listed()]
    assert len(set(luids)) == 3
    found = dml.DXCoreCreateAdapterFactory().CreateAdapterList(
        [dml.DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE]
    )
    properties = [
        bytes(found.GetAdapter(index).GetProperty(dml.DXCoreAdapterProperty.InstanceLuid))
        for index in range(found.GetAdapterCount())
    ]
    assert properties == luids
    assert len({adapter.GetDesc().Description for adapter in listed()}) == 3
    assert bytes(dml.CreateDXGIFactory1().EnumWarpAdapter().GetDesc().AdapterLuid) not in luids


def test_devices_are_on_the_adapter_that_was_asked_for(three):
    factory = dml.CreateDXGIFactory1()
    for adapter in listed():
        luid = adapter.GetDesc().AdapterLuid
        device = dml.D3D12CreateDevice(adapter)
        assert bytes(device.GetAdapterLuid()) == bytes(luid)
        assert factory.EnumAdapterByLuid(luid).GetDesc().Description == adapter.GetDesc().Description
        assert dml.DMLCreateDevice(device, 0).GetDeviceRemovedReason() == 0


@pytest.mark.parametrize("count", ["0", "17", "-1", "two", "1.5"])
def test_what_is_no_number_of_adapters(monkeypatch, count):
    monkeypatch.setenv("DIRECTML_PY_ADAPTERS", count)
    with pytest.raises(DMLError, match="DIRECTML_PY_ADAPTERS must be a number from 1 to 16") as caught:
        dml.CreateDXGIFactory1().EnumAdapters1(0)
    assert caught.value.hresult == E_INVALIDARG


@pytest.mark.parametrize("count", ["", "1"])
def test_one_without_a_wish(monkeypatch, count):
    monkeypatch.setenv("DIRECTML_PY_ADAPTERS", count)
    assert len(listed()) == 1


@pytest.mark.parametrize(("kinds", "first"), [("gpu,npu", 0), ("npu,gpu", 1), ("npu", None)])
def test_an_adapter_without_graphics(monkeypatch, kinds, first):
    """As Microsoft's GenericDevice sample looks for one: by an attribute, in its absence another, without graphics."""
    monkeypatch.setenv("DIRECTML_PY_ADAPTERS", kinds)
    factory = dml.DXCoreCreateAdapterFactory()
    found = factory.CreateAdapterList([dml.DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML])
    adapters = [found.GetAdapter(index) for index in range(found.GetAdapterCount())]
    has_graphics = [one.IsAttributeSupported(dml.DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS) for one in adapters]
    assert has_graphics == [kind == "gpu" for kind in kinds.split(",")]
    npu = adapters[has_graphics.index(False)]
    assert npu.IsAttributeSupported(dml.DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU)
    assert not npu.IsAttributeSupported(dml.DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU)
    assert "NPU" in npu.GetProperty(dml.DXCoreAdapterProperty.DriverDescription)
    assert npu.GetProperty(dml.DXCoreAdapterProperty.IsHardware)
    # DXGI lists graphics adapters alone.
    luids = [bytes(one.GetDesc1().AdapterLuid) for one in listed()]
    own = [bytes(one.GetProperty(dml.DXCoreAdapterProperty.InstanceLuid)) for one in adapters]
    assert luids == ([] if first is None else [own[first]])
    with pytest.raises(DMLError, match="needs graphics") as refused:
        dml.D3D12CreateDevice(npu, dml.D3D_FEATURE_LEVEL_11_0)
    assert refused.value.hresult == dml.DXGI_ERROR_UNSUPPORTED
    for level in (dml.D3D_FEATURE_LEVEL_1_0_GENERIC, dml.D3D_FEATURE_LEVEL_1_0_CORE):
        device = dml.D3D12CreateDevice(npu, level)
        assert bytes(device.GetAdapterLuid()) == own[has_graphics.index(False)]
        # By this ONNX Runtime decides on compute lists.
        asked = [
            dml.D3D_FEATURE_LEVEL_1_0_GENERIC,
            dml.D3D_FEATURE_LEVEL_1_0_CORE,
            dml.D3D_FEATURE_LEVEL_12_1,
        ]
        levels = dml.D3D12_FEATURE_DATA_FEATURE_LEVELS(pFeatureLevelsRequested=asked)
        device.CheckFeatureSupport(dml.D3D12_FEATURE_FEATURE_LEVELS, levels)
        assert levels.MaxSupportedFeatureLevel == dml.D3D_FEATURE_LEVEL_1_0_CORE
        dml.DMLCreateDevice(device, dml.DML_CREATE_DEVICE_FLAG_NONE)
        with pytest.raises(
            DMLError, match=r"desc\.Type: D3D12_COMMAND_LIST_TYPE_DIRECT needs graphics"
        ) as refused:
            device.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(dml.D3D12_COMMAND_LIST_TYPE_DIRECT))
        assert refused.value.hresult == dml.E_INVALIDARG
        for kind in (dml.D3D12_COMMAND_LIST_TYPE_COMPUTE, dml.D3D12_COMMAND_LIST_TYPE_COPY):
            device.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(kind))


@pytest.mark.parametrize("value", ["tpu", "gpu,", "gpu npu", ",".join(["gpu"] * 17)])
def test_other_kinds(monkeypatch, value):
    monkeypatch.setenv("DIRECTML_PY_ADAPTERS", value)
    with pytest.raises(DMLError, match="or a list of gpu and npu, not"):
        listed()
