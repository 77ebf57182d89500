"""Violations of each rule of CopyDescriptors, one at a time."""

from __future__ import annotations

import directml_py as dml

from ..rules.registry import breaks

VIEWS = dml.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV


def heap(device, flags=dml.D3D12_DESCRIPTOR_HEAP_FLAG_NONE):
    return device.CreateDescriptorHeap(dml.D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, 4, flags))


def copy(source_flags, count):
    """A call that copies between heaps of four descriptors."""
    device = dml.D3D12CreateDevice()
    target, source = heap(device), heap(device, source_flags)
    starts = [each.GetCPUDescriptorHandleForHeapStart() for each in (target, source)]
    # A heap that is gone has no handles.
    return lambda kept=(target, source): device.CopyDescriptorsSimple(count, *starts, VIEWS)


@breaks("D3D12-CopyDescriptors-ranges", "destDescriptorRangeStarts[0]")
def a_range_beyond_the_heap(wrong):
    return copy(dml.D3D12_DESCRIPTOR_HEAP_FLAG_NONE, 5 if wrong else 4)


@breaks("D3D12-CopyDescriptors-source", "srcDescriptorRangeStarts[0]")
def a_source_that_shaders_see(wrong):
    visible = dml.D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE
    return copy(visible if wrong else dml.D3D12_DESCRIPTOR_HEAP_FLAG_NONE, 4)
