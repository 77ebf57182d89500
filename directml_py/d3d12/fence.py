"""``ID3D12Fence``, and the signals and waits of queues."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..abi.arguments import unsigned
from ..abi.lifetime import Lifetime
from ..api.d3d12_enums import D3D12_FENCE_FLAGS
from ..api.iids import IID_ID3D12Fence, IID_ID3D12Fence1
from ..runtime.observers import watchers
from .d3d12_constants import UINT64_MAX
from .device_child import ID3D12Pageable
from .scheduler import Work, WorkQueue, let_go

if TYPE_CHECKING:
    from .device import ID3D12Device


class Event(Protocol):
    """An event for ``SetEventOnCompletion``: a ``threading.Event`` or any object with its ``set`` method."""

    def set(self) -> Any: ...


class Awaited(NamedTuple):
    """An event and the fence value that it waits for."""

    target: int
    event: Event


class Waiting(NamedTuple):
    """The waiters of a fence; ``due`` are events to be set, in order."""

    events: tuple[Awaited, ...] = ()
    due: tuple[Awaited, ...] = ()
    waits: tuple[FenceWait, ...] = ()


NOTHING = Waiting()


class FenceValue(Lifetime):
    """A fence's state, which queued work still refers to after the fence is released."""

    __slots__ = ("_publish", "_state", "device")

    def __init__(self, device: ID3D12Device, initial_value: int) -> None:
        super().__init__("ID3D12Fence")
        self.device = device
        # The value and its waiters, which change in one assignment.
        self._state = initial_value, NOTHING
        # Takes each new value, for those who read it without Python.
        self._publish: Callable[[int], object] | None = None

    def publish(self, publish: Callable[[int], object] | None) -> None:
        """Have ``publish`` called with the value, now and whenever it changes."""
        with self.device.lock:
            self._publish = publish
            self.published()

    def published(self) -> None:
        """The value has changed. Called with the device's lock held."""
        publish = self._publish
        if publish is not None:
            publish(self.value)

    def release(self) -> None:
        super().release()
        self._publish = None

    @property
    def value(self) -> int:
        """What GetCompletedValue returns, without anybody looking."""
        return UINT64_MAX if self.device.removed else self._state[0]

    @property
    def waiting(self) -> Waiting:
        return self._state[1]

    @waiting.setter
    def waiting(self, waiting: Waiting) -> None:
        """Called with the device's lock held."""
        self._state = self._state[0], waiting if any(waiting) else NOTHING

    def awaited_value(self) -> int | None:
        """The lowest value that an event waits for, None without events."""
        return min((target for target, _ in self.waiting.events), default=None)

    def advance_unnoticed(self, value: int) -> bool:
        """Set the value if nothing waits for the fence, else return False. Called with the device's lock held."""
        waiting = self._state[1]
        if waiting is not NOTHING:
            return False
        self._state = value, NOTHING
        self.published()
        return True

    def advance(self, value: int) -> None:
        """Set the value; mark events that waited for it as due and queues that waited for it as ready.

        A satisfied wait stays satisfied, even if the fence goes back before its queue runs.
        """
        with self.device.lock:
            if self.advance_unnoticed(value):
                return
            waiting = self.waiting
            waits = []
            for wait in waiting.waits:
                if wait.value <= value:
                    self.device.ready[wait.queue] = None
                else:
                    waits.append(wait)
            due = tuple([entry for entry in waiting.events if entry.target <= value])
            events = tuple([entry for entry in waiting.events if entry.target > value])
            rest = Waiting(events, waiting.due + due, tuple(waits))
            self._state = value, rest if any(rest) else NOTHING
            self.published()

    def deliver(self) -> None:
        """Set the events that are due. All are set even if some raise; the first exception is re-raised at the end."""
        failure: Exception | None = None
        entry: Awaited | None = None
        due: tuple[Awaited, ...] = ()
        try:
            while self.waiting.due:
                with self.device.lock:
                    due = self.waiting.due
                    if not due:
                        break
                    # Removed before it is set: the event's ``set`` may poll the fence.
                    entry = due[0]
                    self.waiting = self.waiting._replace(due=due[1:])
                self.looked_at(entry.target)
                try:
                    entry.event.set()
                except Exception as error:
                    failure = failure or error
                # Without the lock, as the event is the program's and may be released here.
                entry, due = None, ()
        except BaseException:
            # An interrupt does not come from the event, and may have been raised before the event was set.
            let_go(self.device.lock)
            if entry is not None:
                entry.event.set()
            raise
        if failure is not None:
            raise failure

    def looked_at(self, value: int) -> None:
        """Note that the CPU has observed ``value``."""
        if self.device.sync_validator is not None:
            self.device.sync_validator.happens_before.waited(self, value, None)

    def await_value(self, entry: Awaited) -> bool:
        """Register ``entry``, whose event is set when the value is reached; False if it already was."""
        with self.device.lock:
            if self.value >= entry.target:
                return False
            self.waiting = self.waiting._replace(events=(*self.waiting.events, entry))
            return True

    def forget(self, entry: Awaited) -> None:
        """Unregister ``entry``, whose wait was abandoned."""
        with self.device.lock:
            events = tuple([event for event in self.waiting.events if event is not entry])
            self.waiting = self.waiting._replace(events=events)


