"""The state of every buffer while command lists execute: barriers, promotion and decay.

Buffers begin and end each ExecuteCommandLists in COMMON and are promoted to whatever state their first use needs,
whatever initial state they were created with; the page "Using resource barriers" says so of buffers in DEFAULT
heaps. A transition from a state that COMMON can be promoted to is accepted from COMMON, as HelloDirectML does it.
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
    """``D3D12_RESOURCE_STATE_COPY_DEST``, or several joined by ``|``."""
    if state == COMMON:
        return COMMON.name or ""
    names = [
        member.name or ""
        for member in D3D12_RESOURCE_STATES
        if member.value and member.value & (member.value - 1) == 0 and member & state
    ]
    return "|".join(names)


class ResourceStates:
    """The states within one ExecuteCommandLists."""

    def __init__(self) -> None:
        self._states: dict[Buffer, D3D12_RESOURCE_STATES] = {}
        self._promoted: set[Buffer] = set()

    def of(self, buffer: Buffer) -> D3D12_RESOURCE_STATES:
        return self._states.get(buffer, COMMON)

    def begin(self, barrier: TransitionBarrier) -> str | None:
        """The first half of a transition: the buffer stays in StateBefore; what is wrong with that, or None."""
        return self._set(barrier, barrier.before)

    def transition(self, barrier: TransitionBarrier) -> str | None:
        """Apply a transition, or the second half of one; what is wrong with its StateBefore, or None."""
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
        """Promote the buffer for an access; what is wrong with its state, or None."""
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
        # One message for one mistake: what follows is checked as if the right transition had been there.
        self._states[buffer] = access.state
        self._promoted.discard(buffer)
        return (
            f"{access.name} needs {buffer} in {state_name(access.state)}, but it is in {state_name(current)}"
        )
