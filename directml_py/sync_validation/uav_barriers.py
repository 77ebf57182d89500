"""Missing UAV and aliasing barriers: hazards between commands that a GPU may run concurrently."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..runtime.recording import Access
from .range_map import RangeMap

if TYPE_CHECKING:
    from ..runtime.buffer import Buffer


class _Use(NamedTuple):
    """An access by command number ``number``, whose name is ``title``; ``recorded`` is its call site, if known."""

    number: int
    title: str
    access: Access
    recorded: str


class _Touched:
    """The accessed bytes of one buffer. Reads do not hide writes, nor writes reads."""

    def __init__(self) -> None:
        self.writes: RangeMap[_Use] = RangeMap()
        self.reads: RangeMap[_Use] = RangeMap()

    def add(self, use: _Use) -> None:
        ranges = self.writes if use.access.writes else self.reads
        ranges.put(*_extent(use.access), use)

    def conflicts(self, access: Access, since: int) -> Iterator[tuple[int, _Use]]:
        """The first write, and the first read, after command number ``since`` that ``access`` conflicts with, each
        after the address of its first byte."""
        for ranges in (self.writes, self.reads) if access.writes else (self.writes,):
            for start, _, use in ranges.parts(*_extent(access)):
                if use.number > since:
                    yield start, use
                    break


class AccessesSinceBarrier:
    """The accesses since the last barrier, as byte ranges.

    Command lists of one ExecuteCommandLists call may overlap on a GPU; those of different calls do not
    (nf-d3d12-id3d12commandqueue-executecommandlists). A barrier ends all use of memory through its resource, but none
    through others, so ranges are kept per resource.

    With ``aliased``, only conflicts through different resources count, including those within one command; without it,
    only conflicts of different commands through the same resource. ``missing`` names the barrier that they need.
    """

    def __init__(self, missing: str, aliased: bool = False) -> None:
        self._missing = missing
        self._aliased = aliased
        self._touched: dict[Buffer, _Touched] = {}
        # Sorted by start address; identities order buffers that start at the same one.
        self._buffers: list[tuple[int, int, Buffer]] = []
        self._widest = 0
        self._number = 0
        # For each pair of resources, the number of the last command before their latest aliasing barrier.
        self._aliasing_barriers: dict[tuple[Buffer | None, Buffer | None], int] = {}

    def barrier(self, buffer: Buffer | None) -> None:
        """Apply a UAV barrier or a transition of ``buffer``; None is a global UAV barrier."""
        if buffer is None:
            self._touched.clear()
            self._buffers.clear()
            self._widest = 0
        elif self._touched.pop(buffer, None) is not None:
            del self._buffers[bisect_left(self._buffers, _key(buffer))]

    def aliasing_barrier(self, before: Buffer | None, after: Buffer | None) -> None:
        """Apply an aliasing barrier: accesses to memory of ``after`` through ``before`` (None: any resource) end."""
        if self._aliased and after is not None:
            # It does not order third resources that share the memory.
            self._aliasing_barriers[before, after] = self._number
        elif before is not None or after is None:
            self.barrier(before)
        else:
            start, end = after.whole.gpu_address, after.whole.gpu_address + after.whole.size
            for buffer in list(self._sharing(start, end)):
                self.barrier(buffer)

    def command(self, title: str, accesses: Sequence[Access], recorded: str = "") -> list[str]:
        """Add a command. Returns a message for each access that conflicts with an earlier one.

        A message names the last access to the first byte that the two share.
        """
        messages = []
        self._number += 1
        uses = [_Use(self._number, title, access, recorded) for access in accesses]
        for use in uses:
            conflict = self._conflict(use.access)
            if conflict is not None:
                messages.append(self._message(use, conflict))
            if self._aliased:
                self._add(use)
        if not self._aliased:
            for use in uses:
                self._add(use)
        return messages

    def _message(self, use: _Use, conflict: _Use) -> str:
        access, earlier = use.access, conflict.access
        name = earlier.name if earlier.range.buffer is access.range.buffer else str(earlier)
        who = "it also" if conflict.number == use.number else conflict.title
        line = (
            f" (recorded at {conflict.recorded})"
            if conflict.recorded and conflict.number != use.number
            else ""
        )
        return (
            f"{use.title} {access.use.value} {access}, which {who} {earlier.use.value} as {name}{line}; there is no "
            f"{self._missing} between them"
        )

    def _conflict(self, access: Access) -> _Use | None:
        accessed, since = access.range.buffer, self._aliasing_barriers
        buffers: Iterable[Buffer] = (accessed,) if accessed in self._touched else ()
        if self._aliased:
            buffers = (buffer for buffer in self._sharing(*_extent(access)) if buffer is not accessed)
        conflicts = [
            conflict
            for buffer in buffers
            for conflict in self._touched[buffer].conflicts(
                access, max(since.get((buffer, accessed), -1), since.get((None, accessed), -1))
            )
        ]
        return (
            min(conflicts, key=lambda conflict: (conflict[0], -conflict[1].number))[1] if conflicts else None
        )

    def _add(self, use: _Use) -> None:
        buffer = use.access.range.buffer
        touched = self._touched.get(buffer)
        if touched is None:
            touched = self._touched[buffer] = _Touched()
            insort(self._buffers, (*_key(buffer), buffer))
            self._widest = max(self._widest, buffer.width)
        touched.add(use)

    def _sharing(self, start: int, end: int) -> Iterator[Buffer]:
        """The buffers that overlap these addresses; address ranges of different allocations never do."""
        for index in range(bisect_left(self._buffers, (start - self._widest,)), len(self._buffers)):
            begin, _, buffer = self._buffers[index]
            if begin >= end:
                return
            if begin + buffer.width > start:
                yield buffer


def _key(buffer: Buffer) -> tuple[int, int]:
    return buffer.whole.gpu_address, id(buffer)


def _extent(access: Access) -> tuple[int, int]:
    start = access.range.gpu_address
    return start, start + access.range.size
