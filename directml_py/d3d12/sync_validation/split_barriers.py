"""Split barriers: between the halves of one, its resource must be neither accessed nor transitioned.

The halves may be in different ExecuteCommandLists calls, so pending first halves are tracked per device.
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


class _FirstHalf(NamedTuple):
    """A first half; ``recorded`` is the call site that recorded it, if known."""

    before: D3D12_RESOURCE_STATES
    after: D3D12_RESOURCE_STATES
    recorded: str

    def __str__(self) -> str:
        line = f" (recorded at {self.recorded})" if self.recorded else ""
        return f"from {state_name(self.before)} to {state_name(self.after)}{line}"


class SplitBarriers:
    def __init__(self) -> None:
        self._pending: WeakKeyDictionary[Buffer, _FirstHalf] = WeakKeyDictionary()

    def transition(self, barrier: TransitionBarrier, recorded: str) -> str | None:
        """Record a transition, whole or half. Returns how it conflicts with a pending first half, or None."""
        buffer = barrier.buffer
        pending = self._pending.pop(buffer, None)
        current = _FirstHalf(barrier.before, barrier.after, "")
        if barrier.flags & BEGIN_ONLY:
            self._pending[buffer] = current._replace(recorded=recorded)
        elif barrier.flags & END_ONLY:
            if pending is None:
                return f"{END_ONLY.name} ends a transition of {buffer} {current}, which has no first half"
            if pending[:2] != current[:2]:
                return f"{END_ONLY.name} ends a transition of {buffer} {current}, but the one that began is {pending}"
            return None
        if pending is None:
            return None
        return f"a transition of {buffer} {current} is between the first half of one {pending} and its second half"

    def use(self, access: Access) -> str | None:
        """Why the buffer must not be accessed now, or None."""
        pending = self._pending.get(access.range.buffer)
        if pending is None:
            return None
        return f"{access.use.value} {access} between the halves of its transition {pending}"
