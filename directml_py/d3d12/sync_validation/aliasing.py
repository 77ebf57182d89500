"""Resources that share memory: through which of them its contents came.

The page of CreatePlacedResource has two models. In the simple one an aliasing barrier that names pResourceAfter makes
that resource active and those that share memory with it inactive: no contents pass from one to the other, and none
outlast it. In the advanced one barriers need name nobody, and buffers inherit what is in memory.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from ...api.d3d12_enums import D3D12_RESOURCE_STATE_COMMON
from ..d3d12_constants import D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT
from ..resource import BufferRange
from . import sync_rules
from .access import Access, AccessKind
from .range_map import RangeMap

if TYPE_CHECKING:
    from ...abi.rules import Rule
    from ..allocation import Allocation
    from ..resource import Buffer

GRANULE = D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT


class _Owner(NamedTuple):
    """Through which buffer bytes were written, or, with ``lost``, were made undefined by its activation.

    ``name`` outlives the buffer, which nothing here keeps alive. ``shared`` contents are anybody's: a barrier that
    names no resource after it stood behind their writing.
    """

    buffer: weakref.ref[Buffer]
    name: str
    execution: object = None
    lost: bool = False
    shared: bool = False


class AliasingTracker:
    def __init__(self) -> None:
        self._owners: WeakKeyDictionary[Allocation, RangeMap[_Owner]] = WeakKeyDictionary()

    def touched(self, access: Access, execution: object) -> None:
        if access.writes:
            buffer, part = access.range.buffer, access.range
            owners = self._owners.setdefault(buffer.placement.allocation, RangeMap())
            owner = _Owner(weakref.ref(buffer), str(buffer), execution)
            owners.put(part.gpu_address, part.gpu_address + part.size, owner)

    def written_through(self, access: Access, execution: object) -> str | None:
        """Through which other resource another execution wrote what is read here, with no aliasing barrier since."""
        if access.writes:
            return None
        for _, _, owner in self._parts(access):
            other = owner.buffer() is not access.range.buffer and owner.execution is not execution
            if other and not (owner.lost or owner.shared):
                return owner.name
        return None

    def why_undefined(self, access: Access) -> tuple[Rule, str] | None:
        """As ``shadow.why_undefined``, if an aliasing barrier is to blame."""
        for _, _, owner in self._parts(access):
            if owner.lost:
                return sync_rules.ALIASING_CONTENTS, (
                    f"nothing has written since an aliasing barrier activated {owner.name}"
                )
        return None

    def _parts(self, access: Access) -> Iterable[tuple[int, int, _Owner]]:
        owners = self._owners.get(access.range.buffer.placement.allocation)
        start = access.range.gpu_address
        return () if owners is None else owners.parts(start, start + access.range.size)

    def barrier(self, before: Buffer | None, after: Buffer | None) -> None:
        """An aliasing barrier; None stands for any resource."""
        if after is not None:
            self._activate(after)
            return
        for allocation, owners in self._owners.items():
            base = allocation.gpu_address
            for start, end, owner in list(owners.parts(base, base + allocation.bytes.size)):
                if before is None or owner.buffer() is before:
                    owners.put(start, end, owner._replace(shared=True))

    def _activate(self, buffer: Buffer) -> None:
        """What others left in the memory of ``buffer`` is gone, down to the granularity of placed buffers."""
        allocation = buffer.placement.allocation
        owners = self._owners.get(allocation)
        if owners is None:
            return
        base, part = allocation.gpu_address, activation(buffer).range
        for begin, stop, owner in list(owners.parts(part.gpu_address, part.gpu_address + part.size)):
            if owner.buffer() is not buffer and not owner.lost:
                owners.put(begin, stop, _Owner(weakref.ref(buffer), str(buffer), lost=True))
                if allocation.shadow is not None:
                    allocation.shadow.undefine(begin - base, stop - begin)


def activation(buffer: Buffer) -> Access:
    """What an aliasing barrier does that names ``buffer`` behind it: as if all granules of its memory were written."""
    room = buffer.placement.allocation.bytes.size - buffer.placement.offset
    size = min(-(-buffer.width // GRANULE) * GRANULE, room)
    return Access(
        BufferRange(buffer, 0, size), AccessKind.SCRATCH, D3D12_RESOURCE_STATE_COMMON, "pResourceAfter"
    )
