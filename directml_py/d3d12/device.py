"""``ID3D12Device`` and its creation."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..abi.arguments import child, enumerator, flags, invalid, unsigned
from ..abi.hresult import (
    DXGI_ERROR_DEVICE_REMOVED,
    DXGI_ERROR_UNSUPPORTED,
    E_INVALIDARG,
    NAMES,
    S_OK,
    DMLError,
)
from ..abi.pointers import struct_at
from ..abi.rules import Diagnostic, Rule, message_id
from ..abi.struct_series import structs_at
from ..api.d3d12_enums import (
    D3D12_FENCE_FLAGS,
    D3D12_HEAP_FLAG_CREATE_NOT_ZEROED,
    D3D12_HEAP_FLAGS,
    D3D12_HEAP_TYPE,
    D3D12_MESSAGE_CATEGORY,
    D3D12_MESSAGE_CATEGORY_EXECUTION,
    D3D12_MESSAGE_SEVERITY,
    D3D12_MESSAGE_SEVERITY_ERROR,
    D3D_FEATURE_LEVEL,
)
from ..api.d3d12_structs import (
    D3D12_COMMAND_QUEUE_DESC,
    D3D12_DESCRIPTOR_HEAP_DESC,
    D3D12_HEAP_DESC,
    D3D12_HEAP_PROPERTIES,
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT,
    D3D12_RESOURCE_ALLOCATION_INFO,
    D3D12_RESOURCE_DESC,
    D3D12_SUBRESOURCE_FOOTPRINT,
    LUID,
)
from ..api.iids import IID_ID3D12Device
from .adapters import HARDWARE, Adapter, adapter_of, count_in
from .allocation import Allocation
from .buffer_rules import (
    CUSTOM,
    CUSTOM_EQUIVALENTS,
    check_buffer_desc,
    check_committed_flags,
    check_heap_desc,
    check_heap_properties,
    check_node_mask,
    check_placement,
    check_subresources,
    cpu_accessible,
)
from .command_list import (
    ID3D12CommandAllocator,
    ID3D12GraphicsCommandList,
    check_allocator,
    check_initial_state,
    command_list_type,
)
from .command_queue import ID3D12CommandQueue, check_queue_desc
from .constants import (
    D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT,
    D3D12_TEXTURE_DATA_PITCH_ALIGNMENT,
    UINT64_MAX,
    UINT_MAX,
)
from .debug import debug_layer_enabled
from .debug_output import SEVERITIES
from .descriptor_copies import Ranges, copy_descriptors, report_instead
from .descriptors import (
    INCREMENTS,
    DescriptorIndex,
    ID3D12DescriptorHeap,
    check_descriptor_heap_desc,
    heap_type,
)
from .features import DEVICE_LEVELS, MAX_FEATURE_LEVEL, answer_feature
from .fence import ID3D12Fence
from .heap import ID3D12Heap
from .info_queue import ID3D12InfoQueue, Message, same_interface
from .objects import ID3D12Object
from .resource import ID3D12Resource, Placement
from .scheduler import Work, WorkQueue, drain
from .tracking.shadow import Shadow

if TYPE_CHECKING:
    from .tracking.deferral import Deferral
    from .tracking.monitor import Monitor


class ID3D12Device(ID3D12Object):
    """An adapter with one node whose GPU is this process. Every method may be called from any thread.

    Creating methods raise ``E_INVALIDARG`` naming parameter, field and rule, ``E_NOTIMPL`` for what is not
    emulated, ``E_OUTOFMEMORY``, and ``DXGI_ERROR_DEVICE_REMOVED`` once the device was removed.
    """

    IID = IID_ID3D12Device

    def __init__(self, adapter: Adapter = HARDWARE) -> None:
        super().__init__()
        self._adapter = adapter
        self.lock = threading.RLock()
        self.info_queue = ID3D12InfoQueue(self) if debug_layer_enabled() else None
        self.monitor: Monitor | None = None
        self._deferral: Deferral | None = None
        if debug_layer_enabled():
            self._watch()
        self.removed = False
        self._removed_reason = S_OK
        self._removed_text = ""
        self._fences: weakref.WeakSet[ID3D12Fence] = weakref.WeakSet()
        self._queues: weakref.WeakSet[WorkQueue] = weakref.WeakSet()
        self._descriptors = DescriptorIndex()

    def _watch(self) -> None:
        # Loaded for the first device that asks for it: programs without the debug layer start faster.
        from .tracking.deferral import Deferral
        from .tracking.monitor import Monitor

        self.monitor, self._deferral = Monitor(self), Deferral(self)

    def QueryInterface(self, riid: Any) -> Any:
        """``ID3D12InfoQueue`` too, if the debug layer was on when the device was created."""
        if self.info_queue is not None and same_interface(riid, ID3D12InfoQueue):
            return self.info_queue
        return super().QueryInterface(riid)

    def report(
        self,
        severity: D3D12_MESSAGE_SEVERITY,
        category: D3D12_MESSAGE_CATEGORY,
        id: int,
        text: str,
        hresult: int = E_INVALIDARG,
    ) -> None:
        """A message of the debug layer; nothing without it. Raises ``DMLError`` with ``hresult`` if the info
        queue breaks on the severity."""
        self.report_message(Message(category, severity, id, text), hresult)

    def report_rule(self, rule: Rule, text: str) -> None:
        """As ``report``, for a rule with a name."""
        self.report_diagnostic(Diagnostic(rule.severity, rule.id, "", text))

    def report_diagnostic(self, diagnostic: Diagnostic) -> None:
        self.report_message(
            Message(
                D3D12_MESSAGE_CATEGORY_EXECUTION,
                SEVERITIES[diagnostic.severity],
                message_id(diagnostic.rule),
                str(diagnostic),
                diagnostic,
            )
        )

    def report_message(self, message: Message, hresult: int = E_INVALIDARG) -> None:
        if self.info_queue is not None:
            self.info_queue.put(message, hresult)

    def check_alive(self) -> None:
        """Raises ``DXGI_ERROR_DEVICE_REMOVED`` on a removed device."""
        if self.removed:
            reason = NAMES.get(self._removed_reason, hex(self._removed_reason))
            raise DMLError(
                DXGI_ERROR_DEVICE_REMOVED, f"the device was removed ({reason}): {self._removed_text}"
            )

    def remove(self, reason: int, text: str, id: int) -> None:
        """Remove the device and report why as an error with message ``id``."""
        self.mark_removed(reason, text)
        self.report(
            D3D12_MESSAGE_SEVERITY_ERROR,
            D3D12_MESSAGE_CATEGORY_EXECUTION,
            id,
            text,
            reason,
        )

    def mark_removed(self, reason: int, text: str) -> None:
        """Drop all work and complete all fences; the first reason stays."""
        with self.lock:
            if self.removed:
                return
            self.removed = True
            self._removed_reason = reason
            self._removed_text = text
            for queue in list(self._queues):
                queue.clear()
            fences = list(self._fences)
        for fence in fences:
            fence.advance(UINT64_MAX)

    def GetDeviceRemovedReason(self) -> int:
        """``S_OK``, or the code for which the device was removed; returned, not raised."""
        return self._removed_reason

    def fences(self) -> list[ID3D12Fence]:
        with self.lock:
            return list(self._fences)

    def submit(self, queue: WorkQueue, work: Work) -> None:
        """Run ``work`` after what is in ``queue``: at once if it can, with the debug layer when it is waited for."""
        if self._deferral is None:
            queue.submit(work)
        else:
            queue.add(work)
            self.progress((queue,))

    def progress(self, queues: Iterable[WorkQueue]) -> None:
        """Work was added to ``queues`` or can go on: run it, or, under the debug layer, what is waited for."""
        if self._deferral is None or self.monitor is None:
            drain(queues)
            return
        with self.monitor.breaking():
            self._deferral.added(queues)

    def observe(self, fence: ID3D12Fence) -> None:
        """Somebody looks at ``fence``: under the debug layer that lets work run."""
        if self._deferral is not None and self.monitor is not None and not self.removed:
            with self.monitor.breaking():
                self._deferral.poll(fence)

    def flush(self) -> None:
        """Under the debug layer: run the work that nobody has waited for, so that its messages come."""
        if self._deferral is not None and self.monitor is not None:
            with self.monitor.breaking():
                self._deferral.flush()

    def GetNodeCount(self) -> int:
        return 1

    def GetAdapterLuid(self) -> LUID:
        """That of the adapter: ``IDXGIFactory4::EnumAdapterByLuid`` finds it."""
        return self._adapter.luid

    def CheckFeatureSupport(self, feature: int, data: Any, size: int | None = None) -> None:
        """Fill the D3D12_FEATURE_DATA struct ``data`` (or what a typed pointer points to) in place."""
        self.check_alive()
        answer_feature(feature, data, size)

    def CreateCommandQueue(self, desc: Any) -> ID3D12CommandQueue:
        self.check_alive()
        queue_desc = struct_at(desc, D3D12_COMMAND_QUEUE_DESC, "desc")
        check_queue_desc(queue_desc, "desc")
        queue = ID3D12CommandQueue(self, queue_desc)
        with self.lock:
            self._queues.add(queue.work)
        return queue

    def CreateCommandAllocator(self, type: int) -> ID3D12CommandAllocator:
        self.check_alive()
        return ID3D12CommandAllocator(self, command_list_type(type, "type"))

    def CreateCommandList(
        self, nodeMask: int, type: int, commandAllocator: ID3D12CommandAllocator, initialState: None = None
    ) -> ID3D12GraphicsCommandList:
        """The list is open, as after ``Reset``."""
        self.check_alive()
        check_node_mask(unsigned(nodeMask, "nodeMask", 32), "nodeMask")
        kind = command_list_type(type, "type")
        check_initial_state(initialState)
        allocator = child(commandAllocator, ID3D12CommandAllocator, "commandAllocator", self)
        check_allocator(allocator, kind)
        return ID3D12GraphicsCommandList(self, kind, allocator)

    def CreateDescriptorHeap(self, desc: Any) -> ID3D12DescriptorHeap:
        self.check_alive()
        heap_desc = struct_at(desc, D3D12_DESCRIPTOR_HEAP_DESC, "desc")
        check_descriptor_heap_desc(heap_desc, "desc")
        heap = ID3D12DescriptorHeap(self, heap_desc)
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
        """As CopyDescriptors, for one range on each side."""
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
        """Copy descriptors from ranges of CPU handles to others, which are cut differently if need be; sizes of None
        are all 1. What is wrong is raised, and nothing copied; under the debug layer it is a message."""
        if self.removed:
            return
        into = Ranges("dest", numDestDescriptorRanges, destDescriptorRangeStarts, destDescriptorRangeSizes)
        out_of = Ranges("src", numSrcDescriptorRanges, srcDescriptorRangeStarts, srcDescriptorRangeSizes)
        try:
            copy_descriptors(self, into, out_of, descriptorHeapsType)
        except DMLError as error:
            report_instead(self, error)

    def find_descriptors(self, ptr: int) -> tuple[ID3D12DescriptorHeap, int] | None:
        """The descriptor heap and the index that the value of a CPU or GPU handle stands for, or None."""
        return self._descriptors.find(ptr)

    def CreateCommittedResource(
        self,
        heapProperties: Any,
        heapFlags: int,
        desc: Any,
        initialState: int,
        optimizedClearValue: None = None,
    ) -> ID3D12Resource:
        """A buffer with memory of its own, filled with zeros."""
        self.check_alive()
        properties = struct_at(heapProperties, D3D12_HEAP_PROPERTIES, "heapProperties")
        check_heap_properties(properties, "heapProperties")
        heap_flags = check_committed_flags(heapFlags, "heapFlags")
        buffer = _buffer_desc(desc, optimizedClearValue)
        state = check_placement(buffer, properties, initialState, ("desc", "initialState"))
        allocation = self._allocate(buffer.Width, properties, heap_flags)
        placement = Placement(allocation, 0, properties, heap_flags)
        return ID3D12Resource(self, buffer, placement, state)

    def CreateHeap(self, desc: Any) -> ID3D12Heap:
        self.check_alive()
        heap_desc = struct_at(desc, D3D12_HEAP_DESC, "desc")
        check_heap_desc(heap_desc, "desc")
        allocation = self._allocate(
            heap_desc.SizeInBytes, heap_desc.Properties, D3D12_HEAP_FLAGS(heap_desc.Flags)
        )
        return ID3D12Heap(self, heap_desc, allocation)

    def _allocate(self, size: int, properties: D3D12_HEAP_PROPERTIES, flags: D3D12_HEAP_FLAGS) -> Allocation:
        """Memory of a heap; under the debug layer, with a record of which bytes are defined."""
        allocation = Allocation(size)
        count_in(allocation)
        if self.monitor is not None:
            zeroed = not flags & D3D12_HEAP_FLAG_CREATE_NOT_ZEROED
            shadow = Shadow(allocation.bytes, zeroed)
            # Nobody sees what the CPU writes.
            allocation.shadow = None if cpu_accessible(properties) else shadow
        return allocation

    def CreatePlacedResource(
        self,
        heap: ID3D12Heap,
        heapOffset: int,
        desc: Any,
        initialState: int,
        optimizedClearValue: None = None,
    ) -> ID3D12Resource:
        """A buffer in the memory of ``heap``, which others may share."""
        self.check_alive()
        child(heap, ID3D12Heap, "heap", self)
        offset = unsigned(heapOffset, "heapOffset")
        buffer = _buffer_desc(desc, optimizedClearValue)
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
        placement = Placement(heap.allocation, offset, properties, heap.flags, heap)
        return ID3D12Resource(self, buffer, placement, state)

    def GetResourceAllocationInfo(
        self, visibleMask: int, numResourceDescs: Any, resourceDescs: Any = None
    ) -> D3D12_RESOURCE_ALLOCATION_INFO:
        """Bytes that the buffers need one after the other in a heap, each on 64 KiB.

        As documented, wrong descs give ``SizeInBytes`` UINT64_MAX.
        """
        check_node_mask(unsigned(visibleMask, "visibleMask", 32), "visibleMask")
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
        """How a buffer's bytes lie in an upload buffer from ``baseOffset`` on: the one layout, the number of rows, the
        bytes of a row and in all (nf-d3d12-id3d12device-getcopyablefootprints).

        A buffer has one subresource. Raises ``E_INVALIDARG`` for others and for what is no desc of a buffer.
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
        """The custom heap that is the same as ``heapType`` on this device."""
        check_node_mask(unsigned(nodeMask, "nodeMask", 32), "nodeMask")
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

    def CreateFence(self, initialValue: int, fenceFlags: int = 0) -> ID3D12Fence:
        self.check_alive()
        flags(fenceFlags, D3D12_FENCE_FLAGS, "fenceFlags")
        fence = ID3D12Fence(self, unsigned(initialValue, "initialValue"))
        with self.lock:
            self._fences.add(fence)
        return fence


