"""Deadlock detection: queues are checked when nothing more is submitted, CPU waits when they begin.

A queue's wait may precede its signal, and any thread may still signal a fence, so deadlocked queues are reported only
when the device is flushed and at interpreter exit, including after an interrupt.

A waiting thread submits nothing more. It is reported if no submitted work can end its wait and every other thread
known to Python is deadlocked too: any other thread might be about to signal. In a Python program the wait then ends
with an exception. A C program may have threads that Python has never seen, and goes on waiting. A loop that polls a
fence is such a wait, too.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..abi.hresult import DMLError
from ..abi.lifetime import Lifetime
from ..runtime.scheduler import FenceSignal, FenceValue, FenceWait, Scheduler

if TYPE_CHECKING:
    from ..runtime.scheduler import Work, WorkQueue


class _FinalState(NamedTuple):
    """The state after all runnable work has run: the fences' values, and the entries left in the queues."""

    values: dict[FenceValue, int]
    left: dict[WorkQueue, list[Work]]

    def value(self, fence: FenceValue) -> int:
        return self.values.get(fence, fence.value)

    def why(self, fence: FenceValue, target: int) -> str:
        """Explain why ``fence`` never reaches ``target``."""
        pending = (work for works in self.left.values() for work in works)
        signaled = any(
            isinstance(work, FenceSignal) and work.fence is fence and work.value >= target for work in pending
        )
        why = "every signal of it is blocked too" if signaled else "no submitted work signals it"
        return f"{fence} is {self.value(fence)} and has to reach {target}; {why}"


def _run_to_end(queues: Iterable[WorkQueue]) -> _FinalState:
    entries = {queue: list(queue.entries) for queue in queues}
    values = {
        work.fence: work.fence.value
        for works in entries.values()
        for work in works
        if isinstance(work, (FenceSignal, FenceWait))
    }
    progressed = True
    while progressed:
        progressed = False
        for works in entries.values():
            while works:
                work = works[0]
                if isinstance(work, FenceWait) and not _is_over(work) and values[work.fence] < work.value:
                    break
                if isinstance(work, FenceSignal):
                    values[work.fence] = max(values[work.fence], work.value)
                del works[0]
                progressed = True
    return _FinalState(values, entries)


def deadlocked_queues(queues: Iterable[WorkQueue]) -> Iterator[tuple[Lifetime, str]]:
    """The queues that are still blocked after all runnable work has run, each with a message."""
    final = _run_to_end(queues)
    for queue, works in final.left.items():
        if works:
            wait = works[0]
            assert isinstance(wait, FenceWait)
            yield queue.owner, f"waits forever: {final.why(wait.fence, wait.value)}"


def _is_over(wait: FenceWait) -> bool:
    """Whether the wait was satisfied; the fence may have gone back since."""
    return wait.registered and wait not in wait.fence.waiting.waits


class DeadlockReporter(Protocol):
    scheduler: Scheduler

    def report_cpu_deadlock(self, text: str, is_over: Callable[[], bool]) -> DMLError | None:
        """Report a wait that never ends, unless whoever hears of it ends it: ``is_over``. Returns the exception to end
        it with, if any."""


class CPUWait:
    """The context in which a CPU thread waits for ``event``, which fences of one device set when all of ``targets``, or
    any of them, are reached. On entry it reports the waits that have become deadlocks; on exit it raises what this one
    was ended with."""

    def __init__(
        self,
        reporter: DeadlockReporter,
        event: threading.Event,
        targets: Iterable[tuple[FenceValue, int]],
        any_of_them: bool,
    ) -> None:
        self.reporter = reporter
        self._event = event
        self._targets = tuple(targets)
        self._any_of_them = any_of_them
        self._is_reported = False
        self.error: DMLError | None = None

    def __enter__(self) -> None:
        try:
            _waits[threading.get_ident()] = self
            for deadlocked, problem in _deadlocked_waits():
                deadlocked.report(problem)
        except BaseException:
            self._leave()
            raise

    def __exit__(self, *exception: object) -> None:
        self._leave()
        if self.error is not None:
            self._event.clear()
            raise self.error

    def _leave(self) -> None:
        thread = threading.get_ident()
        if _waits.get(thread) is self:
            del _waits[thread]

    def report(self, problem: str) -> None:
        """Report the deadlock once, and end the wait if that is to raise an exception."""
        if self._is_reported:
            return
        self._is_reported = True
        self.error = self.reporter.report_cpu_deadlock(problem, lambda: self.problem() is None)
        if self.error is not None:
            self._event.set()

    @property
    def goes_on(self) -> bool:
        """Whether it is reported, but not ended: in a program in C, or if a filter denies the message."""
        return self._is_reported and self.error is None

    def problem(self) -> str | None:
        """Why it never ends; None if submitted work can end it, whichever thread runs that."""
        scheduler = self.reporter.scheduler
        if scheduler.removed:
            return None
        final = _run_to_end(scheduler.queues())
        missing = [(fence, target) for fence, target in self._targets if final.value(fence) < target]
        if not missing or (self._any_of_them and len(missing) < len(self._targets)):
            return None
        return "; ".join(final.why(fence, target) for fence, target in missing)


