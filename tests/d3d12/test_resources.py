"""Buffers, heaps and their rules; mapping and NumPy views."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import directml_py as dml
from directml_py import d3d12
from directml_py.abi.hresult import E_INVALIDARG, E_NOTIMPL, E_OUTOFMEMORY, DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s
from directml_py.cffi import ffi

DEFAULT, UPLOAD, READBACK = e.D3D12_HEAP_TYPE_DEFAULT, e.D3D12_HEAP_TYPE_UPLOAD, e.D3D12_HEAP_TYPE_READBACK
UAV = e.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS


def create(device, properties=None, flags=0, desc=None, state=0, clear=None):
    return device.CreateCommittedResource(
        properties if properties is not None else d3d12.CD3DX12_HEAP_PROPERTIES(DEFAULT),
        flags,
        desc if desc is not None else d3d12.CD3DX12_RESOURCE_DESC.Buffer(16),
        state,
        clear,
    )


def custom(pages, pool, **fields):
    return s.D3D12_HEAP_PROPERTIES(
        Type=e.D3D12_HEAP_TYPE_CUSTOM, CPUPageProperty=pages, MemoryPoolPreference=pool, **fields
    )


class TestCommitted:
    @pytest.mark.parametrize("heap", [DEFAULT, UPLOAD, READBACK])
    def test_memory_is_zero_aligned_and_of_real_size(self, bench, heap):
        buffers = [bench.buffer(size, heap) for size in (1, 63, 64, 100003)]
        for buffer, size in zip(buffers, (1, 63, 64, 100003)):
            assert buffer.memory.shape == (size,)
            assert not buffer.memory.any()
            assert buffer.memory.ctypes.data % 64 == 0

    def test_desc_comes_back_with_its_alignment(self, bench):
        found = bench.buffer(48, flags=UAV).GetDesc()
        assert (found.Width, found.Height, found.Flags) == (48, 1, UAV)
        assert found.Alignment == 65536
        assert found.Layout == e.D3D12_TEXTURE_LAYOUT_ROW_MAJOR

    def test_descs_are_copied(self, bench):
        desc = d3d12.CD3DX12_RESOURCE_DESC.Buffer(16)
        buffer = create(bench.device, desc=desc)
        desc.Width = 1 << 40
        buffer.GetDesc().Width = 7
        assert buffer.GetDesc().Width == 16

    def test_every_kind_of_pointer(self, bench):
        desc = d3d12.CD3DX12_RESOURCE_DESC.Buffer(16)
        other = ffi.new("D3D12_RESOURCE_DESC *")
        ffi.memmove(other, bytes(desc), ctypes.sizeof(desc))
        for form in (desc, ctypes.byref(desc), ctypes.pointer(desc), ctypes.addressof(desc), other):
            assert create(bench.device, desc=form).GetDesc().Width == 16

    def test_gpu_addresses_do_not_meet(self, bench):
        sizes = (1, 65536, 65537, 3)
        buffers = [bench.buffer(size) for size in sizes]
        starts = [buffer.GetGPUVirtualAddress() for buffer in buffers]
        assert all(start and start % 65536 == 0 for start in starts)
        ends = [start + size for start, size in zip(starts, sizes)]
        assert all(end < start for end, start in zip(ends, starts[1:]))

    def test_heap_properties_come_back(self, bench):
        buffer = create(bench.device, flags=e.D3D12_HEAP_FLAG_CREATE_NOT_ZEROED)
        properties, flags = buffer.GetHeapProperties()
        assert (properties.Type, properties.CreationNodeMask) == (DEFAULT, 1)
        assert flags == e.D3D12_HEAP_FLAG_CREATE_NOT_ZEROED

    @pytest.mark.parametrize("width", [1 << 46, (1 << 64) - 1, (1 << 63) - 1])
    def test_too_much_memory(self, bench, width):
        with pytest.raises(DMLError, match="memory") as caught:
            create(bench.device, desc=d3d12.CD3DX12_RESOURCE_DESC.Buffer(width))
        assert caught.value.hresult == E_OUTOFMEMORY


class TestDescRules:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("Width", 0),
            ("Alignment", 4096),
            ("Alignment", 4 << 20),
            ("Height", 0),
            ("Height", 2),
            ("DepthOrArraySize", 2),
            ("MipLevels", 0),
            ("Format", e.DXGI_FORMAT_R32_FLOAT),
            ("Layout", e.D3D12_TEXTURE_LAYOUT_UNKNOWN),
            ("Dimension", e.D3D12_RESOURCE_DIMENSION_UNKNOWN),
            ("Dimension", 77),
            ("Flags", e.D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET),
            ("Flags", e.D3D12_RESOURCE_FLAG_ALLOW_SIMULTANEOUS_ACCESS),
            ("Flags", 1 << 20),
            ("SampleDesc.Count", 0),
            ("SampleDesc.Count", 4),
            ("SampleDesc.Quality", 1),
        ],
    )
    def test_each_field(self, bench, field, value):
        desc = d3d12.CD3DX12_RESOURCE_DESC.Buffer(16)
        *outer, name = field.split(".")
        setattr(getattr(desc, outer[0]) if outer else desc, name, value)
        with pytest.raises(DMLError, match=rf"desc\.{field}") as caught:
            create(bench.device, desc=desc)
        assert caught.value.hresult == E_INVALIDARG

    def test_64_kib_alignment_may_be_said(self, bench):
        create(bench.device, desc=d3d12.CD3DX12_RESOURCE_DESC.Buffer(16, alignment=65536))

    def test_all_problems_at_once(self, bench):
        desc = d3d12.CD3DX12_RESOURCE_DESC.Buffer(0)
        desc.Height = desc.MipLevels = 5
        with pytest.raises(DMLError, match=r"desc\.Width.*desc\.Height.*desc\.MipLevels"):
            create(bench.device, desc=desc)

    def test_textures_are_not_emulated(self, bench):
        desc = d3d12.CD3DX12_RESOURCE_DESC.Buffer(16)
        desc.Dimension = e.D3D12_RESOURCE_DIMENSION_TEXTURE2D
        with pytest.raises(DMLError, match="TEXTURE2D") as caught:
            create(bench.device, desc=desc)
        assert caught.value.hresult == E_NOTIMPL

    def test_no_clear_value(self, bench):
        with pytest.raises(DMLError, match="optimizedClearValue"):
            create(bench.device, clear=s.D3D12_RANGE())

    @pytest.mark.parametrize("name", ["heapProperties", "desc"])
    def test_null_and_foreign_pointers(self, bench, name):
        arguments = {
            "heapProperties": d3d12.CD3DX12_HEAP_PROPERTIES(),
            "heapFlags": 0,
            "desc": d3d12.CD3DX12_RESOURCE_DESC.Buffer(4),
            "initialState": 0,
        }
        for value, error in (
            (None, DMLError),
            (0x10, DMLError),
            ("x", TypeError),
            (s.D3D12_RANGE(), TypeError),
        ):
            with pytest.raises(error, match=name):
                bench.device.CreateCommittedResource(**{**arguments, name: value})


class TestHeapRules:
    @pytest.mark.parametrize("heap", [UPLOAD, READBACK])
    @pytest.mark.parametrize(
        "state",
        [
            e.D3D12_RESOURCE_STATE_COMMON,
            e.D3D12_RESOURCE_STATE_COPY_SOURCE,
            e.D3D12_RESOURCE_STATE_COPY_DEST,
            e.D3D12_RESOURCE_STATE_GENERIC_READ,
        ],
    )
    def test_upload_and_readback_have_one_state(self, bench, heap, state):
        required = {
            UPLOAD: e.D3D12_RESOURCE_STATE_GENERIC_READ,
            READBACK: e.D3D12_RESOURCE_STATE_COPY_DEST,
        }[heap]
        if state == required:
            bench.buffer(4, heap, state=state)
            return
        with pytest.raises(DMLError, match=f"initialState must be {required.name}"):
            bench.buffer(4, heap, state=state)

    @pytest.mark.parametrize("heap", [UPLOAD, READBACK])
    def test_no_unordered_access_for_the_cpus_heaps(self, bench, heap):
        with pytest.raises(DMLError, match=r"desc\.Flags.*ALLOW_UNORDERED_ACCESS"):
            bench.buffer(4, heap, UAV)

    @pytest.mark.parametrize(
        ("state", "flags", "good"),
        [
            (e.D3D12_RESOURCE_STATE_UNORDERED_ACCESS, UAV, True),
            (e.D3D12_RESOURCE_STATE_UNORDERED_ACCESS, 0, False),
            (e.D3D12_RESOURCE_STATE_GENERIC_READ, 0, True),
            (e.D3D12_RESOURCE_STATE_COPY_DEST | e.D3D12_RESOURCE_STATE_COPY_SOURCE, 0, False),
            (e.D3D12_RESOURCE_STATE_COPY_SOURCE | e.D3D12_RESOURCE_STATE_INDEX_BUFFER, 0, True),
            (e.D3D12_RESOURCE_STATE_RENDER_TARGET, 0, False),
            (1 << 30, 0, False),
        ],
    )
    def test_states_of_a_default_heap(self, bench, state, flags, good):
        if good:
            assert bench.buffer(4, DEFAULT, flags, state).initial_state == state
            return
        with pytest.raises(DMLError, match="initialState"):
            bench.buffer(4, DEFAULT, flags, state)

    @pytest.mark.parametrize(
        ("fields", "named"),
        [
            ({"Type": 9}, "Type"),
            ({"Type": 0}, "Type"),
            ({"Type": DEFAULT, "CPUPageProperty": 3}, "CPUPageProperty"),
            ({"Type": DEFAULT, "MemoryPoolPreference": 1}, "MemoryPoolPreference"),
            ({"Type": 4}, "CPUPageProperty.*MemoryPoolPreference"),
            ({"Type": 4, "CPUPageProperty": 3, "MemoryPoolPreference": 2}, "CPUPageProperty"),
            ({"Type": DEFAULT, "CreationNodeMask": 2}, "CreationNodeMask"),
            ({"Type": DEFAULT, "VisibleNodeMask": 3}, "VisibleNodeMask"),
        ],
    )
    def test_heap_properties(self, bench, fields, named):
        with pytest.raises(DMLError, match=rf"heapProperties\.{named}") as caught:
            create(bench.device, s.D3D12_HEAP_PROPERTIES(**fields))
        assert caught.value.hresult == E_INVALIDARG

    @pytest.mark.parametrize(
        ("flags", "hresult"),
        [
            (e.D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS, E_INVALIDARG),
            (e.D3D12_HEAP_FLAG_DENY_BUFFERS, E_INVALIDARG),
            (e.D3D12_HEAP_FLAG_ALLOW_WRITE_WATCH, E_INVALIDARG),
            (1 << 25, E_INVALIDARG),
            (e.D3D12_HEAP_FLAG_ALLOW_DISPLAY, E_NOTIMPL),
        ],
    )
    def test_heap_flags(self, bench, flags, hresult):
        with pytest.raises(DMLError, match="heapFlags") as caught:
            create(bench.device, flags=flags)
        assert caught.value.hresult == hresult

    def test_custom_heaps(self, bench):
        write_back = custom(e.D3D12_CPU_PAGE_PROPERTY_WRITE_BACK, e.D3D12_MEMORY_POOL_L0)
        buffer = create(bench.device, write_back, desc=d3d12.CD3DX12_RESOURCE_DESC.Buffer(8, UAV))
        buffer.Map()[:] = 5
        assert buffer.array().tolist() == [5] * 8
        hidden = custom(e.D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE, e.D3D12_MEMORY_POOL_L1)
        with pytest.raises(DMLError, match="mapped"):
            create(bench.device, hidden).Map()


class TestMap:
    @pytest.mark.parametrize("heap", [UPLOAD, READBACK])
    def test_all_bytes_writable_and_shared(self, bench, heap):
        buffer = bench.buffer(8, heap)
        view = buffer.Map(0, d3d12.CD3DX12_RANGE(4, 8))
        assert (view.dtype, view.shape) == (np.uint8, (8,))
        view[0] = 9
        buffer.Unmap(0, None)
        assert buffer.Map()[0] == 9

    def test_maps_nest(self, bench):
        buffer = bench.upload(8)
        buffer.Map(), buffer.Map()
        buffer.Unmap()
        assert buffer.mapped
        buffer.Unmap()
        assert not buffer.mapped

    def test_default_heaps_have_no_cpu_access(self, bench):
        with pytest.raises(DMLError, match="D3D12_HEAP_TYPE_DEFAULT") as caught:
            bench.buffer(8).Map()
        assert caught.value.hresult == E_INVALIDARG

    def test_bad_arguments(self, bench):
        buffer = bench.upload(8)
        with pytest.raises(DMLError, match="subresource"):
            buffer.Map(1)
        with pytest.raises(DMLError, match=r"readRange\.End is 9"):
            buffer.Map(0, d3d12.CD3DX12_RANGE(0, 9))
        with pytest.raises(TypeError, match="readRange"):
            buffer.Map(0, "all")
        for begin, end in ((100, 0), (100, 100)):
            buffer.Map(0, d3d12.CD3DX12_RANGE(begin, end))
        with pytest.raises(DMLError, match=r"writtenRange\.End"):
            buffer.Unmap(0, d3d12.CD3DX12_RANGE(0, 9))
        assert buffer.mapped

    def test_unmap_without_map(self, bench, debug_layer):
        bench.upload(8).Unmap()

    def test_unmap_without_map_under_the_debug_layer(self, debug_bench):
        buffer = debug_bench.upload(8)
        with pytest.raises(DMLError, match="not mapped"):
            buffer.Unmap()
        assert not buffer.mapped


class TestArray:
    def test_a_view_that_map_would_refuse_is_told(self, debug_bench):
        """An information, as the view itself is right."""
        queue = debug_bench.device.QueryInterface(dml.IID_ID3D12InfoQueue)
        queue.ClearStoredMessages()
        debug_bench.upload(8).array()
        assert queue.GetNumStoredMessages() == 0
        debug_bench.buffer(8).array()
        (message,) = [queue.GetMessage(index) for index in range(queue.GetNumStoredMessages())]
        assert message.Severity == dml.D3D12_MESSAGE_SEVERITY_INFO
        assert "D3D12_HEAP_TYPE_DEFAULT heap, for which Map fails on Windows" in str(message.pDescription)

    def test_views_of_the_same_bytes(self, bench):
        buffer = bench.upload(24)
        buffer.array(np.float32, (2, 3))[:] = [[1, 2, 3], [4, 5, 6]]
        assert buffer.array(np.float32).tolist() == [1, 2, 3, 4, 5, 6]
        assert buffer.array(np.float32, (2, 0)).shape == (2, 0)
        assert buffer.array(np.float32, 2, offset=12).tolist() == [4, 5]
        assert buffer.array("u1", offset=20).view("f4").tolist() == [6]

    def test_whole_elements_without_shape(self, bench):
        assert bench.upload(23).array(np.int32).shape == (5,)
        assert bench.upload(23).array(np.int32, offset=21).shape == (0,)
        assert bench.upload(8).array(np.int32, ()).shape == ()

    def test_writable_where_the_cpu_writes(self, bench):
        assert bench.upload(8).array().flags.writeable
        assert bench.readback(8).array().flags.writeable
        view = bench.buffer(8).array()
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1

    def test_a_default_view_sees_what_the_gpu_writes(self, bench):
        buffer = bench.buffer(4)
        view = buffer.array()
        buffer.memory[:] = 3
        assert view.tolist() == [3] * 4

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            ({"dtype": object}, TypeError),
            ({"dtype": np.dtype([])}, TypeError),
            ({"dtype": np.float32, "shape": 7}, DMLError),
            ({"dtype": np.float32, "shape": (2, -3)}, DMLError),
            ({"shape": (1 << 62, 1 << 62)}, DMLError),
            ({"shape": (2.5,)}, TypeError),
            ({"offset": 25}, DMLError),
            ({"offset": -1}, DMLError),
            ({"shape": 24, "offset": 1}, DMLError),
        ],
    )
    def test_bad_arguments(self, bench, arguments, error):
        with pytest.raises(error):
            bench.upload(24).array(**arguments)


class TestHeaps:
    def heap(self, bench, size=4 * 65536, kind=DEFAULT, **fields):
        return bench.device.CreateHeap(d3d12.CD3DX12_HEAP_DESC(size, kind, **fields))

    def placed(self, bench, heap, offset, size, flags=0, state=0):
        desc = d3d12.CD3DX12_RESOURCE_DESC.Buffer(size, flags)
        return bench.device.CreatePlacedResource(heap, offset, desc, state, None)

    def test_placed_resources_share_memory(self, bench):
        heap = self.heap(bench)
        whole = self.placed(bench, heap, 0, 4 * 65536)
        part = self.placed(bench, heap, 65536, 100)
        part.memory[:] = 7
        assert whole.memory[65535:65537].tolist() == [0, 7]
        assert whole.memory[65536 + 99 :][:2].tolist() == [7, 0]
        assert part.GetGPUVirtualAddress() - whole.GetGPUVirtualAddress() == 65536
        assert whole.range(65536, 10).overlaps(part.range())
        assert not whole.range(0, 65536).overlaps(part.range())
        assert not whole.range(65536, 0).overlaps(part.range())

    def test_memory_outlives_the_heap_object(self, bench, collect):
        part = self.placed(bench, self.heap(bench), 65536, 4)
        collect()
        part.memory[:] = 1
        assert part.array().tolist() == [1] * 4

    def test_placement_keeps_the_contents(self, bench):
        heap = self.heap(bench)
        self.placed(bench, heap, 0, 4).memory[:] = 9
        assert self.placed(bench, heap, 0, 4).array().tolist() == [9] * 4

    @pytest.mark.parametrize("offset", [1, 4096, 65535])
    def test_offsets_are_multiples_of_64_kib(self, bench, offset):
        with pytest.raises(DMLError, match="heapOffset must be a multiple"):
            self.placed(bench, self.heap(bench), offset, 4)

    @pytest.mark.parametrize(
        ("offset", "size", "good"),
        [
            (0, 100000, True),
            (0, 100001, False),
            (65536, 34464, True),
            (65536, 34465, False),
            (131072, 1, False),
        ],
    )
    def test_ranges_end_inside(self, bench, offset, size, good):
        heap = self.heap(bench, 100000)
        if good:
            self.placed(bench, heap, offset, size)
            return
        with pytest.raises(DMLError, match=r"heapOffset \+ desc\.Width"):
            self.placed(bench, heap, offset, size)

    def test_the_heap_type_rules_the_buffer(self, bench):
        upload = self.heap(bench, kind=UPLOAD)
        with pytest.raises(DMLError, match="initialState must be D3D12_RESOURCE_STATE_GENERIC_READ"):
            self.placed(bench, upload, 0, 4)
        buffer = self.placed(bench, upload, 0, 4, state=e.D3D12_RESOURCE_STATE_GENERIC_READ)
        buffer.Map()[:] = 1
        properties, _ = buffer.GetHeapProperties()
        assert properties.Type == UPLOAD

    def test_desc_comes_back(self, bench):
        desc = self.heap(bench, 10, flags=e.D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS).GetDesc()
        assert (desc.SizeInBytes, desc.Alignment) == (10, 65536)
        assert desc.Flags == e.D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS

    @pytest.mark.parametrize(
        ("fields", "named"),
        [
            ({"size": 0}, "SizeInBytes"),
            ({"alignment": 4096}, "Alignment"),
            ({"kind": 77}, r"Properties\.Type"),
            ({"flags": 4 | 64 | 128}, "Flags"),
            ({"flags": e.D3D12_HEAP_FLAG_ALLOW_WRITE_WATCH}, "Flags"),
        ],
    )
    def test_heap_descs(self, bench, fields, named):
        with pytest.raises(DMLError, match=rf"desc\.{named}") as caught:
            self.heap(bench, **fields)
        assert caught.value.hresult == E_INVALIDARG

    def test_write_watch_is_for_heaps_that_the_cpu_writes(self, bench):
        self.heap(bench, kind=UPLOAD, flags=e.D3D12_HEAP_FLAG_ALLOW_WRITE_WATCH)

    def test_heaps_that_deny_buffers(self, bench):
        heap = self.heap(bench, flags=e.D3D12_HEAP_FLAG_DENY_BUFFERS)
        with pytest.raises(DMLError, match="DENY_BUFFERS"):
            self.placed(bench, heap, 0, 4)

    def test_wrong_objects(self, bench):
        with pytest.raises(TypeError, match="heap must be an ID3D12Heap"):
            self.placed(bench, bench.buffer(4), 0, 4)
        other = d3d12.D3D12CreateDevice().CreateHeap(d3d12.CD3DX12_HEAP_DESC(65536, DEFAULT))
        with pytest.raises(DMLError, match="heap belongs to another device"):
            self.placed(bench, other, 0, 4)


def test_ranges(bench):
    buffer = bench.buffer(10)
    assert buffer.range(4).size == 6
    assert buffer.range(10).size == 0
    assert buffer.range(2, 3).gpu_address == buffer.GetGPUVirtualAddress() + 2
    buffer.range(2, 3).bytes[:] = 1
    assert buffer.array().tolist() == [0, 0, 1, 1, 1, 0, 0, 0, 0, 0]
    for offset, size in ((11, None), (8, 3), (0, 11), ((1 << 64) - 1, 2)):
        with pytest.raises(DMLError, match="has 10 bytes"):
            buffer.range(offset, size)
