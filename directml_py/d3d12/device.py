"""``ID3D12Device`` and its creation."""

from __future__ import annotations

import threading
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

from ..abi.arguments import child, counted, enumerator, flags, invalid, uint, unsigned
from ..abi.counted_structs import structs_at
from ..abi.hresult import (
    DXGI_ERROR_DEVICE_REMOVED,
    DXGI_ERROR_INVALID_CALL,
    E_INVALIDARG,
    E_OUTOFMEMORY,
    NAMES,
    S_OK,
    DMLError,
)
from ..abi.interface import same_interface
from ..abi.pointers import struct_at
from ..abi.rules import Diagnostic, Rule
from ..api.d3d12_enums import (
    D3D12_DEBUG_FEATURE,
    D3D12_FENCE_FLAGS,
    D3D12_HEAP_FLAG_CREATE_NOT_ZEROED,
    D3D12_HEAP_FLAGS,
    D3D12_HEAP_TYPE,
    D3D12_MESSAGE_CATEGORY,
    D3D12_MESSAGE_CATEGORY_EXECUTION,
    D3D12_MESSAGE_ID_DEVICE_REMOVAL_PROCESS_AT_FAULT,
    D3D12_MESSAGE_SEVERITY,
    D3D12_MESSAGE_SEVERITY_ERROR,
)
from ..api.d3d12_structs import (
    D3D12_COMMAND_QUEUE_DESC,
    D3D12_HEAP_DESC,
    D3D12_HEAP_PROPERTIES,
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT,
    D3D12_QUERY_HEAP_DESC,
    D3D12_RESOURCE_ALLOCATION_INFO,
    D3D12_RESOURCE_DESC,
    D3D12_SUBRESOURCE_FOOTPRINT,
    LUID,
)
from ..api.iids import IID_ID3D12Device
from .adapters import HARDWARE, Adapter, count_in
from .after_fork import devices
from .allocation import PATTERN, Allocation
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
    read_buffer_desc,
)
from .command_allocator import ID3D12CommandAllocator, check_allocator, command_list_type
from .command_list import check_initial_state
from .command_list_versions import ID3D12GraphicsCommandList4
from .command_queue import ID3D12CommandQueue, check_queue_desc
from .d3d12_constants import (
    D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT,
    D3D12_TEXTURE_DATA_PITCH_ALIGNMENT,
    UINT64_MAX,
    UINT_MAX,
)
from .debug import ID3D12DebugDevice, debug_layer_enabled
from .descriptor_methods import DescriptorMethods
from .device_child import ID3D12DeviceChild, ID3D12Pageable
from .features import answer_feature
from .fence import FenceValue, ID3D12Fence1
from .heap import ID3D12Heap, ID3D12Heap1
from .info_queue import ID3D12InfoQueue, ID3D12InfoQueue1, Message
from .live_objects import Buffers, Living
from .observers import created, watchers
from .queries import ID3D12QueryHeap, check_query_heap_desc
from .resource import ID3D12Resource2, Placement
from .rule_messages import message_of
from .scheduler import Work, WorkQueue, drain, let_go
from .sync_validation.shadow_memory import Shadow

if TYPE_CHECKING:
    from .sync_validation.deferred_execution import Deferral
    from .sync_validation.validator import SyncValidator


