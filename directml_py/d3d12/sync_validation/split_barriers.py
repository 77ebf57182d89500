"""Split barriers: between their halves a resource may not be touched, and changes state in no other way.

The halves may stand in different calls of ExecuteCommandLists: what has begun is kept as long as the device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from ...api.d3d12_enums import (
    D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY,
    D3D12_RESOURCE_BARRIER_FLAG_END_ONLY,
    D3D12_RESOURCE_STATES,
)
from .resource_states import state_name

if TYPE_CHECKING:
    from ..recorded_commands import TransitionBarrier
    from ..resource import Buffer
    from .access import Access

BEGIN_ONLY = D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY
END_ONLY = D3D12_RESOURCE_BARRIER_FLAG_END_ONLY


class _Begun(NamedTuple):
    """A first half; ``recorded`` is the line that recorded it, if it is known."""

    before: D3D12_RESOURCE_STATES
    after: D3D12_RESOURCE_STATES
    recorded: str

    def __str__(self) -> str:
        line = f" (recorded at {self.recorded})" if self.recorded else ""
        return f"from {state_name(self.before)} to {state_name(self.after)}{line}"


class SplitBarriers:
    def __init__(self) -> None:
        self._begun: WeakKeyDictionary[Buffer, _Begun] = WeakKeyDictionary()

    def transition(self, barrier: TransitionBarrier, recorded: str) -> str | None:
        """Note a barrier, whole or half; how it does not fit what has begun, or None."""
        buffer = barrier.buffer
        begun = self._begun.pop(buffer, None)
        this = _Begun(barrier.before, barrier.after, "")
        if barrier.flags & BEGIN_ONLY:
            self._begun[buffer] = this._replace(recorded=recorded)
        elif barrier.flags & END_ONLY:
            if begun is None:
                return f"{END_ONLY.name} ends a transition of {buffer} {this}, which nothing began"
            if begun[:2] != this[:2]:
                return (
                    f"{END_ONLY.name} ends a transition of {buffer} {this}, but the one that began is {begun}"
                )
            return None
        if begun is None:
            return None
        return f"a transition of {buffer} {this} stands behind the first half of one {begun}, and before its second"

    def use(self, access: Access) -> str | None:
        """What is wrong with touching the buffer now, or None."""
        begun = self._begun.get(access.range.buffer)
        if begun is None:
            return None
        return f"{access.use.value} {access} between the halves of its transition {begun}"
