"""Running queued work in order, in whatever thread makes it runnable."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..abi.hresult import DXGI_ERROR_DEVICE_HUNG

if TYPE_CHECKING:
    from .device import ID3D12Device


class Work:
    """One entry of a queue. All but ``run`` is called under the lock of the queue's device."""

    __slots__ = ()

    def blocked(self) -> bool:
        """Whether the entry has to wait."""
        return False

    def done_at_once(self) -> bool:
        """Do it here and now if that is nothing to speak of and lets nobody else go on; else False."""
        return False

    def run(self) -> Iterable[WorkQueue]:
        """Do it, without the lock held; the queues that may go on because of it."""
        return ()

    def finish(self) -> None:
        """It has run, or failed."""


class WorkQueue:
    """First in, first out, one entry at a time.

    One thread at a time works on a queue. A thread that finds another one at it leaves its entries to that
    one.
    """

    def __init__(self, device: ID3D12Device) -> None:
        self.device = device
        self.entries: deque[Work] = deque()
        self._busy = False

    @property
    def lock(self) -> threading.RLock:
        return self.device.lock

    def add(self, work: Work) -> None:
        with self.lock:
            if not self.device.removed:
                self.entries.append(work)

    def submit(self, work: Work) -> None:
        """Run ``work`` if nothing is before it, and whatever can go on because of that; else leave it in the queue."""
        device = self.device
        with device.lock:
            if device.removed:
                return
            if self._busy or self.entries or work.blocked():
                self.entries.append(work)
                return
            if work.done_at_once():
                return
            self._busy = True
        ready = self._turn(work)
        if ready:
            drain(ready)

    def _turn(self, work: Work | None) -> list[WorkQueue]:
        """Run ``work`` and what comes after it, in this thread's turn; the queues that may go on."""
        ready: list[WorkQueue] = []
        while work is not None:
            ready.extend(self._run(work))
            with self.device.lock:
                work.finish()
                if not self.entries or self.entries[0].blocked():
                    self._busy = False
                    break
                work = self.entries.popleft()
        return ready

    def clear(self) -> None:
        with self.lock:
            self.entries.clear()

    def begin(self) -> Work | None:
        """The first entry, and this thread's turn; None if there is none that can run, or another thread is at it."""
        with self.device.lock:
            if self._busy or not self.entries or self.entries[0].blocked():
                return None
            self._busy = True
            return self.entries.popleft()

    def run_one(self) -> bool:
        """Run the first entry alone; False if there is none that can run now, or another thread is at it."""
        work = self.begin()
        if work is None:
            return False
        self._run(work)
        with self.lock:
            work.finish()
            self._busy = False
        return True

    def _run(self, work: Work) -> Iterable[WorkQueue]:
        """An exception out of an entry is a fault of the GPU: it removes the device."""
        try:
            return work.run()
        except BaseException as error:
            with self.lock:
                work.finish()
                self.entries.clear()
                self._busy = False
            self.device.mark_removed(DXGI_ERROR_DEVICE_HUNG, f"a command failed: {error}")
            raise


def drain(queues: Iterable[WorkQueue]) -> None:
    """Run what can run on ``queues``, and on every queue that goes on because of that.

    An exception out of an entry is a fault of the GPU: it removes the device, and is raised on.
    """
    ready = list(queues)
    # The list grows while it is gone through.
    for queue in ready:
        ready.extend(queue._turn(queue.begin()))
