"""Running queued work in order, in whatever thread makes it runnable."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from ..api.hresult import DXGI_ERROR_DEVICE_HUNG

if TYPE_CHECKING:
    from .device import ID3D12Device


class Work(Protocol):
    """One entry of a queue."""

    def blocked(self) -> bool:
        """Whether the entry has to wait. Called under the lock of the queue's device."""

    def run(self) -> Iterable[WorkQueue]:
        """Do it, without the lock held; the queues that may go on because of it."""


class WorkQueue:
    """First in, first out, one entry at a time.

    One thread at a time works on a queue. A thread that finds another one at it leaves its entries to that
    one.
    """

    def __init__(self, device: ID3D12Device) -> None:
        self.device = device
        self._entries: deque[Work] = deque()
        self._busy = False

    @property
    def lock(self) -> threading.RLock:
        return self.device.lock

    def add(self, work: Work) -> None:
        with self.lock:
            if not self.device.removed:
                self._entries.append(work)

    def clear(self) -> None:
        with self.lock:
            self._entries.clear()

    def begin(self) -> bool:
        with self.lock:
            if self._busy:
                return False
            self._busy = True
            return True

    def next(self) -> Work | None:
        """The next entry; None, and the end of this thread's turn, if there is none that can run."""
        with self.lock:
            if not self._entries or self._entries[0].blocked():
                self._busy = False
                return None
            return self._entries.popleft()

    def abandon(self) -> None:
        with self.lock:
            self._entries.clear()
            self._busy = False


def drain(queues: Iterable[WorkQueue]) -> None:
    """Run what can run on ``queues``, and on every queue that goes on because of that.

    An exception out of an entry is a fault of the GPU: it removes the device, and is raised on.
    """
    ready = deque(queues)
    while ready:
        queue = ready.popleft()
        if not queue.begin():
            continue
        try:
            while (work := queue.next()) is not None:
                ready.extend(work.run())
        except BaseException as error:
            queue.abandon()
            queue.device.mark_removed(DXGI_ERROR_DEVICE_HUNG, f"a command failed: {error}")
            raise
