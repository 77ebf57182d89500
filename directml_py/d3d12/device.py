"""``ID3D12Device``: queries, and creation of queues, lists, allocators, query heaps and fences."""

from __future__ import annotations

from typing import Any, NoReturn

from ..abi.arguments import child, flags, uint, unsigned
from ..abi.hresult import NAMES
from ..abi.interface import same_interface
from ..abi.pointers import struct_at
from ..api.d3d12_enums import D3D12_FENCE_FLAGS
from ..api.d3d12_structs import D3D12_COMMAND_QUEUE_DESC, D3D12_QUERY_HEAP_DESC, LUID
from ..api.iids import IID_ID3D12Device
from ..late import loading
from ..runtime.observers import created
from .allocation_queries import AllocationQueries
from .buffer_rules import check_node_mask
from .command_allocator import ID3D12CommandAllocator, check_allocator, command_list_type
from .command_list import check_initial_state
from .command_list_versions import ID3D12GraphicsCommandList4
from .command_queue import ID3D12CommandQueue, check_queue_desc
from .debug import ID3D12DebugDevice
from .descriptor_methods import DescriptorMethods
from .features import answer_feature
from .fence import ID3D12Fence1
from .info_queue import ID3D12InfoQueue, ID3D12InfoQueue1
from .pipeline_objects import ID3D12RootSignature
from .queries import ID3D12QueryHeap, check_query_heap_desc
from .residency import Residency
from .resource_creation import ResourceCreation
from .shared_handles import SharedHandles


class ID3D12Device(DescriptorMethods, ResourceCreation, SharedHandles, AllocationQueries, Residency):
    """A device on a single-node adapter whose GPU is this process. All methods are thread-safe.

    Creation methods raise ``E_INVALIDARG`` naming parameter, field and requirement, ``E_NOTIMPL`` for what is not
    emulated, ``E_OUTOFMEMORY``, and ``DXGI_ERROR_DEVICE_REMOVED`` after device removal.
    """

    IID = IID_ID3D12Device

    def _about(self) -> str:
        debug = "" if self.info_queue is None else ", debug layer"
        removed = f", removed: {NAMES.get(self._removed_reason, 'unknown')}" if self.removed else ""
        return f"{self._adapter.description}{debug}{removed}"

    def QueryInterface(self, riid: Any) -> Any:
        """Also returns ``ID3D12InfoQueue`` and ``ID3D12DebugDevice`` on a device created under the debug layer."""
        if self.info_queue is not None:
            if any(same_interface(riid, kind) for kind in (ID3D12InfoQueue, ID3D12InfoQueue1)):
                return self.info_queue
            if same_interface(riid, ID3D12DebugDevice):
                return ID3D12DebugDevice(self)
        return super().QueryInterface(riid)

    def GetNodeCount(self) -> int:
        return 1

    def GetAdapterLuid(self) -> LUID:
        """The LUID of the adapter, which ``IDXGIFactory4::EnumAdapterByLuid`` finds."""
        return self._adapter.luid

    def CheckFeatureSupport(self, feature: int, data: Any, size: int | None = None) -> None:
        """Fill the D3D12_FEATURE_DATA struct ``data`` (or the one that a typed pointer points to) in place."""
        self.check_alive()
        answer_feature(feature, data, size)

    def SetStablePowerState(self, enable: bool) -> None:
        """A no-op, as there is no GPU clock (nf-d3d12-id3d12device-setstablepowerstate)."""
        self.check_alive()

    def CreateCommandQueue(self, desc: Any) -> ID3D12CommandQueue:
        self.check_alive()
        queue_desc = struct_at(desc, D3D12_COMMAND_QUEUE_DESC, "desc")
        check_queue_desc(queue_desc, "desc")
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
