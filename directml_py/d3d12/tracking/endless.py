"""Waits of queues that nothing ends, known when nothing more is submitted.

Before that nobody can tell: a wait may come before its signal, and any thread may still signal a fence. So programs are
told when their devices are flushed, and when the interpreter ends, also of those that had to be interrupted.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...abi.life import Life
from ..fence import FenceSignal, FenceWait
from ..forks import devices

if TYPE_CHECKING:
    from ..scheduler import WorkQueue


def endless_waits(queues: Iterable[WorkQueue]) -> Iterator[tuple[Life, str]]:
    """The queues that cannot go on even if all has run that can, and a sentence for each."""
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
    coming = [work for works in entries.values() for work in works if isinstance(work, FenceSignal)]
    for queue, works in entries.items():
        if works:
            wait = works[0]
            assert isinstance(wait, FenceWait)
            signaled = any(work.fence is wait.fence and work.value >= wait.value for work in coming)
            why = (
                "all that would signal it waits too" if signaled else "nothing that was submitted signals it"
            )
            yield (
                queue.owner,
                f"waits for ever: {wait.fence} is {values[wait.fence]} and has to reach {wait.value}; {why}",
            )


def _is_over(wait: FenceWait) -> bool:
    """Whether the fence reached the value, and may have gone back since."""
    return wait.registered and wait not in wait.fence.state.waits


@atexit.register
def _at_exit() -> None:
    for device in list(devices):
        if device.monitor is not None:
            device.monitor.report_endless_waits()
