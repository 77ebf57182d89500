"""Sizes and layouts of buffers, computed from their descs without creating anything."""

from __future__ import annotations

import ctypes
from typing import Any, TypeAlias

from ..abi.arguments import enumerator, invalid, uint, unsigned
from ..abi.hresult import DMLError
from ..abi.pointers import struct_at
from ..api.d3d12_enums import D3D12_HEAP_TYPE
from ..api.d3d12_structs import (
    D3D12_HEAP_PROPERTIES,
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT,
    D3D12_RESOURCE_ALLOCATION_INFO,
    D3D12_RESOURCE_ALLOCATION_INFO1,
    D3D12_RESOURCE_DESC,
    D3D12_RESOURCE_DESC1,
    D3D12_SUBRESOURCE_FOOTPRINT,
)
from .buffer_rules import CUSTOM, CUSTOM_EQUIVALENTS, check_buffer_desc, check_node_mask, check_subresources
from .d3d12_constants import (
    D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT,
    D3D12_TEXTURE_DATA_PITCH_ALIGNMENT,
    UINT64_MAX,
    UINT_MAX,
)

AllocationInfo: TypeAlias = tuple[D3D12_RESOURCE_ALLOCATION_INFO, list[D3D12_RESOURCE_ALLOCATION_INFO1]]
Footprints: TypeAlias = tuple[D3D12_PLACED_SUBRESOURCE_FOOTPRINT, int, int, int]


def allocation_info(mask: Any, descs: list[D3D12_RESOURCE_DESC]) -> AllocationInfo:
    """The bytes of buffers that follow one another in a heap, each aligned to 64 KiB, and the offset and size of each.

    An invalid desc makes all sizes UINT64_MAX.
    """
    check_node_mask(uint(mask, "visibleMask"), "visibleMask")
    unit, offset, parts = D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT, 0, []
    for index, desc in enumerate(descs):
        try:
            check_buffer_desc(desc, f"resourceDescs[{index}]")
        except DMLError:
            unknown = D3D12_RESOURCE_ALLOCATION_INFO1(UINT64_MAX, unit, UINT64_MAX)
            return D3D12_RESOURCE_ALLOCATION_INFO(UINT64_MAX, unit), [unknown for _ in descs]
        size = -(-desc.Width // unit) * unit
        parts.append(D3D12_RESOURCE_ALLOCATION_INFO1(offset, unit, size))
        offset += size
    return D3D12_RESOURCE_ALLOCATION_INFO(min(offset, UINT64_MAX), unit), parts


def copyable_footprints(
    desc: D3D12_RESOURCE_DESC, first_subresource: Any, subresource_count: Any, offset: Any
) -> Footprints:
    """What GetCopyableFootprints returns for a buffer."""
    check_buffer_desc(desc, "resourceDesc")
    check_subresources(first_subresource, subresource_count)
    width = desc.Width
    pitch = -(-width // D3D12_TEXTURE_DATA_PITCH_ALIGNMENT) * D3D12_TEXTURE_DATA_PITCH_ALIGNMENT
    footprint = D3D12_SUBRESOURCE_FOOTPRINT(desc.Format, width & UINT_MAX, 1, 1, pitch & UINT_MAX)
    return D3D12_PLACED_SUBRESOURCE_FOOTPRINT(unsigned(offset, "baseOffset"), footprint), 1, width, width


def custom_heap_properties(mask: Any, heap_type: Any) -> D3D12_HEAP_PROPERTIES:
    """The properties of a heap of type CUSTOM that equals one of ``heap_type``."""
    check_node_mask(uint(mask, "nodeMask"), "nodeMask")
    kind = enumerator(heap_type, D3D12_HEAP_TYPE, "heapType")
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


def older_desc(desc: Any, name: str) -> D3D12_RESOURCE_DESC:
    """The D3D12_RESOURCE_DESC in a D3D12_RESOURCE_DESC1 of a buffer."""
    newer = struct_at(desc, D3D12_RESOURCE_DESC1, name)
    if any(bytes(newer.SamplerFeedbackMipRegion)):
        raise invalid(f"{name}.SamplerFeedbackMipRegion must be 0 for a buffer")
    return D3D12_RESOURCE_DESC.from_buffer_copy(bytes(newer)[: ctypes.sizeof(D3D12_RESOURCE_DESC)])
