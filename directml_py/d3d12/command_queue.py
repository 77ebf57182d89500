"""``ID3D12CommandQueue``: execution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..abi.arguments import child, counted, flags, invalid, unsigned
from ..abi.hresult import DXGI_ERROR_INVALID_CALL
from ..api.d3d12_enums import D3D12_COMMAND_LIST_TYPE, D3D12_COMMAND_QUEUE_FLAGS, D3D12_MESSAGE_ID
from ..api.d3d12_structs import D3D12_COMMAND_QUEUE_DESC
from ..api.iids import IID_ID3D12CommandQueue
from .barriers import Problem
from .buffer_rules import check_node_mask
from .command_list import (
    ID3D12CommandList,
    ID3D12GraphicsCommandList,
    Recording,
    command_list_type,
)
from .fence import FenceSignal, FenceWait, ID3D12Fence
from .objects import ID3D12Pageable
from .scheduler import Work, WorkQueue

if TYPE_CHECKING:
    from .device import ID3D12Device
    from .tracking.monitor import Submission

PRIORITIES = (0, 100, 10000)


def check_queue_desc(desc: D3D12_COMMAND_QUEUE_DESC, name: str) -> None:
    command_list_type(desc.Type, f"{name}.Type")
    flags(desc.Flags, D3D12_COMMAND_QUEUE_FLAGS, f"{name}.Flags")
    check_node_mask(desc.NodeMask, f"{name}.NodeMask")
    if desc.Priority not in PRIORITIES:
        raise invalid(f"{name}.Priority must be a D3D12_COMMAND_QUEUE_PRIORITY, not {desc.Priority}")


class Execution(Work):
    """One ExecuteCommandLists call. The lists may be reset while it waits."""

    __slots__ = ("device", "recordings", "submission")

    def __init__(
        self, device: ID3D12Device, recordings: tuple[Recording, ...], submission: Submission | None
    ) -> None:
        self.device = device
        self.recordings = recordings
        self.submission = submission

    def run(self) -> Iterable[WorkQueue]:
        device = self.device
        if device.monitor is not None and self.submission is not None:
            device.monitor.execute(self.submission)
            return ()
        for recording in self.recordings:
            for call in recording.calls:
                if device.removed:
                    return ()
                call()
        return ()

    def finish(self) -> None:
        for recording in self.recordings:
            recording.in_flight = False
            recording.memory.in_flight -= 1


class ID3D12CommandQueue(ID3D12Pageable):
    """A queue of command lists, signals and waits.

    Work runs at once, in the calling thread, unless a ``Wait`` holds it back; then it runs in the thread that
    brings the fence to the value. Under the debug layer it runs when a fence that it signals is looked at.
    """

    IID = IID_ID3D12CommandQueue

    def __init__(self, device: ID3D12Device, desc: D3D12_COMMAND_QUEUE_DESC) -> None:
        super().__init__(device)
        self._desc = desc
        self.type = D3D12_COMMAND_LIST_TYPE(desc.Type)
        self.work = WorkQueue(device)

    def GetDesc(self) -> D3D12_COMMAND_QUEUE_DESC:
        return D3D12_COMMAND_QUEUE_DESC.from_buffer_copy(self._desc)

    def ExecuteCommandLists(self, numCommandLists: Any, commandLists: Any = None) -> None:
        """``(count, lists)`` as in C, or a sequence of lists.

        A list that is open, invalid, of another type, still running, or whose allocator was reset makes the
        call do nothing and removes the device with ``DXGI_ERROR_INVALID_CALL``.
        """
        lists = counted(numCommandLists, commandLists, "numCommandLists", "commandLists")
        device = self.device
        for index, entry in enumerate(lists):
            if not isinstance(entry, ID3D12GraphicsCommandList) or entry.device is not device:
                child(entry, ID3D12CommandList, f"commandLists[{index}]", device)
                child(entry, ID3D12GraphicsCommandList, f"commandLists[{index}]", device)
        if device.removed or not lists:
            return
        with device.lock:
            problem = self._problem(lists)
            if problem is None:
                recordings = tuple([entry.recording for entry in lists])
                monitor = device.monitor
                submission = None if monitor is None else monitor.submit(recordings)
                for recording in recordings:
                    recording.in_flight = True
                    recording.memory.in_flight += 1
        if problem is not None:
            device.remove(DXGI_ERROR_INVALID_CALL, f"ExecuteCommandLists: {problem.text}", problem.id)
            return
        device.submit(self.work, Execution(device, recordings, submission))

    def _problem(self, lists: Sequence[ID3D12GraphicsCommandList]) -> Problem | None:
        for index, entry in enumerate(lists):
            recording = entry.recording
            good = entry.type == self.type and not (entry.open or entry.errors or recording.in_flight)
            if good and not recording.stale and (not index or entry not in lists[:index]):
                continue
            return self._explain(lists, index)
        return None

    def _explain(self, lists: Sequence[ID3D12GraphicsCommandList], index: int) -> Problem:
        """What is wrong with the list at ``index``."""
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
                f"{name}: its allocator was reset after the list was closed",
            )
        return Problem(
            ids.D3D12_MESSAGE_ID_COMMAND_LIST_SYNC, f"{name} has not finished an earlier execution"
        )

    def Signal(self, fence: ID3D12Fence, value: int) -> None:
        """Set ``fence`` to ``value`` when everything before has run."""
        self.device.check_alive()
        child(fence, ID3D12Fence, "fence", self.device)
        self.device.submit(self.work, FenceSignal(fence, unsigned(value, "value")))

    def Wait(self, fence: ID3D12Fence, value: int) -> None:
        """Hold back what comes after until ``fence`` has reached ``value``. The caller does not wait."""
        self.device.check_alive()
        child(fence, ID3D12Fence, "fence", self.device)
        self.device.submit(self.work, FenceWait(self.work, fence, unsigned(value, "value")))
