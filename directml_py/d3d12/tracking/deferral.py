"""Under the debug layer queued work runs when somebody looks at a fence, as far as that fence asks for it.

On a GPU it is up to chance how much has run when the program goes on. Here, what was not waited for has never run, so
that a missing wait shows every time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..fence import FenceSignal, FenceWait, ID3D12Fence
from ..scheduler import WorkQueue

if TYPE_CHECKING:
    from ..device import ID3D12Device


class Deferral:
    """The work of one device that nobody has asked for yet."""

    def __init__(self, device: ID3D12Device) -> None:
        self._device = device
        # Holds the queues, so that their work survives the program's last reference to them.
        self._queues: dict[WorkQueue, None] = {}

    def added(self, queues: Iterable[WorkQueue]) -> None:
        """Work was added to ``queues``, or can go on; runs what events that are waited for ask for."""
        with self._device.lock:
            for queue in queues:
                self._queues[queue] = None
        for fence in self._device.fences():
            target = fence.awaited_value()
            if target is not None:
                self.advance(fence, target)

    def poll(self, fence: ID3D12Fence) -> None:
        """Somebody looks at the value: run up to the next signal of the fence, so that polling gets somewhere."""
        with self._device.lock:
            values = [value for queue in self._queues for value in signals(queue, fence)]
        if values:
            self.advance(fence, min(values))

    def advance(self, fence: ID3D12Fence, target: int, seen: frozenset[WorkQueue] = frozenset()) -> None:
        """Run what brings ``fence`` to ``target``, and nothing beyond."""
        for queue in list(self._queues):
            if queue in seen or fence.value >= target:
                continue
            if any(value >= target for value in signals(queue, fence)):
                self._run(queue, fence, target, seen | {queue})
        with self._device.lock:
            self._queues = {queue: None for queue in self._queues if queue.entries}

    def _run(self, queue: WorkQueue, fence: ID3D12Fence, target: int, seen: frozenset[WorkQueue]) -> None:
        while fence.value < target and not self._device.removed:
            if queue.run_one():
                continue
            front = queue.entries[0] if queue.entries else None
            if not isinstance(front, FenceWait):
                return
            self.advance(front.fence, front.value, seen)
            if front.blocked():
                return


def signals(queue: WorkQueue, fence: ID3D12Fence) -> list[int]:
    """The values that pending work of ``queue`` will give to ``fence``."""
    return [
        work.value for work in list(queue.entries) if isinstance(work, FenceSignal) and work.fence is fence
    ]
