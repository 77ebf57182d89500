"""The methods of ``ID3D12Device`` that create descriptor heaps, and write and copy descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..abi.hresult import DMLError
from ..abi.pointers import struct_at
from ..api.d3d12_enums import (
    D3D12_DESCRIPTOR_HEAP_TYPE,
    D3D12_DESCRIPTOR_HEAP_TYPE_DSV,
    D3D12_DESCRIPTOR_HEAP_TYPE_RTV,
)
from ..api.d3d12_structs import D3D12_DESCRIPTOR_HEAP_DESC
from .adapters import HARDWARE, Adapter
from .descriptor_copies import Ranges, copy_descriptors, report_instead
from .descriptors import (
    CBV_SRV_UAV,
    INCREMENTS,
    SAMPLER,
    DescriptorIndex,
    ID3D12DescriptorHeap,
    check_descriptor_heap_desc,
    heap_type,
)
from .device_base import DeviceBase
from .views import OtherView, cpu_slot, unordered_access_view

if TYPE_CHECKING:
    from .resource import ID3D12Resource


class DescriptorMethods(DeviceBase):
    """Mixin of ``ID3D12Device``: descriptors."""

    def __init__(self, adapter: Adapter = HARDWARE) -> None:
        super().__init__(adapter)
        self._descriptors = DescriptorIndex()

    def CreateDescriptorHeap(self, desc: Any) -> ID3D12DescriptorHeap:
        self._device.check_alive()
        heap_desc = struct_at(desc, D3D12_DESCRIPTOR_HEAP_DESC, "desc")
        check_descriptor_heap_desc(heap_desc, "desc")
        heap = ID3D12DescriptorHeap(self._device, heap_desc)
        self._descriptors.add(heap)
        return heap

    def GetDescriptorHandleIncrementSize(self, descriptorHeapType: int) -> int:
        return INCREMENTS[heap_type(descriptorHeapType, "descriptorHeapType")]

    def CopyDescriptorsSimple(
        self,
        numDescriptors: int,
        destDescriptorRangeStart: Any,
        srcDescriptorRangeStart: Any,
        descriptorHeapsType: int,
    ) -> None:
        """CopyDescriptors with one range on each side."""
        self.CopyDescriptors(
            1,
            [destDescriptorRangeStart],
            [numDescriptors],
            1,
            [srcDescriptorRangeStart],
            [numDescriptors],
            descriptorHeapsType,
        )

    def CopyDescriptors(
        self,
        numDestDescriptorRanges: int,
        destDescriptorRangeStarts: Any,
        destDescriptorRangeSizes: Any,
        numSrcDescriptorRanges: int,
        srcDescriptorRangeStarts: Any,
        srcDescriptorRangeSizes: Any,
        descriptorHeapsType: int,
    ) -> None:
        """Copy descriptors between ranges of CPU handles, which may be split differently on the two sides; if sizes are
        None, all are 1. An error is raised and nothing copied; under the debug layer it is a message."""
        if self.scheduler.removed:
            return
        destination = Ranges(
            "dest", numDestDescriptorRanges, destDescriptorRangeStarts, destDescriptorRangeSizes
        )
        source = Ranges("src", numSrcDescriptorRanges, srcDescriptorRangeStarts, srcDescriptorRangeSizes)
        try:
            overlap = copy_descriptors(self._device, destination, source, descriptorHeapsType)
        except DMLError as error:
            report_instead(self._device, error)
            return
        if overlap is not None:
            self.report_diagnostic(overlap)

    def find_descriptors(self, ptr: int) -> tuple[ID3D12DescriptorHeap, int] | None:
        """The descriptor heap and index that a CPU or GPU handle value refers to, or None."""
        return self._descriptors.find(ptr)

    def CreateUnorderedAccessView(
        self, resource: ID3D12Resource | None, counterResource: None, desc: Any, destDescriptor: Any
    ) -> None:
        """Write a raw, typed or structured buffer view to a descriptor; without a resource, a null descriptor."""
        if self.scheduler.removed:
            return
        heap, index = cpu_slot(self._device, destDescriptor, CBV_SRV_UAV, "destDescriptor")
        heap.write(index, unordered_access_view(self._device, resource, counterResource, desc))

    def CreateConstantBufferView(self, desc: Any, destDescriptor: Any) -> None:
        """Overwrites the descriptor. No emulated command reads it, nor those that the next four methods write."""
        self._other_view("CreateConstantBufferView", CBV_SRV_UAV, destDescriptor)

    def CreateShaderResourceView(self, resource: Any, desc: Any, destDescriptor: Any) -> None:
        self._other_view("CreateShaderResourceView", CBV_SRV_UAV, destDescriptor)

    def CreateRenderTargetView(self, resource: Any, desc: Any, destDescriptor: Any) -> None:
        self._other_view("CreateRenderTargetView", D3D12_DESCRIPTOR_HEAP_TYPE_RTV, destDescriptor)

    def CreateDepthStencilView(self, resource: Any, desc: Any, destDescriptor: Any) -> None:
        self._other_view("CreateDepthStencilView", D3D12_DESCRIPTOR_HEAP_TYPE_DSV, destDescriptor)

    def CreateSampler(self, desc: Any, destDescriptor: Any) -> None:
        self._other_view("CreateSampler", SAMPLER, destDescriptor)

    def _other_view(self, call: str, kind: D3D12_DESCRIPTOR_HEAP_TYPE, destination: Any) -> None:
        if self.scheduler.removed:
            return
        heap, index = cpu_slot(self._device, destination, kind, "destDescriptor")
        heap.write(index, OtherView(call))
