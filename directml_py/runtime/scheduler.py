"""The work of a device in time: queues, fences, and the one lock that guards them.

Work runs in whichever thread makes it runnable. The lock is held for single changes of state, each in one ``with``, and
never while work runs or an event is set: these run code of the program, as does the release of work, so that no thread
drops the last reference to an entry while it holds the lock.

An exception that comes while work is submitted or run, such as KeyboardInterrupt, removes the device: what it
interrupted cannot be told. What an event raises is the program's, and stops nothing: it is raised once all work has
run.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from threading import get_ident
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from ..abi.hresult import DMLError
from ..abi.lifetime import Lifetime
from .interruptible import still_running

T = TypeVar("T")

# The value of every fence of a removed device, so that no wait blocks forever.
COMPLETED: Final = 0xFFFFFFFFFFFFFFFF


class Event(Protocol):
    """What is set when a fence reaches a value: a ``threading.Event`` or any object with its ``set`` method."""

    def set(self) -> Any: ...


class Countdown:
    """An event that sets another once it has been set ``count`` times itself."""

    def __init__(self, count: int, event: Event) -> None:
        # An iterator, as taking its next number is atomic.
        self._calls = itertools.count(1)
        self._count = count
        self._event = event

    def set(self) -> None:
        if next(self._calls) == self._count:
            self._event.set()


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


class Work:
    """An entry of a work queue. All methods except ``run`` are called with the lock held."""

    __slots__ = ()
    # Whether ``blocked`` must be called.
    may_block = False

    def blocked(self) -> bool:
        """Whether the entry cannot run yet."""
        return False

    def start(self, queue: WorkQueue) -> bool:
        """Called before it is added to ``queue``; False if it cannot be."""
        return True

    def run(self) -> Exception | None:
        """Run the entry, without the lock held. Returns what an event of the program raised."""

    def finish(self) -> None:
        """Called after it has run, failed, or been dropped; idempotent."""


class WorkQueue:
    """A FIFO of work that runs one entry at a time.

    Only one thread runs a queue at a time; a thread that finds it busy leaves its entries to the running one.
    ``owner`` is the lifetime of the program's queue.
    """

    def __init__(self, scheduler: Scheduler, owner: Lifetime) -> None:
        self.scheduler = scheduler
        self.owner = owner
        self.entries: deque[Work] = deque()
        # The entry that a thread is running, and the last thread that ran one.
        self.running: Work | None = None
        self.thread = 0

    def add(self, work: Work) -> None:
        """Append work, which runs when the queue runs next."""
        with self.scheduler.lock:
            if not self.scheduler.removed:
                self.scheduler.ready[self] = None
                self.entries.append(work)

    def claim(self) -> Work | None:
        """The first entry, which this thread must run; None if it is blocked, if another thread runs
        the queue, or without entries. Called with the lock held."""
        if self.running is not None or not self.entries:
            return None
        work = self.entries[0]
        if work.may_block and work.blocked():
            return None
        self.running = work
        self.thread = get_ident()
        return work


class FenceValue(Lifetime):
    """A fence's state, which queued work still refers to after the fence is released."""

    __slots__ = ("_publish", "_state", "scheduler")

    def __init__(self, kind: str, scheduler: Scheduler, initial_value: int) -> None:
        super().__init__(kind)
        self.scheduler = scheduler
        # The value and its waiters, which change in one assignment.
        self._state = initial_value, NOTHING
        # Takes each new value, for those who read it without Python.
        self._publish: Callable[[int], object] | None = None

    def publish(self, publish: Callable[[int], object] | None) -> None:
        """Have ``publish`` called with the value, now and whenever it changes."""
        with self.scheduler.lock:
            self._publish = publish
            self.announce(self.value)

    def announce(self, value: int) -> None:
        """Publish what the value is about to be: a thread that has seen it, or whose wait for it is over, must not read
        an older one without Python. Called with the lock held."""
        publish = self._publish
        if publish is not None:
            publish(COMPLETED if self.scheduler.removed else value)

    def release(self) -> None:
        super().release()
        self._publish = None

    @property
    def value(self) -> int:
        """The value, without anybody looking."""
        return COMPLETED if self.scheduler.removed else self._state[0]

    @property
    def waiting(self) -> Waiting:
        return self._state[1]

    @waiting.setter
    def waiting(self, waiting: Waiting) -> None:
        """Called with the lock held."""
        self._state = self._state[0], waiting if any(waiting) else NOTHING

    def awaited_value(self) -> int | None:
        """The lowest value that an event waits for, None without events."""
        return min((target for target, _ in self.waiting.events), default=None)

    def advance_unnoticed(self, value: int) -> bool:
        """Set the value if nothing waits for the fence, else return False. Called with the lock held."""
        if self._state[1] is not NOTHING:
            return False
        self.announce(value)
        self._state = value, NOTHING
        return True

    def advance(self, value: int) -> None:
        """Set the value; mark events that waited for it as due and queues that waited for it as ready.

        A satisfied wait stays satisfied, even if the fence goes back before its queue runs.
        """
        with self.scheduler.lock:
            if self.advance_unnoticed(value):
                return
            waiting = self.waiting
            waits = []
            for wait in waiting.waits:
                if wait.value <= value:
                    self.scheduler.ready[wait.queue] = None
                else:
                    waits.append(wait)
            due = tuple([entry for entry in waiting.events if entry.target <= value])
            events = tuple([entry for entry in waiting.events if entry.target > value])
            rest = Waiting(events, waiting.due + due, tuple(waits))
            self.announce(value)
            self._state = value, rest if any(rest) else NOTHING

    def deliver(self) -> Exception | None:
        """Set the events that are due, all of them even if some raise. Returns the first exception."""
        failure: Exception | None = None
        while self.waiting.due:
            with self.scheduler.lock:
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
            except BaseException:
                # An interrupt does not come from the event, and may have been raised before it was set.
                entry.event.set()
                raise
            # Without the lock, as the event is the program's and may be released here.
            del entry, due
        return failure

    def looked_at(self, value: int) -> None:
        """Note that the CPU has observed ``value``."""
        if self.scheduler.layer is not None:
            self.scheduler.layer.waited(self, value, None)

    def await_value(self, entry: Awaited) -> bool:
        """Register ``entry``, whose event is set when the value is reached; False if it already was."""
        with self.scheduler.lock:
            if self.value >= entry.target:
                return False
            self.waiting = self.waiting._replace(events=(*self.waiting.events, entry))
            return True

    def forget(self, entry: Awaited) -> None:
        """Unregister ``entry``, whose wait was abandoned."""
        with self.scheduler.lock:
            events = tuple([event for event in self.waiting.events if event is not entry])
            self.waiting = self.waiting._replace(events=events)

    def when_reached(self, target: int, event: Event) -> None:
        """Set ``event`` once the value has reached ``target``, maybe at once."""
        if self.await_value(Awaited(target, event)):
            if self.scheduler.layer is not None:
                self.scheduler.layer.gives_event(event, self, target)
            self.scheduler.progress()
        else:
            self.looked_at(target)
            event.set()

    def block(self, target: int) -> None:
        """Wait until the value has reached ``target``."""
        event = threading.Event()
        entry = Awaited(target, event)
        try:
            if not self.await_value(entry):
                self.looked_at(target)
                return
            self.scheduler.progress()
            self.scheduler.block(event, [(self, target)])
        except BaseException:
            self.forget(entry)
            raise


