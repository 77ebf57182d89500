"""``ID3D12Device1`` to ``ID3D12Device9``, and ``D3D12CreateDevice``."""

from __future__ import annotations

import threading
from typing import Any, NoReturn

from ..abi.arguments import (
    child,
    counted,
    enumerator,
    flags,
    invalid,
    is_series,
    uint,
    unsigned,
)
from ..abi.counted_structs import structs_at
from ..abi.hresult import (
    DXGI_ERROR_DEVICE_REMOVED,
    DXGI_ERROR_UNSUPPORTED,
    E_NOTIMPL,
    DMLError,
)
from ..abi.wintypes import GUID
from ..api.d3d12_enums import (
    D3D12_COMMAND_LIST_FLAGS,
    D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY,
    D3D12_MULTIPLE_FENCE_WAIT_FLAGS,
    D3D12_RESIDENCY_FLAGS,
    D3D_FEATURE_LEVEL,
)
from ..api.d3d12_structs import (
    D3D12_RESOURCE_DESC,
    D3D12_RESOURCE_DESC1,
)
from ..api.iids import (
    IID_ID3D12Device1,
    IID_ID3D12Device2,
    IID_ID3D12Device3,
    IID_ID3D12Device4,
    IID_ID3D12Device5,
    IID_ID3D12Device6,
    IID_ID3D12Device7,
    IID_ID3D12Device8,
    IID_ID3D12Device9,
)
from ..late import loading
from ..runtime.scheduler import Countdown, Event
from .adapters import DEVICE_LEVELS, MAX_FEATURE_LEVEL, adapter_of
from .allocation_queries import (
    AllocationInfo,
    Footprints,
    allocation_info,
    older_desc,
)
from .buffer_rules import (
    check_node_mask,
)
from .command_allocator import command_list_type
from .command_list import ID3D12GraphicsCommandList4
from .command_queue import ID3D12CommandQueue
from .device import ID3D12Device
from .fence import ID3D12Fence
from .heap import ID3D12Heap, ID3D12Heap1
from .resource import ID3D12Resource2


class ID3D12Device1(ID3D12Device):
    IID = IID_ID3D12Device1

    def SetEventOnMultipleFenceCompletion(
        self, fences: Any, fenceValues: Any, numFences: int, flags: int, event: Event | None = None
    ) -> None:
        """Set ``event`` once all fences, or with the flag ANY one of them, have reached their values; without an event,
        block until then (nf-d3d12-id3d12device1-seteventonmultiplefencecompletion)."""
        self.check_alive()
        count = uint(numFences, "numFences")
        targets = _fence_values(count, fenceValues)
        waited = [
            child(fence, ID3D12Fence, f"fences[{index}]", self)
            for index, fence in enumerate(counted(count, fences, "numFences", "fences"))
        ]
        kind = _wait_flags(flags)
        if not count:
            raise invalid("numFences must not be 0")
        awaited: Event = threading.Event() if event is None else event
        any_of_them = kind & D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY
        countdown = Countdown(1 if any_of_them else count, awaited)
        for fence, target in zip(waited, targets):
            fence.SetEventOnCompletion(target, countdown)
        if event is None and isinstance(awaited, threading.Event):
            states = [fence.state for fence in waited]
            self.scheduler.block(awaited, zip(states, targets), bool(any_of_them))

    def SetResidencyPriority(self, numObjects: Any, objects: Any, priorities: Any = None) -> None:
        """Validates the objects only; residency is not prioritized."""
        self.MakeResident(numObjects, objects)


def _fence_values(count: int, values: Any) -> list[int]:
    if not is_series(values) or len(values) < count:
        raise invalid(f"fenceValues must hold numFences values, which is {count}")
    return [unsigned(value, f"fenceValues[{index}]") for index, value in enumerate(values[:count])]


