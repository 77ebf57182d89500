"""Reference model of hazards, after the documents: brute force over all pairs of commands, without incremental state.

It is independent of the debug layer, and far too slow for it. A program is correct if it has no hazards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import program_values as v
from .contents import Contents
from .memory_accesses import Touch, activated, names, touches
from .modelled_states import ASSUMED, SPLIT, state_hazards
from .order import Order

MISSING_BARRIER, MISSING_ALIASING, MISSING_WAIT = "no barrier", "no aliasing barrier", "no wait"
OVERLAP, RELEASED, RESET = "overlapping bindings", "released early", "reset early"
UPLOAD, READBACK, DEADLOCK = "UPLOAD written early", "READBACK read early", "waits that never end"
IN_FLIGHT, STALE, WRONG_ENGINE = "executed while in flight", "reset and executed", "another kind of queue"
# Hazards that remove the device: which others are reported depends on what ran before.
FATAL = frozenset([OVERLAP, IN_FLIGHT, STALE, WRONG_ENGINE])
# Programs that are impossible, or of which the behaviour is undefined.
SENSELESS = "senseless"


class Told(NamedTuple):
    """``hazards`` are certain; ``possible`` ones depend on the timing of queues."""

    hazards: frozenset[str]
    possible: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.hazards | self.possible


def look(program: v.FuzzProgram, since: int = 0) -> Told:
    """The hazards that involve steps from ``since`` on."""
    program = _expanded(program)
    order = Order(program)
    if any(isinstance(step, v.ResubmitStep) for step in program.steps):
        return Told(frozenset([SENSELESS]), frozenset())
    if order.has_deadlock:
        return Told(frozenset([DEADLOCK]), frozenset())
    hazards: set[str] = set()
    assumed: set[str] = set()
    is_left_begun = False
    submits = [(index, step) for index, step in enumerate(program.steps) if isinstance(step, v.SubmitStep)]
    accesses = {}
    for index, submit in submits:
        commands = [command for commands in submit.lists for command in commands]
        touched = accesses[index] = [touches(program, command) for command in commands]
        if index >= since:
            elsewhere = {name for other, step in submits if other != index for name in used(program, step)}
            found, uncertain, is_left = state_hazards(program, commands, touched, elsewhere)
            assumed |= uncertain
            is_left_begun |= is_left
            hazards |= found
            hazards |= _within(program, commands, touched)
            hazards |= _engine(program, submit, touched)
    for index, submit in submits:
        commands = [command for commands in submit.lists for command in commands]
        ends = [activated(program, command) for command in commands]
        accesses[index].append(tuple(touch for touch in ends if touch is not None))
    hazards |= _across(order, submits, accesses, since)
    hazards |= _cpu(program, order, submits, accesses, since)
    contents = Contents(program, order)
    for step in program.steps:
        contents.step(step)
    hazards |= contents.hazards
    possible = set(contents.possible) | assumed
    # Without an order, the contents read are undetermined too.
    if hazards & {MISSING_BARRIER, MISSING_ALIASING, MISSING_WAIT}:
        possible |= set(Contents.KINDS)
    if is_left_begun:
        possible.add(SPLIT)
    if hazards & FATAL:
        # Commands are left out, with what they write and the states that they bring about.
        possible |= {*Contents.KINDS, ASSUMED}
        return Told(frozenset(hazards & FATAL), frozenset(hazards | possible))
    return Told(frozenset(hazards), frozenset(possible))


def _expanded(program: v.FuzzProgram) -> v.FuzzProgram:
    """The program with resubmitted lists expanded, except those not recorded yet."""
    steps: list[v.Step] = []
    recorded: dict[int, v.SubmitStep] = {}
    for step in program.steps:
        if isinstance(step, v.SubmitStep):
            recorded[step.number] = step
        if isinstance(step, v.ResubmitStep) and step.of in recorded:
            step = v.SubmitStep(step.number, step.queue, recorded[step.of].lists, step.of)
        steps.append(step)
    return program._replace(steps=tuple(steps))


def _engine(program: v.FuzzProgram, submit: v.SubmitStep, touched: Sequence[Sequence[Touch]]) -> set[str]:
    """Check queue types: a COPY queue only copies, and lists run on queues of their type."""
    kind = program.queues[submit.queue]
    submits = [step for step in program.steps if isinstance(step, v.SubmitStep)]
    types = {program.queues[step.queue] for step in submits if step.number == submit.of}
    shader = any(touch.state == v.UNORDERED_ACCESS for touches in touched for touch in touches) or any(
        isinstance(command, v.UavBarrierCall)
        or (isinstance(command, v.TransitionCall) and v.UNORDERED_ACCESS in (command.before, command.after))
        for commands in submit.lists
        for command in commands
    )
    return {WRONG_ENGINE} if types - {kind} or (kind == v.COPY and shader) else set()


def _within(
    program: v.FuzzProgram, commands: Sequence[v.CommandCall], touched: Sequence[Sequence[Touch]]
) -> set[str]:
    """Hazards within one call, whose commands may overlap, whichever lists they are in."""
    hazards = set()
    for index, current in enumerate(commands):
        if isinstance(current, (v.DispatchCall, v.InitializeCall, v.CopyCall)):
            hazards |= _within_one(program, current, touched[index])
        for earlier in range(index):
            for first in touched[earlier]:
                for second in touched[index]:
                    if not first.conflicts(second):
                        continue
                    between = commands[earlier + 1 : index]
                    if first.buffer != second.buffer:
                        if not any(_hands_over(command, first.buffer, second.buffer) for command in between):
                            hazards.add(MISSING_ALIASING)
                    elif first.state == second.state == v.UNORDERED_ACCESS and not any(
                        _waits_for(program, command, first.buffer) for command in between
                    ):
                        hazards.add(MISSING_BARRIER)
    return hazards


def _within_one(
    program: v.FuzzProgram, command: v.CopyCall | v.DispatchCall | v.InitializeCall, touched: Sequence[Touch]
) -> set[str]:
    """Hazards within one command: it may read and write the same bytes only in place and through one buffer."""
    hazards = set()
    if isinstance(command, v.InitializeCall):
        # These must not even share a resource.
        persistent = None if command.persistent is None else command.persistent.buffer
        if any(part.buffer == persistent for part in command.inputs):
            hazards.add(OVERLAP)
    in_place = isinstance(command, v.DispatchCall) and program.ops[command.op].in_place
    for index, second in enumerate(touched):
        for first in touched[:index]:
            if not first.conflicts(second):
                continue
            same = (first.start, first.end) == (second.start, second.end)
            plain = not (first.writes or first.persistent or second.scratch or second.persistent)
            if first.buffer != second.buffer and not isinstance(command, v.CopyCall):
                hazards.add(MISSING_ALIASING)
            elif not (in_place and same and plain):
                hazards.add(OVERLAP)
    return hazards


def _hands_over(command: v.CommandCall, before: str, after: str) -> bool:
    return (
        isinstance(command, v.AliasingCall)
        and command.before in (None, before)
        and command.after in (None, after)
    )


def _waits_for(program: v.FuzzProgram, command: v.CommandCall, name: str) -> bool:
    if isinstance(command, v.UavBarrierCall):
        return command.buffer in (None, name)
    if isinstance(command, v.TransitionCall):
        return command.buffer == name and command.half != v.BEGIN
    if not isinstance(command, v.AliasingCall):
        return False
    if command.before is not None or command.after is None:
        return command.before in (None, name)
    buffer, after = program.buffers[name], program.buffers[command.after]
    apart = buffer.offset + buffer.width <= after.offset or after.offset + after.width <= buffer.offset
    return buffer.memory == after.memory and not apart


def _across(
    order: Order,
    submits: Sequence[tuple[int, v.SubmitStep]],
    accesses: dict[int, list[tuple[Touch, ...]]],
    since: int,
) -> set[str]:
    for index, submit in submits:
        if index < since:
            continue
        for earlier_index, earlier in submits:
            if (
                earlier_index >= index
                or submit.queue == earlier.queue
                or order.are_ordered(earlier_index, index)
            ):
                continue
            if any(
                first.conflicts(second)
                for touched in accesses[earlier_index]
                for first in touched
                for others in accesses[index]
                for second in others
            ):
                return {MISSING_WAIT}
    return set()


def _cpu(
    program: v.FuzzProgram,
    order: Order,
    submits: Sequence[tuple[int, v.SubmitStep]],
    accesses: dict[int, list[tuple[Touch, ...]]],
    since: int,
) -> set[str]:
    """Hazards of the CPU with work that may still be running on queues."""
    hazards = set()
    released: set[str] = set()
    resets: set[int] = set()
    for index, step in enumerate(program.steps):
        if isinstance(step, v.ReleaseStep):
            released.add(step.name)
        if isinstance(step, v.ResetStep):
            resets.add(step.number)
        if index < since or isinstance(step, (v.SignalStep, v.WaitStep, v.CpuWaitStep)):
            continue
        running = [
            (position, submit)
            for position, submit in submits
            if position < index and not order.is_known(position, index)
        ]
        if isinstance(step, (v.CpuWriteStep, v.CpuReadStep)):
            buffer = program.buffers[step.part.buffer]
            start = buffer.offset + step.part.start
            writes = isinstance(step, v.CpuWriteStep)
            if buffer.name in released:
                hazards.add(SENSELESS)
            touch = Touch(buffer.memory, start, start + step.part.size, buffer.name, writes, v.COMMON)
            if any(
                touch.conflicts(position)
                for running_index, _ in running
                for touched in accesses[running_index]
                for position in touched
            ):
                hazards.add(UPLOAD if writes else READBACK)
        elif isinstance(step, v.ResetStep):
            if any(step.number in (submit.number, submit.of) for _, submit in running):
                hazards.add(RESET)
        elif isinstance(step, v.ReleaseStep):
            if any(step.name in used(program, submit) for _, submit in running):
                hazards.add(RELEASED)
        elif isinstance(step, v.SubmitStep):
            if released & used(program, step):
                hazards.add(SENSELESS)
            if step.of in resets:
                hazards.add(STALE)
            if step.of is not None and any(step.of in (submit.number, submit.of) for _, submit in running):
                hazards.add(IN_FLIGHT)
    return hazards


def used(program: v.FuzzProgram, submit: v.SubmitStep) -> set[str]:
    return {name for commands in submit.lists for command in commands for name in names(program, command)}
