"""The methods of ``ID3D12Device`` that create heaps and buffers."""

from __future__ import annotations

from typing import Any

from ..abi.arguments import child, invalid, unsigned
from ..abi.hresult import E_OUTOFMEMORY, DMLError
from ..abi.pointers import struct_at
from ..api.d3d12_enums import (
    D3D12_HEAP_FLAG_CREATE_NOT_ZEROED,
    D3D12_HEAP_FLAG_NONE,
    D3D12_HEAP_FLAGS,
    D3D12_HEAP_TYPE_DEFAULT,
    D3D12_MESSAGE_CATEGORY_STATE_CREATION,
    D3D12_MESSAGE_ID_CREATEHEAP_NULLDESC,
    D3D12_MESSAGE_ID_CREATERESOURCE_STATE_IGNORED,
    D3D12_MESSAGE_SEVERITY_INFO,
    D3D12_RESOURCE_STATE_COMMON,
    D3D12_RESOURCE_STATES,
)
from ..api.d3d12_structs import D3D12_HEAP_DESC, D3D12_HEAP_PROPERTIES
from ..runtime.allocation import PATTERN, Allocation
from ..runtime.observers import created
from .adapters import count_in
from .buffer_rules import (
    FIXED_STATES,
    check_committed_flags,
    check_heap_desc,
    check_heap_properties,
    check_placement,
    cpu_accessible,
    read_buffer_desc,
)
from .d3d12_constants import D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT
from .device_base import DeviceBase
from .heap import ID3D12Heap, ID3D12Heap1
from .resource import ID3D12Resource2, Placement
from .sync_validation.host_memory import HOSTS, HostMemory
from .sync_validation.resource_states import state_name
from .sync_validation.shadow_memory import SHADOWS, ShadowMemory
from .tile_mappings import TILE, tiles_of


