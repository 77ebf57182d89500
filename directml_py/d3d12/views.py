"""Descriptors: unordered access views of buffers, and placeholders for other views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..abi.arguments import child, enumerator, flags, invalid
from ..abi.hresult import E_NOTIMPL, DMLError
from ..abi.pointers import struct_at
from ..api.d3d12_enums import (
    D3D12_BUFFER_UAV_FLAG_RAW,
    D3D12_BUFFER_UAV_FLAGS,
    D3D12_DESCRIPTOR_HEAP_TYPE,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_UAV_DIMENSION,
    D3D12_UAV_DIMENSION_BUFFER,
    DXGI_FORMAT,
    DXGI_FORMAT_R32_TYPELESS,
    DXGI_FORMAT_UNKNOWN,
)
from ..api.d3d12_structs import D3D12_BUFFER_UAV, D3D12_UNORDERED_ACCESS_VIEW_DESC
from ..api.descriptor_handles import D3D12_CPU_DESCRIPTOR_HANDLE
from ..runtime.buffer import BufferRange
from .descriptors import ID3D12DescriptorHeap
from .formats import RAW, Format, format_of
from .resource import ID3D12Resource

if TYPE_CHECKING:
    from .device_child import ParentDevice

ALLOWED: Final = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
RAW_ALIGNMENT: Final = 16
MAX_STRIDE: Final = 2048


class UnorderedAccessView(NamedTuple):
    """A buffer UAV. ``range`` is None for a null descriptor, ``format`` for a structured buffer."""

    range: BufferRange | None
    format: Format | None


class OtherView(NamedTuple):
    """A placeholder for a descriptor that no emulated command reads, written by ``call``."""

    call: str


def cpu_slot(
    device: ParentDevice, handle: Any, kind: D3D12_DESCRIPTOR_HEAP_TYPE, name: str
) -> tuple[ID3D12DescriptorHeap, int]:
    """The descriptor heap and index of a D3D12_CPU_DESCRIPTOR_HANDLE, which must be in a heap of type ``kind``."""
    pointer = struct_at(handle, D3D12_CPU_DESCRIPTOR_HANDLE, name).ptr
    slot = device.find_descriptors(pointer)
    if slot is None or not slot[0].has_cpu_handle(pointer):
        raise invalid(f"{name} is 0x{pointer:X}, which is not a CPU handle in a heap of this device")
    if slot[0].type != kind:
        raise invalid(f"{name} is in a heap of type {slot[0].type.name}; it must be {kind.name}")
    return slot


def unordered_access_view(
    device: ParentDevice, resource: Any, counter: Any, desc: Any
) -> UnorderedAccessView:
    """The descriptor that CreateUnorderedAccessView writes (ns-d3d12-d3d12_unordered_access_view_desc, -buffer_uav)."""
    if counter is not None:
        raise DMLError(
            E_NOTIMPL, "counterResource must be None: counters of structured buffers are not emulated"
        )
    if resource is None and desc is None:
        raise invalid("desc and resource are both null; at least one is required")
    if desc is None:
        raise invalid("desc is null; a buffer view has no default desc")
    view_desc = struct_at(desc, D3D12_UNORDERED_ACCESS_VIEW_DESC, "desc")
    dimension = enumerator(view_desc.ViewDimension, D3D12_UAV_DIMENSION, "desc.ViewDimension")
    if resource is None:
        return UnorderedAccessView(None, None)
    child(resource, ID3D12Resource, "resource", device)
    if not resource.flags & ALLOWED:
        raise invalid(f"resource: {resource} was created without {ALLOWED.name}")
    if dimension != D3D12_UAV_DIMENSION_BUFFER:
        raise invalid(
            f"desc.ViewDimension must be {D3D12_UAV_DIMENSION_BUFFER.name} for a buffer, not {dimension.name}"
        )
    view: D3D12_BUFFER_UAV = view_desc.Buffer
    size, element = _element(view, enumerator(view_desc.Format, DXGI_FORMAT, "desc.Format"))
    if view.CounterOffsetInBytes:
        raise invalid(
            f"desc.Buffer.CounterOffsetInBytes must be 0 without a counter, not {view.CounterOffsetInBytes}"
        )
    if not view.NumElements:
        raise invalid("desc.Buffer.NumElements must not be 0")
    start, length = view.FirstElement * size, view.NumElements * size
    problem = resource.buffer.range_problem(start, length)
    if problem:
        raise invalid(f"desc.Buffer {problem}")
    return UnorderedAccessView(BufferRange(resource.buffer, start, length), element)


def _element(view: D3D12_BUFFER_UAV, format: DXGI_FORMAT) -> tuple[int, Format | None]:
    """The element's size in bytes and its format, None for a structured buffer."""
    stride = view.StructureByteStride
    if flags(view.Flags, D3D12_BUFFER_UAV_FLAGS, "desc.Buffer.Flags") & D3D12_BUFFER_UAV_FLAG_RAW:
        if format != DXGI_FORMAT_R32_TYPELESS:
            raise invalid(
                f"desc.Format must be {DXGI_FORMAT_R32_TYPELESS.name} for a raw view, not {format.name}"
            )
        if stride:
            raise invalid(f"desc.Buffer.StructureByteStride must be 0 for a raw view, not {stride}")
        if view.FirstElement * RAW.size % RAW_ALIGNMENT:
            raise invalid(
                f"desc.Buffer.FirstElement must be a multiple of {RAW_ALIGNMENT // RAW.size} for a raw view, not "
                f"{view.FirstElement}"
            )
        return RAW.size, RAW
    if stride:
        if format != DXGI_FORMAT_UNKNOWN:
            raise invalid(
                f"desc.Format must be {DXGI_FORMAT_UNKNOWN.name} for a structured buffer, not {format.name}"
            )
        if stride % 4 or stride > MAX_STRIDE:
            raise invalid(
                f"desc.Buffer.StructureByteStride must be a multiple of 4 up to {MAX_STRIDE}, not {stride}"
            )
        return stride, None
    if format in (DXGI_FORMAT_UNKNOWN, DXGI_FORMAT_R32_TYPELESS):
        raise invalid(f"desc.Format must be a typed format for a typed view, not {format.name}")
    typed = format_of(format)
    if typed is None:
        raise DMLError(E_NOTIMPL, f"desc.Format: views of {format.name} are not emulated")
    return typed.size, typed
