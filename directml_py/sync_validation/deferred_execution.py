"""Deferred execution: under the debug layer, work runs only once a fence that depends on it is polled or waited for.

On a GPU, how much work has run when the program continues is a matter of timing. Here, work that was not waited for has
never run, so that a missing wait is detected every time.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from threading import get_ident
from typing import NamedTuple

from ..runtime.scheduler import FenceSignal, FenceValue, FenceWait, Scheduler, WorkQueue


class RunnableEntries(NamedTuple):
    """The first ``length`` entries of a queue, to be run in order."""

    queue: WorkQueue
    length: int


class Deferral:
    """A device's deferred work.

    Only one thread runs work at a time. A thread that finds another one running leaves its requests to that one, which
    checks for them before it stops.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = weakref.proxy(scheduler)
        self._polled: list[FenceSignal] = []
        # The thread that is running work, or None.
        self.runner: int | None = None

    def poll(self, fence: FenceValue) -> list[Exception]:
        """The program polls ``fence``: run up to its next signal, so that polling makes progress."""
        with self._scheduler.lock:
            signal = Pending(self._scheduler.ready).first(fence)
            if signal is not None:
                self._polled.append(signal)
        return self.run()

    def flush(self) -> list[Exception]:
        """Run all runnable work, so that every message is reported before the device is released."""
        failures: list[Exception] = []
        while any(self._scheduler.run_first(queue, failures) for queue in list(self._scheduler.ready)):
            pass
        return failures

    def run(self) -> list[Exception]:
        """Run the work that awaited and polled fences depend on."""
        failures: list[Exception] = []
        with self._scheduler.lock:
            if self.runner is not None:
                return failures
            self.runner = get_ident()
        try:
            while self._run_next(failures):
                pass
        except BaseException:
            self.runner = None
            raise
        return failures

    def _run_next(self, failures: list[Exception]) -> bool:
        # The objects that one step examines are released without the lock: fences hold events of the program.
        inspected: list[object] = []
        with self._scheduler.lock:
            entries = self._next(inspected)
            if entries is None:
                self.runner = None
                return False
        for _ in range(entries.length):
            if not self._scheduler.run_first(entries.queue, failures):
                break
        return True

    def _next(self, inspected: list[object]) -> RunnableEntries | None:
        """The next entries to run; None if no requested work can run, which also ends all polling. ``inspected``
        receives the objects whose last references this may hold."""
        ready = self._scheduler.ready
        for queue in [queue for queue in ready if not queue.entries]:
            del ready[queue]
        fences, polled = self._scheduler.fences(), self._polled
        inspected += (fences, polled)
        awaited = [(fence, fence.awaited_value()) for fence in fences]
        targets = [(fence, target) for fence, target in awaited if target is not None]
        if targets or polled:
            pending = Pending(ready)
            candidates = [entries for fence, target in targets for entries in pending.reaching(fence, target)]
            candidates += [entries for signal in polled for entries in pending.running(signal)]
            for entries in candidates:
                first = pending.runnable(entries)
                if first is not None:
                    return first
        self._polled = []
        return None


class Pending:
    """The pending signals of some queues by fence, each with its queue and the number of entries up to it."""

    def __init__(self, queues: Iterable[WorkQueue]) -> None:
        self._signals: dict[FenceValue, list[tuple[RunnableEntries, FenceSignal]]] = {}
        for queue in queues:
            for length, work in enumerate(queue.entries, 1):
                if isinstance(work, FenceSignal):
                    self._signals.setdefault(work.fence, []).append((RunnableEntries(queue, length), work))

    def first(self, fence: FenceValue) -> FenceSignal | None:
        """The next signal of ``fence``."""
        signals = self._signals.get(fence)
        return signals[0][1] if signals else None

    def running(self, signal: FenceSignal) -> Iterator[RunnableEntries]:
        """The entries that run ``signal``, if it is still pending."""
        return (entries for entries, pending in self._signals.get(signal.fence, ()) if pending is signal)

    def reaching(self, fence: FenceValue, target: int) -> Iterator[RunnableEntries]:
        """The entries of each queue that bring ``fence`` to ``target``."""
        visited = set()
        for entries, signal in self._signals.get(fence, ()):
            if signal.value >= target and entries.queue not in visited:
                visited.add(entries.queue)
                yield entries

    def runnable(self, entries: RunnableEntries) -> RunnableEntries | None:
        """``entries``, or if their queue is blocked, entries of an unblocked queue that it depends on, or None."""
        visited, pending = set(), [entries]
        while pending:
            entries = pending.pop()
            if entries.queue in visited:
                continue
            visited.add(entries.queue)
            front = entries.queue.entries[0]
            if not front.blocked():
                return entries
            if isinstance(front, FenceWait):
                pending += self.reaching(front.fence, front.value)
        return None
