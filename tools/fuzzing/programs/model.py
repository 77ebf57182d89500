"""What is wrong with a program, by the documents: every pair of its commands looked at, with nothing remembered.

This knows nothing of the debug layer, and is far too slow for it. A program is right if ``hazards`` finds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import values as v
from .accesses import Touch, activated, names, touches
from .contents import Contents
from .order import Order
from .states import state_hazards

MISSING_BARRIER, MISSING_ALIASING, MISSING_WAIT = "no barrier", "no aliasing barrier", "no wait"
OVERLAP, RELEASED, RESET = "overlapping bindings", "released early", "reset early"
UPLOAD, READBACK, DEADLOCK = "UPLOAD written early", "READBACK read early", "waits that never end"
# What no program can do, or what nobody can say anything about.
SENSELESS = "senseless"


class Told(NamedTuple):
    """``hazards`` are there; those that are ``possible`` come up or not, as queues run."""

    hazards: frozenset[str]
    possible: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.hazards | self.possible


def look(program: v.Program, since: int = 0) -> Told:
    """What is wrong, as far as steps from ``since`` on take part in it."""
    order = Order(program)
    if order.endless:
        return Told(frozenset([DEADLOCK]), frozenset())
    hazards: set[str] = set()
    submits = [(place, step) for place, step in enumerate(program.steps) if isinstance(step, v.Submit)]
    accesses = {}
    for place, submit in submits:
        commands = [command for commands in submit.lists for command in commands]
        touched = accesses[place] = [touches(program, command) for command in commands]
        if place >= since:
            hazards |= state_hazards(program, commands, touched)
            hazards |= _within(program, commands, touched)
    if OVERLAP in hazards:
        # It is refused when it is recorded, and takes the device with it.
        return Told(frozenset([OVERLAP]), frozenset(hazards))
    for place, submit in submits:
        commands = [command for commands in submit.lists for command in commands]
        ends = [activated(program, command) for command in commands]
        accesses[place].append(tuple(touch for touch in ends if touch is not None))
    hazards |= _across(order, submits, accesses, since)
    hazards |= _cpu(program, order, submits, accesses, since)
    contents = Contents(program, order)
    for _, submit in submits:
        contents.submit(submit)
    hazards |= contents.hazards
    # Where order is up to chance, so is who reads what.
    chance = bool(hazards & {MISSING_BARRIER, MISSING_ALIASING, MISSING_WAIT})
    return Told(frozenset(hazards), frozenset(Contents.KINDS if chance else contents.possible))


def _within(
    program: v.Program, commands: Sequence[v.Command], touched: Sequence[Sequence[Touch]]
) -> set[str]:
    """Lists of one call may overlap, whichever of its lists commands are in."""
    found = set()
    for place, one in enumerate(commands):
        if isinstance(one, (v.Dispatch, v.Initialize, v.Copy)):
            found |= _within_one(program, one, touched[place])
        for earlier in range(place):
            for first in touched[earlier]:
                for second in touched[place]:
                    if not first.conflicts(second):
                        continue
                    between = commands[earlier + 1 : place]
                    if first.buffer != second.buffer:
                        if not any(_hands_over(command, first.buffer, second.buffer) for command in between):
                            found.add(MISSING_ALIASING)
                    elif first.state == second.state == v.UNORDERED_ACCESS and not any(
                        _waits_for(program, command, first.buffer) for command in between
                    ):
                        found.add(MISSING_BARRIER)
    return found


def _within_one(
    program: v.Program, command: v.Copy | v.Dispatch | v.Initialize, touched: Sequence[Touch]
) -> set[str]:
    """A command may read and write the same bytes of one buffer only in place; through two it never may."""
    found = set()
    if isinstance(command, v.Initialize):
        # These must not even lie in one resource.
        persistent = None if command.persistent is None else command.persistent.buffer
        if any(part.buffer == persistent for part in command.inputs):
            found.add(OVERLAP)
    in_place = isinstance(command, v.Dispatch) and program.ops[command.op].in_place
    for place, second in enumerate(touched):
        for first in touched[:place]:
            if not first.conflicts(second):
                continue
            same = (first.start, first.end) == (second.start, second.end)
            plain = not (first.writes or first.persistent or second.scratch or second.persistent)
            if first.buffer != second.buffer and not isinstance(command, v.Copy):
                found.add(MISSING_ALIASING)
            elif not (in_place and same and plain):
                found.add(OVERLAP)
    return found


def _hands_over(command: v.Command, before: str, after: str) -> bool:
    return (
        isinstance(command, v.Aliasing)
        and command.before in (None, before)
        and command.after in (None, after)
    )


def _waits_for(program: v.Program, command: v.Command, name: str) -> bool:
    if isinstance(command, v.Unordered):
        return command.buffer in (None, name)
    if isinstance(command, v.Transition):
        return command.buffer == name
    if not isinstance(command, v.Aliasing):
        return False
    if command.before is not None or command.after is None:
        return command.before in (None, name)
    buffer, after = program.buffers[name], program.buffers[command.after]
    apart = buffer.offset + buffer.width <= after.offset or after.offset + after.width <= buffer.offset
    return buffer.memory == after.memory and not apart


def _across(
    order: Order,
    submits: Sequence[tuple[int, v.Submit]],
    accesses: dict[int, list[tuple[Touch, ...]]],
    since: int,
) -> set[str]:
    for place, one in submits:
        if place < since:
            continue
        for other_place, other in submits:
            if other_place >= place or one.queue == other.queue or order.are_ordered(other_place, place):
                continue
            if any(
                first.conflicts(second)
                for touched in accesses[other_place]
                for first in touched
                for others in accesses[place]
                for second in others
            ):
                return {MISSING_WAIT}
    return set()


def _cpu(
    program: v.Program,
    order: Order,
    submits: Sequence[tuple[int, v.Submit]],
    accesses: dict[int, list[tuple[Touch, ...]]],
    since: int,
) -> set[str]:
    """What the CPU does with what queues may be using still."""
    found = set()
    released: set[str] = set()
    for place, step in enumerate(program.steps):
        if isinstance(step, v.Release):
            released.add(step.name)
        if place < since or isinstance(step, (v.Signal, v.Wait, v.Await)):
            continue
        running = [
            (other, submit) for other, submit in submits if other < place and not order.is_known(other, place)
        ]
        if isinstance(step, (v.Fill, v.Look)):
            buffer = program.buffers[step.part.buffer]
            start = buffer.offset + step.part.start
            writes = isinstance(step, v.Fill)
            if buffer.name in released:
                found.add(SENSELESS)
            touch = Touch(buffer.memory, start, start + step.part.size, buffer.name, writes, v.COMMON)
            if any(
                touch.conflicts(other) for at, _ in running for touched in accesses[at] for other in touched
            ):
                found.add(UPLOAD if writes else READBACK)
        elif isinstance(step, v.Reset):
            if any(submit.number == step.number for _, submit in running):
                found.add(RESET)
        elif isinstance(step, v.Release):
            if any(step.name in used(program, submit) for _, submit in running):
                found.add(RELEASED)
        elif isinstance(step, v.Submit) and released & used(program, step):
            found.add(SENSELESS)
    return found


def used(program: v.Program, submit: v.Submit) -> set[str]:
    return {name for commands in submit.lists for command in commands for name in names(program, command)}