class ID3D12Device(DescriptorMethods):
    """An adapter with one node whose GPU is this process. Every method may be called from any thread.

    Creating methods raise ``E_INVALIDARG`` naming parameter, field and rule, ``E_NOTIMPL`` for what is not
    emulated, ``E_OUTOFMEMORY``, and ``DXGI_ERROR_DEVICE_REMOVED`` once the device was removed.
    """

    IID = IID_ID3D12Device

    def __init__(self, adapter: Adapter = HARDWARE) -> None:
        super().__init__()
        self._adapter = adapter
        self.lock = threading.RLock()
        self.info_queue = ID3D12InfoQueue1(self) if debug_layer_enabled() else None
        self.debug_features = D3D12_DEBUG_FEATURE(0)
        self.sync_validator: SyncValidator | None = None
        self._deferral: Deferral | None = None
        if debug_layer_enabled():
            self._watch()
        # Whether memory of heaps that are not zeroed holds anything but zeros, also without the debug layer.
        self.leaves_garbage = False
        # Whether lists run in another order than they were recorded in, where nothing asks for that one. The debug
        # layer reports what depends on it, and so keeps it.
        self.reorders = False
        self.removed = False
        self._removed_reason = S_OK
        self._removed_text = ""
        # Queues that may have something to run.
        self.ready: dict[WorkQueue, None] = {}
        # What it has made that lives; under the debug layer alone.
        self.children: Living[ID3D12DeviceChild] | None = Living() if debug_layer_enabled() else None
        self.buffers = Buffers()
        self._fences: weakref.WeakSet[FenceValue] = weakref.WeakSet()
        self._queues: weakref.WeakSet[WorkQueue] = weakref.WeakSet()
        devices.add(self)

    def _about(self) -> str:
        debug = "" if self.info_queue is None else ", debug layer"
        removed = f", removed: {NAMES.get(self._removed_reason, 'unknown')}" if self.removed else ""
        return f"{self._adapter.description}{debug}{removed}"

    def _watch(self) -> None:
        # Loaded for the first device that asks for it: programs without the debug layer start faster.
        from .sync_validation.deferred_execution import Deferral
        from .sync_validation.validator import SyncValidator

        self.sync_validator, self._deferral = SyncValidator(self), Deferral(self)

    def QueryInterface(self, riid: Any) -> Any:
        """``ID3D12InfoQueue`` and ``ID3D12DebugDevice`` too, if the debug layer was on when the device was created."""
        if self.info_queue is not None:
            if any(same_interface(riid, kind) for kind in (ID3D12InfoQueue, ID3D12InfoQueue1)):
                return self.info_queue
            if same_interface(riid, ID3D12DebugDevice):
                return ID3D12DebugDevice(self)
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
        if self.info_queue is not None:
            self.report_message(message_of(diagnostic))

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

    def refuse(self, call: str, text: str) -> bool:
        """Remove the device because ``call`` did nothing, for callers that no exception reaches. Questions do it no
        harm. Whether the debug layer has said so."""
        if self.removed or call.startswith("Get"):
            return False
        self.remove(
            DXGI_ERROR_INVALID_CALL, f"{call}: {text}", D3D12_MESSAGE_ID_DEVICE_REMOVAL_PROCESS_AT_FAULT
        )
        return self.info_queue is not None

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
        for observer in watchers.all:
            observer.removed(text)
        for fence in fences:
            fence.advance(UINT64_MAX)
        for fence in fences:
            fence.deliver()

    def after_fork(self) -> None:
        """In the child: a device that another thread of the parent was using is removed, as that thread is not here."""
        me = threading.get_ident()
        workers = [queue.worker for queue in list(self._queues)]
        if self._deferral is not None:
            workers.append(self._deferral.runner)
        free = self.lock.acquire(blocking=False)
        if free:
            self.lock.release()
        else:
            self.lock = threading.RLock()
        if self.info_queue is not None:
            self.info_queue.forget_other_threads()
        for living in (self.buffers, self.children):
            if living is not None:
                living.forget_other_threads()
        if free and all(worker is None or worker.thread == me for worker in workers):
            return
        # Events that waited belong to threads that are not here either.
        self.removed = True
        self._removed_reason = self._removed_reason or DXGI_ERROR_DEVICE_REMOVED
        self._removed_text = self._removed_text or (
            "the process was forked while another thread used the device; the child has to make one of its own"
        )
        self.ready.clear()

    def GetDeviceRemovedReason(self) -> int:
        """``S_OK``, or the code for which the device was removed; returned, not raised."""
        return self._removed_reason

    def queues(self) -> list[WorkQueue]:
        with self.lock:
            return list(self._queues)

    def fences(self) -> list[FenceValue]:
        with self.lock:
            return list(self._fences)

    def submit(self, queue: WorkQueue, work: Work) -> None:
        """Run ``work`` after what is in ``queue``: at once if it can, with the debug layer when it is waited for."""
        try:
            if self._deferral is None:
                queue.submit(work)
            else:
                queue.add(work)
                self.progress()
        except BaseException:
            self.recover()
            raise

    def progress(self) -> None:
        """Work was added or can go on: run it, or, under the debug layer, what is waited for."""
        if self._deferral is None or self.sync_validator is None:
            drain(self)
        else:
            self.sync_validator.breaking(self._deferral.run)

    def recover(self) -> None:
        """After an exception: do what it kept from being done. A GPU goes on when its program is interrupted."""
        let_go(self.lock)
        for fence in self.fences():
            fence.deliver()
        if self._deferral is None:
            drain(self)
        else:
            self._deferral.run()

    def observe(self, fence: FenceValue) -> None:
        """Somebody looks at ``fence``: under the debug layer that lets work run."""
        if self._deferral is not None and self.sync_validator is not None and not self.removed:
            try:
                self.sync_validator.breaking(partial(self._deferral.poll, fence))
            except BaseException:
                self.recover()
                raise

    def flush(self) -> None:
        """Under the debug layer, when the program has submitted all: run the work that nobody has waited for, so that
        its messages come, and say which of it never can."""
        if self._deferral is not None and self.sync_validator is not None:
            self.sync_validator.breaking(self._deferral.flush)

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
        return created(queue)

    def CreateCommandAllocator(self, type: int) -> ID3D12CommandAllocator:
        self.check_alive()
        return ID3D12CommandAllocator(self, command_list_type(type, "type"))

    def CreateCommandList(
        self, nodeMask: int, type: int, commandAllocator: ID3D12CommandAllocator, initialState: None = None
    ) -> ID3D12GraphicsCommandList4:
        """The list is open, as after ``Reset``."""
        self.check_alive()
        check_node_mask(uint(nodeMask, "nodeMask"), "nodeMask")
        kind = command_list_type(type, "type")
        check_initial_state(initialState)
        allocator = child(commandAllocator, ID3D12CommandAllocator, "commandAllocator", self)
        check_allocator(allocator, kind)
        return created(ID3D12GraphicsCommandList4(self, kind, allocator))

    def CreateQueryHeap(self, desc: Any) -> ID3D12QueryHeap:
        """For timestamps."""
        self.check_alive()
        heap_desc = struct_at(desc, D3D12_QUERY_HEAP_DESC, "desc")
        check_query_heap_desc(heap_desc, "desc")
        return ID3D12QueryHeap(self, heap_desc)

    def CreateCommittedResource(
        self,
        heapProperties: Any,
        heapFlags: int,
        desc: Any,
        initialState: int,
        optimizedClearValue: None = None,
    ) -> ID3D12Resource2:
        """A buffer with memory of its own, filled with zeros."""
        self.check_alive()
        properties = struct_at(heapProperties, D3D12_HEAP_PROPERTIES, "heapProperties")
        check_heap_properties(properties, "heapProperties")
        heap_flags = check_committed_flags(heapFlags, "heapFlags")
        buffer = read_buffer_desc(desc, optimizedClearValue)
        state = check_placement(buffer, properties, initialState, ("desc", "initialState"))
        allocation = self._allocate(buffer.Width, properties, heap_flags)
        placement = Placement(allocation, 0, properties, heap_flags)
        return created(ID3D12Resource2(self, buffer, placement, state))

    def CreateHeap(self, desc: Any) -> ID3D12Heap1:
        self.check_alive()
        heap_desc = struct_at(desc, D3D12_HEAP_DESC, "desc")
        check_heap_desc(heap_desc, "desc")
        allocation = self._allocate(
            heap_desc.SizeInBytes, heap_desc.Properties, D3D12_HEAP_FLAGS(heap_desc.Flags)
        )
        return created(ID3D12Heap1(self, heap_desc, allocation))

    def _allocate(self, size: int, properties: D3D12_HEAP_PROPERTIES, flags: D3D12_HEAP_FLAGS) -> Allocation:
        """Memory of a heap; under the debug layer, with a record of which bytes are defined."""
        allocation = Allocation(size)
        count_in(allocation)
        zeroed = not flags & D3D12_HEAP_FLAG_CREATE_NOT_ZEROED
        if self.leaves_garbage and not zeroed:
            allocation.bytes[:] = PATTERN
        if self.sync_validator is not None:
            try:
                shadow = Shadow(allocation.bytes, zeroed)
            except MemoryError:
                raise DMLError(
                    E_OUTOFMEMORY, f"there is no memory for the debug layer's record of {size} bytes"
                ) from None
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
    ) -> ID3D12Resource2:
        """A buffer in the memory of ``heap``, which others may share."""
        self.check_alive()
        child(heap, ID3D12Heap, "heap", self)
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
        return created(ID3D12Resource2(self, buffer, placement, state))

    def GetResourceAllocationInfo(
        self, visibleMask: int, numResourceDescs: Any, resourceDescs: Any = None
    ) -> D3D12_RESOURCE_ALLOCATION_INFO:
        """Bytes that the buffers need one after the other in a heap, each on 64 KiB.

        As documented, wrong descs give ``SizeInBytes`` UINT64_MAX.
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

    def MakeResident(self, numObjects: Any, objects: Any = None) -> None:
        """``(count, objects)`` or ``(objects)``. As often as they were evicted makes them resident.

        Memory stays where it is; the debug layer knows who uses what was evicted.
        """
        for item in self._pageables(numObjects, objects):
            item.life.make_resident()

    def Evict(self, numObjects: Any, objects: Any = None) -> None:
        """The opposite of MakeResident: objects are created resident, once."""
        for item in self._pageables(numObjects, objects):
            item.life.evict()

    def _pageables(self, count: Any, objects: Any) -> list[ID3D12Pageable]:
        self.check_alive()
        items = counted(count, objects, "numObjects", "objects")
        return [child(item, ID3D12Pageable, f"objects[{index}]", self) for index, item in enumerate(items)]

    def CreateFence(self, initialValue: int, fenceFlags: int = 0) -> ID3D12Fence1:
        self.check_alive()
        kind = flags(fenceFlags, D3D12_FENCE_FLAGS, "fenceFlags")
        fence = ID3D12Fence1(self, unsigned(initialValue, "initialValue"), kind)
        with self.lock:
            self._fences.add(fence.state)
        return created(fence)
