"""Which bytes of an allocation have a defined value, and what undefined ones look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...api.d3d12_enums import D3D12_HEAP_TYPE_READBACK as READBACK
from ..allocation import PATTERN
from . import sync_rules
from .access import Access, AccessKind
from .range_map import RangeMap

if TYPE_CHECKING:
    from ...abi.rules import Rule
    from ..resource import BufferRange

DEFINED, UNDEFINED = 1, 0

Bytes = npt.NDArray[np.uint8]


class ShadowMemory:
    """One mark per byte of an allocation. Undefined bytes hold a pattern, so that results show it too."""

    def __init__(self, memory: Bytes, defined: bool) -> None:
        self._memory = memory
        self._marks = np.full(memory.size, DEFINED if defined else UNDEFINED, np.uint8)
        # What undefined bytes were copied from, by where they came to lie.
        self.copies: RangeMap[str] = RangeMap()
        if not defined:
            memory[:] = PATTERN

    def undefine(self, start: int, size: int) -> None:
        self._marks[start : start + size] = UNDEFINED
        self._memory[start : start + size] = PATTERN

    def marks(self, start: int, size: int) -> Bytes:
        return self._marks[start : start + size]


def _shadow(part: BufferRange) -> tuple[ShadowMemory | None, int]:
    placement = part.buffer.placement
    return placement.allocation.shadow, placement.offset + part.offset


def _all_defined(elements: npt.NDArray[Any]) -> Any:
    """What an element of the marks' view reads as if every one of its bytes is defined."""
    return np.full(elements.itemsize, DEFINED, np.uint8).view(elements.dtype)[0]


def first_undefined(access: Access) -> tuple[int, ...] | None:
    """The coordinates of the first element that an access reads though nothing has written it."""
    shadow, start = _shadow(access.range)
    if shadow is None:
        return None
    marks = shadow.marks(start, access.range.size)
    if marks.all():
        return None
    if access.elements is None:
        return (int(marks.argmin()),)
    elements = access.elements(marks)
    missing = elements != _all_defined(elements)
    return tuple(int(i) for i in np.argwhere(missing)[0]) if missing.any() else None


def why_undefined(access: Access) -> tuple[Rule, str]:
    """Which rule a read of undefined elements breaks, and how the sentence about them ends."""
    shadow, start = _shadow(access.range)
    assert shadow is not None
    for begin, end, source in shadow.copies.parts(start, start + access.range.size):
        if not shadow.marks(begin, end - begin).all():
            return sync_rules.UNDEFINED, f"is a copy of what nothing has written in {source}"
    return sync_rules.UNDEFINED, "nothing has written"


def copy_marks(destination: BufferRange, source: BufferRange) -> None:
    """A copy carries definedness with it: copying padding is no mistake, reading it is."""
    into, start = _shadow(destination)
    out_of, source_start = _shadow(source)
    marks = None if out_of is None else out_of.marks(source_start, source.size)
    if destination.buffer.heap_type == READBACK:
        is_undefined = marks is not None and not marks.any()
        _came_back(destination, str(source.buffer) if is_undefined else "")
    if into is not None:
        into.marks(start, destination.size)[:] = DEFINED if marks is None else marks
        if marks is not None and not marks.all():
            into.copies.put(start, start + destination.size, str(source.buffer))


def _came_back(part: BufferRange, undefined: str) -> None:
    part.buffer.results.put(part.offset, part.offset + part.size, undefined)


def nothing_but_undefined(read: BufferRange) -> tuple[int, int, str] | None:
    """Of what the CPU reads in a READBACK buffer, the first bytes that came there, and where from, if all of them are
    copies of what nothing has written. Padding between defined bytes is no mistake."""
    parts = list(read.buffer.results.parts(read.offset, read.offset + read.size))
    return parts[0] if parts and all(source for _, _, source in parts) else None


def after(access: Access) -> None:
    """What a write or the use as scratch memory leaves behind: elements are defined, the rest is not."""
    if access.writes and access.range.buffer.heap_type == READBACK:
        _came_back(access.range, "")
    shadow, start = _shadow(access.range)
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
