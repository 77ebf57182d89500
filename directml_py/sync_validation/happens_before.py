"""Happens-before analysis between queues: vector clocks propagated through fences.

Each queue counts its executions. A signal carries its queue's clock; a wait joins what is common to the clocks of all
signals that may have ended it. The CPU has a clock too: it is updated when the CPU observes a fence, and joined by the
work that it submits.

Devices that share memory are compared too. No fence orders their queues, as fences are not shared between devices; what
the CPU has seen of one device orders what it submits to another.
"""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from ..runtime.allocation import Allocation
from ..runtime.recording import AccessKind
from . import sync_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..abi.rules import Rule
    from ..runtime.buffer import Buffer
    from ..runtime.recording import Access
    from ..runtime.scheduler import FenceValue, WorkQueue

# Signals kept per fence. A wait for an earlier one joins the clock of the oldest kept.
SIGNALS: Final = 64
# Ranges kept per queue and allocation before those that the CPU has waited for are dropped.
RANGES: Final = 256

# Of queues: those of several devices have entries in one clock.
NUMBERS: Final = itertools.count()

UNSYNCHRONIZED_QUEUES: Final = "neither queue waits for a fence that the other signals afterwards"
UNSYNCHRONIZED_DEVICES: Final = (
    "the CPU waits for neither before it submits the other, and devices share no fence"
)

Clock = dict[int, int]


def _join(clock: Clock, other: Mapping[int, int]) -> None:
    for queue, count in other.items():
        clock[queue] = max(count, clock.get(queue, 0))


class _Signal(NamedTuple):
    value: int
    clock: Clock


class _Use(NamedTuple):
    """The last read or write of a range, in a queue's execution number ``execution``.

    It keeps no memory alive: its record is dropped with the allocation.
    """

    execution: int
    title: str
    recorded: str
    use: AccessKind
    name: str
    start: int
    end: int
    where: str
    buffer: weakref.ref[Buffer]

    @staticmethod
    def of(execution: int, title: str, recorded: str, access: Access) -> _Use:
        start, end = access.range.gpu_address, access.range.gpu_address + access.range.size
        buffer = access.range.buffer
        where = str(access) if buffer.heap is not None or buffer.is_shared else ""
        reference = weakref.ref(buffer)
        return _Use(execution, title, recorded, access.use, access.name, start, end, where, reference)

    def conflicts(self, access: Access) -> bool:
        start = access.range.gpu_address
        shared = max(self.start, start) < min(self.end, start + access.range.size)
        return shared and (access.writes or self.use is not AccessKind.READ)


class Uses(dict[object, _Use]):
    """One queue's uses of an allocation, by range and kind; above ``limit``, uses that the CPU has waited for are
    dropped."""

    limit = RANGES

    def __init__(self, of: HappensBefore) -> None:
        super().__init__()
        self.of = weakref.ref(of)
        self.queue = ""


# By queue number: an allocation may be shared with other devices.
USES: Final[WeakKeyDictionary[Allocation, dict[int, Uses]]] = WeakKeyDictionary()


