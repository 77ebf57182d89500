"""Resource states in one ExecuteCommandLists: buffers start in COMMON and are promoted by their first use."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from . import program_values as v
from .memory_accesses import Touch

WRONG_STATE, SPLIT, ASSUMED = "wrong state", "a split barrier", "a state from before the decay"


class States:
    def __init__(self, program: v.FuzzProgram) -> None:
        self._buffers = program.buffers
        self._states: dict[str, str] = {}
        # Begun split transitions, by buffer.
        self.begun: dict[str, v.TransitionCall] = {}

    def of(self, buffer: str) -> str:
        return self._states.get(buffer, v.COMMON)

    def is_wrong(self, touch: Touch) -> bool:
        """Use a buffer; returns whether its state is wrong. The required state is assumed from then on."""
        if self._buffers[touch.buffer].heap != v.DEFAULT:
            return False
        state = self.of(touch.buffer)
        self._states[touch.buffer] = touch.state
        return state not in (v.COMMON, touch.state)

    def is_wrongly_left(self, transition: v.TransitionCall) -> bool:
        wrong = transition.buffer in self._states and self.of(transition.buffer) != transition.before
        self._states[transition.buffer] = (
            transition.before if transition.half == v.BEGIN else transition.after
        )
        return wrong

    def is_assumed(self, transition: v.TransitionCall) -> bool:
        """Whether StateBefore is one that only an earlier call can have left the buffer in; asked first."""
        return transition.buffer not in self._states and transition.before != v.COMMON

    def is_misfit(self, transition: v.TransitionCall) -> bool:
        """Whether a split barrier's half has no matching counterpart."""
        begun = self.begun.pop(transition.buffer, None)
        if transition.half == v.BEGIN:
            self.begun[transition.buffer] = transition
        if transition.half == v.END:
            return begun is None or begun[:3] != transition[:3]
        return begun is not None


class StateHazards(NamedTuple):
    """``is_left_begun`` if a begin half has no end half: its consequences depend on later executions, as ``possible``
    hazards do on earlier ones."""

    hazards: set[str]
    possible: set[str]
    is_left_begun: bool


def state_hazards(
    program: v.FuzzProgram,
    commands: Sequence[v.CommandCall],
    touched: Sequence[Sequence[Touch]],
    elsewhere: Container[str],
) -> StateHazards:
    """The hazards of one call; ``elsewhere`` are the buffers that other calls use."""
    states, hazards = States(program), set()
    possible: set[str] = set()
    for command, touches in zip(commands, touched):
        if isinstance(command, v.TransitionCall):
            if states.is_misfit(command):
                hazards.add(SPLIT)
            if states.is_assumed(command):
                (possible if command.buffer in elsewhere else hazards).add(ASSUMED)
            if states.is_wrongly_left(command):
                hazards.add(WRONG_STATE)
        for touch in touches:
            if touch.buffer in states.begun:
                hazards.add(SPLIT)
            if states.is_wrong(touch):
                hazards.add(WRONG_STATE)
    return StateHazards(hazards, possible, bool(states.begun))
