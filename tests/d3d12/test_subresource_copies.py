"""WriteToSubresource and ReadFromSubresource of buffers."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from directml_py.abi.hresult import E_INVALIDARG, DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api.d3d12_structs import D3D12_BOX

UPLOAD, READBACK = e.D3D12_HEAP_TYPE_UPLOAD, e.D3D12_HEAP_TYPE_READBACK


def box(left, right, top=0, bottom=1, front=0, back=1):
    return D3D12_BOX(left, top, front, right, bottom, back)


def refused(call, *arguments):
    with pytest.raises(DMLError) as caught:
        call(*arguments)
    assert caught.value.hresult == E_INVALIDARG
    return str(caught.value)


@pytest.fixture
def buffer(bench):
    return bench.buffer(8, UPLOAD)


def test_whole_buffers_and_boxes(buffer):
    buffer.WriteToSubresource(0, None, bytes(range(8)), 8, 8)
    buffer.WriteToSubresource(0, box(2, 4), np.array([50, 51, 99], np.uint8), 0, 0)
    assert buffer.array().tolist() == [0, 1, 50, 51, 4, 5, 6, 7]
    target = np.zeros(4, np.uint8)
    buffer.ReadFromSubresource(target, 0, 0, 0, box(3, 6))
    assert target.tolist() == [51, 4, 5, 0]
    whole = bytearray(8)
    buffer.ReadFromSubresource(whole, 0, 0, 0)
    assert list(whole) == buffer.array().tolist()


def test_addresses(buffer):
    source, target = (ctypes.c_uint8 * 8)(*b"abcdefgh"), (ctypes.c_uint8 * 8)()
    buffer.WriteToSubresource(0, ctypes.byref(box(0, 8)), ctypes.addressof(source), 8, 8)
    buffer.ReadFromSubresource(ctypes.addressof(target), 8, 8, 0, None)
    assert bytes(target) == b"abcdefgh"
    assert "read" in refused(buffer.WriteToSubresource, 0, None, 8)
    assert "dstData" in refused(buffer.ReadFromSubresource, 8)


@pytest.mark.parametrize("empty", [box(4, 4), box(5, 4), box(0, 8, 1, 1), box(0, 8, 0, 1, 2, 1)])
def test_an_empty_box_is_no_byte(buffer, empty):
    buffer.WriteToSubresource(0, empty, None, 0, 0)
    buffer.ReadFromSubresource(None, 0, 0, 0, empty)
    assert not buffer.array().any()


def test_what_is_refused(bench, buffer):
    data = bytes(8)
    assert "dstBox.right is 9" in refused(buffer.WriteToSubresource, 0, box(0, 9), bytes(9))
    assert "bottom 1" in refused(buffer.WriteToSubresource, 0, box(0, 8, 0, 2), data)
    assert "dstSubresource must be 0" in refused(buffer.WriteToSubresource, 1, None, data)
    assert "srcSubresource must be 0" in refused(buffer.ReadFromSubresource, bytearray(8), 0, 0, 1)
    assert "srcData has 7 bytes" in refused(buffer.WriteToSubresource, 0, None, bytes(7))
    assert "srcData is null" in refused(buffer.WriteToSubresource, 0, None, None)
    with pytest.raises(TypeError, match="dstData must be contiguous and writable"):
        buffer.ReadFromSubresource(bytes(8))
    gpu = bench.buffer(8)
    assert "no access" in refused(gpu.WriteToSubresource, 0, None, data)
    assert "no access" in refused(gpu.ReadFromSubresource, bytearray(8))


def test_reading_too_early_is_told(debug_bench):
    """As of Map: the fence that covers the commands was not waited for."""
    target = debug_bench.buffer(8, READBACK)
    debug_bench.list.CopyResource(target, debug_bench.filled(range(8)))
    debug_bench.execute()
    with pytest.raises(DMLError, match=r"ReadFromSubresource: .* are in flight; the fence"):
        target.ReadFromSubresource(bytearray(8))
