"""Deadlock detection: queues are checked when nothing more is submitted, CPU waits when they begin.

A queue's wait may precede its signal, and any thread may still signal a fence, so deadlocked queues are reported only
when the device is flushed and at interpreter exit, including after an interrupt.

A waiting thread submits nothing more. It is reported if no submitted work can end its wait and every other thread
known to Python is deadlocked too: any other thread might be about to signal. A C program may have threads that Python
has never seen, so the message is a warning, which the info queue does not break on by default.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

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

    def around(self, call: Callable[[], None]) -> None:
        """Make the call, and raise what is to be raised about it."""

    def report_cpu_deadlock(self, text: str) -> None:
        """Report a wait that never ends."""


class _CPUWait:
    """A CPU thread's wait for fences of one device: for all of ``targets``, or for any of them."""

    def __init__(
        self, reporter: DeadlockReporter, targets: tuple[tuple[FenceValue, int], ...], any_of_them: bool
    ) -> None:
        self.reporter = reporter
        self._targets = targets
        self._any_of_them = any_of_them
        self.reported = False

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


# By thread identifier.
_waits: dict[int, _CPUWait] = {}


@contextmanager
def waiting(
    reporter: DeadlockReporter, targets: Iterable[tuple[FenceValue, int]], any_of_them: bool = False
) -> Iterator[None]:
    """Context in which the calling thread waits; on entry reports the waits that have become deadlocks."""
    thread = threading.get_ident()
    wait = _CPUWait(reporter, tuple(targets), any_of_them)
    try:
        _waits[thread] = wait
        for deadlocked, problem in _deadlocked_waits():
            reporter = deadlocked.reporter
            if not deadlocked.reported:
                deadlocked.reported = True
                report = partial(reporter.report_cpu_deadlock, problem)
                # Only this thread's own wait may raise here.
                if deadlocked is wait:
                    reporter.around(report)
                else:
                    report()
        yield
    finally:
        if _waits.get(thread) is wait:
            del _waits[thread]


def _deadlocked_waits() -> list[tuple[_CPUWait, str]]:
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
