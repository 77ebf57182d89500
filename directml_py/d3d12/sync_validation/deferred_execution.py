"""Under the debug layer queued work runs when somebody looks at a fence, as far as that fence asks for it.

On a GPU it is up to chance how much has run when the program goes on. Here, what was not waited for has never run, so
that a missing wait shows every time.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..fence import FenceSignal, FenceValue, FenceWait
from ..scheduler import Worker, WorkQueue

if TYPE_CHECKING:
    from ..device import ID3D12Device


class RunnableEntries(NamedTuple):
    """The next ``length`` entries of a queue, the first of which can run."""

    queue: WorkQueue
    length: int


class Deferral:
    """The work of one device that nobody has asked for yet.

    One thread at a time runs work. A thread that finds another one at it leaves its wishes to that one, which looks
    for them before it ends.
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
        """Who runs work at this moment."""
        return self._runner

    def poll(self, fence: FenceValue) -> None:
        """Somebody looks at the value: run up to the next signal of the fence, so that polling gets somewhere."""
        with self._device.lock:
            signal = Pending(self._device.ready).first(fence)
            if signal is not None:
                self._polled.append(signal)
        self.run()

    def flush(self) -> None:
        """Run all that can run, for those who want every message before they let the device go."""
        worker = Worker()
        try:
            while any(queue.run_one(worker) for queue in list(self._device.ready)):
                pass
            if self._device.sync_validator is not None:
                self._device.sync_validator.report_deadlocks()
        except BaseException:
            worker.stop(self._device.lock)
            raise

    def run(self) -> None:
        """Run what events that are waited for, and polled fences, ask for."""
        worker = Worker()
        try:
            self._run(worker)
        except BaseException:
            worker.stop(self._device.lock)
            if self._runner is worker:
                self._runner = None
            raise

    # A function of its own: between the end of a ``with`` and a jump out of it CPython leaves instructions that an
    # ``except`` of the same function does not cover.
    def _run(self, worker: Worker) -> None:
        lock = self._device.lock
        with lock:
            if self._runner is not None:
                return
            self._runner = worker
        while True:
            with lock:
                turn = self._next()
                if turn is None:
                    self._runner = None
                    return
            for _ in range(turn.length):
                if not turn.queue.run_one(worker):
                    break

    def _next(self) -> RunnableEntries | None:
        """What runs next; None, and an end to all polling, if nothing that is asked for can run."""
        ready = self._device.ready
        for queue in [queue for queue in ready if not queue.entries]:
            del ready[queue]
        awaited = [(fence, fence.awaited_value()) for fence in self._device.fences()]
        wishes = [(fence, target) for fence, target in awaited if target is not None]
        if wishes or self._polled:
            pending = Pending(ready)
            turns = [turn for fence, target in wishes for turn in pending.reaching(fence, target)]
            turns += [turn for polled in self._polled for turn in pending.running(polled)]
            for turn in turns:
                first = pending.runnable(turn)
                if first is not None:
                    return first
        self._polled.clear()
        return None


class Pending:
    """The signals that wait in some queues, by fence, each with its queue and its place there, counted from 1."""

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
        """What brings ``signal`` about, if it is still to come."""
        return (turn for turn, waiting in self._signals.get(signal.fence, ()) if waiting is signal)

    def reaching(self, fence: FenceValue, target: int) -> Iterator[RunnableEntries]:
        """What of each queue brings ``fence`` to ``target``."""
        seen = set()
        for turn, signal in self._signals.get(fence, ()):
            if signal.value >= target and turn.queue not in seen:
                seen.add(turn.queue)
                yield turn

    def runnable(self, turn: RunnableEntries) -> RunnableEntries | None:
        """``turn``, or if its queue has to wait, one that it waits for and whose queue need not."""
        seen, waiting = set(), [turn]
        while waiting:
            turn = waiting.pop()
            if turn.queue in seen:
                continue
            seen.add(turn.queue)
            front = turn.queue.entries[0]
            if not front.blocked():
                return turn
            if isinstance(front, FenceWait):
                waiting += self.reaching(front.fence, front.value)
        return None