class FenceWait(Work):
    """A queue's wait for a fence: blocks the work behind it."""

    __slots__ = ("fence", "queue", "registered", "value")
    may_block = True

    def __init__(self, queue: WorkQueue, fence: FenceValue, value: int) -> None:
        self.queue = queue
        self.fence = fence
        self.value = value
        self.registered = False

    def blocked(self) -> bool:
        if self in self.fence.waiting.waits:
            # On a removed device nothing blocks.
            return not self.fence.scheduler.removed
        # A registered wait that the fence no longer lists was satisfied.
        if self.registered or self.fence.value >= self.value:
            return False
        waiting = self.fence.waiting
        self.fence.waiting = waiting._replace(waits=(*waiting.waits, self))
        self.registered = True
        return True

    def run(self) -> None:
        layer = self.fence.scheduler.layer
        if layer is not None:
            layer.waited(self.fence, self.value, self.queue)


class FenceSignal(Work):
    """A queue's signal: sets the fence once the work before it has run."""

    __slots__ = ("fence", "queue", "value")

    def __init__(self, queue: WorkQueue, fence: FenceValue, value: int) -> None:
        self.queue = queue
        self.fence = fence
        self.value = value

    def run(self) -> Exception | None:
        layer = self.fence.scheduler.layer
        if layer is not None:
            layer.signaled(self.fence, self.value, self.queue)
        self.fence.advance(self.value)
        return self.fence.deliver()


