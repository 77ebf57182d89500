"""Reads of memory that nothing has written, usually because a copy or ExecuteCommandLists was forgotten.

Committed buffers begin as zeros, which may be meant. So the message is a warning, comes once for each resource, and is
only about reads that find not one byte that was written. Zeros that the CPU writes look like those that it does not
write: a buffer of an UPLOAD heap counts as written while it is mapped, and where Unmap says so.

When a program reads mapped memory cannot be seen, and some programs map a buffer of a READBACK heap before anything is
written to it. What a map has shown is therefore judged at its end: at Unmap, when the resource is released, or when the
program has submitted everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..abi.call_site import caller
from .host_memory import DEFINED, WRITTEN, ZEROED, extent, host_memory, is_fresh
from .shadow_memory import shadow_of

if TYPE_CHECKING:
    from ..runtime.buffer import Buffer, BufferRange


def unwritten_for_command(read: BufferRange) -> str | None:
    """What is wrong with a command's read of bytes that were never written, or are copies of such bytes. From then on
    the buffer counts as written."""
    shadow, start = shadow_of(read)
    if shadow is None:
        return _unwritten_by_cpu(read)
    if not read.size:
        return None
    marks = shadow.marks(start, read.size)
    # Most inputs are written from their first byte on.
    if marks[0] != ZEROED or marks.min() != ZEROED:
        return None
    source = next((source for _, _, source in shadow.copies.parts(start, start + read.size)), None)
    marks = shadow.marks(read.buffer.offset, read.buffer.width)
    marks[marks == ZEROED] = DEFINED
    # Code that acts as the GPU writes unseen.
    if read.bytes.any():
        return None
    if source is not None:
        return f"which holds only a copy of bytes of {source} that nothing has written"
    return "which nothing has written"


def _unwritten_by_cpu(read: BufferRange) -> str | None:
    """As ``unwritten_for_command``, for memory that the CPU can access."""
    host = host_memory(read)
    if host is None or not host.is_fresh(read):
        return None
    host.reach(read.buffer.whole)
    return "which nothing has written"


def unwritten_for_cpu(read: BufferRange, *, is_over: bool) -> str | None:
    """What is wrong with bytes of a READBACK heap that the CPU reads: they were never written, or, as long as the read
    is not over, are copies of bytes that were not. From then on the buffer counts as written."""
    host = host_memory(read)
    if host is None or not (read.size and read.buffer.is_read_back):
        return None
    parts = list(host.results.parts(*extent(read)))
    if any(result.mark != ZEROED for _, _, result in parts) or not (parts or is_over):
        return None
    # That the program has not waited is reported where it reads.
    if host.written_in_flight(read) is not None:
        return None
    if not is_fresh(read.bytes):
        return None
    host.results.put(*extent(read.buffer.whole), WRITTEN)
    if parts:
        return f"but holds only a copy of bytes of {parts[0][2].source} that nothing has written"
    return "but nothing has written to it since it was created"


class _Map:
    """Bytes that are mapped for reading although nothing has written them yet."""

    def __init__(self, read: BufferRange, judge: Callable[[_Map], None]) -> None:
        self.read = read
        self.call_site = caller()
        self._judge = judge

    def let_go_of_memory(self) -> None:
        self._judge(self)


class UnwrittenMaps:
    """The maps of a device's READBACK heaps that have shown nothing so far. ``report`` takes a message and
    where the program mapped."""

    def __init__(self, report: Callable[[str, str], None]) -> None:
        self._report = report
        self._open: set[_Map] = set()

    def begin(self, read: BufferRange) -> None:
        host = host_memory(read)
        if host is not None and read.buffer.is_read_back and not list(host.results.parts(*extent(read))):
            begun = _Map(read, self._judge)
            self._open.add(begun)
            read.buffer.add_dependent(begun)

    def end(self, buffer: Buffer | None = None) -> None:
        """The maps of ``buffer`` end, or all."""
        for begun in list(self._open):
            if buffer is None or begun.read.buffer is buffer:
                self._judge(begun)

    def _judge(self, begun: _Map) -> None:
        if begun in self._open:
            self._open.discard(begun)
            problem = unwritten_for_cpu(begun.read, is_over=True)
            if problem is not None:
                origin = begun.call_site and f"mapped at {begun.call_site}"
                self._report(f"{begun.read.buffer} was mapped for reading, {problem}", origin)