class ResourceCreation(DeviceBase):
    """Mixin of ``ID3D12Device``: creation of heaps and resources."""

    def CreateCommittedResource(
        self,
        heapProperties: Any,
        heapFlags: int,
        desc: Any,
        initialState: int,
        optimizedClearValue: None = None,
    ) -> ID3D12Resource2:
        """A buffer with a zero-initialized heap of its own."""
        self.check_alive()
        properties = struct_at(heapProperties, D3D12_HEAP_PROPERTIES, "heapProperties")
        check_heap_properties(properties, "heapProperties")
        heap_flags = check_committed_flags(heapFlags, properties, "heapFlags")
        buffer = read_buffer_desc(desc, optimizedClearValue)
        state = check_placement(buffer, properties, initialState, ("desc", "initialState"))
        allocation = self._allocate(buffer.Width, properties, heap_flags)
        placement = Placement(allocation, 0, properties, heap_flags)
        self._inform_of_state("CreateCommittedResource", properties, state)
        return created(ID3D12Resource2(self._device, buffer, placement, state))

    def CreateReservedResource(
        self, desc: Any, initialState: int, optimizedClearValue: None = None
    ) -> ID3D12Resource2:
        """A zero-filled buffer with memory of its own, which ``UpdateTileMappings`` accepts.

        ``TiledResourcesTier`` is NOT_SUPPORTED all the same: two mappings of one heap tile do not share memory.
        """
        self.check_alive()
        buffer = read_buffer_desc(desc, optimizedClearValue)
        properties = D3D12_HEAP_PROPERTIES(
            Type=D3D12_HEAP_TYPE_DEFAULT, CreationNodeMask=1, VisibleNodeMask=1
        )
        state = check_placement(buffer, properties, initialState, ("desc", "initialState"))
        allocation = self._allocate(tiles_of(buffer.Width) * TILE, properties, D3D12_HEAP_FLAG_NONE)
        placement = Placement(allocation, 0, properties, D3D12_HEAP_FLAG_NONE, reserved=True)
        self._inform_of_state("CreateReservedResource", properties, state)
        return created(ID3D12Resource2(self._device, buffer, placement, state))

    def _inform_of_state(
        self, call: str, properties: D3D12_HEAP_PROPERTIES, state: D3D12_RESOURCE_STATES
    ) -> None:
        """Report an initial state without effect to the info queue, as information, since the program is correct."""
        if self.info_queue is not None and state and properties.Type not in FIXED_STATES:
            self.report(
                D3D12_MESSAGE_SEVERITY_INFO,
                D3D12_MESSAGE_CATEGORY_STATE_CREATION,
                D3D12_MESSAGE_ID_CREATERESOURCE_STATE_IGNORED,
                f"{call}: initialState is {state_name(state)}, which is ignored; buffers are created in "
                f"{D3D12_RESOURCE_STATE_COMMON.name}",
            )

    def CreateHeap(self, desc: Any) -> ID3D12Heap1:
        self.check_alive()
        if desc is None:
            raise self.refused(
                D3D12_MESSAGE_CATEGORY_STATE_CREATION,
                D3D12_MESSAGE_ID_CREATEHEAP_NULLDESC,
                "desc is null; a D3D12_HEAP_DESC is required",
            )
        heap_desc = struct_at(desc, D3D12_HEAP_DESC, "desc")
        check_heap_desc(heap_desc, "desc")
        allocation = self._allocate(
            heap_desc.SizeInBytes, heap_desc.Properties, D3D12_HEAP_FLAGS(heap_desc.Flags)
        )
        return created(ID3D12Heap1(self._device, heap_desc, allocation))

    def _allocate(self, size: int, properties: D3D12_HEAP_PROPERTIES, flags: D3D12_HEAP_FLAGS) -> Allocation:
        """The memory of a heap; with shadow memory under the debug layer."""
        zeroed = not flags & D3D12_HEAP_FLAG_CREATE_NOT_ZEROED
        allocation = Allocation(size, zeroed)
        count_in(allocation)
        if self.leaves_garbage and not zeroed:
            allocation.bytes[:] = PATTERN
        if self.sync_validator is None:
            return allocation
        # What is undefined is not tracked where the CPU may write through a pointer.
        if cpu_accessible(properties):
            HOSTS[allocation] = HostMemory(allocation.bytes)
            if not zeroed:
                allocation.bytes[:] = PATTERN
            return allocation
        try:
            SHADOWS[allocation] = ShadowMemory(allocation.bytes, zeroed)
        except MemoryError:
            raise DMLError(
                E_OUTOFMEMORY, f"there is no memory for the debug layer's shadow of {size} bytes"
            ) from None
        return allocation

    def CreatePlacedResource(
        self,
        heap: ID3D12Heap,
        heapOffset: int,
        desc: Any,
        initialState: int,
        optimizedClearValue: None = None,
    ) -> ID3D12Resource2:
        """A buffer at an offset of ``heap``, whose memory other buffers may share."""
        self.check_alive()
        child(heap, ID3D12Heap, "heap", self._device)
        offset = unsigned(heapOffset, "heapOffset")
        buffer = read_buffer_desc(desc, optimizedClearValue)
        heap_desc = heap.GetDesc()
        if heap.denies_buffers:
            raise invalid("heap was created with D3D12_HEAP_FLAG_DENY_BUFFERS")
        if offset % D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT:
            raise invalid(f"heapOffset must be a multiple of 64 KiB, not {offset}")
        if offset + buffer.Width > heap_desc.SizeInBytes:
            raise invalid(
                f"heapOffset + desc.Width is {offset + buffer.Width}, but the heap has "
                f"{heap_desc.SizeInBytes} bytes"
            )
        properties = heap_desc.Properties
        state = check_placement(buffer, properties, initialState, ("desc", "initialState"))
        placement = Placement(heap.allocation, offset, properties, heap.flags, heap.life)
        self._inform_of_state("CreatePlacedResource", properties, state)
        return created(ID3D12Resource2(self._device, buffer, placement, state))
