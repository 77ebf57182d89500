"""``ID3D12Fence``, and what queues do with fences."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..abi.arguments import unsigned
from ..abi.lifetime import Lifetime
from ..api.d3d12_enums import D3D12_FENCE_FLAGS
from ..api.iids import IID_ID3D12Fence, IID_ID3D12Fence1
from .d3d12_constants import UINT64_MAX
from .device_child import ID3D12Pageable
from .observers import watchers
from .scheduler import Work, WorkQueue, let_go

if TYPE_CHECKING:
    from .device import ID3D12Device


class Event(Protocol):
    """What ``SetEventOnCompletion`` sets: a ``threading.Event`` or anything alike."""

    def set(self) -> Any: ...


class Awaited(NamedTuple):
    """An event, and the value that it waits for."""

    target: int
    event: Event


class FenceState(NamedTuple):
    """All that a fence knows, so that it changes in one assignment: ``due`` are events to be set, in order."""

    value: int
    events: tuple[Awaited, ...] = ()
    due: tuple[Awaited, ...] = ()
    waits: tuple[FenceWait, ...] = ()


class FenceValue(Lifetime):
    """What a fence is made of, which queued work goes on naming when the fence is released."""

    __slots__ = ("device", "state")

    def __init__(self, device: ID3D12Device, initial_value: int) -> None:
        super().__init__("ID3D12Fence")
        self.device = device
        self.state = FenceState(initial_value)

    @property
    def value(self) -> int:
        """What GetCompletedValue returns, without anybody looking."""
        return UINT64_MAX if self.device.removed else self.state.value

    def awaited_value(self) -> int | None:
        """The lowest value that an event waits for."""
        return min((target for target, _ in self.state.events), default=None)

    def advance_unnoticed(self, value: int) -> bool:
        """Set the value if nobody waits for any; False if somebody does. Called under the lock of the device."""
        _, events, due, waits = self.state
        if events or due or waits:
            return False
        self.state = FenceState(value)
        return True

    def advance(self, value: int) -> None:
        """Set the value; events that waited for it are due, and queues that waited for it ready.

        A wait that was fulfilled once stays so, even if the fence goes back before its queue gets to run.
        """
        with self.device.lock:
            if self.advance_unnoticed(value):
                return
            state = self.state
            waits = []
            for wait in state.waits:
                if wait.value <= value:
                    self.device.ready[wait.queue] = None
                else:
                    waits.append(wait)
            due = tuple([entry for entry in state.events if entry.target <= value])
            events = tuple([entry for entry in state.events if entry.target > value])
            self.state = FenceState(value, events, state.due + due, tuple(waits))

    def deliver(self) -> None:
        """Set the events that are due. One that raises keeps no other from being set; the first exception is raised on
        when all are."""
        failure: Exception | None = None
        entry: Awaited | None = None
        try:
            while self.state.due:
                with self.device.lock:
                    due = self.state.due
                    if not due:
                        break
                    # First of all it is gone: events that are set may look at their fence.
                    entry = due[0]
                    self.state = self.state._replace(due=due[1:])
                self.looked_at(entry.target)
                try:
                    entry.event.set()
                except Exception as error:
                    failure = failure or error
                entry = None
        except BaseException:
            # An interrupt is none of the event's doing, and may have come before anybody was woken.
            let_go(self.device.lock)
            if entry is not None:
                entry.event.set()
            raise
        if failure is not None:
            raise failure

    def looked_at(self, value: int) -> None:
        """The CPU knows that ``value`` was reached."""
        if self.device.sync_validator is not None:
            self.device.sync_validator.happens_before.waited(self, value, None)

    def await_value(self, entry: Awaited) -> bool:
        """Have the event of ``entry`` set in time; False if the value was reached already."""
        with self.device.lock:
            if self.value >= entry.target:
                return False
            self.state = self.state._replace(events=(*self.state.events, entry))
            return True

    def forget(self, entry: Awaited) -> None:
        """Nobody waits for the event of ``entry`` any more."""
        with self.device.lock:
            events = tuple([one for one in self.state.events if one is not entry])
            self.state = self.state._replace(events=events)


class ID3D12Fence(ID3D12Pageable):
    """A 64-bit value that queues and the CPU set, and wait for.

    On a removed device the value is UINT64_MAX, so that nobody waits forever.
    """

    IID = IID_ID3D12Fence

    def __init__(self, device: ID3D12Device, initial_value: int) -> None:
        self.state = FenceValue(device, initial_value)
        super().__init__(device, self.state)

    def _about(self) -> str:
        return f"value {self.value}"

    @property
    def value(self) -> int:
        """What GetCompletedValue returns, without anybody looking."""
        return self.state.value

    def GetCompletedValue(self) -> int:
        self.device.observe(self.state)
        value = self.value
        self.state.looked_at(value)
        return value

    def SetEventOnCompletion(self, value: int, event: Event | None = None) -> None:
        """Set ``event`` once the fence has reached ``value``; without an event, return then.

        On a removed device every value has been reached.
        """
        target = unsigned(value, "value")
        if event is not None and not callable(getattr(event, "set", None)):
            raise TypeError(f"event must have a method set(), not be a {type(event).__name__}")
        for observer in watchers.all:
            observer.waited(None, self, target)
        awaited = threading.Event() if event is None else event
        entry = Awaited(target, awaited)
        try:
            if not self.state.await_value(entry):
                self.state.looked_at(target)
                if event is not None:
                    event.set()
                return
            self.device.progress()
            if isinstance(awaited, threading.Event) and event is None and not awaited.is_set():
                self._block(awaited, target)
        except BaseException:
            self.device.recover()
            if event is None:
                self.state.forget(entry)
            raise

    def _block(self, event: threading.Event, target: int) -> None:
        monitor = self.device.sync_validator
        if monitor is None:
            event.wait()
        else:
            with monitor.cpu_waits([(self.state, target)]):
                event.wait()

    def Signal(self, value: int) -> None:
        """Set the value from the CPU, lower values too; runs what waited for it."""
        self.device.check_alive()
        target = unsigned(value, "value")
        for observer in watchers.all:
            observer.signaled(None, self, target)
        try:
            if self.device.sync_validator is None:
                self._signal(target)
            else:
                self.device.sync_validator.breaking(partial(self._signal, target))
        except BaseException:
            self.device.recover()
            raise

    def _signal(self, value: int) -> None:
        if self.device.sync_validator is not None:
            self.device.sync_validator.signaled(self.state, value, None)
        self.state.advance(value)
        self.state.deliver()
        self.device.progress()


class ID3D12Fence1(ID3D12Fence):
    IID = IID_ID3D12Fence1

    def __init__(self, device: ID3D12Device, initial_value: int, creation_flags: D3D12_FENCE_FLAGS) -> None:
        super().__init__(device, initial_value)
        self._creation_flags = creation_flags

    def GetCreationFlags(self) -> D3D12_FENCE_FLAGS:
        return self._creation_flags


class FenceWait(Work):
    """ID3D12CommandQueue::Wait: holds back what comes after it."""

    __slots__ = ("fence", "queue", "registered", "value")

    def __init__(self, queue: WorkQueue, fence: FenceValue, value: int) -> None:
        super().__init__()
        self.queue = queue
        self.fence = fence
        self.value = value
        self.registered = False

    def blocked(self) -> bool:
        if self in self.fence.state.waits:
            # On a removed device nothing is held back.
            return not self.fence.device.removed
        # Who has registered and does not wait was fulfilled.
        if self.registered or self.fence.value >= self.value:
            return False
        state = self.fence.state
        self.fence.state = state._replace(waits=(*state.waits, self))
        self.registered = True
        return True

    def run(self) -> None:
        monitor = self.fence.device.sync_validator
        if monitor is not None:
            monitor.waited(self.fence, self.value, self.queue)


class FenceSignal(Work):
    """ID3D12CommandQueue::Signal: the value that the fence gets after what came before it."""

    __slots__ = ("fence", "queue", "value")

    def __init__(self, queue: WorkQueue, fence: FenceValue, value: int) -> None:
        self.done = False
        self.queue = queue
        self.fence = fence
        self.value = value

    def done_at_once(self) -> bool:
        return self.fence.advance_unnoticed(self.value)

    def run(self) -> None:
        monitor = self.fence.device.sync_validator
        if monitor is not None:
            monitor.signaled(self.fence, self.value, self.queue)
        self.fence.advance(self.value)
        # What is due is set by somebody, whatever happens here.
        self.done = True
        self.fence.deliver()
