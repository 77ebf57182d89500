"""Split barriers: between the halves of one, its resource must be neither accessed nor transitioned.

The halves may be in different ExecuteCommandLists calls, so pending first halves are tracked per device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from ..abi.rules import Rule
from ..api.d3d12_enums import (
    D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY,
    D3D12_RESOURCE_BARRIER_FLAG_END_ONLY,
)
from .resource_states import state_name
from .sync_rules import SPLIT_ACROSS, SPLIT_HALVES

if TYPE_CHECKING:
    from ..runtime.buffer import Buffer
    from ..runtime.recording import Access, TransitionBarrier

BEGIN_ONLY = D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY
END_ONLY = D3D12_RESOURCE_BARRIER_FLAG_END_ONLY


class _FirstHalf(NamedTuple):
    """A first half; ``recorded`` is the call site that recorded it, if known, ``execution`` its ExecuteCommandLists.

    One mistake is one message: one that is ``told`` is not reported again.
    """

    before: int
    after: int
    recorded: str = ""
    execution: int = 0
    told: bool = False

    def __str__(self) -> str:
        line = f" (recorded at {self.recorded})" if self.recorded else ""
        return f"from {state_name(self.before)} to {state_name(self.after)}{line}"


class SplitBarriers:
    def __init__(self) -> None:
        self._pending: WeakKeyDictionary[Buffer, _FirstHalf] = WeakKeyDictionary()

    def transition(
        self, barrier: TransitionBarrier, recorded: str, execution: int
    ) -> tuple[Rule, str] | None:
        """Record a transition, whole or half. Returns how it does not fit the pending first half, or None."""
        buffer = barrier.buffer
        pending = self._pending.pop(buffer, None)
        current = _FirstHalf(barrier.before, barrier.after)
        if barrier.flags & BEGIN_ONLY:
            self._pending[buffer] = current._replace(recorded=recorded, execution=execution)
        elif barrier.flags & END_ONLY:
            return self._end(buffer, current, pending, execution)
        if pending is None:
            return None
        text = f"a transition of {buffer} {current} is between the first half of one {pending} and its second half"
        return SPLIT_HALVES, text

    @staticmethod
    def _end(
        buffer: Buffer, current: _FirstHalf, pending: _FirstHalf | None, execution: int
    ) -> tuple[Rule, str] | None:
        text = f"{END_ONLY.name} ends a transition of {buffer} {current}"
        if pending is None:
            return SPLIT_HALVES, f"{text}, which has no first half"
        if pending[:2] != current[:2]:
            return SPLIT_HALVES, f"{text}, but the one that began is {pending}"
        if pending.execution != execution and not pending.told:
            return (
                SPLIT_ACROSS,
                f"{text}, which began in an earlier ExecuteCommandLists; a whole transition does the same",
            )
        return None

    def use(self, access: Access) -> str | None:
        """Why the buffer must not be accessed now, or None."""
        buffer = access.range.buffer
        pending = self._pending.get(buffer)
        if pending is None:
            return None
        self._pending[buffer] = pending._replace(told=True)
        return f"{access.use.value} {access} between the halves of its transition {pending}"

    def begun(self) -> Iterator[str]:
        """Transitions that have begun but not ended, when nothing more is submitted; each is reported once."""
        for buffer, pending in list(self._pending.items()):
            if not pending.told:
                self._pending[buffer] = pending._replace(told=True)
                yield f"the transition of {buffer} {pending} has begun, but does not end"
