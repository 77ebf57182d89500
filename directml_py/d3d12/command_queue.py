"""``ID3D12CommandQueue``: submission and execution of command lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..abi.arguments import child, counted, flags, invalid, unsigned
from ..abi.hresult import DXGI_ERROR_DEVICE_HUNG, DXGI_ERROR_INVALID_CALL
from ..api.d3d12_enums import D3D12_COMMAND_LIST_TYPE, D3D12_COMMAND_QUEUE_FLAGS, D3D12_MESSAGE_ID
from ..api.d3d12_structs import D3D12_COMMAND_QUEUE_DESC
from ..api.iids import IID_ID3D12CommandQueue
from .barriers import Problem
from .buffer_rules import check_node_mask
from .command_allocator import Recording, command_list_type
from .command_list import ID3D12CommandList, ID3D12GraphicsCommandList
from .device_child import ID3D12Pageable, short
from .fence import FenceSignal, FenceWait, ID3D12Fence
from .interruptible import still_running
from .markers import Marked, Marker
from .observers import running, watchers
from .recorded_commands import any_order
from .scheduler import Work, WorkQueue, let_go
from .tile_mappings import Ranges, Regions, check_copy, check_update
from .timestamps import TICKS_PER_SECOND, ticks

if TYPE_CHECKING:
    from .device import ID3D12Device
    from .heap import ID3D12Heap
    from .recorded_commands import Command
    from .resource import ID3D12Resource
    from .sync_validation.validator import Submission

PRIORITIES = (0, 100, 10000)


def check_queue_desc(desc: D3D12_COMMAND_QUEUE_DESC, name: str) -> None:
    command_list_type(desc.Type, f"{name}.Type")
    flags(desc.Flags, D3D12_COMMAND_QUEUE_FLAGS, f"{name}.Flags")
    check_node_mask(desc.NodeMask, f"{name}.NodeMask")
    if desc.Priority not in PRIORITIES:
        raise invalid(f"{name}.Priority must be a D3D12_COMMAND_QUEUE_PRIORITY, not {desc.Priority}")


class Execution(Work):
    """The work of one ExecuteCommandLists call. The lists may be reset while it is pending."""

    __slots__ = ("__weakref__", "_begun", "_is_elsewhere", "_position", "device", "recordings", "submission")

    def __init__(
        self, device: ID3D12Device, recordings: tuple[Recording, ...], submission: Submission | None
    ) -> None:
        self.done = False
        self.device = device
        self.recordings = recordings
        self.submission = submission
        # Commands begun and commands completed: if they differ, one was interrupted.
        self._begun = self._position = 0
        # Whether a command goes on in another thread, after an interrupt of the one that waited for it.
        self._is_elsewhere = False

    def blocked(self) -> bool:
        return self._is_elsewhere

    def start(self) -> None:
        """Mark the recordings as in flight. Called with the device's lock held."""
        for recording in self.recordings:
            recording.memory.in_flight[recording] = self
        if self.submission is not None:
            self.submission.start()

    def finish(self) -> None:
        for recording in self.recordings:
            if recording.memory.in_flight.get(recording) is self:
                del recording.memory.in_flight[recording]
        if self.submission is not None:
            self.submission.finish()

    def run(self) -> None:
        """An exception raised by a command stands for a GPU fault: it removes the device."""
        try:
            if watchers.all:
                with running(self):
                    self._run(self._observed_calls())
            elif self.submission is None and len(self.recordings) == 1:
                self._run(self.recordings[0].calls)
            else:
                self._run(self._calls())
        except BaseException as error:
            if self._begun != self._position and not self._is_elsewhere:
                outcome = "failed" if isinstance(error, Exception) else "was interrupted"
                reason = str(error) or type(error).__name__
                self.device.mark_removed(DXGI_ERROR_DEVICE_HUNG, f"a command {outcome}: {reason}")
            raise

    def _run(self, steps: Sequence[Callable[[], None]]) -> None:
        device = self.device
        for position in range(self._position, len(steps)):
            if device.removed:
                return
            step = steps[position]
            self._begun = position + 1
            try:
                step()
            except BaseException as error:
                running = still_running(error)
                if running is not None:
                    self._is_elsewhere = True
                    running.afterwards(partial(self._go_on, position + 1))
                raise
            self._position = position + 1

    def _go_on(self, position: int, error: BaseException | None) -> None:
        """Go on at ``position``, in the thread that ran the command before."""
        device = self.device
        if error is not None:
            device.mark_removed(
                DXGI_ERROR_DEVICE_HUNG, f"a command failed: {str(error) or type(error).__name__}"
            )
        with device.lock:
            self._position = position
            self._is_elsewhere = False
            for queue in device.queues():
                device.ready[queue] = None
        device.progress()

    def _calls(self) -> Sequence[Callable[[], None]]:
        if self.submission is not None:
            return self.submission.calls()
        if self.device.reorders:
            commands = [command for recording in self.recordings for command in recording.commands]
            return [call for command in any_order(commands) if (call := command.call())]
        return [call for recording in self.recordings for call in recording.calls]

    def _observed_calls(self) -> Sequence[Callable[[], None]]:
        if self.submission is not None:
            return self.submission.calls()
        return [
            partial(_observed, command) for recording in self.recordings for command in recording.commands
        ]


