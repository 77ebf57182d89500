"""``ID3D12Device``: creates all other objects, and is removed after an error."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from ..abi.arguments import (
    child,
    counted,
    flags,
    instance,
    integer,
    invalid,
    uint,
    unsigned,
)
from ..abi.counted_structs import structs_at
from ..abi.hresult import (
    DXGI_ERROR_DEVICE_HUNG,
    DXGI_ERROR_DEVICE_REMOVED,
    DXGI_ERROR_INVALID_CALL,
    E_INVALIDARG,
    E_NOTIMPL,
    NAMES,
    S_OK,
    DMLError,
)
from ..abi.interface import same_interface
from ..abi.pointers import struct_at
from ..abi.rules import Diagnostic, Severity, rule
from ..api.d3d12_enums import (
    D3D12_DESCRIPTOR_HEAP_TYPE,
    D3D12_DESCRIPTOR_HEAP_TYPE_DSV,
    D3D12_DESCRIPTOR_HEAP_TYPE_RTV,
    D3D12_FENCE_FLAGS,
    D3D12_HEAP_FLAG_CREATE_NOT_ZEROED,
    D3D12_HEAP_FLAG_NONE,
    D3D12_HEAP_FLAGS,
    D3D12_HEAP_TYPE_DEFAULT,
    D3D12_MESSAGE_CATEGORY,
    D3D12_MESSAGE_CATEGORY_EXECUTION,
    D3D12_MESSAGE_CATEGORY_STATE_CREATION,
    D3D12_MESSAGE_ID_CREATEHEAP_NULLDESC,
    D3D12_MESSAGE_ID_CREATERESOURCE_STATE_IGNORED,
    D3D12_MESSAGE_ID_DEVICE_REMOVAL_PROCESS_AT_FAULT,
    D3D12_MESSAGE_ID_EVICT_UNDERFLOW,
    D3D12_MESSAGE_SEVERITY,
    D3D12_MESSAGE_SEVERITY_ERROR,
    D3D12_MESSAGE_SEVERITY_INFO,
    D3D12_RESOURCE_STATE_COMMON,
    D3D12_RESOURCE_STATES,
)
from ..api.d3d12_structs import (
    D3D12_COMMAND_QUEUE_DESC,
    D3D12_DESCRIPTOR_HEAP_DESC,
    D3D12_HEAP_DESC,
    D3D12_HEAP_PROPERTIES,
    D3D12_QUERY_HEAP_DESC,
    D3D12_RESOURCE_ALLOCATION_INFO,
    D3D12_RESOURCE_DESC,
    LUID,
)
from ..api.iids import (
    IID_ID3D12Device,
)
from ..late import loading
from ..runtime.allocation import PATTERN, Allocation
from ..runtime.buffer import Buffers
from ..runtime.execution import Validator
from ..runtime.observers import created, watchers
from ..runtime.recording import Command
from ..runtime.scheduler import Scheduler
from ..sync_validation.resource_states import state_name
from .adapters import HARDWARE, Adapter, count_in
from .allocation_queries import (
    Footprints,
    allocation_info,
    copyable_footprints,
    custom_heap_properties,
)
from .buffer_rules import (
    FIXED_STATES,
    check_committed_flags,
    check_heap_desc,
    check_heap_properties,
    check_node_mask,
    check_placement,
    cpu_accessible,
    read_buffer_desc,
)
from .command_allocator import ID3D12CommandAllocator, check_allocator, command_list_type
from .command_list import ID3D12GraphicsCommandList4, check_initial_state
from .command_queue import ID3D12CommandQueue, check_queue_desc
from .compute_state import ID3D12RootSignature
from .d3d12_constants import D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT, GENERIC_ALL
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
from .device_child import ID3D12DeviceChild, ID3D12Pageable, ParentDevice
from .fence import ID3D12Fence1
from .heap import ID3D12Heap, ID3D12Heap1
from .queries import ID3D12QueryHeap, check_query_heap_desc
from .resource import ID3D12Resource, ID3D12Resource2, Placement

# The debug layer, and what programs of DirectML rarely call, are imported when they are first needed.
if TYPE_CHECKING:
    from .debug import ID3D12DebugDevice
    from .info_queue import ID3D12InfoQueue1

OWNER = rule(
    "D3D12-Residency-owner",
    "MakeResident and Evict are called for heaps, descriptor heaps, query heaps and committed resources",
    "nf-d3d12-id3d12device-evict",
    Severity.WARNING,
    debug=True,
)


class ID3D12Device(ParentDevice):
    """A device on a single-node adapter whose GPU is this process. All methods are thread-safe.

    Creation methods raise ``E_INVALIDARG`` naming parameter, field and requirement, ``E_NOTIMPL`` for what is not
    emulated, ``E_OUTOFMEMORY``, and ``DXGI_ERROR_DEVICE_REMOVED`` after device removal.

    Without the debug layer ``info_queue``, ``debug_device`` and ``sync_validator`` are None.
    """

    IID = IID_ID3D12Device

    def __init__(self, adapter: Adapter = HARDWARE) -> None:
        super().__init__()
        self._adapter = adapter
        self.scheduler = Scheduler(self._hang)
        self.info_queue: ID3D12InfoQueue1 | None = None
        self.debug_device: ID3D12DebugDevice | None = None
        self.sync_validator: Validator | None = None
        if watchers.debug_layer:
            self._start_debug_layer()
        # Whether CREATE_NOT_ZEROED heaps are filled with garbage even without the debug layer.
        self.leaves_garbage = False
        # Whether commands that no barrier orders run in another order than recorded. Not under the debug layer, which
        # reports code that depends on the order.
        self.reorders = False
        self._removed_reason = S_OK
        self._removed_text = ""
        self.buffers = Buffers()
        devices.add(self)
        self._descriptors = DescriptorIndex()

    def _about(self) -> str:
        debug = "" if self.info_queue is None else ", debug layer"
        removed = f", removed: {NAMES.get(self._removed_reason, 'unknown')}" if self.removed else ""
        return f"{self._adapter.description}{debug}{removed}"

    def QueryInterface(self, riid: Any) -> Any:
        """Also returns ``ID3D12InfoQueue`` and ``ID3D12DebugDevice`` on a device created under the debug layer."""
        if self.info_queue is not None:
            with loading:
                from .debug import ID3D12DebugDevice
                from .info_queue import ID3D12InfoQueue, ID3D12InfoQueue1
            if any(same_interface(riid, kind) for kind in (ID3D12InfoQueue, ID3D12InfoQueue1)):
                return self.info_queue
            if same_interface(riid, ID3D12DebugDevice):
                return self.debug_device
        return super().QueryInterface(riid)

    def GetNodeCount(self) -> int:
        return 1

    def GetAdapterLuid(self) -> LUID:
        """The LUID of the adapter, which ``IDXGIFactory4::EnumAdapterByLuid`` finds."""
        return self._adapter.luid

    def CheckFeatureSupport(self, feature: int, data: Any, size: int | None = None) -> None:
        """Fill the D3D12_FEATURE_DATA struct ``data`` (or the one that a typed pointer points to) in place."""
        self.check_alive()
        with loading:
            from .features import answer_feature
        answer_feature(feature, data, size, self._adapter.has_graphics)

    def SetStablePowerState(self, enable: bool) -> None:
        """A no-op, as there is no GPU clock (nf-d3d12-id3d12device-setstablepowerstate)."""
        self.check_alive()

    def CreateCommandQueue(self, desc: Any) -> ID3D12CommandQueue:
        self.check_alive()
        queue_desc = struct_at(desc, D3D12_COMMAND_QUEUE_DESC, "desc")
        check_queue_desc(queue_desc, "desc", self._adapter)
        return created(ID3D12CommandQueue(self, queue_desc))

    def CreateCommandAllocator(self, type: int) -> ID3D12CommandAllocator:
        self.check_alive()
        return ID3D12CommandAllocator(self, command_list_type(type, "type"))

    def CreateCommandList(
        self, nodeMask: int, type: int, commandAllocator: ID3D12CommandAllocator, initialState: None = None
    ) -> ID3D12GraphicsCommandList4:
        """A new list, open for recording."""
        self.check_alive()
        check_node_mask(uint(nodeMask, "nodeMask"), "nodeMask")
        kind = command_list_type(type, "type")
        check_initial_state(initialState)
        allocator = child(commandAllocator, ID3D12CommandAllocator, "commandAllocator", self)
        check_allocator(allocator, kind)
        return created(ID3D12GraphicsCommandList4(self, kind, allocator))

    def CreateQueryHeap(self, desc: Any) -> ID3D12QueryHeap:
        """A heap of timestamp queries; other types are not emulated."""
        self.check_alive()
        heap_desc = struct_at(desc, D3D12_QUERY_HEAP_DESC, "desc")
        check_query_heap_desc(heap_desc, "desc")
        return ID3D12QueryHeap(self, heap_desc)

    def CreateRootSignature(
        self, nodeMask: int, blobWithRootSignature: Any, blobLengthInBytes: int | None = None
    ) -> ID3D12RootSignature:
        """``blobWithRootSignature`` is an ID3DBlob, bytes, or the address of so many bytes: a root signature, or a
        shader with one. Raises ``E_INVALIDARG`` for other bytes, ``E_FAIL`` for a container without one."""
        self.check_alive()
        with loading:
            from .root_signature import create_root_signature
        return create_root_signature(self, nodeMask, blobWithRootSignature, blobLengthInBytes)

    def CreateComputePipelineState(self, desc: Any) -> NoReturn:
        """Raises ``E_NOTIMPL`` naming the shader: its profile, size and digest."""
        self.check_alive()
        with loading:
            from .pipeline_states import refuse_compute
        refuse_compute(self, desc)

    def CreateGraphicsPipelineState(self, desc: Any) -> NoReturn:
        """Raises ``E_NOTIMPL`` naming the shaders."""
        self.check_alive()
        with loading:
            from .pipeline_states import refuse_graphics
        refuse_graphics(desc)

    def CreateFence(self, initialValue: int, fenceFlags: int = 0) -> ID3D12Fence1:
        self.check_alive()
        kind = flags(fenceFlags, D3D12_FENCE_FLAGS, "fenceFlags")
        return created(ID3D12Fence1(self, unsigned(initialValue, "initialValue"), kind))

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
            overlap = copy_descriptors(self, destination, source, descriptorHeapsType)
        except DMLError as error:
            report_instead(self, error)
            return
        if overlap is not None:
            self.report_diagnostic(overlap)

    def find_descriptors(self, ptr: int) -> tuple[ID3D12DescriptorHeap, int] | None:
        return self._descriptors.find(ptr)

    def CreateUnorderedAccessView(
        self, resource: ID3D12Resource | None, counterResource: None, desc: Any, destDescriptor: Any
    ) -> None:
        """Write a raw, typed or structured buffer view to a descriptor; without a resource, a null descriptor."""
        if self.scheduler.removed:
            return
        with loading:
            from .views import cpu_slot, unordered_access_view
        heap, index = cpu_slot(self, destDescriptor, CBV_SRV_UAV, "destDescriptor")
        view = unordered_access_view(self, resource, counterResource, desc)
        heap.write(index, view, self.writer("CreateUnorderedAccessView"))

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
        with loading:
            from .views import OtherView, cpu_slot
        heap, index = cpu_slot(self, destination, kind, "destDescriptor")
        heap.write(index, OtherView(call), self.writer(call))

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
        return created(ID3D12Resource2(self, buffer, placement, state))

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
        with loading:
            from .tile_mappings import TILE, tiles_of
        allocation = self._allocate(tiles_of(buffer.Width) * TILE, properties, D3D12_HEAP_FLAG_NONE)
        placement = Placement(allocation, 0, properties, D3D12_HEAP_FLAG_NONE, reserved=True)
        self._inform_of_state("CreateReservedResource", properties, state)
        return created(ID3D12Resource2(self, buffer, placement, state))

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
            raise self.failure(
                D3D12_MESSAGE_CATEGORY_STATE_CREATION,
                D3D12_MESSAGE_ID_CREATEHEAP_NULLDESC,
                "desc is null; a D3D12_HEAP_DESC is required",
            )
        heap_desc = struct_at(desc, D3D12_HEAP_DESC, "desc")
        check_heap_desc(heap_desc, "desc")
        allocation = self._allocate(
            heap_desc.SizeInBytes, heap_desc.Properties, D3D12_HEAP_FLAGS(heap_desc.Flags)
        )
        return created(ID3D12Heap1(self, heap_desc, allocation))

    def _allocate(self, size: int, properties: D3D12_HEAP_PROPERTIES, flags: D3D12_HEAP_FLAGS) -> Allocation:
        """The memory of a heap; with shadow memory under the debug layer."""
        zeroed = not flags & D3D12_HEAP_FLAG_CREATE_NOT_ZEROED
        allocation = Allocation(size, zeroed)
        count_in(allocation)
        if self.leaves_garbage and not zeroed:
            allocation.bytes[:] = PATTERN
        if self.sync_validator is not None:
            self.sync_validator.allocated(allocation, cpu_accessible(properties), zeroed)
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
        self._inform_of_state("CreatePlacedResource", properties, state)
        return created(ID3D12Resource2(self, buffer, placement, state))

    def CreateSharedHandle(
        self,
        object: ID3D12DeviceChild,
        attributes: Any = None,
        access: int = GENERIC_ALL,
        name: str | None = None,
    ) -> int:
        """A handle that ``OpenSharedHandle`` of any device in the process takes
        (nf-d3d12-id3d12device-createsharedhandle).

        Raises ``E_INVALIDARG`` for an object created without its ``SHARED`` flag and for access other than
        ``GENERIC_ALL``, ``DXGI_ERROR_NAME_ALREADY_EXISTS`` if an open handle has the name.
        """
        self.check_alive()
        with loading:
            from .shared_handles import is_shareable, share
        item = instance(object, ID3D12DeviceChild, "object")
        if item.device is not self:
            raise invalid("object belongs to another device")
        if not is_shareable(item):
            raise invalid(
                f"object: {item} was not created with D3D12_HEAP_FLAG_SHARED or D3D12_FENCE_FLAG_SHARED"
            )
        if integer(access, "access") != GENERIC_ALL:
            raise invalid(f"access must be GENERIC_ALL, not 0x{access:X}")
        return share(item, name)

    def OpenSharedHandleByName(self, name: str, access: int = GENERIC_ALL) -> int:
        """A new handle to the object of that name. Raises ``0x80070002`` (file not found) if no open handle has it."""
        self.check_alive()
        with loading:
            from .shared_handles import handle_by_name
        return handle_by_name(name)

    def OpenSharedHandle(self, NTHandle: int) -> Any:
        """The object itself on its own device; on another device, a new resource or heap over the same memory.

        Raises ``E_HANDLE`` for an unknown handle, ``E_NOTIMPL`` for a fence of another device.
        """
        self.check_alive()
        with loading:
            from .shared_handles import shared_object
        item = shared_object(integer(NTHandle, "NTHandle"))
        if item.device is self:
            return item
        if self.sync_validator is not None and item.device.sync_validator is not None:
            self.sync_validator.shares_with(item.device.sync_validator)
        if isinstance(item, ID3D12Resource):
            # As on a GPU, synchronization between devices is left to the program.
            state = D3D12_RESOURCE_STATE_COMMON
            return created(ID3D12Resource2(self, item.GetDesc(), item.placement, state))
        if isinstance(item, ID3D12Heap):
            return created(ID3D12Heap1(self, item.GetDesc(), item.allocation))
        raise DMLError(
            E_NOTIMPL, f"NTHandle: {item} of another device; fences are not shared between devices"
        )

    def GetResourceAllocationInfo(
        self, visibleMask: int, numResourceDescs: Any, resourceDescs: Any = None
    ) -> D3D12_RESOURCE_ALLOCATION_INFO:
        """Bytes that the buffers need when placed consecutively in a heap, each aligned to 64 KiB.

        As documented, an invalid desc makes ``SizeInBytes`` UINT64_MAX.
        """
        names = "numResourceDescs", "resourceDescs"
        descs = structs_at(numResourceDescs, resourceDescs, D3D12_RESOURCE_DESC, *names)
        return allocation_info(visibleMask, descs)[0]

    def GetCopyableFootprints(
        self, resourceDesc: Any, firstSubresource: int, numSubresources: int, baseOffset: int
    ) -> Footprints:
        """The layout of a buffer's bytes in an upload buffer at ``baseOffset``: its footprint, the number of rows, the
        bytes per row and the total bytes (nf-d3d12-id3d12device-getcopyablefootprints).

        A buffer has one subresource. Raises ``E_INVALIDARG`` for any other, and for a desc that is not of a buffer.
        """
        buffer_desc = struct_at(resourceDesc, D3D12_RESOURCE_DESC, "resourceDesc")
        return copyable_footprints(buffer_desc, firstSubresource, numSubresources, baseOffset)

    def GetCustomHeapProperties(self, nodeMask: int, heapType: int) -> D3D12_HEAP_PROPERTIES:
        """The custom heap properties equivalent to ``heapType`` on this device."""
        return custom_heap_properties(nodeMask, heapType)

    def MakeResident(self, numObjects: Any, objects: Any = None) -> None:
        """``(count, objects)`` or ``(objects)``. Evictions are counted: an object needs one call for each.

        Memory is never paged out; the debug layer reports the use of evicted objects.
        """
        for item in self._pageables("MakeResident", numObjects, objects):
            item.life.make_resident()

    def Evict(self, numObjects: Any, objects: Any = None) -> None:
        """The inverse of MakeResident. Objects are created with a residency count of 1, which never falls below 0."""
        for index, item in enumerate(self._pageables("Evict", numObjects, objects)):
            if not item.life.is_resident:
                self.report(
                    D3D12_MESSAGE_SEVERITY_ERROR,
                    D3D12_MESSAGE_CATEGORY_EXECUTION,
                    D3D12_MESSAGE_ID_EVICT_UNDERFLOW,
                    f"Evict: objects[{index}] is {item.life}, whose residency count is 0; it must be at least 1",
                )
            item.life.evict()

    def _pageables(self, call: str, count: Any, objects: Any) -> list[ID3D12Pageable]:
        self.check_alive()
        items = counted(count, objects, "numObjects", "objects")
        pageables = [
            child(item, ID3D12Pageable, f"objects[{index}]", self) for index, item in enumerate(items)
        ]
        for index, item in enumerate(pageables):
            problem = _not_an_owner(item)
            if problem:
                self.report_diagnostic(OWNER.violated(f"{call}: objects[{index}] is {item.life}, {problem}"))
        return pageables

    def _start_debug_layer(self) -> None:
        with loading:
            from ..sync_validation.validator import Check, SyncValidator
            from .clears import ClearView, check_clear
            from .debug import ID3D12DebugDevice
            from .info_queue import ID3D12InfoQueue1
            from .queries import ResolveQueries, check_queries
        self.info_queue, self.debug_device = ID3D12InfoQueue1(self), ID3D12DebugDevice(self)
        checks: dict[type[Command], Check] = {ClearView: check_clear, ResolveQueries: check_queries}
        self.sync_validator = self.scheduler.layer = SyncValidator(self, checks)

    def _hang(self, text: str) -> None:
        self.remove(DXGI_ERROR_DEVICE_HUNG, text)

    def report(
        self,
        severity: D3D12_MESSAGE_SEVERITY,
        category: D3D12_MESSAGE_CATEGORY,
        id: int,
        text: str,
        hresult: int = E_INVALIDARG,
    ) -> None:
        if self.info_queue is not None:
            with loading:
                from .info_queue import Message
            self.info_queue.put(Message(category, severity, id, text), hresult)

    def failure(
        self, category: D3D12_MESSAGE_CATEGORY, id: int, text: str, hresult: int = E_INVALIDARG
    ) -> DMLError:
        self.report(D3D12_MESSAGE_SEVERITY_ERROR, category, id, text, hresult)
        return DMLError(hresult, text, reported=self.info_queue is not None)

    def report_diagnostic(self, diagnostic: Diagnostic) -> None:
        if self.info_queue is not None:
            with loading:
                from .rule_messages import message_of
            self.info_queue.put(message_of(diagnostic), E_INVALIDARG)

    def report_deadlock(self, diagnostic: Diagnostic, is_over: Callable[[], bool]) -> DMLError | None:
        with loading:
            from .debug import devices_of_c
            from .rule_messages import message_of
        # A C program may have threads that Python does not know, which can end the wait.
        is_for_c = self in devices_of_c
        try:
            passed = self.info_queue is not None and self.info_queue.put(
                message_of(diagnostic), E_INVALIDARG, raised=not is_for_c
            )
        except DMLError as error:
            return error
        if is_for_c or not passed or is_over():
            return None
        return DMLError(E_INVALIDARG, str(diagnostic), [diagnostic], reported=True)

    def check_alive(self) -> None:
        """Raises ``DXGI_ERROR_DEVICE_REMOVED`` on a removed device."""
        if self.scheduler.removed:
            reason = NAMES.get(self._removed_reason, hex(self._removed_reason))
            raise DMLError(
                DXGI_ERROR_DEVICE_REMOVED, f"the device was removed ({reason}): {self._removed_text}"
            )

    def fail_call(self, call: str, text: str) -> bool:
        if self.removed or call.startswith("Get"):
            return False
        self.remove(
            DXGI_ERROR_INVALID_CALL, f"{call}: {text}", D3D12_MESSAGE_ID_DEVICE_REMOVAL_PROCESS_AT_FAULT
        )
        return self.info_queue is not None

    def remove(self, reason: int, text: str, id: int | None = None) -> None:
        self._end(reason, text)
        if id is not None:
            self.report(D3D12_MESSAGE_SEVERITY_ERROR, D3D12_MESSAGE_CATEGORY_EXECUTION, id, text, reason)

    def _end(self, reason: int, text: str) -> None:
        with self.scheduler.lock:
            if self.scheduler.removed:
                return
            self._removed_reason = reason
            self._removed_text = text
            dropped = self.scheduler.remove()
        # Released without the lock, with the objects of the program that it refers to.
        del dropped
        for observer in watchers.all:
            observer.removed(text)
        self.scheduler.end_waits()

    def after_fork(self) -> None:
        """In the child process: remove the device if another thread of the parent was using it."""
        if self.scheduler.after_fork():
            return
        self._removed_reason = self._removed_reason or DXGI_ERROR_DEVICE_REMOVED
        self._removed_text = self._removed_text or (
            "the process was forked while another thread used the device; the child must create one of its own"
        )
        self.scheduler.end_after_fork()

    def flush(self) -> None:
        """Under the debug layer, once the program has submitted everything: run the work that was never waited for, so
        that its messages are reported, and report deadlocked queues."""
        self.scheduler.flush()

    def GetDeviceRemovedReason(self) -> int:
        """``S_OK``, or the reason why the device was removed; returned, not raised."""
        return self._removed_reason


def _not_an_owner(item: ID3D12Pageable) -> str | None:
    """Why residency changes of an object have no effect; None for those that own memory."""
    if isinstance(item, ID3D12Resource):
        if item.buffer.heap is not None:
            return f"a placed resource; it must be {item.buffer.heap}, which owns the memory"
        return "a reserved resource, which has no memory" if item.placement.reserved else None
    if isinstance(item, (ID3D12DescriptorHeap, ID3D12Heap, ID3D12QueryHeap)):
        return None
    return "which is neither a heap, a descriptor heap, a query heap nor a committed resource"


devices: weakref.WeakSet[ID3D12Device] = weakref.WeakSet()


def _after_fork() -> None:
    for device in list(devices):
        device.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
