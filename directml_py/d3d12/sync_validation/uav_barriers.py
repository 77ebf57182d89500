"""Commands that a GPU may run at once: those with no barrier between them."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .access import Access
from .range_map import LastAccess, RangeMap

if TYPE_CHECKING:
    from ..resource import Buffer


class _Use(NamedTuple):
    """What the command ``title``, the ``turn``-th, did; ``recorded`` is the line that recorded it, if it is known."""

    turn: int
    title: str
    access: Access
    recorded: str


class _Touched:
    """The bytes of one buffer that commands touched. Reads do not hide writes, nor writes reads."""

    def __init__(self) -> None:
        self.writes: RangeMap[_Use] = RangeMap()
        self.reads: RangeMap[_Use] = RangeMap()

    def add(self, use: _Use) -> None:
        ranges = self.writes if use.access.writes else self.reads
        ranges.put(*_extent(use.access), use)

    def conflicts(self, access: Access, since: int) -> Iterator[LastAccess[_Use]]:
        """The first write, and the first read, after the turn ``since`` that ``access`` may not run beside."""
        for ranges in (self.writes, self.reads) if access.writes else (self.writes,):
            for start, _, use in ranges.parts(*_extent(access)):
                if use.turn > since:
                    yield LastAccess(start, use)
                    break


class AccessesSinceBarrier:
    """What the commands since the last barrier touched, at byte-range precision.

    Command lists that one ExecuteCommandLists executes may overlap on a GPU, those of different calls do not
    (nf-d3d12-id3d12commandqueue-executecommandlists). Barriers are about resources: one ends all use of the memory
    through its resource and none through others, so each has ranges of its own.

    ``aliased`` looks at uses through other resources alone, also by one command, else at those by other commands
    through the same one: they need other barriers, those of ``missing``.
    """

    def __init__(self, missing: str, aliased: bool = False) -> None:
        self._missing = missing
        self._aliased = aliased
        self._touched: dict[Buffer, _Touched] = {}
        # By where they begin; identities order those of one heap that begin together.
        self._buffers: list[tuple[int, int, Buffer]] = []
        self._widest = 0
        self._turn = 0
        # The turn after which aliasing barriers came, by what they name; those before it are of no interest.
        self._handed_over: dict[tuple[Buffer | None, Buffer | None], int] = {}

    def barrier(self, buffer: Buffer | None) -> None:
        """A UAV barrier or a transition of ``buffer``; None is a UAV barrier for everything."""
        if buffer is None:
            self._touched.clear()
            self._buffers.clear()
            self._widest = 0
        elif self._touched.pop(buffer, None) is not None:
            del self._buffers[bisect_left(self._buffers, _key(buffer))]

    def aliasing_barrier(self, before: Buffer | None, after: Buffer | None) -> None:
        """What used the memory of ``after`` through ``before`` (None: any resource) has ended."""
        if self._aliased and after is not None:
            # It says nothing of third resources that share the memory.
            self._handed_over[before, after] = self._turn
        elif before is not None or after is None:
            self.barrier(before)
        else:
            start, end = after.whole.gpu_address, after.whole.gpu_address + after.whole.size
            for buffer in list(self._sharing(start, end)):
                self.barrier(buffer)

    def command(self, title: str, accesses: Sequence[Access], recorded: str = "") -> list[str]:
        """Add a command; a sentence for each access that an earlier one may not run beside.

        It names who was the last to touch the first byte that they share.
        """
        sentences = []
        self._turn += 1
        uses = [_Use(self._turn, title, access, recorded) for access in accesses]
        for use in uses:
            found = self._conflict(use.access)
            if found is not None:
                sentences.append(self._sentence(use, found))
            if self._aliased:
                self._add(use)
        if not self._aliased:
            for use in uses:
                self._add(use)
        return sentences

    def _sentence(self, use: _Use, found: _Use) -> str:
        access, earlier = use.access, found.access
        name = earlier.name if earlier.range.buffer is access.range.buffer else str(earlier)
        who = "it also" if found.turn == use.turn else found.title
        line = f" (recorded at {found.recorded})" if found.recorded and found.turn != use.turn else ""
        return (
            f"{use.title} {access.use.value} {access}, which {who} {earlier.use.value} as {name}{line}; there is no "
            f"{self._missing} between them"
        )

    def _conflict(self, access: Access) -> _Use | None:
        own, since = access.range.buffer, self._handed_over
        buffers: Iterable[Buffer] = (own,) if own in self._touched else ()
        if self._aliased:
            buffers = (buffer for buffer in self._sharing(*_extent(access)) if buffer is not own)
        found = [
            one
            for buffer in buffers
            for one in self._touched[buffer].conflicts(
                access, max(since.get((buffer, own), -1), since.get((None, own), -1))
            )
        ]
        return min(found, key=lambda one: (one.address, -one.by.turn)).by if found else None

    def _add(self, use: _Use) -> None:
        buffer = use.access.range.buffer
        touched = self._touched.get(buffer)
        if touched is None:
            touched = self._touched[buffer] = _Touched()
            insort(self._buffers, (*_key(buffer), buffer))
            self._widest = max(self._widest, buffer.width)
        touched.add(use)

    def _sharing(self, start: int, end: int) -> Iterator[Buffer]:
        """The buffers that reach into these addresses; those of different allocations never do."""
        for place in range(bisect_left(self._buffers, (start - self._widest,)), len(self._buffers)):
            begin, _, buffer = self._buffers[place]
            if begin >= end:
                return
            if begin + buffer.width > start:
                yield buffer


def _key(buffer: Buffer) -> tuple[int, int]:
    return buffer.whole.gpu_address, id(buffer)


def _extent(access: Access) -> tuple[int, int]:
    start = access.range.gpu_address
    return start, start + access.range.size
