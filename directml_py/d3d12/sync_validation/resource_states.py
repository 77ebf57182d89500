"""Resource state tracking while command lists execute: transitions, promotion and decay.

Whatever their initial state, buffers begin and end each ExecuteCommandLists in COMMON and are promoted to the state
that their first use needs; the page "Using resource barriers" specifies this for buffers in DEFAULT heaps. A transition
from a state that COMMON can be promoted to is accepted in COMMON, as HelloDirectML relies on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...api.d3d12_enums import D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATES
from ..buffer_states import WRITE_STATES
from .access import Access

if TYPE_CHECKING:
    from ..recorded_commands import TransitionBarrier
    from ..resource import Buffer

COMMON = D3D12_RESOURCE_STATE_COMMON


def state_name(state: D3D12_RESOURCE_STATES) -> str:
    """The names of the state flags, joined by ``|``."""
    if state == COMMON:
        return COMMON.name or ""
    names = [
        member.name or ""
        for member in D3D12_RESOURCE_STATES
        if member.value and member.value & (member.value - 1) == 0 and member & state
    ]
    return "|".join(names)


class ResourceStates:
    """The buffers' states within one ExecuteCommandLists."""

    def __init__(self) -> None:
        self._states: dict[Buffer, D3D12_RESOURCE_STATES] = {}
        self._promoted: set[Buffer] = set()

    def of(self, buffer: Buffer) -> D3D12_RESOURCE_STATES:
        return self._states.get(buffer, COMMON)

    def begin(self, barrier: TransitionBarrier) -> str | None:
        """Apply the first half of a transition, which leaves the buffer in StateBefore. Returns a mismatch of
        StateBefore, or None."""
        return self._set(barrier, barrier.before)

    def transition(self, barrier: TransitionBarrier) -> str | None:
        """Apply a transition, or the second half of one. Returns a mismatch of StateBefore, or None."""
        return self._set(barrier, barrier.after)

    def _set(self, barrier: TransitionBarrier, state: D3D12_RESOURCE_STATES) -> str | None:
        buffer = barrier.buffer
        current = self.of(buffer)
        self._states[buffer] = state
        self._promoted.discard(buffer)
        if current in (COMMON, barrier.before):
            return None
        return f"StateBefore of {buffer} is {state_name(barrier.before)}, but it is in {state_name(current)}"

    def use(self, access: Access) -> str | None:
        """Promote the buffer for an access. Returns a state mismatch, or None."""
        buffer = access.range.buffer
        if buffer.has_fixed_state:
            return None
        current = self.of(buffer)
        if current & access.state == access.state and current != COMMON:
            return None
        reads = access.state not in WRITE_STATES
        if current == COMMON or (buffer in self._promoted and reads and current not in WRITE_STATES):
            self._states[buffer] = current | access.state
            self._promoted.add(buffer)
            return None
        # One message per mistake: what follows is checked as if the required transition had been recorded.
        self._states[buffer] = access.state
        self._promoted.discard(buffer)
        return (
            f"{access.name} needs {buffer} in {state_name(access.state)}, but it is in {state_name(current)}"
        )
