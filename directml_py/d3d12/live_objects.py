"""``ID3D12DebugDevice::ReportLiveDeviceObjects``: messages about the live objects of a device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ..abi.interface import IUnknown
from ..api.d3d12_enums import (
    D3D12_MESSAGE_ID,
    D3D12_MESSAGE_ID_LIVE_COMMANDALLOCATOR,
    D3D12_MESSAGE_ID_LIVE_COMMANDLIST12,
    D3D12_MESSAGE_ID_LIVE_COMMANDQUEUE,
    D3D12_MESSAGE_ID_LIVE_DESCRIPTORHEAP,
    D3D12_MESSAGE_ID_LIVE_DEVICE,
    D3D12_MESSAGE_ID_LIVE_HEAP,
    D3D12_MESSAGE_ID_LIVE_MONITOREDFENCE,
    D3D12_MESSAGE_ID_LIVE_OBJECT_SUMMARY,
    D3D12_MESSAGE_ID_LIVE_QUERYHEAP,
    D3D12_MESSAGE_ID_LIVE_RESOURCE,
    D3D12_MESSAGE_ID_LIVE_ROOTSIGNATURE,
    D3D12_MESSAGE_ID_UNKNOWN,
    D3D12_RLDO_DETAIL,
    D3D12_RLDO_FLAGS,
    D3D12_RLDO_IGNORE_INTERNAL,
    D3D12_RLDO_SUMMARY,
)
from ..late import loading

if TYPE_CHECKING:
    from .device_child import ID3D12DeviceChild, ParentDevice

IDS: Final = {
    "ID3D12CommandAllocator": D3D12_MESSAGE_ID_LIVE_COMMANDALLOCATOR,
    "ID3D12CommandQueue": D3D12_MESSAGE_ID_LIVE_COMMANDQUEUE,
    "ID3D12DescriptorHeap": D3D12_MESSAGE_ID_LIVE_DESCRIPTORHEAP,
    "ID3D12Fence": D3D12_MESSAGE_ID_LIVE_MONITOREDFENCE,
    "ID3D12GraphicsCommandList": D3D12_MESSAGE_ID_LIVE_COMMANDLIST12,
    "ID3D12Heap": D3D12_MESSAGE_ID_LIVE_HEAP,
    "ID3D12QueryHeap": D3D12_MESSAGE_ID_LIVE_QUERYHEAP,
    "ID3D12Resource": D3D12_MESSAGE_ID_LIVE_RESOURCE,
    "ID3D12RootSignature": D3D12_MESSAGE_ID_LIVE_ROOTSIGNATURE,
}
# Functions that return the number of C references to an object, None if it was never passed to C; tried in order.
COUNTERS: Final[list[Callable[[IUnknown], int | None]]] = []


def _references(item: IUnknown) -> int | None:
    return next((count for counter in COUNTERS if (count := counter(item)) is not None), None)


def _line(item: IUnknown, kind: str, name: str) -> str:
    references = _references(item)
    held = "held by Python" if references is None else f"Refcount: {references}"
    return f"Live {kind} at 0x{item.handle:X}" + (f", Name: {name}" if name else "") + f", {held}"


def live_objects(
    device: ParentDevice, children: Sequence[ID3D12DeviceChild], flags: D3D12_RLDO_FLAGS
) -> Iterator[tuple[D3D12_MESSAGE_ID, str]]:
    """Messages about the device and its live ``children``: counts by interface with SUMMARY, each object with DETAIL.
    IGNORE_INTERNAL omits objects that C has released and only the library references."""
    with loading:
        from .device_child import unversioned
    yield D3D12_MESSAGE_ID_LIVE_DEVICE, _line(device, unversioned(type(device)), device.name)
    if flags & D3D12_RLDO_IGNORE_INTERNAL:
        children = [child for child in children if _references(child) != 0]
    if flags & D3D12_RLDO_SUMMARY:
        for kind, number in Counter(unversioned(type(child)) for child in children).items():
            yield D3D12_MESSAGE_ID_LIVE_OBJECT_SUMMARY, f"Live {kind}: {number}"
    if flags & D3D12_RLDO_DETAIL:
        for child in children:
            kind = unversioned(type(child))
            yield IDS.get(kind, D3D12_MESSAGE_ID_UNKNOWN), "\t" + _line(child, kind, child.name)