class ID3D12Fence(ID3D12Pageable):
    """A 64-bit value that queues and the CPU signal and wait for.

    On a removed device the value is UINT64_MAX, so that no wait blocks forever.
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

    def publish(self, publish: Callable[[int], object]) -> None:
        """Have ``publish`` called with what GetCompletedValue returns whenever it changes; never under the debug layer,
        where each call may let work run."""
        if self.device.sync_validator is None:
            self.state.publish(publish)

    def GetCompletedValue(self) -> int:
        if self.device.sync_validator is None:
            return self.state.value
        self.device.observe(self.state)
        value = self.value
        self.state.looked_at(value)
        return value

    def SetEventOnCompletion(self, value: int, event: Event | None = None) -> None:
        """Set ``event`` once the fence has reached ``value``; without an event, block until then.

        On a removed device every value has been reached.
        """
        target = unsigned(value, "value")
        if event is not None and not callable(getattr(event, "set", None)):
            raise TypeError(f"event must have a set() method; {type(event).__name__} has none")
        for observer in watchers.all:
            observer.waited(None, self, target)
        if event is None and self.state.value >= target:
            self.state.looked_at(target)
            return
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
        validator = self.device.sync_validator
        if validator is None:
            event.wait()
        else:
            with validator.cpu_waits([(self.state, target)]):
                event.wait()

    def Signal(self, value: int) -> None:
        """Set the value from the CPU, even to a lower one, and run the work that waited for it."""
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
    """ID3D12CommandQueue::Wait: blocks the work behind it."""

    __slots__ = ("fence", "queue", "registered", "value")
    may_block = True

    def __init__(self, queue: WorkQueue, fence: FenceValue, value: int) -> None:
        super().__init__()
        self.queue = queue
        self.fence = fence
        self.value = value
        self.registered = False

    def blocked(self) -> bool:
        if self in self.fence.waiting.waits:
            # On a removed device nothing blocks.
            return not self.fence.device.removed
        # A registered wait that the fence no longer lists was satisfied.
        if self.registered or self.fence.value >= self.value:
            return False
        waiting = self.fence.waiting
        self.fence.waiting = waiting._replace(waits=(*waiting.waits, self))
        self.registered = True
        return True

    def run(self) -> None:
        validator = self.fence.device.sync_validator
        if validator is not None:
            validator.waited(self.fence, self.value, self.queue)


class FenceSignal(Work):
    """ID3D12CommandQueue::Signal: sets the fence once the work before it has run."""

    __slots__ = ("fence", "queue", "value")

    def __init__(self, queue: WorkQueue, fence: FenceValue, value: int) -> None:
        self.done = False
        self.queue = queue
        self.fence = fence
        self.value = value

    def run(self) -> None:
        validator = self.fence.device.sync_validator
        if validator is not None:
            validator.signaled(self.fence, self.value, self.queue)
        self.fence.advance(self.value)
        # Set first: if ``deliver`` is interrupted, the due events are delivered elsewhere.
        self.done = True
        self.fence.deliver()
