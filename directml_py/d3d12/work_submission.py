"""How a device runs what its queues are given: at once, or under the debug layer when it is waited for."""

from __future__ import annotations

from functools import partial

from .device_base import DeviceBase
from .fence import FenceValue
from .scheduler import Work, WorkQueue, drain, let_go


class WorkSubmission(DeviceBase):
    """The part of ``ID3D12Device`` that queues and fences call."""

    def queues(self) -> list[WorkQueue]:
        with self.lock:
            return list(self._queues)

    def fences(self) -> list[FenceValue]:
        with self.lock:
            return list(self._fences)

    def submit(self, queue: WorkQueue, work: Work) -> None:
        """Run ``work`` after what is in ``queue``: at once if it can, with the debug layer when it is waited for."""
        try:
            if self._deferral is None:
                queue.submit(work)
            else:
                queue.add(work)
                self.progress()
        except BaseException:
            self.recover()
            raise

    def progress(self) -> None:
        """Work was added or can go on: run it, or, under the debug layer, what is waited for."""
        if self._deferral is None or self.sync_validator is None:
            drain(self._device)
        else:
            self.sync_validator.breaking(self._deferral.run)

    def recover(self) -> None:
        """After an exception: do what it kept from being done. A GPU goes on when its program is interrupted."""
        let_go(self.lock)
        for fence in self.fences():
            fence.deliver()
        if self._deferral is None:
            drain(self._device)
        else:
            self._deferral.run()

    def observe(self, fence: FenceValue) -> None:
        """Somebody looks at ``fence``: under the debug layer that lets work run."""
        if self._deferral is not None and self.sync_validator is not None and not self.removed:
            try:
                self.sync_validator.breaking(partial(self._deferral.poll, fence))
            except BaseException:
                self.recover()
                raise

    def flush(self) -> None:
        """Under the debug layer, when the program has submitted all: run the work that nobody has waited for, so that
        its messages come, and say which of it never can."""
        if self._deferral is not None and self.sync_validator is not None:
            self.sync_validator.breaking(self._deferral.flush)
