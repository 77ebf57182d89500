"""Execution of submitted work: immediate, or under the debug layer deferred until it is waited for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .device_base import DeviceBase
from .fence import FenceSignal, FenceValue, FenceWait
from .scheduler import Work, WorkQueue, drain, let_go


class WorkSubmission(DeviceBase):
    """Mixin of ``ID3D12Device``: the scheduling that queues and fences call."""

    def queues(self) -> list[WorkQueue]:
        with self.lock:
            return list(self._queues)

    def fences(self) -> list[FenceValue]:
        with self.lock:
            return list(self._fences)

    def wait(self, queue: WorkQueue, fence: FenceValue, value: int) -> None:
        """Block later entries of ``queue`` until ``fence`` has ``value``."""
        try:
            self.lock.acquire()
            self.submit(queue, [FenceWait(queue, fence, value)])
        except BaseException:
            self.recover()
            raise

    def submit(self, queue: WorkQueue, works: Sequence[Work]) -> None:
        """Run ``works`` after the entries of ``queue``: as soon as they can, or under the debug layer when they are
        waited for. Called with the lock held, which it releases; after an exception the caller must ``recover``."""
        if self._deferral is None:
            queue.run(works)
            if self.ready:
                drain(self._device)
        else:
            for work in works:
                queue.add(work)
            self.lock.release()
            self.progress()

    def signal(self, queue: WorkQueue, fence: FenceValue, value: int) -> None:
        """Set ``fence`` after the entries of ``queue``: here and now if there are none and nothing waits for it."""
        try:
            # Not by ``with``, which takes longer than everything else here; ``recover`` releases it.
            self.lock.acquire()
            is_next = queue.running is None and not queue.entries and self._deferral is None
            if is_next and not self.removed and fence.advance_unnoticed(value):
                self.lock.release()
            else:
                self.submit(queue, [FenceSignal(queue, fence, value)])
        except BaseException:
            self.recover()
            raise

    def progress(self) -> None:
        """Run the work that is runnable, or under the debug layer only the work that is waited for."""
        if self._deferral is None or self.sync_validator is None:
            drain(self._device)
        else:
            self.sync_validator.breaking(self._deferral.run)

    def recover(self) -> None:
        """After an exception, complete what it interrupted: a GPU keeps running when its program is interrupted."""
        let_go(self.lock)
        for fence in self.fences():
            with self.lock:
                fence.published()
            fence.deliver()
        if self._deferral is None:
            drain(self._device)
        else:
            self._deferral.run()

    def observe(self, fence: FenceValue) -> None:
        """The program polls ``fence``, which under the debug layer lets work run."""
        if self._deferral is not None and self.sync_validator is not None and not self.removed:
            try:
                self.sync_validator.breaking(partial(self._deferral.poll, fence))
            except BaseException:
                self.recover()
                raise

    def flush(self) -> None:
        """Under the debug layer, once the program has submitted everything: run the work that was never waited for, so
        that its messages are reported, and report deadlocked queues."""
        if self._deferral is not None and self.sync_validator is not None:
            self.sync_validator.breaking(self._deferral.flush)
