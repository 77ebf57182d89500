"""The helpers of d3dx12.h."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from directml_py import d3d12
from directml_py.abi.hresult import E_INVALIDARG, DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s
from directml_py.api import descriptor_handles


def test_heap_properties():
    found = d3d12.CD3DX12_HEAP_PROPERTIES(e.D3D12_HEAP_TYPE_READBACK)
    values = (found.Type, found.CPUPageProperty, found.MemoryPoolPreference, found.CreationNodeMask)
    assert values == (3, 0, 0, 1)
    assert found.VisibleNodeMask == 1
    assert isinstance(found, s.D3D12_HEAP_PROPERTIES)


def test_buffer_desc():
    found = d3d12.CD3DX12_RESOURCE_DESC.Buffer(100, e.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
    assert (found.Dimension, found.Width, found.Height, found.DepthOrArraySize, found.MipLevels) == (
        1,
        100,
        1,
        1,
        1,
    )
    assert (found.Format, found.SampleDesc.Count, found.SampleDesc.Quality) == (0, 1, 0)
    assert (found.Layout, found.Flags, found.Alignment) == (1, 4, 0)
    info = s.D3D12_RESOURCE_ALLOCATION_INFO(SizeInBytes=65536, Alignment=65536)
    found = d3d12.CD3DX12_RESOURCE_DESC.Buffer(info)
    assert (found.Width, found.Alignment) == (65536, 65536)


def test_barriers(bench):
    buffer = bench.buffer(4)
    found = d3d12.CD3DX12_RESOURCE_BARRIER.Transition(buffer, 0, 8)
    assert (found.Type, found.Flags) == (e.D3D12_RESOURCE_BARRIER_TYPE_TRANSITION, 0)
    assert found.Transition.pResource == buffer.handle
    assert (found.Transition.StateBefore, found.Transition.StateAfter) == (0, 8)
    assert found.Transition.Subresource == d3d12.D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES
    found = d3d12.CD3DX12_RESOURCE_BARRIER.UAV(buffer)
    assert (found.Type, found.UAV.pResource) == (e.D3D12_RESOURCE_BARRIER_TYPE_UAV, buffer.handle)
    found = d3d12.CD3DX12_RESOURCE_BARRIER.Aliasing(None, buffer)
    assert found.Type == e.D3D12_RESOURCE_BARRIER_TYPE_ALIASING
    assert (found.Aliasing.pResourceBefore, found.Aliasing.pResourceAfter) == (None, buffer.handle)
    with pytest.raises(TypeError, match="pResource"):
        d3d12.CD3DX12_RESOURCE_BARRIER.UAV("buffer")


def test_a_barrier_keeps_its_resource_alive(bench, collect):
    flags = e.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
    barrier = d3d12.CD3DX12_RESOURCE_BARRIER.UAV(bench.buffer(4, flags=flags))
    collect()
    bench.list.ResourceBarrier(1, barrier)
    bench.list.Close()


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        (d3d12.CD3DX12_CPU_DESCRIPTOR_HANDLE, descriptor_handles.D3D12_CPU_DESCRIPTOR_HANDLE),
        (d3d12.CD3DX12_GPU_DESCRIPTOR_HANDLE, descriptor_handles.D3D12_GPU_DESCRIPTOR_HANDLE),
    ],
)
def test_handles(kind, plain):
    base = plain(ptr=1000)
    assert kind(base, 3, 32).ptr == 1096
    assert kind(base, -16).ptr == 984
    assert kind(base).Offset(7).ptr == 1007
    assert base.ptr == 1000
    handle = kind(base)
    assert handle.Offset(2, 10).ptr == handle.ptr == 1020
    assert kind().ptr == 0
    with pytest.raises(DMLError, match="offset"):
        kind(base, -1001)


def test_range():
    found = d3d12.CD3DX12_RANGE(3, 9)
    assert (found.Begin, found.End) == (3, 9)


class TestUpdateSubresources:
    def update(self, bench, data, target=None, through=None, offset=0, first=0, count=1):
        target = target or bench.buffer(16)
        through = through or bench.upload(32)
        size = d3d12.UpdateSubresources(bench.list, target, through, offset, first, count, data)
        return target, through, size

    @pytest.mark.parametrize("form", ["array", "bytes", "bytearray", "address", "pointer"])
    def test_data_of_every_kind(self, bench, form):
        values = np.arange(4, dtype=np.float32) + 0.5
        data = {
            "array": values,
            "bytes": values.tobytes(),
            "bytearray": bytearray(values.tobytes()),
            "address": values.ctypes.data,
            "pointer": values.ctypes.data_as(ctypes.c_void_p),
        }[form]
        desc = s.D3D12_SUBRESOURCE_DATA(pData=data, RowPitch=16, SlicePitch=16)
        target, through, size = self.update(bench, ctypes.byref(desc), offset=8)
        assert size == 16
        assert through.array(np.float32, 4, offset=8).tolist() == [0.5, 1.5, 2.5, 3.5]
        assert not through.mapped
        assert not target.memory.any()
        bench.execute()
        assert target.array(np.float32).tolist() == [0.5, 1.5, 2.5, 3.5]

    def test_the_data_is_read_at_the_call(self, bench):
        values = np.full(16, 1, np.uint8)
        target, _, _ = self.update(bench, s.D3D12_SUBRESOURCE_DATA(pData=values))
        values[:] = 2
        bench.execute()
        assert target.array().tolist() == [1] * 16

    def test_an_array_of_one(self, bench):
        data = s.D3D12_SUBRESOURCE_DATA(pData=b"x" * 16)
        assert self.update(bench, [data])[2] == 16
        assert self.update(bench, (s.D3D12_SUBRESOURCE_DATA * 1)(data))[2] == 16

    def test_what_does_not_fit(self, bench):
        data = s.D3D12_SUBRESOURCE_DATA(pData=b"x" * 16)
        short = s.D3D12_SUBRESOURCE_DATA(pData=b"x" * 8, RowPitch=8, SlicePitch=8)
        for arguments, named in (
            ({"data": data, "offset": 17}, "intermediate"),
            ({"data": data, "first": 1}, "firstSubresource"),
            ({"data": data, "count": 2}, "numSubresources"),
            ({"data": short}, "SlicePitch"),
            ({"data": s.D3D12_SUBRESOURCE_DATA()}, "pData: 16 bytes at 0x0 cannot be read"),
            ({"data": s.D3D12_SUBRESOURCE_DATA(pData=0x123456789000)}, "pData"),
            ({"data": None}, "srcData"),
            ({"data": data, "through": bench.buffer(32)}, "mapped"),
        ):
            with pytest.raises(DMLError, match=named) as caught:
                self.update(bench, **arguments)
            assert caught.value.hresult == E_INVALIDARG
        bench.list.Close()
        assert bench.list.recording.commands == ()

    def test_wrong_objects(self, bench):
        data = s.D3D12_SUBRESOURCE_DATA(pData=b"x" * 16)
        with pytest.raises(TypeError, match="destinationResource"):
            d3d12.UpdateSubresources(bench.list, None, bench.upload(16), 0, 0, 1, data)
        with pytest.raises(TypeError, match="commandList"):
            d3d12.UpdateSubresources(None, bench.buffer(16), bench.upload(16), 0, 0, 1, data)

    def test_required_size(self, bench):
        assert d3d12.GetRequiredIntermediateSize(bench.buffer(77), 0, 1) == 77
        assert d3d12.GetRequiredIntermediateSize(bench.buffer(77)) == 77
        with pytest.raises(TypeError, match="destinationResource"):
            d3d12.GetRequiredIntermediateSize(None)
