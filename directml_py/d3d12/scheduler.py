"""Work queues: run submitted work in order, in whichever thread makes it runnable.

An exception may be raised between any two steps: a keyboard interrupt, a MemoryError, a failing event callback. Every
state change is therefore a single assignment, or idempotent: an entry stays in its queue until it has run, and an
interrupted thread leaves its work to the next one, or completes it before the exception propagates.

Work refers to objects of the program, whose release runs its code. No thread drops an entry while it holds the lock.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..abi.lifetime import Lifetime
    from .device import ID3D12Device


class Work:
    """An entry of a work queue. All methods except ``run`` are called with the device's lock held."""

    __slots__ = ("done",)

    def __init__(self) -> None:
        self.done = False

    def blocked(self) -> bool:
        """Whether the entry cannot run yet."""
        return False

    def done_at_once(self) -> bool:
        """Run it immediately if that is trivial and unblocks nothing else; else return False."""
        return False

    def run(self) -> None:
        """Run the entry, or the rest of it after an interrupt, without the lock held."""

    def finish(self) -> None:
        """Called after it has run, failed, or been dropped; idempotent."""


class Worker:
    """A thread that is running a device's queues."""

    __slots__ = ("queue", "thread")

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.queue: WorkQueue | None = None

    def stop(self, lock: threading.RLock) -> None:
        """After an exception, give up the queue that it was running."""
        if self.queue is not None and self.queue.worker is self:
            self.queue.worker = None
        let_go(lock)


def let_go(lock: Any) -> None:
    """Release a lock that an exception left held: a trace function may raise between ``with`` and its block.

    No caller holds the lock, so all recursion levels are released.
    """
    while lock._is_owned():
        lock.release()


class WorkQueue:
    """A FIFO of work that runs one entry at a time.

    Only one thread runs a queue at a time; a thread that finds it busy leaves its entries to the running one.
    ``owner`` is the lifetime of the program's queue.
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
        """Run ``work`` and everything it unblocks if nothing is ahead of it; else leave it in the queue."""
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
                first = self.take(worker)
            self.run_on(worker, first)
            if device.ready:
                _drain(device, worker)
        except BaseException:
            if worker is not None:
                worker.stop(device.lock)
            raise

    def forget(self, work: Work) -> None:
        """After an exception in the submission of ``work``: undo it if ``work`` is not in the queue."""
        with self.device.lock:
            if work not in self.entries:
                work.finish()

    def clear(self) -> list[Work]:
        """Drop all entries. Returns them, for the caller to release without the lock."""
        with self.device.lock:
            dropped = list(self.entries)
            for work in dropped:
                work.finish()
            self.entries.clear()
        return dropped

    def take(self, worker: Worker) -> Work | None:
        """Claim the first entry for ``worker``, with the lock held; None if there is none, it is blocked, or another
        thread is running the queue."""
        entries = self.entries
        if self.worker is not None or not entries or entries[0].blocked():
            return None
        worker.queue = self
        self.worker = worker
        return entries[0]

    def leave(self, work: Work) -> None:
        """Remove a claimed entry that has run, with the lock held."""
        work.finish()
        if self.entries and self.entries[0] is work:
            self.entries.popleft()
        self.worker = None

    def run_one(self, worker: Worker) -> bool:
        """Run only the first entry; False if there was none to claim."""
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
        """Run a claimed entry and those behind it until none can be claimed; the queue is then no longer ready."""
        device = self.device
        lock, ready = device.lock, device.ready
        while work is not None:
            if not work.done:
                work.run()
                work.done = True
            finished = work
            with lock:
                self.leave(finished)
                work = self.take(worker)
                if work is None:
                    ready.pop(self, None)
            del finished


def drain(device: ID3D12Device) -> None:
    """Run all runnable work of the ready queues, and of every queue that becomes ready meanwhile."""
    worker = Worker()
    try:
        _drain(device, worker)
    except BaseException:
        worker.stop(device.lock)
        raise


def _drain(device: ID3D12Device, worker: Worker) -> None:
    while device.ready:
        for queue in list(device.ready):
            work = None
            with device.lock:
                work = queue.take(worker)
                if work is None:
                    device.ready.pop(queue, None)
            queue.run_on(worker, work)
