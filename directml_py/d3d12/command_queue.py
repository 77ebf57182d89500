"""``ID3D12CommandQueue``: submission and execution of command lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..abi.arguments import child, counted, flags, invalid, unsigned
from ..abi.hresult import DXGI_ERROR_INVALID_CALL
from ..api.d3d12_enums import (
    D3D12_COMMAND_LIST_TYPE,
    D3D12_COMMAND_LIST_TYPE_DIRECT,
    D3D12_COMMAND_QUEUE_FLAGS,
    D3D12_MESSAGE_ID,
)
from ..api.d3d12_structs import D3D12_COMMAND_QUEUE_DESC
from ..api.iids import IID_ID3D12CommandQueue
from ..late import loading
from ..runtime.execution import CallExecution, Recording, are_free
from ..runtime.observers import watchers
from .adapters import Adapter
from .barriers import Problem
from .buffer_rules import check_node_mask
from .command_allocator import command_list_type
from .command_list import ID3D12CommandList, ID3D12GraphicsCommandList
from .device_child import ID3D12Pageable, ParentDevice, short
from .fence import ID3D12Fence
from .markers import Marked, Marker
from .queries import TICKS_PER_SECOND, ticks

if TYPE_CHECKING:
    from .heap import ID3D12Heap
    from .resource import ID3D12Resource

PRIORITIES = (0, 100, 10000)


def check_queue_desc(desc: D3D12_COMMAND_QUEUE_DESC, name: str, adapter: Adapter) -> None:
    kind = command_list_type(desc.Type, f"{name}.Type")
    # Devices of the core feature level have compute and copy queues alone.
    if kind == D3D12_COMMAND_LIST_TYPE_DIRECT and not adapter.has_graphics:
        raise invalid(
            f"{name}.Type: {kind.name} needs graphics, which {adapter.description} lacks; "
            "use D3D12_COMMAND_LIST_TYPE_COMPUTE, also for the command allocators and lists"
        )
    flags(desc.Flags, D3D12_COMMAND_QUEUE_FLAGS, f"{name}.Flags")
    check_node_mask(desc.NodeMask, f"{name}.NodeMask")
    if desc.Priority not in PRIORITIES:
        raise invalid(f"{name}.Priority must be a D3D12_COMMAND_QUEUE_PRIORITY, not {desc.Priority}")


class ID3D12CommandQueue(Marked, ID3D12Pageable):
    """A queue of command lists, signals and waits.

    Work runs immediately, in the calling thread, unless a ``Wait`` blocks it; then it runs in the thread that signals
    the fence. Under the debug layer it runs when a fence that it signals is polled or waited for.
    """

    IID = IID_ID3D12CommandQueue

    def __init__(self, device: ParentDevice, desc: D3D12_COMMAND_QUEUE_DESC) -> None:
        super().__init__(device)
        self._desc = desc
        self.type = D3D12_COMMAND_LIST_TYPE(desc.Type)
        self.work = device.scheduler.queue(self.life)

    def _about(self) -> str:
        return short(self.type)

    def GetDesc(self) -> D3D12_COMMAND_QUEUE_DESC:
        return D3D12_COMMAND_QUEUE_DESC.from_buffer_copy(self._desc)

    def ExecuteCommandLists(self, numCommandLists: Any, commandLists: Any = None) -> None:
        """``(count, lists)`` as in C, or a sequence of lists.

        If a list is open, invalid, in flight or of another type, or its allocator was reset, the call executes nothing
        and removes the device with ``DXGI_ERROR_INVALID_CALL``.
        """
        if commandLists is None and type(numCommandLists) is list:
            lists = numCommandLists
        else:
            lists = counted(numCommandLists, commandLists, "numCommandLists", "commandLists")
        device = self.device
        if device.scheduler.removed or not lists:
            self._check_objects(lists)
            return
        if watchers.all or device.reorders or device.sync_validator is not None:
            is_submitted = self._submit_call(lists)
        else:
            recordings = self._recordings(lists)
            is_submitted = recordings is not None and device.scheduler.submit(self.work, recordings)
        if not is_submitted:
            problem = self._problem(lists)
            device.remove(DXGI_ERROR_INVALID_CALL, f"ExecuteCommandLists: {problem.text}", problem.id)

    def _submit_call(self, lists: Sequence[ID3D12GraphicsCommandList]) -> bool:
        """Submit all lists as one execution; False if one of them cannot be executed."""
        device, validator = self.device, self.device.sync_validator
        recordings = self._recordings(lists)
        if recordings is None:
            return False
        submission = None if validator is None else validator.submit(recordings, self.work)
        call = CallExecution(device.scheduler, recordings, submission, device.reorders)

        def submitted() -> None:
            if submission is not None:
                submission.submitted()
            for observer in watchers.all:
                observer.submitted(self, call, lists)

        return device.scheduler.submit(self.work, [call], submitted)

    def UpdateTileMappings(
        self,
        resource: ID3D12Resource,
        numResourceRegions: int,
        resourceRegionStartCoordinates: Any,
        resourceRegionSizes: Any,
        heap: ID3D12Heap | None,
        numRanges: int,
        rangeFlags: Any,
        heapRangeStartOffsets: Any,
        rangeTileCounts: Any,
        flags: int = 0,
    ) -> None:
        """Validate the mappings, which change nothing: a reserved resource has memory of its own."""
        self.device.check_alive()
        with loading:
            from .tile_mappings import Ranges, Regions, check_update
        regions = Regions(numResourceRegions, resourceRegionStartCoordinates, resourceRegionSizes)
        ranges = Ranges(heap, numRanges, rangeFlags, heapRangeStartOffsets, rangeTileCounts)
        check_update(self.device, resource, regions, ranges, flags)

    def CopyTileMappings(
        self,
        dstResource: ID3D12Resource,
        dstRegionStartCoordinate: Any,
        srcResource: ID3D12Resource,
        srcRegionStartCoordinate: Any,
        regionSize: Any,
        flags: int = 0,
    ) -> None:
        """Validate the mappings; see UpdateTileMappings."""
        self.device.check_alive()
        target, source = (dstResource, dstRegionStartCoordinate), (srcResource, srcRegionStartCoordinate)
        with loading:
            from .tile_mappings import check_copy
        check_copy(self.device, target, source, regionSize, flags)

    def _mark(self, marker: Marker) -> None:
        for observer in watchers.all:
            observer.marked(self, marker)

    def fail_call(self, call: str, text: str) -> bool:
        """Remove the device because ``call`` did nothing, for C callers, which no exception reaches.

        Returns whether the debug layer has reported it.
        """
        return self.device.fail_call(call, text)

    def GetTimestampFrequency(self) -> int:
        """Ticks per second of the timestamps that EndQuery takes."""
        self.device.check_alive()
        return TICKS_PER_SECOND

    def GetClockCalibration(self) -> tuple[int, int]:
        """A simultaneous reading of the GPU and CPU clocks (QueryPerformanceCounter), which are the same clock here."""
        self.device.check_alive()
        now = ticks()
        return now, now

    def _recordings(self, lists: Sequence[Any]) -> list[Recording] | None:
        """What is recorded in ``lists``; None if the queue cannot execute one of them, whatever is in flight."""
        device, type, recordings = self.device, self.type, []
        for entry in lists:
            if (
                not isinstance(entry, ID3D12GraphicsCommandList)
                or entry.device is not device
                or entry.type is not type
                or entry.open
                or entry.errors
            ):
                return None
            recordings.append(entry.recording)
        return recordings

    def _can_execute(self, lists: Sequence[Any]) -> bool:
        recordings = self._recordings(lists)
        return recordings is not None and are_free(recordings)

    def _check_objects(self, lists: Sequence[Any]) -> None:
        for index, entry in enumerate(lists):
            child(entry, ID3D12CommandList, f"commandLists[{index}]", self.device)
            child(entry, ID3D12GraphicsCommandList, f"commandLists[{index}]", self.device)

    def _problem(self, lists: Sequence[ID3D12GraphicsCommandList]) -> Problem:
        """Why the first list that cannot be executed cannot; raises for an object of another kind or device."""
        self._check_objects(lists)
        firsts = (index for index in range(len(lists)) if not self._can_execute(lists[: index + 1]))
        # Another thread may have put it right meanwhile.
        index = next(firsts, 0)
        ids = D3D12_MESSAGE_ID
        entry, name = lists[index], f"commandLists[{index}]"
        if entry.type != self.type:
            return Problem(
                ids.D3D12_MESSAGE_ID_EXECUTECOMMANDLISTS_COMMANDLISTMISMATCH,
                f"{name} is {entry.type.name}, but the queue is {self.type.name}",
            )
        if entry.open:
            return Problem(ids.D3D12_MESSAGE_ID_EXECUTECOMMANDLISTS_OPENCOMMANDLIST, f"{name} is not closed")
        if entry.errors:
            return Problem(
                ids.D3D12_MESSAGE_ID_EXECUTECOMMANDLISTS_FAILEDCOMMANDLIST,
                f"{name} is invalid: {'; '.join(entry.errors)}",
            )
        if entry.recording.stale:
            return Problem(
                ids.D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_RESET,
                f"{name}: its allocator was reset after the list was closed, or the list was never reset to one",
            )
        return Problem(
            ids.D3D12_MESSAGE_ID_COMMAND_LIST_SYNC, f"{name} has not finished an earlier execution"
        )

    def Signal(self, fence: ID3D12Fence, value: int) -> None:
        """Set ``fence`` to ``value`` when all preceding work has run."""
        device = self.device
        if device.scheduler.removed:
            device.check_alive()
        if not isinstance(fence, ID3D12Fence) or fence.device is not device:
            child(fence, ID3D12Fence, "fence", device)
        target = unsigned(value, "value")
        for observer in watchers.all:
            observer.signaled(self, fence, target)
        device.scheduler.signal(self.work, fence.state, target)

    def Wait(self, fence: ID3D12Fence, value: int) -> None:
        """Block the work submitted after this until ``fence`` reaches ``value``. The caller does not wait."""
        self.device.check_alive()
        child(fence, ID3D12Fence, "fence", self.device)
        target = unsigned(value, "value")
        for observer in watchers.all:
            observer.waited(self, fence, target)
        self.device.scheduler.wait(self.work, fence.state, target)