def _observed(command: Command) -> None:
    for observer in watchers.all:
        observer.before(command)
    command.execute()
    for observer in watchers.all:
        observer.after(command)


class ID3D12CommandQueue(Marked, ID3D12Pageable):
    """A queue of command lists, signals and waits.

    Work runs immediately, in the calling thread, unless a ``Wait`` blocks it; then it runs in the thread that signals
    the fence. Under the debug layer it runs when a fence that it signals is polled or waited for.
    """

    IID = IID_ID3D12CommandQueue

    def __init__(self, device: ID3D12Device, desc: D3D12_COMMAND_QUEUE_DESC) -> None:
        super().__init__(device)
        self._desc = desc
        self.type = D3D12_COMMAND_LIST_TYPE(desc.Type)
        self.work = WorkQueue(device, self.life)

    def _about(self) -> str:
        return short(self.type)

    def GetDesc(self) -> D3D12_COMMAND_QUEUE_DESC:
        return D3D12_COMMAND_QUEUE_DESC.from_buffer_copy(self._desc)

    def ExecuteCommandLists(self, numCommandLists: Any, commandLists: Any = None) -> None:
        """``(count, lists)`` as in C, or a sequence of lists.

        If a list is open, invalid, in flight or of another type, or its allocator was reset, the call executes nothing
        and removes the device with ``DXGI_ERROR_INVALID_CALL``.
        """
        lists = counted(numCommandLists, commandLists, "numCommandLists", "commandLists")
        device = self.device
        for index, entry in enumerate(lists):
            if not isinstance(entry, ID3D12GraphicsCommandList) or entry.device is not device:
                child(entry, ID3D12CommandList, f"commandLists[{index}]", device)
                child(entry, ID3D12GraphicsCommandList, f"commandLists[{index}]", device)
        if device.removed or not lists:
            return
        execution = None
        try:
            problem = None if device.sync_validator is None else self._problem(lists)
            if problem is None:
                # Made without the lock: it refers to objects that the program may release meanwhile.
                made = self._execution(device, lists)
                with device.lock:
                    problem = self._problem(lists)
                    if problem is None:
                        execution = made
                        execution.start()
            if execution is not None:
                if execution.submission is not None:
                    execution.submission.check_maps()
                for observer in watchers.all:
                    observer.submitted(self, execution, lists)
                device.submit(self.work, execution)
        except BaseException:
            let_go(device.lock)
            if execution is not None:
                self.work.forget(execution)
            raise
        if problem is not None:
            device.remove(DXGI_ERROR_INVALID_CALL, f"ExecuteCommandLists: {problem.text}", problem.id)

    def _execution(self, device: ID3D12Device, lists: Sequence[ID3D12GraphicsCommandList]) -> Execution:
        # Fast path: most calls have one list, and most devices have no debug layer.
        first = lists[0].recording
        recordings = (first,) if len(lists) == 1 else tuple([entry.recording for entry in lists])
        validator = device.sync_validator
        return Execution(
            device, recordings, None if validator is None else validator.submit(recordings, self.work)
        )

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
        check_copy(self.device, target, source, regionSize, flags)

    def _mark(self, marker: Marker) -> None:
        for observer in watchers.all:
            observer.marked(self, marker)

    def refuse(self, call: str, text: str) -> bool:
        """Remove the device because ``call`` did nothing, for C callers, which no exception reaches.

        Returns whether the debug layer has reported it.
        """
        return self.device.refuse(call, text)

    def GetTimestampFrequency(self) -> int:
        """Ticks per second of the timestamps that EndQuery takes."""
        self.device.check_alive()
        return TICKS_PER_SECOND

    def GetClockCalibration(self) -> tuple[int, int]:
        """A simultaneous reading of the GPU and CPU clocks (QueryPerformanceCounter), which are the same clock here."""
        self.device.check_alive()
        now = ticks()
        return now, now

    def _problem(self, lists: Sequence[ID3D12GraphicsCommandList]) -> Problem | None:
        for index, entry in enumerate(lists):
            recording = entry.recording
            if (
                entry.type != self.type
                or entry.open
                or entry.errors
                or recording in recording.memory.in_flight
                or recording.generation != recording.memory.generation
                or (index and entry in lists[:index])
            ):
                return self._explain(lists, index)
        return None

    def _explain(self, lists: Sequence[ID3D12GraphicsCommandList], index: int) -> Problem:
        """The problem with the list at ``index``."""
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
        self.device.check_alive()
        child(fence, ID3D12Fence, "fence", self.device)
        target = unsigned(value, "value")
        for observer in watchers.all:
            observer.signaled(self, fence, target)
        self.device.submit(self.work, FenceSignal(self.work, fence.state, target))

    def Wait(self, fence: ID3D12Fence, value: int) -> None:
        """Block the work submitted after this until ``fence`` reaches ``value``. The caller does not wait."""
        self.device.check_alive()
        child(fence, ID3D12Fence, "fence", self.device)
        target = unsigned(value, "value")
        for observer in watchers.all:
            observer.waited(self, fence, target)
        self.device.submit(self.work, FenceWait(self.work, fence.state, target))
