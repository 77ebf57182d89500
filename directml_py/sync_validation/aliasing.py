"""Memory aliasing: tracks through which placed resource the contents of shared memory were written.

The page of CreatePlacedResource defines two models. In the simple one, an aliasing barrier that names pResourceAfter
activates that resource and deactivates those that share its memory, whose contents become undefined. In the advanced
one, barriers may name no resource, and buffers inherit the contents of memory.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from ..api.d3d12_enums import D3D12_RESOURCE_STATE_COMMON
from ..runtime.allocation import PAGE
from ..runtime.buffer import BufferRange
from ..runtime.recording import Access, AccessKind
from . import sync_rules
from .range_map import RangeMap
from .shadow_memory import SHADOWS

if TYPE_CHECKING:
    from ..abi.rules import Rule
    from ..runtime.allocation import Allocation
    from ..runtime.buffer import Buffer


class _Owner(NamedTuple):
    """The buffer through which bytes were last written, or, with ``lost``, whose activation made them undefined.

    ``name`` outlives the buffer, which is held weakly. ``shared`` contents may be read through any buffer: a barrier
    with no pResourceAfter has followed the write.
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
            owners = self._owners.setdefault(buffer.allocation, RangeMap())
            owner = _Owner(weakref.ref(buffer), str(buffer), execution)
            owners.put(part.gpu_address, part.gpu_address + part.size, owner)

    def written_through(self, access: Access, execution: object) -> str | None:
        """The name of another resource through which another execution wrote the bytes that ``access`` reads, with no
        aliasing barrier since; None if there is none."""
        if access.writes:
            return None
        for _, _, owner in self._parts(access):
            foreign = owner.buffer() is not access.range.buffer and owner.execution is not execution
            if foreign and not (owner.lost or owner.shared):
                return owner.name
        return None

    def why_undefined(self, access: Access) -> tuple[Rule, str] | None:
        """As ``shadow_memory.why_undefined``, if an aliasing barrier made the contents undefined."""
        for _, _, owner in self._parts(access):
            if owner.lost:
                return sync_rules.ALIASING_CONTENTS, (
                    f"has not been written since an aliasing barrier activated {owner.name}"
                )
        return None

    def _parts(self, access: Access) -> Iterable[tuple[int, int, _Owner]]:
        owners = self._owners.get(access.range.buffer.allocation)
        start = access.range.gpu_address
        return () if owners is None else owners.parts(start, start + access.range.size)

    def barrier(self, before: Buffer | None, after: Buffer | None) -> None:
        """Apply an aliasing barrier; None stands for any resource."""
        if after is not None:
            self._activate(after)
            return
        for allocation, owners in self._owners.items():
            base = allocation.gpu_address
            for start, end, owner in list(owners.parts(base, base + allocation.bytes.size)):
                if before is None or owner.buffer() is before:
                    owners.put(start, end, owner._replace(shared=True))

    def _activate(self, buffer: Buffer) -> None:
        """Make contents written through other resources undefined, in all granules that ``buffer`` occupies."""
        allocation = buffer.allocation
        owners = self._owners.get(allocation)
        if owners is None:
            return
        base, part = allocation.gpu_address, activation(buffer).range
        for begin, stop, owner in list(owners.parts(part.gpu_address, part.gpu_address + part.size)):
            if owner.buffer() is not buffer and not owner.lost:
                owners.put(begin, stop, _Owner(weakref.ref(buffer), str(buffer), lost=True))
                shadow = SHADOWS.get(allocation)
                if shadow is not None:
                    shadow.undefine(begin - base, stop - begin)


def activation(buffer: Buffer) -> Access:
    """The access that activating ``buffer`` by an aliasing barrier counts as: a write of all granules it occupies."""
    available = buffer.allocation.bytes.size - buffer.offset
    size = min(-(-buffer.width // PAGE) * PAGE, available)
    return Access(
        BufferRange(buffer, 0, size), AccessKind.SCRATCH, D3D12_RESOURCE_STATE_COMMON, "pResourceAfter"
    )