class SchedulingLayer(ABC):
    """What decides when the work of a scheduler runs, and sees what orders it; without one, work runs at once."""

    @abstractmethod
    def advance(self) -> Sequence[Exception]:
        """Run the work that must run by now. Returns what events raised."""

    @abstractmethod
    def poll(self, fence: FenceValue) -> Sequence[Exception]:
        """As ``advance``; the program has asked for the value of ``fence``."""

    @abstractmethod
    def flush(self) -> Sequence[Exception]:
        """As ``advance``, for all work: the program has submitted everything."""

    @abstractmethod
    def around(self, call: Callable[[], T]) -> T:
        """Make a call that lets work run; what is to be raised about that work is raised at its end."""

    @abstractmethod
    def signaled(self, fence: FenceValue, value: int, queue: WorkQueue | None) -> None:
        """``queue``, or the CPU, is about to set ``fence``."""

    @abstractmethod
    def waited(self, fence: FenceValue, value: int, queue: WorkQueue | None) -> None:
        """``queue``, or the CPU, continues as ``fence`` has reached ``value``."""

    @abstractmethod
    def cpu_waits(
        self, event: threading.Event, targets: Iterable[tuple[FenceValue, int]], any_of_them: bool = False
    ) -> AbstractContextManager[None]:
        """Context in which the calling thread waits for ``event``, which fences set."""

    @abstractmethod
    def gives_event(self, event: Event, fence: FenceValue, target: int) -> None:
        """The program will wait for ``event``, which ``fence`` sets."""

    @abstractmethod
    def thread(self) -> int | None:
        """The thread that runs work, or None."""


