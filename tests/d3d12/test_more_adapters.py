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
