"""Shadow memory: tracks which bytes of an allocation are defined, and poisons undefined ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..runtime.allocation import PATTERN
from ..runtime.recording import Access, AccessKind
from . import sync_rules
from .host_memory import DEFINED, UNDEFINED, WRITTEN, ZEROED, Result, extent, host_memory
from .range_map import RangeMap

if TYPE_CHECKING:
    from ..abi.rules import Rule
    from ..runtime.allocation import Allocation
    from ..runtime.buffer import BufferRange
    from ..runtime.recording import Command

Bytes = npt.NDArray[np.uint8]


class ShadowMemory:
    """One mark per byte of an allocation. Undefined bytes are filled with a pattern, so that they show in results."""

    def __init__(self, memory: Bytes, defined: bool) -> None:
        self._memory = memory
        self._marks = np.full(memory.size, ZEROED if defined else UNDEFINED, np.uint8)
        # The sources that undefined and unwritten bytes were copied from, by destination range.
        self.copies: RangeMap[str] = RangeMap()
        if not defined:
            memory[:] = PATTERN

    def undefine(self, start: int, size: int) -> None:
        self._marks[start : start + size] = UNDEFINED
        self._memory[start : start + size] = PATTERN

    def marks(self, start: int, size: int) -> Bytes:
        return self._marks[start : start + size]


SHADOWS: Final[WeakKeyDictionary[Allocation, ShadowMemory]] = WeakKeyDictionary()


def shadow_of(part: BufferRange) -> tuple[ShadowMemory | None, int]:
    return SHADOWS.get(part.buffer.allocation), part.buffer.offset + part.offset


def _all_defined(elements: npt.NDArray[Any]) -> Any:
    """The value of a fully defined element in a view of the marks."""
    return np.full(elements.itemsize, DEFINED, np.uint8).view(elements.dtype)[0]


def first_undefined(access: Access) -> tuple[int, ...] | None:
    """The coordinates of the first undefined element that an access reads; None if all are defined."""
    shadow, start = shadow_of(access.range)
    if shadow is None:
        return None
    marks = shadow.marks(start, access.range.size)
    if marks.all():
        return None
    if access.elements is None:
        return (int(marks.argmin()),)
    elements = access.elements(np.minimum(marks, DEFINED))
    undefined = elements != _all_defined(elements)
    return tuple(int(i) for i in np.argwhere(undefined)[0]) if undefined.any() else None


def why_undefined(access: Access) -> tuple[Rule, str]:
    """The rule that a read of undefined elements violates, and the end of the message about it."""
    shadow, start = shadow_of(access.range)
    assert shadow is not None
    for begin, end, source in shadow.copies.parts(start, start + access.range.size):
        if not shadow.marks(begin, end - begin).all():
            return sync_rules.UNDEFINED, f"is a copy of unwritten bytes of {source}"
    return sync_rules.UNDEFINED, "was never written"


def copy_marks(destination: BufferRange, source: BufferRange) -> None:
    """Copy the marks along with the bytes: copying undefined bytes, such as padding, is valid; reading them is not."""
    destination_shadow, start = shadow_of(destination)
    source_shadow, source_start = shadow_of(source)
    marks = None if source_shadow is None else source_shadow.marks(source_start, source.size)
    mark = _host_mark(source) if marks is None else uniform_mark(marks)
    origin = str(source.buffer) if mark == DEFINED else _origin(source)
    _record_result(destination, WRITTEN if mark == DEFINED else Result(mark, origin))
    if destination_shadow is not None:
        destination_shadow.marks(start, destination.size)[:] = mark if marks is None else marks
        if mark != DEFINED or (marks is not None and not marks.all()):
            destination_shadow.copies.put(start, start + destination.size, origin)


def _origin(part: BufferRange) -> str:
    """The buffer that was not written, of which ``part`` is, or holds, a copy."""
    shadow, start = shadow_of(part)
    copies = () if shadow is None else shadow.copies.parts(start, start + part.size)
    return next((source for _, _, source in copies), str(part.buffer))


def _host_mark(source: BufferRange) -> int:
    """The mark of memory that has no marks, as the CPU can access it."""
    host = host_memory(source)
    if host is None or not host.is_fresh(source):
        return DEFINED
    return UNDEFINED if source.bytes[0] else ZEROED


def uniform_mark(marks: Bytes) -> int:
    """The mark of all bytes; DEFINED if they differ."""
    first = int(marks[0]) if marks.size else DEFINED
    return first if first == DEFINED or (marks == first).all() else DEFINED


def _record_result(part: BufferRange, result: Result) -> None:
    host = host_memory(part)
    if host is not None:
        host.results.put(*extent(part), result)


def after_command(command: Command) -> None:
    """Update the marks of what a command has written."""
    copied = command.copied()
    if copied is not None:
        copy_marks(*copied)
    elif command.took_effect:
        for access in command.accesses():
            after(access)


def after(access: Access) -> None:
    """Update the marks after an access: written elements become defined; padding between them and scratch memory become
    undefined."""
    if access.writes:
        _record_result(access.range, WRITTEN)
    shadow, start = shadow_of(access.range)
    if shadow is None or access.use is AccessKind.READ:
        return
    size = access.range.size
    marks = shadow.marks(start, size)
    if access.use is AccessKind.SCRATCH:
        shadow.undefine(start, size)
    elif access.elements is None:
        marks[:] = DEFINED
    else:
        marks[:] = UNDEFINED
        elements = access.elements(marks)
        elements[...] = _all_defined(elements)
        access.range.bytes[marks == UNDEFINED] = PATTERN
