"""Unordered access views of buffers, and clears of them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from directml_py.abi.hresult import E_INVALIDARG, E_NOTIMPL, DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s
from directml_py.api import descriptor_handles

from .conftest import Bench

UAV = e.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
VIEWS = e.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
RAW = e.D3D12_BUFFER_UAV_FLAG_RAW
FULL = 0xFFFFFFFF


def typed(format, first, count, **fields):
    desc = s.D3D12_UNORDERED_ACCESS_VIEW_DESC(Format=format, ViewDimension=e.D3D12_UAV_DIMENSION_BUFFER)
    desc.Buffer = s.D3D12_BUFFER_UAV(FirstElement=first, NumElements=count, **fields)
    return desc


def raw(first, count):
    return typed(e.DXGI_FORMAT_R32_TYPELESS, first, count, Flags=RAW)


class Views:
    """A shader-visible heap that is set on the list, and another one for the CPU, each of four descriptors."""

    def __init__(self, bench):
        self.bench = bench
        self.visible, self.hidden = (
            bench.device.CreateDescriptorHeap(s.D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, 4, flags))
            for flags in (1, 0)
        )
        bench.list.SetDescriptorHeaps([self.visible])

    def cpu(self, heap, index=0):
        return descriptor_handles.D3D12_CPU_DESCRIPTOR_HANDLE(
            heap.GetCPUDescriptorHandleForHeapStart().ptr + index * heap.increment
        )

    def gpu(self, index=0):
        start = self.visible.GetGPUDescriptorHandleForHeapStart().ptr
        return descriptor_handles.D3D12_GPU_DESCRIPTOR_HANDLE(start + index * self.visible.increment)

    def create(self, buffer, desc, index=0):
        for heap in (self.visible, self.hidden):
            self.bench.device.CreateUnorderedAccessView(buffer, None, desc, self.cpu(heap, index))
        return self.gpu(index), self.cpu(self.hidden, index)

    def clear(self, buffer, desc, values, kind="Uint"):
        handles = self.create(buffer, desc)
        getattr(self.bench.list, f"ClearUnorderedAccessView{kind}")(*handles, buffer, values)


@pytest.fixture
def views(bench):
    return Views(bench)


def filled(bench, size, value=7):
    buffer = bench.buffer(size, flags=UAV)
    buffer.memory[:] = value
    return buffer


def close_error(commands):
    with pytest.raises(DMLError) as caught:
        commands.Close()
    assert caught.value.hresult == E_INVALIDARG
    return str(caught.value)


class TestWhatIsWritten:
    def test_raw(self, bench, views):
        buffer = filled(bench, 40)
        views.clear(buffer, raw(4, 3), [0x01020304, 5, 6, 7])
        assert buffer.array().tolist() == [7] * 40
        bench.execute()
        # Little-endian, the first value alone, from byte 16 on.
        assert buffer.array().tolist() == [7] * 16 + [4, 3, 2, 1] * 3 + [7] * 12

    @pytest.mark.parametrize(
        ("format", "values", "expected"),
        [
            ("R8G8B8A8_UINT", [0x101, 2, 3, 0xFFFFFF04], [1, 2, 3, 4]),
            ("R16G16_SINT", [0x12345, 0xFFFF, 9, 9], [0x45, 0x23, 0xFF, 0xFF]),
            ("R8_UNORM", [0x180, 9, 9, 9], [0x80]),
            # Bits as they are, not numbers: 1.0 as FLOAT.
            ("R32_FLOAT", [0x3F800000, 9, 9, 9], [0, 0, 0x80, 0x3F]),
            ("R32G32_UINT", [1, FULL, 9, 9], [1, 0, 0, 0, 255, 255, 255, 255]),
        ],
    )
    def test_lowest_bits(self, bench, views, format, values, expected):
        buffer = filled(bench, 4 * len(expected))
        views.clear(buffer, typed(getattr(e, f"DXGI_FORMAT_{format}"), 1, 2), values)
        bench.execute()
        size = len(expected)
        assert buffer.array().tolist() == [7] * size + expected * 2 + [7] * size

    @pytest.mark.parametrize(
        ("format", "dtype", "values", "expected"),
        [
            ("R32_FLOAT", "f4", [1.5, 0, 0, 0], [1.5]),
            ("R32G32B32A32_FLOAT", "f4", [1, 2, 3, -0.25], [1, 2, 3, -0.25]),
            # 1 + 2^-11 lies in the middle of two FLOAT16s and goes to the even one.
            ("R16G16_FLOAT", "f2", [1 + 2**-11, 65520, 0, 0], [1, np.inf]),
            ("R8G8B8A8_UNORM", "u1", [0, 1, 0.5, 0.25], [0, 255, 128, 64]),
            ("R8G8B8A8_SNORM", "i1", [-1, 1, 0.5, -0.5], [-127, 127, 64, -64]),
            ("R16_UNORM", "u2", [0.5, 9, 9, 9], [32768]),
            ("R8_UNORM", "u1", [7, 0, 0, 0], [255]),
            ("R8G8_SNORM", "i1", [-7, np.nan, 0, 0], [-127, 0]),
        ],
    )
    def test_floats(self, bench, views, format, dtype, values, expected):
        size = np.dtype(dtype).itemsize * len(expected)
        buffer = filled(bench, 4 * size)
        views.clear(buffer, typed(getattr(e, f"DXGI_FORMAT_{format}"), 1, 2), values, "Float")
        bench.execute()
        found = buffer.array(dtype)
        assert found[len(expected) : -len(expected)].tolist() == expected * 2
        assert set(buffer.array()[:size]) == set(buffer.array()[-size:]) == {7}

    def test_values_behind_an_address(self, bench, views):
        buffer, four = filled(bench, 8), (ctypes.c_uint32 * 4)(9, 0, 0, 0)
        views.clear(buffer, typed(e.DXGI_FORMAT_R32_UINT, 0, 2), ctypes.addressof(four))
        bench.execute()
        assert buffer.array(np.uint32).tolist() == [9, 9]

    def test_in_order_with_copies(self, bench, views):
        buffer, target = filled(bench, 8), bench.readback(16)
        handles = views.create(buffer, raw(0, 2))
        for place, value in enumerate((3, 4)):
            bench.list.ClearUnorderedAccessViewUint(*handles, buffer, [value, 0, 0, 0])
            bench.list.CopyBufferRegion(target, 8 * place, buffer, 0, 8)
        bench.execute()
        assert target.array(np.uint32).tolist() == [3, 3, 4, 4]


class TestRefusedClears:
    """Recording an invalid clear makes the list invalid, and nothing is written."""

    def test_handles(self, bench, views):
        buffer = filled(bench, 16)
        gpu, cpu = views.create(buffer, raw(0, 4))
        other = views.create(buffer, raw(0, 3), 1)
        visible = views.cpu(views.visible)
        unwritten = views.gpu(2), views.cpu(views.hidden, 2)
        wild = (
            descriptor_handles.D3D12_GPU_DESCRIPTOR_HANDLE(64),
            descriptor_handles.D3D12_CPU_DESCRIPTOR_HANDLE(64),
        )
        for handles in ((gpu, visible), (gpu, other[1]), (gpu, wild[1]), (wild[0], cpu), unwritten):
            bench.list.ClearUnorderedAccessViewUint(*handles, buffer, [0] * 4)
        message = close_error(bench.list)
        assert message.count("CPU handle of a heap that is not shader-visible") == 2
        assert message.count("GPU handle of a heap that SetDescriptorHeaps set") == 1
        assert message.count("name different views") == 1
        assert message.count("holds no unordered access view") == 1
        assert message.count("ClearUnorderedAccessViewUint: ") == 5
        assert bench.list.recording.commands[1:] == ()

    def test_the_heap_must_be_set(self, bench, views):
        buffer = filled(bench, 16)
        handles = views.create(buffer, raw(0, 4))
        bench.list.ClearState()
        bench.list.ClearUnorderedAccessViewUint(*handles, buffer, [0] * 4)
        assert "SetDescriptorHeaps set" in close_error(bench.list)

    def test_the_resource_is_that_of_the_view(self, bench, views):
        buffer = filled(bench, 16)
        bench.list.ClearUnorderedAccessViewUint(*views.create(buffer, raw(0, 4)), filled(bench, 16), [0] * 4)
        bench.list.ClearUnorderedAccessViewUint(*views.create(None, raw(0, 4), 1), buffer, [0] * 4)
        assert close_error(bench.list).count("the view is not of resource") == 2

    def test_structured_buffers(self, bench, views):
        desc = typed(e.DXGI_FORMAT_UNKNOWN, 0, 2, StructureByteStride=8)
        views.clear(filled(bench, 16), desc, [0] * 4)
        assert "structured buffer" in close_error(bench.list)

    @pytest.mark.parametrize("desc", [raw(0, 4), typed(e.DXGI_FORMAT_R32_SINT, 0, 4)])
    def test_floats_for_integers(self, bench, views, desc):
        views.clear(filled(bench, 16), desc, [0.0] * 4, "Float")
        assert "must be FLOAT, UNORM or SNORM" in close_error(bench.list)

    def test_a_view_that_another_one_replaced(self, bench, views):
        buffer = filled(bench, 16)
        handles = views.create(buffer, raw(0, 4))
        bench.device.CreateShaderResourceView(buffer, None, handles[1])
        bench.list.ClearUnorderedAccessViewUint(*handles, buffer, [0] * 4)
        assert "holds no unordered access view" in close_error(bench.list)

    def test_rectangles(self, bench, views):
        buffer = filled(bench, 16)
        bench.list.ClearUnorderedAccessViewUint(*views.create(buffer, raw(0, 4)), buffer, [0] * 4, 1)
        assert "numRects must be 0" in close_error(bench.list)

    @pytest.mark.parametrize("values", [[0] * 3, [-1, 0, 0, 0], [1 << 32, 0, 0, 0], 8, None])
    def test_values(self, bench, views, values):
        buffer = filled(bench, 16)
        with pytest.raises(DMLError, match="values") as caught:
            bench.list.ClearUnorderedAccessViewUint(*views.create(buffer, raw(0, 4)), buffer, values)
        assert caught.value.hresult == E_INVALIDARG
        bench.execute()


class TestViewDescs:
    @pytest.mark.parametrize(
        ("desc", "said"),
        [
            (None, "desc is null; a buffer view has no default desc"),
            (typed(e.DXGI_FORMAT_UNKNOWN, 0, 4), "desc.Format must be a type"),
            (typed(e.DXGI_FORMAT_R32_TYPELESS, 0, 4), "desc.Format must be a type"),
            (typed(e.DXGI_FORMAT_R32_UINT, 0, 4, Flags=RAW), "must be DXGI_FORMAT_R32_TYPELESS"),
            (
                typed(e.DXGI_FORMAT_R32_TYPELESS, 0, 4, Flags=RAW, StructureByteStride=4),
                "StructureByteStride",
            ),
            (raw(1, 1), "FirstElement must be a multiple of 4"),
            (typed(e.DXGI_FORMAT_R32_UINT, 0, 2, StructureByteStride=8), "must be DXGI_FORMAT_UNKNOWN"),
            (typed(e.DXGI_FORMAT_UNKNOWN, 0, 2, StructureByteStride=6), "multiple of 4"),
            (typed(e.DXGI_FORMAT_UNKNOWN, 0, 1, StructureByteStride=2052), "up to 2048"),
            (typed(e.DXGI_FORMAT_R32_UINT, 0, 5), "needs bytes 0 to 20"),
            (typed(e.DXGI_FORMAT_R32_UINT, (1 << 64) - 1, 1), "needs bytes"),
            (typed(e.DXGI_FORMAT_R32_UINT, 0, 0), "NumElements must not be 0"),
            (typed(e.DXGI_FORMAT_R32_UINT, 0, 1, CounterOffsetInBytes=4096), "CounterOffsetInBytes"),
            (typed(e.DXGI_FORMAT_R32_UINT, 0, 1, Flags=2), "desc.Buffer.Flags"),
            (
                s.D3D12_UNORDERED_ACCESS_VIEW_DESC(42, e.D3D12_UAV_DIMENSION_TEXTURE2D),
                "ViewDimension must be",
            ),
        ],
    )
    def test_rules(self, bench, views, desc, said):
        with pytest.raises(DMLError, match="desc") as caught:
            views.create(filled(bench, 16), desc)
        assert caught.value.hresult == E_INVALIDARG
        assert said in str(caught.value)

    @pytest.mark.parametrize("format", ["R11G11B10_FLOAT", "R32G32B32_FLOAT", "B8G8R8A8_UNORM", "BC1_UNORM"])
    def test_formats_that_are_not_emulated(self, bench, views, format):
        with pytest.raises(DMLError, match=format) as caught:
            views.create(filled(bench, 64), typed(getattr(e, f"DXGI_FORMAT_{format}"), 0, 1))
        assert caught.value.hresult == E_NOTIMPL

    def test_arguments(self, bench, views):
        desc, buffer, other = raw(0, 4), filled(bench, 16), Bench()
        create = bench.device.CreateUnorderedAccessView
        with pytest.raises(DMLError, match="without D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS"):
            create(bench.buffer(16), None, desc, views.cpu(views.hidden))
        with pytest.raises(DMLError, match="counterResource"):
            create(buffer, buffer, desc, views.cpu(views.hidden))
        with pytest.raises(DMLError, match="not a CPU handle"):
            create(buffer, None, desc, descriptor_handles.D3D12_CPU_DESCRIPTOR_HANDLE(views.gpu().ptr))
        with pytest.raises(DMLError, match="belongs to another device"):
            create(other.buffer(16, flags=UAV), None, desc, views.cpu(views.hidden))
        samplers = bench.device.CreateDescriptorHeap(
            s.D3D12_DESCRIPTOR_HEAP_DESC(e.D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER, 1, 0)
        )
        with pytest.raises(DMLError, match="must be D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV"):
            create(buffer, None, desc, samplers.GetCPUDescriptorHandleForHeapStart())
        with pytest.raises(DMLError, match="SAMPLER"):
            bench.device.CreateSampler(None, views.cpu(views.hidden))
        bench.device.CreateSampler(None, samplers.GetCPUDescriptorHandleForHeapStart())