def _buffer_desc(desc: Any, optimized_clear_value: Any) -> D3D12_RESOURCE_DESC:
    buffer_desc = struct_at(desc, D3D12_RESOURCE_DESC, "desc")
    check_buffer_desc(buffer_desc, "desc")
    if optimized_clear_value is not None:
        raise invalid("optimizedClearValue must be None for a buffer")
    return buffer_desc


def D3D12CreateDevice(
    adapter: Any = None, minimumFeatureLevel: int = D3D_FEATURE_LEVEL.D3D_FEATURE_LEVEL_11_0
) -> ID3D12Device:
    """A new device; each call makes its own. ``adapter`` is an IDXGIAdapter, an IDXCoreAdapter, or None for the
    first.

    Raises ``E_INVALIDARG`` for what is no level of Direct3D 12, ``DXGI_ERROR_UNSUPPORTED`` for a higher level
    than is emulated.
    """
    chosen = adapter_of(adapter)
    level = enumerator(minimumFeatureLevel, D3D_FEATURE_LEVEL, "minimumFeatureLevel")
    if level not in DEVICE_LEVELS:
        raise invalid(f"minimumFeatureLevel must be at least D3D_FEATURE_LEVEL_11_0, not {level.name}")
    if level > MAX_FEATURE_LEVEL:
        raise DMLError(
            DXGI_ERROR_UNSUPPORTED, f"minimumFeatureLevel: {level.name} exceeds {MAX_FEATURE_LEVEL.name}"
        )
    return ID3D12Device(chosen)
