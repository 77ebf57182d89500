"""Under the debug layer queued work runs when somebody looks at a fence, as far as that fence asks for it.

On a GPU it is up to chance how much has run when the program goes on. Here, what was not waited for has never run, so
that a missing wait shows every time.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..fence import FenceSignal, FenceWait, ID3D12Fence
from ..scheduler import WorkQueue

if TYPE_CHECKING:
    from ..device import ID3D12Device


class Turn(NamedTuple):
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
        # Holds the queues, so that their work survives the program's last reference to them.
        self._queues: dict[WorkQueue, None] = {}
        self._polled: list[FenceSignal] = []
        self._running = False

    @property
    def _device(self) -> ID3D12Device:
        device = self._device_of()
        assert device is not None
        return device

    def added(self, queues: Iterable[WorkQueue]) -> None:
        """Work was added to ``queues``, or can go on; runs what events that are waited for ask for."""
        with self._device.lock:
            self._queues.update(dict.fromkeys(queues))
        self._run()

    def poll(self, fence: ID3D12Fence) -> None:
        """Somebody looks at the value: run up to the next signal of the fence, so that polling gets somewhere."""
        with self._device.lock:
            signal = Pending(self._queues).first(fence)
            if signal is not None:
                self._polled.append(signal)
        self._run()

    def flush(self) -> None:
        """Run all that can run, for those who want every message before they let the device go."""
        while any(queue.run_one() for queue in list(self._queues)):
            pass

    def _run(self) -> None:
        lock = self._device.lock
        with lock:
            if self._running:
                return
            self._running = True
        try:
            while True:
                with lock:
                    turn = self._next()
                    if turn is None:
                        self._running = False
                        return
                for _ in range(turn.length):
                    if not turn.queue.run_one():
                        break
        except BaseException:
            with lock:
                self._running = False
            raise

    def _next(self) -> Turn | None:
        """What runs next; None, and an end to all polling, if nothing that is asked for can run."""
        self._queues = {queue: None for queue in self._queues if queue.entries}
        awaited = [(fence, fence.awaited_value()) for fence in self._device.fences()]
        wishes = [(fence, target) for fence, target in awaited if target is not None]
        if wishes or self._polled:
            pending = Pending(self._queues)
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
        self._signals: dict[ID3D12Fence, list[tuple[Turn, FenceSignal]]] = {}
        for queue in queues:
            for length, work in enumerate(queue.entries, 1):
                if isinstance(work, FenceSignal):
                    self._signals.setdefault(work.fence, []).append((Turn(queue, length), work))

    def first(self, fence: ID3D12Fence) -> FenceSignal | None:
        """The next signal of ``fence``."""
        signals = self._signals.get(fence)
        return signals[0][1] if signals else None

    def running(self, signal: FenceSignal) -> Iterator[Turn]:
        """What brings ``signal`` about, if it is still to come."""
        return (turn for turn, waiting in self._signals.get(signal.fence, ()) if waiting is signal)

    def reaching(self, fence: ID3D12Fence, target: int) -> Iterator[Turn]:
        """What of each queue brings ``fence`` to ``target``."""
        seen = set()
        for turn, signal in self._signals.get(fence, ()):
            if signal.value >= target and turn.queue not in seen:
                seen.add(turn.queue)
                yield turn

    def runnable(self, turn: Turn) -> Turn | None:
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