def _wait_flags(value: Any) -> D3D12_MULTIPLE_FENCE_WAIT_FLAGS:
    return flags(value, D3D12_MULTIPLE_FENCE_WAIT_FLAGS, "flags")


class ID3D12Device2(ID3D12Device1):
    IID = IID_ID3D12Device2

    def CreatePipelineState(self, desc: Any) -> NoReturn:
        """Raises ``E_NOTIMPL`` naming the shaders of a stream of subobjects."""
        self.check_alive()
        with loading:
            from .pipeline_states import refuse_stream
        refuse_stream(desc)


class ID3D12Device3(ID3D12Device2):
    IID = IID_ID3D12Device3

    def EnqueueMakeResident(
        self, flags: int, numObjects: Any, objects: Any, fenceToSignal: ID3D12Fence, fenceValueToSignal: int
    ) -> None:
        """MakeResident, which completes immediately, so that the fence is signaled at once."""
        _residency_flags(flags)
        child(fenceToSignal, ID3D12Fence, "fenceToSignal", self)
        self.MakeResident(numObjects, objects)
        fenceToSignal.Signal(fenceValueToSignal)


def _residency_flags(value: Any) -> None:
    flags(value, D3D12_RESIDENCY_FLAGS, "flags")


class ID3D12Device4(ID3D12Device3):
    IID = IID_ID3D12Device4

    def CreateCommandList1(self, nodeMask: int, type: int, flags: int = 0) -> ID3D12GraphicsCommandList4:
        """A closed list, which has no allocator until it is reset."""
        self.check_alive()
        check_node_mask(uint(nodeMask, "nodeMask"), "nodeMask")
        kind = command_list_type(type, "type")
        _list_flags(flags)
        return ID3D12GraphicsCommandList4(self, kind)

    def CreateCommittedResource1(
        self,
        heapProperties: Any,
        heapFlags: int,
        desc: Any,
        initialState: int,
        optimizedClearValue: None = None,
        protectedSession: None = None,
    ) -> ID3D12Resource2:
        _check_no_session(protectedSession)
        return self.CreateCommittedResource(
            heapProperties, heapFlags, desc, initialState, optimizedClearValue
        )

    def CreateReservedResource1(
        self,
        desc: Any,
        initialState: int,
        optimizedClearValue: None = None,
        protectedSession: None = None,
    ) -> ID3D12Resource2:
        _check_no_session(protectedSession)
        return self.CreateReservedResource(desc, initialState, optimizedClearValue)

    def CreateHeap1(self, desc: Any, protectedSession: None = None) -> ID3D12Heap1:
        _check_no_session(protectedSession)
        return self.CreateHeap(desc)

    def GetResourceAllocationInfo1(
        self, visibleMask: int, numResourceDescs: Any, resourceDescs: Any = None
    ) -> AllocationInfo:
        """As GetResourceAllocationInfo, and the offset and size of each buffer."""
        names = "numResourceDescs", "resourceDescs"
        descs = structs_at(numResourceDescs, resourceDescs, D3D12_RESOURCE_DESC, *names)
        return allocation_info(visibleMask, descs)


def _list_flags(value: Any) -> None:
    flags(value, D3D12_COMMAND_LIST_FLAGS, "flags")


def _check_no_session(session: Any) -> None:
    if session is not None:
        raise DMLError(E_NOTIMPL, "protectedSession must be None: protected resources are not emulated")


class ID3D12Device5(ID3D12Device4):
    IID = IID_ID3D12Device5

    def RemoveDevice(self) -> None:
        """Remove the device as if its adapter had been removed."""
        self.remove(DXGI_ERROR_DEVICE_REMOVED, "ID3D12Device5::RemoveDevice was called")

    def EnumerateMetaCommands(self) -> list[Any]:
        """Always empty: meta commands are operators implemented by a driver, and there is no driver
        (nf-d3d12-id3d12device5-enumeratemetacommands)."""
        self.check_alive()
        return []


