"""Executing a capture again, and comparing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..descs.format import braces
from ..dml import IDMLCompiledOperator
from ..dml.binding_point import BindingPoint
from ..kernels import backend
from . import event_types as e
from .parser import CaptureLog
from .replay_state import Executed, ReplayState


class ReplayDifference(NamedTuple):
    """What one command wrote otherwise into one tensor, view, value or persistent resource of an initializer.

    ``element`` is the first that differs, in coordinates; elements of a persistent resource are bytes.
    """

    command: e.DispatchEvent | e.ClearEvent | e.WriteImmediateEvent
    name: str
    element: tuple[int, ...]
    then: Any
    now: Any
    differing: int
    total: int

    def __str__(self) -> str:
        return (
            f"{self.command.title}: {self.name}{braces(self.element)} "
            f"is {self.now}, it was {self.then}; {self.differing} of {self.total} differ"
        )


def replay(log: CaptureLog) -> Iterator[tuple[Executed, list[ReplayDifference]]]:
    """Execute every dispatch, clear, query and immediate write again on the memory that it found, in the order in which
    they ran, and compare bit by bit.

    Each is judged alone: what goes on is what was recorded. Of padding between elements nothing is said, nor of scratch
    memory, nor of the times that queries take. What ``is_unknown`` is left out. Raises ``CaptureError``
    for what cannot be executed.
    """
    machine = ReplayState(log)
    for _, command in log.ran:
        machine.find(command)
        what = command.what
        if isinstance(what, Executed) and not is_unknown(what):
            machine.execute(what)
            yield what, list(_differences(machine, command, what))
        machine.leave(command)


def is_unknown(what: e.CommandEvent) -> bool:
    """Whether it is a dispatch of what was released before the recording could look at it."""
    return isinstance(what, e.DispatchEvent) and not what.is_known


def _differences(
    machine: ReplayState, command: e.CapturedCommand, what: Executed
) -> Iterator[ReplayDifference]:
    written = {(patch.allocation, patch.offset): patch.content for patch in command.written}
    if isinstance(what, e.DispatchEvent):
        yield from _dispatched(machine, what, written)
    elif isinstance(what, e.ClearEvent):
        content = written.get((what.range.resource.allocation, what.range.start))
        if content is not None and content.size == what.range.size:
            bits = np.dtype(f"u{what.format.bits // 8}")
            then, now = (
                part.view(bits).reshape(-1, what.format.channels)
                for part in (machine.log.bytes(content), machine.bytes(what.range))
            )
            yield from _compare(what, "the view", then, now)
    elif isinstance(what, e.WriteImmediateEvent):
        for use in what.uses:
            content = written.get((use.range.resource.allocation, use.range.start))
            if content is not None and content.size == use.range.size:
                then, now = (
                    part.view(np.uint32) for part in (machine.log.bytes(content), machine.bytes(use.range))
                )
                yield from _compare(what, use.name, then, now)


def _dispatched(
    machine: ReplayState, dispatch: e.DispatchEvent, written: dict[tuple[int, int], e.Content]
) -> Iterator[ReplayDifference]:
    for operand in machine.operands(dispatch):
        if operand.slot.kind == "output" and operand.range is not None:
            content = written.get((operand.range.resource.allocation, operand.range.start))
            if content is not None and content.size >= operand.tensor.total_size:
                then = operand.tensor.view(machine.log.bytes(content))
                now = operand.tensor.view(operand.bytes)
                yield from _compare(dispatch, operand.name, then, now)
    # What other loops leave there is theirs to read.
    if machine.log.process.kernels == backend.title:
        for position, op in enumerate(dispatch.operators):
            yield from _initialized(machine, dispatch, position, op, written)


def _initialized(
    machine: ReplayState,
    dispatch: e.DispatchEvent,
    position: int,
    op: IDMLCompiledOperator | None,
    written: dict[tuple[int, int], e.Content],
) -> Iterator[ReplayDifference]:
    part = dispatch.bindings.get(BindingPoint("output", position))
    now = None if op is None else machine.persistent(op, part)
    content = None if part is None else written.get((part.resource.allocation, part.start))
    if now is not None and content is not None and content.size == len(now):
        name = f"the persistent resource of operator {position}"
        yield from _compare(dispatch, name, machine.log.bytes(content), now)


def _compare(
    command: e.DispatchEvent | e.ClearEvent | e.WriteImmediateEvent,
    name: str,
    then: npt.NDArray[Any],
    now: npt.NDArray[Any],
) -> Iterator[ReplayDifference]:
    bits = np.dtype(f"u{then.dtype.itemsize}")
    differs = then.view(bits) != now.view(bits)
    count = int(np.count_nonzero(differs))
    if count:
        place = np.unravel_index(int(differs.argmax()), differs.shape)
        element = tuple(int(one) for one in place)
        yield ReplayDifference(command, name, element, then[element], now[element], count, differs.size)
