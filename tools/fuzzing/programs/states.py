"""The states of buffers in one ExecuteCommandLists: they begin in COMMON, and are promoted by their first use."""

from __future__ import annotations

from collections.abc import Sequence

from . import values as v
from .accesses import Touch

WRONG_STATE = "wrong state"


class States:
    def __init__(self, program: v.Program) -> None:
        self._buffers = program.buffers
        self._states: dict[str, str] = {}

    def of(self, buffer: str) -> str:
        return self._states.get(buffer, v.COMMON)

    def is_wrong(self, touch: Touch) -> bool:
        """Use a buffer; what is wrong is right from there on."""
        if self._buffers[touch.buffer].heap != v.DEFAULT:
            return False
        state = self.of(touch.buffer)
        self._states[touch.buffer] = touch.state
        return state not in (v.COMMON, touch.state)

    def is_wrongly_left(self, transition: v.Transition) -> bool:
        state = self.of(transition.buffer)
        self._states[transition.buffer] = transition.after
        return state not in (v.COMMON, transition.before)


def state_hazards(
    program: v.Program, commands: Sequence[v.Command], touched: Sequence[Sequence[Touch]]
) -> set[str]:
    states, wrong = States(program), False
    for command, touches in zip(commands, touched):
        if isinstance(command, v.Transition):
            wrong |= states.is_wrongly_left(command)
        for touch in touches:
            wrong |= states.is_wrong(touch)
    return {WRONG_STATE} if wrong else set()