class ID3D12Device6(ID3D12Device5):
    IID = IID_ID3D12Device6


class ID3D12Device7(ID3D12Device6):
    IID = IID_ID3D12Device7


class ID3D12Device8(ID3D12Device7):
    """The methods that take a D3D12_RESOURCE_DESC1, whose SamplerFeedbackMipRegion must be 0 for a buffer."""

    IID = IID_ID3D12Device8

    def GetResourceAllocationInfo2(
        self, visibleMask: int, numResourceDescs: Any, resourceDescs: Any = None
    ) -> AllocationInfo:
        names = "numResourceDescs", "resourceDescs"
        descs = structs_at(numResourceDescs, resourceDescs, D3D12_RESOURCE_DESC1, *names)
        return allocation_info(visibleMask, [older_desc(desc, "resourceDescs") for desc in descs])

    def CreateCommittedResource2(
        self,
        heapProperties: Any,
        heapFlags: int,
        desc: Any,
        initialState: int,
        optimizedClearValue: None = None,
        protectedSession: None = None,
    ) -> ID3D12Resource2:
        _check_no_session(protectedSession)
        older = older_desc(desc, "desc")
        return self.CreateCommittedResource(
            heapProperties, heapFlags, older, initialState, optimizedClearValue
        )

    def CreatePlacedResource1(
        self,
        heap: ID3D12Heap,
        heapOffset: int,
        desc: Any,
        initialState: int,
        optimizedClearValue: None = None,
    ) -> ID3D12Resource2:
        older = older_desc(desc, "desc")
        return self.CreatePlacedResource(heap, heapOffset, older, initialState, optimizedClearValue)

    def GetCopyableFootprints1(
        self, resourceDesc: Any, firstSubresource: int, numSubresources: int, baseOffset: int
    ) -> Footprints:
        older = older_desc(resourceDesc, "resourceDesc")
        return self.GetCopyableFootprints(older, firstSubresource, numSubresources, baseOffset)


class ID3D12Device9(ID3D12Device8):
    IID = IID_ID3D12Device9

    def CreateCommandQueue1(self, desc: Any, creatorID: GUID) -> ID3D12CommandQueue:
        """``creatorID`` distinguishes the queues of different runtimes, and is ignored: there is only one."""
        return self.CreateCommandQueue(desc)


def D3D12CreateDevice(
    adapter: Any = None, minimumFeatureLevel: int = D3D_FEATURE_LEVEL.D3D_FEATURE_LEVEL_11_0
) -> ID3D12Device9:
    """A new device on every call. ``adapter`` is an IDXGIAdapter, an IDXCoreAdapter, or None for the first adapter.

    Raises ``E_INVALIDARG`` for a feature level that Direct3D 12 does not have, ``DXGI_ERROR_UNSUPPORTED`` for one that
    is higher than emulated or that needs graphics on an adapter without.
    """
    selected = adapter_of(adapter)
    level = enumerator(minimumFeatureLevel, D3D_FEATURE_LEVEL, "minimumFeatureLevel")
    if level not in DEVICE_LEVELS:
        raise invalid(f"minimumFeatureLevel must be at least D3D_FEATURE_LEVEL_11_0, not {level.name}")
    if level >= D3D_FEATURE_LEVEL.D3D_FEATURE_LEVEL_11_0 and not selected.has_graphics:
        raise DMLError(
            DXGI_ERROR_UNSUPPORTED,
            f"minimumFeatureLevel: {level.name} needs graphics, which {selected.description} lacks; "
            "D3D_FEATURE_LEVEL_1_0_CORE and D3D_FEATURE_LEVEL_1_0_GENERIC do not",
        )
    if level > MAX_FEATURE_LEVEL:
        raise DMLError(
            DXGI_ERROR_UNSUPPORTED, f"minimumFeatureLevel: {level.name} exceeds {MAX_FEATURE_LEVEL.name}"
        )
    return ID3D12Device9(selected)