class HappensBefore:
    """The vector clocks of a device. Called by one thread at a time, while work runs or with the device's lock held,
    but at the same time as those of other devices."""

    def __init__(self) -> None:
        self._cpu: Clock = {}
        self._queues: WeakKeyDictionary[WorkQueue, Clock] = WeakKeyDictionary()
        self._numbers: WeakKeyDictionary[WorkQueue, int] = WeakKeyDictionary()
        self._signals: WeakKeyDictionary[FenceValue, deque[_Signal]] = WeakKeyDictionary()
        # Of the devices that share memory with this one, which is among them.
        self._sharing: WeakSet[HappensBefore] = WeakSet([self])

    def shares_with(self, other: HappensBefore) -> None:
        """The devices of both share memory from now on, and so do those that either shares memory with."""
        together = self._sharing | other._sharing
        for one in list(together):
            one._sharing = together

    def _number(self, queue: WorkQueue) -> int:
        number = self._numbers.get(queue)
        if number is None:
            number = self._numbers[queue] = next(NUMBERS)
        return number

    def _clock(self, queue: WorkQueue) -> Clock:
        return self._queues.setdefault(queue, {})

    def submitted(self) -> Clock:
        """A copy of the CPU's clock, for work that is submitted."""
        clock: Clock = {}
        for device in list(self._sharing):
            _join(clock, dict(device._cpu))
        return clock

    def signaled(self, fence: FenceValue, value: int, queue: WorkQueue | None) -> None:
        """``queue``, or the CPU, has set ``fence``."""
        clock = self.submitted() if queue is None else dict(self._clock(queue))
        signals = self._signals.setdefault(fence, deque(maxlen=SIGNALS))
        # Once the fence has gone back, clocks of earlier signals no longer tell what a value implies.
        if signals and value < signals[-1].value:
            signals.clear()
        signals.append(_Signal(value, clock))

    def waited(self, fence: FenceValue, value: int, queue: WorkQueue | None) -> None:
        """``queue``, or the CPU, has observed that ``fence`` has reached ``value``.

        Any of several signals may have done that, so only what all of their clocks have in common is certain.
        """
        clocks = [signal.clock for signal in self._signals.get(fence, ()) if signal.value >= value]
        if not clocks:
            return
        common = {number: min(clock.get(number, 0) for clock in clocks) for number in clocks[0]}
        _join(self._cpu if queue is None else self._clock(queue), common)

    def begin(self, queue: WorkQueue, submitted_clock: Clock) -> None:
        """An execution of ``queue`` begins; ``submitted_clock`` is the CPU's clock at its submission."""
        clock, number = self._clock(queue), self._number(queue)
        _join(clock, submitted_clock)
        clock[number] = clock.get(number, 0) + 1

    def use(
        self, queue: WorkQueue, title: str, accesses: Iterable[Access], recorded: str
    ) -> Iterator[tuple[Rule, str]]:
        """Record the accesses of a command of ``queue``, and report the hazards with other queues.

        ``recorded`` is the call site that recorded the command, if known.
        """
        clock, number = self._clock(queue), self._number(queue)
        for access in accesses:
            queues = USES.setdefault(access.range.buffer.allocation, {})
            # Copies, since another device may be adding its own.
            for other, uses in list(queues.items()):
                known = clock.get(other, 0)
                if other != number:
                    for use in list(uses.values()):
                        if use.execution > known and use.conflicts(access):
                            yield sync_rules.QUEUE_WAIT, self._hazard_text(title, access, uses, use)
                            break
            queue_uses = queues.get(number)
            if queue_uses is None:
                queue_uses = queues[number] = Uses(self)
            queue_uses.queue = queue.owner.name
            self._record_use(queue_uses, number, _Use.of(clock.get(number, 0), title, recorded, access))

    def _record_use(self, uses: Uses, number: int, use: _Use) -> None:
        uses[use.start, use.end, use.use is AccessKind.READ] = use
        if len(uses) > uses.limit:
            known = self._cpu.get(number, 0)
            for key in [key for key, old in uses.items() if old.execution <= known]:
                del uses[key]
            # If uses must be kept because nothing waits, they are rescanned only when they have doubled, not at every
            # access.
            uses.limit = max(RANGES, 2 * len(uses))

    def _hazard_text(self, title: str, access: Access, uses: Uses, use: _Use) -> str:
        name, elsewhere = uses.queue, uses.of() is not self
        earlier = use.name if use.buffer() is access.range.buffer else use.where
        line = f" (recorded at {use.recorded})" if use.recorded else ""
        return (
            f"{title} {access.use.value} {access}, which {use.title} on another ID3D12CommandQueue"
            f"{f' {name!r}' if name else ''}{' of another ID3D12Device' if elsewhere else ''} {use.use.value} as "
            f"{earlier}{line}; {UNSYNCHRONIZED_DEVICES if elsewhere else UNSYNCHRONIZED_QUEUES}"
        )
