"""Resource state tracking while command lists execute: transitions, promotion and decay.

Whatever their initial state, buffers begin and end each ExecuteCommandLists in COMMON and are promoted to the state
that their first use needs; the page "Using resource barriers" specifies this for buffers in DEFAULT heaps. Programs
that track states without decay, as HelloDirectML does, name the state that a buffer was created in or left in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from ..abi.rules import Rule
from ..api.d3d12_enums import (
    D3D12_RESOURCE_STATE_COMMON,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_RESOURCE_STATE_STREAM_OUT,
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATE_VIDEO_DECODE_WRITE,
    D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE,
    D3D12_RESOURCE_STATE_VIDEO_PROCESS_WRITE,
    D3D12_RESOURCE_STATES,
)
from ..runtime.recording import Access
from .sync_rules import BEFORE, BEFORE_COMMON

if TYPE_CHECKING:
    from ..runtime.buffer import Buffer
    from ..runtime.recording import TransitionBarrier

COMMON = D3D12_RESOURCE_STATE_COMMON
# A write state excludes every other state (d3d12 "Using resource barriers").
WRITE_STATES = (
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_RESOURCE_STATE_STREAM_OUT,
    D3D12_RESOURCE_STATE_VIDEO_DECODE_WRITE,
    D3D12_RESOURCE_STATE_VIDEO_PROCESS_WRITE,
    D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE,
)


def state_name(state: int) -> str:
    """The names of the state flags, joined by ``|``."""
    if state == COMMON:
        return COMMON.name or ""
    names = [
        member.name or ""
        for member in D3D12_RESOURCE_STATES
        if member.value and member.value & (member.value - 1) == 0 and member & state
    ]
    return "|".join(names)


class _Left(NamedTuple):
    """The state after the last transition of a buffer, or its initial one, and the last state of any kind."""

    transitioned: int
    last: int


class DecayedStates:
    """The states that the buffers of a device were in when an ExecuteCommandLists ended, before they decayed."""

    def __init__(self) -> None:
        self._left: WeakKeyDictionary[Buffer, _Left] = WeakKeyDictionary()

    def of(self, buffer: Buffer) -> _Left:
        return self._left.get(buffer) or _Left(buffer.initial_state, buffer.initial_state)

    def used(self, buffer: Buffer, state: int) -> None:
        self._left[buffer] = self.of(buffer)._replace(last=state)

    def transitioned(self, buffer: Buffer, state: int) -> None:
        self._left[buffer] = _Left(state, state)


class ResourceStates:
    """The buffers' states within one ExecuteCommandLists."""

    def __init__(self, decayed: DecayedStates) -> None:
        self._decayed = decayed
        self._states: dict[Buffer, int] = {}
        self._promoted: set[Buffer] = set()

    def of(self, buffer: Buffer) -> int:
        return self._states.get(buffer, COMMON)

    def begin(self, barrier: TransitionBarrier) -> tuple[Rule, str] | None:
        """Apply the first half of a transition, which leaves the buffer in StateBefore. Returns a mismatch of
        StateBefore, or None."""
        return self._set(barrier, barrier.before)

    def transition(self, barrier: TransitionBarrier) -> tuple[Rule, str] | None:
        """Apply a transition, or the second half of one. Returns a mismatch of StateBefore, or None."""
        return self._set(barrier, barrier.after)

    def _set(self, barrier: TransitionBarrier, state: int) -> tuple[Rule, str] | None:
        problem = self._mismatch(barrier.buffer, barrier.before)
        self._states[barrier.buffer] = state
        self._promoted.discard(barrier.buffer)
        self._decayed.transitioned(barrier.buffer, state)
        return problem

    def _mismatch(self, buffer: Buffer, before: int) -> tuple[Rule, str] | None:
        text = f"StateBefore of {buffer} is {state_name(before)}, but it is in {state_name(self.of(buffer))}"
        if buffer in self._states:
            return None if before == self._states[buffer] else (BEFORE, text)
        if before == COMMON or before in self._decayed.of(buffer):
            return None
        return BEFORE_COMMON, f"{text}, and was left in {state_name(self._decayed.of(buffer).last)}"

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
            self._decayed.used(buffer, current | access.state)
            self._promoted.add(buffer)
            return None
        # One message per mistake: later commands are checked as if the required transition had been recorded.
        self._states[buffer] = access.state
        self._decayed.used(buffer, access.state)
        self._promoted.discard(buffer)
        return (
            f"{access.name} needs {buffer} in {state_name(access.state)}, but it is in {state_name(current)}"
        )
