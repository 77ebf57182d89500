"""What each queue of a device knows of the others: vector clocks over fences.

A queue counts what it executes. A signal carries what its queue knows; a wait learns what those signals tell that can
have ended it. The CPU takes part too: it learns by looking at fences, and what it submits knows what it knows.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from . import sync_rules
from .access import AccessKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...abi.rules import Rule
    from ..allocation import Allocation
    from ..fence import FenceValue
    from ..resource import Buffer
    from ..scheduler import WorkQueue
    from .access import Access

# How many signals of a fence are remembered. A wait for earlier ones learns as much as from the oldest.
SIGNALS: Final = 64
# How many ranges of one queue are remembered for an allocation before those that the CPU has waited for are forgotten.
RANGES: Final = 256

Clock = dict[int, int]


def _join(one: Clock, other: Mapping[int, int]) -> None:
    for queue, count in other.items():
        one[queue] = max(count, one.get(queue, 0))


class _Signal(NamedTuple):
    value: int
    clock: Clock


class _Use(NamedTuple):
    """The last access of its kind to a range, in the ``turn``-th execution of a queue.

    It keeps no memory alive: what is known of an allocation ends with it.
    """

    turn: int
    title: str
    recorded: str
    use: AccessKind
    name: str
    start: int
    end: int
    where: str
    buffer: weakref.ref[Buffer]

    @staticmethod
    def of(turn: int, title: str, recorded: str, access: Access) -> _Use:
        start, end = access.range.gpu_address, access.range.gpu_address + access.range.size
        where = "" if access.range.buffer.placement.heap is None else str(access)
        reference = weakref.ref(access.range.buffer)
        return _Use(turn, title, recorded, access.use, access.name, start, end, where, reference)

    def conflicts(self, access: Access) -> bool:
        start = access.range.gpu_address
        shared = max(self.start, start) < min(self.end, start + access.range.size)
        return shared and (access.writes or self.use is not AccessKind.READ)


class _Uses(dict[object, _Use]):
    """What one queue did with an allocation, by range and kind; above ``limit`` some is forgotten, if any can be."""

    limit = RANGES


class HappensBefore:
    """Called while work runs or under the lock of the device, by one thread at a time."""

    def __init__(self) -> None:
        self._cpu: Clock = {}
        self._queues: WeakKeyDictionary[WorkQueue, Clock] = WeakKeyDictionary()
        self._numbers: WeakKeyDictionary[WorkQueue, int] = WeakKeyDictionary()
        self._names: dict[int, str] = {}
        self._signals: WeakKeyDictionary[FenceValue, deque[_Signal]] = WeakKeyDictionary()
        self._uses: WeakKeyDictionary[Allocation, dict[int, _Uses]] = WeakKeyDictionary()

    def _number(self, queue: WorkQueue) -> int:
        number = self._numbers.get(queue)
        if number is None:
            number = self._numbers[queue] = len(self._names)
            self._names[number] = ""
        return number

    def _clock(self, queue: WorkQueue) -> Clock:
        return self._queues.setdefault(queue, {})

    def submitted(self) -> Clock:
        """What the CPU knows at this moment."""
        return dict(self._cpu)

    def signaled(self, fence: FenceValue, value: int, queue: WorkQueue | None) -> None:
        """``queue``, or the CPU, has set ``fence``."""
        clock = dict(self._cpu if queue is None else self._clock(queue))
        signals = self._signals.setdefault(fence, deque(maxlen=SIGNALS))
        # What a value once said says nothing any more when the fence has gone back behind it.
        if signals and value < signals[-1].value:
            signals.clear()
        signals.append(_Signal(value, clock))

    def waited(self, fence: FenceValue, value: int, queue: WorkQueue | None) -> None:
        """``queue``, or the CPU, knows that ``fence`` has reached ``value``.

        One of several signals can have brought it there, so that what all of them tell is what is known.
        """
        clocks = [signal.clock for signal in self._signals.get(fence, ()) if signal.value >= value]
        if not clocks:
            return
        common = {number: min(clock.get(number, 0) for clock in clocks) for number in clocks[0]}
        _join(self._cpu if queue is None else self._clock(queue), common)

    def begin(self, queue: WorkQueue, then: Clock) -> None:
        """An execution of ``queue`` begins, which was submitted when the CPU knew ``then``."""
        clock, number = self._clock(queue), self._number(queue)
        _join(clock, then)
        clock[number] = clock.get(number, 0) + 1
        self._names[number] = queue.owner.name

    def use(
        self, queue: WorkQueue, title: str, accesses: Iterable[Access], recorded: str
    ) -> Iterator[tuple[Rule, str]]:
        """Note what a command of ``queue`` touches; what of it other queues touch without a fence between them.

        ``recorded`` is the line that recorded it, if it is known.
        """
        clock, number = self._clock(queue), self._number(queue)
        for access in accesses:
            allocation = access.range.buffer.placement.allocation
            queues = self._uses.setdefault(allocation, {})
            for other, uses in queues.items():
                known = clock.get(other, 0)
                if other != number:
                    for use in uses.values():
                        if use.turn > known and use.conflicts(access):
                            yield sync_rules.QUEUE_WAIT, self._sentence(title, access, other, use)
                            break
            use = _Use.of(clock.get(number, 0), title, recorded, access)
            self._note(queues.setdefault(number, _Uses()), number, use)

    def _note(self, uses: _Uses, number: int, use: _Use) -> None:
        uses[use.start, use.end, use.use is AccessKind.READ] = use
        if len(uses) > uses.limit:
            known = self._cpu.get(number, 0)
            for key in [key for key, old in uses.items() if old.turn <= known]:
                del uses[key]
            # Of what must be kept, as long as nobody waits, each is looked at a few times and not at every access.
            uses.limit = max(RANGES, 2 * len(uses))

    def _sentence(self, title: str, access: Access, other: int, use: _Use) -> str:
        name = self._names[other]
        earlier = use.name if use.buffer() is access.range.buffer else use.where
        line = f" (recorded at {use.recorded})" if use.recorded else ""
        return (
            f"{title} {access.use.value} {access}, which {use.title} on another ID3D12CommandQueue"
            f"{f' {name!r}' if name else ''} {use.use.value} as {earlier}{line}; neither queue waits for a fence that "
            "the other one signals after it"
        )
