"""Replays a capture and compares what its commands write."""

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
    """A difference in what one command wrote to a tensor, view, value or persistent resource.

    ``element`` has the coordinates of the first element that differs; elements of a persistent resource are bytes.
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
    """Execute every dispatch, clear, query and immediate write again on its recorded contents, in the order in which
    they ran, and compare bit for bit.

    Each is compared in isolation: later commands start from the recorded contents. Padding between elements, scratch
    memory and timestamps are not compared. Commands that ``is_unknown`` are skipped. Raises ``CaptureError`` for what
    cannot be executed.
    """
    state = ReplayState(log)
    for _, command in log.ran:
        state.find(command)
        event = command.what
        if isinstance(event, Executed) and not is_unknown(event):
            state.execute(event)
            yield event, list(_differences(state, command, event))
        state.leave(command)


def replayed_count(log: CaptureLog) -> int:
    """How many commands ``replay`` executes."""
    events = (command.what for _, command in log.ran)
    return sum(isinstance(event, Executed) and not is_unknown(event) for event in events)


def is_unknown(event: e.CommandEvent) -> bool:
    """Whether it is a dispatch of an operator that was released before it could be recorded."""
    return isinstance(event, e.DispatchEvent) and not event.is_known


def _differences(
    state: ReplayState, command: e.CapturedCommand, event: Executed
) -> Iterator[ReplayDifference]:
    written = {(patch.allocation, patch.offset): patch.content for patch in command.written}
    if isinstance(event, e.DispatchEvent):
        yield from _dispatched(state, event, written)
    elif isinstance(event, e.ClearEvent):
        content = written.get((event.range.resource.allocation, event.range.start))
        if content is not None and content.size == event.range.size:
            bits = np.dtype(f"u{event.format.bits // 8}")
            recorded, replayed = (
                content_bytes.view(bits).reshape(-1, event.format.channels)
                for content_bytes in (state.log.bytes(content), state.bytes(event.range))
            )
            yield from _compare(event, "the view", recorded, replayed)
    elif isinstance(event, e.WriteImmediateEvent):
        for use in event.uses:
            content = written.get((use.range.resource.allocation, use.range.start))
            if content is not None and content.size == use.range.size:
                recorded, replayed = (
                    content_bytes.view(np.uint32)
                    for content_bytes in (state.log.bytes(content), state.bytes(use.range))
                )
                yield from _compare(event, use.name, recorded, replayed)


def _dispatched(
    state: ReplayState, dispatch: e.DispatchEvent, written: dict[tuple[int, int], e.Content]
) -> Iterator[ReplayDifference]:
    for operand in state.operands(dispatch):
        if operand.slot.kind == "output" and operand.range is not None:
            content = written.get((operand.range.resource.allocation, operand.range.start))
            if content is not None and content.size >= operand.tensor.total_size:
                recorded = operand.tensor.view(state.log.bytes(content))
                replayed = operand.tensor.view(operand.bytes)
                yield from _compare(dispatch, operand.name, recorded, replayed)
    # The layout of a persistent resource is private to the kernels that wrote it.
    if state.log.process.kernels == backend.title:
        for position, op in enumerate(dispatch.operators):
            yield from _initialized(state, dispatch, position, op, written)


def _initialized(
    state: ReplayState,
    dispatch: e.DispatchEvent,
    position: int,
    op: IDMLCompiledOperator | None,
    written: dict[tuple[int, int], e.Content],
) -> Iterator[ReplayDifference]:
    target = dispatch.bindings.get(BindingPoint("output", position))
    replayed = None if op is None else state.persistent(op, target)
    content = None if target is None else written.get((target.resource.allocation, target.start))
    if replayed is not None and content is not None and content.size == len(replayed):
        name = f"the persistent resource of operator {position}"
        yield from _compare(dispatch, name, state.log.bytes(content), replayed)


def _compare(
    command: e.DispatchEvent | e.ClearEvent | e.WriteImmediateEvent,
    name: str,
    recorded: npt.NDArray[Any],
    replayed: npt.NDArray[Any],
) -> Iterator[ReplayDifference]:
    bits = np.dtype(f"u{recorded.dtype.itemsize}")
    differs = recorded.view(bits) != replayed.view(bits)
    count = int(np.count_nonzero(differs))
    if count:
        coordinates = np.unravel_index(int(differs.argmax()), differs.shape)
        element = tuple(int(coordinate) for coordinate in coordinates)
        yield ReplayDifference(
            command, name, element, recorded[element], replayed[element], count, differs.size
        )