class Scheduler:
    """The queues and fences of a device.

    ``on_fault``, a method, is called with a reason to remove the device.
    """

    def __init__(self, on_fault: Callable[[str], None]) -> None:
        self.lock = threading.RLock()
        self.layer: SchedulingLayer | None = None
        self.removed = False
        # Queues that may have runnable work.
        self.ready: dict[WorkQueue, None] = {}
        self._fences: weakref.WeakSet[FenceValue] = weakref.WeakSet()
        self._queues: weakref.WeakSet[WorkQueue] = weakref.WeakSet()
        self._on_fault = weakref.WeakMethod(on_fault)

    def queue(self, owner: Lifetime) -> WorkQueue:
        queue = WorkQueue(self, owner)
        with self.lock:
            self._queues.add(queue)
        return queue

    def fence(self, kind: str, initial_value: int) -> FenceValue:
        fence = FenceValue(kind, self, initial_value)
        with self.lock:
            self._fences.add(fence)
        return fence

    def queues(self) -> list[WorkQueue]:
        with self.lock:
            return list(self._queues)

    def fences(self) -> list[FenceValue]:
        with self.lock:
            return list(self._fences)

    def submit(
        self, queue: WorkQueue, works: Sequence[Work], once_started: Callable[[], None] | None = None
    ) -> bool:
        """Run ``works`` after the entries of ``queue``: as soon as they can, or when the layer says.

        All or none: False if one of them cannot start now. ``once_started`` is called before any runs; if it raises,
        none does.
        """
        try:
            with self.lock:
                for work in works:
                    if not work.start(queue):
                        for started in works[: works.index(work)]:
                            started.finish()
                        return False
                claimed = self._append(queue, works) if once_started is None else None
            if once_started is not None:
                claimed = self._append_after(once_started, queue, works)
            failures: Sequence[Exception] = ()
            if self.layer is not None:
                failures = self.layer.advance()
            elif claimed is not None:
                failures = self._run(queue, claimed)
                if self.ready:
                    failures = [*failures, *self._drain()]
        except BaseException as error:
            self.interrupted(error)
            raise
        if failures:
            raise failures[0]
        return True

    def _append_after(
        self, once_started: Callable[[], None], queue: WorkQueue, works: Sequence[Work]
    ) -> Work | None:
        try:
            once_started()
        except BaseException:
            with self.lock:
                for work in works:
                    work.finish()
            raise
        with self.lock:
            return self._append(queue, works)

    def signal(self, queue: WorkQueue, fence: FenceValue, value: int) -> None:
        """Set ``fence`` after the entries of ``queue``: here and now if there are none and nothing waits for it."""
        try:
            with self.lock:
                is_next = queue.running is None and not queue.entries and self.layer is None
                if is_next and not self.removed and fence.advance_unnoticed(value):
                    return
        except BaseException as error:
            self.interrupted(error)
            raise
        self.submit(queue, [FenceSignal(queue, fence, value)])

    def wait(self, queue: WorkQueue, fence: FenceValue, value: int) -> None:
        """Block later entries of ``queue`` until ``fence`` has ``value``."""
        self.submit(queue, [FenceWait(queue, fence, value)])

    def set(self, fence: FenceValue, value: int) -> None:
        """Set ``fence`` from the CPU, even to a lower value, and run the work that waited for it."""
        call = partial(self._set, fence, value)
        self._guarded(call if self.layer is None else partial(self.layer.around, call))

    def progress(self) -> None:
        """Run the work that is runnable, or that the layer lets run."""
        self._guarded(self._drain if self.layer is None else self.layer.advance)

    def observe(self, fence: FenceValue) -> None:
        """The program polls ``fence``, upon which the layer may let work run."""
        if self.layer is not None and not self.removed:
            self._guarded(partial(self.layer.poll, fence))

    def flush(self) -> None:
        """The program has submitted everything: run the work that the layer has held back."""
        if self.layer is not None:
            self._guarded(self.layer.flush)

    def block(
        self,
        event: threading.Event,
        targets: Iterable[tuple[FenceValue, int]],
        any_of_them: bool = False,
    ) -> None:
        """Wait for ``event``, which is set when all of ``targets``, or any of them, are reached."""
        if event.is_set():
            return
        if self.layer is None:
            event.wait()
        else:
            with self.layer.cpu_waits(event, targets, any_of_them):
                event.wait()

    def run_first(self, queue: WorkQueue, failures: list[Exception]) -> bool:
        """Run the first entry of ``queue``; False if there was none to run. ``failures`` receives what events raise."""
        with self.lock:
            work = queue.claim()
        if work is not None:
            failures += self._run(queue, work, only_first=True)
        return work is not None

    def fault(self, text: str) -> None:
        """Have the device removed."""
        on_fault = self._on_fault()
        if on_fault is not None:
            on_fault(text)

    def interrupted(self, error: BaseException) -> None:
        """``error`` has come while work was submitted or run. A message that the layer breaks on comes afterwards."""
        if isinstance(error, DMLError):
            return
        if still_running(error) is None:
            self.fault(f"a submission was interrupted: {str(error) or type(error).__name__}")
        elif self.layer is None:
            # The command goes on in another thread, which may have ended while this one held its queue.
            self._drain()
        else:
            self.layer.advance()

    def remove(self) -> list[Work]:
        """The device is removed: drop all work. Returns it, for the caller to release without the lock."""
        with self.lock:
            for fence in self.fences():
                fence.announce(COMPLETED)
            self.removed = True
            dropped = [work for queue in self._queues for work in queue.entries]
            for work in dropped:
                work.finish()
            for queue in self._queues:
                queue.entries.clear()
        return dropped

    def end_waits(self) -> None:
        """Complete all fences of a removed device."""
        fences = self.fences()
        for fence in fences:
            fence.advance(COMPLETED)
        failures = [fence.deliver() for fence in fences]
        for failure in filter(None, failures):
            raise failure

    def after_fork(self) -> bool:
        """In the child process: renew the lock. Returns whether the device can be used: no other thread of the parent,
        of which there is none here, was using it."""
        this_thread = get_ident()
        workers = [queue.thread for queue in list(self._queues) if queue.running is not None]
        worker = None if self.layer is None else self.layer.thread()
        is_free = self.lock.acquire(blocking=False)
        if is_free:
            self.lock.release()
        else:
            self.lock = threading.RLock()
        return is_free and all(thread == this_thread for thread in (*workers, worker or this_thread))

    def end_after_fork(self) -> None:
        """The device cannot be used. Events that waited belong to threads that do not exist in the child."""
        self.removed = True
        self.ready.clear()
        for fence in list(self._fences):
            fence.announce(COMPLETED)

    def _append(self, queue: WorkQueue, works: Sequence[Work]) -> Work | None:
        """Add work to a queue. Returns the entry that this thread has to run. Called with the lock held."""
        if self.removed:
            for work in works:
                work.finish()
            return None
        queue.entries.extend(works)
        if self.layer is not None:
            self.ready[queue] = None
            return None
        return queue.claim()

    def _drain(self) -> list[Exception]:
        """Run all runnable work of the ready queues, and of every queue that becomes ready meanwhile."""
        failures: list[Exception] = []
        while self.ready:
            for queue in list(self.ready):
                with self.lock:
                    self.ready.pop(queue, None)
                    work = queue.claim()
                if work is not None:
                    failures += self._run(queue, work)
        return failures

    def _run(self, queue: WorkQueue, work: Work | None, only_first: bool = False) -> list[Exception]:
        """Run the claimed ``work``, and then what follows it in its queue. Returns what events raise."""
        lock, entries, failures = self.lock, queue.entries, []
        try:
            while work is not None:
                failure = work.run()
                if failure is not None:
                    failures.append(failure)
                # ``work`` is dropped after the lock.
                with lock:
                    work.finish()
                    # A removal may have dropped it.
                    if entries and entries[0] is work:
                        entries.popleft()
                    queue.running = None
                    following = queue.claim() if entries and not only_first else None
                work = following
        except BaseException:
            with lock:
                queue.running = None
                self.ready[queue] = None
            raise
        return failures

    def _set(self, fence: FenceValue, value: int) -> Sequence[Exception]:
        if self.layer is not None:
            self.layer.signaled(fence, value, None)
        fence.advance(value)
        failure = fence.deliver()
        failures = self._drain() if self.layer is None else self.layer.advance()
        return failures if failure is None else [failure, *failures]

    def _guarded(self, call: Callable[[], Sequence[Exception]]) -> None:
        try:
            failures = call()
        except BaseException as error:
            self.interrupted(error)
            raise
        if failures:
            raise failures[0]
