"""``ID3D12Heap``: memory that placed resources share."""

from __future__ import annotations

from ..api.d3d12_enums import D3D12_HEAP_FLAG_DENY_BUFFERS, D3D12_HEAP_FLAGS, D3D12_HEAP_TYPE
from ..api.d3d12_structs import D3D12_HEAP_DESC
from ..api.iids import IID_ID3D12Heap, IID_ID3D12Heap1
from ..runtime.allocation import Allocation
from .d3d12_constants import D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT
from .device_child import ID3D12Pageable, ParentDevice, short


class ID3D12Heap(ID3D12Pageable):
    IID = IID_ID3D12Heap

    def __init__(self, device: ParentDevice, desc: D3D12_HEAP_DESC, allocation: Allocation) -> None:
        super().__init__(device)
        self._desc = desc
        self.flags = D3D12_HEAP_FLAGS(desc.Flags)
        self.allocation = allocation

    def _about(self) -> str:
        kind = short(D3D12_HEAP_TYPE(self._desc.Properties.Type))
        return f"{self._desc.SizeInBytes:,} bytes, {kind}"

    @property
    def denies_buffers(self) -> bool:
        return bool(self.flags & D3D12_HEAP_FLAG_DENY_BUFFERS)

    def GetDesc(self) -> D3D12_HEAP_DESC:
        """A copy of the desc, with the default alignment in place of 0."""
        desc = D3D12_HEAP_DESC.from_buffer_copy(self._desc)
        desc.Alignment = desc.Alignment or D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT
        return desc


class ID3D12Heap1(ID3D12Heap):
    """Adds protected resource sessions, which are not emulated."""

    IID = IID_ID3D12Heap1
