"""Mutations of correct programs by one mistake that is a hazard by the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple, cast

from . import program_values as v
from . import reference_model

TRIES = 12


class BrokenProgram(NamedTuple):
    program: v.FuzzProgram
    told: reference_model.Told


def broken(program: v.FuzzProgram, kind: str, random: Random) -> BrokenProgram | None:
    """``program`` with a mistake of ``kind``; None if no attempt makes a difference."""
    for _ in range(TRIES):
        steps = BREAKS[kind](program, random)
        if steps is None:
            return None
        changed = program._replace(steps=steps)
        told = reference_model.look(changed)
        if told.hazards and reference_model.SENSELESS not in told.hazards:
            return BrokenProgram(changed, told)
    return None


Steps = tuple[v.Step, ...]


def _submits(program: v.FuzzProgram) -> list[tuple[int, v.SubmitStep]]:
    return [(index, step) for index, step in enumerate(program.steps) if isinstance(step, v.SubmitStep)]


def _commands(program: v.FuzzProgram) -> Iterator[tuple[int, int, int, v.CommandCall]]:
    for position, submit in _submits(program):
        for which, commands in enumerate(submit.lists):
            for index, command in enumerate(commands):
                yield position, which, index, command


def _with_list(program: v.FuzzProgram, position: int, list_index: int, commands: v.CallList) -> Steps:
    submit = program.steps[position]
    assert isinstance(submit, v.SubmitStep)
    lists = (*submit.lists[:list_index], commands, *submit.lists[list_index + 1 :])
    return _with_step(program, position, submit._replace(lists=lists))


def _with_step(program: v.FuzzProgram, position: int, *steps: v.Step) -> Steps:
    return (*program.steps[:position], *steps, *program.steps[position + 1 :])


def _list(program: v.FuzzProgram, position: int, list_index: int) -> v.CallList:
    submit = program.steps[position]
    assert isinstance(submit, v.SubmitStep)
    return submit.lists[list_index]


def _barrier_left_out(program: v.FuzzProgram, random: Random) -> Steps | None:
    barriers = [entry for entry in _commands(program) if isinstance(entry[3], v.BARRIERS)]
    if not barriers:
        return None
    position, list_index, index, _ = random.choice(barriers)
    commands = _list(program, position, list_index)
    return _with_list(program, position, list_index, (*commands[:index], *commands[index + 1 :]))


def _wait_left_out(program: v.FuzzProgram, random: Random) -> Steps | None:
    waits = [
        position
        for position, step in enumerate(program.steps)
        if isinstance(step, (v.WaitStep, v.CpuWaitStep))
    ]
    return _with_step(program, random.choice(waits)) if waits else None


def _binding_moved(program: v.FuzzProgram, random: Random) -> Steps | None:
    bound_commands = [entry for entry in _commands(program) if not isinstance(entry[3], v.BARRIERS)]
    if not bound_commands:
        return None
    position, list_index, index, command = random.choice(bound_commands)
    fields = [name for name in command._fields if name != "op" and getattr(command, name)]
    name = random.choice(fields)
    value = getattr(command, name)
    if isinstance(value, v.BufferPart):
        # Unlike tensors, temporary and persistent resources are aligned to 256 bytes.
        alignment = 16 if isinstance(command, (v.CopyCall, v.ClearCall)) else 256
        moved: object = _moved(program, value, random, alignment)
    else:
        which_part = random.randrange(len(value))
        moved = (
            *value[:which_part],
            _moved(program, value[which_part], random, 16),
            *value[which_part + 1 :],
        )
    commands = _list(program, position, list_index)
    changed: v.CommandCall = cast(Any, command)._replace(**{name: moved})
    return _with_list(program, position, list_index, (*commands[:index], changed, *commands[index + 1 :]))


def _moved(program: v.FuzzProgram, part: v.BufferPart, random: Random, alignment: int) -> v.BufferPart:
    """``part`` moved elsewhere in memory of the same heap type, often to where an initializer writes."""
    heap = program.buffers[part.buffer].heap
    fits = [
        candidate
        for candidate in program.buffers.values()
        if candidate.heap == heap and candidate.width >= part.size
    ]
    persistent_buffers = {
        entry[3].persistent.buffer
        for entry in _commands(program)
        if isinstance(entry[3], v.InitializeCall) and entry[3].persistent is not None
    }
    buffer = random.choice(
        [candidate for candidate in fits if candidate.name in persistent_buffers and random.random() < 0.3]
        or fits
    )
    return v.BufferPart(
        buffer.name, random.randrange(0, min(buffer.width, 96) - part.size + 1, alignment), part.size
    )


def _released_early(program: v.FuzzProgram, random: Random) -> Steps | None:
    found = [
        (position, name)
        for position, submit in _submits(program)
        for name in sorted(reference_model.used(program, submit))
    ]
    if not found:
        return None
    position, name = random.choice(found)
    later = [step for step in program.steps[position + 1 :] if step != v.ReleaseStep(name)]
    return (*program.steps[: position + 1], v.ReleaseStep(name), *later)


def _reset_early(program: v.FuzzProgram, random: Random) -> Steps | None:
    submits = _submits(program)
    if not submits:
        return None
    position, submit = random.choice(submits)
    return (*program.steps[: position + 1], v.ResetStep(submit.number), *program.steps[position + 1 :])


def _order_swapped(program: v.FuzzProgram, random: Random) -> Steps | None:
    """Swap two calls, two commands of a list, or the lists of a call."""
    steps = program.steps
    if random.random() < 0.5:
        position = random.randrange(len(steps) - 1)
        return (*steps[:position], steps[position + 1], steps[position], *steps[position + 2 :])
    found = [entry for entry in _commands(program) if entry[2]]
    if not found:
        return None
    position, which, index, command = random.choice(found)
    commands = _list(program, position, which)
    swapped = (*commands[: index - 1], command, commands[index - 1], *commands[index + 1 :])
    return _with_list(program, position, which, swapped)


def _executed_again_early(program: v.FuzzProgram, random: Random) -> Steps | None:
    submits = _submits(program)
    if not submits:
        return None
    position, submit = random.choice(submits)
    number = 1 + max(
        step.number for step in program.steps if isinstance(step, (v.SubmitStep, v.ResubmitStep))
    )
    again = v.ResubmitStep(number, submit.queue, submit.number)
    return (*program.steps[: position + 1], again, *program.steps[position + 1 :])


def _queue_exchanged(program: v.FuzzProgram, random: Random) -> Steps | None:
    found = [
        entry for entry in enumerate(program.steps) if isinstance(entry[1], (v.SubmitStep, v.ResubmitStep))
    ]
    others = len(program.queues) - 1
    if not found or not others:
        return None
    position, step = random.choice(found)
    assert isinstance(step, (v.SubmitStep, v.ResubmitStep))
    queue = (step.queue + 1 + random.randrange(others)) % len(program.queues)
    return _with_step(program, position, step._replace(queue=queue))


BREAKS: dict[str, Callable[[v.FuzzProgram, Random], Steps | None]] = {
    "a barrier left out": _barrier_left_out,
    "a wait left out": _wait_left_out,
    "a binding moved": _binding_moved,
    "an object released early": _released_early,
    "an allocator reset early": _reset_early,
    "an order swapped": _order_swapped,
    "a list executed again early": _executed_again_early,
    "a queue exchanged": _queue_exchanged,
}
