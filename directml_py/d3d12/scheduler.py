"""Running queued work in order, in whatever thread makes it runnable.

An exception may come between any two steps: an interrupt from the keyboard, no memory, an event of the program that
fails. Each change of state is therefore one assignment, or can be made twice: an entry stays in its queue until it has
run, and whoever is thrown out of his work leaves it for the next, or does the rest before the exception goes on.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..abi.lifetime import Lifetime
    from .device import ID3D12Device


class Work:
    """One entry of a queue. All but ``run`` is called under the lock of the queue's device."""

    __slots__ = ("done",)

    def __init__(self) -> None:
        self.done = False

    def blocked(self) -> bool:
        """Whether the entry has to wait."""
        return False

    def done_at_once(self) -> bool:
        """Do it here and now if that is nothing to speak of and lets nobody else go on; else False."""
        return False

    def run(self) -> None:
        """Do it, or what is left of it, without the lock held."""

    def finish(self) -> None:
        """It has run, or failed, or was never taken; may be called again."""


class Worker:
    """One visit of a thread to the queues of a device."""

    __slots__ = ("queue", "thread")

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.queue: WorkQueue | None = None

    def stop(self, lock: threading.RLock) -> None:
        """Leave the queue that it was at when an exception came."""
        if self.queue is not None and self.queue.worker is self:
            self.queue.worker = None
        let_go(lock)


def let_go(lock: Any) -> None:
    """Release a lock that an exception left behind: a tracing function may raise between ``with`` and its block.

    Nobody holds the lock where queues are called from, so that all of it is to go.
    """
    while lock._is_owned():
        lock.release()


class WorkQueue:
    """First in, first out, one entry at a time.

    One thread at a time works on a queue. A thread that finds another one at it leaves its entries to that
    one. ``owner`` is the life of the program's queue.
    """

    def __init__(self, device: ID3D12Device, owner: Lifetime) -> None:
        self.device = device
        self.owner = owner
        self.entries: deque[Work] = deque()
        self.worker: Worker | None = None

    def add(self, work: Work) -> None:
        with self.device.lock:
            if not self.device.removed:
                self.device.ready[self] = None
                self.entries.append(work)

    def submit(self, work: Work) -> None:
        """Run ``work`` if nothing is before it, and whatever can go on because of that; else leave it in the queue."""
        device, entries, worker = self.device, self.entries, None
        try:
            with device.lock:
                if device.removed:
                    return
                if self.worker is None and not entries and not work.blocked() and work.done_at_once():
                    return
                worker = Worker()
                device.ready[self] = None
                entries.append(work)
                taken = self.take(worker)
            self.run_on(worker, taken)
            if device.ready:
                _drain(device, worker)
        except BaseException:
            if worker is not None:
                worker.stop(device.lock)
            raise

    def forget(self, work: Work) -> None:
        """An exception came while ``work`` was submitted: if it is not in the queue, it never happened."""
        with self.device.lock:
            if work not in self.entries:
                work.finish()

    def clear(self) -> None:
        with self.device.lock:
            for work in self.entries:
                work.finish()
            self.entries.clear()

    def take(self, worker: Worker) -> Work | None:
        """The first entry, for ``worker`` to run, under the lock; None if there is none that can run now, or another
        thread is at it."""
        entries = self.entries
        if self.worker is not None or not entries or entries[0].blocked():
            return None
        worker.queue = self
        self.worker = worker
        return entries[0]

    def leave(self, work: Work) -> None:
        """What was taken has run; under the lock."""
        work.finish()
        if self.entries and self.entries[0] is work:
            self.entries.popleft()
        self.worker = None

    def run_one(self, worker: Worker) -> bool:
        """Run the first entry alone; False if there was none to take."""
        with self.device.lock:
            work = self.take(worker)
        if work is None:
            return False
        if not work.done:
            work.run()
        with self.device.lock:
            self.leave(work)
        return True

    def run_on(self, worker: Worker, work: Work | None) -> None:
        """Run what was taken, and what comes after it, until there is none to take; the queue is not ready then."""
        device = self.device
        lock, ready = device.lock, device.ready
        while work is not None:
            if not work.done:
                work.run()
                work.done = True
            with lock:
                self.leave(work)
                work = self.take(worker)
                if work is None:
                    ready.pop(self, None)


def drain(device: ID3D12Device) -> None:
    """Run what can run on the queues that are ready, and on every queue that goes on because of that."""
    worker = Worker()
    try:
        _drain(device, worker)
    except BaseException:
        worker.stop(device.lock)
        raise


def _drain(device: ID3D12Device, worker: Worker) -> None:
    while device.ready:
        for queue in list(device.ready):
            with device.lock:
                work = queue.take(worker)
                if work is None:
                    device.ready.pop(queue, None)
            queue.run_on(worker, work)
