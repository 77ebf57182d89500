"""The helpers of d3dx12.h that DirectML samples use, with its names and argument order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..abi.arguments import child, instance, integer, invalid, is_series, uint, unsigned
from ..abi.memory import MemoryFault, read
from ..abi.pointers import struct_at
from ..api.d3d12_enums import (
    D3D12_HEAP_FLAG_NONE,
    D3D12_HEAP_TYPE_DEFAULT,
    D3D12_RESOURCE_BARRIER_FLAG_NONE,
    D3D12_RESOURCE_BARRIER_TYPE_ALIASING,
    D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
    D3D12_RESOURCE_BARRIER_TYPE_UAV,
    D3D12_RESOURCE_DIMENSION_BUFFER,
    D3D12_RESOURCE_FLAG_NONE,
    D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
    DXGI_FORMAT_UNKNOWN,
)
from ..api.d3d12_structs import (
    D3D12_HEAP_DESC,
    D3D12_HEAP_PROPERTIES,
    D3D12_RANGE,
    D3D12_RESOURCE_ALIASING_BARRIER,
    D3D12_RESOURCE_ALLOCATION_INFO,
    D3D12_RESOURCE_BARRIER,
    D3D12_RESOURCE_DESC,
    D3D12_RESOURCE_TRANSITION_BARRIER,
    D3D12_RESOURCE_UAV_BARRIER,
    D3D12_SUBRESOURCE_DATA,
    DXGI_SAMPLE_DESC,
)
from ..api.descriptor_handles import D3D12_CPU_DESCRIPTOR_HANDLE, D3D12_GPU_DESCRIPTOR_HANDLE
from .buffer_rules import check_subresources
from .command_list import ID3D12GraphicsCommandList
from .d3d12_constants import D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES
from .resource import ID3D12Resource


class CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_PROPERTIES):
    """Properties of an abstracted heap type, with node masks of 1; or a copy of the D3D12_HEAP_PROPERTIES ``type``."""

    def __init__(
        self,
        type: int | D3D12_HEAP_PROPERTIES = D3D12_HEAP_TYPE_DEFAULT,
        creationNodeMask: int = 1,
        nodeMask: int = 1,
    ) -> None:
        if isinstance(type, D3D12_HEAP_PROPERTIES):
            super().__init__(type)
            return
        super().__init__(Type=type, CreationNodeMask=creationNodeMask, VisibleNodeMask=nodeMask)


class CD3DX12_HEAP_DESC(D3D12_HEAP_DESC):
    """A heap desc. ``properties`` are D3D12_HEAP_PROPERTIES or a D3D12_HEAP_TYPE; ``size`` may be a D3D12_HEAP_DESC to
    copy."""

    def __init__(
        self,
        size: int | D3D12_HEAP_DESC,
        properties: Any = None,
        alignment: int = 0,
        flags: int = D3D12_HEAP_FLAG_NONE,
    ) -> None:
        if isinstance(size, D3D12_HEAP_DESC):
            super().__init__(size)
            return
        if properties is None:
            raise TypeError("CD3DX12_HEAP_DESC: properties are missing")
        if not isinstance(properties, D3D12_HEAP_PROPERTIES):
            properties = CD3DX12_HEAP_PROPERTIES(properties)
        super().__init__(SizeInBytes=size, Properties=properties, Alignment=alignment, Flags=flags)


class CD3DX12_RESOURCE_DESC(D3D12_RESOURCE_DESC):
    """A resource desc. ``Buffer`` takes the width in bytes, or a D3D12_RESOURCE_ALLOCATION_INFO instead of width and
    alignment."""

    @classmethod
    def Buffer(
        cls,
        width: Any,
        flags: int = D3D12_RESOURCE_FLAG_NONE,
        alignment: int = 0,
    ) -> CD3DX12_RESOURCE_DESC:
        if isinstance(width, D3D12_RESOURCE_ALLOCATION_INFO):
            width, alignment = width.SizeInBytes, width.Alignment
        return cls(
            Dimension=D3D12_RESOURCE_DIMENSION_BUFFER,
            Alignment=alignment,
            Width=unsigned(width, "width"),
            Height=1,
            DepthOrArraySize=1,
            MipLevels=1,
            Format=DXGI_FORMAT_UNKNOWN,
            SampleDesc=DXGI_SAMPLE_DESC(Count=1, Quality=0),
            Layout=D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
            Flags=flags,
        )


class CD3DX12_RESOURCE_BARRIER(D3D12_RESOURCE_BARRIER):
    # As in C++, these hide the members of the union.
    @classmethod
    def Transition(  # type: ignore[override]
        cls,
        resource: ID3D12Resource,
        stateBefore: int,
        stateAfter: int,
        subresource: int = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES,
        flags: int = D3D12_RESOURCE_BARRIER_FLAG_NONE,
    ) -> D3D12_RESOURCE_BARRIER:
        return D3D12_RESOURCE_BARRIER(
            Type=D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
            Flags=flags,
            Transition=D3D12_RESOURCE_TRANSITION_BARRIER(
                pResource=resource, Subresource=subresource, StateBefore=stateBefore, StateAfter=stateAfter
            ),
        )

    @classmethod
    def Aliasing(  # type: ignore[override]
        cls, resourceBefore: ID3D12Resource | None, resourceAfter: ID3D12Resource | None
    ) -> D3D12_RESOURCE_BARRIER:
        return D3D12_RESOURCE_BARRIER(
            Type=D3D12_RESOURCE_BARRIER_TYPE_ALIASING,
            Aliasing=D3D12_RESOURCE_ALIASING_BARRIER(
                pResourceBefore=resourceBefore, pResourceAfter=resourceAfter
            ),
        )

    @classmethod
    def UAV(cls, resource: ID3D12Resource | None) -> D3D12_RESOURCE_BARRIER:  # type: ignore[override]
        return D3D12_RESOURCE_BARRIER(
            Type=D3D12_RESOURCE_BARRIER_TYPE_UAV,
            UAV=D3D12_RESOURCE_UAV_BARRIER(pResource=resource),
        )


def _offset_handle(handle: Any, kind: Any, offset: int, increment: int) -> int:
    start = 0 if handle is None else struct_at(handle, kind, "handle").ptr
    distance = integer(offset, "offset") * uint(increment, "increment")
    return unsigned(start + distance, "handle + offset")


class CD3DX12_CPU_DESCRIPTOR_HANDLE(D3D12_CPU_DESCRIPTOR_HANDLE):
    """``handle`` moved by ``offset`` descriptors of ``increment`` bytes, or by ``offset`` bytes."""

    def __init__(self, handle: Any = None, offset: int = 0, increment: int = 1) -> None:
        super().__init__(ptr=_offset_handle(handle, D3D12_CPU_DESCRIPTOR_HANDLE, offset, increment))

    def Offset(self, offset: int, increment: int = 1) -> CD3DX12_CPU_DESCRIPTOR_HANDLE:
        """Move this handle."""
        self.ptr = _offset_handle(self, D3D12_CPU_DESCRIPTOR_HANDLE, offset, increment)
        return self


class CD3DX12_GPU_DESCRIPTOR_HANDLE(D3D12_GPU_DESCRIPTOR_HANDLE):
    """``handle`` moved by ``offset`` descriptors of ``increment`` bytes, or by ``offset`` bytes."""

    def __init__(self, handle: Any = None, offset: int = 0, increment: int = 1) -> None:
        super().__init__(ptr=_offset_handle(handle, D3D12_GPU_DESCRIPTOR_HANDLE, offset, increment))

    def Offset(self, offset: int, increment: int = 1) -> CD3DX12_GPU_DESCRIPTOR_HANDLE:
        """Move this handle."""
        self.ptr = _offset_handle(self, D3D12_GPU_DESCRIPTOR_HANDLE, offset, increment)
        return self


class CD3DX12_RANGE(D3D12_RANGE):
    """A range of bytes. ``begin`` may be a D3D12_RANGE to copy."""

    def __init__(self, begin: int | D3D12_RANGE = 0, end: int = 0) -> None:
        if isinstance(begin, D3D12_RANGE):
            super().__init__(begin)
        else:
            super().__init__(Begin=begin, End=end)


def GetRequiredIntermediateSize(
    destinationResource: ID3D12Resource, firstSubresource: int = 0, numSubresources: int = 1
) -> int:
    """Bytes of the upload buffer needed to fill ``destinationResource``."""
    instance(destinationResource, ID3D12Resource, "destinationResource")
    check_subresources(firstSubresource, numSubresources)
    return destinationResource.width


def UpdateSubresources(
    commandList: ID3D12GraphicsCommandList,
    destinationResource: ID3D12Resource,
    intermediate: ID3D12Resource,
    intermediateOffset: int,
    firstSubresource: int,
    numSubresources: int,
    srcData: Any,
) -> int:
    """Write ``srcData`` (a D3D12_SUBRESOURCE_DATA) into ``intermediate`` immediately, and record its copy to all of
    ``destinationResource``. Returns the number of bytes.

    Reads as many bytes as the destination has. Raises ``E_INVALIDARG`` where d3dx12.h returns 0, and if a nonzero
    ``SlicePitch`` is smaller than the destination.
    """
    device = instance(commandList, ID3D12GraphicsCommandList, "commandList").device
    child(destinationResource, ID3D12Resource, "destinationResource", device)
    child(intermediate, ID3D12Resource, "intermediate", device)
    size = GetRequiredIntermediateSize(destinationResource, firstSubresource, numSubresources)
    offset = unsigned(intermediateOffset, "intermediateOffset")
    problem = intermediate.buffer.range_problem(offset, size)
    if problem:
        raise invalid(f"intermediate {problem}")
    data = struct_at(srcData[0] if is_series(srcData) else srcData, D3D12_SUBRESOURCE_DATA, "srcData")
    if 0 < data.SlicePitch < size:
        raise invalid(f"srcData.SlicePitch is {data.SlicePitch}, but the destination has {size} bytes")
    try:
        source = read(data.pData or 0, size)
    except (MemoryFault, MemoryError) as fault:
        raise invalid(f"srcData.pData: {fault}") from None
    intermediate.Map()[offset : offset + size] = np.frombuffer(source, dtype=np.uint8)
    intermediate.Unmap()
    commandList.CopyBufferRegion(destinationResource, 0, intermediate, offset, size)
    return size
