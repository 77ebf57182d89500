"""Deferred execution: under the debug layer, work runs only once a fence that depends on it is polled or waited for.

On a GPU, how much work has run when the program continues is a matter of timing. Here, work that was not waited for has
never run, so that a missing wait is detected every time.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from threading import get_ident
from typing import TYPE_CHECKING, NamedTuple

from ..fence import FenceSignal, FenceValue, FenceWait
from ..scheduler import WorkQueue, let_go

if TYPE_CHECKING:
    from ..device import ID3D12Device


class Worker:
    """A thread that is running deferred work."""

    def __init__(self) -> None:
        self.thread = get_ident()


class RunnableEntries(NamedTuple):
    """The first ``length`` entries of a queue, to be run in order."""

    queue: WorkQueue
    length: int


class Deferral:
    """A device's deferred work.

    Only one thread runs work at a time. A thread that finds another one running leaves its requests to that one, which
    checks for them before it stops.
    """

    def __init__(self, device: ID3D12Device) -> None:
        self._device_of = weakref.ref(device)
        self._polled: list[FenceSignal] = []
        self._runner: Worker | None = None

    @property
    def _device(self) -> ID3D12Device:
        device = self._device_of()
        assert device is not None
        return device

    @property
    def runner(self) -> Worker | None:
        """The worker that is running work, or None."""
        return self._runner

    def poll(self, fence: FenceValue) -> None:
        """The program polls ``fence``: run up to its next signal, so that polling makes progress."""
        with self._device.lock:
            signal = Pending(self._device.ready).first(fence)
            if signal is not None:
                self._polled.append(signal)
        self.run()

    def flush(self) -> None:
        """Run all runnable work, so that every message is reported before the device is released."""
        while any(queue.run_one() for queue in list(self._device.ready)):
            pass
        if self._device.sync_validator is not None:
            self._device.sync_validator.report_deadlocks()
            self._device.sync_validator.report_begun_splits()

    def run(self) -> None:
        """Run the work that awaited and polled fences depend on."""
        worker = Worker()
        try:
            self._run(worker)
        except BaseException:
            let_go(self._device.lock)
            if self._runner is worker:
                self._runner = None
            raise

    # A separate function: between the end of a ``with`` block and a jump out of it CPython emits instructions that an
    # ``except`` of the same function does not cover.
    def _run(self, worker: Worker) -> None:
        lock = self._device.lock
        with lock:
            if self._runner is not None:
                return
            self._runner = worker
        while True:
            # The objects that one step examines are released without the lock: fences hold events of the program.
            seen: list[object] = []
            with lock:
                entries = self._next(seen)
                if entries is None:
                    self._runner = None
                    return
            for _ in range(entries.length):
                if not entries.queue.run_one():
                    break

    def _next(self, seen: list[object]) -> RunnableEntries | None:
        """The next entries to run; None if no requested work can run, which also ends all polling. ``seen`` receives
        the objects whose last references this may hold."""
        ready = self._device.ready
        for queue in [queue for queue in ready if not queue.entries]:
            del ready[queue]
        fences, polled = self._device.fences(), self._polled
        seen += (fences, polled)
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
