"""Work queues: run submitted work in order, in whichever thread makes it runnable.

An exception may be raised between any two steps: a keyboard interrupt, a MemoryError, a failing event callback. Every
state change is therefore a single assignment, or idempotent: an entry stays in its queue until it has run, and an
interrupted thread leaves its work to the next one, or completes it before the exception propagates.

Work refers to objects of the program, whose release runs its code. No thread drops an entry while it holds the lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..abi.lifetime import Lifetime
    from .device import ID3D12Device
    from .execution import Execution


class Work:
    """An entry of a work queue. All methods except ``run`` are called with the device's lock held."""

    __slots__ = ("done",)
    # Whether ``blocked`` must be called.
    may_block = False

    def __init__(self) -> None:
        self.done = False

    def blocked(self) -> bool:
        """Whether the entry cannot run yet."""
        return False

    def run(self) -> None:
        """Run the entry, or the rest of it after an interrupt, without the lock held."""

    def finish(self) -> None:
        """Called after it has run, failed, or been dropped; idempotent."""


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
        # The entry that a thread is running, and the last thread that ran one.
        self.running: Work | None = None
        self.thread = 0

    def add(self, work: Work) -> None:
        with self.device.lock:
            if not self.device.removed:
                self.device.ready[self] = None
                self.entries.append(work)

    def run(self, works: Sequence[Work] = (), only_first: bool = False) -> bool:
        """Add ``works``, and run entries from the front until none can be claimed. Called with the lock held, which it
        releases. False if there was none to claim.

        Entries that cannot be claimed are either left to another thread, which runs them after its own, or blocked
        until a fence makes the queue ready.
        """
        device, entries = self.device, self.entries
        work = finished = None
        lock = device.lock
        try:
            if not device.removed:
                entries.extend(works)
            while self.running is None and entries:
                work = entries[0]
                if work.may_block and work.blocked():
                    break
                self.thread = get_ident()
                self.running = work
                lock.release()
                finished = None
                if not work.done:
                    work.run()
                    work.done = True
                lock.acquire()
                work.finish()
                if entries and entries[0] is work:
                    entries.popleft()
                self.running = None
                finished, work = work, None
                if only_first:
                    break
            lock.release()
        except BaseException:
            self.give_up(work)
            raise
        return finished is not None

    def run_one(self) -> bool:
        """Run only the first entry; False if there was none to claim."""
        try:
            self.device.lock.acquire()
            return self.run(only_first=True)
        except BaseException:
            self.give_up(None)
            raise

    def give_up(self, work: Work | None) -> None:
        """After an exception, leave the queue to others. ``work``: the entry that this thread may have claimed."""
        if work is not None and self.running is work:
            self.running = None
        self.device.ready[self] = None
        let_go(self.device.lock)

    def forget(self, execution: Execution) -> None:
        """After an exception in the submission of ``execution``: undo it if it is not in the queue."""
        with self.device.lock:
            if execution.queue is self and execution not in self.entries:
                execution.finish()

    def clear(self) -> list[Work]:
        """Drop all entries. Returns them, for the caller to release without the lock."""
        with self.device.lock:
            dropped = list(self.entries)
            for work in dropped:
                work.finish()
            self.entries.clear()
        return dropped


def drain(device: ID3D12Device) -> None:
    """Run all runnable work of the ready queues, and of every queue that becomes ready meanwhile."""
    while device.ready:
        for queue in list(device.ready):
            try:
                device.lock.acquire()
                device.ready.pop(queue, None)
                queue.run()
            except BaseException:
                queue.give_up(None)
                raise
