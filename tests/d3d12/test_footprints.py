"""Device queries made by C helper libraries: footprints, allocation sizes and features at bare addresses."""

from __future__ import annotations

import ctypes

import pytest

import directml_py as dml


def test_the_footprint_of_a_buffer(d3d12_device):
    """Rows in upload buffers begin at multiples of 256 (D3D12_TEXTURE_DATA_PITCH_ALIGNMENT); a buffer is one row."""
    desc = dml.CD3DX12_RESOURCE_DESC.Buffer(1000)
    layout, rows, row_size, total = d3d12_device.GetCopyableFootprints(desc, 0, 1, 512)
    assert (layout.Offset, layout.Footprint.RowPitch) == (512, 1024)
    assert (layout.Footprint.Width, layout.Footprint.Height, layout.Footprint.Depth) == (1000, 1, 1)
    assert (rows, row_size, total) == (1, 1000, 1000)


@pytest.mark.parametrize(("first", "count"), [(1, 1), (0, 0), (0, 2)])
def test_a_buffer_has_one_subresource(d3d12_device, first, count):
    with pytest.raises(dml.DMLError, match="one subresource"):
        d3d12_device.GetCopyableFootprints(dml.CD3DX12_RESOURCE_DESC.Buffer(16), first, count, 0)


def test_descs_behind_an_address(d3d12_device):
    descs = (dml.D3D12_RESOURCE_DESC * 2)(
        dml.CD3DX12_RESOURCE_DESC.Buffer(1), dml.CD3DX12_RESOURCE_DESC.Buffer(65537)
    )
    info = d3d12_device.GetResourceAllocationInfo(0, 2, ctypes.addressof(descs))
    assert info.SizeInBytes == 3 * 65536
    assert d3d12_device.GetResourceAllocationInfo(0, 1, ctypes.addressof(descs)).SizeInBytes == 65536


def test_a_feature_at_an_address_needs_its_size(d3d12_device):
    data = dml.D3D12_FEATURE_DATA_D3D12_OPTIONS()
    address, size = ctypes.addressof(data), ctypes.sizeof(data)
    d3d12_device.CheckFeatureSupport(dml.D3D12_FEATURE_D3D12_OPTIONS, address, size)
    assert data.DoublePrecisionFloatShaderOps == 1
    with pytest.raises(TypeError, match="needs its size"):
        d3d12_device.CheckFeatureSupport(dml.D3D12_FEATURE_D3D12_OPTIONS, address)
    with pytest.raises(dml.DMLError, match="size must be"):
        d3d12_device.CheckFeatureSupport(dml.D3D12_FEATURE_D3D12_OPTIONS, address, size - 1)