# The calls of GetCompletedValue after which a loop counts as endless, if nothing else was asked of the device.
# One that does nothing else makes them within a second, one that sleeps for a millisecond within a quarter of a minute.
MOST_POLLS = 10_000


class _Polling(CPUWait):
    """A thread that polls ``fence``; what value it waits for is unknown."""

    def __init__(self, reporter: DeadlockReporter, fence: FenceValue) -> None:
        super().__init__(reporter, threading.Event(), [(fence, fence.value + 1)], any_of_them=False)

    def problem(self) -> str | None:
        problem = super().problem()
        return problem and f"{problem}, and GetCompletedValue was called {MOST_POLLS:,} times in a row"


class Polls:
    """The polls of a device's fences since anything was recorded, submitted or signaled."""

    def __init__(self) -> None:
        self._count = 0
        self._is_reported = False

    def begin(self) -> None:
        """The device has been given something to do."""
        self._count, self._is_reported = 0, False

    def add(self, reporter: DeadlockReporter, fence: FenceValue) -> None:
        """The program has polled ``fence`` and continues, unless it is to be ended with an exception."""
        self._count += 1
        if self._count % MOST_POLLS or self._is_reported:
            return
        polling = _Polling(reporter, fence)
        with polling:
            self._is_reported = polling.goes_on


# By thread identifier.
_waits: dict[int, CPUWait] = {}


class WatchedWait:
    """Takes the place of ``wait`` of an event of the program that fences set."""

    def __init__(self, reporter: DeadlockReporter, event: threading.Event) -> None:
        self._reporter = reporter
        # It is an attribute of the event.
        self._event = weakref.ref(event)
        self._targets: list[tuple[FenceValue, int]] = []

    def add(self, fence: FenceValue, target: int) -> None:
        self._targets = [pair for pair in self._targets if pair[0].value < pair[1]] + [(fence, target)]

    def __call__(self, timeout: float | None = None) -> bool:
        event = self._event()
        assert event is not None
        wait = partial(threading.Event.wait, event, timeout)
        if timeout is not None or event.is_set():
            return wait()
        with CPUWait(self._reporter, event, self._targets, any_of_them=True):
            return wait()


def watch_event(reporter: DeadlockReporter, event: Any, fence: FenceValue, target: int) -> None:
    """Check waits for ``event``, which ``fence`` is to set, for deadlocks."""
    if type(event) is threading.Event:
        watched = event.__dict__.get("wait")
        if not isinstance(watched, WatchedWait):
            watched = event.__dict__["wait"] = WatchedWait(reporter, event)
        watched.add(fence, target)


def _deadlocked_waits() -> list[tuple[CPUWait, str]]:
    """The waits of all threads, each with its problem; empty as long as one thread can continue."""
    deadlocked = []
    for thread in threading.enumerate():
        wait = _waits.get(thread.ident or 0)
        problem = None if wait is None else wait.problem()
        if wait is None or problem is None:
            return []
        deadlocked.append((wait, problem))
    return deadlocked


if hasattr(os, "register_at_fork"):
    # Only the forking thread exists in the child, and it is not waiting.
    os.register_at_fork(after_in_child=_waits.clear)
