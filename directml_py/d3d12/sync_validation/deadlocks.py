"""Waits that nothing ends: of queues, known when nothing more is submitted, and of the CPU, when they begin.

Of queues nobody can tell before that: a wait may come before its signal, and any thread may still signal a fence. So
programs are told when their devices are flushed, and when the interpreter ends, also of those that had to be
interrupted.

A thread that waits submits nothing more itself: it is told when nothing that was submitted helps, and every other
thread that Python knows waits as hopelessly. As long as one does not, it may be about to signal, and nothing is said. A
program in C may have threads that Python has never seen: what is said is a warning, which nothing breaks on by itself.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ...abi.lifetime import Lifetime
from ..after_fork import devices
from ..fence import FenceSignal, FenceValue, FenceWait

if TYPE_CHECKING:
    from ..device import ID3D12Device
    from ..scheduler import Work, WorkQueue


class _FinalState(NamedTuple):
    """What it comes to when all has run that can: values of fences, and the entries that are left in queues."""

    values: dict[FenceValue, int]
    left: dict[WorkQueue, list[Work]]

    def value(self, fence: FenceValue) -> int:
        return self.values.get(fence, fence.value)

    def why(self, fence: FenceValue, target: int) -> str:
        """Why ``fence`` never reaches ``target``."""
        coming = (work for works in self.left.values() for work in works)
        signaled = any(
            isinstance(work, FenceSignal) and work.fence is fence and work.value >= target for work in coming
        )
        why = "all that would signal it waits too" if signaled else "nothing that was submitted signals it"
        return f"{fence} is {self.value(fence)} and has to reach {target}; {why}"


def _end(queues: Iterable[WorkQueue]) -> _FinalState:
    entries = {queue: list(queue.entries) for queue in queues}
    values = {
        work.fence: work.fence.value
        for works in entries.values()
        for work in works
        if isinstance(work, (FenceSignal, FenceWait))
    }
    moved = True
    while moved:
        moved = False
        for works in entries.values():
            while works:
                work = works[0]
                if isinstance(work, FenceWait) and not _is_over(work) and values[work.fence] < work.value:
                    break
                if isinstance(work, FenceSignal):
                    values[work.fence] = max(values[work.fence], work.value)
                del works[0]
                moved = True
    return _FinalState(values, entries)


def deadlocked_queues(queues: Iterable[WorkQueue]) -> Iterator[tuple[Lifetime, str]]:
    """The queues that cannot go on even if all has run that can, and a sentence for each."""
    end = _end(queues)
    for queue, works in end.left.items():
        if works:
            wait = works[0]
            assert isinstance(wait, FenceWait)
            yield queue.owner, f"waits for ever: {end.why(wait.fence, wait.value)}"


def _is_over(wait: FenceWait) -> bool:
    """Whether the fence reached the value, and may have gone back since."""
    return wait.registered and wait not in wait.fence.state.waits


class _CPUWait:
    """A thread that waits for fences of ``device``: for all of ``targets``, or for any of them."""

    def __init__(
        self, device: ID3D12Device, targets: tuple[tuple[FenceValue, int], ...], any_of_them: bool
    ) -> None:
        self.device = device
        self._targets = targets
        self._any_of_them = any_of_them
        self.told = False

    def problem(self) -> str | None:
        """Why it never ends; None if what was submitted may end it, whoever is at that now."""
        device = self.device
        if device.removed:
            return None
        end = _end(device.queues())
        missing = [(fence, target) for fence, target in self._targets if end.value(fence) < target]
        if not missing or (self._any_of_them and len(missing) < len(self._targets)):
            return None
        return "; ".join(end.why(fence, target) for fence, target in missing)


# By thread.
_waits: dict[int, _CPUWait] = {}


@contextmanager
def waiting(
    device: ID3D12Device, targets: Iterable[tuple[FenceValue, int]], any_of_them: bool = False
) -> Iterator[None]:
    """The calling thread waits; those whose waits cannot end are told now."""
    thread = threading.get_ident()
    wait = _CPUWait(device, tuple(targets), any_of_them)
    try:
        _waits[thread] = wait
        for other, problem in _hopeless():
            monitor = other.device.sync_validator
            if monitor is not None and not other.told:
                other.told = True
                report = partial(monitor.report_cpu_deadlock, problem)
                # Who called is this thread alone.
                if other is wait:
                    monitor.breaking(report)
                else:
                    report()
        yield
    finally:
        if _waits.get(thread) is wait:
            del _waits[thread]


def _hopeless() -> list[tuple[_CPUWait, str]]:
    """The waits of all threads with what is wrong with each; none as long as one thread may go on."""
    found = []
    for thread in threading.enumerate():
        wait = _waits.get(thread.ident or 0)
        problem = None if wait is None else wait.problem()
        if wait is None or problem is None:
            return []
        found.append((wait, problem))
    return found


@atexit.register
def _at_exit() -> None:
    for device in list(devices):
        if device.sync_validator is not None:
            device.sync_validator.report_deadlocks()


if hasattr(os, "register_at_fork"):
    # Of the threads the child has that which forked alone, and that one does not wait.
    os.register_at_fork(after_in_child=_waits.clear)
