"""Constants of Windows."""

from __future__ import annotations

import pytest

import directml_py as dml
from directml_py.abi import hresult
from directml_py.abi.wintypes import GUID

# winerror.h
HRESULTS = {
    "S_OK": 0,
    "S_FALSE": 1,
    "E_NOTIMPL": 0x80004001,
    "E_NOINTERFACE": 0x80004002,
    "E_POINTER": 0x80004003,
    "E_FAIL": 0x80004005,
    "E_UNEXPECTED": 0x8000FFFF,
    "E_HANDLE": 0x80070006,
    "E_OUTOFMEMORY": 0x8007000E,
    "E_INVALIDARG": 0x80070057,
    "DXGI_ERROR_INVALID_CALL": 0x887A0001,
    "DXGI_ERROR_NOT_FOUND": 0x887A0002,
    "DXGI_ERROR_MORE_DATA": 0x887A0003,
    "DXGI_ERROR_UNSUPPORTED": 0x887A0004,
    "DXGI_ERROR_DEVICE_REMOVED": 0x887A0005,
    "DXGI_ERROR_DEVICE_HUNG": 0x887A0006,
    "DXGI_ERROR_DEVICE_RESET": 0x887A0007,
    "DXGI_ERROR_SDK_COMPONENT_MISSING": 0x887A002D,
}


@pytest.mark.parametrize("name", HRESULTS)
def test_results(name):
    assert getattr(hresult, name) == HRESULTS[name]


def test_guids_in_memory():
    """Three little-endian integers and eight bytes."""
    guid = GUID("{00112233-4455-6677-8899-AABBCCDDEEFF}")
    assert bytes(guid).hex() == "33221100554477668899aabbccddeeff"
    assert (guid.Data1, guid.Data2, guid.Data3, guid.Data4[0]) == (0x00112233, 0x4455, 0x6677, 0x88)


def test_macros_of_results():
    for failed in (dml.E_INVALIDARG, dml.DXGI_ERROR_DEVICE_REMOVED, -2147024809):
        assert (dml.FAILED(failed), dml.SUCCEEDED(failed)) == (True, False)
    for succeeded in (dml.S_OK, dml.S_FALSE):
        assert (dml.FAILED(succeeded), dml.SUCCEEDED(succeeded)) == (False, True)
    assert dml.sizeof(dml.DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT()) == 4
