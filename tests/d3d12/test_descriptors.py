"""Descriptor heaps, handles and slots."""

from __future__ import annotations

from itertools import pairwise

import pytest
from work import grows_like_its_size

from directml_py import d3d12
from directml_py.abi.hresult import E_INVALIDARG, DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s
from directml_py.runtime.allocation import AddressSpace

VIEWS = e.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV

VISIBLE = e.D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE


def make(bench, count=4, kind=e.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, flags=VISIBLE, **fields):
    return bench.device.CreateDescriptorHeap(
        s.D3D12_DESCRIPTOR_HEAP_DESC(Type=kind, NumDescriptors=count, Flags=flags, **fields)
    )


def test_handles_lead_back_to_the_slots(bench):
    heaps = [make(bench), make(bench, 3), make(bench, 2, flags=0)]
    step = bench.device.GetDescriptorHandleIncrementSize(e.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV)
    for heap in heaps:
        starts = [heap.GetCPUDescriptorHandleForHeapStart().ptr]
        if heap.shader_visible:
            starts.append(heap.GetGPUDescriptorHandleForHeapStart().ptr)
        for start in starts:
            for index in range(heap.size):
                assert bench.device.find_descriptors(start + index * step) == (heap, index)
            assert bench.device.find_descriptors(start + heap.size * step) is None
            assert bench.device.find_descriptors(start + 1) is None
            assert bench.device.find_descriptors(start - step) is None


def test_unknown_handles(bench, collect):
    heap = make(bench)
    start = heap.GetCPUDescriptorHandleForHeapStart().ptr
    for ptr in (0, 1, (1 << 64) - 1):
        assert bench.device.find_descriptors(ptr) is None
    assert d3d12.D3D12CreateDevice().find_descriptors(start) is None
    del heap
    collect()
    assert bench.device.find_descriptors(start) is None
    assert make(bench).GetCPUDescriptorHandleForHeapStart().ptr != start


def test_slots(bench):
    heap = make(bench, 2)
    heap.write(1, "descriptor")
    assert (heap.read(0), heap.read(1)) == (None, "descriptor")
    for index in (-1, 2):
        with pytest.raises(DMLError, match="index"):
            heap.write(index, "x")


def test_hidden_heaps_have_no_gpu_handle(bench):
    assert make(bench, flags=0).GetGPUDescriptorHandleForHeapStart().ptr == 0


def test_hidden_heaps_have_no_gpu_handle_under_the_debug_layer(debug_bench):
    with pytest.raises(DMLError, match="SHADER_VISIBLE"):
        make(debug_bench, flags=0).GetGPUDescriptorHandleForHeapStart()


def test_desc_comes_back(bench):
    desc = make(bench, 7).GetDesc()
    assert (desc.NumDescriptors, desc.Flags) == (7, VISIBLE)


def test_large_heaps(bench):
    heap = make(bench, 1000000)
    heap.write(999999, "last")
    assert heap.read(999999) == "last"
    make(bench, 0xFFFFFFFF, flags=0)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"count": 0}, "NumDescriptors"),
        ({"count": 1000001}, "NumDescriptors"),
        ({"kind": e.D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER, "count": 2049}, "NumDescriptors"),
        ({"kind": e.D3D12_DESCRIPTOR_HEAP_TYPE_RTV}, "Flags"),
        ({"kind": e.D3D12_DESCRIPTOR_HEAP_TYPE_NUM_TYPES}, "Type"),
        ({"kind": -1}, "Type"),
        ({"flags": 2}, "Flags"),
        ({"NodeMask": 2}, "NodeMask"),
    ],
)
def test_desc_rules(bench, fields, named):
    with pytest.raises(DMLError, match=rf"desc\.{named}") as caught:
        make(bench, **fields)
    assert caught.value.hresult == E_INVALIDARG


def test_increment_sizes(bench):
    for kind in list(e.D3D12_DESCRIPTOR_HEAP_TYPE)[:4]:
        assert bench.device.GetDescriptorHandleIncrementSize(kind) > 0
    with pytest.raises(DMLError, match="descriptorHeapType"):
        bench.device.GetDescriptorHandleIncrementSize(e.D3D12_DESCRIPTOR_HEAP_TYPE_NUM_TYPES)


def test_many_live_heaps():
    """A heap is found by its handles among many others."""

    def prepared(count):
        device = d3d12.D3D12CreateDevice()
        heaps = []

        def run():
            for _ in range(count):
                heaps.append(
                    device.CreateDescriptorHeap(
                        s.D3D12_DESCRIPTOR_HEAP_DESC(
                            Type=e.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, NumDescriptors=1, Flags=VISIBLE
                        )
                    )
                )

        return run

    assert grows_like_its_size(prepared, 100)


def test_heaps_that_go_while_others_stay(bench, collect):
    """The remaining and later heaps are found, whatever the order in which others are destroyed."""
    heaps = [make(bench) for _ in range(20)]
    starts = [heap.GetGPUDescriptorHandleForHeapStart().ptr for heap in heaps]
    gone = [3, 0, 19, 7, 8]
    for place in gone:
        heaps[place] = None
    collect()
    heaps.append(make(bench))
    starts.append(heaps[-1].GetGPUDescriptorHandleForHeapStart().ptr)
    for heap, start in zip(heaps, starts, strict=True):
        assert bench.device.find_descriptors(start) == (None if heap is None else (heap, 0))
    assert len(bench.device._descriptors._starts) == 2 * (len(heaps) - len(gone))


@pytest.mark.parametrize("visible", [False, True])
def test_no_two_heaps_share_handles(bench, visible):
    """Each heap's handles begin after the last one of the previous heap."""
    made = [
        bench.device.CreateDescriptorHeap(s.D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, count, int(visible)))
        for count in (100_000, 3, 100_000, 1)
    ]
    step = bench.device.GetDescriptorHandleIncrementSize(VIEWS)
    for get in ("GetCPUDescriptorHandleForHeapStart", "GetGPUDescriptorHandleForHeapStart")[: 1 + visible]:
        ranges = sorted((getattr(heap, get)().ptr, heap.GetDesc().NumDescriptors) for heap in made)
        for (start, count), (following, _) in pairwise(ranges):
            assert start + count * step <= following


def test_address_ranges_do_not_touch():
    """Ranges are aligned to units, with a gap of at least a byte between them."""
    space = AddressSpace(0x1000, 16)
    assert [space.take(size) for size in (20, 16, 1, 1)] == [0x1000, 0x1030, 0x1050, 0x1070]


def test_cpu_handles_end_with_the_heap(bench):
    heap = bench.device.CreateDescriptorHeap(s.D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, 3, 1))
    step, start = bench.device.GetDescriptorHandleIncrementSize(VIEWS), heap.cpu_start
    assert [heap.has_cpu_handle(start + place * step) for place in (-1, 0, 2, 3)] == [
        False,
        True,
        True,
        False,
    ]
    assert not heap.has_cpu_handle(heap.gpu_start)
