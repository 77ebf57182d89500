"""The methods of ``ID3D12Device`` that query allocation sizes and layouts without creating anything."""

from __future__ import annotations

from typing import Any

from ..abi.arguments import enumerator, invalid, uint, unsigned
from ..abi.counted_structs import structs_at
from ..abi.hresult import DMLError
from ..abi.pointers import struct_at
from ..api.d3d12_enums import D3D12_HEAP_TYPE
from ..api.d3d12_structs import (
    D3D12_HEAP_PROPERTIES,
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT,
    D3D12_RESOURCE_ALLOCATION_INFO,
    D3D12_RESOURCE_DESC,
    D3D12_SUBRESOURCE_FOOTPRINT,
)
from .buffer_rules import CUSTOM, CUSTOM_EQUIVALENTS, check_buffer_desc, check_node_mask, check_subresources
from .d3d12_constants import (
    D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT,
    D3D12_TEXTURE_DATA_PITCH_ALIGNMENT,
    UINT64_MAX,
    UINT_MAX,
)
from .device_base import DeviceBase


class AllocationQueries(DeviceBase):
    """Mixin of ``ID3D12Device``: allocation queries."""

    def GetResourceAllocationInfo(
        self, visibleMask: int, numResourceDescs: Any, resourceDescs: Any = None
    ) -> D3D12_RESOURCE_ALLOCATION_INFO:
        """Bytes that the buffers need when placed consecutively in a heap, each aligned to 64 KiB.

        As documented, an invalid desc makes ``SizeInBytes`` UINT64_MAX.
        """
        check_node_mask(uint(visibleMask, "visibleMask"), "visibleMask")
        size = 0
        unit = D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT
        descs = structs_at(
            numResourceDescs, resourceDescs, D3D12_RESOURCE_DESC, "numResourceDescs", "resourceDescs"
        )
        for index, buffer_desc in enumerate(descs):
            try:
                check_buffer_desc(buffer_desc, f"resourceDescs[{index}]")
            except DMLError:
                size = UINT64_MAX
                break
            size += -(-buffer_desc.Width // unit) * unit
        return D3D12_RESOURCE_ALLOCATION_INFO(SizeInBytes=min(size, UINT64_MAX), Alignment=unit)

    def GetCopyableFootprints(
        self, resourceDesc: Any, firstSubresource: int, numSubresources: int, baseOffset: int
    ) -> tuple[D3D12_PLACED_SUBRESOURCE_FOOTPRINT, int, int, int]:
        """The layout of a buffer's bytes in an upload buffer at ``baseOffset``: its footprint, the number of rows, the
        bytes per row and the total bytes (nf-d3d12-id3d12device-getcopyablefootprints).

        A buffer has one subresource. Raises ``E_INVALIDARG`` for any other, and for a desc that is not of a buffer.
        """
        buffer_desc = struct_at(resourceDesc, D3D12_RESOURCE_DESC, "resourceDesc")
        check_buffer_desc(buffer_desc, "resourceDesc")
        check_subresources(firstSubresource, numSubresources)
        width = buffer_desc.Width
        pitch = -(-width // D3D12_TEXTURE_DATA_PITCH_ALIGNMENT) * D3D12_TEXTURE_DATA_PITCH_ALIGNMENT
        footprint = D3D12_SUBRESOURCE_FOOTPRINT(buffer_desc.Format, width & UINT_MAX, 1, 1, pitch & UINT_MAX)
        layout = D3D12_PLACED_SUBRESOURCE_FOOTPRINT(unsigned(baseOffset, "baseOffset"), footprint)
        return layout, 1, width, width

    def GetCustomHeapProperties(self, nodeMask: int, heapType: int) -> D3D12_HEAP_PROPERTIES:
        """The custom heap properties equivalent to ``heapType`` on this device."""
        check_node_mask(uint(nodeMask, "nodeMask"), "nodeMask")
        kind = enumerator(heapType, D3D12_HEAP_TYPE, "heapType")
        if kind not in CUSTOM_EQUIVALENTS:
            raise invalid(f"heapType must not be {kind.name}")
        pages, pool = CUSTOM_EQUIVALENTS[kind]
        return D3D12_HEAP_PROPERTIES(
            Type=CUSTOM,
            CPUPageProperty=pages,
            MemoryPoolPreference=pool,
            CreationNodeMask=1,
            VisibleNodeMask=1,
        )
