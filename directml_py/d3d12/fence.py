"""``ID3D12Fence``, and what queues do with fences."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from ..abi.arguments import unsigned
from ..api.iids import IID_ID3D12Fence
from .constants import UINT64_MAX
from .objects import ID3D12Pageable
from .scheduler import Work, WorkQueue

if TYPE_CHECKING:
    from .device import ID3D12Device


class Event(Protocol):
    """What ``SetEventOnCompletion`` sets: a ``threading.Event`` or anything alike."""

    def set(self) -> Any: ...


class ID3D12Fence(ID3D12Pageable):
    """A 64-bit value that queues and the CPU set, and wait for.

    On a removed device the value is UINT64_MAX, so that nobody waits forever.
    """

    IID = IID_ID3D12Fence

    def __init__(self, device: ID3D12Device, initial_value: int) -> None:
        super().__init__(device)
        self._value = initial_value
        self._events: list[tuple[int, Event]] = []
        self._waits: list[FenceWait] = []

    @property
    def value(self) -> int:
        """What GetCompletedValue returns, without anybody looking."""
        return UINT64_MAX if self.device.removed else self._value

    def awaited_value(self) -> int | None:
        """The lowest value that an event waits for."""
        with self.device.lock:
            return min((target for target, _ in self._events), default=None)

    def GetCompletedValue(self) -> int:
        self.device.observe(self)
        return self.value

    def SetEventOnCompletion(self, value: int, event: Event | None = None) -> None:
        """Set ``event`` once the fence has reached ``value``; without an event, return then.

        On a removed device every value has been reached.
        """
        target = unsigned(value, "value")
        if event is not None and not callable(getattr(event, "set", None)):
            raise TypeError(f"event must have a method set(), not be a {type(event).__name__}")
        with self.device.lock:
            reached = self.value >= target
            if not reached:
                awaited = threading.Event() if event is None else event
                self._events.append((target, awaited))
        if reached:
            if event is not None:
                event.set()
            return
        self.device.progress(())
        if event is None and isinstance(awaited, threading.Event):
            awaited.wait()

    def Signal(self, value: int) -> None:
        """Set the value from the CPU, lower values too; runs what waited for it."""
        self.device.check_alive()
        self.device.progress(self.advance(unsigned(value, "value")))

    def advance_unnoticed(self, value: int) -> bool:
        """Set the value if nobody waits for any; False if somebody does. Called under the lock of the device."""
        if self._events or self._waits:
            return False
        self._value = value
        return True

    def advance(self, value: int) -> list[WorkQueue]:
        """Set the value and the events that waited for it; the queues that waited for it."""
        with self.device.lock:
            if self.advance_unnoticed(value):
                return []
            self._value = value
            events = [event for target, event in self._events if target <= value]
            self._events = [entry for entry in self._events if entry[0] > value]
            waits = [wait for wait in self._waits if wait.value <= value]
            self._waits = [wait for wait in self._waits if wait.value > value]
            # A wait that was fulfilled once stays so, even if the fence goes back before its queue gets to
            # run.
            for wait in waits:
                wait.fulfilled = True
        for event in events:
            event.set()
        return [wait.queue for wait in waits]


class FenceWait(Work):
    """ID3D12CommandQueue::Wait: holds back what comes after it."""

    __slots__ = ("fence", "fulfilled", "queue", "registered", "value")

    def __init__(self, queue: WorkQueue, fence: ID3D12Fence, value: int) -> None:
        self.queue = queue
        self.fence = fence
        self.value = value
        self.fulfilled = False
        self.registered = False

    def blocked(self) -> bool:
        if self.fulfilled or self.fence.value >= self.value:
            return False
        if not self.registered:
            self.registered = True
            self.fence._waits.append(self)
        return True


class FenceSignal(Work):
    """ID3D12CommandQueue::Signal: the value that the fence gets after what came before it."""

    __slots__ = ("fence", "value")

    def __init__(self, fence: ID3D12Fence, value: int) -> None:
        self.fence = fence
        self.value = value

    def done_at_once(self) -> bool:
        return self.fence.advance_unnoticed(self.value)

    def run(self) -> Iterable[WorkQueue]:
        return self.fence.advance(self.value)
